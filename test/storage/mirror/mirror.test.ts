/** The copy of a storage's files on this machine: its answers, what it never does, and what it survives. */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import "../../../js/engine/index.node.ts";
import { openBackend } from "../../../js/storage/backend/to-backend.ts";
import { openMirror } from "../../../js/storage/mirror/open.node.ts";
import { memoryStorage, type MemoryStorage, type Storage } from "../../../js/storage/index.ts";
import type { Workspace } from "../../../js/workspace/index.node.ts";
import { afterThisTest } from "../../support/cleanups.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { open, put } from "./support.ts";

/** A storage that records its round trips, and can be made slow. */
function counted(inner: MemoryStorage) {
  const trips: string[] = [];
  const storage = new Proxy(inner as Storage, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== "function") return value;
      return async (...args: readonly unknown[]) => {
        trips.push(String(name));
        return Reflect.apply(value, target, args) as unknown;
      };
    },
  });
  return { storage, trips };
}

interface Found {
  readonly files: readonly string[];
  readonly fresh: string;
  readonly files_searched: number;
}

async function grepFiles(ws: Workspace, pattern: string, more: object = {}): Promise<Found> {
  const result = await ws.call("grep", { pattern, output: "files", ...more });
  expect(result).toMatchObject({ ok: true });
  return result.data as unknown as Found;
}

