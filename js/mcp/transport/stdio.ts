/**
 * Runs a server over standard input and output for the client that started it: its start, its shutdown, and
 * the lines in the client's log. `session.ts` answers the messages.
 */
import { resolve } from "node:path";
import { escapeControls, plural } from "../../engine/escape.ts";
import { missingAddonNotice } from "../../engine/native/addon-notice.node.ts";
import type { Confirm } from "../../hooks/confirm.ts";
import { fulfilledWithin } from "../../http/limits.ts";
import type { WorkspaceOptions } from "../../workspace/options.ts";
import type { ElicitedApprovals } from "../protocol/approvals.ts";
import {
  type ClientLog,
  makeClientLog,
  type WriteLogLine,
  type LogLevel,
  makeStderrLog,
} from "../protocol/log.ts";
import type { StructuredLevel } from "../protocol/content.ts";
import { makeEnding } from "../protocol/call.ts";
import { expandHome, usableDirectories } from "../directories.ts";
import { type HostedWorkspaceOptions, localWorkspaceHost, type ServedWorkspace } from "../host.ts";
import type { ServedPreset } from "../offered.ts";
import type { ServedReview, WaitingChanges } from "../review.ts";
import type { ServedRoot } from "../settings.ts";
import { onFirstSignal, type Program } from "../program.ts";
import { assertStartable } from "../start.ts";
import { watchClientProcess } from "./client-process.ts";
import { nextTurnOfEventLoop, answerMessages } from "./session.ts";
import { makeJsonLinesWire } from "./wire.ts";

/** The options of a server over any transport. */
export interface ServeOptions {
  readonly roots: readonly ServedRoot[];
  /** True when the directories are not replaced by roots that a client names. */
  readonly keepsRoots: boolean;
  readonly preset: ServedPreset;
  readonly structured: StructuredLevel;
  readonly readOnly: boolean;
  /** Ask the client's user before every change. */
  readonly ask: boolean;
  /** The port of the review page on which each change waits for an answer; undefined for no page. */
  readonly review?: number | undefined;
  /** The time in milliseconds for which a call waits for the page before it is parked. Default 45,000. */
  readonly reviewWaitMs?: number | undefined;
  /** The time in milliseconds for which running calls may continue after the server has begun to shut down. */
  readonly graceMs: number;
  readonly logLevel: LogLevel;
  /** The tools that are listed; see `--tools`. */
  readonly tools: readonly string[] | undefined;
  readonly strictSchemas: boolean;
  /** The path of the audit log. */
  readonly audit: string | undefined;
  /** Further options of the workspace. */
  readonly workspace: WorkspaceOptions;
  /**
   * True when the workspace is opened at the start, so that an invalid option ends the server with an error
   * message.
   */
  readonly opensAtOnce: boolean;
  /** A line that replaces our own greeting on standard error; undefined for our own. */
  readonly greeting: string | undefined;
  readonly version: string;
}

/** The time in milliseconds for which a server waits until cancelled calls have rolled back their changes. */
export const MAX_ROLLBACK_WAIT_MS = 5000;

/** The maximum size of a message in bytes. A larger one closes the connection; no valid message is as large. */
const MAX_MESSAGE_BYTES = 256 * 1024 * 1024;

/**
 * Returns the directories that can be used, and the options of the host.
 * @throws FilewrightError NOT_FOUND when none can be used
 */
export function hostDirectoriesAndOptions(
  options: ServeOptions,
  log: WriteLogLine,
  confirm: Confirm | undefined,
  clientLog?: ClientLog,
): { readonly dirs: readonly string[]; readonly host: HostedWorkspaceOptions } {
  const dirs = usableDirectories(
    options.roots.map(({ path }) => path),
    log,
  );
  const slower = missingAddonNotice();
  if (slower !== undefined) log(`filewright: ${slower}`, "warning");
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
      if (options.greeting === undefined) log(workspaceFactsLine(served));
      clientLog?.opened(served);
    },
  };
  return { dirs, host };
}

