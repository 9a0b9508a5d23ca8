/**
 * SIGTERM of one of two replicas during load. The replicas are processes over one Postgres, behind a proxy that gives
 * them requests in turn. The clients send a call again where the protocol says that nothing of it was done.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { postgresStorage } from "../../dist/cli/library.js";
import { startReplica } from "./replica-processes.mjs";
import { startRoundRobin } from "./round-robin.mjs";

const CLIENTS = 8;
/** The number of times that a call is sent, and the pause before it is sent again. */
const [MAX_SENDINGS, PAUSE_MS] = [100, 50];

/**
 * The files of one batch.
 * @typedef {readonly { readonly path: string, readonly content: string }[]} Batch
 */

/**
 * Sends batches, ends one replica after so many answers, and returns what went wrong.
 * @param {{
 *   readonly server: import("../storage/postgres/server.mjs").TestServer,
 *   readonly issuer: import("./issuer.mjs").Issuer,
 *   readonly workspace: string,
 *   readonly batches: readonly Batch[],
 *   readonly killAfter: number,
 * }} options
 * @returns {Promise<readonly string[]>}
 */
export async function drainOneOfTwo({ server, issuer, workspace, batches, killAfter }) {
  const options = { host: server.host, issuer: issuer.url, argv: ["--preset", "canonical", "--grace", "60"] };
  const first = await startReplica(options);
  const second = await startReplica(options);
  const proxy = await startRoundRobin([first.url, second.url]);
  /** @type {string[]} */
  const failures = [];
  try {
    const token = issuer.token({ org: "drain", repo: workspace });
    let [next, answered] = [0, 0];
    const client = async () => {
      for (let at = next++; at < batches.length; at = next++) {
        const outcome = await sendUntilAnswered(proxy.url, token, /** @type {Batch} */ (batches[at]));
        if (outcome !== "ok") failures.push(`batch ${at}: ${outcome}`);
        if (answered++ === killAfter) first.kill("SIGTERM");
      }
    };
    await Promise.all(Array.from({ length: CLIENTS }, client));
    const status = await first.ended;
    if (status !== 0) failures.push(`the replica ended with ${status}`);
    const pool = server.pool();
    const storage = await postgresStorage({ client: pool, tenant: "drain", workspace });
    for (const [at, batch] of batches.entries()) {
      const { results } = await storage.readMany(batch.map(({ path }) => `/${path}`));
      const made = results.filter(
        (one, index) =>
          one !== null && "body" in one && new TextDecoder().decode(one.body) === batch[index]?.content,
      );
      if (made.length !== batch.length)
        failures.push(`batch ${at}: ${made.length} of ${batch.length} files are there`);
    }
    await pool.end();
  } finally {
    await proxy.close();
    for (const { kill } of [first, second]) kill("SIGTERM");
    await second.ended;
  }
  return failures;
}

/**
 * @param {string} url
 * @param {string} token
 * @param {Batch} batch
 */
async function sendUntilAnswered(url, token, batch) {
  const operations = batch.map((args) => ({ tool: "write_file", args: { ...args, create_dirs: true } }));
  const message = { jsonrpc: "2.0", id: 1, method: "tools/call" };
  const body = JSON.stringify({ ...message, params: { name: "batch", arguments: { operations } } });
  const headers = {
    authorization: `Bearer ${token}`,
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
  };
  for (let sent = 0; sent < MAX_SENDINGS; sent++) {
    if (sent > 0) await sleep(PAUSE_MS);
    /** @type {Response} */
    let response;
    try {
      response = await fetch(url, { method: "POST", headers, body });
    } catch (error) {
      return `no answer: ${/** @type {Error} */ (error).message}`;
    }
    const text = await response.text();
    if (response.status === 503) continue;
    if (response.status !== 200) return `status ${response.status}`;
    const { result } = JSON.parse(/^data: (\{.*\})$/mu.exec(text)?.[1] ?? text);
    if (result?.isError !== true) return "ok";
    const { code, reason } = result._meta?.["filewright/call"] ?? {};
    if (reason !== "shutting_down") return `${code}: ${result.content?.[0]?.text}`;
  }
  return `not answered in ${MAX_SENDINGS} sendings`;
}
