/**
 * The log lines of a server, on standard error and, as `notifications/message` of the protocol, for a client.
 *
 * Clients keep logs and pass them on. So a message for a client consists only of fixed words, the name of a
 * tool, an error code and counts; it never contains a path, an argument or text of an answer.
 */
import type { Code } from "../../engine/errors.ts";
import { nearest } from "../../schema/nearest.ts";
import type { ToolResult } from "../../workspace/index.ts";
import type { ServedWorkspace } from "../host.ts";
import type { Program } from "../program.ts";

/** Sends a notification. Rejects when it cannot be sent, for example because the client has disconnected. */
export type SendNotification = (notification: {
  readonly method: string;
  readonly params: Record<string, unknown>;
}) => Promise<void>;

/** The content of a message: a sentence, and the same facts for programs. */
interface LogData {
  readonly message: string;
  readonly [fact: string]: string | number;
}

/**
 * The log of a connection. In the protocol revision 2026-07-28 it is the log of one request, which states its
 * own level.
 */
export interface ClientLog {
  /**
   * Sets the least urgent level whose messages are sent.
   * @throws InvalidLogLevelError
   */
  setLevel(level: unknown): void;
  /**
   * Sends a message, if its level is at least as urgent as the one that was set; nothing is sent before one
   * is set. Of more than `MAX_MESSAGES_PER_PERIOD` messages in a second the rest is dropped, and one message
   * states their number.
   */
  log(level: LogLevel, data: LogData): void;
  /**
   * Reports that a workspace was opened. Before a level is set, the newest `MAX_WAITING_MESSAGES` messages are
   * kept.
   */
  opened(served: ServedWorkspace): void;
}

/** Thrown for an unknown level. The code is the protocol's code for invalid parameters. */
class InvalidLogLevelError extends Error {
  override name = "InvalidLevel";
  readonly code = -32_602;
}

/** The maximum number of messages in a period of `MESSAGE_PERIOD_MS`, which begins with the first. */
export const MAX_MESSAGES_PER_PERIOD = 20;
const MESSAGE_PERIOD_MS = 1000;
/** The maximum number of messages that are kept until a level is set. Beyond it the oldest are dropped. */
const MAX_WAITING_MESSAGES = 10;
/** The name of the logger in every message. */
const LOGGER_NAME = "filewright";

interface WaitingMessage {
  readonly level: LogLevel;
  readonly data: LogData;
}

/**
 * Creates a log that sends its messages by `notify`.
 * @param least the least urgent level that is sent; undefined when the client sets it later
 */
export function makeClientLog(notify: SendNotification, least?: LogLevel): ClientLog {
  let waiting: readonly WaitingMessage[] = [];
  let sent = 0;
  let leftOut = 0;
  /** The most urgent level of the messages that were dropped in this period. */
  let worst: LogLevel = "debug";
  let isPeriodRunning = false;

  const send = ({ level, data }: WaitingMessage): void => {
    // A log message that cannot be sent must not make the call fail.
    notify({ method: "notifications/message", params: { level, logger: LOGGER_NAME, data } }).catch(() => {});
  };
  const endPeriod = (): void => {
    isPeriodRunning = false;
    sent = 0;
    if (leftOut === 0) return;
    const data = { message: `${countedNoun(leftOut, "log message")} left out`, left_out: leftOut };
    leftOut = 0;
    const level = worst;
    worst = "debug";
    log(level, data);
  };
  const log = (level: LogLevel, data: LogData): void => {
    if (least === undefined || !isUrgentEnough(level, least)) return;
    if (!isPeriodRunning) setTimeout(endPeriod, MESSAGE_PERIOD_MS).unref();
    isPeriodRunning = true;
    if (sent < MAX_MESSAGES_PER_PERIOD) {
      sent += 1;
      send({ level, data });
      return;
    }
    leftOut += 1;
    if (isUrgentEnough(level, worst)) worst = level;
  };
  return {
    setLevel(level) {
      least = parseLogLevel(level);
      const entries = waiting;
      waiting = [];
      // The messages are sent later, because the client expects the answer to its request first.
      setImmediate(() => {
        for (const entry of entries) log(entry.level, entry.data);
      });
    },
    log,
    opened(served) {
      const entries = messagesAtOpening(served);
      if (least === undefined) waiting = [...waiting, ...entries].slice(-MAX_WAITING_MESSAGES);
      else for (const { level, data } of entries) log(level, data);
    },
  };
}

