/**
 * A server over standard input and output for the client that started it. It supports both eras of the
 * protocol: the older one begins a connection with a handshake, and in the newer one each request is
 * independent.
 *
 * The most frequent messages are answered directly. The protocol's SDK is loaded with the first message that
 * needs it.
 */
import process from "node:process";
import { resolve } from "node:path";
import { escapeControls } from "../../engine/escape.ts";
import type { Confirm } from "../../hooks/confirm.ts";
import { fulfilledWithin } from "../../http/within.ts";
import type { WorkspaceOptions } from "../../workspace/options.ts";
import { aboutServer } from "../protocol/about.ts";
import type { Approvals } from "../protocol/approvals.ts";
import { type ClientLog, makeClientLog } from "../protocol/client-log.ts";
import type { Connection } from "./connection.ts";
import type { Structured } from "../protocol/content.ts";
import { answerHandshake, makeDirect } from "./direct.ts";
import { expandHome, usableDirectories } from "../directories.ts";
import { type HostOptions, localHost, type ServedWorkspace } from "../host.ts";
import type { ServedPreset } from "../tool-list.ts";
import { type Log, type LogLevel, stderrLog } from "../log.ts";
import type { ServedRoot } from "../settings.ts";
import { makeWire, type Message } from "./wire.ts";

/** The options of a server over any transport. */
export interface ServeOptions {
  readonly roots: readonly ServedRoot[];
  /** True when the directories stay, even if a client names roots. */
  readonly keepsRoots: boolean;
  readonly preset: ServedPreset;
  readonly structured: Structured;
  readonly readOnly: boolean;
  /** Ask the client's user before every change. */
  readonly ask: boolean;
  /** Milliseconds that running calls may take after the server begins to shut down. */
  readonly graceMs: number;
  readonly logLevel: LogLevel;
  /** The tools that are listed; see `--tools`. */
  readonly tools: readonly string[] | undefined;
  readonly strictSchemas: boolean;
  /** The path of the audit log. */
  readonly audit: string | undefined;
  /** Further options of the workspace. */
  readonly workspace: WorkspaceOptions;
  /** True to open the workspace at the start, so that an invalid option ends the server with a message. */
  readonly opensAtOnce: boolean;
  /** A line on standard error at the start that replaces our own greeting. */
  readonly greeting: string | undefined;
  readonly version: string;
}

/** Milliseconds that cancelled calls have to roll back their changes. */
export const CANCEL_MS = 5000;

/** Maximum bytes of a message. A longer one ends the connection, because no valid message needs as much. */
const MAX_MESSAGE_BYTES = 256 * 1024 * 1024;

/** Returns the usable directories and the options of the host; undefined when no directory is usable. */
export function hostOptions(
  options: ServeOptions,
  log: Log,
  confirm: Confirm | undefined,
  clientLog?: ClientLog,
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
    onOpen(served: ServedWorkspace) {
      if (options.greeting === undefined) log(openedLine(served));
      clientLog?.opened(served);
    },
  };
  return { dirs, host };
}

/** Serves until the client disconnects or a signal arrives, and returns the exit status. */
export async function serveOverStdio(options: ServeOptions): Promise<number> {
  // A library may print to the console, and standard output must carry only protocol messages.
  console.log = console.info = console.debug = console.error;
  const log = stderrLog(options.logLevel);
  const approvals = options.ask ? await approvalsOf() : undefined;
  const wire = makeWire(process.stdin, process.stdout, MAX_MESSAGE_BYTES);
  const clientLog = makeClientLog(async (message) => wire.write({ jsonrpc: "2.0", ...message }));
  const found = hostOptions(options, log, approvals?.confirm, clientLog);
  if (found === undefined) return 1;
  const { dirs } = found;
  const { structured, version } = options;
  const host = localHost(dirs, found.host);
  if (options.opensAtOnce) await host.workspace();
  const ending = new AbortController();
  const serving = { host, structured, approvals, clientLog, ending: ending.signal };

  let greeting: Message | undefined;
  let sdk: Promise<Connection> | undefined;
  let roots: Promise<void> | undefined;
  /** Messages that arrive before the SDK is loaded, and that only the SDK needs. */
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
  /** Requests the client's roots. Calls wait until the answer has set the directories. */
  const askForRoots = (): void => {
    const asked = load()
      .then((connection) => breath().then(() => connection.settled()))
      .catch(() => {})
      .then(() => {
        if (roots === asked) roots = undefined;
      });
    roots = asked;
  };

  // The handlers run once, so a second signal ends the process at once.
  const ended = new Promise<"client" | "signal">((resolve) => {
    wire.onclose = () => resolve("client");
    const told = (): void => resolve("signal");
    process.once("SIGTERM", told).once("SIGINT", told);
  });
  wire.onerror = (error) => log(`Error: ${error.message}`, "error");
  wire.onmessage = (message) => {
    if (greeting === undefined && sdk === undefined) {
      const answer = answerHandshake(
        message,
        aboutServer(serving, version, { subscribe: true, logging: true }),
      );
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
  // A client that has disconnected expects no answer, so the calls are cancelled at once and roll back their
  // changes.
  if (by === "signal") await fulfilledWithin(drained, options.graceMs);
  ending.abort();
  await fulfilledWithin(drained, CANCEL_MS);
  // Calls that have ended may still have to write their answers.
  await breath();
  direct.close();
  await (await sdk)?.close();
  await host.close();
  return 0;
}

/** Returns the line that shows in a client's log which server runs, with which directories and access. */
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

/** Returns the line with the facts that are known only after the workspace is opened. */
function openedLine({ ws, listed }: ServedWorkspace): string {
  const { engine, sandbox } = ws.capabilities();
  return `filewright: engine ${engine.kind}, ${listed.length} tools, kernel confinement of files: ${sandbox.fs}`;
}

/** Returns true when the client supports roots. */
function hasRoots(greeting: Message | undefined): boolean {
  const params = greeting?.["params"] as { readonly capabilities?: { readonly roots?: unknown } } | undefined;
  return params?.capabilities?.roots !== undefined;
}

/** Resolves when all delivered messages have reached their handlers. */
function breath(): Promise<void> {
  return new Promise((done) => setImmediate(done));
}

/** Loads the approvals on demand, because their cryptography takes a tenth of the start time. */
async function approvalsOf(): Promise<Approvals> {
  const { elicitApprovals } = await import("../protocol/approvals.ts");
  return elicitApprovals({ lasting: true });
}
