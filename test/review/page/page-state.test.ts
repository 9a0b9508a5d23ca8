/** The state of the page in the browser, its keys, and the rows of a diff: pure functions, without a browser. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { changedLines, choiceCounts, chosenParts } from "../../../js/review/page/state/choice.ts";
import { textParts, visibleText } from "../../../js/review/page/diff/escapes.ts";
import { diffRows, MAX_ROW_CHARS } from "../../../js/review/page/diff/rows.ts";
import { ROW_HEIGHT, visibleRows } from "../../../js/review/page/diff/virtual-list.ts";
import { STATES } from "./catalogue/all-states.ts";
import { effectOfKey } from "../../../js/review/page/keys/keys.ts";
import {
  editedChange,
  hasUnsent,
  whyNotAllowed,
  whyNotEdited,
  whyNotRefused,
} from "../../../js/review/page/state/answers.ts";
import { reducePage } from "../../../js/review/page/state/reduce.ts";
import { KEY_GUARD_MS, type PageState } from "../../../js/review/page/state/store.ts";
import { compareWithSeen } from "../../../js/review/page/state/seen.ts";
import { endInWords } from "../../../js/review/questions/ends.ts";
import type {
  ChangeRows,
  ReviewEvent,
  ReviewQuestion,
  UnnumberedEvent,
} from "../../../js/review/protocol.ts";

const state = (name: string): PageState => STATES[name] as PageState;
/** A time after which keys answer. */
const LATER = KEY_GUARD_MS + 1;
/** Why a question cannot be answered that Ben has answered. */
const BY_BEN = "This question was answered by ben in the meantime.";

describe("what was answered last", () => {
  const back = (name: string): PageState => reducePage(state(name), { type: "put-back", now: LATER });

  it("is put back by a dialog when it was allowed in this name, and shown again when it was refused", () => {
    expect(effectOfKey(state("refused"), "u", LATER)).toEqual({ type: "put-back", now: LATER });
    expect(back("put-back-last").dialog).toBe("put-back");
    expect(back("refused").chosen).toBe("q1");
    expect(back("refused").dialog).toBeUndefined();
    expect(back("refused").notice?.text).toContain("Your reason was: keep the early return");
    // Ben has answered, not Ana.
    expect(back("answered-elsewhere")).toBe(state("answered-elsewhere"));
  });

  it("is a draft of a reason again only when the same question waits again", () => {
    const { review, ...rest } = state("refused");
    const [{ question } = { question: undefined }] = review.settled;
    const waiting = [{ ...question, id: "q9" }] as typeof review.waiting;
    const again = reducePage({ ...rest, review: { ...review, waiting } }, { type: "put-back", now: LATER });
    expect([again.chosen, again.dialog, again.reason]).toEqual(["q9", "refuse", "keep the early return"]);
    const other = [{ ...question, id: "q9", digest: "sha256:other" }] as typeof review.waiting;
    const not = reducePage(
      { ...rest, review: { ...review, waiting: other } },
      { type: "put-back", now: LATER },
    );
    expect([not.chosen, not.dialog, not.reason]).toEqual(["q1", undefined, ""]);
  });
});

describe("the message of what happened", () => {
  const sent = state("sent-wider");
  const shown = (after: PageState): string | undefined => after.notice?.text;

  it("says what a wider answer allows beyond the call, until when, and names it for the policy", () => {
    expect(shown(sent)).toBe(
      "Allowed: Edit src/pay/refund.ts. Later calls of edit_file by main are allowed without a question on everything below /repo/src/pay, until the end of the session. The policy lists it and can revoke it.",
    );
    const allowed = { scope: { tool: "edit_file", path: "/repo/src/pay/**", until: "session" } };
    const policy = reducePage(sent, { type: "allowed", allowed });
    expect([policy.screen, policy.allowed, shown(policy)]).toEqual(["policy", allowed, undefined]);
    expect(reducePage(policy, { type: "screen", screen: "policy" }).allowed).toBeUndefined();
  });

  it("says what is granted by the plain answer about a directory, too", () => {
    const granted = reducePage(state("directory"), {
      type: "sent",
      id: "q3",
      outcome: "allow",
      now: LATER,
      wider: { grant: { access: "read", until: "session" }, dir: "/data/exports" },
    });
    expect(shown(granted)).toContain(
      "Reading in /data/exports and everything below it is allowed without a question, until the end of the session.",
    );
    expect(granted.notice?.allowed).toEqual({ dir: "/data/exports" });
  });

  it("stays when something arrives, and goes with what the person does next", () => {
    const seq = sent.review.seq + 1;
    const question = { ...(sent.review.waiting[0] as ReviewQuestion), id: "new" };
    const arrived = { type: "event", event: { seq, type: "asked", question }, now: LATER } as const;
    expect(shown(reducePage(sent, arrived))).toBe(shown(sent));
    for (const next of [
      { type: "dismiss" },
      { type: "step", by: 1, now: LATER },
      { type: "choose", id: "q3", now: LATER },
      { type: "screen", screen: "timeline" },
      { type: "dialog", dialog: "refuse" },
      { type: "sending", id: "q2" },
    ] as const)
      expect(shown(reducePage(sent, next)), next.type).toBeUndefined();
  });
});

