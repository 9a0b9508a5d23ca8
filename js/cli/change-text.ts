/** The changes of a past call or of a rewind to its paths, as text with the diffs. */
import { escapeControls, plural } from "../engine/escape.ts";
import type { HistoryChange } from "../workspace/index.ts";
import { escapeForTerminal } from "./person/style.ts";

/** The words for a path without a diff, by the kind of its change. */
export type KindWords = Readonly<Record<HistoryChange["kind"], string>>;

/** The words for what a call did. */
export const CALL_WORDS: KindWords = { create: "made", edit: "changed", delete: "removed", move: "moved" };
/** The words for what a rewind does, as the review page has them. */
export const REWIND_WORDS: KindWords = {
  create: "comes back",
  edit: "is restored",
  delete: "is removed",
  move: "is moved back",
};

/** Returns the diff of a changed path, or a line about it. Text from files and names is escaped. */
export function changeText(change: HistoryChange, words: KindWords): string {
  const { kind, type, display, from, diff, mode, unknown = [] } = change;
  const facts = [
    ...(type === "file" ? [] : [type]),
    ...(mode === undefined ? [] : [`mode ${mode}`]),
    ...contentFacts(change),
  ];
  const source = from === undefined ? "" : ` from ${escapeControls(displayedLike(change, from))}`;
  const said = `${words[kind]}${source}${facts.length === 0 ? "" : ` (${facts.join(", ")})`}`;
  const lost = unknown.map((side) => `; the content ${side} the change is not known any more`);
  const line = `${escapeControls(display)}: ${said}${lost.join("")}`;
  if (diff === "") return line;
  const hunks = escapeDiff(diff);
  return mode === undefined ? hunks : `${line}\n${hunks}`;
}

/** Returns a path in the form in which the path of the change is shown: relative to the same directory. */
function displayedLike({ path, display }: HistoryChange, other: string): string {
  const base = path.endsWith(`/${display}`) ? path.slice(0, path.length - display.length) : "";
  return base !== "" && other.startsWith(base) ? other.slice(base.length) : other;
}

/** Returns what is to be known of contents that have no diff. */
function contentFacts({ type, diff, unknown, binary, kind }: HistoryChange): readonly string[] {
  if (type !== "file" || diff !== "" || unknown !== undefined || kind === "move") return [];
  if (binary === undefined) return [];
  const sizes = [binary.before, binary.after].flatMap((one) => (one ? [plural(one.size, "byte")] : []));
  return ["no text", sizes.join(" -> ")];
}

/** Escapes control characters in a diff, so that its lines cannot control the terminal. */
function escapeDiff(diff: string): string {
  return diff.trimEnd().split("\n").map(escapeForTerminal).join("\n");
}

/** The numbers of added and removed lines; absent when they are not known. */
export interface LineCounts {
  readonly added?: number;
  readonly removed?: number;
}

/** Returns the numbers of added and removed lines of these diffs; none without a diff. */
export function lineCounts(diffs: readonly string[]): LineCounts {
  if (diffs.length === 0) return {};
  const lines = diffs.flatMap((diff) => diff.split("\n").slice(2));
  const count = (mark: string): number => lines.filter((line) => line.startsWith(mark)).length;
  return { added: count("+"), removed: count("-") };
}
