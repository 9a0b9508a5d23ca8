/**
 * Groups questions into one card, and plans which of them are answered together. Questions are in one group when they
 * have the same agent, turn and directory. The plan is made when the dialog opens and does not change while it is open,
 * so that a person allows only what is listed. A question that needs an answer of its own is listed with the reason.
 */
import { jointQuestionsOf } from "../../../questions/joint.ts";
import type { ReviewQuestion, ReviewState } from "../../../protocol.ts";
import type { Notice } from "../../state/notice.ts";
import { type ChangeQuestion, directoryOf, pathsOf } from "../../state/question-paths.ts";
import type { LeftOutParts } from "../../state/choice.ts";

/** Questions of one agent and turn about one directory, the oldest first. */
export interface QuestionGroup {
  /** Identifies the group. It stays the same when questions join the group or are answered. */
  readonly key: string;
  readonly dir: string;
  readonly agent: string | undefined;
  /** The name of the turn, where the host has given it one. */
  readonly turnName: string | undefined;
  readonly questions: readonly ChangeQuestion[];
}

/** A question that needs an answer of its own, and why. */
export interface LeftOutQuestion {
  readonly question: ChangeQuestion;
  readonly why: string;
}

/** The questions that a person is about to answer together. None is added later. */
export interface GroupPlan {
  readonly outcome: "allow" | "refuse";
  readonly group: QuestionGroup;
  /** The questions, each with the digest that its answer repeats. */
  readonly questions: readonly ChangeQuestion[];
  readonly leftOut: readonly LeftOutQuestion[];
}

/** The changes of the page's state by answers to a group. `now` is the page's clock in milliseconds. */
export type GroupAction =
  /** Opens the dialog in which the questions of a group are answered together. */
  | { readonly type: "group"; readonly group: QuestionGroup; readonly outcome: GroupPlan["outcome"] }
  /** Closes the dialog. `ids` are the questions whose answers the server accepted. */
  | {
      readonly type: "group-sent";
      readonly ids: ReadonlySet<string>;
      readonly notice: Notice | undefined;
      readonly now: number;
    };

/** The part of the page's state that a plan depends on. */
interface PlanState {
  readonly review: ReviewState;
  /** The parts that the person does not want to allow, by the ids of their questions. */
  readonly leftOut: ReadonlyMap<string, LeftOutParts>;
}

/** The risks in ascending order. */
const RISKS = ["low", "medium", "high"] as const;
/** The prefix of a turn that the host has named. The id of any other turn is generated, so it is not shown. */
const NAMED_TURN = "named ";

/** Returns the entries of the list of waiting questions. A group is at the position of its oldest question. */
export function waitingItems(
  waiting: readonly ReviewQuestion[],
): readonly (ReviewQuestion | QuestionGroup)[] {
  const byKey = new Map<string, ChangeQuestion[]>();
  for (const question of waiting) {
    const key = groupKeyOf(question);
    if (key === undefined) continue;
    const known = byKey.get(key);
    if (known === undefined) byKey.set(key, [question as ChangeQuestion]);
    else known.push(question as ChangeQuestion);
  }
  return waiting.flatMap((question): readonly (ReviewQuestion | QuestionGroup)[] => {
    const key = groupKeyOf(question) ?? "";
    const questions = byKey.get(key) ?? [];
    // One call may ask several people about the same change. These questions count as one, so they are no group alone.
    if (new Set(questions.map(({ callId, id }) => callId ?? id)).size < 2) return [question];
    return questions[0] === question ? [groupOf(key, question, questions)] : [];
  });
}

/** Returns the questions that wait in the order of the list. */
export function waitingInOrder(waiting: readonly ReviewQuestion[]): readonly ReviewQuestion[] {
  return waitingItems(waiting).flatMap((item): readonly ReviewQuestion[] =>
    "questions" in item ? item.questions : [item],
  );
}

/** Returns the key of the group of a question; undefined for a question that is never in a group. */
function groupKeyOf(question: ReviewQuestion): string | undefined {
  if (question.kind !== "change" || question.turn === undefined) return undefined;
  // The paths of a question do not show what a command, or a tool of another package, changes.
  if (question.changes.length === 0 || question.changes.some(({ type }) => type === "other"))
    return undefined;
  return JSON.stringify([question.agent ?? "", question.turn, directoryOf(pathsOf(question))]);
}

