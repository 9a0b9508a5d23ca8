/** `ws.why` says what the call itself does, gate by gate. */
import { afterEach, describe, expect, test, vi } from "vitest";
import type { WhyGate, WorkspaceOptions } from "../../js/index.node.ts";
import { KINDS, place } from "../tools/harness.ts";

afterEach(() => void vi.useRealTimers());

const stopOf = (gates: readonly WhyGate[]) => gates.find(({ verdict }) => verdict === "stops")?.gate;
const gateOf = (gates: readonly WhyGate[], gate: string) => gates.find((one) => one.gate === gate);

describe.each(KINDS)("on %s", (kind) => {
  const seed = {
    "src/a.ts": "a",
    "vault/k": "k",
    ".env": "KEY=1",
    "ci.yml": "",
    "../out/x": "x",
    out: { link: "$O/x" },
    ".git/HEAD": "ref: refs/heads/main\n",
  };
  const confirm = () => ({ outcome: "proceed_once" as const });
  const cases: readonly [
    name: string,
    options: Partial<WorkspaceOptions>,
    tool: string,
    path: string,
    stops: string | undefined,
  ][] = [
    ["an ordinary write", {}, "write_file", "src/a.ts", undefined],
    ["a read-only workspace", { readOnly: true }, "write_file", "src/a.ts", "read-only"],
    ["a read in it", { readOnly: true }, "read_file", "src/a.ts", undefined],
    ["a path outside", {}, "read_file", "../out/x", "root"],
    ["a link that leads outside", {}, "read_file", "out", "root"],
    ["a denied path", { access: { deny: ["vault"] } }, "read_file", "vault/k", "deny"],
    ["a protected place", {}, "write_file", ".git/hooks/pre-commit", "protected"],
    ["a secret", {}, "read_file", ".env", "secret"],
    ["a secret that is allowed", { access: { secrets: "allow" } }, "read_file", ".env", undefined],
    ["a rule that denies", { rules: [{ path: "src", decision: "deny" }] }, "write_file", "src/a.ts", "rules"],
    ["an approval that nobody can give", { requireApproval: true }, "write_file", "src/a.ts", "approver"],
    [
      "a rule that allows without it",
      { requireApproval: true, rules: [{ decision: "allow" }] },
      "write_file",
      "src/a.ts",
      undefined,
    ],
    ["a directory without a grant", { permissions: { mode: "prompt" } }, "read_file", "src/a.ts", "grants"],
  ];
  test.each(cases)(
    "%s: the gate that stops is the one that stops the call",
    async (_, options, tool, path, stops) => {
      const { ws } = await place(kind, seed, options);
      const gates = await ws.why({ tool, path });
      expect(stopOf(gates), JSON.stringify(gates)).toBe(stops);
      const args = tool === "read_file" ? { path } : { path, content: "new" };
      expect((await ws.call(tool, args)).ok).toBe(stops === undefined);
      const after = gates.slice(gates.findIndex(({ verdict }) => verdict === "stops") + 1);
      if (stops !== undefined) for (const gate of after) expect(gate.verdict, gate.gate).toBe("not reached");
      for (const { configured } of gates) expect(configured).not.toBe("");
    },
  );

  test("the rule that decides is named by its number", async () => {
    const { ws } = await place(kind, seed, {
      confirm,
      rules: [
        { path: "docs", decision: "allow" },
        { tool: "write_file", path: "src/**", decision: "ask" },
        { decision: "deny" },
      ],
    });
    expect(gateOf(await ws.why({ tool: "write_file", path: "src/a.ts" }), "rules")).toEqual({
      gate: "rules",
      verdict: "asks",
      because: "rules[1] says ask.",
      configured: "rules[1]",
    });
    expect(gateOf(await ws.why({ tool: "delete", path: "src/a.ts" }), "rules")).toMatchObject({
      verdict: "stops",
      configured: "rules[2]",
    });
    const agent = await ws.agent("helper", { rules: [{ path: "docs", decision: "deny" }] });
    expect(gateOf(await agent.why({ tool: "write_file", path: "docs/x" }), "rules")).toMatchObject({
      verdict: "stops",
      configured: "rules of the agent[0]",
    });
  });

  test("an approval that covers the call is named, and asks nobody", async () => {
    let asked = 0;
    const scope = { tool: "write_file", path: "src/**", until: "session" };
    const { ws } = await place(kind, seed, {
      confirm: () => {
        asked++;
        return { outcome: "proceed_always_tool", payload: { scope } };
      },
    });
    expect(gateOf(await ws.why({ tool: "write_file", path: "src/a.ts" }), "default")?.verdict).toBe("asks");
    expect(asked).toBe(0);
    await ws.call("write_file", { path: "src/a.ts", content: "1" });
    expect(gateOf(await ws.why({ tool: "write_file", path: "src/b.ts" }), "approvals")).toMatchObject({
      verdict: "allows",
      because: expect.stringContaining("write_file on src/**"),
    });
    expect(gateOf(await ws.why({ tool: "write_file", path: "docs/x" }), "approvals")?.verdict).toBe("passes");
    expect(ws.approvals.wouldHaveCovered(scope).calls).toBe(1);
    expect(asked).toBe(1);
  });

  test("a directory without a grant is named, with the access that the call needs", async () => {
    const asked: string[] = [];
    const ask = (question: string): string => {
      asked.push(question);
      return "yes";
    };
    for (const permissions of [{ mode: "prompt" }, { mode: "prompt", ask }] as const) {
      const { ws, root } = await place(kind, seed, { permissions });
      const why = async (tool: string) => gateOf(await ws.why({ tool, path: "src/a.ts" }), "grants");
      const verdict = "ask" in permissions ? "asks" : "stops";
      expect(await why("read_file")).toMatchObject({
        verdict,
        missing: [{ dir: `${root}/src`, access: "read" }],
      });
      expect((await why("write_file"))?.missing).toEqual([{ dir: `${root}/src`, access: "write" }]);
      // What a directory is asked about is no approval of the call, which nobody could give here.
      const gates = await ws.why({ tool: "read_file", path: "src/a.ts" });
      if (verdict === "asks") expect(stopOf(gates)).toBeUndefined();
      await ws.grants.add({ dir: `${root}/src`, access: "read" });
      expect(await why("read_file")).toMatchObject({ verdict: "passes" });
      expect((await ws.call("read_file", { path: "src/a.ts" })).ok).toBe(true);
      expect((await why("write_file"))?.missing).toEqual([{ dir: `${root}/src`, access: "write" }]);
    }
    expect(asked).toEqual([]);
  });

  test("is no activity of a turn, so that it does not keep the approval of a turn alive", async () => {
    const scope = { tool: "write_file", path: "**", until: "turn" };
    const { ws } = await place(kind, seed, {
      confirm: () => ({ outcome: "proceed_always_tool", payload: { scope } }),
    });
    const question = { tool: "write_file", path: "src/a.ts" };
    const covered = async (): Promise<boolean> =>
      gateOf(await ws.why(question), "approvals")?.verdict === "allows";
    vi.useFakeTimers({ toFake: ["Date"] });
    expect(await covered()).toBe(false);
    await ws.call("write_file", { path: "src/a.ts", content: "1" });
    expect(await covered()).toBe(true);
    vi.setSystemTime(Date.now() + 9 * 60_000);
    expect(await covered()).toBe(true);
    vi.setSystemTime(Date.now() + 60_000);
    expect(await covered()).toBe(false);
    vi.useRealTimers();
  });

  test("a question that is not understood is refused", async () => {
    const { ws } = await place(kind, seed);
    await expect(ws.why({ tool: "write_fiel", path: "x" })).rejects.toThrow(/write_file/u);
    await expect(ws.why({ tool: "stat" } as never)).rejects.toThrow(/path/u);
    await expect(ws.why({ tool: "stat", path: "x", agnet: "a" } as never)).rejects.toThrow(/agent/u);
  });
});
