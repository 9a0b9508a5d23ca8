/** The states of an answer: its dialogs, its way to the server, and the questions that need no answer any more. */
import type { PackedHunk } from "../../../../js/review/protocol.ts";
import { proposedState } from "./wider.ts";
import { reducePage } from "../../../../js/review/page/state/reduce.ts";
import type { PageState } from "../../../../js/review/page/state/store.ts";
import { DIRECTORY, NOW, PATCH, QUESTION, READY, REVIEW, ROWS } from "./samples.ts";

/** A hunk that was seen before the change was planned again. */
const SEEN_HUNK = {
  oldStart: 80,
  oldLines: 2,
  newStart: 80,
  newLines: 2,
  lines: " export function refund(order: Order): Refund {\n-  if (due < 0) return;\n+  if (due <= 0) return;",
};

/** Returns a hunk with another line before it. */
const withOtherContext = (hunk: PackedHunk): PackedHunk => ({ ...hunk, lines: ` // before\n${hunk.lines}` });

/** A question whose change does not fit the present content. */
const CONFLICT: PageState = {
  ...READY,
  review: {
    ...REVIEW,
    waiting: [{ ...QUESTION, stale: true, conflict: "'refund.ts' changed since it was read" }, PATCH],
  },
};

/** The state of all pages after Ben has answered. */
const ANSWERED: PageState["review"] = {
  ...REVIEW,
  waiting: [PATCH],
  settled: [{ question: QUESTION, outcome: "allow", by: "ben", at: NOW - 3000 }],
};

/** The text that Ana has typed into the editor. */
const DRAFTS = new Map([[QUESTION.id, new Map([[0, "export const due = 0; // typed by a person\n"]])]]);

/** The states by their names. */
export const ANSWER_STATES: Readonly<Record<string, PageState>> = {
  sending: { ...READY, sending: QUESTION.id },
  sent: { ...READY, notice: { text: "Allowed: Edit src/pay/cart.ts", isFailure: false } },
  "sent-wider": reducePage(READY, {
    type: "sent",
    id: QUESTION.id,
    outcome: "allow",
    now: NOW,
    wider: { wider: { place: "directory", isAgentOnly: true, until: "session" } },
  }),
  "not-sent": {
    ...READY,
    notice: { text: "Not answered: it does not wait any more (answered by ben).", isFailure: true },
  },
  "answer-unknown": reducePage({ ...READY, sending: QUESTION.id }, { type: "unknown", id: QUESTION.id }),
  edit: { ...READY, dialog: "edit" },
  "edit-answered": { ...READY, dialog: "edit", review: ANSWERED, drafts: DRAFTS },
  draft: { ...READY, drafts: DRAFTS },
  refuse: { ...READY, dialog: "refuse", reason: "keep the early return" },
  "refuse-answered": { ...READY, dialog: "refuse", reason: "keep the early return", review: ANSWERED },
  wider: { ...READY, dialog: "wider" },
  "wider-manage": {
    ...READY,
    role: "manage",
    dialog: "wider",
    proposal: { place: "directory", dir: "/repo/src", end: "kept", isAgentOnly: false },
  },
  "wider-directory": { ...READY, chosen: DIRECTORY.id, dialog: "wider" },
  proposed: proposedState(READY),
  stale: {
    ...READY,
    review: { ...REVIEW, waiting: [{ ...QUESTION, stale: true }, PATCH] },
  },
  conflict: CONFLICT,
  "refuse-conflict": reducePage(CONFLICT, { type: "dialog", dialog: "refuse" }),
  "looked-again": {
    ...READY,
    review: { ...REVIEW, waiting: [{ ...QUESTION, replaces: "q0" }, PATCH, DIRECTORY] },
    seen: new Map([
      [QUESTION.id, [{ ...ROWS, hunks: [SEEN_HUNK, ...ROWS.hunks.slice(1).map(withOtherContext)] }]],
    ]),
  },
  "looking-again": {
    ...READY,
    review: {
      ...REVIEW,
      waiting: [PATCH],
      settled: [{ question: QUESTION, outcome: "look_again", by: "ana", at: NOW - 1000 }],
    },
  },
  "answered-elsewhere": { ...READY, review: ANSWERED },
  joint: {
    ...READY,
    review: {
      ...REVIEW,
      waiting: [{ ...QUESTION, callId: "c5" }, PATCH],
      settled: [
        { question: { ...QUESTION, id: "q0", callId: "c5" }, outcome: "allow", by: "ben", at: NOW - 3000 },
      ],
    },
  },
  refused: {
    ...READY,
    review: {
      ...REVIEW,
      waiting: [PATCH],
      settled: [{ question: QUESTION, outcome: "refuse", by: "ana", at: NOW - 3000 }],
    },
    refusal: { id: QUESTION.id, reason: "keep the early return" },
    notice: {
      text: "Nothing of it was made, and it does not wait any more. Your reason was: keep the early return",
      isFailure: false,
    },
  },
  withdrawn: {
    ...READY,
    review: {
      ...REVIEW,
      waiting: [],
      settled: [{ question: QUESTION, outcome: "withdrawn", at: NOW - 3000 }],
    },
  },
  "put-back-last": {
    ...READY,
    role: "manage",
    dialog: "put-back",
    review: {
      ...REVIEW,
      settled: [{ question: { ...QUESTION, id: "q0", callId: "c5" }, outcome: "allow", by: "ana", at: NOW }],
    },
  },
  "not-put-back": {
    ...READY,
    dialog: "put-back",
    review: { ...REVIEW, settled: [{ question: QUESTION, outcome: "allow", by: "ana", at: NOW }] },
  },
};
