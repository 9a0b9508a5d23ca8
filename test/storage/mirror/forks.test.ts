/** Searches of forks beside the copy of their parent's files: the answers of a walk of the fork, whatever has changed. */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import "../../../js/engine/index.node.ts";
import { memoryStorage, type Op, type Storage } from "../../../js/storage/index.ts";
import { parentOf } from "../../../js/backends/paths.ts";
import { seededRandom } from "../../../scripts/lib/deep-kind.mjs";
import type { ForkWorkspace } from "../../../js/workspace/index.node.ts";
import { compareForksWithWalks, filesWith, notingForks } from "./fork-parity.ts";
import { answer, openScanned } from "./generated.ts";
import { afterThisTest } from "../../support/cleanups.ts";
import { isNight } from "../../support/share.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { copies, countFiles, open, put, untilWarm } from "./support.ts";

describe("a search in a fork", () => {
  it("answers as a walk of the fork, while forks of forks and their parents change", async () => {
    await compareForksWithWalks(memoryStorage, isNight ? 6 : 3);
  }, 120_000);

  it("answers as a walk of the fork without a copy, by the walks and the index of its parent", async () => {
    await compareForksWithWalks(memoryStorage, isNight ? 12 : 4, { mirror: false });
  }, 120_000);

  it("reads only what differs or matches, in its own state, without a copy", async () => {
    const storage = memoryStorage();
    const made = notingForks(storage);
    await storage.commit(Array.from({ length: 100 }, (_, n) => put(`/ws/d${n % 5}/f${n}`, `needle ${n}\n`)));
    // Together more than stays in memory, so that the fork has to read what its parent has read before them.
    for (const name of ["x", "y", "z"])
      await storage.commit([put(`/ws/${name}`, `${name}\n`.repeat(6 << 20))]);
    const ws = await open({ storage, mirror: false });
    for (let times = 0; times < 2; times++) await filesWith(ws, "needle 7$");
    const fork: ForkWorkspace = await ws.fork();
    const at = made[0] as Storage;
    await at.commit([put("/ws/d2/f7", "other\n"), put("/ws/new/f", "new needle 7\n")]);
    // The parent no longer has the content that the fork still has.
    await storage.commit([put("/ws/d1/f11", "of the parent\n")]);
    const read: string[] = [];
    const { readMany } = at;
    at.readMany = (paths, options) => {
      if (options?.bodies !== false) read.push(...paths);
      return readMany.call(at, paths, options);
    };
    expect(await filesWith(fork, "needle 11$")).toMatchObject({ files: ["d1/f11"] });
    // Contents of this size are in no index, so every search reads them.
    const small = read.filter((path) => !/^\/ws\/[xyz]$/u.test(path)).sort();
    expect(small).toEqual(["/ws/d1/f11", "/ws/d2/f7", "/ws/new/f"]);
  });

  it("copies nothing, and reads from the storage only what has changed", async () => {
    const storage = memoryStorage();
    const [stateDir, trips] = [temporaryDirectory(), [] as string[]];
    const made = notingForks(storage);
    await storage.commit(Array.from({ length: 100 }, (_, n) => put(`/ws/d${n % 5}/f${n}`, `needle ${n}\n`)));
    const ws = await open({ storage, stateDir });
    await untilWarm(ws);
    // The index of the copy is written whenever it likes.
    const copied = join(stateDir, "mirrors", copies(stateDir)[0] as string, "files");
    const files = countFiles(copied);
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
      put("/ws/new/f", "new needle 7\n"),
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
    expect(countFiles(copied)).toBe(files + 1);
    expect(copies(stateDir).length).toBe(1);
    expect((await ws.call("glob", { pattern: "**/late" })).data).toMatchObject({ matches: ["d3/late"] });
    expect((await fork.call("glob", { pattern: "**/late" })).data).toMatchObject({ matches: [] });
  });

  it("answers as a walk where it differs in so much that whole directories are walked", async () => {
    const directories = Array.from({ length: 60 }, (_, n) => `/ws/d${n % 6}/e${n}`);
    const files = directories.flatMap((directory) =>
      Array.from({ length: 30 }, (_, n) => `${directory}/f${n}.${n % 3 === 0 ? "log" : "ts"}`),
    );
    const storage = memoryStorage();
    const made = notingForks(storage);
    await storage.commit(files.map((path, n) => put(path, `needle ${n}\n`)));
    const ws = await open({ storage, stateDir: temporaryDirectory() });
    await untilWarm(ws);
    const random = seededRandom(20_261_130);
    for (let round = 0; round < (isNight ? 6 : 2); round++) {
      const fork = await ws.fork();
      const at = made.at(-1) as Storage;
      const isChanged = new Set(directories.filter(() => random.chance(0.5)));
      const ops = files
        .filter((path) => isChanged.has(parentOf(path)) || random.chance(0.02))
        .map(
          (path, n): Op => (random.chance(0.1) ? { op: "remove", path } : put(path, `fork needle ${n}\n`)),
        );
      const rules = directories
        .filter(() => random.chance(0.05))
        .map((one) => put(`${one}/.gitignore`, "*.log\n"));
      await at.commit([...ops, ...rules, put("/ws/top.ts", "needle at the top\n")]);
      const scanned = await openScanned(at, {});
      afterThisTest(() => scanned.close());
      expect((await filesWith(fork, "needle at the top")).fresh).toBe("watch");
      for (const [pattern, more] of [
        ["needle", { max_results: 2000, output: "files" }],
        ["needle 7", {}],
        ["fork needle", { path: "d1", output: "count" }],
        ["needle", { path: "d2/e2", max_results: 5 }],
        ["needle", { respect_ignore: false, glob: "*.log", output: "count" }],
        ["absent", {}],
      ] as const)
        expect(await answer(fork, { pattern, ...more })).toEqual(await answer(scanned, { pattern, ...more }));
      await fork.drop();
    }
  }, 60_000);

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
