/** Answers the questions of a plan one after another, each with its own digest and none twice. */
import { messageOf } from "../../../../engine/thrown.ts";
import { isUnanswered } from "../../../transport.ts";
import type { Notice } from "../../state/notice.ts";
import type { PageEffects } from "../props.ts";
import type { GroupPlan } from "./group.ts";
import type { ChangeQuestion } from "../../state/question-paths.ts";

/** The state of one answer: it is being sent, it was taken, or the reason why it was not. */
export type EachResult = "sending" | "taken" | { readonly failure: string };

/** The arguments of {@link answerEach} besides the plan. */
interface EachOptions {
  readonly reason: string;
  /** Returns why a question is not to be answered now; it is asked before each answer. */
  whyNot(question: ChangeQuestion): string | undefined;
  /** Hears of each question what becomes of its answer. */
  tell(id: string, result: EachResult): void;
}

/**
 * Answers the questions of a plan. After an answer of which it is not known whether it was taken, nothing more is sent.
 * Never rejects.
 */
export async function answerEach(
  { send }: Pick<PageEffects, "send">,
  { questions, outcome }: Pick<GroupPlan, "questions" | "outcome">,
  { reason, whyNot, tell }: EachOptions,
): Promise<void> {
  let broken: string | undefined;
  for (const question of questions) {
    const { id, digest } = question;
    const why = broken ?? whyNot(question);
    if (why !== undefined) {
      tell(id, { failure: why });
      continue;
    }
    tell(id, "sending");
    try {
      const given = outcome === "refuse" && reason !== "" ? { reason } : {};
      await send(`approvals/${encodeURIComponent(id)}`, { outcome, digest, ...given });
      tell(id, "taken");
    } catch (error) {
      if (isUnanswered(error)) {
        tell(id, { failure: "the connection broke, so it is not known whether it was answered" });
        broken = "not sent, because the connection broke";
      } else tell(id, { failure: messageOf(error) });
    }
  }
}

/** Returns the message about the answers of a plan; undefined when none was sent. */
export function noticeOfResults(
  { questions, outcome }: Pick<GroupPlan, "questions" | "outcome">,
  results: ReadonlyMap<string, EachResult>,
): Notice | undefined {
  if (results.size === 0) return undefined;
  const verb = outcome === "allow" ? "Allowed" : "Refused";
  const isTaken = ({ id }: ChangeQuestion): boolean => results.get(id) === "taken";
  const named = questions.filter(isTaken).map(({ title }) => title);
  const failed = questions.flatMap(({ id, title }) => {
    const result = results.get(id);
    return typeof result === "object" ? [`${title} (${result.failure})`] : [];
  });
  const taken = named.length === 0 ? `${verb}: none.` : `${verb}: ${named.join(", ")}.`;
  if (failed.length === 0) return { text: taken, isFailure: false };
  return { text: `${taken} Not answered: ${failed.join(", ")}.`, isFailure: true };
}
