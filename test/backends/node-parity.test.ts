/**
 * The disk without the addon answers as the disk with it: the same codes, texts, versions and facts, on the same
 * files.
 */
import type { Files } from "../../js/backends/files.ts";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  type VersionedBytes,
  FilewrightError,
  LocalBackend,
  NodeBackend,
  SandboxPolicy,
} from "../../js/index.node.ts";

let base: string;
beforeEach(() => {
  base = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), "filewright-parity-")));
});
afterEach(() => {
  fs.chmodSync(join(base, "closed"), 0o700);
  fs.rmSync(base, { recursive: true, force: true });
});

/** Makes the same files for each backend. */
function seed(root: string): void {
  fs.mkdirSync(join(root, "d/e"), { recursive: true });
  fs.writeFileSync(join(root, "f"), "one\n");
  fs.writeFileSync(join(root, "d/g"), "two\n");
  fs.writeFileSync(join(root, "d/e/h"), "three\n");
  fs.writeFileSync(join(root, "locked"), "kept\n", { mode: 0o444 });
  fs.writeFileSync(join(root, "run"), "#!/bin/sh\n");
  fs.chmodSync(join(root, "run"), 0o751);
  fs.linkSync(join(root, "f"), join(root, "twin"));
  fs.symlinkSync("d", join(root, "to-dir"));
  fs.symlinkSync("f", join(root, "to-file"));
  fs.symlinkSync("gone", join(root, "dangling"));
  fs.symlinkSync("circle", join(root, "circle"));
  fs.symlinkSync("/etc", join(root, "out"));
  fs.writeFileSync(Buffer.concat([Buffer.from(`${root}/caf`), Buffer.of(0xe9)]), "odd\n");
}

const textOf = (found: VersionedBytes | null | undefined): string => new TextDecoder().decode(found?.bytes);

