/**
 * A connection over standard input and output that the protocol's SDK handles: requests of both kinds of
 * protocol revisions, roots, resources, subscriptions and questions. Loaded with the first message that
 * `rpc/handler.ts` does not answer.
 */
import type { SharedRequestParts } from "../protocol/call.ts";
import type { WriteLogLine } from "../protocol/log.ts";
import { makeClientRoots } from "../protocol/roots.ts";
import { parseJSONRPCMessage, type Server, serveStdio, type Transport } from "../protocol/sdk.ts";
import { makeMcpServer } from "../protocol/server.ts";
import { subscribedUris, type ResourceWatch, makeResourceWatch } from "../protocol/watch.ts";
import type { JsonObject } from "../../rpc/message.ts";
import type { JsonLinesWire } from "./wire.ts";

/** The dependencies of a connection. */
export interface ConnectionParts extends SharedRequestParts {
  readonly wire: JsonLinesWire;
  readonly version: string;
  readonly log: WriteLogLine;
}

/** The messages of a connection that the SDK handles. */
export interface SdkConnection {
  deliver(message: JsonObject): void;
  /** Resolves when the client has answered a request for its roots; at once when there was none. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

/** The id of a handshake that is passed to the SDK after it was answered. The SDK's own answer is dropped. */
const REPEATED_HANDSHAKE_ID = "filewright/greeted";

/**
 * Passes messages between the SDK and the wire.
 * @param greeting the parameters of the handshake, when it is already answered
 */
export async function connectSdk(
  { wire, version, log, ...serving }: ConnectionParts,
  greeting: JsonObject | undefined,
): Promise<SdkConnection> {
  const { host } = serving;
  let current: Server | undefined;
  const watch = makeResourceWatch(host, (uri) => void current?.sendResourceUpdated({ uri }).catch(() => {}));
  const roots = makeClientRoots(host, log, (server) => void server.sendResourceListChanged().catch(() => {}));

  let greeted = (): void => {};
  const transport: Transport = {
    start: () => Promise.resolve(),
    send(message) {
      if (!("id" in message) || message.id !== REPEATED_HANDSHAKE_ID) return wire.send(message);
      greeted();
      return Promise.resolve();
    },
    close: () => Promise.resolve(wire.close()),
  };
  const served = serveStdio(
    ({ era }) => {
      const server = makeMcpServer({ ...serving, version, watch, before: roots.before });
      if (era === "legacy") roots.follow(server);
      current = server;
      return server;
    },
    { transport, onerror: (error) => log(`Error: ${error.message}`, "error") },
  );
  watchListenedResources(transport, watch);
  if (greeting !== undefined) {
    const done = new Promise<void>((resolve) => {
      greeted = resolve;
    });
    transport.onmessage?.({
      jsonrpc: "2.0",
      id: REPEATED_HANDSHAKE_ID,
      method: "initialize",
      params: greeting,
    } as never);
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
      // If the client has disconnected, the SDK is told so before it is closed.
      if (wire.closed()) transport.onclose?.();
      await served.close();
    },
  };
}

/**
 * Watches the resources that a `subscriptions/listen` message names. The SDK delivers notifications about
 * them, but does not detect changes.
 */
function watchListenedResources(transport: Transport, watch: ResourceWatch): void {
  const stops = new Map<unknown, () => void>();
  const deliver = transport.onmessage;
  transport.onmessage = (message) => {
    const listened = subscribedUris(message);
    if (listened !== undefined) {
      const { ready, stop } = watch.add(listened.uris);
      stops.set(listened.id, stop);
      // The message is passed to the SDK, which confirms the subscription, only after the first versions are
      // known: so no change after the confirmation is missed.
      ready.finally(() => deliver?.(message));
      return;
    }
    if ("method" in message && message.method === "notifications/cancelled")
      stops.get((message.params as { readonly requestId?: unknown } | undefined)?.requestId)?.();
    deliver?.(message);
  };
}
