/** Tool calls over Postgres: the round trips of the protocol, and what replicas with connections of their own do to one file. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { openWorkspace, type Workspace } from "../../../js/index.node.ts";
import { postgresStorage } from "@filewright/storage/postgres";
import type { PlannedMerge, Storage } from "../../../js/storage/index.ts";
import { afterThisTest } from "../../support/cleanups.ts";
import { startProxy } from "./proxy.ts";
import { missingServer, startPostgres, type TestServer } from "./server.mjs";
import { idOfCall } from "../../support/calls.ts";

const FILES = 60;
let server: TestServer;
let workspaces = 0;

const encoded = (text: string): Uint8Array => new TextEncoder().encode(text);

async function seeded(workspace: string): Promise<Storage> {
  const direct = await postgresStorage({ client: server.pool(), workspace });
  await direct.commit(
    Array.from({ length: FILES }, (_, i) => ({
      op: "put",
      path: `/repo/src/f${i}.ts`,
      body: encoded(`const n = ${i};\n`),
    })),
  );
  return direct;
}

async function textAt(storage: Storage, path: string): Promise<string> {
  const [found] = (await storage.readMany([path])).results;
  return found === null || found === undefined || found instanceof Error
    ? ""
    : new TextDecoder().decode(found.body);
}

function patchOf(count: number, from: string, to: string): string {
  const files = Array.from(
    { length: count },
    (_, i) => `*** Update File: src/f${i}.ts\n@@\n-const n = ${from}${i};\n+const n = ${to}${i};\n`,
  );
  return `*** Begin Patch\n${files.join("")}*** End Patch`;
}

describe.skipIf(missingServer() !== undefined)("tool calls over Postgres", () => {
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.stop());

  it("take one round trip for a read and two for a change, counted on the wire", async () => {
    const workspace = `calls${workspaces++}`;
    const direct = await seeded(workspace);
    const proxy = await startProxy(server.host);
    afterThisTest(() => proxy.close());
    const pool = server.pool({ host: "127.0.0.1", port: proxy.port, max: 1 });
    const storage = await postgresStorage({ client: pool, workspace });
    const ws = await openWorkspace({ storage, root: "/repo", agent: "ann" });
    await ws.call("stat", { path: "." });
    const trips: Record<string, number> = {};
    const count = async (name: string, run: () => Promise<unknown>): Promise<void> => {
      const before = proxy.trips();
      await run();
      trips[name] = proxy.trips() - before;
    };
    const call = (tool: string, args: object): Promise<string> => idOfCall(ws, tool, args);
    const path = "src/f1.ts";
    await count("read", () => call("read_file", { path }));
    await count("new file", () => call("write_file", { path: "new/a.ts", content: "a\n" }));
    await count("edit", () => call("edit_file", { path, old_text: "= 1", new_text: "= 2" }));
    await call("edit_file", { path, old_text: "= 2", new_text: "= 1" });
    let id = "";
    await count("patch of 20", async () => {
      id = await call("apply_patch", { patch: patchOf(20, "", "1") });
    });
    await count("undo of 20", () => ws.undo(id));
    const operations = [
      { tool: "write_file", args: { path: "new/b.ts", content: "b\n" } },
      { tool: "edit_file", args: { path, old_text: "= 1", new_text: "= 3" } },
      { tool: "move", args: { source: "new/a.ts", destination: "new/c.ts" } },
    ];
    await count("batch of 3", () => call("batch", { operations }));
    const paths = Array.from({ length: FILES }, (_, i) => `src/f${i}.ts`);
    await count("read_many of 60", () => call("read_many_files", { paths }));
    await count("stat", () => call("stat", { path }));
    expect(trips).toEqual({
      read: 1,
      "new file": 2,
      edit: 2,
      "patch of 20": 2,
      "undo of 20": 2,
      "batch of 3": 2,
      "read_many of 60": 1,
      stat: 1,
    });
    expect(await textAt(direct, "/repo/src/f0.ts")).toBe("const n = 0;\n");
    await ws.close();
  });

  it("take two round trips for an edit of a file that another replica changes as well", async () => {
    // A path stays contended for a second after its last conflict, by this clock, which stands still.
    vi.useFakeTimers({ toFake: ["performance"] });
    afterThisTest(() => vi.useRealTimers());
    const workspace = `calls${workspaces++}`;
    const direct = await seeded(workspace);
    const proxy = await startProxy(server.host);
    afterThisTest(() => proxy.close());
    const client = server.pool({ host: "127.0.0.1", port: proxy.port, max: 2 });
    const storage = await postgresStorage({ client, workspace });
    const commit = storage.commit.bind(storage);
    let before: (() => Promise<unknown>) | undefined;
    storage.commit = async (...all) => {
      const run = before;
      before = undefined;
      await run?.();
      return commit(...all);
    };
    const ws = await openWorkspace({ storage, root: "/repo", agent: "ann" });
    const path = "src/f1.ts";
    const other = (text: string): Promise<unknown> =>
      direct.commit([{ op: "put", path: `/repo/${path}`, body: encoded(text) }]);
    const edit = async (from: string, to: string): Promise<number> => {
      const trips = proxy.trips();
      const result = await ws.call("edit_file", { path, old_text: from, new_text: to });
      expect(result.ok ? "" : result.text).toBe("");
      return proxy.trips() - trips;
    };
    await ws.call("stat", { path });
    before = () => other("const n = 1; // b1\n");
    // The read, the commit that meets the other one, the lock with the read, and the commit that ends the lock.
    expect(await edit("n = 1", "n = 2")).toBe(4);
    expect(await edit("n = 2", "n = 3")).toBe(2);
    await other("const n = 3; // b2\n");
    expect(await edit("n = 3", "n = 4")).toBe(2);
    expect(await textAt(direct, `/repo/${path}`)).toBe("const n = 4; // b2\n");
    // The lock is free at once.
    const held = await direct.lockAll?.([{ path: `/repo/${path}` }], { timeoutMs: 20_000 });
    // A call that fails leaves no lock behind.
    await held?.release();
    const failed = await ws.call("edit_file", { path, old_text: "absent", new_text: "x" });
    expect(failed.ok).toBe(false);
    await (await direct.lockAll?.([{ path: `/repo/${path}` }], { timeoutMs: 20_000 }))?.release();
    await ws.close();
  });

  it("take one round trip for a fork, and three for its merge of a hundred paths", async () => {
    const workspace = `calls${workspaces++}`;
    const direct = await seeded(workspace);
    const proxy = await startProxy(server.host);
    afterThisTest(() => proxy.close());
    const client = server.pool({ host: "127.0.0.1", port: proxy.port });
    const ws = await openWorkspace({ storage: await postgresStorage({ client, workspace }), root: "/repo" });
    const fork = await ws.fork();
    const operations = Array.from({ length: 100 }, (_, i) => ({
      tool: "write_file",
      args: { path: `src/d${i % 7}/f${i}.ts`, content: `fork ${i}\n` },
    }));
    expect(await fork.call("batch", { operations })).toMatchObject({ ok: true });
    const before = proxy.trips();
    const { merged, changes } = await fork.merge();
    expect([merged, changes.length, proxy.trips() - before]).toEqual([true, 107, 3]);
    expect(await textAt(direct, "/repo/src/d3/f3.ts")).toBe("fork 3\n");
    await ws.close();
  });

  it("make a planned merge as it was reviewed, or not at all", async () => {
    const storage = await seeded(`calls${workspaces++}`);
    const fork = (await storage.fork?.(`fork-of-calls${workspaces}`)) as Storage;
    const write = (to: Storage, name: string, text: string) =>
      to.commit([{ op: "put", path: `/repo/src/${name}`, body: encoded(text) }]);
    const plan = async (): Promise<PlannedMerge> => {
      let found: PlannedMerge | undefined;
      const review = (planned: PlannedMerge): boolean => {
        found = planned;
        return false;
      };
      await storage.merge?.(fork, { review });
      return found as PlannedMerge;
    };
    await write(fork, "f1.ts", "fork\n");
    const first = await plan();
    await write(fork, "f2.ts", "later\n");
    await write(storage, "f3.ts", "parent\n");
    // What the fork has become since is no part of it, and what else the parent has changed does not matter.
    const merged = await storage.merge?.(fork, { planned: first, key: "once" });
    expect(merged?.entries.map(({ path }) => path)).toEqual(["/repo/src/f1.ts"]);
    expect(await storage.merge?.(fork, { planned: first, key: "once" })).toMatchObject({ repeated: true });
    expect(await textAt(storage, "/repo/src/f2.ts")).toBe("const n = 2;\n");
    const second = await plan();
    await write(storage, "f2.ts", "parent\n");
    await expect(storage.merge?.(fork, { planned: second })).rejects.toMatchObject({ code: "CONFLICT" });
    expect(await textAt(storage, "/repo/src/f2.ts")).toBe("parent\n");
    expect((await storage.merge?.(fork))?.conflicts).toMatchObject([{ path: "/repo/src/f2.ts" }]);
  });

  it("lose no edit of one file through four replicas", async () => {
    const workspace = `calls${workspaces++}`;
    const direct = await seeded(workspace);
    const [agents, edits] = [16, 3];
    const marks = Array.from({ length: agents }, (_, i) => `agent ${i}: .\n`);
    await direct.commit([{ op: "put", path: "/repo/one.txt", body: encoded(marks.join("")) }]);
    const replicas: Workspace[] = [];
    for (let i = 0; i < 4; i++) {
      const storage = await postgresStorage({ client: server.pool({ max: 4 }), workspace });
      replicas.push(await openWorkspace({ storage, root: "/repo" }));
    }
    const work = marks.map(async (mark, i) => {
      for (let n = 0; n < edits; n++) {
        const head = mark.slice(0, -2);
        const old = head + "x".repeat(n);
        const args = { path: "one.txt", old_text: `${old}.\n`, new_text: `${old}x.\n` };
        const result = await replicas[i % 4]?.call("edit_file", args, { agent: `agent ${i}` });
        expect(result?.ok ? "" : result?.text).toBe("");
      }
    });
    await Promise.all(work);
    const expected = marks.map((mark) => `${mark.slice(0, -2)}${"x".repeat(edits)}.\n`).join("");
    expect(await textAt(direct, "/repo/one.txt")).toBe(expected);
    for (const ws of replicas) await ws.close();
  }, 60_000);

  it("change nothing when the process is killed before the commit", async () => {
    const workspace = `calls${workspaces++}`;
    const direct = await seeded(workspace);
    const { head } = await direct.changes(null, { limit: 0 });
    const script = join(import.meta.dirname, "killed-call.mjs");
    const child = spawn(process.execPath, [script, server.host, workspace, patchOf(20, "", "1")], {
      stdio: ["ignore", "inherit", "inherit"],
    });
    expect(await once(child, "exit")).toEqual([null, "SIGKILL"]);
    expect((await direct.changes(null, { limit: 0 })).head).toBe(head);
    expect(await textAt(direct, "/repo/src/f0.ts")).toBe("const n = 0;\n");
    const ws = await openWorkspace({ storage: direct, root: "/repo" });
    expect([ws.recovery.rolledBack, await ws.history()]).toEqual([0, []]);
    await ws.close();
  });
});
