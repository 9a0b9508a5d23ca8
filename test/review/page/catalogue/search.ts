/** The answers and the steps of the states of the screen "Search", for the catalogue. */
import type { Blame } from "../../../../js/pipeline/past/blame.ts";
import type { FileLines, FoundPlaces } from "../../../../js/review/protocol.ts";
import type { PageState } from "../../../../js/review/page/state/store.ts";

const HASH = "sha256:9f31c2d07ab14be59f31c2d07ab14be59f31c2d07ab14be59f31c2d07ab14be5";

const FOUND: FoundPlaces = {
  places: [
    { path: "src/pay/refund.ts", line: 4, text: "  if (due <= 0) throw new NothingDue(order.id);" },
    { path: "src/pay/refund.ts", line: 9, text: "  return entry.close(); // NothingDue is thrown above" },
    { path: "src/pay/<b>\u202eerrors.ts", line: 12, text: "export class NothingDue extends Error {\u0007}" },
  ],
  total: 31,
  isComplete: false,
};

const FILE: FileLines = {
  path: "src/pay/refund.ts",
  content: [
    'import { ledger } from "../../../../js/review/page/screens/search/ledger.ts";',
    "",
    "export function refund(order: Order, at: Date): Refund {",
    "  if (due <= 0) throw new NothingDue(order.id);",
    "  const entry = ledger.open(order.account);",
    "  entry.credit(due, at);",
    "  audit(entry);",
    "",
    "  return entry.close(); // NothingDue is thrown above",
    "}",
    "",
  ].join("\n"),
  from: 1,
  total: 10,
  size: 310,
  encoding: "utf-8, lf",
  hash: HASH,
};

const CALL = { origin: "call", tool: "edit_file", time: "2026-11-27T12:01:00.000Z" } as const;

const BLAME: Blame = {
  path: FILE.path,
  hash: HASH,
  lines: [
    { line: 1, count: 3, origin: "older" },
    { line: 4, count: 1, ...CALL, callId: "0mf1a2b3c-0123456789ab", agent: "main" },
    { line: 5, count: 2, origin: "older" },
    { line: 7, count: 1, origin: "elsewhere" },
    { line: 8, count: 3, ...CALL, callId: "0mf1a2b3d-0123456789ab", agent: "a-reviewer-with-a-long-name" },
  ],
};

/** The answers by path. */
export const SEARCH_ANSWERS: Readonly<Record<string, object>> = {
  search: FOUND,
  "search-file:history/unreviewed": { calls: [], forgottenBefore: "2026-11-27T11:14:09.000Z" },
  [`files?path=${encodeURIComponent(FILE.path)}&from=1`]: FILE,
  [`files/blame?path=${encodeURIComponent(FILE.path)}`]: BLAME,
};

const ASKED = [["input[name=query]", "NothingDue"], [".search-form button"]] as const;

/** The steps by state. */
export const SEARCH_STEPS: Readonly<Record<string, readonly (readonly [selector: string, text?: string])[]>> =
  {
    "search-found": ASKED,
    "search-file": [...ASKED, [".place"]],
    "search-failed": [
      ["input[name=query]", "NothingDue"],
      ["input[name=path]", "../other"],
      [".search-form button"],
    ],
  };

/** Returns the states of the search. `open` is the page with the search open. */
export function searchStates(open: PageState): Readonly<Record<string, PageState>> {
  return {
    search: open,
    "search-found": open,
    "search-file": open,
    "search-failed": open,
  };
}
