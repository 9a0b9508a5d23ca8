/**
 * The guard that requires a read before a write: an agent may only replace or remove content that
 * it has seen in its current state. Content decides, not times: a touched file is no conflict, but
 * a file that another program rewrote is one. At level `warn` the change is made, and the answer
 * names the unseen content.
 *
 * An edit requires the lines that it changes. A change that replaces a whole file requires all of its
 * lines. A deletion requires a listing, and where the history keeps what it removes, nothing; what was read must be current.
 *
 * This file finds out what was not seen; the source `guard` of the decision refuses by it.
 */
import type { FsStat } from "../backends/backend.ts";
import type { DecisionSource, Location } from "../policy/index.ts";
import { lstatOrNull, hashOf } from "../backends/fallback/fallback.ts";
import { walkTree } from "../backends/fallback/walk-tree.ts";
import { engine } from "../engine/current.ts";
import { type ReplacedRange, replacedRanges } from "../engine/text/diff.ts";
import { FilewrightError } from "../engine/errors.ts";
import { MIN_THREAD_BYTES } from "../engine/threads.ts";
import { statOrNull } from "../tools/lib/contents.ts";
import type { Change, Put } from "../tools/change/change.ts";
import { type ChangingPlan, carryOut } from "../tools/change/make.ts";
import type { Answer, Call, Proposal } from "../tools/lib/tool.ts";
import { rangesAfterChange, type LineRange, coverReplacedLines } from "../tools/lib/line-ranges.ts";
import { escapeControls } from "../engine/escape.ts";
import {
  assertFileSeen,
  assertKnownForDeletion,
  bringInReads,
  partialReadError,
  seenLinesOfCurrentContent,
} from "./past/unseen.ts";
import type { AskedChange } from "./review.ts";
import { decideStep } from "./sources.ts";

/** A change that the guard checks. */
interface GuardedChange extends AskedChange {
  /** The source that decides by the findings of the guard. */
  readonly admitted: { readonly sources: readonly DecisionSource[] };
}

/** The lines of each partly edited file that were seen before, at their numbers after the edit. */
type SeenLinesByPath = ReadonlyMap<string, readonly LineRange[]>;

/**
 * Applies a plan. At level `refuse` only seen content may change; at level `warn` the answer warns of
 * unseen content. The written content is recorded as seen.
 * @throws FilewrightError CONFLICT when content would be lost that was not seen or has changed since
 */
export async function applyGuarded(change: GuardedChange, plan: ChangingPlan): Promise<Answer<unknown>> {
  const { call } = change;
  const { guard: level } = change.session.gates;
  if (level === "off") return carryOut(plan, call);
  const { lines, unseen } = await checkBeforeChange(change, plan);
  if (unseen !== undefined) decideAboutUnseen(change, unseen);
  const answer = await carryOut(plan, call);
  // The change is made. What cannot be noted counts as unseen, so that it is to be read before the next change.
  if (plan.kind === "changes")
    await noteMadeAsSeen(change, plan, lines, level === "refuse").catch(() => undefined);
  if (unseen === undefined) return answer;
  return { ...answer, warnings: [...(answer.warnings ?? []), guardWarningOf(unseen, call)] };
}

/**
 * Refuses a planned change by the guard before somebody is asked about it: a change that would be refused needs no
 * approval.
 * @throws FilewrightError CONFLICT
 */
export async function assertSeen(change: GuardedChange, plan: ChangingPlan): Promise<void> {
  if (change.session.gates.guard !== "refuse") return;
  const { unseen } = await checkBeforeChange(change, plan);
  if (unseen !== undefined) decideAboutUnseen(change, unseen);
}

/** Lets the sources decide about a change of unseen content. @throws FilewrightError CONFLICT */
function decideAboutUnseen({ admitted, tool, args }: GuardedChange, unseen: FilewrightError): void {
  decideStep(admitted.sources, { tool: tool.name, args, unseen }, { step: "content" });
}

