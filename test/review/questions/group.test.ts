/** Questions of one turn and directory: which are one card, what is answered together, and that each answer counts once. */
import { describe, expect, it } from "vitest";
import { STATES } from "../page/catalogue/all-states.ts";
import {
  answerEach,
  type EachResult,
  noticeOfResults,
} from "../../../js/review/page/screens/group/answer-each.ts";
import {
  makerOf,
  planOf,
  type QuestionGroup,
  waitingInOrder,
  waitingItems,
  whyGone,
} from "../../../js/review/page/screens/group/group.ts";
import { effectOfKey } from "../../../js/review/page/keys/keys.ts";
import { reducePage } from "../../../js/review/page/state/reduce.ts";
import { KEY_GUARD_MS, type PageState } from "../../../js/review/page/state/store.ts";
import type { ChangeQuestion } from "../../../js/review/page/state/question-paths.ts";
import { hubTransport } from "../../../js/review/index.node.ts";
import type { ReviewQuestion, ReviewSnapshot, ReviewState } from "../../../js/review/protocol.ts";
import { openPlace, type Place, untilHub } from "../place.ts";

const state = (name: string): PageState => STATES[name] as PageState;
const LATER = KEY_GUARD_MS + 1;

/** Returns the only group that waits. */
function groupIn({ waiting }: Pick<ReviewState, "waiting">): QuestionGroup {
  const groups = waitingItems(waiting).filter((item) => "questions" in item);
  expect(groups.length).toBe(1);
  return groups[0] as QuestionGroup;
}

const ids = (questions: readonly { readonly id: string }[]): string[] => questions.map(({ id }) => id);

/** Returns a question like that of the catalogue, about one file. */
function about(id: string, path: string, rest: Partial<ChangeQuestion> = {}): ChangeQuestion {
  const [first] = groupIn(state("group-list").review).questions;
  const question = first as ChangeQuestion;
  const changes = question.changes.map((change) => ({ ...change, path }));
  return { ...question, id, digest: `sha256:${id}`, changes, ...rest };
}

describe("a card", () => {
  it("has the questions of one agent, one turn and one directory, and stands where the oldest does", () => {
    const waiting: ReviewQuestion[] = [
      about("1", "/w/a/x.ts"),
      about("2", "/w/b/x.ts"),
      about("3", "/w/a/y.ts"),
      about("4", "/w/a/z.ts", { agent: "other" }),
      about("5", "/w/a/z.ts", { turn: "named another" }),
      about("6", "/w/a/deeper/z.ts"),
      about("7", "/w/a/z.ts"),
    ];
    const group = groupIn({ waiting });
    expect([group.dir, makerOf(group), ids(group.questions)]).toEqual([
      "/w/a",
      "by main, turn fix refunds",
      ["1", "3", "7"],
    ]);
    expect(ids(waitingInOrder(waiting))).toEqual(["1", "3", "7", "2", "4", "5", "6"]);
  });

  it("is not made of questions without a turn, of commands, or of one change that several people are asked about", () => {
    const { turn: _, ...unnamed } = about("1", "/w/a/x.ts");
    const [change] = unnamed.changes;
    const command = { changes: [{ ...change, type: "other" }] } as Partial<ChangeQuestion>;
    const asked = { callId: "c1", digest: "sha256:same" };
    for (const waiting of [
      [unnamed, { ...unnamed, id: "2" }],
      [about("1", "/w/a", command), about("2", "/w/a", command)],
      [about("1", "/w/a/x.ts", asked), about("2", "/w/a/x.ts", asked)],
    ])
      expect(waitingItems(waiting)).toEqual(waiting);
  });

  it("is gone through by j and k before what was asked between its questions", () => {
    const waiting = [about("1", "/w/a/x.ts"), about("2", "/w/b/x.ts"), about("3", "/w/a/y.ts")];
    const first = { ...state("waiting"), review: { ...state("waiting").review, waiting }, chosen: "1" };
    const second = reducePage(first, { type: "step", by: 1, now: LATER });
    expect([second.chosen, reducePage(second, { type: "step", by: 1, now: LATER }).chosen]).toEqual([
      "3",
      "2",
    ]);
    const sent = { type: "sent", id: "1", outcome: "allow", now: LATER } as const;
    expect(reducePage(first, sent).chosen).toBe("3");
  });
});

