/**
 * Undoes some hunks of a past call. The engine composes each file without them, from the content before the call and
 * the hunks that stay. Where the file has changed since in other lines, the result is merged into it.
 */
import type { Files } from "../../backends/files.ts";
import type { FsStat } from "../../backends/backend.ts";
import { lstatOrNull } from "../../backends/fallback/fallback.ts";
import { hasForeignMode, isModeLost } from "../../backends/transaction/pre-image.ts";
import { engine } from "../../engine/current.ts";
import type { HunkChoice } from "../../engine/text/hunks.ts";
import { FilewrightError } from "../../engine/errors.ts";
import { EMPTY_BYTES, equalBytes } from "../../engine/wire/bytes.ts";
import {
  acceptedHunks,
  commonEncodingOf,
  type ConfirmedPart,
  partsProblem,
} from "../../hooks/changed-files.ts";
import type { CallEffect } from "../../hooks/observer.ts";
import { digestOfParts } from "../../hooks/question.ts";
import type { StateBefore } from "../../log/index.ts";
import { undoableChange } from "../../log/past.ts";
import { lockPathsOfCall, withLocks } from "../path-locks.ts";
import { changesOfCall } from "./changes.ts";
import { contentsOf, type HistoryChange, historyChange } from "./file-change.ts";
import { beginUndo, type HostWork } from "./history.ts";
import { UNDO_HUNKS } from "../../tools/host-calls.ts";

/** The hunks of a call to undo, as `ws.changes` numbers them: of each path its hunks, or lines of them. */
export interface UndoPartsRequest {
  readonly parts: readonly ConfirmedPart[];
  /** The digest of the preview that a person has seen; undefined for none. */
  readonly digest: string | undefined;
  readonly dryRun: boolean;
  readonly signal: AbortSignal | undefined;
}

/** The result of an undo of some hunks, or of its preview. */
export interface UndoneParts {
  /** The id of the undo itself; undo it to restore the hunks. Absent when nothing was changed. */
  readonly callId?: string;
  /** The changed paths, relative to the working directory if they are inside. */
  readonly paths: readonly string[];
  /** The changes of the files, with the contents before and after the undo. */
  readonly changes: readonly HistoryChange[];
  /** `sha256:` of the call, the present contents and the restored ones. */
  readonly digest: string;
}

/** One file without the chosen hunks. */
interface ComposedFile {
  readonly path: string;
  readonly stat: FsStat | null;
  readonly now: Uint8Array | null;
  /** The content without the hunks; null when the file is removed. */
  readonly result: Uint8Array | null;
  /** The permission bits to restore; undefined for those of the file. */
  readonly mode: number | undefined;
}

/** Undoes some hunks of a call as one change; a dry run returns what that would be. @throws CONFLICT when these lines have changed since */
export async function undoParts(
  work: HostWork,
  undone: string,
  { parts, digest, dryRun, signal }: UndoPartsRequest,
): Promise<UndoneParts> {
  const { session, callId, facts } = work;
  const { fs, resolver } = session.files;
  const { uses, locations } = beginUndo(work, undone, signal);
  const changes = await changesOfCall(session, undone);
  const named = namedParts(changes, parts);
  // Before any refusal, so that it can name the path.
  for (const { path, display } of changesNamed(changes, named)) {
    // The history only names the paths, so the current policy is applied to them again.
    locations.push(resolver.resolve(path, "write"));
    uses.push({ argument: "parts", typed: display, intent: "write", entry: true, missing: "accept" });
  }
  const chosen = chosenChanges(changes, named);
  return withLocks(lockPathsOfCall(session, uses, { fs, locations, signal }), async () => {
    // The locks may have taken time, and a stage keeps what it has read.
    session.staging.stage?.refresh();
    const states = await (await undoableChange(session.past.log, undone)).states();
    const found = new Map(states.map((one) => [one.path, one]));
    const files: ComposedFile[] = [];
    for (const one of chosen) files.push(await composeWithout(fs, one, found.get(one.change.path)));
    const changed = files.filter((file) => !isSame(file));
    const outcome = outcomeOf(undone, changed, resolver.display);
    if (digest !== undefined && digest !== outcome.digest) throw otherUndoError();
    if (dryRun || changed.length === 0) return outcome;
    const about = { callId, tool: UNDO_HUNKS.name, agent: session.caller.agent, undoOf: undone, signal };
    await session.past.log.append(fs, { ...about, rollback: "always" }, async (recording) => {
      for (const file of changed) await writeFile(recording, file);
    });
    const effects = session.observers.hashes ? outcome.changes.map(effectOf) : undefined;
    facts.tell({ what: "changed", effects, allowedBy: undefined });
    return Object.freeze({ callId, ...outcome });
  });
}