it("what was typed for a question that was answered elsewhere is not answered with, and says by whom", () => {
  const answered = state("edit-answered");
  expect(whyNotEdited(answered)).toBe(BY_BEN);
  expect(whyNotRefused({ ...answered, sending: answered.chosen })).toBe("An answer is being sent.");
  const [settled] = state("withdrawn").review.settled;
  expect(settled).toBeDefined();
  expect(whyNotRefused(state("withdrawn"))).toBe("The agent does not wait for this answer any more.");
});

it("leaving the page would lose a typed text and a choice of hunks, as long as the question waits", () => {
  const waiting = state("waiting");
  const { chosen: id = "" } = waiting;
  const draft = (text: string | undefined, from = waiting) =>
    reducePage(from, { type: "draft", id, change: 0, text });
  expect(hasUnsent(waiting)).toBe(false);
  expect(hasUnsent(reducePage(waiting, { type: "typing" }))).toBe(true);
  expect(hasUnsent(draft("mine"))).toBe(true);
  expect(hasUnsent(draft(undefined, draft("mine")))).toBe(false);
  expect(hasUnsent(reducePage(waiting, { type: "toggle", key: "0:0" }))).toBe(true);
  const event = {
    seq: waiting.review.seq + 1,
    type: "answered",
    id,
    outcome: "allow",
    by: "ben",
    at: 1,
  } as const;
  expect(hasUnsent(reducePage(draft("mine"), { type: "event", event, now: LATER }))).toBe(false);
});

it("a change that does not fit the present content can only be refused, with the reason filled in", () => {
  const conflict = state("conflict");
  expect(whyNotAllowed(conflict)).toBeDefined();
  expect(whyNotRefused(conflict)).toBeUndefined();
  for (const key of ["a", "w", "e", "l", "v"]) expect(effectOfKey(conflict, key, LATER)).toBeUndefined();
  const open = (from: PageState) => reducePage(from, { type: "dialog", dialog: "refuse" });
  expect(open(conflict).reason).toBe("a file has changed since then; read it again");
  expect(open({ ...conflict, reason: "mine" }).reason).toBe("mine");
  expect(open(state("stale")).reason).toBe("");
  const event = { seq: 1, type: "stale", id: "q1", conflict: "changed since it was read" } as const;
  const after = reducePage(state("waiting"), { type: "event", event, now: LATER });
  const [told] = after.review.waiting;
  expect(told).toMatchObject({ stale: true, conflict: "changed since it was read" });
  // The agent has read the file meanwhile, so another look helps.
  const read = { seq: 2, type: "stale", id: "q1" } as const;
  const again = reducePage(after, { type: "event", event: read, now: LATER });
  expect(again.review.waiting[0]?.conflict).toBeUndefined();
  expect(effectOfKey(again, "l", LATER)).toBeDefined();
});

it("an end has the same words everywhere", () => {
  const now = new Date(2026, 10, 27, 12, 4);
  const words = (until?: string, sessionEnd?: string) => endInWords(until, { now, sessionEnd });
  expect(["turn", "session", "kept", undefined].map((until) => words(until))).toEqual([
    "until the end of the turn",
    "until the end of the session",
    "kept in the rules file",
    "until it is revoked",
  ]);
  expect(words("session", "for 8 hours, at every replica")).toBe("for 8 hours, at every replica");
  expect(words(new Date(2026, 10, 27, 14, 5).toISOString())).toBe("until 14:05");
  expect(words(new Date(2026, 10, 28, 9, 0).toISOString())).toBe("until 2026-11-28 09:00");
});

