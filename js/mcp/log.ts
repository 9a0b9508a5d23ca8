/** What a server tells whoever runs it: lines on standard error, by their level. */
import process from "node:process";

/** The levels of the protocol, from the least to the most urgent. */
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

/** How urgent a line is. */
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Whether a line of one level is told where another is the least. */
export function isTold(level: LogLevel, least: LogLevel): boolean {
  return LOG_LEVELS.indexOf(level) >= LOG_LEVELS.indexOf(least);
}

/** Says one line. Default level: `info`. */
export type Log = (line: string, level?: LogLevel) => void;

/** Lines on standard error from a level on, handed to `also` whatever their level is. */
export function stderrLog(least: LogLevel, also?: (line: string, level: LogLevel) => void): Log {
  return (line, level = "info") => {
    if (isTold(level, least)) process.stderr.write(`${line}\n`);
    also?.(line, level);
  };
}
