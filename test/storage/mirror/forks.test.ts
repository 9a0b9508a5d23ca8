/** Searches of forks beside the copy of their parent's files: the answers of a walk of the fork, whatever has changed. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import "../../../js/engine/index.node.ts";
import { memoryStorage, type Storage } from "../../../js/storage/index.ts";
import { openWorkspace, type ForkWorkspace, type Workspace } from "../../../js/workspace/index.node.ts";
import { answer, change, commitAll, deny, openScanned, query } from "./generated.ts";
import { copies, countFiles, open, put, temporaryDirectory, untilWarm } from "./support.ts";

/** Notes the forks of a storage, and those of its forks, in the order in which they are made. */
function notingForks(storage: Storage, made: Storage[] = []): Storage[] {
  const { fork } = storage;
  storage.fork = async (name, options) => {
    const found = (await fork?.call(storage, name, options)) as Storage;
    made.push(found);
    notingForks(found, made);
    return found;
  };
  return made;
}

interface Found {
  readonly files: readonly string[];
  readonly fresh: string;
}

async function filesWith(ws: Workspace, pattern: string, more: object = {}): Promise<Found> {
  const result = await ws.call("grep", { pattern, output: "files", ...more });
  expect(result).toMatchObject({ ok: true });
  return result.data as unknown as Found;
}

