/** Commits from several processes, which are killed with kill -9, as is the server. The large run: `npm run deep -- storage-s3`. */
import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { type S3Storage, s3Storage } from "@filewright/storage/s3";
import { runCrashes } from "./crash.mjs";
import { LACKS_VERSITYGW, startVersitygw } from "./versitygw.mjs";

test.skipIf(LACKS_VERSITYGW)(
  "of the commits of three killed processes none is lost, given twice or seen torn",
  async () => {
    const server = await startVersitygw();
    try {
      const workspace = randomUUID();
      const { endpoint, bucket, credentials } = server;
      const open = (): Promise<S3Storage> => s3Storage({ endpoint, bucket, credentials, workspace });
      const plan = { writers: 3, commits: 40, commitsPerKill: 10, serverEvery: 4, random: Math.random };
      const report = await runCrashes(server, workspace, open, plan);
      expect(report).toMatchObject({
        answered: 120,
        committed: 120,
        total: 120,
        lost: [],
        twice: [],
        torn: 0,
      });
      expect(report.kills.writers).toBeGreaterThan(0);
      expect(report.kills.server).toBeGreaterThan(0);
      expect(report.reads).toBeGreaterThan(10);
    } finally {
      await server.stop();
    }
  },
);
