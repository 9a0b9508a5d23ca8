/** The review page as a server of questions, for `filewright approve`: also those of the processes that share it. */
import { withoutUndefined } from "../../schema/without-undefined.ts";
import type { AnswerResult } from "../../hooks/approval-queue-http.ts";
import type { PendingApproval } from "../../hooks/queue/summary.ts";
import { FilewrightError } from "../../engine/errors.ts";
import type { CoveredCount, ReviewEvent, ReviewOutcome, ReviewSnapshot } from "../../review/protocol.ts";
import { NAME_HEADER } from "../../review/proof/mac.ts";
import type { ProverRequest } from "../../review/proof/prover.ts";
import { sentEvents } from "../../review/sent-events.ts";
import { type ApproverConnection, failureOfStatus } from "../approver-requests.ts";
import { type ApprovalServer, changesOf, type NamedEvent, type ServerEvent } from "./server.ts";

const NOT_FOUND = 404;

/**
 * Uses a page, to answer there as `by`. Nothing is sent before a function is called. A process that takes the page over
 * has the same key, so the connection outlasts the process that served the page.
 */
export function pageServer(connection: ApproverConnection, by: string): ApprovalServer {
  const headers = { [NAME_HEADER]: encodeURIComponent(by.toWellFormed()) };
  const send = (path: string, request: ProverRequest = {}): Promise<Response> =>
    connection.send(path, { ...request, headers });
  const post = (path: string, body: object): Promise<Response> => send(path, { body: JSON.stringify(body) });
  const find = async (path: string): Promise<unknown> => {
    const response = await send(path);
    if (response.ok) return response.json();
    if (response.status === NOT_FOUND || response.status === GONE) return undefined;
    throw failureOfStatus(response.status);
  };
  const snapshot = async (): Promise<ReviewSnapshot> => {
    const found = (await find("state")) as ReviewSnapshot | undefined;
    if (found !== undefined) return found;
    throw new FilewrightError("NOT_FOUND", `There is no review page at ${connection.origin}.`, {
      complete: true,
    });
  };
  const stateEvent = async (): Promise<NamedEvent & { readonly id: string }> => {
    const { run, state } = await snapshot();
    return { id: `${run}:${state.seq}`, event: { type: "state", pending: state.waiting } };
  };
  return {
    origin: connection.origin,
    waiting: async () => (await snapshot()).state.waiting,
    question: async (id) => (await find(`approvals/${id}`)) as PendingApproval | undefined,
    changes: (question) =>
      changesOf(question, (index) => find(`approvals/${question.id}/changes/${index}/details`)),
    async answer(question, _changes, answer) {
      const digest = question.kind === "change" ? { digest: question.details.digest } : {};
      const response = await post(`approvals/${question.id}`, { ...answer, ...digest });
      return response.ok ? { result: "answered" } : resultOfFailure(response);
    },
    async covered(id, wider) {
      const response = await post("scopes", { id, wider });
      return response.ok ? ((await response.json()) as CoveredCount) : undefined;
    },
    async *events(last, signal) {
      let at = last;
      for (;;) {
        if (at === undefined) {
          const state = await stateEvent();
          at = state.id;
          yield state;
        }
        const response = await send(`events?after=${encodeURIComponent(at)}`, { signal, mayStream: true });
        if (!response.ok || response.body === null) throw failureOfStatus(response.status);
        yield { id: undefined, event: { type: "connected" } };
        at = undefined;
        let isReset = false;
        for await (const { id, data } of sentEvents(response.body, signal)) {
          // The page does not know any more what came after the last event, so its state is read again.
          isReset = (data as { readonly type: string }).type === "reset";
          if (isReset) break;
          const event = serverEventOf(data as ReviewEvent);
          if (event !== undefined) yield { id, event };
        }
        if (!isReset) return;
      }
    },
  };
}

const GONE = 410;

/** Returns an event of a page as one of a queue; undefined for one that is about no question. */
function serverEventOf(event: ReviewEvent): ServerEvent | undefined {
  switch (event.type) {
    case "asked":
    case "stale":
    case "withdrawn":
      return event;
    case "answered": {
      const { id, outcome, by, isWider = false } = event;
      return { type: "answered", id, outcome: isWider ? "proceed_always" : QUEUE_OUTCOMES[outcome], by };
    }
    default:
      return undefined;
  }
}

/** The outcomes of a page by the names that they have in a queue. */
const QUEUE_OUTCOMES: Readonly<Record<ReviewOutcome, string>> = {
  allow: "proceed_once",
  allow_parts: "proceed_parts",
  refuse: "cancel",
  look_again: "look_again",
};

/** Returns why an answer did not count. @throws FilewrightError for a failure that says nothing about the question */
async function resultOfFailure(
  response: Response,
): Promise<Exclude<AnswerResult, { readonly result: "answered" }>> {
  const { reason = "", by } = (await response.json().catch(() => ({}))) as {
    readonly reason?: string;
    readonly by?: string;
  };
  if (reason === "stale" || reason === "changed") return { result: "stale", digest: "" };
  if (reason === "withdrawn") return { result: "withdrawn", why: "cancelled" };
  if (reason === "repeated") {
    const message = "You have allowed this, and another person must, too.";
    throw new FilewrightError("CONFLICT", message, { complete: true });
  }
  const outcome = (QUEUE_OUTCOMES as Readonly<Record<string, string>>)[reason];
  if (outcome !== undefined) return withoutUndefined({ result: "taken", outcome, by });
  if (response.status === 400) return { result: "invalid" };
  if (response.status === NOT_FOUND) return { result: "unknown" };
  throw failureOfStatus(response.status);
}
