/** The requests that undo a past call, or some of its hunks. */
import { FilewrightError } from "../../engine/errors.ts";
import type { ConfirmedPart } from "../../hooks/changed-files.ts";
import type { HistoryEntry } from "../../tools/lib/history-entry.ts";
import { flag, type Options, optionReader, options, text } from "../../schema/option.ts";
import type { Workspace } from "../../workspace/types.ts";
import type { UndoAnswer, UndoRequest, UnfitHunks } from "../past/history-protocol.ts";
import { changesOfPastCall } from "../past/past-changes.ts";
import type { ReviewedWorkspace } from "../past/reviewed.ts";
import type { ChosenHunks } from "../protocol.ts";
import { confirmedParts } from "../questions/changes.ts";
import { CHOSEN_PARTS } from "./questions.ts";
import { bodyOf, json, refusal, type ReviewRoute, type RouteRequest } from "./route.ts";
import { attached } from "./workspace.ts";

/** The body of `POST history/ID/undo`. */
const UNDO_REQUEST: Options<UndoRequest> = options("UndoRequest", {
  parts: CHOSEN_PARTS,
  dryRun: flag(),
  digest: text(),
});
const readUndo = optionReader(UNDO_REQUEST);

export const UNDO_ROUTES: readonly ReviewRoute[] = [
  { method: "POST", path: /^history\/([^/]+)\/undo$/u, role: "manage", run: undoCall },
];

async function undoCall(request: RouteRequest): Promise<Response> {
  const reviewed = attached(request);
  const { workspace: ws } = reviewed;
  const [callId = ""] = request.captures;
  const wanted = readUndo(await bodyOf(request.request));
  if (wanted === undefined) return refusal(400, "an undo has parts with a digest, or no members");
  const { parts, ...more } = wanted;
  if (parts !== undefined) return undoParts(request, reviewed, callId, { ...more, parts });
  if (more.dryRun !== undefined || more.digest !== undefined)
    return refusal(400, "only an undo of parts has a preview");
  try {
    const undone = await ws.undo(callId, { by: request.login.by });
    noteUndo(request, reviewed);
    return json(200, undone);
  } catch (error) {
    return conflictResponse(ws, callId, error);
  }
}

async function undoParts(
  request: RouteRequest,
  reviewed: ReviewedWorkspace,
  callId: string,
  { parts: chosen, dryRun = false, digest }: UndoRequest & { readonly parts: readonly ChosenHunks[] },
): Promise<Response> {
  const { workspace: ws } = reviewed;
  const parts = confirmedParts({ changes: await changesOfPastCall(reviewed, callId) }, chosen);
  if (parts === undefined || parts.length === 0)
    return refusal(400, "the chosen hunks are not those of the call");
  if (!dryRun && digest === undefined)
    return refusal(400, "an undo of parts repeats the digest of its preview");
  try {
    if (dryRun) {
      const preview = await ws.undo(callId, { parts, dryRun });
      reviewed.keepPreview(preview);
      return json(200, answerOf(preview));
    }
    const undone = await ws.undo(callId, { parts, digest, by: request.login.by });
    noteUndo(request, reviewed);
    return json(200, answerOf(undone));
  } catch (error) {
    return conflictResponse(ws, callId, error, parts);
  }
}

function answerOf({ callId, paths, digest }: UndoAnswer): UndoAnswer {
  return { ...(callId === undefined ? {} : { callId }), paths, ...(digest === undefined ? {} : { digest }) };
}

function noteUndo({ hub }: RouteRequest, reviewed: ReviewedWorkspace): void {
  reviewed.forgetChanges();
  hub.noteHistory();
}

/**
 * Returns the response for an undo that conflicts with later changes of the files: it lists the later calls and the
 * hunks that conflict. @throws `error` when it is no conflict
 */
async function conflictResponse(
  ws: Workspace,
  callId: string,
  error: unknown,
  parts: readonly ConfirmedPart[] = [],
): Promise<Response> {
  if (!(error instanceof FilewrightError) || error.code !== "CONFLICT") throw error;
  const { code, hint, details } = error;
  const isPreviewOutdated = details?.["reason"] === "planned_before";
  const message = isPreviewOutdated ? "The files have changed since this preview." : error.message;
  const later = laterCalls(await ws.history({ unrecorded: true }), callId);
  const unfit = await unfitHunks(ws, callId, parts);
  return json(409, { error: message, code, ...(hint === undefined ? {} : { hint }), later, unfit });
}

/** The maximum number of hunks that are tried after a conflict, because each of them plans an undo. */
const MAX_TRIED_HUNKS = 100;

/**
 * Returns the hunks that conflict even when each is undone alone, because their lines have changed since the call. After
 * {@link MAX_TRIED_HUNKS} hunks no more are tried, so the list may be incomplete.
 */
async function unfitHunks(
  ws: Workspace,
  callId: string,
  parts: readonly ConfirmedPart[],
): Promise<readonly UnfitHunks[]> {
  if (parts.length === 0) return [];
  // The changes are read again, because contents that were known when the hunks were chosen may be unknown by now.
  const changes = new Map((await ws.changes(callId)).map((change) => [change.path, change]));
  const unfit: UnfitHunks[] = [];
  let tried = 0;
  for (const part of parts) {
    const { path } = part;
    const change = changes.get(path);
    // After another program has replaced the content of a file, the content that the call wrote is not known. Then every
    // hunk of the file conflicts, and a list of all of them would not help to choose others.
    if (change === undefined || change.unknown !== undefined) continue;
    const numbers: number[] = [];
    for (const alone of change.whole ? [part] : separateHunks(part)) {
      if (++tried > MAX_TRIED_HUNKS) break;
      if (!(await fits(ws, callId, alone))) numbers.push(...numbersOf(alone));
    }
    if (numbers.length > 0) unfit.push({ path: change.display, hunks: numbers });
  }
  return unfit;
}

/** Returns a part for each hunk, or for the lines of one. A change that can only be undone as a whole has no such parts. */
function separateHunks({ path, hunks, lines = [] }: ConfirmedPart): readonly ConfirmedPart[] {
  return [
    ...hunks.map((hunk) => ({ path, hunks: [hunk] })),
    ...lines.map((one) => ({ path, hunks: [], lines: [one] })),
  ];
}

/** Returns the numbers of the hunks of a part, also of those of which it has only lines. */
function numbersOf({ hunks, lines = [] }: ConfirmedPart): readonly number[] {
  return [...hunks, ...lines.map(({ hunk }) => hunk)];
}

/** Returns false when an undo of this part alone conflicts with later changes. */
async function fits(ws: Workspace, callId: string, part: ConfirmedPart): Promise<boolean> {
  try {
    await ws.undo(callId, { parts: [part], dryRun: true });
    return true;
  } catch (error) {
    if (error instanceof FilewrightError) return error.code !== "CONFLICT";
    throw error;
  }
}

/** Returns the calls that were made after a call and changed the same paths. `entries` has the newest call first. */
function laterCalls(entries: readonly HistoryEntry[], callId: string): readonly HistoryEntry[] {
  const index = entries.findIndex((entry) => entry.callId === callId);
  const paths = entries[index]?.paths ?? [];
  return entries.slice(0, Math.max(index, 0)).filter((entry) => entry.paths.some(touches(paths)));
}

/** Returns a function that is true for a path that is one of these, or above or below one. */
function touches(paths: readonly string[]): (path: string) => boolean {
  return (path) =>
    paths.some((one) => one === path || one.startsWith(`${path}/`) || path.startsWith(`${one}/`));
}
