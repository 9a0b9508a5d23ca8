/** Log lines of a server on standard error, filtered by level. */
import process from "node:process";

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
export function isTold(level: LogLevel, least: LogLevel): boolean {
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
