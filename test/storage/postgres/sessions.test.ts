/** Locks of postgresStorage by session or by lease: behind poolers, in the wrong session, and at the end. */
import type { Pool, PoolClient, QueryConfig } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import "../../../js/engine/index.node.ts";
import { postgresStorage } from "@filewright/storage/postgres";
import { missingServer, startPostgres, type TestServer } from "./server.mjs";

const WAIT = { timeoutMs: 20_000 };
const body = new TextEncoder().encode("text");
let server: TestServer;
let workspaces = 0;
const nextWorkspace = (): string => `sessions${workspaces++}`;

/** A pool whose connections tell another process than the one that serves them, as those of a pooler do. */
function pooled(pool: Pool, processID: number | undefined): Pool {
  const connect = async (): Promise<PoolClient> => {
    const taken = await pool.connect();
    return new Proxy(taken, {
      get: (target, name) => {
        if (name === "processID") return processID;
        const value: unknown = Reflect.get(target, name);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
  };
  return { options: pool.options, connect, query: pool.query.bind(pool) } as unknown as Pool;
}

/** A pool that sends the last statement of a lock to another session, as a pooler by the transaction may. */
function misled(pool: Pool): Pool {
  const connect = async (): Promise<PoolClient> => {
    const taken = await pool.connect();
    const query = taken.query.bind(taken) as (query: QueryConfig) => Promise<unknown>;
    return Object.assign(Object.create(taken) as PoolClient, {
      query: (asked: QueryConfig) =>
        asked.text.includes("commit_release") ? pool.query(asked) : query(asked),
      release: (destroy?: boolean) => taken.release(destroy),
    });
  };
  return { options: pool.options, connect, query: pool.query.bind(pool) } as unknown as Pool;
}

async function advisoryLocks(): Promise<readonly unknown[]> {
  const { rows } = await server
    .pool()
    .query("select mode, granted from pg_locks where locktype = 'advisory'");
  return rows;
}

describe.skipIf(missingServer() !== undefined)("the locks of postgresStorage", () => {
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.stop());

  it.each<[string, () => Pool, "fair" | "lease"]>([
    ["a direct connection", () => server.pool(), "fair"],
    ["a pool of one connection", () => server.pool({ max: 1 }), "lease"],
    ["a pooler", () => pooled(server.pool(), 7), "lease"],
    ["a client that tells no process", () => pooled(server.pool(), undefined), "lease"],
  ])("%s", async (_title, client, locks) => {
    const storages = await Promise.all(
      [1, 2].map(() => postgresStorage({ client: client(), workspace: nextWorkspace() })),
    );
    const facts = await Promise.all(storages.map((storage) => storage.probe()));
    expect(facts.map((one) => one.locks)).toEqual([locks, locks]);
    for (const storage of storages) await storage.close();
    expect(await advisoryLocks()).toEqual([]);
  });

  it("a commit in another session than that of its locks fails at once, and nothing is left", async () => {
    const workspace = nextWorkspace();
    const storage = await postgresStorage({ client: misled(server.pool()), workspace });
    const { token } = await storage.lockAll([{ path: "/a" }], WAIT);
    await expect(
      storage.commit([{ op: "put", path: "/a", body }], { token, release: true }),
    ).rejects.toMatchObject({ code: "LOCK_TIMEOUT", details: { outcome: "none" } });
    await storage.close();
    expect(await advisoryLocks()).toEqual([]);
  });

  it.each<[string, () => Pool]>([
    ["by session", () => server.pool()],
    ["by lease", () => pooled(server.pool(), 7)],
  ])("close gives back what is held and waited for (%s)", async (_title, client) => {
    const workspace = nextWorkspace();
    const one = await postgresStorage({ client: client(), workspace });
    const two = await postgresStorage({ client: client(), workspace });
    await one.lockAll([{ path: "/a" }], WAIT);
    const released = await one.lockAll([{ path: "/b" }], WAIT);
    void released.release();
    const waiting = expect(one.lockAll([{ path: "/a" }], WAIT)).rejects.toMatchObject({
      code: "CANCELLED",
    });
    await new Promise((resolve) => setTimeout(resolve, 50));
    await one.close();
    await waiting;
    await expect(one.lockAll([{ path: "/a" }], WAIT)).rejects.toMatchObject({
      code: "UNSUPPORTED_OPERATION",
    });
    const held = await two.lockAll([{ path: "/", tree: true }], { timeoutMs: 500 });
    await held.release();
    expect(await advisoryLocks()).toEqual([]);
  });
});
