/** Answers of hooks and approvers that are not understood: the call is blocked or denied, and nothing is written. */
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import {
  allOf,
  approvalHook,
  type Confirm,
  MemoryBackend,
  openWorkspace,
  quorum,
  toolsFor,
  type WorkspaceOptions,
  withHooks,
  within,
} from "../../js/index.node.ts";
import type { PresetName } from "../../js/presets/index.ts";
import { afterThisTest } from "../support/cleanups.ts";

/** Writes a file in a workspace with these options; tells how that ended and whether the file is there. */
async function write(options: WorkspaceOptions): Promise<{ code: string | undefined; written: boolean }> {
  const backend = new MemoryBackend({ "/w/keep": "" });
  const ws = await openWorkspace({ backend, root: "/w", ...options });
  const result = await ws.call("write_file", { path: "a", content: "x" });
  await ws.close();
  return { code: result.error?.code, written: await backend.exists("/w/a") };
}

const hook = (reply: unknown): WorkspaceOptions => ({
  hooks: [{ stage: "before", tool: "write_file", run: () => reply }],
});

class Reply {
  readonly proceed = true;
}

/** Wrong replies of a `before` hook. */
const replies: readonly [name: string, reply: unknown][] = [
  ["approved: false", { approved: false }],
  ["outcome: cancel", { outcome: "cancel" }],
  ["procede: false", { procede: false }],
  ["allow: false", { allow: false }],
  ["block: true", { block: true }],
  ["decision: deny", { decision: "deny" }],
  ["permissionDecision: deny", { permissionDecision: "deny" }],
  ["continue: false", { continue: false }],
  ["hookSpecificOutput", { hookSpecificOutput: { permissionDecision: "deny" } }],
  ["proceed: 0", { proceed: 0 }],
  ["proceed: no", { proceed: "no" }],
  ["proceed: null", { proceed: null }],
  ["proceed: true beside a word of another system", { proceed: true, deny: true }],
  ["a response without proceed", { alternative_response: "no" }],
  ["a response with proceed: true", { proceed: true, alternative_response: "no" }],
  ["a misspelt response", { proceed: true, alternate_response: "no" }],
  ["a misspelt exception", { raise_exeption: new Error("no") }],
  ["changed arguments that are a list", { modified_args: [] }],
  ["changed arguments that are a text", { modified_args: "{}" }],
  ["modifiedArgs", { modifiedArgs: { content: "y" } }],
  ["false", false],
  ["true", true],
  ["a text", "deny"],
  ["an empty text", ""],
  ["a number", 0],
  ["a list", []],
  ["a Map", new Map([["proceed", false]])],
  ["an error that is not thrown", new Error("no")],
  ["an object of a class", new Reply()],
  ["an answer that inherits", Object.create({ proceed: false })],
  ["a function", () => ({ proceed: false })],
];

/** Wrong replies of a reviewer. */
const confirmations: readonly [name: string, reply: unknown][] = [
  ["true", true],
  ["a text", "proceed_once"],
  ["approved: true", { approved: true }],
  ["an outcome in capitals", { outcome: "PROCEED_ONCE" }],
  ["an unknown outcome", { outcome: "proceed" }],
  ["a list of outcomes", { outcome: ["proceed_once"] }],
  ["an outcome beside an unknown key", { outcome: "proceed_once", denied: true }],
  ["a payload that is a text", { outcome: "proceed_once", payload: "no" }],
  ["a payload that is null", { outcome: "proceed_once", payload: null }],
  ["a payload with an unknown key", { outcome: "proceed_once", payload: { expire: new Date() } }],
  ["an end that is a text", { outcome: "proceed_always", payload: { expires: "2020-01-01" } }],
  ["an end that is no time", { outcome: "proceed_always", payload: { expires: new Date(Number.NaN) } }],
  ["a content that is not text", { outcome: "modify_with_editor", payload: { newContent: 5 } }],
  ["a content without its outcome", { outcome: "proceed_once", payload: { newContent: "y" } }],
  ["final as a text", { outcome: "modify_with_editor", payload: { newContent: "y", final: "no" } }],
  [
    "an object of a class",
    new (class {
      readonly outcome = "proceed_once";
    })(),
  ],
];

/** Wrong replies to the question for a directory. */
const grants: readonly [name: string, reply: unknown][] = [
  ["true", true],
  ["yes in a list", ["yes"]],
  ["yes beside an unknown key", { answer: "yes", onlyRead: true }],
  ["access in capitals", { answer: "yes", access: "READ" }],
  ["an end that is a text", { answer: "yes", expires: "tomorrow" }],
  ["remember as a text", { answer: "yes", remember: "false" }],
  ["granted: true", { granted: true }],
  ["nothing", undefined],
];

