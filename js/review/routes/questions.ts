/** The requests about what waits: the state of the page, its events, the rows of a change, and answers. */
import {
  anyText,
  choice,
  flag,
  integer,
  list,
  type OptionalOption,
  type Options,
  optionReader,
  options,
  required,
} from "../../schema/option.ts";
import { eventStream } from "../event-stream.ts";
import type { ReviewHub } from "../hub.ts";
import { asksForSecrets, rowsForPage } from "../secrets/hidden-rows.ts";
import { changeContentsOf, type PendingApproval } from "../../hooks/queue/summary.ts";
import type { ApprovalScope } from "../../hooks/scope/scope.ts";
import type {
  ChangeSide,
  ChosenHunks,
  ChosenLines,
  EditedContent,
  ReviewAnswer,
  TakenAnswer,
} from "../protocol.ts";
import { bodyOf, json, refusal, type ReviewRoute, roleIncludes, type RouteRequest } from "./route.ts";
import { GRANT_CHOICE, WIDER_CHOICE } from "./scopes.ts";

/** The chosen parts of the changes of a question, or of a past call. */
export const CHOSEN_PARTS: OptionalOption<readonly ChosenHunks[]> = list(
  options<ChosenHunks>("ChosenHunks", {
    change: required(integer(0)),
    hunks: required(list(integer(0))),
    lines: list(
      options<ChosenLines>("ChosenLines", {
        hunk: required(integer(0)),
        rows: required(list(integer(0), { minItems: 1 })),
      }),
    ),
  }),
);

/** The members of an answer. */
const REVIEW_ANSWER: Options<ReviewAnswer> = options("ReviewAnswer", {
  outcome: required(choice("allow", "allow_parts", "refuse", "look_again")),
  digest: anyText(),
  parts: CHOSEN_PARTS,
  edits: list(
    options<EditedContent>("EditedContent", { change: required(integer(0)), text: required(anyText()) }),
  ),
  asksAgain: flag(),
  reason: anyText(),
  wider: WIDER_CHOICE,
  grant: GRANT_CHOICE,
});
const readAnswer = optionReader(REVIEW_ANSWER);

/** The requests about what waits. */
export const QUESTION_ROUTES: readonly ReviewRoute[] = [
  {
    method: "GET",
    path: /^state$/u,
    role: "watch",
    run: ({ hub, login }) => json(200, hub.snapshot(login)),
  },
  {
    method: "GET",
    path: /^events$/u,
    role: "watch",
    run: ({ hub, request, url }) => eventStream(hub, request, url.searchParams.get("after")),
  },
  {
    method: "GET",
    path: /^approvals\/([^/]+)\/changes\/(\d{1,6})$/u,
    role: "watch",
    run: ({ hub, request, url, captures: [id = "", change] }) =>
      rowsResponse(hub, request, {
        id,
        change: Number(change),
        from: Number(url.searchParams.get("from") ?? 0),
        isShown: asksForSecrets(url),
      }),
  },
  {
    method: "GET",
    path: /^approvals\/([^/]+)\/changes\/(\d{1,6})\/content$/u,
    role: "answer",
    run: ({ hub, request, captures: [id = "", change] }) => contentResponse(hub, request, id, Number(change)),
  },
  {
    method: "GET",
    path: /^approvals\/([^/]+)\/changes\/(\d{1,6})\/image\/(before|after)$/u,
    role: "watch",
    run: ({ hub, captures: [id = "", change, side] }) =>
      imageResponse(hub, id, Number(change), side as ChangeSide),
  },
  {
    method: "GET",
    path: /^approvals\/([^/]+)$/u,
    role: "answer",
    run: ({ hub, captures: [id = ""] }) => {
      const question = questionById(hub, id);
      return question === undefined ? refusal(404, "nothing like that waits") : json(200, question);
    },
  },
  {
    method: "GET",
    path: /^approvals\/([^/]+)\/changes\/(\d{1,6})\/details$/u,
    role: "answer",
    run: ({ hub, request, captures: [id = "", change] }) => detailsResponse(hub, request, id, Number(change)),
  },
  { method: "POST", path: /^approvals\/([^/]+)$/u, role: "answer", run: answerQuestion },
];

