/** postgresStorage between the process and the server: round trips, lost answers, ended connections, waiting. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import "../../../js/engine/index.node.ts";
import { postgresStorage } from "@filewright/storage/postgres";
import type { Op, Storage } from "../../../js/storage/index.ts";
import { afterThisTest } from "../../support/cleanups.ts";
import { type TestProxy, startProxy } from "./proxy.ts";
import { missingServer, startPostgres, type TestServer } from "./server.mjs";

const put = (path: string, text: string): Op => ({ op: "put", path, body: new TextEncoder().encode(text) });
let workspaces = 0;
let server: TestServer;

/** A storage behind a proxy, with a pool of its own, and one that reaches the server directly. */
async function behindProxy(): Promise<{ storage: Storage; direct: Storage; proxy: TestProxy }> {
  const proxy = await startProxy(server.host);
  const pool = server.pool({ host: "127.0.0.1", port: proxy.port });
  afterThisTest(async () => {
    await proxy.close();
  });
  const workspace = `network${workspaces++}`;
  const storage = await postgresStorage({ client: pool, workspace });
  return { storage, direct: await postgresStorage({ client: server.pool(), workspace }), proxy };
}

async function holdOnce(storage: Storage, index: number, order: number[]): Promise<void> {
  const held = await storage.lockAll?.([{ path: "/a" }], { timeoutMs: 30_000 });
  order.push(index);
  await storage.commit([put("/a", String(index))], { token: held?.token });
  await held?.release();
}