describe("an answer of a before hook that is not understood blocks the call", () => {
  test.each(replies)("%s", async (_name, reply) => {
    expect(await write(hook(reply))).toEqual({ code: "HOOK_BLOCKED", written: false });
  });

  test.each(replies)("of a tool that is not ours: %s", async (_name, reply) => {
    let ran = false;
    const tool = { name: "bash", execute: () => (ran = true) };
    const guarded = withHooks(tool, [{ stage: "before", tool: "bash", run: () => reply }]);
    expect((await guarded.execute({})).error?.code).toBe("HOOK_BLOCKED");
    expect(ran).toBe(false);
  });
});

describe("an answer of a reviewer that is not understood denies", () => {
  const asks: readonly [string, (confirm: Confirm) => WorkspaceOptions][] = [
    ["the workspace's", (confirm) => ({ confirm, requireApproval: true })],
    ["a confirm hook's", (run) => ({ hooks: [{ stage: "confirm", tool: "write_file", run }] })],
    ["within a time", (confirm) => ({ confirm: within(1000, confirm) })],
    ["one of all", (confirm) => ({ confirm: allOf([() => ({ outcome: "proceed_once" }), confirm]) })],
    ["a quorum of one", (confirm) => ({ confirm: quorum(1, [confirm]) })],
  ];
  for (const [who, options] of asks) {
    test.each(confirmations)(`${who}: %s`, async (_name, reply) => {
      const ended = await write(options(() => reply as never));
      expect(ended).toEqual({ code: "APPROVAL_DENIED", written: false });
    });
  }

  test.each(grants)("about a directory: %s", async (_name, reply) => {
    const ended = await write({ permissions: { mode: "prompt", ask: () => reply as never } });
    expect(ended).toEqual({ code: "GRANT_DENIED", written: false });
  });

  test.each<[string, unknown]>([
    ["true", true],
    ["approved as a text", { approved: "true" }],
    ["approved as a number", { approved: 1 }],
    ["approved beside an unknown key", { approved: true, deny: true }],
    ["nothing", undefined],
    ["allow: true", { allow: true }],
    ["changed arguments that are a list", { approved: true, modified_args: [] }],
  ])("of an approval hook: %s", async (_name, decision) => {
    const ended = await write({ hooks: [approvalHook({ ask: () => decision as never })] });
    expect(ended).toEqual({ code: "HOOK_BLOCKED", written: false });
  });

  test("an approval hook asks when its condition says neither yes nor no", async () => {
    const when = (() => undefined) as never;
    const ended = await write({ hooks: [approvalHook({ when, ask: () => ({ approved: false }) })] });
    expect(ended).toEqual({ code: "HOOK_BLOCKED", written: false });
  });
});

describe("an answer that is not understood is told to the developer", () => {
  const told: string[] = [];
  beforeEach(() => {
    told.length = 0;
    vi.spyOn(console, "warn").mockImplementation((text: string) => void told.push(text));
  });
  afterEach(() => vi.restoreAllMocks());

  test.each<[answer: unknown, shown: string]>([
    [true, "answered true,"],
    ["yes", 'answered "yes",'],
    [1, "answered 1,"],
    [[], "answered a list,"],
    [{}, "answered an object without keys,"],
    [{ approved: true }, "answered { approved: true },"],
    [{ outcome: "yes" }, 'answered { outcome: "yes" },'],
    [{ outcome: "proceed_once", payload: "x".repeat(99) }, "payload: a text },"],
    [{ "\u001b[2J": 1 }, String.raw`answered { \x1b[2J: 1 },`],
    [() => true, "answered a function,"],
    [Symbol("a"), "answered Symbol(a),"],
  ])("%o of a reviewer", async (answer, shown) => {
    const backend = new MemoryBackend();
    const confirm = (): never => answer as never;
    const ws = await openWorkspace({ backend, root: "/", requireApproval: true, confirm });
    const { text, error } = await ws.call("write_file", { path: "a", content: "x" });
    await ws.close();
    expect(text).toBe("Error: The reviewer's answer is not understood. Nothing was written.");
    const remedy = expect.stringMatching(
      /it must return \{ outcome: "proceed_once" \} .*\{ outcome: "cancel" \}/u,
    );
    expect(error?.details).toMatchObject({ remedy });
    expect(error?.details?.["remedy"]).toContain(shown);
    expect(told).toEqual([`filewright: ${error?.details?.["remedy"]}. The call was refused.`]);
  });

  test("of a before hook, and of the question for a directory", async () => {
    await write(hook("developer"));
    await write({ permissions: { mode: "prompt", ask: () => ({ developer: true }) as never } });
    expect(told).toEqual([
      expect.stringContaining('a before hook answered "developer", which'),
      expect.stringContaining(
        'permissions.ask answered { developer: true }, which is no valid answer; it must return "yes"',
      ),
    ]);
  });
});

