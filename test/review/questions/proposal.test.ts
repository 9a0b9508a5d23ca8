/** The proposal of a wider answer: when it comes, and that it is no wider than what was allowed. */
import { describe, expect, it } from "vitest";
import { STATES } from "../page/catalogue/all-states.ts";
import { proposalFor } from "../../../js/review/page/screens/wider/proposal.ts";
import type { PageState } from "../../../js/review/page/state/store.ts";
import type { ReviewQuestion, SettledQuestion } from "../../../js/review/protocol.ts";

type ChangeQuestion = ReviewQuestion & { readonly kind: "change" };

const READY = STATES["waiting"] as PageState;
const QUESTION = READY.review.waiting[0] as ChangeQuestion;
const [EDIT] = QUESTION.changes;

/** Returns a settled question about one path, which `ana` has allowed once unless `other` says something else. */
function settled(path: string, other: Partial<SettledQuestion> = {}, more: Partial<ChangeQuestion> = {}) {
  const changes = [{ ...(EDIT as NonNullable<typeof EDIT>), path }];
  const question: ChangeQuestion = { ...QUESTION, id: path, changes, ...more };
  return { question, outcome: "allow", by: "ana", at: 0, ...other } as SettledQuestion;
}

const FIVE = ["a", "b", "c", "d", "e"].map((name) => settled(`/repo/src/pay/${name}.ts`));

/** Returns what is proposed for a question about `/repo/src/pay/refund.ts` after these answers. */
function proposed(answers: readonly SettledQuestion[], question: ChangeQuestion = QUESTION) {
  return proposalFor({ ...READY, review: { ...READY.review, settled: answers } }, question)?.draft;
}

describe("a proposal", () => {
  it("comes after five calls of one kind, for their directory, agent and turn", () => {
    expect(proposed(FIVE.slice(1))).toBeUndefined();
    expect(proposed(FIVE)).toEqual({
      place: "directory",
      dir: "/repo/src/pay",
      isAgentOnly: true,
      end: "turn",
    });
  });

  it("is for the file alone where all were about that file", () => {
    const same = Array.from({ length: 5 }, () => settled("/repo/src/pay/refund.ts"));
    expect(proposed(same)).toEqual({ place: "files", isAgentOnly: true, end: "turn" });
  });

  it("is for the deepest directory that contains them all, and for the session where their turns differ", () => {
    const other = settled("/repo/src/cart.ts", {}, { turn: "named another" });
    expect(proposed([...FIVE.slice(1), other])).toMatchObject({ dir: "/repo/src", end: "session" });
  });

  it("names the directory from which something was moved, too", () => {
    const change = { ...(EDIT as NonNullable<typeof EDIT>), from: "/repo/src/old/x.ts" };
    const moved = settled("/repo/src/pay/x.ts", {}, { changes: [change] });
    expect(proposed([...FIVE.slice(1), moved])).toMatchObject({ dir: "/repo/src" });
  });

  it("is not made for a question outside of what was allowed", () => {
    const changes = [{ ...(EDIT as NonNullable<typeof EDIT>), path: "/repo/src/cart.ts" }];
    const wider = {
      ...(QUESTION.wider as NonNullable<ChangeQuestion["wider"]>),
      files: ["/repo/src/cart.ts"],
    };
    expect(proposed(FIVE, { ...QUESTION, changes, wider })).toBeUndefined();
  });

  it("never covers every path", () => {
    expect(proposed([...FIVE.slice(1), settled("/srv/x.ts")])).toBeUndefined();
  });

  it.each([
    ["a refusal", settled("/repo/src/pay/c.ts", { outcome: "refuse" })],
    ["an answer in part", settled("/repo/src/pay/c.ts", { outcome: "allow_parts" })],
    ["a wider answer", settled("/repo/src/pay/c.ts", { isWider: true })],
    ["the answer of another person", settled("/repo/src/pay/c.ts", { by: "ben" })],
  ])("begins to count again after %s", (_, answer) => {
    expect(proposed([...FIVE.slice(0, 2), answer, ...FIVE.slice(2)])).toBeUndefined();
    expect(proposed([answer, ...FIVE])).toBeDefined();
  });

  it.each([
    ["another tool", settled("/repo/z.ts", { outcome: "refuse" }, { tool: "write_file" })],
    ["another agent", settled("/repo/z.ts", { outcome: "refuse" }, { agent: "reviewer" })],
    ["a call that was given up", settled("/repo/z.ts", { outcome: "withdrawn" })],
  ])("does not count %s", (_, answer) => {
    expect(proposed([...FIVE, answer])).toMatchObject({ dir: "/repo/src/pay" });
  });

  it("is not made where only this call can be allowed", () => {
    const { wider: _, ...once } = QUESTION;
    expect(proposed(FIVE, once as ChangeQuestion)).toBeUndefined();
  });
});
