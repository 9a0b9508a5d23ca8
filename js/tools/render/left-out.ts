/**
 * Notes about entries that a search or a listing left out, so that a model does not conclude that they do not
 * exist.
 */
import type { FindResult, SearchResult } from "../../engine/search-types.ts";
import { isWithin } from "../../backends/paths.ts";
import { type ReaderNames, type AccessSummary, phraseIfNamed, set, settingPhrase } from "../lib/tool.ts";
import { escapeControls } from "../../engine/escape.ts";
import { plural } from "../lib/text.ts";

/** Returns the advice how to search ignored files, too; empty when the reader cannot pass the argument for it. */
function searchIgnoredAdvice(names: ReaderNames): string {
  return phraseIfNamed(
    settingPhrase(names, set("respect_ignore", false)),
    (unignored) => `; ${unignored} searches them too`,
  );
}

/**
 * Returns a note that names the other roots, when a search of the working directory found nothing; undefined
 * otherwise.
 */
export function otherRootsNote(total: number, root: string, access: AccessSummary): string | undefined {
  const others = total > 0 ? [] : otherReadableRoots(root, access);
  if (others.length === 0) return undefined;
  return `searched was ${escapeControls(root)} alone; other roots: ${others.map(escapeControls).join(", ")}`;
}

/**
 * Returns the readable roots that neither contain `root` nor lie in it; none when `root` is not the working
 * directory, or when everything may be read.
 */
export function otherReadableRoots(root: string, { cwd, readRoots }: AccessSummary): readonly string[] {
  if (root !== cwd || readRoots === null) return [];
  return readRoots.filter((other) => !isWithin(other, root) && !isWithin(root, other));
}

/**
 * Returns a note how a glob with `*(a)` was read, because other programs read it as a repetition and it may
 * be meant as a name such as `*(1).txt`; undefined for any other glob.
 */
export function plainParenthesesHint(glob: string): string | undefined {
  const [form] = /(?<!\\)\*\([^()]*\)/u.exec(glob) ?? [];
  return form === undefined
    ? undefined
    : `the parentheses of ${escapeControls(form)} are plain letters; write {a,b} for one of several, * for any`;
}

/** Returns notes about globs for exclusion that may exclude something else than was meant. */
export function excludeGlobNotes(globs: readonly string[]): readonly string[] {
  return globs.map(plainParenthesesHint).filter((note) => note !== undefined);
}

/** Returns the note about entries that could not be read; undefined when there were none. */
export function unreadableNote(unreadable: number): string | undefined {
  if (unreadable === 0) return undefined;
  return `${plural(unreadable, "entry", "entries")} could not be read (no permission, kept by a policy, or more than 2,048 levels deep): what they hold is not in this answer`;
}

/** Returns notes about entries that a search for names left out: ignored and unreadable ones. */
export function findWarnings(
  { total, ignored, unreadable }: Pick<FindResult, "total" | "ignored" | "unreadable">,
  names: ReaderNames,
): readonly string[] {
  // The number is only a lower bound, because the walk does not count inside very large ignored directories.
  const hidden =
    total === 0 && ignored > 0
      ? `at least ${plural(ignored, "match", "matches")} left out: ignored by .gitignore or the like${searchIgnoredAdvice(names)}`
      : undefined;
  return [hidden, unreadableNote(unreadable)].filter((note) => note !== undefined);
}

/** Returns notes about files that a search of contents left out: ignored, unreadable and too large ones. */
export function grepWarnings(
  found: SearchResult,
  maxFileBytes: number,
  names: ReaderNames,
): readonly string[] {
  const { totalMatches, ignored, unreadable, skippedLarge } = found;
  const hidden =
    totalMatches === 0 && ignored > 0
      ? `${plural(ignored, "file or directory", "files or directories")} not searched: ignored by .gitignore or the like${searchIgnoredAdvice(names)}`
      : undefined;
  const large =
    skippedLarge > 0
      ? `${plural(skippedLarge, "file")} not searched: larger than ${maxFileBytes} bytes`
      : undefined;
  return [hidden, large, unreadableNote(unreadable)].filter((note) => note !== undefined);
}
