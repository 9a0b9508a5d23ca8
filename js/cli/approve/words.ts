/** The sentences of `filewright approve` about answers. */
import type { AnswerResult } from "../../hooks/approval-queue-http.ts";
import { escapeControls } from "../../engine/escape.ts";

/** Returns what an answer of another person did, as a sentence. */
export function answeredElsewhere(outcome: string, by: string | undefined): string {
  const who = by === undefined ? "somebody" : escapeControls(by);
  return `It was answered: ${who} ${OUTCOME_WORDS[outcome] ?? "allowed it"}.`;
}

const OUTCOME_WORDS: Readonly<Record<string, string>> = {
  cancel: "refused it",
  no: "refused it",
  look_again: "had it looked at again",
  proceed_parts: "allowed a part of it",
  modify_with_editor: "changed it",
  proceed_always: "allowed it, and later calls too",
  proceed_always_tool: "allowed it, and later calls too",
  proceed_always_server: "allowed it, and later calls too",
};

/** The sentence about a question whose call does not wait any more. */
export const WITHDRAWN_WORDS = "It does not wait any more: the agent gave up, or the server ends.";
/** The sentence about a question whose files have changed. */
export const STALE_WORDS =
  "A file has changed since this was asked, so it cannot be allowed: l looks at it again, r refuses it.";

/** Returns why an answer did not count, as a sentence. */
export function whyNotAnswered(result: Exclude<AnswerResult, { readonly result: "answered" }>): string {
  switch (result.result) {
    case "taken":
      return answeredElsewhere(result.outcome, result.by);
    case "stale":
      return STALE_WORDS;
    case "invalid":
      return "The server does not offer this answer.";
    case "withdrawn":
    case "unknown":
      return WITHDRAWN_WORDS;
  }
}
