import { join } from "node:path";
import { describe, expect, it } from "vitest";
import "../../../js/engine/index.node.ts";
import { memoryStorage, type Storage } from "../../../js/storage/index.ts";
import { openWorkspace } from "../../../js/workspace/index.node.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { copies, countFiles, grep, open, put, untilWarm } from "./support.ts";

describe("the room for mirrors", () => {
  const sized = async (name: string, bytes: number): Promise<Storage> => {
    const storage = memoryStorage();
    await storage.commit([put(`/ws/${name}`, `needle ${name}\n${"x".repeat(bytes)}`)]);
    return storage;
  };

  it("is that of the copies that were searched last; the others are searched without, completely", async () => {
    const stateDir = temporaryDirectory();
    const mirror = { maxBytes: 250_000 };
    const open3 = async (name: string) => open({ storage: await sized(name, 100_000), stateDir, mirror });
    const [a, b] = [await open3("a"), await open3("b")];
    await untilWarm(a);
    await untilWarm(b);
    expect(countFiles(join(stateDir, "mirrors", copies(stateDir)[0] as string, "files"))).toBe(1);
    const c = await open3("c");
    await untilWarm(c);
    const filled = copies(stateDir).filter(
      (name) => countFiles(join(stateDir, "mirrors", name, "files")) > 0,
    );
    expect(filled.length).toBe(2);
    for (const ws of [a, b, c]) expect((await grep(ws, "needle")).total_matches).toBe(1);
  });

  it("removes the copies of ended processes first, and has none for a storage that is too large", async () => {
    const stateDir = temporaryDirectory();
    const mirror = { maxBytes: 150_000 };
    const old = await openWorkspace({ storage: await sized("old", 100_000), root: "/ws", stateDir, mirror });
    await untilWarm(old);
    await old.close();
    const [left] = copies(stateDir);
    const now = await open({ storage: await sized("now", 100_000), stateDir, mirror });
    await untilWarm(now);
    expect(copies(stateDir)).not.toContain(left);
    const large = await open({ storage: await sized("large", 200_000), stateDir, mirror });
    expect(await grep(large, "needle")).toMatchObject({ fresh: "scan", total_matches: 1 });
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(await grep(large, "needle")).toMatchObject({ fresh: "scan", total_matches: 1 });
    await untilWarm(now);
  });

  it("counts what a copy will have: files that are replaced or removed take no room beside their successors", async () => {
    const stateDir = temporaryDirectory();
    const options = { stateDir, mirror: { maxBytes: 150_000 } };
    const storage = await sized("one", 100_000);
    const ws = await openWorkspace({ storage, root: "/ws", ...options });
    await untilWarm(ws);
    await storage.commit([put("/ws/one", `needle rewritten\n${"y".repeat(100_000)}`)]);
    expect(await grep(ws, "needle rewritten")).toMatchObject({ fresh: "watch", total_matches: 1 });
    await storage.commit([{ op: "remove", path: "/ws/one" }, put("/ws/two", "z".repeat(120_000))]);
    expect(await grep(ws, "z")).toMatchObject({ fresh: "watch", total_matches: 1 });
    await ws.close();
    // The next process finds the old files in its copy.
    await storage.commit([put("/ws/two", `needle again\n${"w".repeat(110_000)}`)]);
    const next = await open({ storage, ...options });
    await untilWarm(next);
    expect(await grep(next, "needle again")).toMatchObject({ fresh: "watch", total_matches: 1 });
    await storage.commit([put("/ws/three", "v".repeat(60_000))]);
    expect(await grep(next, "v")).toMatchObject({ fresh: "scan", total_matches: 1 });
  });

  it("has one copy for all workspaces on a storage, with the rules of each", async () => {
    const stateDir = temporaryDirectory();
    const storage = memoryStorage();
    await storage.commit([
      put("/ws/a.txt", "needle"),
      put("/ws/b/c.txt", "needle"),
      put("/other/d.txt", "needle"),
    ]);
    const all = await open({ storage, stateDir });
    const few = await open({ storage, stateDir, access: { deny: ["b"] } });
    const other = await open({ storage, stateDir, root: "/other" });
    for (const ws of [all, few, other]) await untilWarm(ws);
    expect((await grep(all, "needle")).total_matches).toBe(2);
    expect((await grep(few, "needle")).total_matches).toBe(1);
    expect((await grep(other, "needle")).total_matches).toBe(1);
    expect(copies(stateDir).length).toBe(1);
    await all.close();
    expect(await grep(few, "needle")).toMatchObject({ fresh: "watch", total_matches: 1 });
  });
});
