/** Every state of the page as data, for the catalogue `states.html` and its tests. */
import type {
  ChangeContent,
  ChangeRows,
  ChangeSummary,
  PackedHunk,
  ReviewCall,
  ReviewQuestion,
  ReviewState,
} from "../../protocol.ts";
import { SEARCH_ANSWERS, SEARCH_STEPS } from "../screens/search/fixtures.ts";
import { ACTIVITY_ANSWERS, ACTIVITY_STEPS } from "../screens/activity/fixtures.ts";
import { POLICY_ANSWERS, POLICY_STEPS, STOPPED_CALLS } from "../screens/policy/fixtures.ts";
import { EMPTY_STATE } from "../../state.ts";
import { TIMELINE_ANSWERS, timelineStates } from "../screens/timeline/fixtures.ts";
import type { LoadedRows } from "../state/choice.ts";
import { proposedState, WIDER_STEPS } from "../screens/wider/fixtures.ts";
import type { NotifyState } from "../notifications/notification.ts";
import { FIRST_STATE, type PageState, reducePage } from "../state/store.ts";

/** The time of all fixtures, in milliseconds since 1970, so that pictures of them stay the same. */
const NOW: number = Date.UTC(2026, 10, 27, 12, 4, 41);

const EDIT: ChangeSummary = {
  path: "/repo/src/pay/refund.ts",
  kind: "edit",
  type: "file",
  added: 4,
  removed: 2,
  hunks: 2,
  whole: false,
  hasText: true,
};

const QUESTION: ReviewQuestion & { readonly kind: "change" } = {
  id: "q1",
  askedAt: NOW - 41_000,
  title: "Edit src/pay/refund.ts",
  tool: "edit_file",
  agent: "main",
  kind: "change",
  digest: "sha256:9f31c2d07ab14be59f31c2d07ab14be59f31c2d07ab14be59f31c2d07ab14be5",
  risk: "low",
  changes: [EDIT],
  canEdit: true,
  hasParts: true,
  turn: "named fix refunds",
  wider: {
    places: ["files", "directory", "everywhere"],
    files: ["/repo/src/pay/refund.ts"],
    dir: "/repo/src/pay",
    ends: ["turn", "time", "session", "kept"],
    sessionEnd: "until this workspace is closed",
  },
};

const ROWS: ChangeRows = {
  digest: QUESTION.digest,
  change: EDIT,
  from: 0,
  details: [],
  hunks: [
    {
      oldStart: 86,
      oldLines: 7,
      newStart: 86,
      newLines: 8,
      lines: [
        " export function refund(order: Order, at: Date): Refund {",
        "   const due = total(order) - refunded(order);",
        "-  if (due < 0) return;",
        "+  if (due <= 0) throw new NothingDue(order.id);",
        "+  if (order.frozen) throw new OrderFrozen(order.id);",
        "   const entry = ledger.open(order.account);",
        "   entry.credit(due, at);",
        " ",
        "   return entry.close();",
      ].join("\n"),
    },
    {
      oldStart: 120,
      oldLines: 4,
      newStart: 121,
      newLines: 5,
      lines: [
        " /** Returns what was refunded before. */",
        " function refunded(order: Order): Money {",
        "-  return order.refunds.reduce((sum, one) => sum + one.amount, 0);",
        "+  // TODO: remove when every order has a ledger",
        "+  return order.refunds.reduce((sum, { amount }) => sum + amount, 0);",
        " }",
      ].join("\n"),
    },
  ],
};

const PATCH: ReviewQuestion & { readonly kind: "change" } = {
  ...QUESTION,
  id: "q2",
  askedAt: NOW - 12_000,
  title: "Patch 3 files",
  tool: "apply_patch",
  risk: "medium",
  digest: "sha256:0b",
  hasParts: true,
  changes: [
    {
      path: "/repo/src/cart.ts",
      kind: "edit",
      type: "file",
      added: 1,
      removed: 1,
      hunks: 1,
      whole: false,
      hasText: true,
    },
    {
      path: "/repo/src/money.ts",
      kind: "create",
      type: "file",
      added: 2,
      removed: 0,
      hunks: 1,
      whole: true,
      hasText: true,
    },
    {
      path: "/repo/src/old.ts",
      kind: "delete",
      type: "file",
      added: 0,
      removed: 0,
      hunks: 0,
      whole: true,
      hasText: false,
    },
  ],
};

