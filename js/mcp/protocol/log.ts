/**
 * Log lines of a server: on standard error, and for a client as `notifications/message` of the protocol.
 *
 * Clients keep logs and pass them on. So a message for one consists of our own words, the name of a tool, an error
 * code and counts, and never of a path, an argument or the text of an answer.
 */
import type { Code } from "../../engine/errors.ts";
import { nearest } from "../../schema/nearest.ts";
import type { ToolResult } from "../../workspace/index.ts";
import type { ServedWorkspace } from "../host.ts";
import process from "node:process";

/** Sends a notification. Rejects when it cannot be sent, such as after the client has disconnected. */
export type Notify = (notification: {
  readonly method: string;
  readonly params: Record<string, unknown>;
}) => Promise<void>;

/** The content of a message: a sentence, and the facts in it for programs. */
interface LogData {
  readonly message: string;
  readonly [fact: string]: string | number;
}

/** The log of one connection; since the revision 2026-07-28, of one request, which carries its own level. */
export interface ClientLog {
  /**
   * Sets the least urgent level that is sent.
   * @throws InvalidLevel
   */
  setLevel(level: unknown): void;
  /**
   * Sends a message of a level that is sent. Without a level set nothing is; what comes too fast is counted and
   * reported in one message.
   */
  log(level: LogLevel, data: LogData): void;
  /** Reports an opened workspace. Before a level is set, the newest reports are kept until one is. */
  opened(served: ServedWorkspace): void;
}

/** Thrown for an unknown level. The code is the protocol's code for invalid parameters. */
class InvalidLevel extends Error {
  override name = "InvalidLevel";
  readonly code = -32_602;
}

/** Maximum number of messages within `PERIOD_MS` of the first. */
export const MAX_MESSAGES = 20;
const PERIOD_MS = 1000;
/** Maximum number of messages that wait for a level. */
const MAX_WAITING = 10;
/** The name of the logger in every message. */
const LOGGER = "filewright";

interface Entry {
  readonly level: LogLevel;
  readonly data: LogData;
}

/**
 * Creates a log that sends through `notify`.
 * @param least the least urgent level that is sent; undefined when the client sets it later
 */
export function makeClientLog(notify: Notify, least?: LogLevel): ClientLog {
  let waiting: readonly Entry[] = [];
  let sent = 0;
  let leftOut = 0;
  /** The most urgent level of the messages that came too fast. */
  let worst: LogLevel = "debug";
  let isPeriodRunning = false;

  const send = ({ level, data }: Entry): void => {
    // A log message that cannot be sent must not make the call fail.
    notify({ method: "notifications/message", params: { level, logger: LOGGER, data } }).catch(() => {});
  };
  const endPeriod = (): void => {
    isPeriodRunning = false;
    sent = 0;
    if (leftOut === 0) return;
    const data = { message: `${counted(leftOut, "log message")} left out`, left_out: leftOut };
    leftOut = 0;
    const level = worst;
    worst = "debug";
    log(level, data);
  };
  const log = (level: LogLevel, data: LogData): void => {
    if (least === undefined || !isTold(level, least)) return;
    if (!isPeriodRunning) setTimeout(endPeriod, PERIOD_MS).unref();
    isPeriodRunning = true;
    if (sent < MAX_MESSAGES) {
      sent += 1;
      send({ level, data });
      return;
    }
    leftOut += 1;
    if (isTold(level, worst)) worst = level;
  };
  return {
    setLevel(level) {
      least = levelOf(level);
      const entries = waiting;
      waiting = [];
      // The client expects no message before the answer to its request.
      setImmediate(() => {
        for (const entry of entries) log(entry.level, entry.data);
      });
    },
    log,
    opened(served) {
      const entries = openingOf(served);
      if (least === undefined) waiting = [...waiting, ...entries].slice(-MAX_WAITING);
      else for (const { level, data } of entries) log(level, data);
    },
  };
}

/** Reports a call that has ended. */
export function logCall(clientLog: ClientLog, tool: string, result: ToolResult): void {
  const duration = Math.round(result.meta.duration_ms);
  const facts = { tool, duration_ms: duration };
  if (result.ok) {
    clientLog.log("debug", { message: `${tool} took ${duration} ms`, ...facts });
    return;
  }
  const { code } = result.error;
  const [level, outcome] = verdictOf(code);
  clientLog.log(level, { message: `${tool} ${outcome}: ${code}`, ...facts, code });
}

/**
 * Codes for failures of the machine or of Filewright. The others, apart from CANCELLED, are refusals, which a
 * model can correct.
 */
const FAILURES: ReadonlySet<Code> = new Set([
  "INTERNAL",
  "IO_ERROR",
  "NO_SPACE",
  "SANDBOX_SETUP_FAILED",
] satisfies Code[]);

function verdictOf(code: Code): readonly [LogLevel, string] {
  if (code === "CANCELLED") return ["info", "was cancelled"];
  return FAILURES.has(code) ? ["error", "failed"] : ["warning", "was refused"];
}

/** Returns the messages about a workspace that was opened, and about interrupted changes that were found then. */
function openingOf({ ws, listed, roots }: ServedWorkspace): readonly Entry[] {
  const { kind } = ws.capabilities().engine;
  const { rolledBack, damaged, conflicts } = ws.recovery;
  const opening: Entry = {
    level: "info",
    data: {
      message: `opened ${counted(roots.length, "directory", "directories")} with ${counted(listed.length, "tool")}, engine ${kind}`,
      directories: roots.length,
      tools: listed.length,
      engine: kind,
    },
  };
  if (rolledBack + damaged + conflicts.length === 0) return [opening];
  const recovery: Entry = {
    level: "info",
    data: {
      message: `recovered after an interruption: ${counted(rolledBack, "change")} rolled back, ${counted(damaged, "damaged record")}, ${counted(conflicts.length, "path")} left as changed by others`,
      rolled_back: rolledBack,
      damaged,
      conflicts: conflicts.length,
    },
  };
  return [opening, recovery];
}

function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

function levelOf(given: unknown): LogLevel {
  const known = LOG_LEVELS.find((level) => level === given);
  if (known !== undefined) return known;
  const close = typeof given === "string" ? nearest(given, LOG_LEVELS) : undefined;
  const named = typeof given === "string" ? `Unknown log level: ${given.slice(0, 80)}` : "No log level";
  const hint = close === undefined ? `there are ${LOG_LEVELS.join(", ")}` : `did you mean ${close}?`;
  throw new InvalidLevel(`${named}; ${hint}`);
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

/** Returns true when a line of `level` is at least as urgent as `least`. */
function isTold(level: LogLevel, least: LogLevel): boolean {
  return LOG_LEVELS.indexOf(level) >= LOG_LEVELS.indexOf(least);
}

/** Logs one line. Default level: `info`. */
export type Log = (line: string, level?: LogLevel) => void;

/**
 * Creates a log that writes lines from the level `least` to standard error, and passes every line to `also`.
 */
export function stderrLog(least: LogLevel, also?: (line: string, level: LogLevel) => void): Log {
  return (line, level = "info") => {
    if (isTold(level, least)) process.stderr.write(`${line}\n`);
    also?.(line, level);
  };
}
