import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import "../../../js/engine/index.node.ts";
import { postgresStorage } from "@filewright/storage/postgres";
import { openWorkspace, type Workspace } from "../../../js/workspace/index.node.ts";
import { afterThisTest } from "../../support/cleanups.ts";
import { startProxy } from "../postgres/proxy.ts";
import { missingServer, startPostgres, type TestServer } from "../postgres/server.mjs";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { put, untilWarm } from "./support.ts";

let server: TestServer;

describe.skipIf(missingServer() !== undefined)("mirrors of a Postgres storage", () => {
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.stop());

  it("search in one round trip, and find at once what another replica has committed", async () => {
    const folder = temporaryDirectory();
    const proxy = await startProxy(server.host);
    afterThisTest(() => proxy.close());
    const open = async (name: string): Promise<Workspace> => {
      const client = server.pool({ host: "127.0.0.1", port: proxy.port });
      const storage = await postgresStorage({ client, workspace: "mirrors" });
      const ws = await openWorkspace({ storage, root: "/ws", stateDir: join(folder, name) });
      afterThisTest(() => ws.close());
      return ws;
    };
    const direct = await postgresStorage({ client: server.pool(), workspace: "mirrors" });
    await direct.commit(
      Array.from({ length: 200 }, (_, n) => put(`/ws/d${n % 9}/f${n}.txt`, `needle ${n}\n`)),
    );
    const [one, two] = [await open("one"), await open("two")];
    await untilWarm(one);
    await untilWarm(two);
    const trips = async (ws: Workspace, tool: string, args: Readonly<Record<string, unknown>>) => {
      const before = proxy.trips();
      const { ok, data, meta } = await ws.call(tool, args);
      expect(ok).toBe(true);
      return { trips: proxy.trips() - before, data, version: meta.version };
    };
    for (const ws of [one, two]) {
      expect(await trips(ws, "grep", { pattern: "needle 7$" })).toMatchObject({ trips: 1, version: "1" });
      expect(await trips(ws, "glob", { pattern: "**/f1?.txt" })).toMatchObject({ trips: 1, version: "1" });
      expect(await trips(ws, "list_directory", { path: "." })).toMatchObject({ trips: 1, version: "1" });
    }
    await one.call("write_file", { path: "new.txt", content: "needle of one\n" });
    // One round trip says what has changed, and one reads it.
    expect(await trips(two, "grep", { pattern: "needle of one", output: "files" })).toMatchObject({
      trips: 2,
      data: { files: ["new.txt"] },
      version: "2",
    });
    await two.call("delete", { path: "new.txt" });
    expect(await trips(one, "grep", { pattern: "needle of one", output: "files" })).toMatchObject({
      trips: 1,
      data: { files: [] },
    });
  });

  it("are shared by forks: a fork is one round trip, and its first search one more than it has to read", async () => {
    const folder = temporaryDirectory();
    const proxy = await startProxy(server.host);
    afterThisTest(() => proxy.close());
    const client = server.pool({ host: "127.0.0.1", port: proxy.port });
    const storage = await postgresStorage({ client, workspace: "lineage" });
    await storage.commit(
      Array.from({ length: 200 }, (_, n) => put(`/ws/d${n % 9}/f${n}.txt`, `needle ${n}\n`)),
    );
    const ws = await openWorkspace({ storage, root: "/ws", stateDir: folder });
    afterThisTest(() => ws.close());
    await untilWarm(ws);
    const count = async <T>(trips: number, run: () => Promise<T>): Promise<T> => {
      const before = proxy.trips();
      const result = await run();
      expect(proxy.trips() - before).toBe(trips);
      return result;
    };
    const search = async (on: Workspace, trips: number, files: readonly string[]): Promise<void> => {
      const { data } = await count(trips, () => on.call("grep", { pattern: "needle 7$", output: "files" }));
      expect(data).toMatchObject({ files, fresh: "watch" });
    };
    const fork = await count(1, () => ws.fork("one"));
    await search(fork, 1, ["d7/f7.txt"]);
    await fork.call("write_file", { path: "d7/f7.txt", content: "other\n" });
    await fork.call("write_file", { path: "new.txt", content: "new needle 7\n" });
    const inner = await count(1, () => fork.fork("two"));
    // What has changed since the fork, in its parent and in itself, and two contents at once.
    await search(inner, 3, ["new.txt"]);
    await search(inner, 1, ["new.txt"]);
    // The contents are in memory: a fork and its parent read each of them once together.
    await search(fork, 1, ["new.txt"]);
    await ws.call("write_file", { path: "of-the-parent.txt", content: "parent needle 7\n" });
    await search(fork, 1, ["new.txt"]);
    // The parent has changed since this fork: its entries then are read from the fork.
    const late = await count(1, () => ws.fork("three"));
    await ws.call("write_file", { path: "later.txt", content: "later needle 7\n" });
    await search(late, 5, ["d7/f7.txt", "of-the-parent.txt"]);
    await search(late, 1, ["d7/f7.txt", "of-the-parent.txt"]);
    const { merged } = await fork.merge();
    expect(merged).toBe(true);
    await search(ws, 2, ["later.txt", "new.txt", "of-the-parent.txt"]);
  });
});