describe("an answer", () => {
  it.each([
    ["waiting", undefined, undefined],
    ["offline", "There is no connection to the server.", "There is no connection to the server."],
    ["watching", "This login may only watch.", "This login may only watch."],
    ["sending", "An answer is being sent.", "An answer is being sent."],
    ["answered-elsewhere", BY_BEN, BY_BEN],
    ["stale", "A file has changed since the question was asked.", undefined],
    ["incomplete", "The question does not show the whole change.", undefined],
    ["loading", "The change is being loaded.", undefined],
    ["not-loaded", "The change could not be loaded.", undefined],
    ["directory", undefined, undefined],
  ])("to a question that is %s: allowed unless '%s', refused unless '%s'", (name, allowed, refused) => {
    expect([whyNotAllowed(state(name)), whyNotRefused(state(name))]).toEqual([allowed, refused]);
  });

  it("is for the rows that are drawn: those of another digest cannot be allowed", () => {
    const { rows, chosen = "", ...rest } = state("waiting");
    const [page] = rows.get(chosen)?.pages ?? [];
    const pages = [{ ...(page as ChangeRows), digest: "sha256:other" }];
    const other = { ...rest, chosen, rows: new Map([[chosen, { pages, isComplete: true }]]) };
    expect(whyNotAllowed(other)).toBe("Another change is shown.");
  });

  it("allows the chosen hunks, and nothing where none is chosen", () => {
    const none = ["0:0", "0:1"].reduce(
      (before, key) => reducePage(before, { type: "toggle", key }),
      state("waiting"),
    );
    expect([choiceCounts(none).chosen, whyNotAllowed(none)]).toEqual([0, "No hunk is chosen."]);
    const one = reducePage(none, { type: "toggle", key: "0:1" });
    expect([chosenParts(one), whyNotAllowed(one)]).toEqual([[{ change: 0, hunks: [1] }], undefined]);
  });

  it("allows whole changes, also those without hunks, and files at once", () => {
    const toggle = (before: PageState, ...keys: string[]): PageState =>
      keys.reduce((last, key) => reducePage(last, { type: "toggle", key }), before);
    const all = state("several-files");
    expect(choiceCounts(all)).toEqual({ chosen: 3, partly: 0, all: 3, areHunks: false });
    expect(chosenParts(toggle(all, "1"))).toEqual([
      { change: 0, hunks: [0] },
      { change: 2, hunks: [] },
    ]);
    expect(chosenParts(toggle(all, "2", "0"))).toEqual([{ change: 1, hunks: [0] }]);
    expect(whyNotAllowed(toggle(all, "0", "1", "2"))).toBe("Nothing is chosen.");
    // A file of which one hunk is left out is chosen again as one, and then left out as one.
    const hunk = toggle(state("waiting"), "0:1");
    expect([choiceCounts(toggle(hunk, "0")).chosen, choiceCounts(toggle(hunk, "0", "0")).chosen]).toEqual([
      2, 0,
    ]);
  });

  it("allows the chosen lines of a hunk", () => {
    const toggle = (before: PageState, ...lines: number[]): PageState =>
      lines.reduce((last, line) => reducePage(last, { type: "toggle", key: "0:0", line }), before);
    const some = toggle(state("waiting"), 4);
    expect(chosenParts(some)).toEqual([{ change: 0, hunks: [1], lines: [{ hunk: 0, rows: [2, 3] }] }]);
    expect(choiceCounts(some)).toMatchObject({ chosen: 1, partly: 1, all: 2 });
    // A line that the hunk does not change cannot be chosen, and all lines are the hunk.
    expect(toggle(some, 1).leftOut.get("q1")).toBe(some.leftOut.get("q1"));
    expect(chosenParts(toggle(some, 4))).toEqual([{ change: 0, hunks: [0, 1] }]);
    expect(chosenParts(toggle(some, 2, 3))).toEqual([{ change: 0, hunks: [1] }]);
    expect(chosenParts(toggle(some, 2, 3, 3))).toEqual([
      { change: 0, hunks: [1], lines: [{ hunk: 0, rows: [3] }] },
    ]);
  });

  it("counts no line that says that a last line has no end", () => {
    expect(changedLines(" a\n-b\n\\ No newline at end of file\n+c\n+d")).toEqual([1, 2, 3]);
    expect(changedLines("")).toEqual([]);
  });
});