/** Searches until the copy is there, and returns the directory of its files. */
async function warm(ws: Workspace, stateDir: string): Promise<string> {
  for (let tries = 0; tries < 400; tries++) {
    // Only a search of the copy, by its index, is not a scan.
    if ((await grepFiles(ws, "warm")).fresh !== "scan") {
      const [name] = readdirSync(join(stateDir, "mirrors"));
      return join(stateDir, "mirrors", name as string, "files");
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error("the copy was not searched");
}

describe("the mirror of a storage", () => {
  it("answers a search in one round trip, none within the stated age, and finds own changes at once", async () => {
    const { storage, trips } = counted(memoryStorage());
    await storage.commit([put("/ws/a.txt", "needle\n"), put("/ws/d/b.txt", "hay\n")]);
    const stateDir = temporaryDirectory();
    const ws = await open({ storage, stateDir, mirror: { freshness: { maxAgeMs: 60_000 } } });
    const exact = await open({ storage, stateDir });
    const files = await warm(ws, stateDir);
    expect(readFileSync(join(files, "ws/a.txt"), "utf8")).toBe("needle\n");
    expect(statSync(files).mode & 0o777).toBe(0o700);
    trips.length = 0;
    expect((await grepFiles(ws, "needle")).files).toEqual(["a.txt"]);
    expect(trips).toEqual([]);
    expect(await grepFiles(exact, "needle")).toMatchObject({ files: ["a.txt"], fresh: "watch" });
    expect(trips).toEqual(["changes"]);
    await ws.call("write_file", { path: "c.txt", content: "needle too\n" });
    expect((await grepFiles(ws, "needle")).files).toEqual(["a.txt", "c.txt"]);
    expect(existsSync(join(files, "ws/c.txt"))).toBe(true);
  });

  it("follows changes, moves, removals and files that become directories", async () => {
    const inner = memoryStorage();
    const { storage, trips } = counted(inner);
    await inner.commit([put("/ws/a", "needle 1"), put("/ws/d/b", "needle 2"), put("/ws/d/e/c", "needle 3")]);
    const stateDir = temporaryDirectory();
    const ws = await open({ storage, stateDir });
    await warm(ws, stateDir);
    const found = async () => (await grepFiles(ws, "needle")).files;
    expect(await found()).toEqual(["a", "d/b", "d/e/c"]);
    await inner.commit([{ op: "move", from: "/ws/d", to: "/ws/z" }, put("/ws/d", "needle in a file")]);
    trips.length = 0;
    expect(await found()).toEqual(["a", "d", "z/b", "z/e/c"]);
    expect(trips).toEqual(["changes", "readMany"]);
    await inner.commit([{ op: "remove", path: "/ws/d" }, put("/ws/d/f", "needle"), put("/ws/a", "hay")]);
    expect(await found()).toEqual(["d/f", "z/b", "z/e/c"]);
    await inner.commit([{ op: "remove", path: "/ws/z", tree: true }]);
    expect(await found()).toEqual(["d/f"]);
  });

  it("answers at once while it is filled, and completely", async () => {
    const inner = memoryStorage();
    const many = Array.from({ length: 300 }, (_, n) => put(`/ws/d${n % 7}/f${n}`, `needle ${n}`));
    await inner.commit(many);
    const { storage } = counted(inner);
    const stateDir = temporaryDirectory();
    const ws = await open({ storage, stateDir });
    for (let n = 0; n < 3; n++)
      expect((await grepFiles(ws, "needle", { max_results: 1000 })).files.length).toBe(300);
    const files = await warm(ws, stateDir);
    expect(readdirSync(join(files, "ws")).length).toBe(7);
    expect((await grepFiles(ws, "needle", { max_results: 1000 })).files.length).toBe(300);
  });

  it("finds every change that was made before a search, while others write and search", async () => {
    const inner = memoryStorage();
    const stateDir = temporaryDirectory();
    await inner.commit(Array.from({ length: 50 }, (_, n) => put(`/ws/old${n}`, "hay")));
    const ws = await open({ storage: inner, stateDir });
    await warm(ws, stateDir);
    const writer = async (name: string): Promise<void> => {
      for (let round = 0; round < 25; round++) {
        const text = `needle ${name} ${round}.`;
        await inner.commit([put(`/ws/${name}/f${round % 5}`, text)]);
        const { files, files_searched } = await grepFiles(ws, `needle ${name} ${round}\\.`);
        expect(files).toEqual([`${name}/f${round % 5}`]);
        expect(files_searched).toBeGreaterThanOrEqual(50);
        if (round % 7 !== 0) continue;
        await inner.commit([{ op: "remove", path: `/ws/${name}`, tree: true }]);
        expect((await grepFiles(ws, `needle ${name}`)).files).toEqual([]);
      }
    };
    await Promise.all(["a", "b", "c", "d"].map(writer));
    expect((await grepFiles(ws, "hay", { max_results: 1000 })).files.length).toBe(50);
  });

  it("never shows, counts or follows what is denied, secret or a link", async () => {
    const inner = memoryStorage();
    const outside = temporaryDirectory();
    writeFileSync(join(outside, "secret.txt"), "needle of the machine\n");
    await inner.commit([
      put("/ws/a.txt", "needle"),
      put("/ws/deny/b.txt", "needle"),
      put("/ws/x/hidden.key.txt", "needle"),
      put("/ws/.env", "KEY=needle"),
      put("/ws/id.pem", "-----BEGIN RSA PRIVATE KEY-----\nneedle\n"),
      put("/other/c.txt", "needle"),
      { op: "symlink", path: "/ws/link.txt", target: join(outside, "secret.txt") },
      { op: "symlink", path: "/ws/linkdir", target: outside },
      { op: "symlink", path: "/ws/up", target: "../../../../../../../../etc" },
      { op: "symlink", path: "/ws/in", target: "/other" },
    ]);
    const stateDir = temporaryDirectory();
    const access = { deny: ["deny", "**/hidden.*"] };
    const ws = await open({ storage: inner, stateDir, access });
    const plain = await open({ storage: inner, access });
    const files = await warm(ws, stateDir);
    const [mine, theirs] = [
      await ws.call("grep", { pattern: "needle" }),
      await plain.call("grep", { pattern: "needle" }),
    ];
    expect({ ...mine.data, fresh: "" }).toEqual({ ...theirs.data, fresh: "" });
    expect(mine.data).toMatchObject({ total_matches: 1, files_searched: 1 });
    for (const name of ["link.txt", "linkdir", "up", "in"])
      expect(existsSync(join(files, "ws", name))).toBe(false);
    expect(await ws.call("grep", { pattern: "needle", path: "in" })).toMatchObject({
      error: { code: "OUTSIDE_ALLOWED" },
    });
    expect(await ws.call("grep", { pattern: "needle", path: "deny" })).toMatchObject({
      error: { code: "OUTSIDE_ALLOWED" },
    });
  });

  it("removes what a crash or another program has left, and reads it again", async () => {
    const inner = memoryStorage();
    const { storage, trips } = counted(inner);
    await inner.commit([put("/ws/a", "needle a"), put("/ws/b", "needle b"), put("/ws/c", "needle c")]);
    const stateDir = temporaryDirectory();
    const first = await open({ storage, stateDir });
    const files = await warm(first, stateDir);
    await first.close();
    const { atime, mtime } = statSync(join(files, "ws/a"));
    writeFileSync(join(files, "ws/a"), "broken a");
    utimesSync(join(files, "ws/a"), atime, mtime);
    unlinkSync(join(files, "ws/b"));
    symlinkSync("/etc/passwd", join(files, "ws/b"));
    writeFileSync(join(files, "ws/stray"), "needle of nobody");
    mkdirSync(join(files, "ws/dir"));
    symlinkSync("/etc", join(files, "ws/dir/etc"));
    const second = await open({ storage, stateDir });
    expect((await grepFiles(second, "needle")).files).toEqual(["a", "b", "c"]);
    trips.length = 0;
    await warm(second, stateDir);
    for (let n = 0; n < 100 && readFileSync(join(files, "ws/a"), "utf8") !== "needle a"; n++)
      await warm(second, stateDir);
    expect((await grepFiles(second, "needle")).files).toEqual(["a", "b", "c"]);
    expect(readFileSync(join(files, "ws/b"), "utf8")).toBe("needle b");
    expect(readdirSync(join(files, "ws")).sort()).toEqual(["a", "b", "c"]);
    // Only what was not as recorded has been read again.
    const reads = trips.filter((name) => name === "readMany").length;
    expect(reads).toBeLessThanOrEqual(1);
  });

  it("holds names that are strange but possible, and leaves out what the storage must not name", async () => {
    const inner = memoryStorage();
    const names = [
      "back\\slash",
      "new\nline",
      "…",
      "ü",
      "u\u0308",
      " ",
      "-rf",
      "n".repeat(255),
      "%2e%2e",
      "*",
      "[a]",
      "~",
    ];
    await inner.commit(names.map((name) => put(`/ws/${name}`, "needle")));
    const deep = `/ws/${Array.from({ length: 15 }, () => "d".repeat(255)).join("/")}/f`;
    await inner.commit([put(deep, "needle")]);
    const stateDir = temporaryDirectory();
    const [ws, plain] = [await open({ storage: inner, stateDir }), await open({ storage: inner })];
    await warm(ws, stateDir);
    const found = (await grepFiles(ws, "needle")).files;
    expect(found).toEqual((await grepFiles(plain, "needle")).files);
    expect(found.length).toBe(names.length + 1);
  });

  it("leaves counts to the storage while a directory does not fit on the disk, whatever else changes", async () => {
    const inner = memoryStorage();
    // With the directory of the copy before it, its path is longer than a path may be.
    const deep = `/ws/${Array.from({ length: 15 }, () => "d".repeat(255)).join("/")}/${"e".repeat(210)}/skip`;
    await inner.commit([put("/ws/.gitignore", "skip/\n"), put("/ws/a", "needle")]);
    const stateDir = temporaryDirectory();
    const [copied, plain] = [openBackend(inner), openBackend(inner)];
    const mirror = await openMirror(inner, copied.searches, stateDir, 1 << 20);
    afterThisTest(() => mirror.release());
    const answers = async () => {
      const [mine, theirs] = await Promise.all(
        [copied, plain].map(({ backend }) => backend.grep("/ws", { pattern: "needle" })),
      );
      return { mine: { ...mine, fresh: "" }, theirs: { ...theirs, fresh: "" }, fresh: mine?.fresh };
    };
    await expect.poll(async () => (await answers()).fresh, { timeout: 30_000 }).not.toBe("scan");
    await inner.commit([{ op: "mkdir", path: deep }]);
    expect(await answers()).toMatchObject({ mine: { ignored: 1 }, fresh: "scan" });
    await inner.commit([put("/ws/b", "needle")]);
    const { mine, theirs } = await answers();
    expect(theirs).toMatchObject({ ignored: 1, totalMatches: 2 });
    expect(mine).toEqual(theirs);
    await inner.commit([{ op: "remove", path: `/ws/${"d".repeat(255)}`, tree: true }]);
    const after = await answers();
    expect(after.mine).toEqual(after.theirs);
    expect(after.fresh).not.toBe("scan");
  });

  it("refuses a content that is not that of its hash, and searches go on without a copy", async () => {
    const inner = memoryStorage();
    await inner.commit([put("/ws/a", "needle")]);
    let wrong = true;
    const storage = new Proxy(inner as Storage, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name);
        if (name !== "readMany") return typeof value === "function" ? value.bind(target) : value;
        return async (...args: Parameters<Storage["readMany"]>) => {
          const answer = await target.readMany(...args);
          if (!wrong) return answer;
          const body = new TextEncoder().encode("noodle");
          const results = answer.results.map((one) =>
            one !== null && "body" in one ? { ...one, body } : one,
          );
          return { ...answer, results };
        };
      },
    });
    const stateDir = temporaryDirectory();
    const ws = await open({ storage, stateDir });
    await grepFiles(ws, "needle");
    await new Promise((resolve) => setTimeout(resolve, 200));
    const [name] = readdirSync(join(stateDir, "mirrors"));
    expect(existsSync(join(stateDir, "mirrors", name as string, "files/ws/a"))).toBe(false);
    wrong = false;
    expect((await grepFiles(ws, "noodle")).files).toEqual(["a"]);
  });
});
