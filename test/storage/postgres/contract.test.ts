/** The contract of storages on a real Postgres server. */
import { afterAll, beforeAll, describe, test } from "vitest";
import type pg from "pg";
import "../../../js/engine/index.node.ts";
import { postgresStorage } from "@filewright/storage/postgres";
import { storageContract } from "../../../js/testing/index.ts";
import { missingServer, startPostgres, type TestServer } from "./server.mjs";

const ALL = ["statMany", "lockAll", "snapshot", "fork", "merge", "drop", "history", "records"] as const;
let workspaces = 0;

describe.skipIf(missingServer() !== undefined)("postgresStorage on a server", () => {
  let server: TestServer;
  let [first, second]: pg.Pool[] = [];
  beforeAll(async () => {
    server = await startPostgres();
    first = server.pool();
    second = server.pool();
  });
  afterAll(() => server.stop());
  storageContract(
    async () => {
      const workspace = `w${workspaces++}`;
      const storage = await postgresStorage({ client: first as pg.Pool, workspace });
      return { storage, second: await postgresStorage({ client: second as pg.Pool, workspace }) };
    },
    { test, requires: ALL },
  );
});