/** Returns the state after keys, each long after the one before. */
const press = (before: PageState, ...keys: string[]): PageState =>
  keys.reduce((last, key) => {
    const effect = effectOfKey(last, key, last.chosenAt + LATER);
    return effect === undefined || effect.type === "answer" ? last : reducePage(last, effect);
  }, before);

describe("a key", () => {
  it("chooses lines: v begins, n and p go over the changed ones of all hunks, space leaves one out", () => {
    const lines = press(state("waiting"), "v");
    expect([lines.hunk, lines.line]).toEqual([0, 2]);
    expect(press(lines, "n", "n")).toMatchObject({ hunk: 0, line: 4 });
    expect(press(lines, "n", "n", "n")).toMatchObject({ hunk: 1, line: 2 });
    expect(press(lines, "n", "n", "n", "p")).toMatchObject({ hunk: 0, line: 4 });
    expect(press(lines, "p")).toMatchObject({ hunk: 0, line: 2 });
    expect(chosenParts(press(lines, " ", "n", " "))).toEqual([
      { change: 0, hunks: [1], lines: [{ hunk: 0, rows: [4] }] },
    ]);
    for (const key of ["v", "Escape"]) expect(press(lines, key).line, key).toBeUndefined();
    expect(press(lines, "j").line).toBeUndefined();
    // Nothing of a question without parts, and nothing of a change that is made as one.
    expect(press(state("incomplete"), "v").line).toBeUndefined();
    expect(press(state("several-files"), "n", "v").line).toBeUndefined();
    expect(press(state("watching"), "v").line).toBeUndefined();
  });

  it("leaves out a change without hunks", () => {
    const marked = press(state("several-files"), "n", "n");
    expect(marked.hunk).toBe(2);
    expect(chosenParts(press(marked, " ")).map(({ change }) => change)).toEqual([0, 1]);
  });

  it("answers no question that has just appeared, and none behind a dialog", () => {
    const shown = { ...state("waiting"), chosenAt: 1000 };
    for (const key of ["a", "r", " "]) {
      expect(effectOfKey(shown, key, 1000 + KEY_GUARD_MS - 1), key).toBeUndefined();
      expect(effectOfKey(shown, key, 1000 + KEY_GUARD_MS), key).toBeDefined();
      expect(effectOfKey({ ...shown, dialog: "keys" }, key, 2000), key).toBeUndefined();
    }
  });

  it.each(["offline", "watching", "sending", "answered-elsewhere", "withdrawn", "empty"])(
    "answers nothing in the state %s",
    (name) => {
      for (const key of ["a", "r"]) expect(effectOfKey(state(name), key, LATER), key).toBeUndefined();
    },
  );

  it("begins the guard anew with each question that becomes the chosen one", () => {
    const next = reducePage(state("waiting"), { type: "step", by: 1, now: 5000 });
    expect([next.chosen, next.chosenAt]).toEqual(["q2", 5000]);
    const gone = reducePage(reducePage(state("waiting"), { type: "sending", id: "q1" }), {
      type: "sent",
      id: "q1",
      outcome: "allow",
      now: 7000,
    });
    expect([gone.chosen, gone.chosenAt, gone.notice?.text]).toEqual([
      "q2",
      7000,
      "Allowed: Edit src/pay/refund.ts",
    ]);
  });

  it("a question that arrives is chosen only where none is", () => {
    const question = {
      ...state("directory").review.waiting[2],
      id: "new",
    } as PageState["review"]["waiting"][0];
    const arrive = (before: PageState): PageState =>
      reducePage(before, { type: "event", event: { seq: 1, type: "asked", question }, now: 9000 });
    expect(arrive(state("waiting")).chosen).toBe("q1");
    expect(arrive(state("answered-elsewhere")).chosen).toBe("q1");
    const first = arrive(state("empty"));
    expect([first.chosen, first.chosenAt]).toEqual(["new", 9000]);
  });
});

const anyLine = fc.oneof(
  fc.string({ unit: "binary", maxLength: 40 }),
  fc.string({ unit: "grapheme", minLength: MAX_ROW_CHARS - 2, maxLength: 3 * MAX_ROW_CHARS }),
  fc.constant("\ud83d\ude00".repeat(MAX_ROW_CHARS)),
);

