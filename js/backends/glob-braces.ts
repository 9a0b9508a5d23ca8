/** Expands the braces of globs, so that each alternative has its own anchor. */
import { FilewrightError } from "../engine/errors.ts";

/** The maximum number of globs into which the braces of one glob expand. More are INVALID_GLOB. */
const MAX_EXPANDED_GLOBS = 256;

/**
 * Expands the braces of a pattern that contain a slash: `{a/**,b}` becomes `a/**` and `b`, so that
 * each has its own anchor. Other braces stay unchanged.
 */
export function expandBracesWithSlash(path: string): readonly string[] {
  const done: string[] = [];
  const pending = [path];
  for (let pattern = pending.pop(); pattern !== undefined; pattern = pending.pop()) {
    const brace = firstBraceGroup(pattern);
    if (brace === undefined || !hasSlashInBraces(pattern)) {
      done.push(pattern);
      continue;
    }
    const { start, end, choices } = brace;
    for (const choice of choices) pending.push(pattern.slice(0, start) + choice + pattern.slice(end));
    if (done.length + pending.length > MAX_EXPANDED_GLOBS)
      throw invalidGlobError(`stands for more than ${MAX_EXPANDED_GLOBS} globs`);
  }
  return done;
}

/** Returns true when a pattern has a slash inside braces. */
function hasSlashInBraces(pattern: string): boolean {
  let depth = 0;
  for (let at = 0; at < pattern.length; at++) {
    const char = pattern[at];
    if (char === "\\") at++;
    else if (char === "{") depth++;
    else if (char === "}") depth--;
    else if (char === "/" && depth > 0) return true;
  }
  return false;
}

/** A pair of braces of a pattern with its alternatives. `end` is the position behind it. */
interface BraceGroup {
  readonly start: number;
  readonly end: number;
  readonly choices: readonly string[];
}

/** Returns the first outermost pair of braces; undefined when no pair is closed. */
function firstBraceGroup(pattern: string): BraceGroup | undefined {
  const choices: string[] = [];
  let [start, from, depth] = [-1, 0, 0];
  for (let at = 0; at < pattern.length; at++) {
    const char = pattern[at];
    if (char === "\\") at++;
    else if (char === "{" && depth++ === 0) [start, from] = [at, at + 1];
    else if (char === "," && depth === 1) {
      choices.push(pattern.slice(from, at));
      from = at + 1;
    } else if (char === "}" && depth > 0 && --depth === 0) {
      return { start, end: at + 1, choices: [...choices, pattern.slice(from, at)] };
    }
  }
  return undefined;
}

/** Returns the error of a glob that cannot be understood. `why` completes the sentence. */
export function invalidGlobError(why: string): FilewrightError {
  return new FilewrightError("INVALID_GLOB", `glob ${why}`);
}