/** Returns the lines that are known after a change, and the refusal of a change of unseen content. */
async function checkBeforeChange(
  change: GuardedChange,
  plan: ChangingPlan,
): Promise<{ readonly lines: SeenLinesByPath; readonly unseen?: FilewrightError }> {
  if (plan.kind === "act") return { lines: NO_LINES };
  try {
    return { lines: await seenLinesAfterChange(change, plan) };
  } catch (error) {
    if (!(error instanceof FilewrightError) || error.code === "CANCELLED") throw error;
    if (isGuardRefusal(error)) return { lines: await writtenLinesByPath(plan), unseen: error };
    // A warning must not fail the change, so another error of its check is dropped.
    if (change.session.gates.guard === "warn") return { lines: await writtenLinesByPath(plan) };
    throw error;
  }
}

const NO_LINES: SeenLinesByPath = new Map();

/** Returns the lines that a change writes in each file that it edits, for files that the agent has not read. */
async function writtenLinesByPath(plan: Proposal<unknown>): Promise<SeenLinesByPath> {
  const lines = new Map<string, readonly LineRange[]>();
  for (const change of plan.changes) {
    const edit = editOf(change, plan);
    if (edit !== undefined) lines.set(change.path, rangesAfterChange([], await replacedBy(edit)));
  }
  return lines;
}

/**
 * Returns the facts about a file by which its write was planned, null for no file. The write is made only while the file is
 * in this state. Undefined where it has no such condition.
 */
function foundBy(change: Change | undefined): FsStat | null | undefined {
  if (change?.do !== "put") return undefined;
  if (change.was === null) return null;
  const { version, stat } = change.was;
  // Without versions, the facts may be older than the content.
  return version !== undefined && stat?.version === version ? stat : undefined;
}

/** The change of a part of a file. */
interface Edit {
  readonly change: Put;
  readonly before: Uint8Array;
  readonly after: Uint8Array;
  /** True when the old text of the edit occurs exactly once, as it was sent. */
  readonly isQuoted: boolean;
}

/** Returns the edit of a file of which only the changed lines must have been read; undefined for another change. */
function editOf(change: Change | undefined, { by }: Proposal<unknown>): Edit | undefined {
  if (change?.do !== "put" || by === "reviewer") return undefined;
  const { was, now, needs } = change;
  const before = was?.bytes ?? null;
  if (before === null || (needs !== "lines" && needs !== "quoted")) return undefined;
  return { change, before, after: now.bytes, isQuoted: needs === "quoted" };
}

function guardWarningOf({ path, details = {} }: FilewrightError, { reader: { display } }: Call): string {
  const inside = details["file"];
  const file = escapeControls(typeof inside === "string" ? inside : display(path ?? ""));
  switch (details["reason"]) {
    case "changed_since_read": {
      const how = typeof details["changed"] === "string" ? `: ${details["changed"]}` : "";
      return `${file} had changed since you read it${how}; read it again`;
    }
    case "partial_read":
      return `${file}: lines that you had not read were changed`;
    default:
      return `${file} was changed without having been read before`;
  }
}

/**
 * Returns the lines that are known after a change.
 * @throws FilewrightError CONFLICT when content would be lost that was not seen or has changed since
 */
async function seenLinesAfterChange(
  change: GuardedChange,
  plan: Proposal<unknown>,
): Promise<SeenLinesByPath> {
  const { args, call } = change;
  const after = new Map<string, readonly LineRange[]>();
  if (plan.of === "entries") {
    for (const one of plan.changes) await assertEntriesSeen(change, one);
    return after;
  }
  // Where a tool changes parts of files, the contents that a reviewer wrote instead are not checked.
  if (plan.by === "reviewer" && change.tool.traits.includes("edits")) return after;
  for (const [at, written] of filesWrittenBy(change, plan)) {
    const edit = editOf(written, plan);
    if (edit !== undefined) await assertLinesSeen(call, at, edit, after);
    else if (written?.do === "remove" && !written.isMoved) await assertKnownForDeletion(call, at, at.path);
    else {
      const check = { isWhole: declaresWholeFile(args), found: foundBy(written) };
      await assertFileSeen(call, at, at.path, check);
    }
  }
  return after;
}

/** Checks what the change of an entry removes or replaces: it concerns the paths of the call as they are. */
async function assertEntriesSeen({ session, call }: GuardedChange, change: Change): Promise<void> {
  const [first, second] = call.locations as readonly [Location, Location];
  if (change.do === "remove") await assertDeletable(session, call, first);
  if (change.do === "copy" || change.do === "move")
    await assertDestinationSeen(call, change.do === "copy", first, second);
}

