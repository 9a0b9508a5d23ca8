/** A TCP proxy before a Postgres server: it counts round trips and cuts connections. */
import { createConnection, createServer, type AddressInfo, type Socket } from "node:net";
import { join } from "node:path";
import { PORT } from "./server.mjs";

/** A running proxy on the loopback interface. */
export interface TestProxy {
  readonly port: number;
  /** The number of round trips so far: the messages after which a client waits for the server. */
  trips(): number;
  /** From now on, the next statement reaches the server and its answer gets lost, with the connection. */
  loseNextAnswer(): void;
  close(): Promise<void>;
}

const SYNC = "S".charCodeAt(0);
const SIMPLE_QUERY = "Q".charCodeAt(0);

/** Starts a proxy before the server with its socket in `host`. */
export async function startProxy(host: string): Promise<TestProxy> {
  let trips = 0;
  let losing = false;
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = createConnection(join(host, `.s.PGSQL.${PORT}`));
    const count = tripCounter();
    let lost = false;
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => {
        sockets.delete(socket);
        client.destroy();
        // What was sent is still worked on by the server.
        if (!lost) upstream.end();
      });
    }
    client.on("data", (bytes: Buffer) => {
      const seen = count(bytes);
      trips += seen;
      if (losing && seen > 0) {
        losing = false;
        lost = true;
      }
      upstream.write(bytes);
    });
    upstream.on("data", (bytes) => {
      // The first byte of an answer shows that the statement has ended.
      if (lost) {
        client.destroy();
        upstream.destroy();
      } else client.write(bytes);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    trips: () => trips,
    loseNextAnswer: () => {
      losing = true;
    },
    close: () => {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

/** Returns a function that counts, in the bytes of one client, the messages that ask for an answer. */
function tripCounter(): (bytes: Buffer) => number {
  let rest = Buffer.alloc(0);
  let started = false;
  return (bytes) => {
    let found = 0;
    rest = Buffer.concat([rest, bytes]);
    for (;;) {
      // The first message has a length and no letter.
      const head = started ? 1 : 0;
      if (rest.length < head + 4) return found;
      const size = head + rest.readUInt32BE(head);
      if (rest.length < size) return found;
      if (started && (rest[0] === SYNC || rest[0] === SIMPLE_QUERY)) found++;
      started = true;
      rest = rest.subarray(size);
    }
  };
}
