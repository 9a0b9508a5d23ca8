/** A change of one file, a patch of three and a question about a directory, and the page that shows them. */
import type {
  ChangeRows,
  ChangeSummary,
  ReviewCall,
  ReviewQuestion,
  ReviewState,
} from "../../../../js/review/protocol.ts";
import { EMPTY_STATE } from "../../../../js/review/state.ts";
import type { LoadedRows } from "../../../../js/review/page/state/choice.ts";
import { FIRST_STATE, type PageState } from "../../../../js/review/page/state/store.ts";

/** The time of all fixtures, in milliseconds since 1970, so that pictures of them stay the same. */
export const NOW: number = Date.UTC(2026, 10, 27, 12, 4, 41);

export const EDIT: ChangeSummary = {
  path: "/repo/src/pay/refund.ts",
  kind: "edit",
  type: "file",
  added: 4,
  removed: 2,
  hunks: 2,
  whole: false,
  hasText: true,
};

export const QUESTION: ReviewQuestion & { readonly kind: "change" } = {
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

export const ROWS: ChangeRows = {
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

export const PATCH: ReviewQuestion & { readonly kind: "change" } = {
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

export const DIRECTORY: ReviewQuestion = {
  id: "q3",
  askedAt: NOW - 3000,
  title: "Allow read access to /data/exports?",
  tool: "list_directory",
  kind: "directory",
  dir: "/data/exports",
  access: "read",
};

export const CALLS: readonly ReviewCall[] = [
  { id: "c1", tool: "grep", at: NOW - 9000, paths: ["/repo/src"], ok: true, ms: 1.2 },
  { id: "c2", tool: "read_file", at: NOW - 8000, paths: ["/repo/src/pay/refund.ts"], ok: true, ms: 0.3 },
  {
    id: "c3",
    tool: "write_file",
    at: NOW - 7000,
    paths: ["/repo/.env"],
    ok: false,
    code: "PERMISSION_DENIED",
    message: "Access to .env is denied: it matches the pattern of secret files.",
    ms: 0.4,
  },
  {
    id: "c6",
    tool: "edit_file",
    at: NOW - 6500,
    agent: "reviewer",
    paths: ["/repo/src/pay/partial-refund.ts"],
    ok: false,
    code: "CONFLICT",
    message: "src/pay/partial-refund.ts has changed since it was read.",
    ms: 2.1,
  },
  { id: "c4", tool: "run_command", at: NOW - 6000, paths: ["/repo"], ok: true, ms: 4210 },
  { id: "c5", tool: "edit_file", at: NOW - 1000, agent: "main", paths: [] },
];

const LOADED: LoadedRows = { pages: [ROWS], isComplete: true };

export const REVIEW: ReviewState = { ...EMPTY_STATE, waiting: [QUESTION, PATCH, DIRECTORY], calls: CALLS };

export const READY: PageState = {
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
