/** Finds out whether a question can get a wider answer, and the reason why it cannot. */
import type { ReviewQuestion } from "../../../protocol.ts";
import { isAllChosen, whyNotAllowed } from "../../state/answers.ts";
import { chosenQuestion } from "../../state/choice.ts";
import type { PageState } from "../../state/store.ts";

/** Returns true for a question that can get a wider answer at all. */
export function offersWider(question: ReviewQuestion): boolean {
  return question.kind === "directory" || question.wider !== undefined;
}

/** Returns why the chosen question cannot get a wider answer now; undefined if it can. */
export function whyNotWider(state: PageState): string | undefined {
  const why = whyNotAllowed(state);
  if (why !== undefined) return why;
  const question = chosenQuestion(state) as ReviewQuestion;
  if (question.kind === "directory") return undefined;
  if (question.wider === undefined) return "This can only be allowed once.";
  return isAllChosen(state) ? undefined : "A wider answer allows the whole change.";
}
