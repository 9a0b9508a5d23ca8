/**
 * A server over standard input and output, for the client that started it. Both
 * eras of the protocol are spoken: the one in which a connection begins with a
 * handshake, and the one in which each request stands for itself.
 *
 * Standard output carries the protocol and nothing else.
 */
import process from "node:process";
import type { PresetName } from "../presets/index.ts";
import type { Structured } from "./content.ts";
import type { Approvals } from "./approvals.ts";
import { usableDirectories } from "./directories.ts";
import { localHost } from "./host.ts";
import { clientRoots } from "./roots.ts";
import { type Server, serveStdio, StdioServerTransport } from "./sdk.ts";
import { makeServer } from "./server.ts";
import { listenedUris, type Watch, watchVersions } from "./watch.ts";

/** How a server is set up, whatever it is served over. */
export interface ServeOptions {
  readonly dirs: readonly string[];
  readonly preset: PresetName;
  readonly structured: Structured;
  readonly readOnly: boolean;
  /** Ask the client's user before every change. */
  readonly ask: boolean;
  readonly version: string;
}

/** A longer message ends the connection: nothing sane is sent in one. Bytes. */
const MAX_MESSAGE_BYTES = 256 * 1024 * 1024;

const log = (line: string): void => {
  process.stderr.write(`${line}\n`);
};

/** Serves until the client goes; gives the exit status. */
export async function serveOverStdio(options: ServeOptions): Promise<number> {
  // Whatever is printed by a library must not reach the protocol.
  console.log = console.info = console.debug = console.error;
  const dirs = usableDirectories(options.dirs, log);
  if (dirs === undefined) return 1;

  const approvals = options.ask ? await approvalsOf() : undefined;
  const { preset, readOnly, structured, version } = options;
  const host = localHost(dirs, { preset, readOnly, confirm: approvals?.confirm });
  const roots = clientRoots(host, log, (server) => void server.sendResourceListChanged().catch(() => {}));
  const transport = new StdioServerTransport(process.stdin, process.stdout, {
    maxBufferSize: MAX_MESSAGE_BYTES,
  });
  const ended = new Promise<void>((resolve) => {
    const stop = (): void => resolve();
    process.stdin.once("end", stop).once("close", stop);
    process.once("SIGTERM", stop).once("SIGINT", stop);
  });
  let current: Server | undefined;
  const watch = watchVersions(host, (uri) => void current?.sendResourceUpdated({ uri }).catch(() => {}));
  const served = serveStdio(
    ({ era }) => {
      const server = makeServer({ host, structured, approvals, version, watch, before: roots.before });
      if (era === "legacy") roots.follow(server);
      current = server;
      return server;
    },
    { transport, onerror: (error) => log(`Error: ${error.message}`) },
  );
  noticeListeners(transport, watch);
  log("Secure MCP Filesystem Server running on stdio");
  if (dirs.length === 0) log("Started without directories: waiting for the roots of a client");
  await ended;
  watch.close();
  await served.close();
  await host.close();
  return 0;
}

/** Loaded where they are wanted: the cryptography they bring along is a tenth of a start. */
async function approvalsOf(): Promise<Approvals> {
  const { elicitApprovals } = await import("./approvals.ts");
  return elicitApprovals({ lasting: true });
}

/** What `subscriptions/listen` asks for is delivered by the SDK, but looked for by us. */
function noticeListeners(transport: StdioServerTransport, watch: Watch): void {
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
