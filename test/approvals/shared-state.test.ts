/** Answers over MCP at servers that share a storage: each holds at any of them, and is used once. */
import { randomBytes } from "node:crypto";
import type pg from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { openApprovalState, openSharedApprovalState } from "../../js/mcp/protocol/approval-state.ts";
import { localWorkspaceHost } from "../../js/mcp/host.ts";
import { makeResourceWatch } from "../../js/mcp/protocol/watch.ts";
import { memoryStorage, type Storage } from "../../js/storage/index.ts";
import { postgresStorage } from "@filewright/storage/postgres";
import { missingServer, startPostgres, type TestServer } from "../storage/postgres/server.mjs";
import { type Asked, type Replica, replica } from "./replicas.ts";

const once = ({ requestState }: Asked) => ({ requestState, decision: "proceed_once" });
const NOTHING_GIVEN = { stateDir: undefined, key: undefined };

describe.skipIf(missingServer() !== undefined)("two servers on one storage", () => {
  let server: TestServer;
  let pools: readonly pg.Pool[] = [];
  let workspaces = 0;
  const running: Replica[] = [];
  beforeAll(async () => {
    server = await startPostgres();
    pools = [server.pool(), server.pool()];
  });
  afterEach(async () => {
    for (const one of running.splice(0)) await one.close();
  });
  afterAll(() => server.stop());

  async function servers(): Promise<{ one: Replica; two: Replica; read: (path: string) => Promise<string> }> {
    const workspace = `w${workspaces++}`;
    const storages = await Promise.all(pools.map((client) => postgresStorage({ client, workspace })));
    const states = await Promise.all(
      storages.map(({ records }) => openSharedApprovalState(records, NOTHING_GIVEN)),
    );
    const [one, two] = storages.map((storage, index) =>
      replica("/repo", { state: states[index] as (typeof states)[number], workspace: { storage } }),
    ) as [Replica, Replica];
    running.push(one, two);
    const read = async (path: string): Promise<string> => {
      const found = (await storages[0]?.readMany([path]))?.results[0];
      return found !== null && found !== undefined && !(found instanceof Error)
        ? new TextDecoder().decode(found.body)
        : "";
    };
    return { one, two, read };
  }

  test("six of six approvals hold at the other one", async () => {
    const { one, two, read } = await servers();
    for (let n = 0; n < 6; n += 1) {
      const args = { path: `n${n}.txt`, content: `${n}` };
      const [asks, answers] = n % 2 === 0 ? [one, two] : [two, one];
      const { asked } = await asks.call("write_file", args);
      expect(await answers.call("write_file", args, once(asked as Asked))).toMatchObject({ isError: false });
      expect(await read(`/repo/n${n}.txt`)).toBe(`${n}`);
    }
  });

  test("an answer that is sent to both is used once", async () => {
    const { one, two, read } = await servers();
    const args = { path: "log.txt", content: "x", append: true };
    const first = await one.call("write_file", args);
    await one.call("write_file", args, once(first.asked as Asked));
    const { asked } = await two.call("write_file", args);
    const said = await Promise.all(
      [one, two, one, two].map((at) => at.call("write_file", args, once(asked as Asked))),
    );
    expect(said.filter(({ isError }) => !isError)).toHaveLength(1);
    expect(said.filter(({ text }) => text.includes("used before"))).toHaveLength(3);
    expect(await read("/repo/log.txt")).toBe("xx");
  });

  test("a subscriber of one is told what the other has changed", async () => {
    const workspace = `w${workspaces++}`;
    const [here, there] = (await Promise.all(
      pools.map((client) => postgresStorage({ client, workspace })),
    )) as [Storage, Storage];
    const put = (text: string) =>
      there.commit([{ op: "put", path: "/repo/a.txt", body: new TextEncoder().encode(text) }]);
    await put("one");
    const host = localWorkspaceHost(["/repo"], { preset: "canonical", workspace: { storage: here } });
    const told = new Promise<string>((resolve) => {
      const watch = makeResourceWatch(host, (uri) => {
        watch.close();
        resolve(uri);
      });
      void watch.add(["file:///repo/a.txt"]).ready.then(() => put("two"));
    });
    expect(await told).toBe("file:///repo/a.txt");
    await host.close();
  });

  test("an answer for another storage is refused", async () => {
    const [ours, theirs] = [await servers(), await servers()];
    const args = { path: "n.txt", content: "x" };
    const { asked } = await ours.one.call("write_file", args);
    const said = await theirs.one.call("write_file", args, once(asked as Asked));
    expect(said).toMatchObject({ isError: true, protocolError: expect.stringContaining("requestState") });
    expect(await theirs.read("/repo/n.txt")).toBe("");
  });
});

