/** postgresStorage and its database: tenants, quotas, the schema and its versions, names, sweeping, large contents. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type pg from "pg";
import "../../../js/engine/index.node.ts";
import {
  type BlobStore,
  dropPostgresWorkspace,
  postgresStorage,
  type PostgresStorage,
  setPostgresQuota,
  sweepPostgres,
} from "@filewright/storage/postgres";
import type { Op } from "../../../js/storage/index.ts";
import { missingServer, startPostgres, type TestServer } from "./server.mjs";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const put = (path: string, text: string): Op => ({ op: "put", path, body: bytes(text) });
let workspaces = 0;
let server: TestServer;
let client: pg.Pool;
const open = (more: Partial<Parameters<typeof postgresStorage>[0]> = {}): Promise<PostgresStorage> =>
  postgresStorage({ client, workspace: `database${workspaces++}`, ...more });
const textOf = async (storage: PostgresStorage, path: string, at?: string): Promise<string | null> => {
  const [found] = (await storage.readMany([path], { at })).results;
  if (found instanceof Error) throw found;
  return found?.body === undefined ? null : new TextDecoder().decode(found.body);
};

/** An object store in memory. */
function blobStore(): BlobStore & { readonly held: Map<string, Uint8Array> } {
  const held = new Map<string, Uint8Array>();
  return {
    held,
    put: (key, body) => held.set(key, body),
    get: (key) => held.get(key),
    remove: (key) => held.delete(key),
  };
}