/** Serves until the client disconnects or a signal arrives, and returns the exit status. */
export async function serveOverStdio(options: ServeOptions, program: Program): Promise<number> {
  const log = makeStderrLog(program, options.logLevel);
  const approvals = options.ask ? await loadApprovals() : undefined;
  const review = options.review === undefined ? undefined : await loadReview(options);
  const wire = makeJsonLinesWire(program.stdin, program.stdout, MAX_MESSAGE_BYTES);
  const clientLog = makeClientLog(async (message) => wire.write({ jsonrpc: "2.0", ...message }));
  await assertStartable(options);
  const found = hostDirectoriesAndOptions(options, log, review?.confirm ?? approvals?.confirm, clientLog);
  const { dirs } = found;
  const { structured, version } = options;
  const host = localWorkspaceHost(dirs, review === undefined ? found.host : reviewedHost(found.host, review));
  if (options.opensAtOnce) await host.workspace();
  const ending = makeEnding();
  const serving = { host, structured, approvals, clientLog, ending: ending.signal };

  const session = answerMessages({ ...serving, wire, version, log });

  let unhear: () => void = () => {};
  let unwatch: () => void = () => {};
  const ended = new Promise<"client" | "signal">((resolve) => {
    wire.onclose = () => resolve("client");
    if (program.ppid !== undefined) unwatch = watchClientProcess(program, () => resolve("client"));
    unhear = onFirstSignal(program, ["SIGTERM", "SIGINT"], () => resolve("signal"));
  });
  wire.onerror = (error) => log(`Error: ${error.message}`, "error");
  wire.start();
  log(options.greeting ?? greetingLine(options, dirs), "notice");
  const after = reviewAfterLine(options, dirs[0] ?? "the directory that is served");
  if (after !== undefined) log(after, "notice");
  const page = review?.show(options.review ?? 0, waitingChanges(options), log);
  if (dirs.length === 0) log("Started without directories: waiting for the roots of a client", "notice");
  const by = await ended;
  unwatch();
  // Open questions can no longer be answered, so the calls that wait for them are refused.
  review?.hub.close();
  const drained = host.drain();
  // After a signal, running calls may finish. A client that has disconnected expects no answers, so its calls
  // are cancelled at once and roll back their changes.
  if (by === "signal") await fulfilledWithin(drained, options.graceMs);
  ending.abort();
  await fulfilledWithin(drained, MAX_ROLLBACK_WAIT_MS);
  // Calls that have ended may still have to write their answers.
  await nextTurnOfEventLoop();
  await session.close();
  await host.close();
  if (page !== undefined) await fulfilledWithin(page.close(), MAX_ROLLBACK_WAIT_MS);
  unhear();
  return 0;
}

/**
 * Returns the line that tells in a client's log which server is running, with its directories and their
 * access.
 */
export function greetingLine(options: ServeOptions, dirs: readonly string[]): string {
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

/**
 * Returns the line that says how a person reviews changes after they are made, in `dir`; undefined for a server whose
 * changes wait or need no review. Without `dir` no command reaches the changes, but programs do.
 */
export function reviewAfterLine({ workspace }: ServeOptions, dir: string | undefined): string | undefined {
  if (workspace.review !== "after") return undefined;
  const made = "Changes are made at once and stay unreviewed until a person keeps them";
  if (dir === undefined) return `${made}: ws.unreviewed() and ws.keep(ids) in a program`;
  const config = workspace.stateDir === undefined ? "" : ", with --config FILE for the same stateDir";
  return `${made}: filewright history unreviewed, filewright history keep ID or --all (in ${escapeControls(dir)}${config})`;
}

/** Returns the name of the changes that wait for an answer. */
export function waitingChanges({ workspace }: ServeOptions): WaitingChanges {
  return workspace.review === "after" ? "Changes about which a rule asks" : "Changes";
}

/** Returns the line with facts that are known only after the workspace is opened. */
function workspaceFactsLine({ ws, listed }: ServedWorkspace): string {
  const { engine, confinement, sandbox } = ws.capabilities();
  return `filewright: engine ${engine.kind}, confinement ${confinement}, ${plural(listed.length, "tool")}, kernel confinement of files: ${sandbox.fs}`;
}

/**
 * Loads the module for approvals only when it is needed, because its cryptography takes a tenth of the start
 * time.
 */
async function loadApprovals(): Promise<ElicitedApprovals> {
  const { elicitApprovals } = await import("../protocol/approvals.ts");
  return elicitApprovals({ lasting: true });
}

/** Loads the module of the review page only when it is needed. */
async function loadReview({ roots, reviewWaitMs }: ServeOptions): Promise<ServedReview> {
  const { serverReview } = await import("../review.ts");
  return serverReview(roots.map(({ path }) => path).join(", "), { reviewWait: reviewWaitMs });
}

/** Returns the options of a host whose calls and workspaces the review page shows. */
function reviewedHost(host: HostedWorkspaceOptions, review: ServedReview): HostedWorkspaceOptions {
  return {
    ...host,
    observers: [...(host.observers ?? []), review.hub.observer],
    onOpen(served) {
      host.onOpen?.(served);
      review.attach(served.ws);
    },
  };
}