describe.skipIf(missingServer() !== undefined)("postgresStorage over a network", () => {
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.stop());

  it("makes one round trip for each call", async () => {
    const { storage, proxy } = await behindProxy();
    const many = Array.from({ length: 60 }, (_, index) => put(`/d${index % 7}/f${index}`, `text ${index}`));
    const trips: Record<string, number> = {};
    const count = async <T>(name: string, run: () => Promise<T>): Promise<T> => {
      const before = proxy.trips();
      const result = await run();
      trips[name] = proxy.trips() - before;
      return result;
    };
    await count("commit of 60", () => storage.commit(many, { key: "k", actor: { agent: "a" } }));
    await count("repeated", () => storage.commit(many, { key: "k" }));
    await count("readMany of 60", () => storage.readMany(many.map((op) => ("path" in op ? op.path : ""))));
    await count("list", () => storage.list({ limit: 100 }));
    await count("changes", () => storage.changes(null, { limit: 100 }));
    await count(
      "history with changes",
      () => storage.history?.({ limit: 1, key: "k" }) ?? Promise.resolve([]),
    );
    await count("record", () => storage.records?.add("n", "1", 1) ?? Promise.resolve({ ok: true, now: 0 }));
    const fork = await count("fork", () => storage.fork?.("fork") ?? Promise.resolve(storage));
    await count("list of a fork", () => fork.list({ limit: 100 }));
    expect(trips).toEqual(Object.fromEntries(Object.keys(trips).map((name) => [name, 1])));
  });

  it("says that the outcome is unknown when the answer is lost, and the key settles it", async () => {
    const { storage, direct, proxy } = await behindProxy();
    proxy.loseNextAnswer();
    const lost = await storage.commit([put("/a", "1")], { key: "k1" }).catch((error: unknown) => error);
    expect(lost).toMatchObject({ code: "IO_ERROR", details: { outcome: "unknown" } });
    expect(await storage.commit([put("/a", "1")], { key: "k1" })).toMatchObject({
      version: "1",
      repeated: true,
    });
    expect((await direct.changes(null, { limit: 10 })).head).toBe("1");
  });

  it("says the same when the server ends the connection amid a commit that did not happen", async () => {
    const { storage, direct } = await behindProxy();
    const admin = await server.pool().connect();
    await admin.query("begin");
    await admin.query("select 1 from filewright.ws for update");
    const cut = storage.commit([put("/a", "1")], { key: "k1" }).catch((error: unknown) => error);
    const waiting =
      "select pid from pg_stat_activity where wait_event_type = 'Lock' and query like '%commit%'";
    // Not within the transaction, which sees the activity as it was at its first look.
    const watcher = server.pool();
    let pid: number | undefined;
    while (pid === undefined) pid = (await watcher.query(waiting)).rows[0]?.pid;
    await watcher.query("select pg_terminate_backend($1)", [pid]);
    expect(await cut).toMatchObject({ code: "IO_ERROR", details: { outcome: "unknown" } });
    await admin.query("rollback");
    admin.release();
    expect((await direct.readMany(["/a"])).results).toEqual([null]);
    const again = await storage.commit([put("/a", "1")], { key: "k1" });
    expect(again).toMatchObject({ version: "1" });
    expect(again.repeated).toBeUndefined();
  });

  it("reads again on another connection when one has ended", async () => {
    const { storage, proxy } = await behindProxy();
    await storage.commit([put("/a", "1")]);
    proxy.loseNextAnswer();
    expect((await storage.readMany(["/a"])).results[0]).toMatchObject({ entry: { version: "1" } });
  });

  it("says that nothing happened where there is no server", async () => {
    const { storage, proxy } = await behindProxy();
    await proxy.close();
    const refused = await storage.commit([put("/a", "1")]).catch((error: unknown) => error);
    // The connection that the pool still holds has ended: whether a statement went through it is unknown.
    expect(["none", "unknown"]).toContain((refused as { details: { outcome: string } }).details.outcome);
    await expect(storage.commit([put("/a", "1")])).rejects.toMatchObject({
      code: "IO_ERROR",
      details: { outcome: "none" },
    });
  });

  it("a conflict waits for nobody, and names every unmet condition", async () => {
    const { storage, direct } = await behindProxy();
    await storage.commit([put("/a", "1"), put("/b", "1")]);
    const admin = await server.pool().connect();
    await admin.query("begin");
    await admin.query("select 1 from filewright.ws for update");
    const expect2 = [
      { path: "/a", version: null },
      { path: "/b", version: "7" },
      { path: "/", tree: "0" },
      { path: "/a", type: "dir" as const },
    ];
    await expect(direct.commit([put("/a", "2")], { expect: expect2 })).rejects.toMatchObject({
      code: "CONFLICT",
      details: {
        conflicts: [
          { path: "/a", expected: null, found: "1" },
          { path: "/b", expected: "7", found: "1" },
          { path: "/", expected: "0", found: "1" },
          { path: "/a", expected: "dir", found: "file" },
        ],
      },
    });
    await admin.query("rollback");
    admin.release();
  });

  it("holders of a lock are served in line, and find a connection to commit with", async () => {
    const { storage } = await behindProxy();
    const order: number[] = [];
    const holders: Promise<void>[] = [];
    const first = await storage.lockAll?.([{ path: "/a" }], { timeoutMs: 30_000 });
    const admin = server.pool();
    const inLine = "select count(*)::int n from pg_locks where locktype = 'advisory' and not granted";
    for (let index = 0; index < 12; index++) {
      holders.push(holdOnce(storage, index, order));
      // The pool has five connections for locks; one is held, four wait in the server, the others in this process.
      const waiting = Math.min(index + 1, 4);
      while ((await admin.query(inLine)).rows[0].n < waiting)
        await new Promise((resolve) => setTimeout(resolve, 5));
    }
    await first?.release();
    await Promise.all(holders);
    expect(order).toHaveLength(12);
    // The server serves those that wait there in line. Those that wait for a connection get one in line, and what they
    // then send can overtake each other by as many places as there are connections.
    expect(order.slice(0, 4)).toEqual([0, 1, 2, 3]);
    for (const [place, index] of order.entries()) expect(Math.abs(place - index)).toBeLessThan(5);
  });

  it("a waiter that is cancelled leaves the line, and a lock ends with its connection", async () => {
    const { storage, direct, proxy } = await behindProxy();
    await storage.lockAll?.([{ path: "/a" }], { timeoutMs: 1000 });
    const cancel = new AbortController();
    const waiter = direct.lockAll?.([{ path: "/a" }], { timeoutMs: 30_000, signal: cancel.signal });
    setTimeout(() => cancel.abort(), 50);
    await expect(waiter).rejects.toMatchObject({ code: "CANCELLED" });
    await expect(direct.lockAll?.([{ path: "/a" }], { timeoutMs: 50 })).rejects.toMatchObject({
      code: "LOCK_TIMEOUT",
    });
    await proxy.close();
    const held = await direct.lockAll?.([{ path: "/", tree: true }], { timeoutMs: 30_000 });
    await held?.release();
  });
});
