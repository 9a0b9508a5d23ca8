/** The entries of the list of waiting questions. An entry is drawn again only when something of it changes. */
import { useMemo, useState } from "preact/hooks";
import type { ReviewQuestion } from "../../../protocol.ts";
import { jointAnswersOf, jointQuestionsOf } from "../../../questions/joint.ts";
import { whyNoAnswer } from "../../state/answers.ts";
import type { PageState } from "../../state/store.ts";
import { planOf, type QuestionGroup, waitingItems } from "./group.ts";

/** A question that several people are asked. */
interface JointItem {
  readonly question: ReviewQuestion;
  readonly joint: string;
}

/** A group as its card is drawn. */
export interface GroupItem {
  readonly group: QuestionGroup;
  /** The id of the chosen question in it. */
  readonly chosen: string | undefined;
  readonly isOpen: boolean;
  /** The numbers of questions that can be allowed and refused together; undefined for a login that only watches. */
  readonly counts: { readonly allow: number; readonly refuse: number } | undefined;
  /** Why nothing can be answered now. */
  readonly why: string | undefined;
  /** The people who have allowed each question, where several are asked. */
  readonly joint: ReadonlyMap<string, string>;
  setOpen(isOpen: boolean): void;
}

/** An entry of the list. */
type WaitingItem = ReviewQuestion | JointItem | GroupItem;

/** Returns what names an entry. */
export function keyOfItem(item: WaitingItem): string {
  return "group" in item ? item.group.key : "joint" in item ? item.question.id : item.id;
}

/** Returns the entries, and the key of the one that contains the chosen question. */
export function useWaitingItems(state: PageState): {
  readonly items: readonly WaitingItem[];
  readonly chosenKey: string | undefined;
} {
  const { review, chosen, leftOut, role } = state;
  const { waiting, settled } = review;
  /** The groups that this person has opened or closed. Any other is open while it contains the chosen question. */
  const [opened, setOpened] = useState<ReadonlyMap<string, boolean>>(new Map());
  const why = whyNoAnswer(state);
  const listed = useMemo(() => waitingItems(waiting), [waiting]);
  const items = useMemo(() => {
    const isJoint = jointQuestionsOf(review);
    const jointOf = (question: ReviewQuestion): string | undefined =>
      isJoint(question) ? jointInWords(review, question) : undefined;
    return listed.map((item): WaitingItem => {
      if (!("questions" in item)) {
        const joint = jointOf(item);
        return joint === undefined ? item : { question: item, joint };
      }
      const { key, questions } = item;
      const inside = questions.some(({ id }) => id === chosen) ? chosen : undefined;
      const count = (outcome: "allow" | "refuse"): number => planOf(state, item, outcome).questions.length;
      return {
        group: item,
        chosen: inside,
        isOpen: opened.get(key) ?? inside !== undefined,
        counts: role === "watch" ? undefined : { allow: count("allow"), refuse: count("refuse") },
        why,
        joint: new Map(questions.flatMap((one) => (isJoint(one) ? [[one.id, jointOf(one) ?? ""]] : []))),
        setOpen: (isOpen) => setOpened((before) => new Map(before).set(key, isOpen)),
      };
    });
  }, [listed, settled, chosen, leftOut, role, opened, why]);
  const ofChosen = items.find((item) =>
    "group" in item ? item.chosen !== undefined : ("joint" in item ? item.question : item).id === chosen,
  );
  return { items, chosenKey: ofChosen && keyOfItem(ofChosen) };
}

/** Returns who has allowed a question that several people are asked, such as `1 of 2: ana allowed`. */
function jointInWords(
  review: Pick<PageState["review"], "waiting" | "settled">,
  question: ReviewQuestion,
): string | undefined {
  const joint = jointAnswersOf(review, question);
  if (joint === undefined) return undefined;
  const { needed, allowedBy } = joint;
  return `${allowedBy.length} of ${needed}${allowedBy.length === 0 ? " allowed" : `: ${allowedBy.join(", ")} allowed`}`;
}
