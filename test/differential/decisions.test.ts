/** Decisions since one function makes them, compared with those of the places that decided before. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Confirmation, headlessApprover, MemoryBackend, openWorkspace } from "../../js/index.node.ts";
import { answered, decided, decisionCases, type HeadlessCase, headlessCases } from "./decisions.ts";

/** A line of the recording: the header, rules that answered otherwise before, or one case. */
interface Line {
  readonly workspace: { readonly count: number; readonly cases: string; readonly answers: string };
  readonly headless: {
    readonly count: number;
    readonly cases: string;
    readonly before: string;
    readonly now: string;
  };
  readonly rows?: readonly number[];
  readonly example: HeadlessCase;
  readonly kind?: "workspace" | "headless";
  readonly row: number;
  readonly answer: string;
  readonly before: string;
  readonly now: string;
}

const [header, ...lines] = readFileSync(join(import.meta.dirname, "decisions.jsonl"), "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line) as Line);
const recorded = header as Line;

function digestOf(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex");
}

test("the recorded cases are those of the table and of the seed", () => {
  expect(digestOf(decisionCases())).toBe(recorded.workspace.cases);
  expect(digestOf(headlessCases())).toBe(recorded.headless.cases);
});

test("a workspace decides 500 cases of the table as before", async () => {
  const cases = decisionCases();
  const some = lines.filter(({ kind }) => kind === "workspace");
  expect(some).toHaveLength(500);
  for (const { row, answer } of some) {
    const one = cases[row];
    expect(one && (await decided(one)), JSON.stringify(one)).toBe(answer);
  }
});

test("rules for unattended answers answer 500 questions as recorded", async () => {
  const cases = headlessCases();
  const some = lines.filter(({ kind }) => kind === "headless");
  expect(some.length).toBeGreaterThanOrEqual(500);
  for (const { row, now } of some)
    expect(await answered(cases[row] as HeadlessCase), JSON.stringify(cases[row])).toBe(now);
});

/** The questions that were answered otherwise before have one of three reasons. */
describe("rules for unattended answers are call rules", () => {
  const outcome = async (
    rules: Parameters<typeof headlessApprover>[0]["rules"],
    ...paths: readonly string[]
  ): Promise<string | undefined> => {
    const shown = { tool: "edit_file", path: paths[0], paths, risk: "low" } as unknown as Confirmation;
    return (await headlessApprover({ rules }).confirm(shown))?.outcome;
  };

  test.for([
    ["/repo/src", "/repo/src/deep/f"],
    ["/repo/*", "/repo/src/f"],
    ["*.md", "/x.md/y"],
    ["/repo/src/**", "/repo/src"],
    ["/**", "/"],
    ["/", "/etc/x"],
  ] as const)("a rule on %s covers %s", async ([path, at]) => {
    expect(await outcome([{ path, decision: "allow" }], at)).toBe("proceed_once");
    expect(await outcome([{ path, decision: "deny" }, { decision: "allow" }], at)).toBe("cancel");
  });

  test.for([
    ["/repo/src", "/repo/src2"],
    ["/repo/src/**", "/repo"],
    ["*.md", "/repo/f"],
  ] as const)("a rule on %s does not cover %s", async ([path, at]) => {
    expect(await outcome([{ path, decision: "allow" }], at)).toBe("cancel");
  });

  test("each path is decided by itself, and the strictest decision answers", async () => {
    const rules = [
      { path: "/a/**", decision: "allow" },
      { path: "/b/**", decision: "allow" },
      { path: "/c/**", decision: "deny" },
    ] as const;
    expect(await outcome(rules, "/a/x", "/b/x")).toBe("proceed_once");
    expect(await outcome(rules, "/a/x", "/c/x")).toBe("cancel");
    expect(await outcome(rules, "/a/x", "/d/x")).toBe("cancel");
  });

  test("a rule with a path allows nothing that has no path", async () => {
    const { confirm } = headlessApprover({ rules: [{ path: "/**", decision: "allow" }] });
    const shown = { tool: "edit_file", path: "", paths: [] } as unknown as Confirmation;
    expect((await confirm(shown))?.outcome).toBe("cancel");
  });
});

describe("access_info says what decides, in its order", () => {
  test.for([
    [{}, ["policy"]],
    [{ rules: [{ tool: "write_file", decision: "ask" }] }, ["policy", "rules", "approvals", "approver"]],
    [{ requireApproval: true }, ["policy", "default", "approvals", "approver"]],
    [
      { rules: [{ decision: "allow" }], confirm: () => undefined, permissions: { mode: "prompt" } },
      ["policy", "rules", "grants", "default", "places", "approvals", "approver"],
    ],
  ] as const)("%j", async ([options, order]) => {
    const backend = new MemoryBackend({ "/w/a": "a" });
    await using ws = await openWorkspace({ backend, root: "/w", ...options } as never);
    const { data, text } = await ws.call("access_info", {});
    expect(data).toMatchObject({ decided_by: order });
    expect(text.includes("A call is checked in this order: paths outside")).toBe(order.length > 1);
  });
});
