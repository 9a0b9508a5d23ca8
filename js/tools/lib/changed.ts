/**
 * What changed in a file since the caller read it: which lines, and by whom. It is told only of a content with another
 * hash, never by times alone. What the caller itself writes counts as read, so it is none.
 *
 * The lines are found by a diff of the line hashes of both contents (`crates/core/src/page/line_hashes.rs`), so the
 * content that was read need not be kept.
 */
import type { VersionedBytes } from "../../backends/backend.ts";
import { engine } from "../../engine/current.ts";
import { fromEngine } from "../../engine/errors.ts";
import { escapeControls, plural } from "../../engine/escape.ts";
import { lineHashesOf, MAX_COMPARED_BYTES } from "./line-hashes.ts";
import { type LineRange, mergeRanges } from "./line-ranges.ts";
import { takesBack } from "../../schema/tool-facts.ts";
import type { MadeBy } from "./past.ts";
import type { SeenFile } from "./seen.ts";
import { encodeUtf8 } from "./text.ts";
import type { Call } from "./tool.ts";

/** A file as it is now. */
export interface PresentFile {
  /** Absolute. */
  readonly path: string;
  readonly version?: string | undefined;
  /** The hash of the content; null where it was not read completely. */
  readonly hash: string | null;
  /** The line hashes of the content that has the hash; null where it has none, undefined where they are not known. */
  readonly lineHashes: string | null | undefined;
}

/** Returns what changed in a file, after `changed since you read it`; undefined when nothing did, or it was not read. */
export async function changeOf(call: Call, now: PresentFile): Promise<string | undefined> {
  const seen = call.seen.recall(now.path);
  if (seen === undefined || isSameVersion(seen, now.version)) return undefined;
  if (seen.hash === undefined || now.hash === null || seen.hash === now.hash) return undefined;
  const made = await madeBy(call, now.path, now.hash);
  const before = call.seen.lineHashes.of(seen.hash);
  const lines = changedLinesText(before, now.lineHashes);
  return `${lines === undefined ? "" : `${lines}, `}by ${whoText(made)}`;
}

/** Returns the same for a file that is looked at for it, unless it has the version `version`. */
export async function changeAt(
  call: Call,
  path: string,
  version: string | undefined,
): Promise<string | undefined> {
  if (!call.settings.knows) return undefined;
  const seen = call.seen.recall(path);
  if (seen?.hash === undefined || isSameVersion(seen, version)) return undefined;
  const now = await presentFile(call, path);
  return now === undefined ? undefined : changeOf(call, now);
}

const isSameVersion = (seen: SeenFile, version: string | undefined): boolean =>
  version !== undefined && seen.version === version;

/** Returns a file as it is now, with its line hashes; undefined where it cannot be read. */
async function presentFile(call: Call, path: string): Promise<PresentFile | undefined> {
  try {
    const { bytes, version, hash } = await presentContent(call, path);
    return { path, version, hash, lineHashes: bytes && (await lineHashesOf(bytes, call.signal)) };
  } catch (thrown) {
    const error = fromEngine(thrown);
    if (error.code === "CANCELLED") throw error;
    return undefined;
  }
}

/** The content of a file as it is now. */
export interface PresentContent {
  readonly version: string | undefined;
  readonly hash: string;
  /** The bytes that have the hash; undefined for a content whose lines are too many bytes to be compared. */
  readonly bytes: Uint8Array | undefined;
}

/** Returns the content of a file as it is now. @throws FilewrightError where it cannot be read */
export async function presentContent({ fs, signal }: Call, path: string): Promise<PresentContent> {
  try {
    const read = await fs.read(path, { maxBytes: MAX_COMPARED_BYTES, signal });
    const { bytes, version } = read as VersionedBytes; // `null` only answers `ifNoneMatch`.
    return { version, hash: await engine().onThreads.sha256(bytes), bytes };
  } catch (thrown) {
    const error = fromEngine(thrown);
    if (error.code !== "TOO_LARGE") throw error;
    const { hash, version } = await fs.hash(path, { signal });
    return { version, hash, bytes: undefined };
  }
}

/** Returns who made a content; undefined for one that no recorded call left. */
export async function madeBy(call: Call, path: string, hash: string | null): Promise<MadeBy | undefined> {
  try {
    return await call.past().madeBy(path, hash);
  } catch (thrown) {
    const error = fromEngine(thrown);
    if (error.code === "CANCELLED") throw error;
    return undefined;
  }
}

/** The most ranges of lines that a text names. */
const MAX_SHOWN_RANGES = 4;

/**
 * Returns the changed lines of the present content, such as `lines 3, 40-52`; undefined where the hashes of all lines are
 * the same, and for contents without line hashes.
 */
export function changedLinesText(
  before: string | null | undefined,
  now: string | null | undefined,
): string | undefined {
  if (typeof before !== "string" || typeof now !== "string") return undefined;
  const changes = changedLines(before, now);
  if (changes.length === 0) return undefined;
  const shown = changes.slice(0, MAX_SHOWN_RANGES).map(([first, last]) => rangeText(first, last));
  const more = changes.length - shown.length;
  const all = more === 0 ? shown.join(", ") : `${shown.join(", ")} and ${plural(more, "more place")}`;
  const isOneLine = changes.length === 1 && changes[0]?.[0] === changes[0]?.[1];
  return `${isOneLine ? "line" : "lines"} ${all}`;
}

/** Where lines were only removed, the range is empty: it ends before it begins. */
const rangeText = (first: number, last: number): string =>
  last < first ? `removed after ${last}` : first === last ? `${first}` : `${first}-${last}`;

/** Returns the ranges of the present content that differ; those of removed lines are empty. */
function changedLines(before: string, now: string): readonly LineRange[] {
  const hunks = engine().hunksBetween(encodeUtf8(before), encodeUtf8(now));
  const all = hunks.flatMap(({ changes }) =>
    changes.map(({ newStart, newLines }): LineRange => [newStart + 1, newStart + newLines]),
  );
  const removed = all.filter(([first, last]) => last < first);
  return [...mergeRanges(all), ...removed].sort((a, b) => a[0] - b[0]);
}

const MINUTE_MS = 60_000;
const [MINUTES_PER_HOUR, MINUTES_PER_DAY] = [60, 24 * 60];

/** Returns who changed a file since it was read, for a text. */
export function whoText(made: MadeBy | undefined): string {
  // What the caller wrote counts as read. If it has that content again, another program has put it back.
  if (made === undefined || (made.isOwn && !takesBack(made.change.tool))) return "another program";
  return authorText(made);
}

/** Returns who made a recorded change, for a text. */
export function authorText({ change, isOwn }: MadeBy): string {
  const { agent, tool, time } = change;
  const who = isOwn ? "you" : agent === undefined ? "another caller" : `agent ${escapeControls(agent)}`;
  return `${who} (${tool}, ${agoText(Date.now() - Date.parse(time))})`;
}

/** Returns a time in the past, in milliseconds before now, such as `2 min ago`. */
function agoText(ms: number): string {
  const minutes = Math.floor(ms / MINUTE_MS);
  if (minutes < 1) return "just now";
  if (minutes < MINUTES_PER_HOUR) return `${minutes} min ago`;
  return minutes < MINUTES_PER_DAY
    ? `${Math.floor(minutes / MINUTES_PER_HOUR)} h ago`
    : `${Math.floor(minutes / MINUTES_PER_DAY)} d ago`;
}
