/** Text helpers that several presets share. */
import { childOf } from "../backends/paths.ts";
import type { FilewrightError } from "../engine/errors.ts";
import type { Names } from "../tools/lib/names.ts";
import type { Call } from "../tools/lib/tool.ts";

/** Returns another system's headline, followed by the canonical text. */
export function headed(headline: string, told: string): string {
  return told === "" ? headline : `${headline}\n${told}`;
}

/** Returns a diff without its last line ending. */
export function shownDiff({ diff }: { readonly diff: string }): string {
  return diff.replace(/\n$/u, "");
}

/** Returns a path of the data as an absolute one. */
export function absoluteIn(call: Call, path: string): string {
  return path.startsWith("/") ? path : path === "." ? call.access.cwd : childOf(call.access.cwd, path);
}

/** Returns the number of matches in the error of an edit tool. */
export function foundTimes(error: FilewrightError): number {
  const found = error.details?.["found"];
  return typeof found === "number" ? found : 0;
}

/** Returns the error about an ambiguous edit without the remedies that the reader lacks. */
export function editRefusal(error: FilewrightError, told: string, path: string, names: Names): string {
  if (error.code !== "MATCH_NOT_UNIQUE" || names.argument("replace_all") !== undefined) return told;
  const lines = error.details?.["lines"];
  const at = Array.isArray(lines) ? ` (lines ${lines.slice(0, MAX_LINES_SHOWN).join(", ")})` : "";
  return `${names.argument("old_text") ?? "The text"} occurs ${foundTimes(error)} times in ${path}${at}. Add surrounding lines to say which.`;
}

const MAX_LINES_SHOWN = 20;
