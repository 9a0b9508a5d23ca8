/** The servers whose questions `filewright approve` answers. This one serves the queue of approvals below `/approvals`. */
import type { AnswerResult } from "../../hooks/approval-queue-http.ts";
import type { ChangeDetails } from "../../hooks/changed-files.ts";
import type { PendingApproval } from "../../hooks/queue/summary.ts";
import { FilewrightError } from "../../engine/errors.ts";
import type { Program } from "../../mcp/program.ts";
import type { CoveredCount, ReviewAnswer, WiderChoice } from "../../review/protocol.ts";
import { replyOfAnswer } from "../../review/questions/reply.ts";
import { sentEvents } from "../../review/sent-events.ts";
import { type ApproverConnection, failureOfStatus } from "../approver-requests.ts";

/** Returns the name under which the user of the program answers. */
export const personOf = ({ env }: Program): string => env["USER"] ?? "command line";

/** A question about a change. */
export type ChangeQuestion = PendingApproval & { readonly kind: "change" };

/** A question that waits, in short. */
export interface WaitingQuestion {
  readonly id: string;
  /** True when a file has changed since the question was asked. */
  readonly stale?: boolean;
}

/** An answer as a person gives it at a terminal. The digest is that of the question. */
export type TerminalAnswer = Omit<ReviewAnswer, "digest">;

/** A server with questions that wait. */
export interface ApprovalServer {
  readonly origin: string;
  /** Returns the waiting questions. @throws FilewrightError NOT_FOUND where none can wait */
  waiting(): Promise<readonly WaitingQuestion[]>;
  /** Returns a whole question; undefined when it does not wait any more. */
  question(id: string): Promise<PendingApproval | undefined>;
  /** Returns the changes of a question with their hunks; undefined when it does not wait any more. */
  changes(question: PendingApproval): Promise<readonly ChangeDetails[] | undefined>;
  /**
   * Sends an answer to a question with its changes, which an answer without parts and edits does not need.
   * @throws FilewrightError IO_ERROR when the server cannot be reached
   */
  answer(
    question: PendingApproval,
    changes: readonly ChangeDetails[],
    answer: TerminalAnswer,
  ): Promise<AnswerResult>;
  /** Returns how many of the last calls a wider answer would have covered; undefined where no page can count them. */
  covered(id: string, wider: WiderChoice): Promise<CoveredCount | undefined>;
  /**
   * Yields the state and then events, or those after `last`, until the connection ends. Each has the id by which the
   * next connection goes on. @throws FilewrightError when the server cannot be reached, or refuses the token
   */
  events(last: string | undefined, signal: AbortSignal): AsyncGenerator<NamedEvent>;
}

/** An event of a server. `connected` comes once for each connection, before the other events or after the state. */
export type ServerEvent =
  | { readonly type: "connected" }
  | { readonly type: "state"; readonly pending: readonly WaitingQuestion[] }
  | { readonly type: "asked"; readonly question: WaitingQuestion }
  | { readonly type: "stale" | "withdrawn"; readonly id: string }
  | { readonly type: "answered"; readonly id: string; readonly outcome: string; readonly by?: string };

/** An event with its id; undefined for one that does not change where the next connection continues. */
export interface NamedEvent {
  readonly id: string | undefined;
  readonly event: ServerEvent;
}

/**
 * Returns the changes of a question, of which `find` requests one by its number; undefined when the question does not
 * wait any more.
 */
export async function changesOf(
  question: PendingApproval,
  find: (index: number) => Promise<unknown>,
): Promise<readonly ChangeDetails[] | undefined> {
  const changes: ChangeDetails[] = [];
  const count = question.kind === "change" ? question.details.changes.length : 0;
  for (let index = 0; index < count; index++) {
    const change = (await find(index)) as ChangeDetails | undefined;
    if (change === undefined) return undefined;
    changes.push(change);
  }
  return changes;
}

/**
 * Uses the queue of a server, to answer there as `by`. `page` is its review page, if it has one. Nothing is sent before
 * a function is called.
 */
export function queueServer(queue: ApproverConnection, page: ApproverConnection, by: string): ApprovalServer {
  const { origin } = queue;
  const find = async (path: string): Promise<unknown> => {
    try {
      return await queue.json(path);
    } catch (error) {
      if (error instanceof FilewrightError && error.code === "NOT_FOUND") return undefined;
      throw error;
    }
  };
  return {
    origin,
    async waiting() {
      const found = (await find("")) as { readonly pending: readonly WaitingQuestion[] } | undefined;
      if (found !== undefined) return found.pending;
      const message = `No questions wait at ${origin}: it is not the address of a server that was started with --approve or --review.`;
      throw new FilewrightError("NOT_FOUND", message, { complete: true });
    },
    question: async (id) => (await find(id)) as PendingApproval | undefined,
    changes: (question) => changesOf(question, (index) => find(`${question.id}/changes/${index}`)),
    async answer(question, changes, answer) {
      const whole =
        question.kind === "change" ? { ...question, details: { ...question.details, changes } } : question;
      const reply = replyOfAnswer(whole, answer, by);
      if (reply === undefined) return { result: "invalid" };
      const response = await queue.send(question.id, { body: JSON.stringify(reply) });
      if (response.ok) return { result: "answered" };
      const body = (await response.json().catch(() => ({}))) as Partial<AnswerResult>;
      if (body.result !== undefined) return body as AnswerResult;
      if (response.status === 400) return { result: "invalid" };
      if (response.status === 404) return { result: "unknown" };
      throw failureOfStatus(response.status);
    },
    async covered(id, wider) {
      const response = await page
        .send("scopes", { body: JSON.stringify({ id, wider }) })
        .catch((error: unknown) => {
          if (error instanceof FilewrightError && error.code !== "IO_ERROR") return undefined;
          throw error;
        });
      return response?.ok === true ? ((await response.json()) as CoveredCount) : undefined;
    },
    async *events(last, signal) {
      const headers: Record<string, string> = last === undefined ? {} : { "last-event-id": last };
      const response = await queue.send("events", { headers, signal, mayStream: true });
      if (!response.ok || response.body === null) throw failureOfStatus(response.status);
      yield { id: undefined, event: { type: "connected" } };
      for await (const { id, data } of sentEvents(response.body, signal))
        yield { id, event: data as ServerEvent };
    },
  };
}
