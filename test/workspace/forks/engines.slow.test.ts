/** Forks over Postgres and an S3-compatible store, which divide the cases by day. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe } from "vitest";
import type pg from "pg";
import { openWorkspace } from "../../../js/index.node.ts";
import { postgresStorage } from "@filewright/storage/postgres";
import { s3Storage } from "@filewright/storage/s3";
import { missingServer, startPostgres, type TestServer } from "../../storage/postgres/server.mjs";
import { LACKS_VERSITYGW, type S3Server, startVersitygw } from "../../storage/s3/versitygw.mjs";
import { forkCases } from "./cases.ts";
import type { OpenSubject } from "./subject.ts";

describe.skipIf(missingServer() !== undefined)("forks on Postgres", () => {
  let server: TestServer;
  let pool: pg.Pool;
  beforeAll(async () => {
    server = await startPostgres();
    pool = server.pool();
  });
  afterAll(() => server.stop());
  const open: OpenSubject = async (options = {}) => {
    const storage = await postgresStorage({ client: pool, workspace: randomUUID(), tenant: randomUUID() });
    const ws = await openWorkspace({ storage, root: "/repo", ...options });
    return { ws, dispose: () => ws.close() };
  };
  forkCases(open, 2, 0);
});

describe.skipIf(LACKS_VERSITYGW)("forks on versitygw", () => {
  let server: S3Server;
  beforeAll(async () => {
    server = await startVersitygw();
  });
  afterAll(() => server.stop());
  const open: OpenSubject = async (options = {}) => {
    const { endpoint, bucket, credentials } = server;
    const prefix = `${randomUUID()}/`;
    const storage = await s3Storage({ endpoint, bucket, credentials, workspace: "main", prefix });
    const ws = await openWorkspace({ storage, root: "/repo", ...options });
    return { ws, dispose: () => ws.close() };
  };
  forkCases(open, 2, 1);
});