type Operation = (disk: Files, at: (path: string) => string) => unknown;
const OPERATIONS: Readonly<Record<string, Operation>> = {
  "read a file": async (disk, at) => textOf(await disk.read?.(at("f"))),
  "read a directory": (disk, at) => disk.read?.(at("d")),
  "read nothing": (disk, at) => disk.readBytes(at("gone")),
  "read below a file": (disk, at) => disk.readBytes(at("f/x")),
  "read a circle": (disk, at) => disk.readBytes(at("circle")),
  "read outside": (disk, at) => disk.readBytes(at("out/hostname")),
  "read beside the root": (disk, at) => disk.readBytes(at("../elsewhere")),
  "read too much": (disk, at) => disk.read?.(at("f"), { maxBytes: 2 }),
  "read a range": async (disk, at) => textOf(await disk.read?.(at("f"), { range: { start: 1, end: 9 } })),
  "read a wrong range": (disk, at) => disk.read?.(at("f"), { range: { start: 3, end: 1 } }),
  "read after an abort": (disk, at) => disk.read?.(at("f"), { signal: AbortSignal.abort() }),
  "read a long name": (disk, at) => disk.readBytes(at("n".repeat(256))),
  "read a name that is not UTF-8": (disk, at) => disk.readText(at("caf\\xE9")),
  "a page": async (disk, at) => ({
    ...(await disk.readLines?.(at("f"), {})),
    version: "",
    mtime: 0,
    hash: "",
  }),
  "a hash": async (disk, at) => (await disk.hash?.(at("d/g")))?.hash,
  "read a link": (disk, at) => disk.readLink?.(at("to-file")),
  "read a link that is a file": (disk, at) => disk.readLink?.(at("f")),
  "real paths": async (disk, at) => [
    await disk.realpath?.(at("to-dir/e/new/x")),
    await disk.realpath?.(at("to-file")),
    await disk.realpath?.(at("dangling")),
  ],
  "list a directory": (disk, at) => disk.listDir(at("d")),
  "list a file": (disk, at) => disk.listDir(at("f")),
  "a page of a directory": async (disk, at) => {
    const { entries, next } = await (disk as LocalBackend | NodeBackend).listPage(at(""), { limit: 3 });
    return [entries.map(({ name }) => name), next !== undefined];
  },
  "write onto a directory": (disk, at) => disk.writeText(at("d"), "x"),
  "write below a file": (disk, at) => disk.writeText(at("f/x"), "x"),
  "write without a parent": (disk, at) => disk.writeText(at("no/x"), "x"),
  "write a protected file": (disk, at) => disk.writeText(at("locked"), "x"),
  "write on a version that is none": (disk, at) => disk.writeText(at("f"), "x", { ifVersion: "1.2.3.4.5" }),
  "write a version of nothing": (disk, at) => disk.writeText(at("gone"), "x", { ifVersion: "1.2.3.4.5" }),
  "write over what is there": (disk, at) => disk.writeText(at("f"), "x", { ifAbsent: true }),
  "write over a dangling link": (disk, at) => disk.writeText(at("dangling"), "x", { ifAbsent: true }),
  "write through a dangling link": async (disk, at) => {
    await disk.writeText(at("dangling"), "new");
    return [fs.readFileSync(at("gone"), "utf8"), fs.readlinkSync(at("dangling"))];
  },
  "write a hard link": async (disk, at) => {
    const { otherNames } = await disk.writeText(at("twin"), "new\n");
    return [otherNames, fs.readFileSync(at("f"), "utf8"), fs.readFileSync(at("twin"), "utf8")];
  },
  "write keeps the mode": async (disk, at) => {
    await disk.writeText(at("run"), "new\n");
    return fs.statSync(at("run")).mode & 0o7777;
  },
  "write with the hash of a touched file": async (disk, at) => {
    const { hash, version } = (await disk.hash?.(at("f"))) ?? { hash: "", version: "" };
    fs.utimesSync(at("f"), 1, 1);
    await disk.writeText(at("f"), "new", { ifVersion: `${version}:${hash.slice(7)}` });
    return fs.readFileSync(at("f"), "utf8");
  },
  "write with set-user-id": async (disk, at) => {
    await disk.writeText(at("s"), "x", { mode: 0o4755 });
    return fs.statSync(at("s")).mode & 0o7777;
  },
  "delete a full directory": (disk, at) => disk.delete(at("d")),
  "delete nothing": (disk, at) => disk.delete(at("gone")),
  "delete on another version": (disk, at) => disk.delete(at("f"), { ifVersion: "1.2.3.4.5" }),
  "delete a link": async (disk, at) => {
    await disk.delete(at("to-dir"));
    return [fs.existsSync(at("to-dir")), fs.existsSync(at("d/g"))];
  },
  "delete to the side and put back": async (disk, at) => {
    const aside = disk.asidePath?.(at("d/g")) ?? "";
    await disk.delete(at("d/g"), { aside });
    const listed = (await disk.listDir(at("d"))).map(({ name }) => name);
    await disk.rename?.(aside, at("d/g"));
    return [listed, fs.readFileSync(at("d/g"), "utf8")];
  },
  "a side that was not given out": (disk, at) => disk.delete(at("f"), { aside: at("side") }),
  "make a directory on a file": (disk, at) => disk.mkdir(at("f")),
  "make a directory on a link to one": (disk, at) => disk.mkdir(at("to-dir")),
  "make a directory on a dangling link": (disk, at) => disk.mkdir(at("dangling")),
  "make a directory without parents": (disk, at) => disk.mkdir(at("x/y"), { parents: false }),
  "link out": (disk, at) => disk.symlink?.("../../etc", at("l")),
  "link on a file": (disk, at) => disk.symlink?.("d", at("f")),
  "an empty target": (disk, at) => disk.symlink?.("", at("l")),
  "a mode": async (disk, at) => {
    await disk.chmod?.(at("f"), 0o6640);
    return fs.statSync(at("f")).mode & 0o7777;
  },
  "a wrong mode": (disk, at) => disk.chmod?.(at("f"), -1),
  "move into itself": (disk, at) => disk.rename?.(at("d"), at("d/e/x")),
  "move onto itself": (disk, at) => disk.rename?.(at("f"), at("f"), { overwrite: true }),
  "move onto its twin": (disk, at) => disk.rename?.(at("f"), at("twin"), { overwrite: true }),
  "move onto a protected file": (disk, at) => disk.rename?.(at("f"), at("locked"), { overwrite: true }),
  "move onto a full directory": (disk, at) => disk.rename?.(at("d/e"), at("d"), { overwrite: true }),
  "move a file onto a directory": (disk, at) => disk.rename?.(at("f"), at("d"), { overwrite: true }),
  "move the root": (disk, at) => disk.rename?.(at(""), at("x")),
  "move a link": async (disk, at) => {
    await disk.rename?.(at("to-dir"), at("moved"));
    return fs.readlinkSync(at("moved"));
  },
  "move on another target": (disk, at) =>
    disk.rename?.(at("f"), at("d/g"), { overwrite: true, ifTargetVersion: "1.2.3.4.5" }),
  "copy a directory as a file": (disk, at) => disk.copyFile?.(at("d"), at("x")),
  "copy onto itself through a link": (disk, at) =>
    disk.copyFile?.(at("f"), at("to-file"), { overwrite: true }),
  "copy a tree": async (disk, at) => [
    await disk.copyTree?.(at("d"), at("n")),
    fs.readFileSync(at("n/e/h"), "utf8"),
  ],
  "remove a tree": async (disk, at) => [await disk.removeTree?.(at("d")), fs.existsSync(at("d"))],
  "remove the root": (disk, at) => disk.removeTree?.(at("")),
  "an empty path": (disk) => disk.stat(""),
  "a relative path": (disk) => disk.stat("relative"),
  "a name with NUL": (disk, at) => disk.stat(at("a\0b")),
};

