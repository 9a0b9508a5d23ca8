/** Permission by effect: an approval of a tool covers no work of another tool, and of a command only the same command. */
import { describe, expect, test } from "vitest";
import {
  type Confirmation,
  type ConfirmReply,
  memoryRecords,
  type Records,
  type Workspace,
  type WorkspaceOptions,
} from "../../js/index.node.ts";
import { scopeOfChoice, widerOfferOf } from "../../js/review/questions/wider.ts";
import { sentenceOf } from "../../js/review/questions/wider-draft.ts";
import { KINDS, place } from "../tools/harness.ts";

/** A reviewer who gives `next` once, and afterwards allows one call at a time. */
function person() {
  const shown: Confirmation[] = [];
  const one = {
    next: undefined as ConfirmReply | undefined,
    shown,
    confirm(details: Confirmation): ConfirmReply {
      shown.push(details);
      const reply = one.next ?? { outcome: "proceed_once" };
      one.next = undefined;
      return reply;
    },
    /** Returns true when the call was asked about. */
    async asks(ws: Pick<Workspace, "call">, tool: string, args: object): Promise<boolean> {
      const before = shown.length;
      const result = await ws.call(tool, args);
      expect(result.ok, result.text).toBe(true);
      return shown.length > before;
    },
  };
  return one;
}

const patchOf = (...sections: readonly string[]): { readonly patch: string } => ({
  patch: ["*** Begin Patch", ...sections, "*** End Patch", ""].join("\n"),
});
const edited = (path: string, from: string, to: string): string =>
  `*** Update File: ${path}\n@@\n-${from}\n+${to}`;
const patched = (path: string, from: string, to: string) => patchOf(edited(path, from, to));

const seed = {
  "src/a": "1\n",
  "src/b": "1\n",
  "src/c": "1\n",
  "src/d/x": "1\n",
  "src/e/x": "2\n",
  "src/e/y": "2\n",
};

/** Calls whose effects are the work of another tool: what the reviewer was shown, and what that must not cover. */
const EFFECTS: readonly (readonly [
  name: string,
  tool: string,
  shown: object,
  later: object,
  effect: string,
])[] = [
  [
    "a patch that deletes",
    "apply_patch",
    patched("src/a", "1", "2"),
    patchOf("*** Delete File: src/b"),
    "delete",
  ],
  [
    "a patch that deletes among its edits",
    "apply_patch",
    patched("src/a", "1", "2"),
    patchOf(edited("src/c", "1", "2"), "*** Delete File: src/b"),
    "delete",
  ],
  [
    "a patch to /dev/null",
    "apply_patch",
    patched("src/a", "1", "2"),
    { patch: "--- a/src/b\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n" },
    "delete",
  ],
  [
    "a patch that moves",
    "apply_patch",
    patched("src/a", "1", "2"),
    patchOf("*** Update File: src/b\n*** Move to: src/z\n@@\n-1\n+2"),
    "move",
  ],
  [
    "a copy that replaces a file",
    "copy",
    { source: "src/a", destination: "src/z" },
    { source: "src/a", destination: "src/b", overwrite: true },
    "delete",
  ],
  [
    "a copy of a directory that replaces a file below another",
    "copy",
    { source: "src/a", destination: "src/z" },
    { source: "src/d", destination: "src/e", overwrite: true },
    "delete",
  ],
  [
    "a move that replaces a file",
    "move",
    { source: "src/a", destination: "src/z" },
    { source: "src/c", destination: "src/b", overwrite: true },
    "delete",
  ],
];

