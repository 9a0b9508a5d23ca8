/** The wider answer that the page proposes after several calls of one kind were allowed once. */
import { isWithin } from "../../../../backends/paths.ts";
import type { ReviewQuestion, SettledQuestion, WiderOffer } from "../../../protocol.ts";
import { type ChangeQuestion, directoryOf, pathsOf } from "../../state/question-paths.ts";
import type { PageState } from "../../state/store.ts";
import type { WiderDraft } from "../../../questions/wider-draft.ts";

/** The number of calls of one kind that one person allows once, one after another, before the page proposes more. */
export const ALLOWED_BEFORE_PROPOSAL = 5;

/** A proposal. */
interface WiderProposal {
  /** The choices that cover those calls and the question, and no more than the directory that contains them. */
  readonly draft: Partial<WiderDraft>;
  /** The place in words, such as `below /repo/src`. */
  readonly place: string;
}

/**
 * Returns the proposal for a question that waits; undefined where there is none.
 *
 * Calls of the same tool by the same agent are of one kind. A refusal, an answer in part, a wider answer and the answer
 * of another person begin the count again, so that nothing is proposed that was not just allowed.
 */
export function proposalFor({ review, by }: PageState, question: ReviewQuestion): WiderProposal | undefined {
  if (question.kind !== "change" || question.wider === undefined) return undefined;
  const { wider, agent, turn } = question;
  const last = review.settled.filter((one) => isOfKind(one, question)).slice(-ALLOWED_BEFORE_PROPOSAL);
  if (last.length < ALLOWED_BEFORE_PROPOSAL || !last.every((one) => wasAllowedOnce(one, by)))
    return undefined;
  const before = last.map((one) => one.question as ChangeQuestion);
  const end = turn !== undefined && before.every((one) => one.turn === turn) ? "turn" : "session";
  if (!wider.ends.includes(end)) return undefined;
  const common = { isAgentOnly: agent !== undefined, end } as const;
  const where = placeOfProposal(question, wider, before);
  return where && { draft: { ...common, ...where.draft }, place: where.place };
}

/** Returns the narrowest place that covers a question and those before it; undefined where none is offered. */
function placeOfProposal(
  question: ChangeQuestion,
  wider: WiderOffer,
  before: readonly ChangeQuestion[],
): WiderProposal | undefined {
  if (wider.command !== undefined) {
    const isSameCommand = before.every((one) => one.wider?.command === wider.command);
    return isSameCommand ? { draft: { place: "command" }, place: wider.command } : undefined;
  }
  const paths = new Set(before.flatMap(pathsOf));
  const isSame = paths.size === wider.files.length && wider.files.every((file) => paths.has(file));
  if (isSame && wider.places.includes("files")) {
    const [first = "", ...others] = wider.files;
    const place = others.length === 0 ? `on ${first}` : `on these ${others.length + 1} paths`;
    return { draft: { place: "files" }, place };
  }
  const dir = directoryOf([...paths]);
  const isCovered = pathsOf(question).every((path) => isWithin(path, dir));
  if (dir === "/" || !isCovered || !wider.places.includes("directory")) return undefined;
  return { draft: { place: "directory", dir }, place: `below ${dir}` };
}

/** Returns true for a question about a change of the same tool and agent that a person has answered. */
function isOfKind({ question, outcome }: SettledQuestion, { tool, agent }: ChangeQuestion): boolean {
  if (question.kind !== "change" || question.tool !== tool || question.agent !== agent) return false;
  return outcome !== "withdrawn" && outcome !== "look_again";
}

function wasAllowedOnce(one: SettledQuestion, person: string): boolean {
  return one.outcome === "allow" && one.isWider === undefined && one.by === person;
}