/** Writes a message about a call that has ended. */
export function logCall(clientLog: ClientLog, tool: string, result: ToolResult): void {
  const duration = Math.round(result.meta.duration_ms);
  const facts = { tool, duration_ms: duration };
  if (result.ok) {
    clientLog.log("debug", { message: `${tool} took ${duration} ms`, ...facts });
    return;
  }
  const { code } = result.error;
  const [level, outcome] = levelAndSentenceOf(code);
  clientLog.log(level, { message: `${tool} ${outcome}: ${code}`, ...facts, code });
}

/**
 * Error codes of failures of the machine or of Filewright. All others, except CANCELLED, are refusals, which
 * the model can correct.
 */
const SYSTEM_FAILURE_CODES: ReadonlySet<Code> = new Set([
  "INTERNAL",
  "IO_ERROR",
  "NO_SPACE",
  "SANDBOX_SETUP_FAILED",
] satisfies Code[]);

function levelAndSentenceOf(code: Code): readonly [LogLevel, string] {
  if (code === "CANCELLED") return ["info", "was cancelled"];
  return SYSTEM_FAILURE_CODES.has(code) ? ["error", "failed"] : ["warning", "was refused"];
}

/** Returns the messages about a workspace that was opened, and about interrupted changes that it found. */
function messagesAtOpening({ ws, listed, roots }: ServedWorkspace): readonly WaitingMessage[] {
  const { kind } = ws.capabilities().engine;
  const { rolledBack, damaged, conflicts, problem } = ws.recovery;
  const opening: WaitingMessage = {
    level: "info",
    data: {
      message: `opened ${countedNoun(roots.length, "directory", "directories")} with ${countedNoun(listed.length, "tool")}, engine ${kind}`,
      directories: roots.length,
      tools: listed.length,
      engine: kind,
    },
  };
  const failures: readonly WaitingMessage[] =
    problem === undefined
      ? []
      : [
          {
            level: "error",
            // The message may hold paths of this machine; standard error has it.
            data: { message: `interrupted changes may be left: ${problem.code}`, code: problem.code },
          },
        ];
  if (rolledBack + damaged + conflicts.length === 0) return [opening, ...failures];
  const recovery: WaitingMessage = {
    level: "info",
    data: {
      message: `recovered after an interruption: ${countedNoun(rolledBack, "change")} rolled back, ${countedNoun(damaged, "damaged record")}, ${countedNoun(conflicts.length, "path")} left as changed by others`,
      rolled_back: rolledBack,
      damaged,
      conflicts: conflicts.length,
    },
  };
  return [opening, recovery, ...failures];
}

function countedNoun(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

function parseLogLevel(given: unknown): LogLevel {
  const known = LOG_LEVELS.find((level) => level === given);
  if (known !== undefined) return known;
  const close = typeof given === "string" ? nearest(given, LOG_LEVELS) : undefined;
  const named = typeof given === "string" ? `Unknown log level: ${given.slice(0, 80)}` : "No log level";
  const hint = close === undefined ? `there are ${LOG_LEVELS.join(", ")}` : `did you mean ${close}?`;
  throw new InvalidLogLevelError(`${named}; ${hint}`);
}

/** The log levels of the protocol, from the least to the most urgent. */
export const LOG_LEVELS = [
  "debug",
  "info",
  "notice",
  "warning",
  "error",
  "critical",
  "alert",
  "emergency",
] as const;

/** The urgency of a log line. */
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Returns true when `level` is at least as urgent as `least`. */
function isUrgentEnough(level: LogLevel, least: LogLevel): boolean {
  return LOG_LEVELS.indexOf(level) >= LOG_LEVELS.indexOf(least);
}

/** Logs one line. Default level: `info`. */
export type WriteLogLine = (line: string, level?: LogLevel) => void;

/**
 * Creates a log that writes lines to standard error if they are at least as urgent as `least`. Every line is
 * passed to `also`.
 */
export function makeStderrLog(
  { stderr }: Pick<Program, "stderr">,
  least: LogLevel,
  also?: (line: string, level: LogLevel) => void,
): WriteLogLine {
  return (line, level = "info") => {
    if (isUrgentEnough(level, least)) stderr.write(`${line}\n`);
    also?.(line, level);
  };
}
