/** Pieces of text that several presets share. */
import { childOf } from "../backends/paths.ts";
import type { FilewrightError } from "../engine/errors.ts";
import type { Names } from "../tools/names.ts";
import type { Call } from "../tools/tool.ts";

/** A headline as another system words it, and below it what we know besides. */
export function headed(headline: string, told: string): string {
  return told === "" ? headline : `${headline}\n${told}`;
}

/** A diff without its last line end. */
export function shownDiff({ diff }: { readonly diff: string }): string {
  return diff.replace(/\n$/u, "");
}

/** A path of the data as an absolute one. */
export function absoluteIn(call: Call, path: string): string {
  return path.startsWith("/") ? path : path === "." ? call.access.cwd : childOf(call.access.cwd, path);
}

/** How often a text was found, as the refusal of an edit tells. */
export function foundTimes(error: FilewrightError): number {
  const found = error.details?.["found"];
  return typeof found === "number" ? found : 0;
}

/** The refusal of an ambiguous edit without the remedies that the reader does not have. */
export function editRefusal(error: FilewrightError, told: string, path: string, names: Names): string {
  if (error.code !== "MATCH_NOT_UNIQUE" || names.argument("replace_all") !== undefined) return told;
  const lines = error.details?.["lines"];
  const at = Array.isArray(lines) ? ` (lines ${lines.slice(0, MOST_LINES).join(", ")})` : "";
  return `${names.argument("old_text") ?? "The text"} occurs ${foundTimes(error)} times in ${path}${at}. Add surrounding lines to say which.`;
}

const MOST_LINES = 20;
