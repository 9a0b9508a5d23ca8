/** Answers `tools/list` and `tools/call`, and reports the progress of calls. */
import { withoutUndefined } from "../../schema/without-undefined.ts";
import { setMaxListeners } from "node:events";
import { singleTypes } from "../../presets/strict.ts";
import { UnknownToolError } from "../../rpc/handler.ts";
import { abandonedFailure, shuttingDownFailure } from "../../pipeline/scheduling/admission.ts";
import type { ToolResult, CallOptions } from "../../workspace/index.ts";
import type { ElicitedApprovals, ApprovalRound } from "./approvals.ts";
import { type ClientLog, logCall, makeClientLog, type SendNotification, type LogLevel } from "./log.ts";
import {
  answerOfResult,
  type CallAnswer,
  refusalAnswer,
  type StructuredLevel,
  listedTool,
  mediaBlockOf,
} from "./content.ts";
import type { ServedWorkspace, WorkspaceHost } from "../host.ts";
import { resolveRelative } from "./paths.ts";
import type { inputRequired } from "./sdk.ts";
import { MEDIA_TOOL } from "../../presets/served.ts";

/** The state that all requests of a server share. */
export interface SharedRequestParts {
  readonly host: WorkspaceHost;
  readonly structured: StructuredLevel;
  /** Asks the client's user about changes; undefined when no user is asked. */
  readonly approvals?: ElicitedApprovals | undefined;
  /** The name of the caller, when the transport knows it. */
  readonly agent?: string | undefined;
  /** Aborted when a server that shuts down stops waiting for running calls. */
  readonly ending?: AbortSignal | undefined;
  /** The log of the connection; undefined when requests are independent, so that no level can be kept. */
  readonly clientLog?: ClientLog | undefined;
}

/** The key under which a request of the newer protocol revision states the log level. */
const LOG_LEVEL_KEY = "io.modelcontextprotocol/logLevel";

/** The key under which a client names the turn of a call. */
const TURN_KEY = "filewright/turn";
/** The maximum length of the name of a turn, in UTF-16 units. A longer one is left out, as if there were none. */
const MAX_TURN_CHARS = 200;

/** Returns the turn that a client names; undefined for none, and for one that is no short text. */
function turnOfRequest(turn: unknown): string | undefined {
  return typeof turn === "string" && turn !== "" && turn.length <= MAX_TURN_CHARS ? turn : undefined;
}

/** The part of a request that is needed to run a call. */
export interface CallRequest {
  readonly mcpReq: {
    readonly signal: AbortSignal;
    readonly _meta?:
      | { readonly progressToken?: string | number | undefined; readonly [TURN_KEY]?: unknown }
      | undefined;
    /**
     * Facts that a request of the newer protocol revision contains; undefined in the older revisions, where
     * the connection has them.
     */
    readonly envelope?: { readonly [LOG_LEVEL_KEY]?: LogLevel | undefined } | undefined;
    readonly notify: SendNotification;
  };
}

/** Creates the controller that a server aborts when it stops waiting for running calls. Each of them listens to it. */
export function makeEnding(): AbortController {
  const ending = new AbortController();
  // Node warns of a leak from the eleventh listener on.
  setMaxListeners(0, ending.signal);
  return ending;
}

/**
 * Returns a signal for a call that aborts with the request, and when a server that shuts down stops waiting
 * for calls.
 */
export function callSignal(request: AbortSignal, ending: AbortSignal | undefined): AbortSignal {
  return ending === undefined ? request : AbortSignal.any([request, ending]);
}

/** The answer to a call when no directory is allowed. */
export const NO_DIRECTORY_MESSAGE =
  "No directory is allowed: start the server with directories as its arguments, or name roots in the client.";

/**
 * Returns the tools as `tools/list` sends them. The list does not depend on the directories, so it is
 * complete even when none is allowed yet.
 */
export async function listTools({
  host,
  structured,
}: SharedRequestParts): Promise<Record<string, unknown>[]> {
  const served = await host.workspace();
  const tools = served === undefined ? await host.tools() : served.listed;
  const { preset } = host;
  // Most servers never use strict schemas, so the module is loaded only on demand.
  const listedSchema = host.strictSchemas
    ? (await import("../../presets/strict.ts")).strictSchema
    : singleTypes;
  return tools.map((tool) => listedTool(tool, { preset, structured, listedSchema }));
}

/**
 * Runs one call.
 * @param request the request, and its approvals when the client's user can be asked
 * @throws UnknownToolError
 */
export async function callTool(
  serving: SharedRequestParts,
  name: string,
  args: Readonly<Record<string, unknown>>,
  { mcpReq, round }: CallRequest & { readonly round?: ApprovalRound | undefined },
): Promise<CallAnswer | ReturnType<typeof inputRequired>> {
  const { host, structured } = serving;
  const { preset } = host;
  const { signal, _meta: meta, notify } = mcpReq;
  const log = logOfRequest(serving, mcpReq);
  if (host.isDraining())
    return answerOfResult(shuttingDownFailure(), undefined, { preset, structured, cwd: "/" });
  const served = await host.workspace();
  if (served === undefined) {
    log?.log("warning", { message: "a call was refused: no directory is allowed" });
    return refusalAnswer(`Error: ${NO_DIRECTORY_MESSAGE}`);
  }
  const tool = served.tools.get(name);
  if (tool === undefined) {
    // The name is not logged, because it is text of the client.
    log?.log("warning", { message: "a call was refused: UNKNOWN_TOOL", code: "UNKNOWN_TOOL" });
    throw await unknownToolError(name, served, host);
  }
  const report = makeProgressReporter(meta?.progressToken, notify);
  const turn = turnOfRequest(meta?.[TURN_KEY]);
  try {
    const given = await resolveRelative(tool, args);
    const running = tool.execute(
      given,
      withoutUndefined({
        signal,
        onProgress: report === undefined ? undefined : report.onProgress,
        agent: serving.agent,
        turn,
      }),
    );
    const result = await resultBeforeEnd(running, serving.ending);
    const asked = await pendingQuestionOrRefusal(round, result);
    if (asked !== undefined) return asked;
    if (log !== undefined) logCall(log, name, result);
    const isMedia = (preset === "mcp" || preset === "lean") && name === MEDIA_TOOL;
    const media = isMedia ? await mediaBlockOf(served, given, result, structured === "full") : undefined;
    return answerOfResult(result, media, { preset, structured, cwd: served.cwd });
  } finally {
    report?.end();
  }
}

