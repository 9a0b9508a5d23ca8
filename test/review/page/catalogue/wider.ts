/** The state of a proposed wider answer, for the catalogue. */
import type { SettledQuestion } from "../../../../js/review/protocol.ts";
import type { PageState } from "../../../../js/review/page/state/store.ts";

/** Returns the state after five calls in the directory of the first question that waits were allowed once. */
export function proposedState(ready: PageState): PageState {
  const settled = ready.review.waiting.slice(0, 1).flatMap((question) =>
    ["ledger", "order", "credit", "account", "entry"].map((name, index): SettledQuestion => {
      const path = `/repo/src/pay/${name}.ts`;
      const at = question.askedAt - 60_000 + index * 10_000;
      const changes = question.kind === "change" ? question.changes.map((one) => ({ ...one, path })) : [];
      return {
        question: { ...question, id: name, changes } as SettledQuestion["question"],
        outcome: "allow",
        by: ready.by,
        at,
      };
    }),
  );
  return { ...ready, review: { ...ready.review, settled } };
}

/** The elements that must be there before a picture of the state is made. */
export const WIDER_STEPS: Readonly<Record<string, readonly (readonly [selector: string])[]>> = {
  proposed: [[".proposed"]],
};
