/** What differs, as a list of stretches: by lines, words or characters. */
import { textEngine } from "../engine/current.ts";

/** A stretch of text. `count` is in lines, words or characters. */
export interface ChangeObject {
  readonly value: string;
  readonly count: number;
  readonly added: boolean;
  readonly removed: boolean;
}

/** How lines are compared. */
export interface LineOptions {
  /** Lines that differ only in white space are the same. */
  readonly ignoreWhitespace?: boolean | undefined;
  /** CRLF is LF. */
  readonly stripTrailingCr?: boolean | undefined;
}

/** Compares line by line; each value ends with its line end. */
export function diffLines(before: string, after: string, options: LineOptions = {}): ChangeObject[] {
  const [old, made] = options.stripTrailingCr === true ? [plain(before), plain(after)] : [before, after];
  const { hunks } = textEngine().diff(old, made, {
    context: 0,
    lineEnds: "raw",
    ignoreWhitespace: options.ignoreWhitespace,
  });
  const [olds, news] = [linesOf(old), linesOf(made)];
  const changes: ChangeObject[] = [];
  const push = (lines: readonly string[], added: boolean, removed: boolean): void => {
    if (lines.length > 0) changes.push({ value: lines.join(""), count: lines.length, added, removed });
  };
  let [at, next] = [0, 0];
  for (const { oldStart, oldLines, newStart, newLines } of hunks) {
    // An empty side names the line before it.
    const [from, to] = [oldLines === 0 ? oldStart : oldStart - 1, newLines === 0 ? newStart : newStart - 1];
    push(news.slice(next, to), false, false);
    push(olds.slice(from, from + oldLines), false, true);
    push(news.slice(to, to + newLines), true, false);
    [at, next] = [from + oldLines, to + newLines];
  }
  push(news.slice(next, next + olds.length - at), false, false);
  return changes;
}

/** Compares word by word; white space is a word of its own. */
export function diffWordsWithSpace(before: string, after: string): ChangeObject[] {
  return parts(before, after, "words");
}

/** Compares word by word; where only white space differs, nothing does. */
export function diffWords(before: string, after: string): ChangeObject[] {
  const changes: ChangeObject[] = [];
  const found = parts(before, after, "words");
  for (let at = 0; at < found.length; at++) {
    const [one, next] = [found[at] as ChangeObject, found[at + 1]];
    const both = one.removed && next?.added === true && isBlank(one.value) && isBlank(next.value);
    const kept = both ? { ...(next as ChangeObject), added: false } : one;
    if (both) at++;
    const last = changes.at(-1);
    if (last !== undefined && !kept.added && !kept.removed && !last.added && !last.removed) {
      changes[changes.length - 1] = {
        ...last,
        value: last.value + kept.value,
        count: last.count + kept.count,
      };
    } else changes.push(kept);
  }
  return changes;
}

/** Compares character by character (code points). */
export function diffChars(before: string, after: string): ChangeObject[] {
  return parts(before, after, "chars");
}

function parts(before: string, after: string, unit: "words" | "chars"): ChangeObject[] {
  const changes: ChangeObject[] = [];
  for (const { fate, tokens, text } of textEngine().diffParts(before, after, unit)) {
    const [added, removed] = [fate === "added", fate === "removed"];
    const last = changes.at(-1);
    if (last !== undefined && last.added === added && last.removed === removed) {
      changes[changes.length - 1] = { ...last, value: last.value + text, count: last.count + tokens };
    } else changes.push({ value: text, count: tokens, added, removed });
  }
  return changes;
}

function isBlank(text: string): boolean {
  return text.trim() === "";
}

/** The text with LF for CRLF. */
export function plain(text: string): string {
  return text.replaceAll("\r\n", "\n");
}

/** Lines with their ends; no empty one after the last. */
function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/gu) ?? [];
}
