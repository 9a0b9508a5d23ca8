/** Replicas of a server as processes over one Postgres, with workspaces that tokens name. */
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { fileURLToPath } from "node:url";
import { PORT } from "../storage/postgres/server.mjs";
import { RESOURCE } from "./issuer.mjs";

const COMMAND = fileURLToPath(new URL("../../dist/bin/filewright.js", import.meta.url));

/**
 * A server process. `ended` resolves to its status, or to the signal that ended it.
 * @typedef {{
 *   readonly url: string,
 *   readonly pid: number,
 *   readonly ended: Promise<number | string | null>,
 *   kill(signal: NodeJS.Signals): void,
 * }} ReplicaProcess
 */

/**
 * Starts a server over the database whose socket is in `host`. The claims `org` and `repo` of the tokens of `issuer`
 * name the workspace of a request.
 * @param {{ readonly host: string, readonly issuer: string, readonly argv?: readonly string[], readonly key?: string }} options
 * @returns {Promise<ReplicaProcess>}
 */
export async function startReplica({ host, issuer, argv = [], key = randomBytes(32).toString("hex") }) {
  const storage = `postgres://postgres@localhost:${PORT}/postgres?host=${encodeURIComponent(host)}`;
  const oauth = ["--oauth-issuer", issuer, "--oauth-resource", RESOURCE];
  const claims = ["--tenant-claim", "org", "--workspace-claim", "repo"];
  const all = [COMMAND, "serve", "--storage", storage, ...oauth, ...claims, "--port", "0", ...argv];
  const child = spawn(process.execPath, all, {
    env: { ...process.env, FILEWRIGHT_KEY: key },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const { url, ended } = await listening(child);
  return { url, pid: /** @type {number} */ (child.pid), ended, kill: (signal) => void child.kill(signal) };
}

/**
 * Resolves to the URL of a server once it listens, and to its end: the status or the signal.
 *
 * @param {import("node:child_process").ChildProcess} child a process of `filewright serve` with a pipe for errors
 * @returns {Promise<{ url: string; ended: Promise<number | string | null> }>}
 */
export async function listening(child) {
  /** @type {Promise<number | string | null>} */
  const ended = new Promise((resolve) => child.once("exit", (status, signal) => resolve(signal ?? status)));
  let said = "";
  /** @type {string} */
  const url = await new Promise((resolve, reject) => {
    child.stderr?.on("data", (chunk) => {
      said += chunk;
      const found = /at (http:\S+)\s/u.exec(said)?.[1];
      if (found !== undefined) resolve(found);
    });
    ended.then((status) => reject(new Error(`the server ended with ${status}: ${said}`)));
  });
  return { url, ended };
}