/** A change of a call with the part of it that is undone. */
interface ChosenChange {
  readonly change: HistoryChange;
  readonly part: ConfirmedPart;
}

/** Returns parts with absolute paths, which may be given as `display` of a change. */
function namedParts(
  changes: readonly HistoryChange[],
  parts: readonly ConfirmedPart[],
): readonly ConfirmedPart[] {
  const pathByName = new Map(
    changes.flatMap(({ path, display }) => [[display, path] as const, [path, path] as const]),
  );
  return parts.map((part) => ({ ...part, path: pathByName.get(part.path) ?? part.path }));
}

/** Returns the changes that parts with absolute paths name. */
function changesNamed(
  changes: readonly HistoryChange[],
  named: readonly ConfirmedPart[],
): readonly HistoryChange[] {
  return changes.filter((change) => named.some(({ path }) => path === change.path));
}

/**
 * Returns the changes of which something is undone, by parts with absolute paths.
 * @throws INVALID_ARGUMENT for hunks that the call does not have
 */
function chosenChanges(
  changes: readonly HistoryChange[],
  named: readonly ConfirmedPart[],
): readonly ChosenChange[] {
  const known = changesNamed(changes, named);
  // The history keeps no content of what was moved, so this comes before the question whether it is known.
  if (known.some((change) => change.kind === "move" || change.type !== "file"))
    throw choiceError("it has a part of a change that can only be undone with the whole call");
  const unknown = known.find((change) => contentsOf(change) === undefined);
  if (unknown !== undefined) throw changedSinceError(unknown.path);
  const problem = partsProblem(changes, named);
  if (problem !== undefined) throw choiceError(problem);
  return known.map((change) => {
    const part = named.find(({ path }) => path === change.path) as ConfirmedPart;
    if (acceptedHunks(change, part).length === 0) throw choiceError("it names a path without hunks");
    return { change, part };
  });
}

/** Composes the content of a file without the chosen hunks. @throws CONFLICT */
async function composeWithout(
  fs: Files,
  { change, part }: ChosenChange,
  found: StateBefore | undefined,
): Promise<ComposedFile> {
  const { path } = change;
  const contents = contentsOf(change);
  if (contents === undefined) throw changedSinceError(path);
  const { before, after } = contents;
  const stat = await lstatOrNull(fs, path);
  if (stat !== null && stat.type !== "file") throw changedSinceError(path);
  const now = stat === null ? null : await fs.readBytes(path);
  const isAsLeft = now === null || after === null ? now === after : equalBytes(now, after);
  if (change.whole) {
    if (!isAsLeft) throw changedSinceError(path);
    return { path, stat, now, result: before, mode: modeToRestore(found, stat) };
  }
  const encoding = commonEncodingOf(contents);
  if (now === null || encoding === undefined) throw changedSinceError(path);
  const kept = keptHunks(change, part);
  const result = await engine().onThreads.composeHunks(
    before ?? EMPTY_BYTES,
    after ?? EMPTY_BYTES,
    kept,
    encoding,
  );
  const file = { path, stat, now, mode: undefined };
  return { ...file, result: isAsLeft ? result : await merged(path, after ?? EMPTY_BYTES, now, result) };
}

/**
 * Returns the permission bits to restore; undefined for no file, and where another process has set others since, which
 * stay. @throws CONFLICT where the call had set bits itself
 */
function modeToRestore(found: StateBefore | undefined, now: FsStat | null): number | undefined {
  if (found === undefined || found.image === null) return undefined;
  const { path, image, after, leftMode } = found;
  if (isModeLost({ before: image, after: after ?? null }, now?.mode)) throw changedSinceError(path);
  const mode = leftMode ?? after?.mode;
  const left = mode === undefined ? image : { type: image.type, mode };
  return hasForeignMode({ before: image, after: left }, now?.mode) ? undefined : image.mode;
}

