import type { Confirm, Confirmation, ConfirmReply, Outcome } from "../../js/index.node.ts";

/** A reviewer who gives these answers in turn, then refuses; and what was shown. */
export function reviewer(...answers: (Outcome | ConfirmReply | (() => Promise<ConfirmReply>))[]) {
  const shown: Confirmation[] = [];
  const confirm: Confirm = async (details) => {
    shown.push(details);
    const answer = answers.shift() ?? "cancel";
    if (typeof answer === "function") return answer();
    return typeof answer === "string" ? { outcome: answer } : answer;
  };
  return { shown, confirm };
}