describe.skipIf(missingServer() !== undefined)("postgresStorage and its database", () => {
  beforeAll(async () => {
    server = await startPostgres();
    client = server.pool();
    await open();
  });
  afterAll(() => server.stop());

  it("opens the same workspace from many connections at once, also where the schema is missing", async () => {
    const schema = "at_once";
    const all = await Promise.all(
      Array.from({ length: 8 }, () =>
        postgresStorage({ client: server.pool({ max: 1 }), workspace: "w", schema }),
      ),
    );
    await all[0]?.commit([put("/a", "1")]);
    for (const storage of all) expect(await textOf(storage, "/a")).toBe("1");
  });

  it("refuses a schema that a newer version has made, and leaves it as it is", async () => {
    const schema = "newer";
    await open({ schema });
    await client.query("update newer.meta set version = 99");
    await expect(open({ schema })).rejects.toMatchObject({ code: "UNSUPPORTED_OPERATION" });
    const { rows } = await client.query("select version from newer.meta");
    expect(rows).toEqual([{ version: 99 }]);
  });

  it.each(['a"b', "a; drop schema public", "pg_x", "", "ä", "1a", "a".repeat(64)])(
    "refuses the schema name %j before anything is sent",
    async (schema) => {
      await expect(open({ schema })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    },
  );

  it.each([
    ["a NUL", "/a\0b", "INVALID_ARGUMENT"],
    ["an unpaired surrogate", "/a\ud800b", "INVALID_ARGUMENT"],
    ["5,000 bytes", `/${"a/".repeat(2500)}b`, "NAME_TOO_LONG"],
    ["a name of 300 bytes", `/${"a".repeat(300)}`, "NAME_TOO_LONG"],
    ["no slash", "a", "INVALID_ARGUMENT"],
  ])("refuses a path with %s in every place", async (_, path, code) => {
    const storage = await open();
    const calls: (() => Promise<unknown>)[] = [
      () => storage.commit([put(path, "1")]),
      () => storage.commit([{ op: "move", from: "/x", to: path }]),
      () => storage.commit([], { expect: [{ path, version: null }] }),
      () => storage.list({ prefix: path, limit: 1 }),
      () => storage.lockAll([{ path }], { timeoutMs: 10 }),
      () => storage.statMany([path]),
    ];
    for (const call of calls) await expect(call()).rejects.toMatchObject({ code });
    expect((await storage.readMany([path])).results).toMatchObject([{ code }]);
  });

  it("takes names that mean something in SQL, LIKE and JSON as they are", async () => {
    const storage = await open({ workspace: `'; drop table ws; --${workspaces++}`, tenant: `t"\\'%` });
    const names = [
      "/it's",
      '/"q"',
      "/\\x41",
      "/%",
      "/_",
      "/$1",
      "/$$",
      "/{a,b}",
      "/NULL",
      "/\u0001",
      "/\ud83d\ude00",
      "/é/e\u0301",
    ];
    await storage.commit(names.map((name) => put(name, name)));
    for (const name of names) expect(await textOf(storage, name)).toBe(name);
    await storage.commit([
      { op: "remove", path: "/%" },
      { op: "move", from: "/é", to: "/_x" },
    ]);
    expect(await textOf(storage, "/_x/e\u0301")).toBe("/é/e\u0301");
    expect(await textOf(storage, "/_")).toBe("/_");
    const page = await storage.list({ limit: 100 });
    expect(page.entries).toHaveLength(names.length);
  });

  it("another tenant sees and changes nothing, also by the number of a workspace or the hash of a content", async () => {
    const one = await open({ tenant: "one" });
    const { entries } = await one.commit([put("/secret", "1")]);
    const two = await open({ tenant: "two" });
    const hash = entries[0]?.hash ?? "";
    await expect(two.commit([{ op: "link", path: "/a", hash, size: 1 }])).rejects.toMatchObject({
      code: "NOT_FOUND",
    });
    const { rows } = await client.query(
      "select id from filewright.ws where tenant = 'one' order by id desc limit 1",
    );
    const steal = [
      ["select * from filewright.read_many('two', $1, '[\"/secret\"]', true, null, null)"],
      ["select * from filewright.list('two', $1, '/', null, null, 10, null)"],
      ["select * from filewright.fork('two', $1, 'stolen', null)"],
      ["select * from filewright.record_get('two', $1, 'k', 'i')"],
    ] as const;
    for (const [text] of steal)
      await expect(client.query(text, [rows[0].id])).rejects.toMatchObject({ code: "FW004" });
  });

  it("row-level security hides what a function does not name, also from the owner of the tables", async () => {
    await client.query("create role app login");
    await client.query("create database rls owner app");
    const pool = server.pool({ user: "app", database: "rls" });
    const one = await postgresStorage({ client: pool, workspace: "w", tenant: "one" });
    const two = await postgresStorage({ client: pool, workspace: "w", tenant: "two" });
    await one.commit([put("/a", "1")], { key: "k", records: [{ kind: "c", id: "1", add: 1 }] });
    await two.commit([put("/b", "2")]);
    const fork = await one.fork("f");
    await fork.commit([put("/c", "3")]);
    expect(await one.merge(fork)).toMatchObject({ conflicts: [] });
    expect((await two.list({ limit: 10 })).entries.map(({ path }) => path)).toEqual(["/b"]);
    for (const table of ["ws", "blob", "node", "change", "answer", "record", "held", "pin", "merged"])
      expect((await pool.query(`select count(*)::int n from filewright.${table}`)).rows).toEqual([{ n: 0 }]);
    // As if a function had forgotten which workspace it reads.
    const connection = await pool.connect();
    await connection.query("select set_config('filewright.workspaces', '{1}', false)");
    const { rows } = await connection.query("select distinct ws::int from filewright.node");
    connection.release(true);
    expect(rows).toEqual([{ ws: 1 }]);
    expect(await sweepPostgres({ client: pool })).toMatchObject({ blobs: 0 });
  });

  it("refuses growth beyond a quota, and takes what frees something", async () => {
    const workspace = "quota";
    const storage = await open({ workspace });
    await storage.commit([put("/a", "12345"), put("/b", "12345")]);
    expect(await setPostgresQuota({ client, workspace, bytes: 12, files: 3 })).toEqual({
      bytes: 10,
      files: 2,
    });
    await expect(storage.commit([put("/c", "123")])).rejects.toMatchObject({
      code: "NO_SPACE",
      details: { bytes: 13 },
    });
    await storage.commit([put("/c", "12")]);
    await expect(storage.commit([put("/d", "")])).rejects.toMatchObject({
      code: "NO_SPACE",
      details: { files: 4 },
    });
    await expect((await storage.fork("quota-fork")).commit([put("/d", "")])).rejects.toMatchObject({
      code: "NO_SPACE",
    });
    await setPostgresQuota({ client, workspace, bytes: 5, files: null });
    await storage.commit([{ op: "remove", path: "/a" }]);
    expect(await setPostgresQuota({ client, workspace, bytes: null, files: null })).toEqual({
      bytes: 7,
      files: 2,
    });
  });

  it("sweeps past states that nothing reads, and keeps those of forks, snapshots and merges", async () => {
    const storage = await open();
    for (const text of ["1", "2", "3"])
      await storage.commit([put("/a", text), put(`/only${text}`, `only${text}`)]);
    const snapshot = await storage.snapshot();
    await storage.commit([put("/a", "4"), { op: "remove", path: "/only1" }]);
    const fork = await storage.fork(`swept${workspaces++}`);
    for (const text of ["5", "6"]) await storage.commit([put("/a", text)]);
    await client.query("update filewright.change set at = now() - interval '40 days'");
    await client.query("update filewright.blob set stored = now() - interval '40 days'");
    const swept = await sweepPostgres({ client });
    expect(swept.rows).toBeGreaterThan(0);
    expect(swept.blobs).toBeGreaterThan(0);
    expect(await textOf(storage, "/a")).toBe("6");
    expect(await textOf(storage, "/a", snapshot.at)).toBe("3");
    expect(await textOf(storage, "/only1", snapshot.at)).toBe("only1");
    expect(await textOf(fork, "/a")).toBe("4");
    expect(await textOf(storage, "/only2")).toBe("only2");
    expect(await storage.changes("1", { limit: 10 })).toMatchObject({ gap: true });
    await expect(textOf(storage, "/a", "1")).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    await fork.commit([put("/forked", "1")]);
    expect(await storage.merge(fork)).toMatchObject({ conflicts: [], entries: [{ path: "/forked" }] });
  });

  it("copies a fork of many forks, which then reads and merges as before", async () => {
    let at = await open();
    await at.commit([put("/a", "0"), put("/gone", "x"), put("/d/deep", "y")]);
    let parent = at;
    for (let level = 1; level <= 10; level++) {
      parent = at;
      at = await at.fork(`level${level}-${workspaces++}`);
      await at.commit([
        put("/a", String(level)),
        put(`/l${level}`, "z"),
        ...(level === 5 ? [{ op: "remove", path: "/gone" } as const] : []),
      ]);
    }
    const before = await at.list({ limit: 100 });
    expect((await sweepPostgres({ client })).flattened).toBeGreaterThan(0);
    expect(await at.list({ limit: 100 })).toEqual(before);
    expect(await textOf(at, "/a")).toBe("10");
    expect(await textOf(at, "/gone")).toBeNull();
    expect(await parent.merge(at)).toMatchObject({ conflicts: [] });
    expect(await textOf(parent, "/a")).toBe("10");
  });

  it("keeps large contents in an object store, and sweeps them there", async () => {
    const blobs = blobStore();
    const storage = await open({ tenant: "large", blobs });
    const large = "x".repeat(300 * 1024);
    await storage.commit([put("/large", large), put("/copy", large), put("/small", "s")]);
    expect([...blobs.held.keys()]).toEqual([expect.stringMatching(/^large\/[0-9a-f]{64}$/u)]);
    expect(await textOf(storage, "/copy")).toBe(large);
    const without = await storage.readMany(["/large", "/small"], { maxBytes: 10 });
    expect(without.results).toMatchObject([{ left: true }, { left: true }]);
    const key = [...blobs.held.keys()][0] as string;
    blobs.held.set(key, bytes("other"));
    expect((await storage.readMany(["/large"])).results).toMatchObject([
      { code: "IO_ERROR", path: "/large" },
    ]);
    await storage.commit([
      { op: "remove", path: "/large" },
      { op: "remove", path: "/copy" },
    ]);
    await client.query("update filewright.change set at = now() - interval '40 days'");
    await client.query("update filewright.blob set stored = now() - interval '40 days'");
    // What was removed is the present state until another commit: its past states are beyond the floor now.
    await storage.commit([put("/small", "t")]);
    await sweepPostgres({ client, blobs });
    expect(blobs.held.size).toBe(0);
    expect(await textOf(storage, "/small")).toBe("t");
  });

  it("drops a workspace: its name is free, and its forks go on", async () => {
    const workspace = "dropped";
    const storage = await open({ workspace });
    await storage.commit([put("/a", "1")]);
    const fork = await storage.fork("of-dropped");
    expect(await dropPostgresWorkspace({ client, workspace })).toBe(true);
    expect(await dropPostgresWorkspace({ client, workspace })).toBe(false);
    expect((await (await open({ workspace })).list({ limit: 1 })).entries).toEqual([]);
    await sweepPostgres({ client });
    expect(await textOf(fork, "/a")).toBe("1");
    await dropPostgresWorkspace({ client, workspace: "of-dropped" });
    await sweepPostgres({ client });
    await sweepPostgres({ client });
    await expect(fork.readMany(["/a"])).rejects.toMatchObject({ code: "NOT_FOUND" });
    await expect(storage.readMany(["/a"])).rejects.toMatchObject({ code: "NOT_FOUND" });
  });
});
