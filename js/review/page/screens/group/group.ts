/**
 * Questions that are one card: those of one agent and turn about one directory. What is answered together is fixed when
 * the dialog opens, and what needs an answer of its own is left out with the reason.
 */
import { jointQuestionsOf } from "../../../questions/joint.ts";
import type { ReviewQuestion, ReviewState } from "../../../protocol.ts";
import type { Notice } from "../../state/notice.ts";
import { type ChangeQuestion, directoryOf, pathsOf } from "../../state/question-paths.ts";
import type { LeftOutParts } from "../../state/choice.ts";

/** Questions of one agent and turn about one directory, the oldest first. */
export interface QuestionGroup {
  /** Tells the group from others, also when its questions change. */
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

/** What a person is about to answer together. Nothing is added to it later. */
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
  /** The dialog is over. `ids` are the questions whose answers were taken. */
  | {
      readonly type: "group-sent";
      readonly ids: ReadonlySet<string>;
      readonly notice: Notice | undefined;
      readonly now: number;
    };

/** The part of the page's state that a plan depends on. */
interface PlanState {
  readonly review: ReviewState;
  /** What is not chosen, by question. */
  readonly leftOut: ReadonlyMap<string, LeftOutParts>;
}

const RISKS = ["low", "medium", "high"] as const;
/** What the name of a turn begins with when the host has given it. */
const NAMED_TURN = "named ";

/** Returns what waits as the list shows it: a group stands where its oldest question does. */
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
    // The questions that one call asks several people are about one change.
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

/** Returns what a group has in common; undefined for a question that is always a card of its own. */
function groupKeyOf(question: ReviewQuestion): string | undefined {
  if (question.kind !== "change" || question.turn === undefined) return undefined;
  // What a command or the tool of another package does, no path names.
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

/** Returns what the questions of a group that wait now can be answered with together. */
export function planOf(state: PlanState, group: QuestionGroup, outcome: GroupPlan["outcome"]): GroupPlan {
  const isJoint = jointQuestionsOf(state.review);
  const whys = new Map<ChangeQuestion, string | undefined>(
    group.questions.map((question) => [
      question,
      isJoint(question) ? "several people are asked" : whyAlone(state, question, outcome),
    ]),
  );
  const together = group.questions.filter((question) => whys.get(question) === undefined);
  const risk = outcome === "allow" ? commonRisk(together) : RISKS.length;
  for (const question of together)
    if (RISKS.indexOf(question.risk) > risk)
      whys.set(question, `its risk is ${question.risk}, higher than that of the others`);
  // Of the questions that one call asks several people, the first is named.
  const isNamed = (question: ChangeQuestion): boolean =>
    !isJoint(question) || group.questions.find(({ callId }) => callId === question.callId) === question;
  return {
    outcome,
    group,
    questions: group.questions.filter((question) => whys.get(question) === undefined),
    leftOut: group.questions.flatMap((question) => {
      const why = whys.get(question);
      return why === undefined || !isNamed(question) ? [] : [{ question, why }];
    }),
  };
}

/** Returns why a question needs an answer of its own; undefined when it does not, by itself. */
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

/** Returns the number of the risk that most of the questions have; of several, the lowest. */
function commonRisk(questions: readonly ChangeQuestion[]): number {
  const counts = RISKS.map((risk) => questions.filter((question) => question.risk === risk).length);
  return counts.indexOf(Math.max(...counts));
}

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

/** Returns a number of changes in words. */
export function changesInWords(count: number): string {
  return count === 1 ? "1 change" : `${count} changes`;
}

/** Returns the agent and the turn of a group in words, such as `by main, turn fix refunds`. */
export function makerOf({ agent, turnName }: QuestionGroup): string {
  const turn = turnName === undefined ? "one turn" : `turn ${turnName}`;
  return agent === undefined ? turn : `by ${agent}, ${turn}`;
}
