/** Starts versitygw, an S3 server over a directory, for the tests of the storage in an S3-compatible store. */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { VERSITYGW_PROGRAM } from "../../../scripts/versitygw.mjs";

/**
 * Where a server can be reached, and how it is stopped. `folder` has its buckets; it is empty for a server without
 * one. `crash` ends the server as a crash does, and starts it again on the same data and address.
 * @typedef {{
 *   readonly endpoint: string,
 *   readonly bucket: string,
 *   readonly folder: string,
 *   readonly credentials: { readonly accessKeyId: string, readonly secretAccessKey: string },
 *   crash(): Promise<void>,
 *   stop(): Promise<void>,
 * }} S3Server
 */

/** Returns a port of loopback that is free now. */
async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** True where the tests with versitygw are skipped: it is not built, and this is not CI. */
export const LACKS_VERSITYGW = !existsSync(VERSITYGW_PROGRAM) && process.env["CI"] !== "true";

/**
 * Starts a server with an empty bucket.
 * @returns {Promise<S3Server>}
 */
export async function startVersitygw() {
  const folder = await mkdtemp(join(tmpdir(), "filewright-s3-"));
  await mkdir(join(folder, "bucket"));
  const port = await freePort();
  const credentials = { accessKeyId: "test-access", secretAccessKey: "test-secret-of-versitygw" };
  const endpoint = `http://127.0.0.1:${port}`;
  let child;
  const start = async () => {
    child = spawn(
      VERSITYGW_PROGRAM,
      ["--port", `127.0.0.1:${port}`, "--quiet", "--keep-alive", "posix", folder],
      {
        env: {
          PATH: process.env["PATH"],
          ROOT_ACCESS_KEY: credentials.accessKeyId,
          ROOT_SECRET_KEY: credentials.secretAccessKey,
        },
        stdio: "ignore",
      },
    );
    const exited = new Promise((_, reject) => {
      child.once("exit", (code) => reject(new Error(`versitygw ended with ${code}`)));
    });
    exited.catch(() => {});
    for (let tries = 0; ; tries += 1) {
      const answer = await Promise.race([fetch(endpoint).catch(() => void 0), exited]);
      if (answer !== void 0) return;
      if (tries > 300) throw new Error("versitygw does not answer");
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };
  const end = async (signal) => {
    const gone = new Promise((resolve) => child.once("exit", resolve));
    if (child.exitCode === null && child.kill(signal)) await gone;
  };
  await start();
  return {
    endpoint,
    bucket: "bucket",
    folder,
    credentials,
    async crash() {
      await end("SIGKILL");
      await start();
    },
    async stop() {
      await end("SIGTERM");
      await rm(folder, { recursive: true, force: true });
    },
  };
}
