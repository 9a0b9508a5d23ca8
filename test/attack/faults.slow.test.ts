/**
 * Disks that fail: full, over quota, broken. What was there is whole, the error is
 * told, nothing lies about. Two packages that write atomically are put to the same
 * full disk in the same run.
 */
import { execFileSync, spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import process from "node:process";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openWorkspace } from "../../js/index.node.ts";
import { type Arm, ARMS, diskOf } from "./world.ts";

const ENTRY = resolve(import.meta.dirname, "../../dist/cli/library.js");
const disks = ARMS.filter((arm) => arm.disk);
const OLD = "old\n".repeat(4000);
const NEW = "new!\n".repeat(10_000);

let base: string;
let small: string;
beforeEach(() => {
  base = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), "filewright-faults-")));
  small = join(base, "small");
  fs.mkdirSync(small);
});
afterEach(() => {
  spawnSync("umount", ["-l", small]);
  fs.rmSync(base, { recursive: true, force: true });
});

const mountable =
  process.getuid?.() === 0 &&
  (() => {
    const place = fs.mkdtempSync(join(tmpdir(), "filewright-mount-"));
    const works = spawnSync("mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", place]).status === 0;
    if (works) execFileSync("umount", [place]);
    fs.rmSync(place, { recursive: true });
    return works;
  })();

describe.skipIf(!mountable)("a disk of 64 KiB", () => {
  beforeEach(() => {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", small]);
    fs.writeFileSync(join(small, "f"), OLD);
    // 16 KiB stay free: the new content fits in part.
    fs.writeFileSync(join(small, "filler"), "x".repeat(32 * 1024));
  });

  test.each(disks)(
    "full in the middle of a write: the old content is whole, and the error is told, on $name",
    async (arm) => {
      const stateDir = join(base, "state");
      const backend = diskOf(arm, stateDir);
      const ws = await openWorkspace({ root: small, stateDir, backend });
      for (const [tool, args] of [
        ["write_file", { path: "f", content: NEW }],
        ["write_file", { path: "new", content: NEW }],
        ["edit_file", { path: "f", old_text: "old\n", new_text: NEW, on_multiple: "first" }],
        ["write_file", { path: "f", content: NEW, append: true }],
        ["copy", { source: "filler", destination: "copied" }],
      ] as const) {
        expect(await ws.call(tool, args), tool).toMatchObject({ error: { code: "NO_SPACE" } });
        expect(fs.readdirSync(small).sort(), tool).toEqual(["f", "filler"]);
        expect(fs.readFileSync(join(small, "f"), "utf8"), tool).toBe(OLD);
      }
      await ws.close();
    },
  );

  // What they do is theirs to change: a release that stops losing files makes this fail, and is welcome.
  test.each(["write-file-atomic", "atomically"])(
    "the control: %s says all is well, and the file is cut",
    async (name) => {
      const peer = (await import(name)) as {
        readonly default?: (path: string, text: string) => Promise<void>;
        readonly writeFile?: (path: string, text: string) => Promise<void>;
      };
      const write = peer.writeFile ?? peer.default;
      const error = await write?.(join(small, "f"), NEW).then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      const left = fs.readFileSync(join(small, "f"), "utf8");
      expect(error).toBeUndefined();
      expect([OLD, NEW]).not.toContain(left);
    },
  );
});

const strace = spawnSync("strace", ["-V"]).status === 0;

describe.skipIf(!strace)("a disk that breaks", () => {
  const write = (root: string): string => `
    import { openWorkspace } from ${JSON.stringify(ENTRY)};
    const ws = await openWorkspace({ root: ${JSON.stringify(root)}, stateDir: ${JSON.stringify(join(base, "state"))}, durability: "durable", history: false });
    const result = await ws.call("write_file", { path: "f", content: "new" });
    console.log(result.ok ? "OK" : result.error.code);`;

  test.each([
    ["fsync", "EIO", "IO_ERROR"],
    ["fsync", "EDQUOT", "NO_SPACE"],
    ["fsync", "ENOSPC", "NO_SPACE"],
    ["fchmod", "EIO", "IO_ERROR"],
    // The content itself: only our own writes are by position.
    ["pwrite64", "EIO", "IO_ERROR"],
    ["pwrite64", "EDQUOT", "NO_SPACE"],
    ["rename,renameat,renameat2", "EIO", "IO_ERROR"],
    ["rename,renameat,renameat2", "EDQUOT", "NO_SPACE"],
  ])("%s answers %s: told, the old content whole, nothing left", (call, errno, code) => {
    fs.writeFileSync(join(small, "f"), OLD);
    // Bits that a file is not created with, so that they are set.
    fs.chmodSync(join(small, "f"), 0o640);
    const program = [process.execPath, "--input-type=module", "-e", write(small)];
    const args = [
      "-f",
      "-qq",
      "-o",
      "/dev/null",
      "-e",
      `trace=${call}`,
      "-e",
      // Every time: a write that cannot exchange two names renames.
      `inject=${call}:error=${errno}`,
    ];
    const ended = spawnSync("strace", [...args, ...program], { encoding: "utf8" });
    expect(ended.stdout.trim(), ended.stderr).toBe(code);
    expect(fs.readFileSync(join(small, "f"), "utf8")).toBe(OLD);
    expect(fs.readdirSync(small)).toEqual(["f"]);
  });
});

test("four processes of 25 edits each: every edit is made, or refused as a conflict", async () => {
  const names = Array.from({ length: 100 }, (_, n) => `<${n}>`);
  fs.writeFileSync(join(small, "f"), `${names.join("\n")}\n`);
  // Each by another way: the locks and the comparisons are the same.
  const stateDir = join(base, "state");
  const way = (who: number): string => {
    const { resolver, kernel } = disks[(who + 1) % disks.length] as Arm;
    return resolver === "node"
      ? `new NodeBackend(${JSON.stringify({ stateDir })})`
      : `new LocalBackend(${JSON.stringify({ stateDir, resolver, kernel })})`;
  };
  const edit = (who: number): string => `
    import { LocalBackend, NodeBackend, openWorkspace } from ${JSON.stringify(ENTRY)};
    const backend = ${way(who)};
    const ws = await openWorkspace({ root: ${JSON.stringify(small)}, stateDir: ${JSON.stringify(stateDir)}, backend, limits: { lockTimeoutMs: 60000 } });
    const done = await Promise.all(Array.from({ length: 25 }, async (_, n) => {
      const name = String(${who} * 25 + n);
      const { ok, error } = await ws.call("edit_file", { path: "f", old_text: "<" + name + ">", new_text: "[" + name + "]" });
      return [name, ok ? "OK" : error.code];
    }));
    console.log(JSON.stringify(done));`;
  const { execFile } = await import("node:child_process");
  const { promisify } = await import("node:util");
  const ran = await Promise.all(
    [0, 1, 2, 3].map((who) =>
      promisify(execFile)(process.execPath, ["--input-type=module", "-e", edit(who)]),
    ),
  );
  const text = fs.readFileSync(join(small, "f"), "utf8");
  const told = ran.flatMap(({ stdout }) => JSON.parse(stdout) as [string, string][]);
  expect(told).toHaveLength(100);
  for (const [name, code] of told) {
    expect(["OK", "CONFLICT"]).toContain(code);
    expect(text.includes(`[${name}]`), `${name} ${code}`).toBe(code === "OK");
  }
});
