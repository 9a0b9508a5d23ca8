/** The changes of past calls as the page shows them. */
import { type ConfirmedChange, confirmedChange } from "../../hooks/changed-files.ts";
import type { HistoryChange } from "../../pipeline/past/file-change.ts";
import type { Workspace } from "../../workspace/types.ts";
import { binaryLines } from "../questions/binary.ts";
import { MAX_PAGE_CHARS, rowsOfChange, shownChange, type ShownChange } from "../questions/changes.ts";
import type { LineTotals, RowsPage } from "./history-protocol.ts";
import type { ReviewedWorkspace } from "./reviewed.ts";
import type { ChangeRows } from "../protocol.ts";
import { rowsForPage } from "../secrets/hidden-rows.ts";
import { TOOL_FOR_ACCESS } from "../../schema/tool-facts.ts";

/** A past change, or the difference of two versions. */
export type PastChange = ConfirmedChange &
  Pick<HistoryChange, "unknown"> & {
    /** True when the policy does not let the path be read, so that its contents are not shown either. */
    readonly isDenied?: true;
  };

/** The part of the rows that a request is about: from a hunk of a change on, up to and including the change `last`. */
export interface RowsRange {
  readonly change: number;
  readonly from: number;
  readonly last?: number | undefined;
  /** True to have secrets shown. */
  readonly isShown: boolean;
}

/** Returns the changes of a call, without the contents of those that the policy denies. */
export async function changesOfPastCall(
  reviewed: ReviewedWorkspace,
  callId: string,
): Promise<readonly PastChange[]> {
  const changes = await reviewed.changes(callId);
  return Promise.all(changes.map((change) => withoutDenied(reviewed.workspace, change)));
}

/** The gates that stop the reading of a path, whoever reads it. */
const READING_GATES: ReadonlySet<string> = new Set(["root", "deny", "rules", "secret"]);

/** Returns true where the policy does not let one of these paths be read now. */
export async function isReadingDenied(ws: Workspace, paths: readonly string[]): Promise<boolean> {
  for (const path of paths) {
    const gates = await ws.why({ tool: TOOL_FOR_ACCESS.read, path });
    if (gates.some(({ gate, verdict }) => verdict === "stops" && READING_GATES.has(gate))) return true;
  }
  return false;
}

/** Returns the paths whose contents a change shows: of a move both. */
export function shownPathsOf({ path, from }: Pick<PastChange, "path" | "from">): readonly string[] {
  return from === undefined ? [path] : [path, from];
}

/**
 * Returns a change without its contents where the policy does not let its path be read now: the history has what was
 * written under an earlier one, and the page shows no more than an agent could read.
 */
export async function withoutDenied(ws: Workspace, change: PastChange): Promise<PastChange> {
  if (!(await isReadingDenied(ws, shownPathsOf(change)))) return change;
  const { path, display, kind, type, from, mode } = change;
  const moved = from === undefined ? {} : { from };
  const summary = { path, display, kind, type, ...moved, ...(mode === undefined ? {} : { mode }) };
  const unknown = ["before", "after"] as const;
  return Object.assign(Object.create(confirmedChange(summary)), { unknown, isDenied: true }) as PastChange;
}

/** Returns a part of the rows of past changes. `digest` names them all. */
export function pastRows(
  changes: readonly PastChange[],
  digest: string,
  { change, from, last = changes.length - 1, isShown }: RowsRange,
): RowsPage {
  const pages: ChangeRows[] = [];
  let [chars, hunk] = [0, from];
  for (let index = change; index <= last; index++) {
    const one = changes[index];
    if (one === undefined) break;
    if (chars >= MAX_PAGE_CHARS) return { pages, next: { change: index, from: hunk } };
    const page = rowsForPage(rowsOfChange(shownPastChange(one), digest, hunk), isShown);
    pages.push(page);
    if (page.next !== undefined) return { pages, next: { change: index, from: page.next } };
    chars += page.hunks.reduce((sum, { lines }) => sum + lines.length, 0);
    hunk = 0;
  }
  return { pages };
}

/** Returns a past change as it is shown. */
export function shownPastChange(change: PastChange): ShownChange {
  return shownChange(change, detailsOf(change));
}

/** Returns the numbers of changed lines; null where a content is not known. */
export function lineTotalsOf(changes: readonly PastChange[]): LineTotals | null {
  let [added, removed] = [0, 0];
  for (const change of changes) {
    if (change.unknown !== undefined) return null;
    const { summary } = shownPastChange(change);
    added += summary.added;
    removed += summary.removed;
  }
  return { added, removed };
}

/** Returns lines about what has no hunks: contents that are not known, or not text. */
function detailsOf({ binary, unknown = [], isDenied }: PastChange): readonly string[] {
  if (isDenied === true) return ["The policy does not let its content be read."];
  const lines = unknown.map((side) => `The content ${side} the change is not known any more.`);
  return [...lines, ...binaryLines(binary)];
}