describe("answers that are understood", () => {
  test.each<[string, unknown]>([
    ["nothing", undefined],
    ["null", null],
    ["an empty object", {}],
    ["proceed: true", { proceed: true }],
    ["changed arguments", { modified_args: { content: "y" } }],
    ["no changed arguments", { proceed: true, modified_args: null, alternative_response: null }],
    ["an object without a prototype", Object.assign(Object.create(null), { proceed: true })],
  ])("a before hook goes on: %s", async (_name, reply) => {
    expect(await write(hook(reply))).toEqual({ code: undefined, written: true });
  });

  test("an after hook's answer that is not understood is told and not used", async () => {
    const told: unknown[] = [];
    const backend = new MemoryBackend({ "/w/a": "secret" });
    const ws = await openWorkspace({
      backend,
      root: "/w",
      hooks: [{ stage: "after", tool: "*", run: () => ({ txt: "hidden" }) }],
      onHookError: (error) => told.push(error),
    });
    expect((await ws.call("read_file", { path: "a" })).text).toContain("secret");
    expect(told).toMatchObject([{ code: "INVALID_ARGUMENT", message: expect.stringContaining("'text'") }]);
    await ws.close();
  });
});

describe("a hook with the name that a preset gives a tool", () => {
  const open = async (stage: "before" | "confirm" | "after", tool: string, options: object = {}) => {
    const counted = { runs: 0 };
    const backend = new MemoryBackend({ "/w/keep": "x\n" });
    const run = (): never => {
      counted.runs += 1;
      return (stage === "confirm" ? { outcome: "cancel" } : undefined) as never;
    };
    const ws = await openWorkspace({
      backend,
      root: "/w",
      guard: "off",
      hooks: [{ stage, tool, run }],
      ...options,
    });
    afterThisTest(() => ws.close());
    const runsFor = async (name: string, args: object, preset?: PresetName): Promise<number> => {
      const before = counted.runs;
      if (preset === undefined) await ws.call(name, args);
      else
        await toolsFor(ws, preset)
          .find((one) => one.name === name)
          ?.execute(args as never);
      return counted.runs - before;
    };
    return runsFor;
  };
  const STAGES = ["before", "confirm", "after"] as const;

  test.each(STAGES)("%s is run when the tool is called so", async (stage) => {
    const runsFor = await open(stage, "Write");
    expect(await runsFor("Write", { file_path: "/w/a", content: "x" }, "claude")).toBe(1);
  });

  /** Names of other presets than that of the workspace, with a call of the canonical tool behind each. */
  const CALLS: readonly (readonly [named: string, tool: string, args: object])[] = [
    ["Write", "write_file", { path: "b", content: "x" }],
    ["Edit", "edit_file", { path: "keep", old_text: "x", new_text: "y" }],
    ["replace", "edit_file", { path: "keep", old_text: "x", new_text: "y" }],
    ["replace", "write_file", { path: "b", content: "x" }],
    ["fs_write", "write_file", { path: "b", content: "x" }],
    ["fs_delete", "delete", { path: "keep" }],
    ["update_file", "edit_file", { path: "keep", old_text: "x", new_text: "y" }],
    ["memory", "delete", { path: "keep" }],
    ["str_replace_based_edit_tool", "write_file", { path: "b", content: "x" }],
  ];
  for (const stage of STAGES) {
    test.each(CALLS)(`${stage} for %s is run for %s, too`, async (named, tool, args) => {
      expect(await (await open(stage, named))(tool, args)).toBe(1);
      const batched = { operations: [{ tool, args }] };
      expect(await (await open(stage, named))("batch", batched)).toBe(1);
    });
  }

  test("is run in a workspace with another preset, for its name of the same tool alone", async () => {
    const runsFor = await open("before", "Write", { preset: "go" });
    expect(await runsFor("fs_write", { path: "b", content: "x" })).toBe(1);
    expect(await runsFor("fs_delete", { path: "b" })).toBe(0);
  });

  test("is not run for the other tools of its own preset", async () => {
    const runsFor = await open("before", "memory", { preset: "anthropic" });
    const args = { command: "create", path: "a", file_text: "x" };
    expect(await runsFor("str_replace_based_edit_tool", args)).toBe(0);
    expect(await runsFor("memory", { ...args, path: "/memories/a" })).toBe(1);
  });

  test("is refused under a name that no preset has, with the nearest one", async () => {
    await expect(open("before", "Wrte")).rejects.toThrow(/hooks\[0\]\.tool.*did you mean 'Write'/u);
  });
});