describe.each(KINDS)("on %s", (kind) => {
  const open = async (options: Omit<WorkspaceOptions, "root" | "backend"> = {}) => {
    const asked = person();
    const { ws } = await place(kind, seed, { confirm: asked.confirm, ...options });
    return { ws, asked };
  };

  for (const outcome of ["proceed_always", "proceed_always_tool"] as const) {
    test.each(EFFECTS)(`${outcome} of an ordinary call does not cover %s`, async (_, tool, shown, later) => {
      const { ws, asked } = await open();
      asked.next = { outcome };
      expect(await asked.asks(ws, tool, shown)).toBe(true);
      expect(asked.shown[0]?.scopes.find((one) => one.outcome === outcome)?.label).toContain(" without ");
      expect(await asked.asks(ws, tool, later)).toBe(true);
    });
  }

  test.each(EFFECTS)(
    "%s is covered where its own tool is approved, too",
    async (_, tool, shown, later, effect) => {
      const { ws, asked } = await open();
      asked.next = {
        outcome: "proceed_always_server",
        payload: { scope: { tool, path: "src/**", until: "session" } },
      };
      await asked.asks(ws, tool, shown);
      const scope = { tool: effect, path: "src/**", until: "session" };
      asked.next = { outcome: "proceed_always_server", payload: { scope } };
      await asked.asks(ws, "mkdir", { path: "src/made" });
      expect(await asked.asks(ws, tool, later)).toBe(false);
    },
  );

  test.each(EFFECTS)(
    "%s is not covered where its tool is approved elsewhere",
    async (_, tool, shown, later, effect) => {
      const { ws, asked } = await open();
      asked.next = { outcome: "proceed_always_tool" };
      await asked.asks(ws, tool, shown);
      const scope = { tool: effect, path: "other/**", until: "session" };
      asked.next = { outcome: "proceed_always_server", payload: { scope } };
      await asked.asks(ws, "mkdir", { path: "src/made" });
      expect(await asked.asks(ws, tool, later)).toBe(true);
    },
  );

  test("an approval of patches does not pass a rule that asks about each deletion", async () => {
    const { ws, asked } = await open({ rules: [{ tool: "delete", decision: "ask" }] });
    asked.next = { outcome: "proceed_always_tool" };
    await asked.asks(ws, "apply_patch", patched("src/a", "1", "2"));
    expect(await asked.asks(ws, "apply_patch", patched("src/a", "2", "3"))).toBe(false);
    expect(await asked.asks(ws, "apply_patch", patchOf("*** Delete File: src/b"))).toBe(true);
  });

  test("what replaces nothing is covered, and so is every call of another", async () => {
    const { ws, asked } = await open();
    asked.next = { outcome: "proceed_always_tool" };
    await asked.asks(ws, "copy", { source: "src/a", destination: "src/y" });
    expect(await asked.asks(ws, "copy", { source: "src/a", destination: "src/z", overwrite: true })).toBe(
      false,
    );
    asked.next = { outcome: "proceed_always_server" };
    await asked.asks(ws, "mkdir", { path: "src/made" });
    for (const [, tool, , later] of EFFECTS.slice(4)) expect(await asked.asks(ws, tool, later)).toBe(false);
  });

  test("the count of earlier calls goes by their effects", async () => {
    const { ws, asked } = await open();
    await asked.asks(ws, "apply_patch", patchOf("*** Delete File: src/b"));
    const counted = (tool: string) =>
      ws.approvals.wouldHaveCovered({ tool, path: "**", until: "session" }).covered;
    expect(counted("apply_patch")).toBe(0);
    expect(counted("*")).toBe(1);
  });
});

