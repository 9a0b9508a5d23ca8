/** Starts an R2 bucket in workerd, the runtime of Cloudflare's workers, for the tests of the storage. */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Miniflare } from "miniflare";
import type { S3Server } from "./versitygw.mjs";

/** Starts workerd with an empty bucket behind a worker that speaks S3. */
export async function startMiniflare(): Promise<S3Server> {
  const folder = fileURLToPath(new URL(".", import.meta.url));
  const options = {
    modules: true,
    scriptPath: join(folder, "r2-worker.mjs"),
    modulesRoot: folder,
    compatibilityDate: "2026-01-01",
    r2Buckets: ["BUCKET"],
    host: "127.0.0.1",
    port: 0,
  };
  const server = new Miniflare(options);
  const { origin } = await server.ready;
  return {
    endpoint: origin,
    bucket: "bucket",
    folder: "",
    credentials: { accessKeyId: "test-access", secretAccessKey: "test-secret-of-miniflare" },
    // workerd keeps the bucket in memory here, so there is nothing that a crash could leave behind.
    crash: async () => {},
    stop: () => server.dispose(),
  };
}