/** Checks what a copy or a move replaces. */
async function assertDestinationSeen(
  call: Call,
  isCopy: boolean,
  from: Location,
  to: Location,
): Promise<void> {
  const target = await lstatOrNull(call.fs, to.path);
  if (isCopy && target?.type === "symlink") await assertReplacedFileSeen(call, from, to);
  else if (target?.isDir !== true) await assertFileSeen(call, to, to.path, { entry: true });
  else if (isCopy) await assertTreeSeen(call, to, from.path, to.path);
}

/**
 * Checks the destination of a copy that is a link: the copy writes through it and replaces the content
 * of its target.
 */
async function assertReplacedFileSeen(call: Call, from: Location, to: Location): Promise<void> {
  if ((await statOrNull(call.fs, from.path))?.isFile !== true) return;
  const isNamed = call.seen.recall(to.path) !== undefined;
  await assertFileSeen(call, to, isNamed ? to.path : await call.fs.realpath(to.path), {});
}

/** Returns true when the call declares that it replaces the whole file. */
function declaresWholeFile(args: object): boolean {
  return (args as { readonly whole_file?: unknown }).whole_file === true;
}

/**
 * Returns the files whose content the tool itself writes or removes, each with its change; undefined for one that is
 * named and stays as it is. Of a reviewer's selection these are not known, because he may have left them out.
 */
function filesWrittenBy(
  { uses, call: { locations } }: Pick<GuardedChange, "uses" | "call">,
  plan: Proposal<unknown>,
): readonly (readonly [at: Location, change: Change | undefined])[] {
  const byPath = new Map<string, Change>();
  for (const change of plan.changes) byPath.set(change.path, change);
  const written: (readonly [Location, Change | undefined])[] = [];
  for (const [index, at] of locations.entries()) {
    const change = byPath.get(at.path);
    if (uses[index]?.intent !== "write" || (change === undefined && plan.by === "selection")) continue;
    if (change?.do !== "put" || change.needs !== "nothing") written.push([at, change]);
  }
  return written;
}

/**
 * Checks an entry that is deleted: the file, or all files of the directory. Where the history keeps them, only what the
 * agent has read must not have changed since, because the agent decided by the old content.
 */
async function assertDeletable({ past }: GuardedChange["session"], call: Call, at: Location): Promise<void> {
  if (past.log.largestUndo !== undefined) {
    for (const path of call.seen.below(at.path)) await assertKnownForDeletion(call, at, path);
    return;
  }
  if ((await lstatOrNull(call.fs, at.path))?.isDir !== true) return assertKnownForDeletion(call, at, at.path);
  await call.seen.refresh?.(at.path, true);
  for await (const entry of walkTree(call.fs, at.path, call.signal))
    if (!entry.isDir) await assertKnownForDeletion(call, at, entry.path);
}

/** Checks the files below `to` that correspond to files below `from`. */
async function assertTreeSeen(call: Call, at: Location, from: string, to: string): Promise<void> {
  await call.seen.refresh?.(to, true);
  for await (const entry of walkTree(call.fs, from, call.signal)) {
    if (entry.isDir) continue;
    await assertFileSeen(call, at, `${to}${entry.path.slice(from.length)}`, { entry: true });
  }
}

/** Refuses the change of lines that the agent has not read. @throws FilewrightError CONFLICT */
async function assertLinesSeen(
  call: Call,
  at: Location,
  edit: Edit,
  after: Map<string, readonly LineRange[]>,
): Promise<void> {
  const stat = foundBy(edit.change) ?? (await statOrNull(call.fs, at.path));
  if (stat === null || !stat.isFile) return;
  await bringInReads(call, at.path, stat);
  if (call.settings.acceptsQuotes && edit.isQuoted && call.seen.recall(at.path) === undefined) {
    after.set(at.path, rangesAfterChange([], await replacedBy(edit)));
    return;
  }
  const lines = await seenLinesOfCurrentContent(call, at, at.path, stat);
  // The caller has seen all lines.
  if (lines === undefined) return;
  const replaced = await replacedBy(edit);
  if (!coverReplacedLines(lines, replaced))
    throw partialReadError(call, at, at.path, { why: "lines that the edit changes were not read" });
  after.set(at.path, rangesAfterChange(lines, replaced));
}