it("the editor opens for a text of which everything is chosen", () => {
  expect(effectOfKey(state("waiting"), "e", LATER)).toEqual({ type: "dialog", dialog: "edit" });
  expect(effectOfKey({ ...state("waiting"), chosenAt: 1000 }, "e", 1000 + KEY_GUARD_MS - 1)).toBeUndefined();
  for (const name of ["some-hunks", "stale", "watching", "offline", "directory", "incomplete"])
    expect(effectOfKey(state(name), "e", LATER), name).toBeUndefined();
  const several = state("several-files");
  expect(editedChange(several)).toBe(0);
  expect(editedChange({ ...several, hunk: 1 })).toBe(1);
  // What is deleted has no text: the first that has one is opened.
  expect(editedChange({ ...several, hunk: 2 })).toBe(0);
});

describe("a question that became stale", () => {
  const stale = state("stale");
  const replacing = (replaces: string): PageState["review"]["waiting"][0] => ({
    ...(stale.review.waiting[0] as PageState["review"]["waiting"][0]),
    id: "new",
    stale: false,
    replaces,
  });
  const events = (before: PageState, ...given: readonly UnnumberedEvent[]): PageState =>
    given.reduce(
      (last, event, at) =>
        reducePage(last, {
          type: "event",
          event: { seq: last.review.seq + 1, ...event } as ReviewEvent,
          now: 9000 + at,
        }),
      before,
    );
  const answered = { type: "answered", id: "q1", outcome: "look_again", by: "ana", at: 1 } as const;

  it("is looked at again by a key, after the guard, and by no login that only watches", () => {
    expect(effectOfKey(stale, "l", LATER)).toEqual({ type: "answer", outcome: "look_again" });
    expect(effectOfKey({ ...stale, chosenAt: 1000 }, "l", 1000 + KEY_GUARD_MS - 1)).toBeUndefined();
    expect(effectOfKey({ ...stale, role: "watch" }, "l", LATER)).toBeUndefined();
    expect(effectOfKey({ ...stale, connection: "offline" }, "l", LATER)).toBeUndefined();
    expect(effectOfKey(state("waiting"), "l", LATER)).toBeUndefined();
  });

  it("stays until the question that replaces it comes, which is then chosen, whichever arrives first", () => {
    const sent = (before: PageState): PageState =>
      reducePage(before, { type: "sent", id: "q1", outcome: "look_again", now: 8000 });
    const waits = events(sent(stale), answered);
    expect([waits.chosen, waits.rows.has("q1")]).toEqual(["q1", true]);
    const orders = [
      events(waits, { type: "asked", question: replacing("q1") }),
      sent(events(stale, answered, { type: "asked", question: replacing("q1") })),
    ];
    for (const next of orders) {
      expect(next.chosen).toBe("new");
      expect(next.seen.get("new")).toBe(stale.rows.get("q1")?.pages);
      expect(effectOfKey(next, "a", next.chosenAt + KEY_GUARD_MS - 1)).toBeUndefined();
    }
    // A page that shows another question is left where it is, and can compare later.
    const other = reducePage(stale, { type: "choose", id: "q2", now: 0 });
    const elsewhere = events(other, answered, { type: "asked", question: replacing("q1") });
    expect([elsewhere.chosen, elsewhere.seen.has("new")]).toEqual(["q2", true]);
    expect(events(elsewhere, { type: "withdrawn", id: "new", at: 2 }).seen.size).toBe(0);
  });

  it("marks the hunks that were not seen, wherever they are in the file", () => {
    const [page] = state("waiting").rows.get("q1")?.pages ?? [];
    const rows = page as ChangeRows;
    const compare = (seen: readonly ChangeRows[]) => {
      const { news, gone } = compareWithSeen([rows], seen);
      return [Object.fromEntries(news), gone];
    };
    const moved = rows.hunks.map((hunk) => ({
      ...hunk,
      oldStart: hunk.oldStart + 7,
      newStart: hunk.newStart + 7,
    }));
    expect(compare([{ ...rows, hunks: moved }])).toEqual([{}, 0]);
    expect(compare([{ ...rows, hunks: moved.slice(1) }])).toEqual([{ "0:0": "new" }, 0]);
    const around = moved.map((hunk) => ({ ...hunk, lines: ` other\n${hunk.lines}` }));
    expect(
      compare([{ ...rows, hunks: [...around, { ...around[0], lines: "+x" } as (typeof moved)[0]] }]),
    ).toEqual([{ "0:0": "around", "0:1": "around" }, 1]);
    expect(compare([{ ...rows, change: { ...rows.change, path: "/other" } }])).toEqual([
      { "0:0": "new", "0:1": "new" },
      2,
    ]);
  });
});

