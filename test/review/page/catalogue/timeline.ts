/** The states of the timeline as data, for the catalogue and its tests. */
import type { HistoryMark } from "../../../../js/tools/lib/history-entry.ts";
import type {
  PastCall,
  PastCalls,
  PastCounts,
  RewindAnswer,
  RowsPage,
  UndoConflict,
} from "../../../../js/review/past/history-protocol.ts";
import type { ChangeRows } from "../../../../js/review/protocol.ts";
import { ResponseError } from "../../../../js/review/transport.ts";
import type { PageState } from "../../../../js/review/page/state/store.ts";
import { FIRST_TIMELINE, type TimelineView } from "../../../../js/review/page/screens/timeline/view.ts";

/** Returns a time of the day of all fixtures. */
const at = (clock: string): string => `2026-11-27T${clock}.000Z`;

const ENTRIES: readonly PastCall[] = [
  { callId: "call-8", tool: "edit_file", time: at("12:05:10"), paths: ["src/pay/refund.ts"], agent: "main" },
  {
    callId: "call-7",
    tool: "apply_patch",
    time: at("12:04:02"),
    paths: ["src/cart.ts", "src/money.ts", "src/old.ts"],
    agent: "main",
    allowedBy: [
      {
        kind: "approval",
        by: "ana",
        approval: { id: "approval-1", covers: "apply_patch on src/** by main" },
      },
    ],
  },
  {
    callId: "call-5",
    tool: "run_command",
    time: at("11:58:40"),
    paths: ["."],
    agent: "reviewer",
    unrecorded: true,
  },
  { callId: "call-4", tool: "undo", time: at("11:57:12"), paths: ["README.md"], undoOf: "call-3", by: "ana" },
  {
    callId: "call-3",
    tool: "write_file",
    time: at("11:55:00"),
    paths: ["README.md"],
    agent: "main",
    allowedBy: [{ kind: "rule" }],
  },
];

const MARKS: readonly HistoryMark[] = [{ name: "before tests", time: at("12:01:30") }];

const PAST: PastCalls = { entries: ENTRIES, marks: MARKS, unreviewed: [] };
const UNREVIEWED: PastCalls = { ...PAST, unreviewed: ["call-8", "call-7"] };

const COUNTS: PastCounts = {
  counts: {
    "call-8": { added: 4, removed: 2 },
    "call-7": { added: 11, removed: 1 },
    "call-4": { added: 0, removed: 3 },
    "call-3": { added: 3, removed: 0 },
  },
};

/** Returns the rows of a file with one hunk. */
function rowsOf(path: string, lines: readonly string[]): ChangeRows {
  const number = (marks: string): number => lines.filter((line) => marks.includes(line[0] ?? "")).length;
  return {
    digest: "call",
    change: {
      path,
      kind: "edit",
      type: "file",
      added: number("+"),
      removed: number("-"),
      hunks: 1,
      whole: false,
    },
    from: 0,
    hunks: [
      {
        oldStart: 88,
        oldLines: number(" -"),
        newStart: 88,
        newLines: number(" +"),
        lines: lines.join("\n"),
      },
    ],
    details: [],
  };
}

const REFUND: RowsPage = {
  pages: [
    rowsOf("/repo/src/pay/refund.ts", [
      " export function refund(order: Order, at: Date): Refund {",
      "   const due = total(order) - refunded(order);",
      "-  if (due < 0) return;",
      "-  const entry = ledger.open(order);",
      "+  if (due <= 0) throw new NothingDue(order.id);",
      "+  if (order.frozen) throw new OrderFrozen(order.id);",
      "+  const entry = ledger.open(order.account);",
      "+  entry.credit(due, at);",
      "   return entry.close();",
    ]),
  ],
};

const UNKNOWN: RowsPage = {
  pages: [
    {
      digest: "call",
      change: {
        path: "/repo/README.md",
        kind: "edit",
        type: "file",
        added: 0,
        removed: 0,
        hunks: 0,
        whole: true,
      },
      from: 0,
      hunks: [],
      details: ["The content after the call is not known any more."],
    },
  ],
};

const REWIND: RewindAnswer = {
  calls: 5,
  changes: [
    { ...(REFUND.pages[0] as ChangeRows).change, display: "src/pay/refund.ts" },
    {
      path: "/repo/src/old.ts",
      display: "src/old.ts",
      kind: "create",
      type: "file",
      added: 12,
      removed: 0,
      hunks: 1,
      whole: true,
    },
  ],
  left: [
    { path: "README.md", why: "a person or another program has changed it since", canChoose: true },
    { path: "dist", why: "it holds what no undone call has made", canChoose: false },
  ],
  unrecorded: [ENTRIES[2] as PastCall],
  digest: "sha256:0c",
};

const PUT_BACK = {
  callId: "call-7",
  parts: [{ change: 0, hunks: [0] }],
  label: "1 of 2 hunks",
} as const;

const HOSTILE = "src/\u202etxt.<img src=x onerror=alert(1)>\u200b.ts";

const MANY: PastCalls = {
  entries: Array.from({ length: 10_000 }, (_, index) => ({
    callId: `many-${index}`,
    tool: index % 7 === 0 ? "apply_patch" : "edit_file",
    time: new Date(Date.UTC(2026, 10, 27, 12) - index * 1000).toISOString(),
    paths: [`src/module-${index % 100}/file-${index}.ts`],
    agent: index % 3 === 0 ? "reviewer" : "main",
  })),
  marks: MARKS,
  unreviewed: [],
};