describe("the keys of servers", () => {
  const [older, newer] = [randomBytes(32).toString("hex"), randomBytes(32).toString("base64")];

  test("a key in the storage is made once, however many servers start", async () => {
    const { records } = memoryStorage();
    const states = await Promise.all(
      Array.from({ length: 8 }, () => openSharedApprovalState(records, NOTHING_GIVEN)),
    );
    expect(new Set(states.map(({ keys }) => Buffer.from(keys[0] as Uint8Array).toString("hex"))).size).toBe(
      1,
    );
    const given = await openSharedApprovalState(records, { stateDir: undefined, key: older });
    expect(given.keys).toEqual(openApprovalState({ stateDir: undefined, key: older }).keys);
  });

  test("an answer is used once by all servers of a storage", async () => {
    const { records } = memoryStorage();
    const [one, two] = [
      await openSharedApprovalState(records, NOTHING_GIVEN),
      await openSharedApprovalState(records, NOTHING_GIVEN),
    ];
    expect([await one.spend("a"), await two.spend("a"), await two.spend("b")]).toEqual([true, false, true]);
  });

  test("of one key, an answer for another workspace is refused", async () => {
    const args = { path: "n.txt", content: "x" };
    const storage = memoryStorage();
    const servers = ["a", "b", "a"].map((about) =>
      replica("/repo", {
        state: openApprovalState({ stateDir: undefined, key: older, about }),
        workspace: { storage },
      }),
    ) as [Replica, Replica, Replica];
    const { asked } = await servers[0].call("write_file", args);
    expect(await servers[1].call("write_file", args, once(asked as Asked))).toMatchObject({ isError: true });
    expect(await servers[2].call("write_file", args, once(asked as Asked))).toMatchObject({ isError: false });
    for (const one of servers) await one.close();
  });

  test("while keys are replaced, a question that was signed by the older one is answered", async () => {
    const storage = memoryStorage();
    const args = { path: "n.txt", content: "x" };
    const start = (key: string): Replica =>
      replica("/repo", { stateDir: undefined, key, workspace: { storage } });
    const before = start(older);
    const { asked } = await before.call("write_file", args);
    const [during, after] = [start(`${newer},${older}`), start(newer)];
    expect(await after.call("write_file", args, once(asked as Asked))).toMatchObject({ isError: true });
    expect(await during.call("write_file", args, once(asked as Asked))).toMatchObject({ isError: false });
    const other = { path: "o.txt", content: "x" };
    const next = await during.call("write_file", other);
    expect(await after.call("write_file", other, once(next.asked as Asked))).toMatchObject({
      isError: false,
    });
    for (const one of [before, during, after]) await one.close();
  });

  test.each([`${"ab".repeat(40)},`, `${randomBytes(32).toString("hex")},short`, ","])(
    "a list with a wrong key is refused in one line: case %#",
    (key) => {
      const open = () => openApprovalState({ stateDir: undefined, key });
      expect(open).toThrow(/^FILEWRIGHT_KEY must hold [^\n]+$/u);
    },
  );
});
