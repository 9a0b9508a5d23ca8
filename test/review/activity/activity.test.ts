/** The activity of agents: counts with bounded memory, percentiles, what was undone, and the exports. */
import { describe, expect, it } from "vitest";
import { makeActivityCounter } from "../../../js/review/activity/activity.ts";
import type { ReviewActivity } from "../../../js/review/activity/activity-data.ts";
import { csvOf } from "../../../js/review/activity/table.ts";
import { logIn, openPlace } from "../place.ts";

const CALL = { tool: "grep", ok: true, changes: false, duration_ms: 1, text_chars: 10 } as const;
const BOTH = { over: "run", by: "both" } as const;

describe("the counter", () => {
  it("has percentiles within 5 % of the true ones", () => {
    const { count, view } = makeActivityCounter();
    const durations = Array.from({ length: 2000 }, (_, at) => 0.2 * 1.005 ** at);
    for (const duration_ms of durations) count({ ...CALL, duration_ms });
    const [row] = view(BOTH, []).rows;
    for (const [name, share] of [
      ["p50", 0.5],
      ["p95", 0.95],
      ["p99", 0.99],
    ] as const) {
      const exact = durations[Math.ceil(durations.length * share) - 1] as number;
      expect(Math.abs((row?.[name] ?? 0) / exact - 1), name).toBeLessThan(0.05);
    }
    expect(row?.max).toBe(durations.at(-1));
  });

  it("puts durations of no time, of no number and of days into its first and last buckets", () => {
    const { count, view } = makeActivityCounter();
    count({ ...CALL, duration_ms: 0 });
    expect(view(BOTH, []).total.p99).toBe(0);
    count({ ...CALL, duration_ms: 1e9 });
    expect(view(BOTH, []).total).toMatchObject({ calls: 2, max: 1e9 });
  });

  it("tells errors from refusals, and forgets what is older than an hour", () => {
    let now = Date.UTC(2026, 0, 1, 12, 2);
    const { count, view } = makeActivityCounter(() => now);
    count({ ...CALL, ok: false, code: "NOT_FOUND" });
    count({ ...CALL, ok: false, code: "OUTSIDE_ALLOWED", agent: "a" });
    count({ ...CALL, ok: false, code: "APPROVAL_DENIED", agent: "a" });
    expect(view({ over: "hour", by: "tool" }, []).rows).toMatchObject([
      { tool: "grep", agent: null, calls: 3, errors: 1, refusals: 2, chars: 30 },
    ]);
    expect(view({ over: "hour", by: "agent" }, []).rows.map(({ agent, calls }) => [agent, calls])).toEqual([
      ["a", 2],
      [null, 1],
    ]);
    now += 30 * 60_000;
    count(CALL);
    expect(view({ over: "hour", by: "tool" }, []).total.calls).toBe(4);
    now += 40 * 60_000;
    expect(view({ over: "hour", by: "tool" }, []).total.calls).toBe(1);
    expect(view(BOTH, []).total.calls).toBe(4);
  });

  it("counts what a person does under the name of the person, apart from an agent of the same name", () => {
    const { count, view } = makeActivityCounter();
    const time = new Date().toISOString();
    const rewind = { ...CALL, tool: "rewind", changes: true, by: "ana", call_id: "r" };
    count({ ...CALL, agent: "ana", tool: "edit_file", changes: true, call_id: "e" });
    count(rewind);
    count({ ...CALL, tool: "undo", changes: true, by: "ben", call_id: "u" });
    count({ ...CALL, tool: "keep", kept: { calls: ["e"], by: "ana" } });
    count(CALL);
    const history = [
      { callId: "u", tool: "undo", time, paths: ["a"], undoOf: "r" },
      { callId: "r", tool: "rewind", time, paths: ["a"] },
      { callId: "e", tool: "edit_file", time, paths: ["a"], agent: "ana" },
    ];
    const rows = view({ over: "run", by: "agent" }, history).rows;
    const shown = rows.map(({ agent, isPerson, calls, undone }) => [agent, isPerson, calls, undone]);
    expect(shown).toEqual([
      ["ana", true, 2, 1],
      ["ana", false, 1, 0],
      ["ben", true, 1, 0],
      [null, false, 1, 0],
    ]);
    expect(view({ over: "run", by: "tool" }, history).rows.every(({ isPerson }) => !isPerson)).toBe(true);
  });

  it("keeps a fixed number of rows, and the calls of all others in one", () => {
    const { count, view } = makeActivityCounter();
    for (let at = 0; at < 5000; at++) count({ ...CALL, agent: `agent ${at}${"x".repeat(500)}` });
    const { rows, total } = view(BOTH, []);
    expect(rows.length).toBe(201);
    expect(rows[0]).toMatchObject({ agent: "others", tool: "others", calls: 4800 });
    expect(total.calls).toBe(5000);
    expect(Math.max(...rows.map(({ agent }) => agent?.length ?? 0))).toBe(100);
  });
});