describe("a search in a fork", () => {
  it("answers as a walk of the fork, while forks of forks and their parents change", async () => {
    const folder = mkdtempSync(join(tmpdir(), "fw-forks-"));
    let round = 0;
    let [besideCopy, searches] = [0, 0];
    const some = fc.array(change, { maxLength: 6 });
    const generated = [
      fc.array(change, { minLength: 10, maxLength: 40 }),
      fc.array(some, { minLength: 6, maxLength: 6 }),
      fc.array(query, { minLength: 3, maxLength: 5 }),
      deny,
    ] as const;
    try {
      await fc.assert(
        fc.asyncProperty(...generated, async (first, later, asked, denied) => {
          const storage = memoryStorage();
          const made = notingForks(storage);
          await storage.commit([{ op: "mkdir", path: "/ws" }]);
          await commitAll(storage, first);
          const access = { deny: denied.filter((glob) => !glob.startsWith("/")) };
          const stateDir = join(folder, String(round++));
          const ws = await openWorkspace({ storage, root: "/ws", stateDir, access });
          const opened: Workspace[] = [ws];
          const compare = async (fork: Workspace, at: Storage): Promise<void> => {
            const scanned = await openScanned(at, access);
            opened.push(scanned);
            for (const args of asked) {
              expect(await answer(fork, args)).toEqual(await answer(scanned, args));
              searches++;
              if ((await filesWith(fork, "needle", { max_results: 1 })).fresh !== "scan") besideCopy++;
            }
          };
          try {
            await untilWarm(ws);
            const [inFork, inParent, inInner, ofParent, ofFork, last] = later;
            const fork = await ws.fork();
            const at = made.at(-1) as Storage;
            await commitAll(at, inFork ?? []);
            await compare(fork, at);
            // The parent moves on, and its copy does not follow until it is searched itself.
            await commitAll(storage, inParent ?? []);
            await compare(fork, at);
            const inner = await fork.fork();
            const innerAt = made.at(-1) as Storage;
            await commitAll(innerAt, inInner ?? []);
            await commitAll(storage, ofParent ?? []);
            await compare(inner, innerAt);
            await ws.call("grep", { pattern: "needle" });
            await commitAll(at, ofFork ?? []);
            await compare(fork, at);
            await compare(inner, innerAt);
            // A fork of what the parent is now, and one of which nothing was searched before its parent moved on.
            const late = await ws.fork();
            const lateAt = made.at(-1) as Storage;
            await commitAll(storage, last ?? []);
            await compare(late, lateAt);
            await compare(ws, storage);
            await storage.merge(at, { favour: "theirs" });
            await compare(ws, storage);
            await compare(fork, at);
            await fork.drop();
            await compare(late, lateAt);
          } finally {
            for (const one of opened.reverse()) await one.close();
          }
        }),
        { numRuns: 10, seed: 20_261_127 },
      );
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
    // Most of these searches are answered by the index of the copy.
    expect(besideCopy).toBeGreaterThan(searches / 3);
  }, 120_000);

  it("copies nothing, and reads from the storage only what has changed", async () => {
    const storage = memoryStorage();
    const [stateDir, trips] = [temporaryDirectory(), [] as string[]];
    const made = notingForks(storage);
    await storage.commit(Array.from({ length: 100 }, (_, n) => put(`/ws/d${n % 5}/f${n}`, `needle ${n}\n`)));
    const ws = await open({ storage, stateDir });
    await untilWarm(ws);
    const files = countFiles(join(stateDir, "mirrors"));
    const fork: ForkWorkspace = await ws.fork();
    const at = made[0] as Storage;
    for (const name of ["readMany", "list", "changes"] as const) {
      const call = at[name].bind(at) as (...args: unknown[]) => Promise<never>;
      at[name] = (...args: unknown[]) => {
        trips.push(name === "readMany" ? `readMany ${(args[0] as string[]).join(" ")}` : name);
        return call(...args);
      };
    }
    expect(await filesWith(fork, "needle 7$")).toMatchObject({ files: ["d2/f7"], fresh: "watch" });
    expect(trips.splice(0)).toEqual(["changes"]);
    await at.commit([
      put("/ws/d2/f7", "other\n"),
      put("/ws/new/f", "needle 7\n"),
      { op: "remove", path: "/ws/d0", tree: true },
    ]);
    expect(await filesWith(fork, "needle (7|10|11)$")).toMatchObject({
      files: ["d1/f11", "new/f"],
      fresh: "watch",
    });
    expect(trips.splice(0)).toEqual(["changes", "readMany /ws/d2/f7 /ws/new/f"]);
    await storage.commit([put("/ws/d1/f11", "of the parent\n"), put("/ws/d3/late", "needle 7\n")]);
    expect((await filesWith(ws, "needle 7$")).files).toEqual(["d2/f7", "d3/late"]);
    expect(await filesWith(fork, "needle (7|10|11)$")).toMatchObject({
      files: ["d1/f11", "new/f"],
      fresh: "watch",
    });
    expect(countFiles(join(stateDir, "mirrors"))).toBe(files + 1);
    expect(copies(stateDir).length).toBe(1);
    expect((await ws.call("glob", { pattern: "**/late" })).data).toMatchObject({ matches: ["d3/late"] });
    expect((await fork.call("glob", { pattern: "**/late" })).data).toMatchObject({ matches: [] });
  });

  it("walks a fork that differs in too much, and answers the same", async () => {
    const storage = memoryStorage();
    const made = notingForks(storage);
    await storage.commit(Array.from({ length: 600 }, (_, n) => put(`/ws/f${n}`, `needle ${n}\n`)));
    const ws = await open({ storage, stateDir: temporaryDirectory() });
    await untilWarm(ws);
    const fork = await ws.fork();
    await made[0]?.commit(Array.from({ length: 600 }, (_, n) => put(`/ws/f${n}`, `fork ${n}\n`)));
    expect(await filesWith(fork, "(fork|needle) 59$")).toMatchObject({ files: ["f59"], fresh: "scan" });
    expect((await filesWith(fork, "needle")).files).toEqual([]);
  });

  it("a search of the parent finds a merge at once, whatever age of an answer it allows", async () => {
    const storage = memoryStorage();
    await storage.commit([put("/ws/a", "hay")]);
    const mirror = { freshness: { maxAgeMs: 60_000 } };
    const ws = await open({ storage, stateDir: temporaryDirectory(), mirror });
    await untilWarm(ws);
    const fork = await ws.fork();
    await fork.call("write_file", { path: "b", content: "needle" });
    expect((await filesWith(ws, "needle")).files).toEqual([]);
    await fork.merge();
    expect((await filesWith(ws, "needle")).files).toEqual(["b"]);
  });

  it("shows nothing that is denied or secret, of the fork, of its parent and of the copy", async () => {
    const storage = memoryStorage();
    const made = notingForks(storage);
    await storage.commit([
      put("/ws/a", "needle"),
      put("/ws/deny/b", "needle"),
      put("/ws/.env", "KEY=needle"),
      put("/other/c", "needle"),
    ]);
    const ws = await open({ storage, stateDir: temporaryDirectory(), access: { deny: ["deny"] } });
    await untilWarm(ws);
    const fork = await ws.fork();
    await made[0]?.commit([
      put("/ws/deny/d", "needle"),
      put("/ws/e.pem", "-----BEGIN RSA PRIVATE KEY-----\nneedle\n"),
      put("/ws/sub/.env", "KEY=needle"),
      put("/other/f", "needle"),
      put("/ws/g", "needle"),
      { op: "symlink", path: "/ws/link", target: "/other" },
      { op: "symlink", path: "/ws/sub/b", target: "../deny/b" },
    ]);
    const { data } = await fork.call("grep", { pattern: "needle" });
    expect(data).toMatchObject({
      matches: [{ path: "a" }, { path: "g" }],
      files_searched: 2,
      fresh: "watch",
    });
    const scanned = await openScanned(made[0] as Storage, { deny: ["deny"] });
    expect({ ...(await scanned.call("grep", { pattern: "needle" })).data, fresh: "" }).toEqual({
      ...data,
      fresh: "",
    });
    await scanned.close();
    const agent = await fork.agent("narrow", { access: { deny: ["g"] } });
    expect((await filesWith(agent, "needle")).files).toEqual(["a"]);
  });
});
