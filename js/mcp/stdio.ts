/**
 * A server over standard input and output, for the client that started it. Both
 * eras of the protocol are spoken: the one in which a connection begins with a
 * handshake, and the one in which each request stands for itself.
 *
 * What connections mostly consist of is answered directly; the protocol's SDK is
 * loaded for the rest, when the rest comes.
 */
import process from "node:process";
import { fulfilledWithin } from "../http/within.ts";
import type { PresetName } from "../presets/index.ts";
import { aboutServer } from "./about.ts";
import type { Approvals } from "./approvals.ts";
import type { Connection } from "./connection.ts";
import type { Structured } from "./content.ts";
import { greet, makeDirect } from "./direct.ts";
import { usableDirectories } from "./directories.ts";
import { localHost } from "./host.ts";
import { makeWire, type Message } from "./wire.ts";

/** How a server is set up, whatever it is served over. */
export interface ServeOptions {
  readonly dirs: readonly string[];
  readonly preset: PresetName;
  readonly structured: Structured;
  readonly readOnly: boolean;
  /** Ask the client's user before every change. */
  readonly ask: boolean;
  /** How long the calls that run may go on once the server is told to end. Milliseconds. */
  readonly graceMs: number;
  readonly version: string;
}

/** How long cancelled calls have for taking back what they did. Milliseconds. */
export const CANCEL_MS = 5000;

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
  const ending = new AbortController();
  const serving = { host, structured, approvals, ending: ending.signal };
  const wire = makeWire(process.stdin, process.stdout, MAX_MESSAGE_BYTES);

  let greeting: Message | undefined;
  let sdk: Promise<Connection> | undefined;
  let roots: Promise<void> | undefined;
  /** Said before there is an SDK to be told, and of no use without one. */
  const held: Message[] = [];
  const load = (): Promise<Connection> => {
    sdk ??= import("./connection.ts").then(async ({ connectSdk }) => {
      const connection = await connectSdk({ ...serving, wire, version, log }, greeting);
      for (const message of held) connection.deliver(message);
      return connection;
    });
    return sdk;
  };
  const leave = (message: Message): void => {
    load().then(
      (connection) => connection.deliver(message),
      (error: unknown) => log(`Error: ${error instanceof Error ? error.message : String(error)}`),
    );
  };
  const direct = makeDirect({ ...serving, write: wire.write, leave, settled: () => roots });
  /** Calls wait for the directories that the client is asked for now. */
  const askForRoots = (): void => {
    const asked = load()
      .then((connection) => breath().then(() => connection.settled()))
      .catch(() => {})
      .then(() => {
        if (roots === asked) roots = undefined;
      });
    roots = asked;
  };

  // A second signal ends the process at once.
  const ended = new Promise<"client" | "signal">((resolve) => {
    wire.onclose = () => resolve("client");
    const told = (): void => resolve("signal");
    process.once("SIGTERM", told).once("SIGINT", told);
  });
  wire.onerror = (error) => log(`Error: ${error.message}`);
  wire.onmessage = (message) => {
    if (greeting === undefined && sdk === undefined) {
      const answer = greet(message, aboutServer(serving, version, true));
      if (answer === undefined) return leave(message);
      greeting = message;
      return wire.write(answer);
    }
    if (greeting !== undefined && direct.take(message)) return;
    const { method } = message;
    const about = method === "notifications/initialized" && sdk === undefined;
    if (about && dirs.length > 0 && !hasRoots(greeting)) return void held.push(message);
    leave(message);
    if (about || method === "notifications/roots/list_changed") askForRoots();
  };
  wire.start();
  log("Secure MCP Filesystem Server running on stdio");
  if (dirs.length === 0) log("Started without directories: waiting for the roots of a client");
  const by = await ended;
  const drained = host.drain();
  // Who went away waits for no answer, but what its calls did is still taken back.
  if (by === "signal") await fulfilledWithin(drained, options.graceMs);
  ending.abort();
  await fulfilledWithin(drained, CANCEL_MS);
  // The last answers are on their way.
  await breath();
  direct.close();
  await (await sdk)?.close();
  await host.close();
  return 0;
}

/** Whether the client has roots. */
function hasRoots(greeting: Message | undefined): boolean {
  const params = greeting?.["params"] as { readonly capabilities?: { readonly roots?: unknown } } | undefined;
  return params?.capabilities?.roots !== undefined;
}

/** Until everything that was delivered has reached its handler. */
function breath(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Loaded where they are wanted: the cryptography they bring along is a tenth of a start. */
async function approvalsOf(): Promise<Approvals> {
  const { elicitApprovals } = await import("./approvals.ts");
  return elicitApprovals({ lasting: true });
}
