/** Replicas of a server as processes, and a proxy before them that gives them requests in turn. */
import { createServer, request as httpRequest, type IncomingMessage } from "node:http";
import { type AddressInfo, createConnection, createServer as createTcpServer, type Socket } from "node:net";
import { join } from "node:path";
import { PORT } from "../storage/postgres/server.mjs";

/** How often the proxy asks whether a replica takes calls. */
const PROBE_MS = 100;

/** A proxy as orchestrators have: requests go in turn to the replicas that say that they are ready. */
export interface RoundRobin {
  readonly url: string;
  /** The number of requests that each replica was given. */
  readonly given: ReadonlyMap<string, number>;
  close(): Promise<void>;
}

/** Starts the proxy. `targets` are the URLs of the replicas. */
export async function startRoundRobin(targets: readonly string[]): Promise<RoundRobin> {
  const ready = new Set(targets);
  const given = new Map(targets.map((target) => [target, 0]));
  let turn = 0;
  const probe = async (target: string): Promise<void> => {
    const answer = await fetch(new URL("/ready", target)).catch(() => undefined);
    await answer?.body?.cancel();
    if (answer?.ok === true) ready.add(target);
    else ready.delete(target);
  };
  const probing = setInterval(() => {
    for (const target of targets) void probe(target);
  }, PROBE_MS);

  const server = createServer((incoming, outgoing) => {
    const pieces: Buffer[] = [];
    incoming.on("data", (piece: Buffer) => pieces.push(piece));
    incoming.on("end", () => {
      const body = Buffer.concat(pieces);
      const pass = (left: readonly string[]): void => {
        const [target, ...others] = left;
        if (target === undefined) return void outgoing.writeHead(503, { "retry-after": "1" }).end();
        given.set(target, (given.get(target) ?? 0) + 1);
        const { method, headers } = incoming;
        const { host: _, connection: __, ...passed } = headers;
        // A connection for each request, so that an idle one which a replica has closed is never used again.
        const upstream = httpRequest(
          target,
          { method, headers: passed, agent: false },
          (answer: IncomingMessage) => {
            const { connection: ___, ...own } = answer.headers;
            outgoing.writeHead(answer.statusCode ?? 502, own);
            answer.pipe(outgoing);
            answer.on("error", () => outgoing.destroy());
          },
        );
        upstream.on("error", (error: NodeJS.ErrnoException) => {
          // What was not sent can go to another replica; of everything else the proxy cannot know what became.
          if (error.code === "ECONNREFUSED") pass(others);
          else outgoing.destroy();
        });
        upstream.end(body);
      };
      const order = [...targets.slice(turn % targets.length), ...targets.slice(0, turn % targets.length)];
      turn += 1;
      pass(order.filter((target) => ready.has(target)));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    given,
    close() {
      clearInterval(probing);
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

/** A proxy before a Postgres server that can hold back the server's answers. */
export interface StallingProxy {
  readonly port: number;
  /** From now on, statements reach the server and no answer comes back. */
  stall(): void;
  /** Sends what was held back. */
  resume(): void;
  close(): Promise<void>;
}

/** Starts a proxy before the server with its socket in `host`. */
export async function startStallingProxy(host: string): Promise<StallingProxy> {
  const pairs = new Set<readonly [Socket, Socket]>();
  let isStalled = false;
  const server = createTcpServer((client) => {
    const upstream = createConnection(join(host, `.s.PGSQL.${PORT}`));
    const pair = [client, upstream] as const;
    pairs.add(pair);
    for (const socket of pair) {
      socket.on("error", () => undefined);
      socket.on("close", () => {
        pairs.delete(pair);
        client.destroy();
        upstream.end();
      });
    }
    client.pipe(upstream, { end: false });
    upstream.on("data", (bytes) => void client.write(bytes));
    if (isStalled) upstream.pause();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    stall() {
      isStalled = true;
      for (const [, upstream] of pairs) upstream.pause();
    },
    resume() {
      isStalled = false;
      for (const [, upstream] of pairs) upstream.resume();
    },
    close() {
      for (const pair of pairs) for (const socket of pair) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
