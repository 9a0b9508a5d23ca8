import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import "../../../js/engine/index.node.ts";
import { postgresStorage } from "../../../js/storage/postgres/index.ts";
import { openWorkspace, type Workspace } from "../../../js/workspace/index.node.ts";
import { afterThisTest } from "../../support/cleanups.ts";
import { startProxy } from "../postgres/proxy.ts";
import { missingServer, startPostgres, type TestServer } from "../postgres/server.mjs";
import { put, temporaryDirectory, untilWarm } from "./support.ts";

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
});
