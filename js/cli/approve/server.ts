/** The server whose questions `filewright approve` answers: its questions, their changes, answers and events. */
import type { AnswerResult } from "../../hooks/approval-queue-http.ts";
import type { ChangeDetails } from "../../hooks/changed-files.ts";
import type { QueueEvent, QueueState } from "../../hooks/queue/event-log.ts";
import type { ApprovalSummary, PendingApproval } from "../../hooks/queue/summary.ts";
import { FilewrightError } from "../../engine/errors.ts";
import type { CoveredCount, WiderChoice } from "../../review/protocol.ts";
import { failureOfStatus, requestJson, sendRequest } from "../approver-requests.ts";

/** A server with questions that wait. */
export interface ApprovalServer {
  readonly origin: string;
  /** Returns the summaries of the waiting questions. @throws FilewrightError NOT_FOUND where none can wait */
  waiting(): Promise<readonly ApprovalSummary[]>;
  /** Returns a whole question; undefined when it does not wait any more. */
  question(id: string): Promise<PendingApproval | undefined>;
  /** Returns the changes of a question with their hunks; undefined when it does not wait any more. */
  changes(question: PendingApproval): Promise<readonly ChangeDetails[] | undefined>;
  /** Sends an answer. @throws FilewrightError IO_ERROR when the server cannot be reached */
  answer(id: string, reply: object): Promise<AnswerResult>;
  /** Returns how many of the last calls a wider answer would have covered; undefined where no page can count them. */
  covered(id: string, wider: WiderChoice): Promise<CoveredCount | undefined>;
  /**
   * Yields the state and then events, or those after `last`, until the connection ends. Each has the id by which the
   * next connection goes on. @throws FilewrightError when the server cannot be reached, or refuses the token
   */
  events(last: string | undefined, signal: AbortSignal): AsyncGenerator<NamedEvent>;
}

/** An event with its id. */
interface NamedEvent {
  readonly id: string;
  readonly event: QueueEvent | QueueState;
}

/** Connects to the server at an address. Nothing is sent before a function is called. */
export function approvalServer(base: string, token: string): ApprovalServer {
  const headers = { authorization: `Bearer ${token}` };
  const place = (path: string): URL => new URL(path, base);
  const find = async (path: string): Promise<unknown> => {
    try {
      return await requestJson(place(path), { headers });
    } catch (error) {
      if (error instanceof FilewrightError && error.code === "NOT_FOUND") return undefined;
      throw error;
    }
  };
  const post = (path: string, body: object): ReturnType<typeof sendRequest> =>
    sendRequest(place(path), {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  return {
    origin: new URL(base).origin,
    async waiting() {
      const found = (await find("/approvals")) as Pick<QueueState, "pending"> | undefined;
      if (found !== undefined) return found.pending;
      const message = `No questions wait at ${base}: it is not the address of a filewright serve --approve or --review.`;
      throw new FilewrightError("NOT_FOUND", message, { complete: true });
    },
    question: async (id) => (await find(`/approvals/${id}`)) as PendingApproval | undefined,
    async changes(question) {
      const changes: ChangeDetails[] = [];
      const count = question.kind === "change" ? question.details.changes.length : 0;
      for (let index = 0; index < count; index++) {
        const change = (await find(`/approvals/${question.id}/changes/${index}`)) as
          | ChangeDetails
          | undefined;
        if (change === undefined) return undefined;
        changes.push(change);
      }
      return changes;
    },
    async answer(id, reply) {
      const response = await post(`/approvals/${id}`, reply);
      if (response.ok) return { result: "answered" };
      const body = (await response.json().catch(() => ({}))) as Partial<AnswerResult>;
      if (body.result !== undefined) return body as AnswerResult;
      if (response.status === 400) return { result: "invalid" };
      if (response.status === 404) return { result: "unknown" };
      throw failureOfStatus(response.status);
    },
    async covered(id, wider) {
      const response = await post("/review/scopes", { id, wider });
      return response.ok ? ((await response.json()) as CoveredCount) : undefined;
    },
    async *events(last, signal) {
      const more = last === undefined ? {} : { "last-event-id": last };
      const response = await sendRequest(place("/approvals/events"), {
        headers: { ...headers, ...more },
        signal,
      });
      if (!response.ok || response.body === null) throw failureOfStatus(response.status);
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      // The signal of a request does not reliably end its body once the response is there.
      const cancel = (): void => void reader.cancel().catch(() => {});
      signal.addEventListener("abort", cancel, { once: true });
      if (signal.aborted) cancel();
      try {
        let text = "";
        for (;;) {
          const { value, done } = await reader.read();
          if (done) return;
          const blocks = (text + value).split("\n\n");
          text = blocks.pop() ?? "";
          for (const block of blocks) {
            const [, id, data] = /^id: (.*)\ndata: (.*)$/u.exec(block) ?? [];
            if (id !== undefined && data !== undefined)
              yield { id, event: JSON.parse(data) as NamedEvent["event"] };
          }
        }
      } finally {
        signal.removeEventListener("abort", cancel);
        cancel();
      }
    },
  };
}
