/**
 * A connection over standard input and output as the protocol's SDK serves it:
 * both eras, roots, resources, subscriptions, questions. Loaded when something
 * comes that is not answered directly (see `direct.ts`).
 */
import type { Serving } from "./call.ts";
import type { Log } from "./log.ts";
import { clientRoots } from "./roots.ts";
import { parseJSONRPCMessage, type Server, serveStdio, type Transport } from "./sdk.ts";
import { makeServer } from "./server.ts";
import { listenedUris, type Watch, watchVersions } from "./watch.ts";
import type { Message, Wire } from "./wire.ts";

/** What a connection is made of. */
export interface ConnectionParts extends Serving {
  readonly wire: Wire;
  readonly version: string;
  readonly log: Log;
}

/** The SDK's side of a connection. */
export interface Connection {
  deliver(message: Message): void;
  /** Settled once the client has said which directories there are, where it was asked. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

/** The SDK's answer to a handshake that was answered already goes nowhere. */
const GREETED = "filewright/greeted";

/** Connects. @param greeting the handshake, where it was answered already */
export async function connectSdk(
  { wire, version, log, ...serving }: ConnectionParts,
  greeting: Message | undefined,
): Promise<Connection> {
  const { host } = serving;
  let current: Server | undefined;
  const watch = watchVersions(host, (uri) => void current?.sendResourceUpdated({ uri }).catch(() => {}));
  const roots = clientRoots(host, log, (server) => void server.sendResourceListChanged().catch(() => {}));

  let greeted = (): void => {};
  const transport: Transport = {
    start: () => Promise.resolve(),
    send(message) {
      if (!("id" in message) || message.id !== GREETED) return wire.send(message);
      greeted();
      return Promise.resolve();
    },
    close: () => Promise.resolve(wire.close()),
  };
  const served = serveStdio(
    ({ era }) => {
      const server = makeServer({ ...serving, version, watch, before: roots.before });
      if (era === "legacy") roots.follow(server);
      current = server;
      return server;
    },
    { transport, onerror: (error) => log(`Error: ${error.message}`, "error") },
  );
  noticeListeners(transport, watch);
  if (greeting !== undefined) {
    const done = new Promise<void>((resolve) => {
      greeted = resolve;
    });
    transport.onmessage?.({ ...greeting, id: GREETED } as never);
    await done;
  }
  return {
    deliver(message) {
      try {
        transport.onmessage?.(parseJSONRPCMessage(message));
      } catch (error) {
        wire.onerror(error as Error);
      }
    },
    settled: roots.settled,
    async close() {
      watch.close();
      // Who went away is not told the end of anything.
      if (wire.closed()) transport.onclose?.();
      await served.close();
    },
  };
}

/** What `subscriptions/listen` asks for is delivered by the SDK, but looked for by us. */
function noticeListeners(transport: Transport, watch: Watch): void {
  const stops = new Map<unknown, () => void>();
  const deliver = transport.onmessage;
  transport.onmessage = (message) => {
    const listened = listenedUris(message);
    if (listened !== undefined) {
      const { ready, stop } = watch.add(listened.uris);
      stops.set(listened.id, stop);
      // Acknowledged when it is true: what changes from then on is told.
      ready.finally(() => deliver?.(message));
      return;
    }
    if ("method" in message && message.method === "notifications/cancelled")
      stops.get((message.params as { readonly requestId?: unknown } | undefined)?.requestId)?.();
    deliver?.(message);
  };
}
