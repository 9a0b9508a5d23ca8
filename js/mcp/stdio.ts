/**
 * A server over standard input and output, for the client that started it. Both
 * eras of the protocol are spoken: the one in which a connection begins with a
 * handshake, and the one in which each request stands for itself.
 *
 * What connections mostly consist of is answered directly; the protocol's SDK is
 * loaded for the rest, when the rest comes.
 */
import process from "node:process";
import { resolve } from "node:path";
import { escapeControls } from "../engine/escape.ts";
import type { Confirm } from "../hooks/confirm.ts";
import { fulfilledWithin } from "../http/within.ts";
import type { WorkspaceOptions } from "../workspace/options.ts";
import { aboutServer } from "./about.ts";
import type { Approvals } from "./approvals.ts";
import type { Connection } from "./connection.ts";
import type { Structured } from "./content.ts";
import { greet, makeDirect } from "./direct.ts";
import { expandHome, usableDirectories } from "./directories.ts";
import { type HostOptions, localHost, type Room } from "./host.ts";
import type { ServedPreset } from "./tool-list.ts";
import { type Log, type LogLevel, stderrLog } from "./log.ts";
import type { ServedRoot } from "./settings.ts";
import { makeWire, type Message } from "./wire.ts";

/** How a server is set up, whatever it is served over. */
export interface ServeOptions {
  readonly roots: readonly ServedRoot[];
  /** Whether the directories stay, whatever roots a client names. */
  readonly keepsRoots: boolean;
  readonly preset: ServedPreset;
  readonly structured: Structured;
  readonly readOnly: boolean;
  /** Ask the client's user before every change. */
  readonly ask: boolean;
  /** How long the calls that run may go on once the server is told to end. Milliseconds. */
  readonly graceMs: number;
  readonly logLevel: LogLevel;
  /** The tools that are offered; see `--tools`. */
  readonly tools: readonly string[] | undefined;
  readonly strictSchemas: boolean;
  /** Where each call is written down. */
  readonly audit: string | undefined;
  /** Options of the workspace besides. */
  readonly workspace: WorkspaceOptions;
  /** Open the workspace at the start, so that options that make no sense end the server with a sentence. */
  readonly opensAtOnce: boolean;
  /** What is said on standard error at the start, in place of our own greeting. */
  readonly greeting: string | undefined;
  readonly version: string;
}

/** How long cancelled calls have for taking back what they did. Milliseconds. */
export const CANCEL_MS = 5000;

/** A longer message ends the connection: nothing sane is sent in one. Bytes. */
const MAX_MESSAGE_BYTES = 256 * 1024 * 1024;

/** The directories of a server and what its host is made with. Undefined where none can be used. */
export function hostOptions(
  options: ServeOptions,
  log: Log,
  confirm: Confirm | undefined,
): { readonly dirs: readonly string[]; readonly host: HostOptions } | undefined {
  const dirs = usableDirectories(
    options.roots.map(({ path }) => path),
    log,
  );
  if (dirs === undefined) return undefined;
  const readOnly = options.roots.filter(({ access }) => access === "read");
  const { preset, keepsRoots, workspace, tools, strictSchemas, audit } = options;
  const host = {
    preset,
    keepsRoots,
    workspace,
    tools,
    strictSchemas,
    audit,
    readOnly: options.readOnly,
    readOnlyDirs: readOnly.map(({ path }) => resolve(expandHome(path))),
    confirm,
    ...(options.greeting === undefined ? { onOpen: (room: Room) => log(openedLine(room)) } : {}),
  };
  return { dirs, host };
}

/** Serves until the client goes; gives the exit status. */
export async function serveOverStdio(options: ServeOptions): Promise<number> {
  // Whatever is printed by a library must not reach the protocol.
  console.log = console.info = console.debug = console.error;
  const log = stderrLog(options.logLevel);
  const approvals = options.ask ? await approvalsOf() : undefined;
  const found = hostOptions(options, log, approvals?.confirm);
  if (found === undefined) return 1;
  const { dirs } = found;
  const { structured, version } = options;
  const host = localHost(dirs, found.host);
  if (options.opensAtOnce) await host.room();
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
      (error: unknown) => log(`Error: ${error instanceof Error ? error.message : String(error)}`, "error"),
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
  wire.onerror = (error) => log(`Error: ${error.message}`, "error");
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
    if (about && dirs.length > 0 && !(host.followsRoots && hasRoots(greeting)))
      return void held.push(message);
    leave(message);
    if (host.followsRoots && (about || method === "notifications/roots/list_changed")) askForRoots();
  };
  wire.start();
  log(options.greeting ?? greetingOf(options, dirs), "notice");
  if (dirs.length === 0) log("Started without directories: waiting for the roots of a client", "notice");
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

/** The line by which a person who reads a client's log knows which server runs, and what it may do. */
export function greetingOf(options: ServeOptions, dirs: readonly string[]): string {
  const { version, preset, workspace, readOnly, roots } = options;
  const isReadOnly = readOnly || workspace.readOnly === true || workspace.access?.readOnly === true;
  const read = new Set(
    roots.filter(({ access }) => access === "read").map(({ path }) => resolve(expandHome(path))),
  );
  const named = dirs.map(
    (dir) => `${escapeControls(dir)} (${isReadOnly || read.has(dir) ? "read-only" : "read-write"})`,
  );
  const where = named.length === 0 ? "no directory yet" : named.join(", ");
  const asks = options.ask ? ", asks before every change" : "";
  return `filewright ${version} serving ${where}, preset ${preset}${asks}`;
}

/** What is known once the workspace is open: it is loaded when it is first needed. */
export function openedLine({ ws, listed }: Room): string {
  const { engine, sandbox } = ws.capabilities();
  return `filewright: engine ${engine.kind}, ${listed.length} tools, kernel confinement of files: ${sandbox.fs}`;
}

/** Whether the client has roots. */
function hasRoots(greeting: Message | undefined): boolean {
  const params = greeting?.["params"] as { readonly capabilities?: { readonly roots?: unknown } } | undefined;
  return params?.capabilities?.roots !== undefined;
}

/** Until everything that was delivered has reached its handler. */
function breath(): Promise<void> {
  return new Promise((done) => setImmediate(done));
}

/** Loaded where they are wanted: the cryptography they bring along is a tenth of a start. */
async function approvalsOf(): Promise<Approvals> {
  const { elicitApprovals } = await import("./approvals.ts");
  return elicitApprovals({ lasting: true });
}
