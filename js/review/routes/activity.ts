/** The requests about the activity of agents: counts for the page, and as files. */
import { ACTIVITY_NAMES, type ActivityRow, type ActivityView } from "../activity/activity-data.ts";
import { csvOf, jsonLinesOf } from "../activity/table.ts";
import { json, refusal, type ReviewRoute, type RouteRequest } from "./route.ts";

/** The columns of the exports, in their order. */
const COLUMNS: readonly (keyof ActivityRow)[] = [
  ...(["agent", "isPerson", "tool", "calls", "errors", "refusals", "changes", "undone", "chars"] as const),
  ...(["p50", "p95", "p99", "max"] as const),
];

/** The requests about the activity of agents. */
export const ACTIVITY_ROUTES: readonly ReviewRoute[] = [
  { method: "GET", path: /^activity$/u, role: "watch", run: withView(activityJson) },
  { method: "GET", path: /^activity\.csv$/u, role: "watch", run: withView(activityCsv) },
  { method: "GET", path: /^activity\.jsonl$/u, role: "watch", run: withView(activityLines) },
];

/** Answers a request whose `over` and `by` name counts. */
function withView(
  run: (hub: RouteRequest["hub"], view: ActivityView) => Promise<Response>,
): ReviewRoute["run"] {
  return async ({ hub, url }) => {
    const over = url.searchParams.get("over") ?? "run";
    const by = url.searchParams.get("by") ?? "both";
    if ((over !== "run" && over !== "hour") || (by !== "agent" && by !== "tool" && by !== "both"))
      return refusal(400, "over is run or hour, and by is agent, tool or both");
    return run(hub, { over, by });
  };
}

async function activityJson(hub: RouteRequest["hub"], view: ActivityView): Promise<Response> {
  return json(200, await hub.activity(view));
}

async function activityCsv(hub: RouteRequest["hub"], view: ActivityView): Promise<Response> {
  const { rows } = await hub.activity(view);
  return attachment(
    csvOf(COLUMNS, rows.map(writtenRow)),
    "text/csv; charset=utf-8",
    `activity-${view.over}.csv`,
  );
}

async function activityLines(hub: RouteRequest["hub"], view: ActivityView): Promise<Response> {
  const { since, until, rows } = await hub.activity(view);
  const time = { since: new Date(since).toISOString(), until: new Date(until).toISOString() };
  const lines = jsonLinesOf(rows.map((row) => ({ ...time, ...writtenRow(row) })));
  return attachment(lines, "application/jsonl", `activity-${view.over}.jsonl`);
}

/** Returns a row with durations in whole microseconds, and an empty cell where it is about all tools. */
function writtenRow(row: ActivityRow): Record<keyof ActivityRow, string | number | boolean | null> {
  const rounded = (ms: number): number => Math.round(ms * 1000) / 1000;
  const { tool, p50, p95, p99, max } = row;
  return {
    ...row,
    tool: tool === ACTIVITY_NAMES.every ? null : tool,
    p50: rounded(p50),
    p95: rounded(p95),
    p99: rounded(p99),
    max: rounded(max),
  };
}

/** Returns an answer that browsers store as a file. */
function attachment(body: string, type: string, name: string): Response {
  return new Response(body, {
    headers: { "content-type": type, "content-disposition": `attachment; filename="${name}"` },
  });
}
