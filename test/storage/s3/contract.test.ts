/** The contract of storages on versitygw and on R2 in workerd, through two connections to one workspace. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, test } from "vitest";
import { type S3Storage, s3Storage } from "@filewright/storage/s3";
import { storageContract } from "../../../js/testing/storage/contract.ts";
import { startMiniflare } from "./miniflare.ts";
import { LACKS_VERSITYGW, type S3Server, startVersitygw } from "./versitygw.mjs";

const SERVERS = [
  { name: "versitygw", start: startVersitygw, lacks: LACKS_VERSITYGW },
  { name: "R2 in workerd", start: startMiniflare, lacks: false },
];

for (const { name, start, lacks } of SERVERS) {
  describe.skipIf(lacks)(name, () => {
    let server: S3Server;
    beforeAll(async () => {
      server = await start();
    });
    afterAll(() => server.stop());

    storageContract(
      async () => {
        const workspace = randomUUID();
        const { endpoint, bucket, credentials } = server;
        const open = (): Promise<S3Storage> =>
          s3Storage({ endpoint, bucket, credentials, workspace, prefix: `${workspace}/` });
        return { storage: await open(), second: await open() };
      },
      { test, requires: ["statMany", "snapshot", "fork", "merge", "drop", "history", "records"] },
    );
  });
}
