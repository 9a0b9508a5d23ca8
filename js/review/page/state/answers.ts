/** Finds out which answers the chosen question can get now, and the reasons why it cannot get the others. */
import { choiceCounts, chosenQuestion, stopsOfChosen } from "./choice.ts";
import { jointAnswersOf } from "../../questions/joint.ts";
import type { ReviewQuestion, SettledQuestion } from "../../protocol.ts";
import { hiddenIn } from "./hidden.ts";
import { whyNotPermitted } from "./permission.ts";
import type { PageState } from "./store.ts";

/** Returns how the chosen question ended; undefined while it waits. */
export function chosenEnd({ review, chosen }: PageState): SettledQuestion | undefined {
  return review.settled.findLast(({ question }) => question.id === chosen);
}

/** Returns the number of the change whose content an editor opens: that of the marked hunk; undefined without a text. */
export function editedChange(state: PageState): number | undefined {
  const question = chosenQuestion(state);
  if (question?.kind !== "change" || !question.canEdit) return undefined;
  const marked = stopsOfChosen(state)[state.hunk]?.change ?? 0;
  if (question.changes[marked]?.hasText === true) return marked;
  const first = question.changes.findIndex(({ hasText }) => hasText);
  return first < 0 ? undefined : first;
}

/** Returns why the content of the chosen question cannot be edited now; undefined if it can. */
export function whyNotEdited(state: PageState): string | undefined {
  const why = whyNotAllowed(state);
  if (why !== undefined) return why;
  if (editedChange(state) === undefined) return "It writes no text.";
  if (hiddenIn(state.rows.get(state.chosen ?? "")?.pages) > 0)
    return "Show the secret-looking text first: the editor shows all.";
  return isAllChosen(state) ? undefined : "Choose everything first: an edited file is written as a whole.";
}

/** Returns true when the call of the chosen question can be planned again on the present content. */
export function canLookAgain(state: PageState): boolean {
  const question = chosenQuestion(state);
  return question?.stale === true && question.conflict === undefined && whyNotRefused(state) === undefined;
}

/** Returns why the chosen question cannot be allowed now; undefined if it can. */
export function whyNotAllowed(state: PageState): string | undefined {
  const refused = whyNotRefused(state);
  if (refused !== undefined) return refused;
  const question = chosenQuestion(state) as ReviewQuestion;
  if (jointAnswersOf(state.review, question)?.allowedBy.includes(state.by) === true)
    return "You have allowed this; another person must, too.";
  if (question.stale === true) return "A file has changed since the question was asked.";
  if (question.kind === "directory") return undefined;
  if (question.incomplete !== undefined) return "The question does not show the whole change.";
  const rows = state.rows.get(question.id);
  if (rows?.failure !== undefined) return "The change could not be loaded.";
  if (rows?.isComplete !== true) return "The change is being loaded.";
  if (rows.pages.some(({ digest }) => digest !== question.digest)) return "Another change is shown.";
  const { chosen, partly, all, areHunks } = choiceCounts(state);
  if (chosen + partly > 0 || all === 0) return undefined;
  return areHunks ? "No hunk is chosen." : "Nothing is chosen.";
}

/** Returns why the chosen question cannot be refused now; undefined if it can. */
export function whyNotRefused(state: PageState): string | undefined {
  const why = whyNoAnswer(state);
  return why ?? whyEnded(state, state.chosen);
}

/** Returns how a question ended while a person was about to answer it; undefined while it is chosen and waits. */
export function whyEnded(
  { review: { waiting, settled }, sending, chosen }: PageState,
  id: string | undefined,
): string | undefined {
  if (id === undefined) return "Nothing is chosen that waits.";
  // The answer that is being sent from here may be known before its request has ended.
  if (sending === id || (chosen === id && waiting.some((one) => one.id === id))) return undefined;
  const end = settled.findLast(({ question }) => question.id === id);
  if (end === undefined || end.outcome === "withdrawn")
    return "The agent does not wait for this answer any more.";
  if (end.outcome === "look_again") return "This question was planned again in the meantime.";
  return `This question was answered by ${end.by ?? "somebody"} in the meantime.`;
}

/** Returns why nothing can be answered now; undefined if something can. */
export function whyNoAnswer(state: PageState): string | undefined {
  const why = whyNotPermitted(state, "answer");
  return why ?? (state.sending === undefined ? undefined : "An answer is being sent.");
}

/** Returns true where leaving the page would lose something: a typed text, or a choice of hunks. */
export function hasUnsent({ isTyping, drafts, leftOut, review: { waiting } }: PageState): boolean {
  return isTyping || waiting.some(({ id }) => drafts.has(id) || (leftOut.get(id)?.size ?? 0) > 0);
}

/** Returns true when everything of the chosen question is chosen. */
export function isAllChosen(state: PageState): boolean {
  const { chosen, all } = choiceCounts(state);
  return chosen === all;
}