describe("the activity of a page", () => {
  it("counts calls, refusals and undone changes by agent and tool, for each login", async () => {
    const { ws, hub, page } = await openPlace(
      { "a.txt": "one\n" },
      { confirm: () => ({ outcome: "proceed_once" }) },
    );
    const results = [];
    for (const content of ["1", "2", "3"])
      results.push(await ws.call("write_file", { path: "a.txt", content }, { agent: "main" }));
    await ws.call("read_file", { path: "../outside" });
    await ws.undo(results[2]?.meta.call_id ?? "");
    const again = await ws.undo(results[1]?.meta.call_id ?? "");
    await ws.undo(again.callId);
    const client = await logIn(page, "watch");
    const activity = (await (await client.get("activity?over=hour&by=both")).json()) as ReviewActivity;
    const written = activity.rows.find(({ tool }) => tool === "write_file");
    expect(written).toMatchObject({ calls: 3, changes: 3, errors: 0 });
    // The undo of an undo restores the change. Undoing needs no name, so it is found by tool.
    expect(activity.total).toMatchObject({ calls: 7, refusals: 1, undone: 1 });
    expect((await hub.activity({ over: "run", by: "tool" })).rows.map(({ tool }) => tool).sort()).toEqual([
      "read_file",
      "undo",
      "write_file",
    ]);
    for (const query of ["over=day", "by=path"])
      expect((await client.get(`activity?${query}`)).status, query).toBe(400);
  });

  it("counts what a login does on the page under its name", async () => {
    const { ws, hub, page } = await openPlace(
      { "a.txt": "one\n" },
      { confirm: () => ({ outcome: "proceed_once" }) },
    );
    const client = await logIn(page, "manage", "ana");
    const { meta } = await ws.call("write_file", { path: "a.txt", content: "1\n" }, { agent: "main" });
    expect((await client.post(`history/${meta.call_id}/undo`, {})).status).toBe(200);
    const to = String(meta.call_id);
    await ws.call("write_file", { path: "a.txt", content: "2\n" }, { agent: "main" });
    const preview = await client.post("rewind", { to, dryRun: true });
    const { digest } = (await preview.json()) as { readonly digest: string };
    expect((await client.post("rewind", { to, digest })).status).toBe(200);
    const { rows } = await hub.activity(BOTH);
    const done = rows.map(({ agent, isPerson, tool, calls }) => [agent, isPerson, tool, calls]);
    expect(done.filter(([, isPerson]) => isPerson).sort()).toEqual([
      ["ana", true, "rewind", 1],
      ["ana", true, "undo", 1],
    ]);
    expect(rows.filter(({ agent }) => agent === null)).toEqual([]);
  });

  it("is exported as CSV and JSON Lines, in which no name of an agent is a formula", async () => {
    const { ws, page } = await openPlace({ "a.txt": "one\n" });
    const agents = ["=1+2", "+x", "-x", "@x", 'say "hi", ok', "main"];
    for (const agent of agents) await ws.call("read_file", { path: "a.txt" }, { agent });
    const client = await logIn(page, "watch");
    const response = await client.get("activity.csv?by=agent");
    expect(response.headers.get("content-disposition")).toBe('attachment; filename="activity-run.csv"');
    const [head, ...lines] = (await response.text()).trimEnd().split("\r\n");
    expect(head).toBe("agent,isPerson,tool,calls,errors,refusals,changes,undone,chars,p50,p95,p99,max");
    expect(lines.map((line) => line.slice(0, line.indexOf(",false,,1,0,0,0,0,"))).sort()).toEqual(
      ["'=1+2", "'+x", "'-x", "'@x", '"say ""hi"", ok"', "main"].sort(),
    );
    const rows = (await (await client.get("activity.jsonl?by=agent")).text()).trimEnd().split("\n");
    const read = rows.map((row) => JSON.parse(row) as { readonly agent: string; readonly calls: number });
    expect(read.map(({ agent, calls }) => [agent, calls]).sort()).toEqual(
      agents.map((name) => [name, 1]).sort(),
    );
  });

  it("quotes cells with commas, quotes and line ends", () => {
    expect(
      csvOf(
        ["a", "b"],
        [
          { a: 'x"y', b: "l\nm" },
          { a: null, b: -1 },
          { a: "\tx", b: "\r=" },
        ],
      ),
    ).toBe(`a,b\r\n"x""y","l\nm"\r\n,-1\r\n'\tx,"'\r="\r\n`);
  });
});
