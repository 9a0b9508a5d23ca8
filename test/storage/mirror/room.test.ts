/** Several copies: the room for all of them, and one copy for several workspaces. */
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import "../../../js/engine/index.node.ts";
import { memoryStorage, type Op, type Storage } from "../../../js/storage/index.ts";
import { openWorkspace, type Workspace, type WorkspaceOptions } from "../../../js/workspace/index.node.ts";
import { afterThisTest } from "../../support/cleanups.ts";

const put = (path: string, text: string): Op => ({ op: "put", path, body: new TextEncoder().encode(text) });

function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "fw-mirror-"));
  afterThisTest(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

const copies = (stateDir: string): readonly string[] =>
  existsSync(join(stateDir, "mirrors")) ? readdirSync(join(stateDir, "mirrors")).sort() : [];

function countFiles(directory: string): number {
  if (!existsSync(directory)) return 0;
  return readdirSync(directory, { recursive: true, withFileTypes: true }).filter((one) => one.isFile())
    .length;
}

async function open(options: WorkspaceOptions): Promise<Workspace> {
  const ws = await openWorkspace({ root: "/ws", ...options });
  afterThisTest(() => ws.close());
  return ws;
}

async function grep(ws: Workspace, pattern: string): Promise<{ fresh: string; total_matches: number }> {
  const result = await ws.call("grep", { pattern, output: "count", max_results: 100_000 });
  expect(result).toMatchObject({ ok: true });
  return result.data as unknown as { fresh: string; total_matches: number };
}

async function untilWarm(ws: Workspace): Promise<void> {
  for (let tries = 0; (await grep(ws, "warm")).fresh === "scan"; tries++) {
    if (tries > 1000) throw new Error("the copy was not searched");
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

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
