/** The answers of the server in the states of the screen "Activity". */
import type { ActivityRow, ReviewActivity } from "../../../../js/review/activity/activity-data.ts";
import type { PageState } from "../../../../js/review/page/state/store.ts";

const ROW: ActivityRow = {
  agent: "main",
  isPerson: false,
  tool: "grep",
  calls: 1204,
  errors: 0,
  refusals: 0,
  changes: 0,
  undone: 0,
  chars: 4_812_003,
  p50: 1.2,
  p95: 8.4,
  p99: 31,
  max: 212,
};

const FULL: ReviewActivity = {
  since: Date.UTC(2026, 10, 27, 9),
  until: Date.UTC(2026, 10, 27, 12, 4, 41),
  rows: [
    ROW,
    {
      ...ROW,
      tool: "read_file",
      calls: 988,
      errors: 14,
      chars: 9_400_120,
      p50: 0.3,
      p95: 0.9,
      p99: 2,
      max: 12,
    },
    {
      ...ROW,
      tool: "edit_file",
      calls: 96,
      errors: 7,
      refusals: 3,
      changes: 86,
      undone: 5,
      chars: 30_411,
      p50: 4,
    },
    {
      ...ROW,
      agent: "reviewer",
      tool: "run_command",
      calls: 12,
      errors: 2,
      chars: 8_022,
      p50: 2100,
      max: 41_000,
    },
    { ...ROW, agent: "ana", isPerson: true, tool: "undo", calls: 5, changes: 5, chars: 0, p50: 3 },
    { ...ROW, agent: null, tool: "write_file", calls: 2, refusals: 2, chars: 180, p50: 0.4 },
    { ...ROW, agent: "<b>\u202egpj</b>", tool: "stat", calls: 1, chars: 90 },
    { ...ROW, agent: "others", tool: "others", calls: 3, chars: 90 },
  ],
  total: { ...ROW, agent: null, tool: "*", calls: 2311, errors: 23, refusals: 5, changes: 91, undone: 5 },
};

/** The answers by path. A path behind the name of a state and a colon is that of this state only. */
export const ACTIVITY_ANSWERS: Readonly<Record<string, object>> = {
  "activity?over=run&by=both": FULL,
  audit: { isKept: true },
  "activity-empty:audit": { isKept: false },
  "activity-empty:activity?over=run&by=both": { ...FULL, rows: [], total: { ...FULL.total, calls: 0 } },
};

/** The steps of a person that lead to these states. */
export const ACTIVITY_STEPS: Readonly<Record<string, readonly (readonly [selector: string])[]>> = {
  activity: [["tfoot"], [".audit-log input"]],
  "activity-empty": [[".none"], [".audit-log .none"]],
  "activity-watching": [["tfoot"], [".audit-log .none"]],
};

/** Returns the states of the activity. `ready` is the page with the activity open. */
export function activityStates(ready: PageState): Readonly<Record<string, PageState>> {
  const open: PageState = { ...ready, role: "manage", workspaces: ["/repo"] };
  return {
    activity: open,
    "activity-empty": open,
    "activity-watching": { ...open, role: "watch", by: "guest" },
  };
}