describe("a plan", () => {
  const plan = (outcome: "allow" | "refuse", from = state("group")) =>
    planOf(from, groupIn(from.review), outcome);

  it("leaves out, with the reason, what needs an answer of its own", () => {
    const { questions, leftOut } = plan("allow");
    expect(ids(questions)).toEqual(["q1", "g2", "g3", "g4"]);
    expect(leftOut.map(({ question, why }) => [question.id, why])).toEqual([
      ["g5", "a file has changed since it was asked"],
      ["g6", "it is not shown whole: it has 80 MB"],
      ["g7", "its risk is high, higher than that of the others"],
      ["g8", "several people are asked"],
    ]);
  });

  it("refuses what cannot be allowed, too, except what several people are asked", () => {
    const { questions, leftOut } = plan("refuse");
    expect(ids(questions)).toEqual(["q1", "g2", "g3", "g4", "g5", "g6", "g7"]);
    expect(ids(leftOut.map(({ question }) => question))).toEqual(["g8"]);
  });

  it("does not allow the whole of a change of which a person has left out a part", () => {
    const from = reducePage(state("group"), { type: "toggle", key: "0:1" });
    const { questions, leftOut } = plan("allow", from);
    expect(ids(questions)).not.toContain("q1");
    expect(leftOut[0]?.why).toBe("you have left out a part of it");
  });

  it("takes the risk that most have; of as many, the lower one", () => {
    const risks = (...given: readonly ChangeQuestion["risk"][]): string[] => {
      const waiting = given.map((risk, index) => about(`${index}`, `/w/a/${index}.ts`, { risk }));
      const from = { ...state("waiting"), review: { ...state("waiting").review, waiting } };
      return ids(plan("allow", from).questions);
    };
    expect(risks("medium", "low", "medium")).toEqual(["0", "1", "2"]);
    expect(risks("medium", "low", "low")).toEqual(["1", "2"]);
    expect(risks("high", "low")).toEqual(["1"]);
    expect(risks("high", "high")).toEqual(["0", "1"]);
  });

  it("is fixed when the dialog opens: what is asked later is not in it, and what is gone is told", () => {
    const before = state("group-list");
    const opened = reducePage(before, { type: "group", group: groupIn(before.review), outcome: "allow" });
    const { seq } = opened.review;
    const late = about("late", "/repo/src/pay/late.ts");
    const events = [
      { type: "asked", question: late },
      { type: "stale", id: "g2" },
      { type: "answered", id: "g3", outcome: "refuse", by: "ben", at: 1 },
      { type: "withdrawn", id: "g4", at: 1 },
    ] as const;
    const after = events.reduce(
      (last, event, index) =>
        reducePage(last, { type: "event", event: { ...event, seq: seq + index + 1 }, now: LATER }),
      opened,
    );
    expect(after.dialog).toBe("group");
    expect(ids(after.plan?.questions ?? [])).toEqual(["q1", "g2", "g3", "g4"]);
    expect(["q1", "g2", "g3", "g4"].map((id) => whyGone(after.review, id, "allow"))).toEqual([
      undefined,
      "a file has changed since it was asked",
      "ben refused it",
      "the agent does not wait for it any more",
    ]);
    expect(whyGone(after.review, "g2", "refuse")).toBeUndefined();
    // No key answers while the dialog is open.
    for (const key of ["a", "r", "w", "Enter"]) expect(effectOfKey(after, key, LATER), key).toBeUndefined();
  });

  it("ends with the next question that waits", () => {
    const opened = state("group-allow");
    const taken = new Set(["q1", "g2", "g3", "g4"]);
    const notice = { text: "Allowed: …", isFailure: false };
    const ended = reducePage(opened, { type: "group-sent", ids: taken, notice, now: LATER });
    expect(ended).toMatchObject({ chosen: "g5", dialog: undefined, sending: undefined, notice });
  });
});