function groupOf(
  key: string,
  { agent, turn = "" }: ReviewQuestion,
  questions: readonly ChangeQuestion[],
): QuestionGroup {
  const turnName = turn.startsWith(NAMED_TURN) ? turn.slice(NAMED_TURN.length) : undefined;
  return { key, dir: directoryOf(questions.flatMap(pathsOf)), agent, turnName, questions };
}

/** Returns which questions of a group can be answered together with this outcome, and why the others cannot. */
export function planOf(state: PlanState, group: QuestionGroup, outcome: GroupPlan["outcome"]): GroupPlan {
  const isJoint = jointQuestionsOf(state.review);
  const whyAloneOf = new Map<ChangeQuestion, string | undefined>(
    group.questions.map((question) => [
      question,
      isJoint(question) ? "several people are asked" : whyAlone(state, question, outcome),
    ]),
  );
  const candidates = group.questions.filter((question) => whyAloneOf.get(question) === undefined);
  // A refusal has no highest risk, because refusing changes nothing.
  const maxRisk = outcome === "allow" ? commonRisk(candidates) : RISKS.length;
  for (const question of candidates)
    if (RISKS.indexOf(question.risk) > maxRisk)
      whyAloneOf.set(question, `its risk is ${question.risk}, higher than that of the others`);
  // Of the questions that one call asks several people, only the first is listed: they are about the same change.
  const isListed = (question: ChangeQuestion): boolean =>
    !isJoint(question) || group.questions.find(({ callId }) => callId === question.callId) === question;
  return {
    outcome,
    group,
    questions: group.questions.filter((question) => whyAloneOf.get(question) === undefined),
    leftOut: group.questions.flatMap((question) => {
      const why = whyAloneOf.get(question);
      return why === undefined || !isListed(question) ? [] : [{ question, why }];
    }),
  };
}

/** Returns why a question needs an answer of its own, whatever else is in its group; undefined when it does not. */
function whyAlone(
  { leftOut }: PlanState,
  question: ChangeQuestion,
  outcome: GroupPlan["outcome"],
): string | undefined {
  if (outcome === "refuse") return undefined;
  if (question.conflict !== undefined) return `it can only be refused: ${question.conflict}`;
  if (question.stale === true) return STALE;
  if (question.incomplete !== undefined) return `it is not shown whole: ${question.incomplete}`;
  return (leftOut.get(question.id)?.size ?? 0) > 0 ? "you have left out a part of it" : undefined;
}

const STALE = "a file has changed since it was asked";

/** Returns the index in {@link RISKS} of the most frequent risk of the questions; of equally frequent ones, the lowest. */
function commonRisk(questions: readonly ChangeQuestion[]): number {
  const counts = RISKS.map((risk) => questions.filter((question) => question.risk === risk).length);
  return counts.indexOf(Math.max(...counts));
}

/** The verbs for the outcomes of an answer. */
const END_WORDS = { allow: "allowed it", allow_parts: "allowed a part of it", refuse: "refused it" } as const;

/** Returns why a question of a plan cannot be answered any more; undefined while it can. */
export function whyGone(
  { waiting, settled }: ReviewState,
  id: string,
  outcome: GroupPlan["outcome"],
): string | undefined {
  const question = waiting.find((one) => one.id === id);
  if (question !== undefined) return question.stale === true && outcome === "allow" ? STALE : undefined;
  const end = settled.findLast((one) => one.question.id === id);
  if (end === undefined) return "it does not wait any more";
  if (end.outcome === "withdrawn") return "the agent does not wait for it any more";
  const by = end.by ?? "somebody";
  return end.outcome === "look_again" ? `${by} has looked again at it` : `${by} ${END_WORDS[end.outcome]}`;
}

/** Returns the agent and the turn of a group in words, such as `by main, turn fix refunds`. */
export function makerOf({ agent, turnName }: QuestionGroup): string {
  const turn = turnName === undefined ? "one turn" : `turn ${turnName}`;
  return agent === undefined ? turn : `by ${agent}, ${turn}`;
}
