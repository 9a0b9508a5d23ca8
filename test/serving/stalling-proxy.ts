/** A proxy before Postgres for the tests of replicas. */
import { type AddressInfo, createConnection, createServer as createTcpServer, type Socket } from "node:net";
import { join } from "node:path";
import { PORT } from "../storage/postgres/server.mjs";

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