/** Returns what an operation gives or how it fails; paths, times and identities are those of one run. */
async function answer(operation: Operation, disk: Files, root: string): Promise<string> {
  const at = (path: string): string => (path === "" ? root : join(root, path));
  try {
    const found = JSON.stringify(await operation(disk, at)) ?? "nothing";
    return found.replaceAll(root, "$R").replace(/"mtime":[\d.]+/g, '"mtime":0');
  } catch (error) {
    if (!(error instanceof FilewrightError)) throw error;
    const { code, message, details } = error;
    return `${code}: ${message} ${JSON.stringify(Object.entries(details ?? {}).sort())}`
      .replaceAll(root, "$R")
      .replace(/\b(?:Local|Node)Backend\b/gu, "DISK");
  }
}

/**
 * Answers whose words differ: the addon resolves and refuses in one step, the policy in TypeScript before the disk
 * is asked. The codes are the same.
 */
const OTHER_WORDS: ReadonlySet<string> = new Set([
  "read outside",
  "read beside the root",
  "delete on another version",
  "link out",
  "move the root",
  "remove the root",
]);

describe.skipIf(process.platform === "win32")(
  "the disk without the addon answers as the disk with it",
  () => {
    it.each(Object.keys(OPERATIONS))("%s", async (name) => {
      fs.mkdirSync(join(base, "closed"));
      const answers: string[] = [];
      for (const kind of ["local", "node"] as const) {
        const root = join(base, kind);
        fs.mkdirSync(root);
        seed(root);
        const policy = SandboxPolicy.workspaceOnly(root);
        const disk = kind === "local" ? new LocalBackend({ policy }) : new NodeBackend({ policy });
        answers.push(await answer(OPERATIONS[name] as Operation, disk, root));
        disk.close();
      }
      const [local, node] = answers.map((text) => (OTHER_WORDS.has(name) ? text.split(":")[0] : text));
      expect(node).toBe(local);
    });

    it("facts and versions are the same text for the same file", async () => {
      const root = join(base, "closed");
      fs.mkdirSync(root);
      seed(root);
      const [local, node] = [new LocalBackend(), new NodeBackend()];
      for (const path of ["f", "d", "run", "to-file", "to-dir/e/h", "caf\\xE9"]) {
        expect(await node.stat(join(root, path)), path).toEqual(await local.stat(join(root, path)));
        expect(await node.lstat(join(root, path)), path).toEqual(await local.lstat(join(root, path)));
      }
      expect(await node.listDir(root)).toEqual(await local.listDir(root));
    });
  },
);