/** Returns the states of the timeline. `ready` is the page with the timeline open. */
export function timelineStates(ready: PageState): Readonly<Record<string, PageState>> {
  const attached: PageState = { ...ready, workspaces: ["/repo"], role: "manage", review: allowed(ready) };
  const showing = (change: Partial<TimelineView>): PageState => ({
    ...attached,
    timeline: { ...FIRST_TIMELINE, part: "detail", ...change },
  });
  return {
    "timeline-detached": ready,
    "timeline-empty": { ...attached, timeline: FIRST_TIMELINE },
    timeline: { ...attached, timeline: FIRST_TIMELINE },
    "timeline-entry": showing({ chosen: "call-8" }),
    "timeline-refused": showing({ chosen: "refusal:s2" }),
    "timeline-unrecorded": showing({ chosen: "unrecorded:call-5" }),
    "timeline-mark": showing({ chosen: "mark:before tests" }),
    "timeline-unknown": showing({ chosen: "call-3" }),
    "timeline-watching": { ...showing({ chosen: "call-8" }), role: "watch", by: "guest" },
    "timeline-filtered": showing({ agent: "reviewer", path: "src/missing", part: "list" }),
    "timeline-put-back": showing({ chosen: "call-7", dialog: "put-back" }),
    "timeline-hunks": showing({ chosen: "call-7", leftOut: new Map([["1:0", "all"]]), hunk: 1 }),
    "timeline-put-back-hunks": showing({ chosen: "call-7", putBack: PUT_BACK }),
    "timeline-put-back-unfit": showing({ chosen: "call-7", putBack: PUT_BACK }),
    "timeline-set-mark": showing({ chosen: "call-8", dialog: "mark" }),
    "timeline-restored": showing({
      chosen: "call-4",
      done: { text: "Put back: 1 path.", callId: "call-4" },
    }),
    "timeline-conflict": showing({
      chosen: "call-7",
      failure: {
        text: "Not put back: src/cart.ts has changed since that call.",
        later: [ENTRIES[0] as PastCall],
      },
    }),
    "timeline-rewind": showing({
      chosen: "mark:before tests",
      rewind: { to: "before tests", label: "“before tests”" },
    }),
    "timeline-rewind-agent": showing({
      agent: "main",
      rewind: { to: "before tests", label: "“before tests”" },
    }),
    "timeline-rewind-gone": showing({ rewind: { to: "forgotten", label: "“forgotten”" } }),
    "timeline-versions": showing({ chosen: "call-3", file: { path: "README.md" } }),
    "timeline-unreviewed": showing({ chosen: "call-8", isUnreviewed: true }),
    "timeline-keep": showing({ chosen: "call-8", dialog: "keep" }),
    unreviewed: { ...attached, screen: "review" },
    "timeline-many": showing({ part: "list", chosen: "many-3" }),
    "timeline-hostile": showing({ chosen: "hostile" }),
  };
}

/** Returns the shared state in which ana has allowed the newest call. */
function allowed({ review }: PageState): PageState["review"] {
  const [question] = review.waiting;
  if (question === undefined) return review;
  const settled = [
    {
      question: { ...question, id: "s1", callId: "call-8" },
      outcome: "allow",
      by: "ana",
      at: question.askedAt,
    },
    {
      question: { ...question, id: "s2", callId: "call-6" },
      outcome: "refuse",
      by: "ana",
      reason: "keep the early return",
      at: Date.parse(at("12:03:00")),
    },
  ] as const;
  return { ...review, settled };
}

/** The answers of the server to the requests of the timeline. */
export const TIMELINE_ANSWERS: Readonly<Record<string, object>> = {
  history: PAST,
  "history/counts": COUNTS,
  "history/call-8/rows": REFUND,
  "history/call-7/rows": { pages: [...REFUND.pages, rowsOf("/repo/src/cart.ts", [" a", "-b", "+c"])] },
  "history/call-4/rows": { pages: [rowsOf("/repo/README.md", ["-one", "-two", "-three", " four"])] },
  "history/call-3/rows": UNKNOWN,
  "timeline-put-back-hunks:POST history/call-7/undo": { paths: ["src/pay/refund.ts"], digest: "sha256:0d" },
  "timeline-put-back-unfit:POST history/call-7/undo": new ResponseError(
    409,
    "'src/pay/refund.ts' has changed since that call, in these lines or beyond recognition; undo the later changes first, or edit the file",
    {
      later: [ENTRIES[0] as PastCall],
      unfit: [{ path: "src/pay/refund.ts", hunks: [1] }],
    } satisfies UndoConflict,
  ),
  "timeline-rewind:POST rewind": REWIND,
  "timeline-rewind-agent:POST rewind": REWIND,
  "timeline-versions:files/compare": {
    pages: [rowsOf("/repo/README.md", ["-one", "-two", "-three", " four"])],
  },
  "previews/rows": REFUND,
  "history/unreviewed": { calls: [] },
  "timeline-unreviewed:history": UNREVIEWED,
  "timeline-keep:history": UNREVIEWED,
  "unreviewed:history/unreviewed": { calls: ENTRIES.slice(0, 2) },
  "unreviewed-several:history/unreviewed": { calls: ENTRIES.slice(0, 2) },
  "timeline-empty:history": { entries: [], marks: [], unreviewed: [] },
  "timeline-many:history": { ...MANY, forgottenBefore: at("10:14:09") },
  "timeline-many:history/counts": { counts: {} },
  "history/many-3/rows": REFUND,
  "timeline-hostile:history": {
    entries: [
      { callId: "hostile", tool: "write_file", time: at("12:05:10"), paths: [HOSTILE], agent: "<b>" },
    ],
    marks: [],
    unreviewed: [],
  },
  "history/hostile/rows": { pages: [rowsOf(`/repo/${HOSTILE}`, ["-\u202eone", "+</script>two"])] },
};