describe("a command", () => {
  const run = {
    run: async () => ANSWER,
    status: {
      tier: "test",
      files: "enforced",
      network: "enforced",
      processes: "enforced",
      policy: "enforced",
    },
  };
  const ANSWER = { exitCode: 0, signal: null, timedOut: false, truncated: false, stdout: "", stderr: "" };
  const open = async (options: object = {}) => {
    const asked = person();
    const commands = run as unknown as NonNullable<WorkspaceOptions["commands"]>;
    const { ws, root } = await place(
      "local",
      { ...seed, "src/[x]/a": "" },
      { confirm: asked.confirm, commands, ...options },
    );
    return { ws, root, asked };
  };
  const LASTING = ["proceed_always", "proceed_always_tool", "proceed_always_server"] as const;

  /** Commands that are not `ls -l` in the root. */
  const OTHERS: readonly (readonly [name: string, args: object])[] = [
    ["another program", { command: ["rm", "-rf", "src"] }],
    ["further arguments", { command: ["ls", "-l", "src"] }],
    ["fewer arguments", { command: ["ls"] }],
    ["the same words in one argument", { command: ["ls -l"] }],
    ["the same words for a shell", { command: "ls -l", shell: true }],
    ["another directory", { command: ["ls", "-l"], cwd: "src" }],
    ["an empty argument more", { command: ["ls", "-l", ""] }],
  ];
  for (const outcome of LASTING) {
    test.each(OTHERS)(`that was answered ${outcome} does not cover %s`, async (_, args) => {
      const { ws, asked } = await open();
      asked.next = { outcome };
      expect(await asked.asks(ws, "run_command", { command: ["ls", "-l"] })).toBe(true);
      expect(await asked.asks(ws, "run_command", { command: ["ls", "-l"] })).toBe(false);
      expect(await asked.asks(ws, "run_command", { command: ["ls", "-l"], timeout_ms: 9 })).toBe(false);
      expect(await asked.asks(ws, "run_command", args)).toBe(true);
    });
  }

  test("is covered by no approval of every tool, and by none that names no command", async () => {
    const { ws, asked } = await open();
    asked.next = { outcome: "proceed_always_server" };
    await asked.asks(ws, "mkdir", { path: "m" });
    expect(await asked.asks(ws, "mkdir", { path: "n" })).toBe(false);
    expect(await asked.asks(ws, "run_command", { command: ["ls"] })).toBe(true);
    expect(asked.shown[0]?.scopes.find((one) => one.outcome === "proceed_always_server")?.label).toContain(
      "every tool but run_command",
    );
  });

  test.each([
    ["every path", { tool: "run_command", path: "**", until: "session" }],
    ["every tool", { tool: "*", path: "**", until: "session" }],
    [
      "another command",
      { tool: "run_command", path: "**", command: { argv: ["rm"], cwd: "/" }, until: "session" },
    ],
  ])("cannot be answered for %s", async (_, scope) => {
    for (const outcome of LASTING) {
      const { ws, asked } = await open();
      asked.next = { outcome, payload: { scope } };
      const result = await ws.call("run_command", { command: ["ls", "-l"] });
      expect(result.error?.code).toBe("APPROVAL_DENIED");
      expect(await ws.approvals.list()).toEqual([]);
    }
  });

  test("cannot be approved by the answer to a question about a file", async () => {
    const { ws, root, asked } = await open();
    const scope = { tool: "run_command", path: "**", command: { argv: ["rm"], cwd: root }, until: "session" };
    asked.next = { outcome: "proceed_always_server", payload: { scope } };
    expect((await ws.call("mkdir", { path: "m" })).error?.code).toBe("APPROVAL_DENIED");
  });

  test("that an older version approved by its directory is asked about", async () => {
    const old = { id: "1", outcome: "proceed_always", label: "", granted_at: "2026-01-01T00:00:00Z" };
    const scope = { tool: "run_command", path: "**", until: "session" };
    const list: Records["list"] = async (kind) =>
      kind.startsWith("approvals ") ? [{ id: "1", value: { ...old, scope }, rev: "1" }] : [];
    const records = { ...memoryRecords(), list };
    const { ws, asked } = await open({ records });
    expect(await asked.asks(ws, "run_command", { command: ["ls"] })).toBe(true);
  });

  test("is offered exactly, in the words of each approver", async () => {
    const { ws, root, asked } = await open();
    await asked.asks(ws, "run_command", { command: ["git", "commit", "-m", "a b"], cwd: "src/[x]" });
    const [details] = asked.shown as [Confirmation];
    const words = `git commit -m "a b" in ${root}/src/[x]`;
    expect(details.title).toBe('Run git commit -m "a b" in src/[x]');
    const labels = details.scopes.map(({ outcome, label }) => [outcome, label]);
    expect(labels).toEqual([
      ["proceed_once", "this call only"],
      ["proceed_always", `exactly ${words}, until this workspace is closed`],
      ["cancel", "refuse"],
    ]);
    const offer = widerOfferOf(details);
    expect(offer).toMatchObject({ places: ["command"], files: [], command: words });
    const choice = { isAgentOnly: false, until: "session" };
    for (const where of ["files", "directory", "everywhere"] as const)
      expect(scopeOfChoice(details, { place: where, ...choice })).toBeUndefined();
    const wider = { place: "command", ...choice } as const;
    expect(scopeOfChoice(details, wider)).toMatchObject({
      tool: "run_command",
      command: { argv: ["git", "commit", "-m", "a b"], cwd: `${root}/src/[x]` },
    });
    const question = {
      kind: "change",
      tool: "run_command",
      ...(offer === undefined ? {} : { wider: offer }),
    } as const;
    expect(sentenceOf(question, { wider })).toContain(`Running exactly ${words} by any agent is allowed`);
  });

  test("is explained by the approval that covers it, and by none where it is not named", async () => {
    const { ws, asked } = await open();
    asked.next = { outcome: "proceed_always" };
    await asked.asks(ws, "run_command", { command: ["ls"] });
    const verdict = async (args?: object) =>
      (
        await ws.why({ tool: "run_command", path: ".", ...(args === undefined ? {} : { args }) } as never)
      ).find(({ gate }) => gate === "approvals")?.verdict;
    expect(await verdict({ command: ["ls"], shell: false })).toBe("allows");
    expect(await verdict({ command: ["rm"], shell: false })).not.toBe("allows");
    expect(await verdict()).not.toBe("allows");
  });
});
