/**
 * Faults of the engine amid a change through a server: a cut connection, a full disk, a clock that is wrong. The answer
 * says whether the change happened, and the same call again settles it.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import type pg from "pg";
import { postgresStorage, type PostgresStorage } from "@filewright/storage/postgres";
import type { Op } from "../../js/storage/index.ts";
import { startProxy } from "../storage/postgres/proxy.ts";
import { missingServer, startPostgres, type TestServer } from "../storage/postgres/server.mjs";
import { afterThisTest } from "../support/cleanups.ts";
import { call, postgresUrl, startServing } from "./server.ts";

const DAY_MS = 86_400_000;
const put = (path: string, text: string): Op => ({ op: "put", path, body: new TextEncoder().encode(text) });

describe.skipIf(missingServer() !== undefined)("faults of Postgres", () => {
  let server: TestServer;
  let client: pg.Pool;
  let names = 0;
  beforeAll(async () => {
    server = await startPostgres();
    client = server.pool();
  });
  afterAll(() => server.stop());
  afterEach(() => void vi.useRealTimers());

  /** A workspace of its own, as the test sees it. */
  async function workspace(): Promise<{ readonly name: string; readonly storage: PostgresStorage }> {
    const name = `faults${names++}`;
    return { name, storage: await postgresStorage({ client, workspace: name }) };
  }
  const textOf = async (storage: PostgresStorage, path: string): Promise<string | null> => {
    const [found = null] = (await storage.readMany([path])).results;
    return found !== null && "body" in found ? new TextDecoder().decode(found.body) : null;
  };
  const commitsOf = async (storage: PostgresStorage): Promise<number> =>
    (await storage.history({ limit: 100 })).length;

  /** Lets the disk of the engine be full: the server raises the error of a full disk amid each commit. */
  async function fillDisk(): Promise<() => Promise<void>> {
    await client.query(`create or replace function disk_full() returns trigger language plpgsql as $$
      begin raise exception 'could not extend file: No space left on device' using errcode = 'disk_full'; end $$`);
    await client.query(
      "create trigger disk_full after insert on filewright.node for each row execute function disk_full()",
    );
    return async () => void (await client.query("drop trigger disk_full on filewright.node"));
  }

  test("a change beyond the bytes or files of a workspace is NO_SPACE, and one that frees some is made", async () => {
    const { name, storage } = await workspace();
    await storage.commit([put("/old.txt", "123456789012345678901234567890")]);
    const quota = { bytes: 20, files: 2 };
    const served = await startServing(postgresUrl(server.host), { choice: { workspace: name }, quota });
    const write = async (path: string, content: string): Promise<string> =>
      (await call(served.url, "write_file", { path, content, overwrite: true })).text;
    expect(await write("/new.txt", "1")).toContain("No space left");
    await call(served.url, "read_file", { path: "/old.txt" });
    expect(await write("/old.txt", "12345")).not.toContain("No space left");
    expect(await write("/new.txt", "12345")).not.toContain("No space left");
    expect(await write("/third.txt", "1")).toContain("No space left");
    expect(await write("/new.txt", "1234567890123456")).toContain("No space left");
    expect(await textOf(storage, "/new.txt")).toBe("12345");
    // A server without the options leaves the limits as they are.
    const other = await startServing(postgresUrl(server.host), { choice: { workspace: name } });
    const args = { path: "/third.txt", content: "1" };
    expect((await call(other.url, "write_file", args)).text).toContain("No space left");
  });

  test("a connection that is cut after a commit has reached the server: the call is answered, and made once", async () => {
    const { name, storage } = await workspace();
    const proxy = await startProxy(server.host);
    afterThisTest(() => proxy.close());
    const url = `postgres://postgres@127.0.0.1:${proxy.port}/postgres`;
    const served = await startServing(url, { choice: { workspace: name } });
    await call(served.url, "write_file", { path: "/warm.txt", content: "0\n" });
    const before = await commitsOf(storage);
    // Each round loses the answer to another one of the call's trips.
    for (let lost = 0; lost < 4; lost++) {
      let trips = 0;
      const target = lost;
      const writing = call(served.url, "write_file", { path: `/a${lost}.txt`, content: `${lost}\n` });
      const start = proxy.trips();
      const watch = setInterval(() => {
        trips = proxy.trips() - start;
        if (trips >= target) {
          proxy.loseNextAnswer();
          clearInterval(watch);
        }
      }, 0);
      const answer = await writing;
      clearInterval(watch);
      expect([lost, answer.isError, answer.text]).toEqual([lost, false, expect.anything()]);
      expect(await textOf(storage, `/a${lost}.txt`)).toBe(`${lost}\n`);
    }
    expect(await commitsOf(storage)).toBe(before + 4);
  });

  test("a full disk: NO_SPACE, nothing happened, and the same call succeeds once there is space", async () => {
    const { name, storage } = await workspace();
    const served = await startServing(postgresUrl(server.host), { choice: { workspace: name } });
    const args = { path: "/a.txt", content: "1\n" };
    const free = await fillDisk();
    let freed = false;
    afterThisTest(async () => (freed ? undefined : free()));
    const refused = await call(served.url, "write_file", args);
    expect(refused.isError).toBe(true);
    expect(refused.text).toMatch(/No space left.*nothing was changed/u);
    const thrown = await storage.commit([put("/b.txt", "1")], { key: "k" }).catch((error: unknown) => error);
    expect(thrown).toMatchObject({ code: "NO_SPACE", details: { outcome: "none" } });
    expect([await textOf(storage, "/a.txt"), await textOf(storage, "/b.txt")]).toEqual([null, null]);
    await free();
    freed = true;
    expect((await call(served.url, "write_file", args)).isError).toBe(false);
    // The failed commit has not used its key up.
    expect(await storage.commit([put("/b.txt", "1")], { key: "k" })).not.toHaveProperty("repeated");
    expect([await textOf(storage, "/a.txt"), await textOf(storage, "/b.txt")]).toEqual(["1\n", "1"]);
  });

  test.each([DAY_MS, -DAY_MS])(
    "a replica whose clock is wrong by %i ms keeps records, keys and times as the others do",
    async (skew) => {
      const { storage } = await workspace();
      const other = await postgresStorage({ client, workspace: `faults${names - 1}` });
      vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + skew });
      await storage.records.put("lease", "1", "mine", { forMs: 60_000 });
      await storage.commit([put("/a.txt", "1")], { key: "k" });
      vi.useRealTimers();
      expect((await other.records.get("lease", "1"))?.value).toBe("mine");
      expect(await other.commit([put("/a.txt", "1")], { key: "k" })).toMatchObject({ repeated: true });
      const [entry] = await other.statMany(["/a.txt"]);
      expect(Math.abs((entry?.mtime ?? 0) - Date.now())).toBeLessThan(60_000);
      await other.records.put("lease", "2", "theirs", { forMs: 60_000 });
      vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + skew });
      expect((await storage.records.get("lease", "2"))?.value).toBe("theirs");
    },
  );
});