/** Returns the error of a call of a tool that the server does not have: it names a listed one, or how to add this one. */
async function unknownToolError(
  name: string,
  { listed }: ServedWorkspace,
  { preset, canAdd }: WorkspaceHost,
): Promise<UnknownToolError> {
  const names = listed.map((tool) => tool.name);
  const { addableTools } = await import("../served-tools.ts");
  const hint =
    addableTools(preset, names).includes(name) && canAdd(name)
      ? `the server lists it when it is started with --tools +${name}`
      : undefined;
  return new UnknownToolError(name, names, hint);
}

/** The time in milliseconds for which a cancelled call may roll back before it is answered without its result. */
const MAX_WAIT_AFTER_CANCEL_MS = 3000;

/**
 * Returns the result of a call. A server that shuts down has cancelled it; one that does not end then, because the
 * engine of its files does not answer, is answered all the same.
 */
async function resultBeforeEnd(
  running: Promise<ToolResult>,
  ending: AbortSignal | undefined,
): Promise<ToolResult> {
  if (ending === undefined) return running;
  let stop = (): void => {};
  const abandoned = new Promise<ToolResult>((resolve) => {
    let timer: NodeJS.Timeout | undefined;
    const wait = (): void => {
      timer = setTimeout(() => resolve(abandonedFailure()), MAX_WAIT_AFTER_CANCEL_MS);
    };
    stop = () => {
      ending.removeEventListener("abort", wait);
      clearTimeout(timer);
    };
    if (ending.aborted) wait();
    else ending.addEventListener("abort", wait, { once: true });
  });
  return Promise.race([running, abandoned]).finally(stop);
}

/** Returns the log for a request: one with the level that the request states, or the log of the connection. */
function logOfRequest(
  { clientLog }: SharedRequestParts,
  { envelope, notify }: CallRequest["mcpReq"],
): ClientLog | undefined {
  if (envelope === undefined) return clientLog;
  const level = envelope[LOG_LEVEL_KEY];
  return level === undefined ? undefined : makeClientLog(notify, level);
}

/**
 * Returns the question to which a refused call waits for an answer; a refusal if the change differs from the
 * approved one; undefined if no question is open.
 */
async function pendingQuestionOrRefusal(
  round: ApprovalRound | undefined,
  result: ToolResult,
): Promise<CallAnswer | ReturnType<typeof inputRequired> | undefined> {
  if (round === undefined || result.ok) return undefined;
  if (round.stale())
    return refusalAnswer(
      "Error: CONFLICT: the change is no longer the one that was approved. Nothing was written; read again and call again.",
    );
  return round.question();
}

/** The minimum time in milliseconds before the first notification, and between two. */
const MIN_MS_BETWEEN_NOTIFICATIONS = 100;
/**
 * The interval in milliseconds of notifications for a call that reports no counts, to show that it is still
 * running.
 */
const KEEP_ALIVE_INTERVAL_MS = 1000;

type OnProgress = NonNullable<CallOptions["onProgress"]>;

/** Reports the progress of one call. */
export interface ProgressReporter {
  readonly onProgress: OnProgress;
  /** Stops the notifications when the call ends. */
  end(): void;
}

/**
 * Creates a reporter, which sends the progress of a long call by `notify`: at most every `MIN_MS_BETWEEN_NOTIFICATIONS`, and
 * never a smaller value than before. Returns undefined when the client sent no progress token.
 *
 * A call that ends before the first notification is due sends none, and the last step is never sent: clients
 * forget the token with the answer, so many would attribute a notification that arrives just before it to an
 * unknown call.
 */
export function makeProgressReporter(
  token: string | number | undefined,
  notify: (notification: { method: string; params: Record<string, unknown> }) => Promise<void>,
): ProgressReporter | undefined {
  if (token === undefined) return undefined;
  const began = performance.now();
  let [told, last, counted] = [0, began, false];
  const tell = (progress: number, more: Record<string, unknown>): void => {
    told = progress;
    const params = { progressToken: token, progress, ...more };
    // The client may have disconnected. The call must not fail because of a lost notification.
    notify({ method: "notifications/progress", params }).catch(() => {});
  };
  const alive = setInterval(() => {
    const seconds = Math.floor((performance.now() - began) / 1000);
    if (!counted && seconds > told) tell(seconds, { message: `${seconds} s` });
  }, KEEP_ALIVE_INTERVAL_MS);
  return {
    onProgress({ done, total, message }) {
      counted = true;
      const now = performance.now();
      if (done <= told || now - last < MIN_MS_BETWEEN_NOTIFICATIONS) return;
      last = now;
      tell(
        done,
        withoutUndefined({
          total,
          message,
        }),
      );
    },
    end: () => clearInterval(alive),
  };
}
