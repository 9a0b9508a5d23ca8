/**
 * Notes about entries that a search or a listing left out, so that a model does not conclude that they do not
 * exist.
 */
import type { FindResult, SearchResult } from "../../engine/search-types.ts";
import { isWithin } from "../../backends/paths.ts";
import type { LeftOutEntry } from "../lib/left-out-entry.ts";
import { type ReaderNames, type AccessSummary, phraseIfNamed, set, settingPhrase } from "../lib/tool.ts";
import { escapeControls, plural } from "../../engine/escape.ts";

/** Returns the advice how to search ignored files, too; empty when the reader cannot pass the argument for it. */
function searchIgnoredAdvice(names: ReaderNames): string {
  return phraseIfNamed(
    settingPhrase(names, set("respect_ignore", false)),
    (unignored) => `; ${unignored} searches them too`,
  );
}

/** Returns the advice how to search secrets, too: a person grants them on the command line, a model cannot. */
function searchSecretsAdvice(unread: LeftOutEntry | undefined, names: ReaderNames): string {
  if (unread?.isSecret !== true || names.option === undefined) return "";
  return phraseIfNamed(
    settingPhrase(names, set("secrets", true)),
    (granted) => `; ${granted} searches such files`,
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

/**
 * Returns the note about entries that an answer lacks, with the name of the first and the reason; undefined when there
 * are none. `verb` is a participle such as `searched`.
 */
export function leftOutNote(
  count: number,
  verb: "searched" | "listed" | "mapped",
  first: LeftOutEntry | undefined,
): string | undefined {
  if (count === 0) return undefined;
  const entries = plural(count, "entry", "entries");
  if (first === undefined) return `${entries} not ${verb}: unreadable or too deep`;
  const path = escapeControls(first.path);
  return count === 1
    ? `${path} not ${verb}: ${first.reason}`
    : `${entries} not ${verb} (${path}: ${first.reason})`;
}

/** Returns notes about entries that a search for names left out: ignored and unreadable ones. */
export function findWarnings(
  { total, ignored, unreadable }: Pick<FindResult, "total" | "ignored" | "unreadable">,
  unread: LeftOutEntry | undefined,
  names: ReaderNames,
): readonly string[] {
  // The number is a lower bound where counting in very large ignored directories took too long.
  const hidden =
    total === 0 && ignored > 0
      ? `at least ${plural(ignored, "match", "matches")} left out: ignored by .gitignore or the like${searchIgnoredAdvice(names)}`
      : undefined;
  return [hidden, leftOutNote(unreadable, "listed", unread)].filter((note) => note !== undefined);
}

/** The first files that a search of contents left out, by reason. */
export interface LeftOutFiles {
  readonly unread: LeftOutEntry | undefined;
  readonly large: LeftOutEntry | undefined;
}

/** Returns notes about files that a search of contents left out: ignored, unreadable and too large ones. */
export function grepWarnings(
  { totalMatches, ignored, unreadable, skippedLarge }: SearchResult,
  { unread, large }: LeftOutFiles,
  names: ReaderNames,
): readonly string[] {
  const hidden =
    totalMatches === 0 && ignored > 0
      ? `${plural(ignored, "file or directory", "files or directories")} not searched: ignored by .gitignore or the like${searchIgnoredAdvice(names)}`
      : undefined;
  const closed = leftOutNote(unreadable, "searched", unread);
  const notes = [
    hidden,
    leftOutNote(skippedLarge, "searched", large),
    closed === undefined ? undefined : `${closed}${searchSecretsAdvice(unread, names)}`,
  ];
  return notes.filter((note) => note !== undefined);
}