const DIRECTORY: ReviewQuestion = {
  id: "q3",
  askedAt: NOW - 3000,
  title: "Allow read access to /data/exports?",
  tool: "list_directory",
  kind: "directory",
  dir: "/data/exports",
  access: "read",
};

const CALLS: readonly ReviewCall[] = [
  { id: "c1", tool: "grep", at: NOW - 9000, paths: ["/repo/src"], ok: true, ms: 1.2 },
  { id: "c2", tool: "read_file", at: NOW - 8000, paths: ["/repo/src/pay/refund.ts"], ok: true, ms: 0.3 },
  {
    id: "c3",
    tool: "write_file",
    at: NOW - 7000,
    paths: ["/repo/.env"],
    ok: false,
    code: "PERMISSION_DENIED",
    ms: 0.4,
  },
  { id: "c4", tool: "run_command", at: NOW - 6000, paths: ["/repo"], ok: true, ms: 4210 },
  { id: "c5", tool: "edit_file", at: NOW - 1000, agent: "main", paths: [] },
];

const LOADED: LoadedRows = { pages: [ROWS], isComplete: true };

const REVIEW: ReviewState = { ...EMPTY_STATE, waiting: [QUESTION, PATCH, DIRECTORY], calls: CALLS };

const READY: PageState = {
  ...FIRST_STATE,
  connection: "live",
  run: "run",
  subject: "/repo",
  workspaces: ["/repo"],
  version: "0.1.0",
  role: "answer",
  by: "ana",
  review: REVIEW,
  chosen: QUESTION.id,
  rows: new Map([[QUESTION.id, LOADED]]),
  pane: "change",
};

/** Returns a state in which one question waits and shows these rows. */
function showing(
  question: Partial<ReviewQuestion & { readonly kind: "change" }>,
  ...pages: readonly ChangeRows[]
): PageState {
  const one = { ...QUESTION, ...question } as ReviewQuestion;
  const review = { ...EMPTY_STATE, waiting: [one], calls: CALLS };
  return { ...READY, review, rows: new Map([[one.id, { pages, isComplete: true }]]) };
}

/** Returns the rows of a change with one hunk. */
function oneHunk(change: Partial<ChangeSummary>, lines: readonly string[]): ChangeRows {
  const count = (marks: string): number => lines.filter((line) => marks.includes(line[0] ?? "")).length;
  const hunk = {
    oldStart: 1,
    oldLines: count(" -"),
    newStart: 1,
    newLines: count(" +"),
    lines: lines.join("\n"),
  };
  const counted = { added: count("+"), removed: count("-"), hunks: 1 };
  return { ...ROWS, change: { ...EDIT, ...counted, ...change }, hunks: [hunk] };
}

const PATCH_ROWS: readonly ChangeRows[] = PATCH.changes.map((change, index) => ({
  digest: PATCH.digest,
  change,
  from: 0,
  details: [],
  hunks:
    change.hunks === 0
      ? []
      : [
          {
            oldStart: index === 0 ? 4 : 0,
            oldLines: index === 0 ? 3 : 0,
            newStart: index === 0 ? 4 : 1,
            newLines: 2,
            lines:
              index === 0 ? " a\n-b\n+c\n d" : "+export type Money = number;\n+export const NONE: Money = 0;",
          },
        ],
}));

const ON_ACTIVITY: PageState = { ...READY, screen: "activity", role: "manage", workspaces: ["/repo"] };

const ON_POLICY: PageState = { ...READY, screen: "policy", role: "manage", workspaces: ["/repo"] };

/** An image that is replaced by another one. */
const IMAGE: ChangeSummary = {
  path: "/repo/logo.png",
  kind: "edit",
  type: "file",
  added: 0,
  removed: 0,
  hunks: 0,
  whole: true,
  hasText: false,
  images: ["before", "after"],
};

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

