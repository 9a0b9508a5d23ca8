// SIGTERM at a random moment among many batches over MCP HTTP. In one round a server over a directory ends: each batch is
// answered, whole or not begun. In the next one of two replicas on Postgres behind a proxy ends: every batch of a client
// that sends again what was refused is made, whole.
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { seededRandom } from "../../scripts/lib/deep-kind.mjs";
import { root } from "../../scripts/lib/run.mjs";
import { startIssuer } from "../serving/issuer.mjs";
import { listening } from "../serving/replica-processes.mjs";
import { startPostgres } from "../storage/postgres/server.mjs";

const TOKEN = "a-token-of-the-deep-check";
const COMMAND = join(root, "dist/bin/filewright.js");
/** Batches that one server gets. */
const BATCHES = 200;
const MAX_FILES = 6;
/** The port was closed already: the batch never reached the server. */
const CLOSED = Symbol("closed");

/** Starts a server over a directory; gives its URL, and its end. */
async function start(dir) {
  const argv = [COMMAND, "serve", dir, "--preset", "canonical", "--port", "0", "--grace", "60"];
  const child = spawn(process.execPath, argv, {
    env: { ...process.env, FILEWRIGHT_TOKEN: TOKEN, XDG_STATE_HOME: join(dir, "..", "state") },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const { url, ended } = await listening(child);
  return { url, child, ended };
}

/** Sends one batch; the result, `CLOSED` where the port was closed already, undefined where no answer came. */
function send(url, agent, id, args) {
  const body = JSON.stringify({
    jsonrpc: "2.0",
    id,
    method: "tools/call",
    params: { name: "batch", arguments: args },
  });
  const headers = {
    authorization: `Bearer ${TOKEN}`,
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
  };
  return new Promise((resolve) => {
    const outgoing = request(url, { method: "POST", headers, agent }, (incoming) => {
      let text = "";
      incoming.on("data", (chunk) => {
        text += chunk;
      });
      incoming.on("error", () => resolve(undefined));
      incoming.on("end", () => {
        const data = /^data: (\{.*\})$/mu.exec(text)?.[1] ?? text;
        try {
          resolve(JSON.parse(data).result);
        } catch {
          resolve(undefined);
        }
      });
    });
    outgoing.on("error", ({ code }) => resolve(code === "ECONNREFUSED" ? CLOSED : undefined));
    outgoing.end(body);
  });
}

/** Describes the fault of a batch: undefined where it is whole, or refused and not begun. */
function fault(dir, files, result) {
  const made = files.filter(({ path }) => existsSync(join(dir, path)));
  if (result === CLOSED)
    return made.length === 0 ? undefined : `not sent, ${made.length} of ${files.length} files`;
  if (result === undefined) return `no answer, ${made.length} of ${files.length} files`;
  if (result.isError !== true) {
    const whole = made.every(({ path, content }) => readFileSync(join(dir, path), "utf8") === content);
    return whole && made.length === files.length
      ? undefined
      : `answered as made, ${made.length} of ${files.length} files`;
  }
  const { code, reason } = result._meta?.["filewright/call"] ?? {};
  if (code !== "CANCELLED" || reason !== "shutting_down") return `${code}, ${made.length} files`;
  return made.length === 0 ? undefined : `refused, ${made.length} of ${files.length} files`;
}

/** @type {import("../../scripts/lib/deep-kind.mjs").DeepKind} */
export default {
  description:
    "SIGTERM among batches over MCP HTTP, of a server and of one of two replicas: whole or not begun, and none fails",
  count: 10_000,
  share: 400,
  async run({ seed, count, isOver }) {
    const random = seededRandom(seed);
    const { drainOneOfTwo } = await import("../serving/drained-replicas.mjs");
    const postgres = await startPostgres();
    const issuer = await startIssuer();
    const failures = [];
    let cases = 0;
    const randomBatches = () =>
      Array.from({ length: BATCHES }, (_, at) =>
        Array.from({ length: 1 + random.below(MAX_FILES) }, (_, file) => {
          const content = `${at} ${"x".repeat(random.below(2000))}\n`;
          return { path: `${random.below(8)}/b${at}-${file}.txt`, content };
        }),
      );
    // The first two rounds are of one server and of two replicas.
    for (let round = 0; cases < count && (round < 2 || !isOver()); round++) {
      if (round % 2 === 1) {
        const found = await drainOneOfTwo({
          ...{ server: postgres, issuer, workspace: `round${round}` },
          batches: randomBatches(),
          killAfter: random.below(BATCHES / 2),
        });
        failures.push(...found.map((fault) => `round ${round}, two replicas: ${fault}`));
        cases += BATCHES;
        continue;
      }
      const base = mkdtempSync(join(tmpdir(), "filewright-drain-"));
      const dir = mkdtempSync(join(base, "root-"));
      const server = await start(dir);
      // Few connections with many requests each, or one for each request.
      const agent = new Agent({ keepAlive: true, maxSockets: random.pick([8, 64, BATCHES]) });
      const killAfter = random.below(BATCHES / 2);
      let answered = 0;
      const kill = () => answered++ === killAfter && server.child.kill("SIGTERM");
      const batches = randomBatches();
      const results = await Promise.all(
        batches.map(async (files, at) => {
          const operations = files.map((args) => ({
            tool: "write_file",
            args: { ...args, create_dirs: true },
          }));
          const result = await send(server.url, agent, at, { operations });
          kill();
          return result;
        }),
      );
      const status = await server.ended;
      agent.destroy();
      if (status !== 0) failures.push(`round ${round}: the server ended with ${status}`);
      for (const [at, files] of batches.entries()) {
        const wrong = fault(dir, files, results[at]);
        if (wrong !== undefined) failures.push(`round ${round}, batch ${at}: ${wrong}`);
      }
      cases += BATCHES;
      rmSync(base, { recursive: true });
    }
    issuer.close();
    await postgres.stop();
    return { cases, failures };
  },
};