/** Returns the hunks of a change that stay, with the lines that stay of those of which some lines are undone. */
function keptHunks(change: HistoryChange, part: ConfirmedPart): readonly HunkChoice[] {
  const undone = new Map(acceptedHunks(change, part).map((choice) => [choice.hunk, choice]));
  return change.hunks.flatMap(({ rows }, hunk): readonly HunkChoice[] => {
    const choice = undone.get(hunk);
    if (choice === undefined) return [{ hunk }];
    if (choice.rows === undefined) return [];
    const taken = new Set(choice.rows);
    const left = [...rows.entries()].filter(([row, { kind }]) => kind !== "same" && !taken.has(row));
    return [{ hunk, rows: left.map(([row]) => row) }];
  });
}

/** The largest content that is merged. */
const MAX_MERGED_BYTES = 16 * 1024 * 1024;

/** Merges the content without the hunks into what others made of the file since. @throws CONFLICT */
async function merged(
  path: string,
  left: Uint8Array,
  now: Uint8Array,
  result: Uint8Array,
): Promise<Uint8Array> {
  if (![left, now, result].every(isMergeable)) throw changedSinceError(path);
  const { bytes, conflicts } = await engine().onThreads.merge3(left, now, result);
  if (conflicts.length > 0) throw changedSinceError(path);
  return bytes;
}

/** Returns true for UTF-8 text that is not too large. */
function isMergeable(bytes: Uint8Array): boolean {
  if (bytes.length > MAX_MERGED_BYTES || bytes.includes(0)) return false;
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

function isSame({ now, result, stat, mode }: ComposedFile): boolean {
  if (now === null || result === null) return now === result;
  return equalBytes(now, result) && (mode === undefined || stat?.mode === undefined || mode === stat.mode);
}

async function writeFile(fs: Files, { path, stat, now, result, mode }: ComposedFile): Promise<void> {
  if (result === null) await fs.delete(path, { ifVersion: stat?.version });
  else if (stat === null) await fs.writeBytes(path, result, { ifAbsent: true, createDirs: true, mode });
  else if (now !== null && equalBytes(now, result)) await fs.chmod(path, mode as number);
  else await fs.writeBytes(path, result, { ifVersion: stat.version, mode });
}

function outcomeOf(
  undone: string,
  files: readonly ComposedFile[],
  display: (path: string) => string,
): UndoneParts {
  const changes = files.map(({ path, stat, now, result, mode }) => {
    const side = (bytes: Uint8Array | null, bits: number | undefined) =>
      bytes === null ? null : { type: "file" as const, mode: bits, bytes };
    const at = { path, display: display(path) };
    return historyChange(at, side(now, stat?.mode), side(result, mode ?? stat?.mode));
  });
  const restored = changes.map((change, at) => {
    const { path, before, after } = effectOf(change);
    return [path, before, after, files[at]?.mode ?? null];
  });
  return Object.freeze({
    paths: Object.freeze(changes.map(({ display: shown }) => shown)),
    changes: Object.freeze(changes),
    digest: digestOfParts(["filewright undo 1", undone, restored]),
  });
}

function effectOf({ path, beforeHash, hash }: HistoryChange): CallEffect {
  return { path, before: beforeHash ?? null, after: hash ?? null };
}

/** Creates the error of lines that have changed since the call. */
function changedSinceError(path: string): FilewrightError {
  return new FilewrightError(
    "CONFLICT",
    "has changed since that call, in these lines or beyond recognition",
    {
      path,
      hint: "undo the later changes first, or edit the file",
    },
  );
}

function choiceError(problem: string): FilewrightError {
  return new FilewrightError("INVALID_ARGUMENT", `The choice of hunks cannot be undone: ${problem}.`, {
    complete: true,
    hint: "ws.changes lists the paths and hunks of a call",
    details: { argument: "parts" },
  });
}

/** Creates the error of an undo that would no longer be the one that was shown. */
function otherUndoError(): FilewrightError {
  return new FilewrightError("CONFLICT", "The files have changed since the undo was shown.", {
    complete: true,
    hint: "preview it again",
    details: { reason: "planned_before" },
  });
}