/** Every state, by its name. */
export const STATES: Readonly<Record<string, PageState>> = {
  "several-workspaces": {
    ...READY,
    screen: "search",
    subject: "/repo, /srv/site",
    workspaces: ["/repo", "/repo (2)", "/srv/site"],
    workspace: "/srv/site",
  },
  connecting: FIRST_STATE,
  "signed-out": { ...FIRST_STATE, connection: "signed-out" },
  empty: { ...READY, review: EMPTY_STATE, chosen: undefined, pane: "waiting" },
  waiting: READY,
  "narrow-list": { ...READY, pane: "waiting" },
  "narrow-live": { ...READY, pane: "live" },
  "some-hunks": { ...READY, leftOut: new Map([[QUESTION.id, new Map([["0:1", "all"]])]]), hunk: 1 },
  "some-lines": {
    ...READY,
    leftOut: new Map([[QUESTION.id, new Map([["0:0", new Set([4])]])]]),
    hunk: 0,
    line: 3,
  },
  "several-files": {
    ...READY,
    chosen: PATCH.id,
    rows: new Map([[PATCH.id, { pages: PATCH_ROWS, isComplete: true }]]),
  },
  "some-files": {
    ...READY,
    chosen: PATCH.id,
    rows: new Map([[PATCH.id, { pages: PATCH_ROWS, isComplete: true }]]),
    leftOut: new Map([[PATCH.id, new Map([["1", "all"]])]]),
    hunk: 2,
  },
  directory: { ...READY, chosen: DIRECTORY.id },
  loading: { ...READY, rows: new Map() },
  "not-loaded": {
    ...READY,
    rows: new Map([[QUESTION.id, { pages: [], isComplete: false, failure: "the server answered 503" }]]),
  },
  sending: { ...READY, sending: QUESTION.id },
  sent: { ...READY, notice: { text: "Allowed: Edit src/pay/cart.ts", isFailure: false } },
  "not-sent": {
    ...READY,
    notice: { text: "Not answered: it does not wait any more (answered by ben).", isFailure: true },
  },
  "answer-unknown": reducePage({ ...READY, sending: QUESTION.id }, { type: "unknown", id: QUESTION.id }),
  edit: { ...READY, dialog: "edit" },
  refuse: { ...READY, dialog: "refuse", reason: "keep the early return" },
  wider: { ...READY, dialog: "wider" },
  "wider-manage": {
    ...READY,
    role: "manage",
    dialog: "wider",
    proposal: { place: "directory", dir: "/repo/src", end: "kept", isAgentOnly: false },
  },
  "wider-directory": { ...READY, chosen: DIRECTORY.id, dialog: "wider" },
  keys: { ...READY, dialog: "keys" },
  "keys-notified": { ...READY, dialog: "keys" },
  "keys-not-notified": { ...READY, dialog: "keys" },
  offline: { ...READY, connection: "offline" },
  watching: { ...READY, role: "watch", by: "guest" },
  stale: {
    ...READY,
    review: { ...REVIEW, waiting: [{ ...QUESTION, stale: true }, PATCH] },
  },
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
  incomplete: showing(
    { incomplete: "the new content has 80 MB", hasParts: false },
    oneHunk({}, ["-a", "+b"]),
  ),
  "answered-elsewhere": {
    ...READY,
    review: {
      ...REVIEW,
      waiting: [PATCH],
      settled: [{ question: QUESTION, outcome: "allow", by: "ben", at: NOW - 3000 }],
    },
  },
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
  "line-ends": showing({ hasParts: false }, oneHunk({ only: "line ends" }, ["-one\r", "+one"])),
  images: showing(
    { title: "Write logo.png", tool: "write_file", hasParts: false, changes: [IMAGE] },
    {
      ...ROWS,
      change: IMAGE,
      hunks: [],
      details: [
        "before: image/png, 68 bytes, sha256:2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae",
        "after: image/png, 70 bytes, sha256:fcde2b2edba56bf408601fb721fe9b5c338d10ee429ea04fae5511b68fbf8fb9",
      ],
    },
  ),
  proposed: proposedState(READY),
  withdrawn: {
    ...READY,
    review: {
      ...REVIEW,
      waiting: [],
      settled: [{ question: QUESTION, outcome: "withdrawn", at: NOW - 3000 }],
    },
  },
  hostile: showing(
    {
      title: "Edit </script><script>alert(1)</script>\u202egpj.exe",
      agent: "<img src=x onerror=alert(1)>",
      risk: "high",
      hasParts: false,
      changes: [{ ...EDIT, path: "/repo/\u202etxt.<b>exe</b>\u200b" }],
    },
    oneHunk({ path: "/repo/\u202etxt.<b>exe</b>\u200b" }, [
      " // </script><script>alert(1)</script>",
      "-if (isAdmin) {",
      "+if (isAdmin\u202e \u2066// check\u2069 \u2066) {",
      "+\u0007bell \u001b[31mred\u001b[0m zero\u200bwidth nul\u0000",
      "+lone \ud800 surrogate",
    ]),
  ),
  "long-line": showing({ hasParts: false }, oneHunk({}, ["-short", `+${"const x = 1; ".repeat(400)}`])),
  crlf: showing({ hasParts: false }, oneHunk({}, [" one\r", "-two\r", "+2\r", " three\r"])),
  arguments: showing(
    { title: "Run npm install", tool: "run_command", risk: "high", hasParts: false },
    {
      ...ROWS,
      change: { ...EDIT, path: "/repo", type: "dir", added: 0, removed: 0, hunks: 0 },
      hunks: [],
      details: ["  command: npm install --save left-pad", "  timeout: 60"],
    },
  ),
  binary: showing(
    { title: "Write logo.png", tool: "write_file", hasParts: false },
    {
      ...ROWS,
      change: { ...EDIT, path: "/repo/logo.png", kind: "create", added: 0, removed: 0, hunks: 0 },
      hunks: [],
      details: [
        "  00000000  89 50 4e 47 0d 0a 1a 0a 00 00 00 0d 49 48 44 52  .PNG........IHDR",
        "  00000010  00 00 00 01 00 00 00 01 08 06 00 00 00 1f 15 c4  ................",
      ],
    },
  ),
  "many-waiting": {
    ...READY,
    review: {
      ...REVIEW,
      waiting: [
        QUESTION,
        ...Array.from({ length: 40 }, (_, index) => ({ ...PATCH, id: `p${index}`, title: `Patch ${index}` })),
      ],
    },
  },
  policy: ON_POLICY,
  "policy-empty": ON_POLICY,
  "policy-read-only": ON_POLICY,
  "policy-watching": { ...ON_POLICY, role: "watch", by: "guest" },
  "policy-failed": { ...ON_POLICY, asked: { tool: "stat", path: "unknown" } },
  "revoke-dialog": ON_POLICY,
  ...Object.fromEntries(
    STOPPED_CALLS.map(([gate, tool, path]) => [`why-${gate}`, { ...ON_POLICY, asked: { tool, path } }]),
  ),
  "grant-dialog": { ...ON_POLICY, asked: { tool: "write_file", path: "data/exports/2026.csv" } },
  "why-watching": {
    ...ON_POLICY,
    role: "watch",
    by: "guest",
    asked: { tool: "write_file", path: "data/exports/2026.csv", code: "GRANT_DENIED", by: "ana" },
  },
  ...timelineStates({ ...READY, screen: "timeline" }),
  search: { ...READY, screen: "search" },
  "search-found": { ...READY, screen: "search" },
  "search-file": { ...READY, screen: "search" },
  "search-failed": { ...READY, screen: "search" },
  activity: ON_ACTIVITY,
  "activity-empty": ON_ACTIVITY,
  "activity-watching": { ...ON_ACTIVITY, role: "watch", by: "guest" },
};

