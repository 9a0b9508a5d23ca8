/**
 * Checks that an agent has seen the current content of one file, and makes the refusals where it has not. The guard
 * decides which files a change concerns.
 */
import type { FsStat } from "../../backends/backend.ts";
import { lstatOrNull, hashOf } from "../../backends/fallback/fallback.ts";
import { parentOf } from "../../backends/paths.ts";
import { escapeControls } from "../../engine/escape.ts";
import { FilewrightError } from "../../engine/errors.ts";
import type { Location } from "../../policy/index.ts";
import { withoutUndefined } from "../../schema/without-undefined.ts";
import { changeAt } from "../../tools/lib/changed.ts";
import { statOrNull } from "../../tools/lib/contents.ts";
import type { LineRange } from "../../tools/lib/line-ranges.ts";
import type { SeenFile } from "../../tools/lib/seen.ts";
import { type Call, locationError, phraseIfNamed, set, setPhrase } from "../../tools/lib/tool.ts";

/** How a file is checked. */
interface FileCheck {
  /** True when a link is not followed, because its target does not change. */
  readonly entry?: boolean;
  /** True when the call declares that it replaces the whole file, so that unread lines may be lost. */
  readonly isWhole?: boolean;
  /** The facts that the change was planned on and compares, null for no file. Without them they are read. */
  readonly found?: FsStat | null | undefined;
}

/** Refuses the change of a file whose current content the agent has not read. @throws FilewrightError CONFLICT */
export async function assertFileSeen(
  call: Call,
  at: Location,
  path: string,
  { entry = false, isWhole = false, found }: FileCheck,
): Promise<void> {
  const look = entry ? lstatOrNull : statOrNull;
  const stat = found === undefined ? await look(call.fs, path) : found;
  if (stat === null || !stat.isFile || stat.size === 0) return;
  await bringInReads(call, path, stat);
  if (isWhole && call.seen.recall(path) === undefined) return;
  const lines = await seenLinesOfCurrentContent(call, at, path, stat);
  if (lines === undefined || isWhole) return;
  // Only a tool that replaces the whole file has the argument for it.
  const instead =
    entry || path !== at.path
      ? ""
      : phraseIfNamed(setPhrase(call.reader.names, set("whole_file", true)), (phrase) => `, or ${phrase}`);
  throw partialReadError(call, at, path, { why: "only a part of it was read", instead });
}

/**
 * Brings in what the agent has read through other processes, unless it is known to have read the whole current
 * content.
 */
export async function bringInReads({ seen }: Call, path: string, { version }: FsStat): Promise<void> {
  if (seen.refresh === undefined) return;
  const known = seen.recall(path);
  const isCurrent = known?.version !== undefined && known.version === version && known.lines === undefined;
  if (!isCurrent) await seen.refresh(path);
}

/**
 * Returns the lines that were seen of the current content; undefined when all were.
 * @throws FilewrightError CONFLICT when the content was not read, or has changed since
 */
export async function seenLinesOfCurrentContent(
  call: Call,
  at: Location,
  path: string,
  stat: FsStat,
): Promise<readonly LineRange[] | undefined> {
  const seen = call.seen.recall(path);
  if (seen?.version !== undefined && seen.version === stat.version) return seen.lines;
  const known = await contentSeen(call, path, seen);
  if (known !== undefined) return known.lines;
  if (seen === undefined) {
    throw locationError("CONFLICT", at, {
      message: `${fileExistsPhrase(call, at, path)} and was not read yet`,
      hint: "read it first, then repeat the change",
      details: { reason: "not_read", ...detailsOfInnerFile(call, at, path) },
    });
  }
  const changed = await changeAt(call, path, stat.version);
  const how = changed === undefined ? "changed since it was read" : `changed since it was read: ${changed}`;
  throw locationError("CONFLICT", at, {
    message: path === at.path ? how : `${fileExistsPhrase(call, at, path)} and ${how}`,
    details: withoutUndefined({
      reason: "changed_since_read",
      changed,
      ...detailsOfInnerFile(call, at, path),
    }),
  });
}

/**
 * Returns what was seen of the present content: by the last read or write, or earlier, where an undo or another program
 * has brought that content back. Undefined for a content that was not seen.
 */
async function contentSeen(
  call: Call,
  path: string,
  last: SeenFile | undefined,
): Promise<SeenFile | undefined> {
  const earlier = call.seen.recallEarlier(path);
  if (last?.hash === undefined && earlier.size === 0) return undefined;
  const hash = await hashOf(call.fs, path, call.signal);
  return last?.hash === hash ? last : earlier.get(hash);
}

function fileExistsPhrase(call: Call, at: Location, path: string): string {
  return path === at.path ? "exists" : `holds '${escapeControls(call.reader.display(path))}', which exists`;
}

function detailsOfInnerFile(call: Call, at: Location, path: string): { readonly file?: string } {
  return path === at.path ? {} : { file: call.reader.display(path) };
}

/**
 * Creates the refusal of a change of lines that the agent has not read. `instead` is another remedy, as a clause.
 */
export function partialReadError(
  call: Call,
  at: Location,
  path: string,
  { why, instead = "" }: { readonly why: string; readonly instead?: string },
): FilewrightError {
  const which = path === at.path ? "" : `holds '${escapeControls(call.reader.display(path))}': `;
  return locationError("CONFLICT", at, {
    message: `${which}${why}`,
    hint: `read the rest first, then repeat the change${instead}`,
    details: { reason: "partial_read", ...detailsOfInnerFile(call, at, path) },
  });
}

/**
 * Refuses the deletion of a file that the agent does not know. A listing or the facts of the file are enough, because a
 * deletion needs no line of it. @throws FilewrightError CONFLICT
 */
export async function assertKnownForDeletion(call: Call, at: Location, path: string): Promise<void> {
  const stat = await lstatOrNull(call.fs, path);
  if (stat === null || !stat.isFile || stat.size === 0 || call.seen.wasListed(path)) return;
  await bringInReads(call, path, stat);
  try {
    await seenLinesOfCurrentContent(call, at, path, stat);
  } catch (error) {
    if (!(error instanceof FilewrightError) || error.code !== "CONFLICT") throw error;
    const { message, details } = error;
    throw locationError("CONFLICT", at, { message, hint: hintBeforeDeletion(call, at, path), details });
  }
}

/** Returns what to do before a deletion, with a tool that the caller has. */
function hintBeforeDeletion({ reader: { names, display } }: Call, at: Location, path: string): string {
  const [stat, list] = [names.tool("stat"), names.tool("list_directory") ?? names.tool("glob")];
  if (path === at.path && stat !== undefined)
    return `look at it with ${stat} first, then repeat the deletion`;
  const directory = escapeControls(display(parentOf(path)));
  if (list !== undefined) return `list '${directory}' with ${list} first, then repeat the deletion`;
  return "read it first, then repeat the deletion";
}