describe("the rows of a diff", () => {
  it("show every character of every line, in rows of a bounded length that divide no pair of surrogates", () => {
    const lines = fc.array(
      fc.tuple(
        fc.constantFrom(" ", "+", "-"),
        anyLine.map((text) => text.replaceAll("\n", "")),
      ),
      { minLength: 1, maxLength: 12 },
    );
    fc.assert(
      fc.property(lines, (given) => {
        const text = given.map(([mark, line]) => mark + line).join("\n");
        const hunk = { oldStart: 7, oldLines: 1, newStart: 9, newLines: 1, lines: text };
        const [page] = state("waiting").rows.get("q1")?.pages ?? [];
        const { rows, hasCrlf } = diffRows([{ ...(page as ChangeRows), hunks: [hunk] }]);
        const drawn: string[] = [];
        for (const row of rows) {
          if (row.kind === "file" || row.kind === "hunk" || row.kind === "detail") continue;
          expect(row.text.length).toBeLessThanOrEqual(MAX_ROW_CHARS + 1);
          expect(/^[\udc00-\udfff]/u.test(row.text) && row.isRest).toBe(false);
          if (row.isRest) drawn[drawn.length - 1] += row.text;
          else drawn.push(row.text);
        }
        const expected = given.map(([, line]) => (hasCrlf ? line.replace(/\r$/u, "") : line));
        expect(drawn).toEqual(expected);
      }),
      { numRuns: 200 },
    );
  });

  it("are numbered as a unified diff numbers them", () => {
    const [page] = state("waiting").rows.get("q1")?.pages ?? [];
    const { rows, hunkRows } = diffRows([page as ChangeRows]);
    expect(hunkRows.map((row) => rows[row]?.kind)).toEqual(["hunk", "hunk"]);
    const numbers = rows.flatMap((row) => ("old" in row ? [[row.old, row.new]] : []));
    expect(numbers.slice(0, 5)).toEqual([
      [86, 86],
      [87, 87],
      [88, undefined],
      [undefined, 88],
      [undefined, 89],
    ]);
  });

  it("are drawn where they can be seen, and around", () => {
    expect(visibleRows(0, 400, 10)).toEqual({ start: 0, end: 10 });
    const { start, end } = visibleRows(5000 * ROW_HEIGHT, 400, 100_000);
    expect(start).toBeLessThan(5000);
    expect(end).toBeGreaterThan(5020);
    expect(end - start).toBeLessThan(60);
  });
});

describe("what cannot be seen", () => {
  it("is shown as escapes", () => {
    expect(visibleText("a\u202eb\u0007c\u200bd\ud800e\r\u{e0041}")).toBe(
      "a\\u{202e}b\\x07c\\u{200b}d\\u{d800}e\\r\\u{e0041}",
    );
    expect(textParts("tab\tand ünïcode 日本")).toEqual([{ text: "tab\tand ünïcode 日本", isEscape: false }]);
  });

  it("never reaches the page otherwise, whatever the text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        const kept = textParts(text).filter(({ isEscape }) => !isEscape);
        for (const part of kept)
          expect(part.text).not.toMatch(/(?!\t)[\p{Cc}\p{Cf}\p{Surrogate}\u2028\u2029]/u);
      }),
    );
  });
});

describe("after the last question was answered", () => {
  it("the next one that is asked is chosen, unless the person has gone elsewhere", () => {
    const [first, second] = state("waiting").review.waiting;
    const alone = {
      ...state("waiting"),
      review: { ...state("waiting").review, waiting: [first as NonNullable<typeof first>] },
    };
    const { seq } = alone.review;
    const answered: PageState = reducePage(
      reducePage(alone, {
        type: "event",
        event: { seq: seq + 1, type: "answered", id: first?.id ?? "", outcome: "allow", by: "ana", at: 1 },
        now: LATER,
      }),
      { type: "sent", id: first?.id ?? "", outcome: "allow", now: LATER },
    );
    const asked = (before: PageState): PageState =>
      reducePage(before, {
        type: "event",
        event: { seq: seq + 2, type: "asked", question: second as NonNullable<typeof second> },
        now: LATER * 2,
      });
    expect([answered.chosen, asked(answered).chosen]).toEqual([first?.id, second?.id]);
    expect(asked(answered).chosenAt).toBe(LATER * 2);
    // What the person chooses stays.
    const again = reducePage(answered, { type: "choose", id: first?.id ?? "", now: LATER });
    expect(asked(again).chosen).toBe(first?.id);
  });
});