const EDITED_CONTENT: ChangeContent = {
  before:
    "export function refund(order: Order): Refund {\n  if (due < 0) return;\n  return entry.close();\n}\n",
  text: "export function refund(order: Order): Refund {\n  if (due <= 0) throw new NothingDue(order.id);\n  return entry.close();\n}\n",
};

/** The answers of the server to the requests of screens, by path. */
export const ANSWERS: Readonly<Record<string, object>> = {
  ...SEARCH_ANSWERS,
  ...ACTIVITY_ANSWERS,
  ...POLICY_ANSWERS,
  ...TIMELINE_ANSWERS,
  "put-back-last:history": {
    entries: [
      {
        callId: "c5",
        tool: "edit_file",
        time: new Date(NOW).toISOString(),
        paths: ["src/pay/refund.ts"],
        agent: "main",
      },
    ],
    marks: [],
    unreviewed: [],
  },
  scopes: { covered: 12, calls: 100 },
  "approvals/q1/changes/0/content": EDITED_CONTENT,
};

/** What a person does in a state before it is looked at: fills a field with a text, or clicks what a selector names. */
export const STEPS: Readonly<Record<string, readonly (readonly [selector: string, text?: string])[]>> = {
  ...SEARCH_STEPS,
  ...ACTIVITY_STEPS,
  ...POLICY_STEPS,
  ...WIDER_STEPS,
};

/** Whether the browser shows notifications, by state; `off` for the others. */
export const NOTIFY_STATES: Readonly<Record<string, NotifyState>> = {
  "keys-notified": "on",
  "keys-not-notified": "refused",
};
