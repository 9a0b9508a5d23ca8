/** Approvals: what is asked about, what an approver is shown, and how far an answer reaches. */
import { describe, expect, test } from "vitest";
import { type Confirmation, headlessApprover } from "../../js/index.node.ts";
import { KINDS, place } from "../tools/harness.ts";

describe.each(KINDS)("approvals on %s", (kind) => {
  test("unattended runs need a rule: without one everything is refused", async () => {
    const write = async (rules: Parameters<typeof headlessApprover>[0]["rules"]) => {
      const { confirm } = headlessApprover({ rules });
      const { ws } = await place(kind, {}, { confirm, requireApproval: true });
      return (await ws.call("write_file", { path: "a", content: "x" })).error?.code;
    };
    expect(await write([{ decision: "allow" }])).toBeUndefined();
    expect(await write([])).toBe("APPROVAL_DENIED");
    expect(await write([{ tool: "delete", decision: "allow" }])).toBe("APPROVAL_DENIED");
  });

  const rules = [
    { tool: "delete", decision: "deny" },
    {
      tool: "write_file",
      args: (args: Record<string, unknown>) => String(args["content"]).length > 5,
      decision: "ask",
    },
    { path: "src/**", decision: "ask" },
    { decision: "allow" },
  ] as const;
  const reviewed: readonly [string, Record<string, unknown>, "asked" | "allowed" | "denied"][] = [
    ["delete", { path: "doc/a" }, "denied"],
    ["write_file", { path: "doc/a", content: "123456" }, "asked"],
    ["write_file", { path: "doc/a", content: "1234" }, "allowed"],
    ["edit_file", { path: "src/a", old_text: "1", new_text: "2" }, "asked"],
    ["edit_file", { path: "doc/a", old_text: "1", new_text: "2" }, "allowed"],
  ];
  test.each(reviewed)("%s with %o is %s, by tool, path and arguments", async (tool, args, outcome) => {
    let asked = 0;
    const confirm = () => {
      asked += 1;
      return { outcome: "cancel" as const };
    };
    const { ws } = await place(kind, { "doc/a": "1", "src/a": "1" }, { rules, confirm });
    const { ok } = await ws.call(tool, args);
    expect([ok, asked]).toEqual([outcome === "allowed", outcome === "asked" ? 1 : 0]);
  });

  test("what an approver is shown of an edit and of a new file", async () => {
    const shown: Confirmation[] = [];
    const { ws } = await place(
      kind,
      { "d/a.ts": "one\n" },
      {
        confirm(details) {
          shown.push(details);
          details.onConfirm("cancel");
          return undefined;
        },
      },
    );
    expect(
      (await ws.call("edit_file", { path: "d/a.ts", old_text: "one", new_text: "two" })).error?.code,
    ).toBe("APPROVAL_DENIED");
    expect((await ws.call("write_file", { path: "n", content: "x\n" })).error?.code).toBe("APPROVAL_DENIED");
    expect(shown).toMatchObject([
      {
        type: "edit",
        fileName: "a.ts",
        originalContent: "one\n",
        newContent: "two\n",
        title: expect.stringContaining("a.ts"),
        fileDiff: expect.stringContaining("-one\n+two\n"),
      },
      {
        type: "edit",
        fileName: "n",
        originalContent: null,
        newContent: "x\n",
        fileDiff: expect.stringContaining("+x\n"),
      },
    ]);
  });

  /** Outcomes, and true where the next call asks again: this tool here, this tool elsewhere, another tool. */
  const outcomes: readonly [Confirmation["scopes"][number]["outcome"], readonly boolean[]][] = [
    ["proceed_once", [true, true, true]],
    ["proceed_always", [false, true, true]],
    ["proceed_always_tool", [false, false, true]],
    ["proceed_always_server", [false, false, false]],
  ];
  test.each(outcomes)("%s reaches as far as its name says", async (outcome, asksAgain) => {
    const shown: Confirmation[] = [];
    let answer: typeof outcome = outcome;
    const { ws, root } = await place(
      kind,
      { "one/a": "", "two/a": "" },
      {
        access: { read: ["one", "two"], write: ["one", "two"] },
        confirm(details) {
          shown.push(details);
          const given = answer;
          answer = "proceed_once";
          return { outcome: given };
        },
      },
    );
    const asks = async (tool: string, args: object): Promise<boolean> => {
      const count = shown.length;
      expect((await ws.call(tool, args)).ok).toBe(true);
      return shown.length > count;
    };
    expect(await asks("write_file", { path: "one/a", content: "1" })).toBe(true);
    expect([
      await asks("write_file", { path: "one/a", content: "2" }),
      await asks("write_file", { path: "two/a", content: "3" }),
      await asks("mkdir", { path: "one/m" }),
    ]).toEqual(asksAgain);
    expect(shown[0]?.scopes.map((scope) => scope.outcome)).toEqual([
      "proceed_once",
      "proceed_always",
      "proceed_always_tool",
      "proceed_always_server",
      "proceed_parts",
      "modify_with_editor",
      "cancel",
    ]);
    expect(shown[0]?.path).toBe(`${root}/one/a`);
  });
});
