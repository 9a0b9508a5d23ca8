/** The states of the catalogue in which questions of one turn and directory wait. */
import type { ChangeSummary, ReviewQuestion } from "../../../../js/review/protocol.ts";
import type { ChangeQuestion } from "../../../../js/review/page/state/question-paths.ts";
import { reducePage } from "../../../../js/review/page/state/reduce.ts";
import type { PageState } from "../../../../js/review/page/state/store.ts";
import { waitingItems } from "../../../../js/review/page/screens/group/group.ts";

/** Returns the states. `ready` shows `first`, which is one of a group here. */
export function groupStates(ready: PageState, first: ChangeQuestion): Readonly<Record<string, PageState>> {
  const [edit] = first.changes;
  const other = (
    id: string,
    change: Partial<ChangeSummary>,
    rest: Partial<ChangeQuestion> = {},
  ): ChangeQuestion => ({
    ...first,
    id,
    title: `Change ${change.path}`,
    digest: `sha256:${id}`,
    changes: [{ ...(edit as ChangeSummary), ...change }],
    ...rest,
  });
  const questions = [
    first,
    other("g2", { path: "/repo/src/pay/ledger.ts", added: 12, removed: 3 }),
    other("g3", { path: "/repo/src/pay/nothing-due.ts", kind: "create", added: 9, removed: 0 }),
    other("g4", { path: "/repo/src/pay/refund.test.ts", added: 31, removed: 4 }),
  ];
  const alone = [
    other("g5", { path: "/repo/src/pay/due.ts" }, { stale: true }),
    other("g6", { path: "/repo/src/pay/rates.json" }, { risk: "medium", incomplete: "it has 80 MB" }),
    other("g7", { path: "/repo/src/pay/old.ts", kind: "delete", added: 0, removed: 40 }, { risk: "high" }),
    other("g8", { path: "/repo/src/pay/keys.ts" }, { callId: "c8" }),
    other("g9", { path: "/repo/src/pay/keys.ts" }, { callId: "c8", digest: "sha256:g8" }),
  ];
  const elsewhere = ready.review.waiting.slice(1);
  const showing = (group: readonly ReviewQuestion[], rest: Partial<PageState> = {}): PageState => ({
    ...ready,
    review: { ...ready.review, waiting: [...group, ...elsewhere] },
    ...rest,
  });
  const opened = (state: PageState, outcome: "allow" | "refuse"): PageState => {
    const group = waitingItems(state.review.waiting).find((item) => "questions" in item);
    return group !== undefined && "questions" in group
      ? reducePage(state, { type: "group", group, outcome })
      : state;
  };
  const mixed = [...questions, ...alone];
  const gone = opened(showing(questions), "allow");
  const [, second, ...others] = questions;
  return {
    group: showing(mixed),
    "group-list": showing(questions, { pane: "waiting", chosen: elsewhere[0]?.id }),
    "group-watching": showing(questions, { role: "watch", pane: "waiting" }),
    "group-allow": opened(showing(mixed), "allow"),
    "group-refuse": opened(showing(mixed), "refuse"),
    "group-gone": {
      ...gone,
      review: {
        ...gone.review,
        waiting: [{ ...(second as ReviewQuestion), stale: true }, ...others, ...elsewhere],
        settled: [{ question: first, outcome: "refuse", by: "ben", at: first.askedAt }],
      },
    },
  };
}
