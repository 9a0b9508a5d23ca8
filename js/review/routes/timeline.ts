/** The requests about the past: the calls and marks, what a call changed, marks, and undo. */
import { FilewrightError } from "../../engine/errors.ts";
import { list, type Options, optionReader, options, required, text } from "../../schema/option.ts";
import type { LineTotals } from "../past/history-protocol.ts";
import {
  changesOfPastCall,
  isReadingDenied,
  lineTotalsOf,
  type PastChange,
  pastRows,
  shownPathsOf,
} from "../past/past-changes.ts";
import type { CountedCall } from "../past/reviewed.ts";
import { bodyOf, json, refusal, type ReviewRoute, type RouteRequest } from "./route.ts";
import { attached, rowsRangeOf } from "./workspace.ts";

/** The body of `POST marks`. */
const NEW_MARK: Options<{ readonly name: string }> = options("NewMark", { name: required(text()) });
const readMark = optionReader(NEW_MARK);

/** The body of `POST history/keep`. */
const KEEP: Options<{ readonly calls: readonly string[] }> = options("KeptCalls", {
  calls: required(list(text(), { minItems: 1 })),
});
const readKeep = optionReader(KEEP);

/** The requests about the past. */
export const TIMELINE_ROUTES: readonly ReviewRoute[] = [
  { method: "GET", path: /^history$/u, role: "watch", run: listPast },
  { method: "GET", path: /^history\/counts$/u, role: "watch", run: countLines },
  { method: "GET", path: /^history\/unreviewed$/u, role: "watch", run: listUnreviewed },
  { method: "POST", path: /^history\/keep$/u, role: "answer", run: keep },
  { method: "GET", path: /^history\/([^/]+)\/rows$/u, role: "watch", run: rowsOfCall },
  { method: "POST", path: /^marks$/u, role: "manage", run: makeMark },
];

async function listPast(request: RouteRequest): Promise<Response> {
  const { workspace: ws } = attached(request);
  const [entries, marks, { calls, ...forgotten }] = await Promise.all([
    ws.history({ unrecorded: true }),
    ws.marks(),
    ws.unreviewed(),
  ]);
  // The facts that the history keeps itself are the same.
  const named = entries.map((entry) => ({ ...request.hub.peopleOf(entry.callId), ...entry }));
  return json(200, { entries: named, marks, unreviewed: calls.map(({ callId }) => callId), ...forgotten });
}

async function listUnreviewed(request: RouteRequest): Promise<Response> {
  return json(200, await attached(request).workspace.unreviewed());
}

async function keep(request: RouteRequest): Promise<Response> {
  const { workspace: ws } = attached(request);
  const wanted = readKeep(await bodyOf(request.request));
  if (wanted === undefined) return refusal(400, "a list of calls is kept");
  return json(200, { kept: await ws.keep(wanted.calls, { by: request.login.by }) });
}

/** The maximum number of calls whose lines are counted in one request, and the time after which it ends. */
const MAX_COUNTED_CALLS = 60;
const MAX_COUNT_MS = 200;

async function countLines(request: RouteRequest): Promise<Response> {
  const reviewed = attached(request);
  const { workspace: ws } = reviewed;
  const ids = (request.url.searchParams.get("ids") ?? "").split(",").slice(0, MAX_COUNTED_CALLS);
  const counts: Record<string, LineTotals | null> = {};
  const end = performance.now() + MAX_COUNT_MS;
  // The policy may have changed since the lines were counted, so each request asks it, once for each path.
  const denials = new Map<string, boolean>();
  const isDenied = async (paths: readonly string[]): Promise<boolean> => {
    for (const path of paths) {
      const denial = denials.get(path) ?? (await isReadingDenied(ws, [path]));
      denials.set(path, denial);
      if (denial) return true;
    }
    return false;
  };
  for (const id of ids) {
    if (performance.now() > end) break;
    const counted = reviewed.counts.get(id);
    const call = counted ?? (await ws.changes(id).then(countedCall, nullIfUnknown));
    const isShown = call !== null && call.totals !== null && !(await isDenied(call.paths));
    counts[id] = isShown ? call.totals : null;
    if (counted !== undefined || call === null || call.totals === null) continue;
    reviewed.keepCounted(id, call);
  }
  return json(200, { counts });
}

function countedCall(changes: readonly PastChange[]): CountedCall {
  return { totals: lineTotalsOf(changes), paths: changes.flatMap(shownPathsOf) };
}

/** Returns null for the error of a call that is not in the history, or cannot be undone. @throws any other error */
function nullIfUnknown(error: unknown): null {
  if (error instanceof FilewrightError) return null;
  throw error;
}

async function rowsOfCall(request: RouteRequest): Promise<Response> {
  const reviewed = attached(request);
  const range = rowsRangeOf(request);
  if (range === undefined) return refusal(400, "the part of the rows is no number");
  const [callId = ""] = request.captures;
  return json(200, pastRows(await changesOfPastCall(reviewed, callId), callId, range));
}

async function makeMark(request: RouteRequest): Promise<Response> {
  const { workspace: ws } = attached(request);
  const mark = readMark(await bodyOf(request.request));
  if (mark === undefined) return refusal(400, "a mark has a name");
  const made = await ws.mark(mark.name);
  request.hub.noteHistory();
  return json(200, made);
}
