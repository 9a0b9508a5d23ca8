/**
 * The requests about ways back: previews of a rewind, the rewind that was previewed, and versions of a file.
 *
 * A version of a file is restored by a rewind of that file alone to the state before the call that changed it next. So
 * its bytes come from the journal as they were, whatever their encoding is; the policy, rules and hooks apply, and the
 * restoration is one change in the history that can be undone.
 */
import { Yielder } from "../../engine/yielder.ts";
import type { PendingApproval } from "../../hooks/queue/summary.ts";
import { flag, list, type Options, optionReader, options, required, text } from "../../schema/option.ts";
import type { Workspace } from "../../workspace/types.ts";
import type { Rewound } from "../../workspace/rewind/rewind.ts";
import type { RewindAnswer, RewindChange, RewindRequest } from "../past/history-protocol.ts";
import type { ReviewHub } from "../hub.ts";
import { compareVersions } from "../past/file-versions.ts";
import { pastRows, shownPastChange, withoutDenied } from "../past/past-changes.ts";
import type { Preview } from "../past/reviewed.ts";
import { bodyOf, json, refusal, type ReviewRoute, type RouteRequest } from "./route.ts";
import { attached, rowsRangeOf } from "./workspace.ts";
import { REWIND as REWIND_CALL } from "../../tools/host-calls.ts";

/** The body of `POST rewind`. */
const REWIND: Options<RewindRequest> = options("RewindRequest", {
  to: required(text()),
  paths: list(text()),
  agent: text(),
  dryRun: flag(),
  digest: text(),
});
const readRewind = optionReader(REWIND);

/** The requests about ways back. */
export const REWIND_ROUTES: readonly ReviewRoute[] = [
  { method: "POST", path: /^rewind$/u, role: "manage", run: rewind },
  { method: "GET", path: /^previews\/rows$/u, role: "manage", run: rowsOfPreview },
  { method: "GET", path: /^files\/compare$/u, role: "watch", run: compare },
];

async function rewind(request: RouteRequest): Promise<Response> {
  const reviewed = attached(request);
  const { workspace: ws } = reviewed;
  const { hub, login } = request;
  const wanted = readRewind(await bodyOf(request.request));
  if (wanted === undefined) return refusal(400, "a rewind has a place, and nothing that is unknown");
  const { to, paths, agent, dryRun = false, digest } = wanted;
  const chosen = { paths, agent };
  if (dryRun) {
    const preview = await ws.rewind(to, { ...chosen, dryRun: true });
    reviewed.keepPreview(preview);
    return json(200, await toAnswer(ws, preview));
  }
  if (digest === undefined) return refusal(400, "a rewind repeats the digest of its preview");
  const shown = reviewed.previews.get(digest);
  const stop = shown === undefined ? () => {} : allowShown(hub, shown, login.by);
  try {
    const done = await ws.rewind(to, { ...chosen, digest, by: login.by });
    return json(200, await toAnswer(ws, done));
  } finally {
    stop();
    reviewed.forgetChanges();
    hub.noteHistory();
  }
}

/**
 * Answers the question about a rewind in the name of the person who has seen its preview and wants it, once: the same
 * changes need no second look by the same person. Returns a function that ends it. Whoever else is asked still decides.
 */
function allowShown(hub: ReviewHub, { changes }: Preview, by: string): () => void {
  const keyOf = (list: Preview["changes"] | PlainChanges): string =>
    JSON.stringify(list.map(({ path, kind, from, hash, mode }) => [path, kind, from, hash, mode]));
  const wanted = keyOf(changes);
  const asked = new Set(hub.queue.pending().map(({ id }) => id));
  let isDone = false;
  const answer = (): void => {
    const question = hub.queue
      .pending()
      .find(
        (one) =>
          !asked.has(one.id) &&
          one.kind === "change" &&
          one.details.tool === REWIND_CALL.name &&
          keyOf(one.details.changes) === wanted,
      );
    if (isDone || question?.kind !== "change") return;
    isDone = true;
    const { digest } = question.details;
    hub.queue.answer(question.id, { outcome: "proceed_once", payload: { by, digest } });
  };
  // Afterwards, so that every page hears first that it was asked.
  return hub.watch(({ type }) => void (type === "asked" && queueMicrotask(answer)));
}

type PlainChanges = (PendingApproval & { readonly kind: "change" })["details"]["changes"];

async function toAnswer(ws: Workspace, rewound: Rewound): Promise<RewindAnswer> {
  const { callId, calls, left, unrecorded, digest } = rewound;
  const changes: RewindChange[] = [];
  const yielder = new Yielder({});
  for (const change of rewound.changes) {
    await yielder.yieldIfDue();
    const { summary } = shownPastChange(await withoutDenied(ws, change));
    changes.push({ ...summary, display: change.display });
  }
  return {
    ...(callId === undefined ? {} : { callId }),
    calls: calls.length,
    changes,
    left: left.map(({ path, why, reason }) => ({ path, why, canChoose: reason === "changed" })),
    unrecorded,
    digest,
  };
}

async function rowsOfPreview(request: RouteRequest): Promise<Response> {
  const reviewed = attached(request);
  const range = rowsRangeOf(request);
  if (range === undefined) return refusal(400, "the part of the rows is no number");
  const digest = request.url.searchParams.get("digest") ?? "";
  const preview = reviewed.previews.get(digest);
  if (preview === undefined) return refusal(404, "this preview is not kept any more; look again");
  const shown = await Promise.all(preview.changes.map((change) => withoutDenied(reviewed.workspace, change)));
  return json(200, pastRows(shown, digest, range));
}

async function compare(request: RouteRequest): Promise<Response> {
  const reviewed = attached(request);
  const { searchParams } = request.url;
  const range = rowsRangeOf(request);
  if (range === undefined) return refusal(400, "the part of the rows is no number");
  const [path, before, after] = ["path", "before", "after"].map((name) => searchParams.get(name) ?? "");
  if (!path || !before || !after) return refusal(400, "a comparison has a path and two versions");
  return json(
    200,
    pastRows([await compareVersions(reviewed, path, before, after)], `${before} ${after}`, range),
  );
}