/** Returns the lines that an edit replaces: by the diff of its tool, or by one of their own. */
async function replacedBy({ change, before, after }: Edit): Promise<readonly ReplacedRange[]> {
  const { diff: known } = change.now;
  if (known !== undefined) return replacedRanges(known.hunks);
  const isLarge = before.length + after.length >= MIN_THREAD_BYTES;
  const diff = engine()[isLarge ? "diffAsync" : "diff"];
  return (await diff(before, after, { context: 0 })).hunks;
}

/** Returns true for a refusal by the guard, which a new plan would not avoid. */
export function isGuardRefusal(error: unknown): boolean {
  const reason = error instanceof FilewrightError ? error.details?.["reason"] : undefined;
  return reason === "not_read" || reason === "changed_since_read" || reason === "partial_read";
}

/**
 * Records written content as seen, and moves the records of moved files. `copies` also records the
 * files of a copied directory.
 */
async function noteMadeAsSeen(
  change: GuardedChange,
  plan: Proposal<unknown>,
  lines: SeenLinesByPath,
  copies: boolean,
): Promise<void> {
  const { call } = change;
  if (plan.of === "entries") {
    for (const one of plan.changes) await noteEntriesAsSeen(call, one, copies);
    return;
  }
  const { seen } = call;
  for (const [{ path }] of filesWrittenBy(change, plan)) {
    const part = lines.get(path);
    const noted = seen.recall(path);
    if (noted?.hash === undefined) await noteFileAsSeen(call, path, part);
    else if (part !== undefined) {
      // The old record is removed first: `note` would add the lines to it, and the tool has recorded all lines.
      seen.note(path, undefined);
      seen.note(path, noted.version, noted.hash, part);
    }
  }
}

/** Moves or removes the records of reads with the entries that a change moved or removed. */
async function noteEntriesAsSeen(call: Call, change: Change, copies: boolean): Promise<void> {
  const [first, second] = call.locations as readonly [Location, Location];
  if (change.do === "remove") forgetReadsBelow(call, first.path);
  if (change.do === "move") await moveReads(call, first.path, second.path);
  if (change.do === "copy") await noteCopyAsSeen(call, first.path, second.path, copies);
}

/** Moves the records of reads of a moved tree. */
async function moveReads(call: Call, from: string, to: string): Promise<void> {
  const { seen } = call;
  forgetReadsBelow(call, to);
  await seen.refresh?.(from, true);
  for (const path of seen.below(from)) {
    const file = seen.recall(path);
    seen.note(path, undefined);
    if (file === undefined) continue;
    seen.note(`${to}${path.slice(from.length)}`, file.version, file.hash, file.lines);
  }
}

/** Records a copied file as seen, and with `copies` the files of a copied directory. */
async function noteCopyAsSeen(call: Call, from: string, to: string, copies: boolean): Promise<void> {
  const made = await lstatOrNull(call.fs, to);
  if (made?.isFile === true) await noteFileAsSeen(call, to, undefined);
  else if (copies && made?.isDir === true) await noteCopiesAsSeen(call, from, to);
}

/** Removes the records of reads of everything below a path. */
function forgetReadsBelow({ seen }: Call, top: string): void {
  for (const path of seen.below(top)) seen.note(path, undefined);
}

async function noteFileAsSeen(
  call: Call,
  path: string,
  lines: readonly LineRange[] | undefined,
): Promise<void> {
  const stat = await statOrNull(call.fs, path);
  call.seen.note(path, undefined);
  if (stat?.isFile === true)
    // The change is made: a call that is cancelled by now must not fail.
    call.seen.note(path, stat.version, await hashOf(call.fs, path, undefined), lines);
}

/** The maximum number of copied files that are recorded as read. Further copies count as unread. */
const MAX_NOTED_COPIES = 2000;

async function noteCopiesAsSeen(call: Call, from: string, to: string): Promise<void> {
  let noted = 0;
  for await (const entry of walkTree(call.fs, from)) {
    if (entry.type !== "file") continue;
    if (noted === MAX_NOTED_COPIES) return;
    noted += 1;
    const path = `${to}${entry.path.slice(from.length)}`;
    const made = await lstatOrNull(call.fs, path);
    if (made?.version !== undefined) call.seen.note(path, made.version);
  }
}