describe("the answers", () => {
  /** Asks about three files in a directory in one turn. Returns the questions in the order of their files. */
  async function ask(): Promise<{
    readonly place: Place;
    readonly calls: readonly ReturnType<Place["ws"]["call"]>[];
    readonly group: QuestionGroup;
    readonly review: () => Promise<ReviewState>;
  }> {
    const place = await openPlace({ "d/a.txt": "a\n", "d/b.txt": "b\n", "d/c.txt": "c\n" });
    const calls: ReturnType<Place["ws"]["call"]>[] = [];
    for (const name of ["a", "b", "c"]) {
      const change = { path: `d/${name}.txt`, old_text: name, new_text: `${name}!` };
      calls.push(place.ws.call("edit_file", change, { turn: "t" }));
      await untilHub(place.hub, () => place.hub.queue.pending().length === calls.length || undefined);
    }
    const transport = hubTransport(place.hub, { role: "answer", by: "ana" });
    const review = async () => ((await transport.request("state")) as ReviewSnapshot).state;
    return { place, calls, group: groupIn(await review()), review };
  }
  const contents = ({ backend }: Place): Promise<string[]> =>
    Promise.all(["a", "b", "c"].map((name) => backend.readText(`/w/d/${name}.txt`)));

  /** Answers a group as the dialog does, with this function before each answer. Returns the results by file. */
  async function answer(
    place: Place,
    group: QuestionGroup,
    outcome: "allow" | "refuse",
    whyNot: (question: ChangeQuestion) => string | undefined = () => undefined,
    send = (path: string, body: object): Promise<unknown> =>
      hubTransport(place.hub, { role: "answer", by: "ana" }).request(path, body),
  ) {
    const results = new Map<string, EachResult>();
    const plan = { outcome, questions: group.questions };
    await answerEach({ send: send as <T>(path: string, body: object) => Promise<T> }, plan, {
      reason: "not today",
      whyNot,
      tell: (id, result) => void results.set(id, result),
    });
    return {
      results: group.questions.map(({ id }) => results.get(id)),
      notice: noticeOfResults(plan, results),
    };
  }

  it("are given one by one, each with its own digest", async () => {
    const { place, calls, group } = await ask();
    const { results, notice } = await answer(place, group, "allow");
    expect(results).toEqual(["taken", "taken", "taken"]);
    expect(notice).toMatchObject({ isFailure: false });
    expect((await Promise.all(calls)).map(({ ok }) => ok)).toEqual([true, true, true]);
    expect(await contents(place)).toEqual(["a!\n", "b!\n", "c!\n"]);
  });

  it("refuse with one reason, which each call is told", async () => {
    const { place, calls, group } = await ask();
    expect((await answer(place, group, "refuse")).results).toEqual(["taken", "taken", "taken"]);
    for (const { ok, text } of await Promise.all(calls))
      expect([ok, text.includes("not today")]).toEqual([false, true]);
    expect(await contents(place)).toEqual(["a\n", "b\n", "c\n"]);
  });

  it("of which one fails are told one by one, and none is given twice", async () => {
    const { place, calls, group, review } = await ask();
    const [first, second] = group.questions;
    const ben = hubTransport(place.hub, { role: "answer", by: "ben" });
    await ben.request(`approvals/${first?.id}`, { outcome: "refuse", digest: first?.digest });
    await place.backend.writeBytes("/w/d/b.txt", new TextEncoder().encode("b, changed\n"));
    const { results, notice } = await answer(place, group, "allow");
    expect(results).toEqual([
      { failure: "it does not wait any more (answered by ben)" },
      { failure: "a file has changed since the question was asked" },
      "taken",
    ]);
    expect(notice?.isFailure).toBe(true);
    for (const { title } of [first, second] as ChangeQuestion[]) expect(notice?.text).toContain(`${title} (`);
    expect((await calls[2])?.ok).toBe(true);
    expect(await contents(place)).toEqual(["a\n", "b, changed\n", "c!\n"]);
    const settled = (await review()).settled.map(({ question, by }) => [question.id, by]);
    expect(settled).toEqual([
      [first?.id, "ben"],
      [group.questions[2]?.id, "ana"],
    ]);
  });

  it("end with the one of which it is not known whether it was taken", async () => {
    const { place, group, review } = await ask();
    const transport = hubTransport(place.hub, { role: "answer", by: "ana" });
    let sent = 0;
    // The server takes the second answer, and the connection breaks before it says so.
    const breaking = async (path: string, body: object): Promise<unknown> => {
      const answered = await transport.request(path, body);
      sent += 1;
      if (sent === 2) throw new TypeError("Failed to fetch");
      return answered;
    };
    const { results } = await answer(place, group, "allow", () => undefined, breaking);
    expect(results).toEqual([
      "taken",
      { failure: "the connection broke, so it is not known whether it was answered" },
      { failure: "not sent, because the connection broke" },
    ]);
    expect(ids((await review()).waiting)).toEqual([group.questions[2]?.id]);
  });

  it("are not given where something is against it by then", async () => {
    const { place, group } = await ask();
    const { results } = await answer(place, group, "allow", ({ id }) =>
      id === group.questions[1]?.id ? "ben allowed it" : undefined,
    );
    expect(results).toEqual(["taken", { failure: "ben allowed it" }, "taken"]);
    expect(place.hub.queue.pending().map(({ id }) => id)).toEqual([group.questions[1]?.id]);
  });
});