async function answerQuestion({ hub, request, login, captures: [id = ""] }: RouteRequest): Promise<Response> {
  const body = await bodyOf(request);
  const answer = body === undefined ? undefined : readAnswer(body);
  if (answer === undefined) return refusal(400, "the answer is not one of those offered");
  if ((answer.wider ?? answer.grant)?.until === "kept" && !roleIncludes(login.role, "manage"))
    return refusal(403, "only a login that may manage can keep an answer");
  // The person is told at once that a file has changed; the call would fail with CONFLICT.
  if (answer.outcome !== "refuse") await hub.queue.isStale(id);
  const scope = answer.wider && hub.scopeOf(id, answer.wider);
  const effect = hub.answer(id, answer, login.by);
  switch (effect.effect) {
    case "taken":
      return json(200, takenAnswer(scope));
    case "wrong":
      return refusal(400, "the answer is not one of those offered");
    case "changed":
      return json(409, { error: "the answer is for another question", reason: "changed" });
    case "repeated":
      return json(409, { error: "you have allowed this, and another person must, too", reason: "repeated" });
    case "stale":
      return json(409, { error: "a file has changed since the question was asked", reason: "stale" });
    case "unknown":
      return refusal(404, "nothing like that waits");
    case "settled": {
      const { outcome, by } = effect;
      return json(outcome === "withdrawn" ? 410 : 409, {
        error: "it does not wait any more",
        reason: outcome,
        by,
      });
    }
  }
}

function takenAnswer(scope: ApprovalScope | undefined): TakenAnswer {
  return { answered: true, ...(scope === undefined ? {} : { scope }) };
}

function questionById(hub: ReviewHub, id: string): PendingApproval | undefined {
  return hub.queue.pending().find((one) => one.id === id);
}

/** Returns a change with its contents and the rows of its hunks, as the queue of approvals has it. */
function detailsResponse(hub: ReviewHub, request: Request, id: string, number: number): Response {
  const question = questionById(hub, id);
  const found = question && changeContentsOf(question, number);
  if (found === undefined) return refusal(404, "nothing like that waits");
  return withTag(request, `"${found.tag}-details"`, found.change);
}

/** Returns the text of a change, to be edited. */
function contentResponse(hub: ReviewHub, request: Request, id: string, change: number): Response {
  const content = hub.content(id, change);
  if (content === undefined) return refusal(404, "nothing like that waits");
  const pending = questionById(hub, id);
  const digest = pending?.kind === "change" ? pending.details.digest : "";
  return withTag(request, `"${digest}-${change}-content"`, content);
}

/** Returns an image. Its type is one of four that the bytes have, and a browser must not guess another one. */
function imageResponse(hub: ReviewHub, id: string, change: number, side: ChangeSide): Response {
  const image = hub.image(id, change, side);
  if (image === undefined) return refusal(404, "there is no image to show");
  return new Response(new Uint8Array(image.bytes), {
    headers: { "content-type": image.type, "x-content-type-options": "nosniff", "cache-control": "no-store" },
  });
}

/** A page of rows that is asked for. */
interface AskedRows {
  readonly id: string;
  readonly change: number;
  readonly from: number;
  /** True to have secrets shown. */
  readonly isShown: boolean;
}

/** Returns a page of rows. The digest of a question names its content, so a browser that has it gets it once. */
function rowsResponse(hub: ReviewHub, request: Request, { id, change, from, isShown }: AskedRows): Response {
  const rows = Number.isSafeInteger(from) && from >= 0 ? hub.rows(id, change, from) : undefined;
  if (rows === undefined) return refusal(404, "nothing like that waits");
  const tag = `"${rows.digest}-${change}-${from}${isShown ? "-shown" : ""}"`;
  return withTag(request, tag, rowsForPage(rows, isShown));
}

function withTag(request: Request, etag: string, body: object): Response {
  if (request.headers.get("if-none-match") === etag)
    return new Response(null, { status: 304, headers: { etag } });
  return json(200, body, { etag, "cache-control": "private, no-cache" });
}
