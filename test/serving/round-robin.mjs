/** A proxy as orchestrators have: requests go in turn to the replicas that say that they are ready. */
import { createServer, request as httpRequest } from "node:http";

/** How often the proxy asks whether a replica takes calls. */
const PROBE_MS = 100;

/**
 * A running proxy. `given` has the number of requests that each replica was given.
 * @typedef {{ readonly url: string, readonly given: ReadonlyMap<string, number>, close(): Promise<void> }} RoundRobin
 */

/**
 * Starts the proxy.
 * @param {readonly string[]} targets the URLs of the replicas
 * @returns {Promise<RoundRobin>}
 */
export async function startRoundRobin(targets) {
  const ready = new Set(targets);
  const given = new Map(targets.map((target) => [target, 0]));
  let turn = 0;
  /** @param {string} target */
  const probe = async (target) => {
    const answer = await fetch(new URL("/ready", target)).catch(() => undefined);
    await answer?.body?.cancel();
    if (answer?.ok === true) ready.add(target);
    else ready.delete(target);
  };
  const probing = setInterval(() => {
    for (const target of targets) void probe(target);
  }, PROBE_MS);

  const server = createServer((incoming, outgoing) => {
    /** @type {Buffer[]} */
    const pieces = [];
    incoming.on("data", (piece) => pieces.push(piece));
    incoming.on("end", () => {
      const body = Buffer.concat(pieces);
      /** @param {readonly string[]} left */
      const pass = (left) => {
        const [target, ...others] = left;
        if (target === undefined) return void outgoing.writeHead(503, { "retry-after": "1" }).end();
        given.set(target, (given.get(target) ?? 0) + 1);
        const { method, headers } = incoming;
        const { host: _, connection: __, ...passed } = headers;
        // A connection for each request, so that an idle one which a replica has closed is never used again.
        const upstream = httpRequest(target, { method, headers: passed, agent: false }, (answer) => {
          const { connection: ___, ...own } = answer.headers;
          outgoing.writeHead(answer.statusCode ?? 502, own);
          answer.pipe(outgoing);
          answer.on("error", () => outgoing.destroy());
        });
        upstream.on("error", (/** @type {NodeJS.ErrnoException} */ error) => {
          // What was not sent can go to another replica; of everything else the proxy cannot know what became.
          if (error.code === "ECONNREFUSED") pass(others);
          else outgoing.destroy();
        });
        // A client that ends its stream, such as a subscription, ends it at the replica, too.
        outgoing.once("close", () => upstream.destroy());
        upstream.end(body);
      };
      const order = [...targets.slice(turn % targets.length), ...targets.slice(0, turn % targets.length)];
      turn += 1;
      pass(order.filter((target) => ready.has(target)));
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    given,
    close() {
      clearInterval(probing);
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
