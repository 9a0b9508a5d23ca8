/** Reviewing calls: the arguments and answers of a hook, and the question that an approver sees. */
import { describe, expect, test } from "vitest";
import {
  approvalHook,
  type BeforeReply,
  type Hook,
  type HookContext,
  withHooks,
} from "../../js/index.node.ts";
import { KINDS, place } from "../tools/harness.ts";

const beforeCall = (run: (context: HookContext) => unknown, tool = "*"): Hook => ({
  stage: "before",
  tool,
  run,
});
const afterCall = (run: (context: HookContext) => unknown, tool = "*"): Hook => ({
  stage: "after",
  tool,
  run,
});

describe.each(KINDS)("hooks on %s", (kind) => {
  test("one hook sees every tool: name, arguments, and the host's own record of the call", async () => {
    const seen: HookContext[] = [];
    const { ws } = await place(
      kind,
      { a: "1\n" },
      { hooks: [beforeCall((context) => void seen.push(context))] },
    );
    const calls: readonly [string, Record<string, unknown>][] = [
      ["read_file", { path: "a" }],
      ["write_file", { path: "b", content: "2" }],
      ["grep", { pattern: "1" }],
      ["delete", { path: "b" }],
    ];
    for (const [tool, args] of calls) {
      expect((await ws.call(tool, args, { toolCall: { id: `call-${tool}` } })).ok).toBe(true);
    }
    expect(seen.map(({ tool_name, args, tool_call }) => [tool_name, args, tool_call])).toEqual(
      calls.map(([tool, args]) => [tool, args, { id: `call-${tool}` }]),
    );
  });

  test("without hooks no call asks or waits", async () => {
    const { ws, text } = await place(kind, { a: "1\n" });
    const { ok, meta } = await ws.call("edit_file", { path: "a", old_text: "1", new_text: "2" });
    expect([ok, meta.approval, await text("a")]).toEqual([true, undefined, "2\n"]);
  });

  test("a hook before the call can look at the diff, and stop it", async () => {
    const diffs: string[] = [];
    const stop = beforeCall(async ({ preview }) => {
      diffs.push((await preview?.())?.diff ?? "none");
      return { proceed: false };
    });
    const { ws, text } = await place(kind, { a: "1\n" }, { hooks: [stop] });
    expect((await ws.call("edit_file", { path: "a", old_text: "1", new_text: "2" })).error?.code).toBe(
      "HOOK_BLOCKED",
    );
    expect((await ws.call("read_file", { path: "a" })).error?.code).toBe("HOOK_BLOCKED");
    expect(diffs).toEqual([expect.stringContaining("-1\n+2\n"), "none"]);
    expect(await text("a")).toBe("1\n");
  });

  const replies: readonly [string, unknown, boolean, string | undefined][] = [
    ["nothing goes on", undefined, true, undefined],
    ["null goes on", null, true, undefined],
    ["proceed: true goes on", { proceed: true }, true, undefined],
    ["proceed: false stops", { proceed: false }, false, "Error: blocked by hook"],
    [
      "an answer of its own stands instead, word for word",
      { proceed: false, alternative_response: "Error? No: ask again\n tomorrow " },
      false,
      "Error? No: ask again\n tomorrow ",
    ],
    ["something that is no answer stops", "yes", false, undefined],
  ];
  test.each(replies)("%s", async (_, reply, goesOn, words) => {
    const { ws, text } = await place(kind, {}, { hooks: [beforeCall(() => reply)] });
    const result = await ws.call("write_file", { path: "a", content: "x" });
    expect(result.error?.code).toBe(goesOn ? undefined : "HOOK_BLOCKED");
    if (words !== undefined) expect(result.text).toBe(words);
    expect(await text("a")).toBe(goesOn ? "x" : undefined);
  });

  const changed: readonly [
    string,
    BeforeReply["modified_args"],
    string | undefined,
    Record<string, string>,
  ][] = [
    ["are merged over those given", { content: "hook" }, undefined, { a: "oldhook" }],
    ["may be taken away", { append: null }, undefined, { a: "model" }],
    ["are checked again: their form", { mode: 5 }, "INVALID_ARGUMENT", { a: "old" }],
    ["are checked again: their names", { contents: "x" }, "INVALID_ARGUMENT", { a: "old" }],
    ["are checked again: their place", { path: "../out/a" }, "OUTSIDE_ALLOWED", { a: "old" }],
  ];
  test.each(changed)(
    "arguments that a hook changes %s, and it is said",
    async (_, modified_args, code, files) => {
      const { ws, text } = await place(
        kind,
        { a: "old" },
        { hooks: [beforeCall(() => ({ modified_args }))] },
      );
      const result = await ws.call("write_file", { path: "a", content: "model", append: true });
      expect(result.error?.code, result.text).toBe(code);
      for (const [path, content] of Object.entries(files)) expect(await text(path)).toBe(content);
      expect(await text("../out/a")).toBeUndefined();
      if (code === undefined)
        expect(result).toMatchObject({
          text: expect.stringContaining("modified"),
          meta: { modified_by_hook: true },
        });
    },
  );

  test("an exception that a hook raises is the host's, not the model's", async () => {
    const raised = new TypeError("stop the agent");
    const { ws, text } = await place(kind, {}, { hooks: [beforeCall(() => ({ raise_exception: raised }))] });
    await expect(ws.call("write_file", { path: "a", content: "x" })).rejects.toBe(raised);
    expect(await text("a")).toBeUndefined();
  });

  test("a hook after the call sees its result, of failures too, and may annotate it", async () => {
    const seen: unknown[] = [];
    const note = afterCall(({ tool_name, result, tool_call, duration_ms }) => {
      seen.push([tool_name, result?.ok, tool_call, typeof duration_ms]);
      return { text: `${result?.text}\n[seen]` };
    });
    const { ws } = await place(kind, { a: "1\n" }, { hooks: [note] });
    const good = await ws.call("read_file", { path: "a" }, { toolCall: 7 });
    const bad = await ws.call("read_file", { path: "gone" });
    expect([good.text, bad.text.endsWith("\n[seen]"), bad.error?.code]).toEqual([
      "1\t1\n[seen]",
      true,
      "NOT_FOUND",
    ]);
    expect(seen).toEqual([
      ["read_file", true, 7, "number"],
      ["read_file", false, undefined, "number"],
    ]);
  });

  test("a hook of two functions: is it dangerous, and what is the answer", async () => {
    const asked: string[] = [];
    const hook = approvalHook({
      when: ({ tool_name, args }) => tool_name === "delete" || String(args["path"]).endsWith(".lock"),
      ask({ tool_name }) {
        asked.push(tool_name);
        return tool_name === "delete"
          ? { approved: false, message: "not that one" }
          : { approved: true, modified_args: { content: "safe" } };
      },
    });
    const { ws, text } = await place(kind, { a: "1" }, { hooks: [hook] });
    await ws.call("write_file", { path: "b", content: "free" });
    await ws.call("write_file", { path: "c.lock", content: "risky" });
    const refused = await ws.call("delete", { path: "a" });
    expect([asked, refused.text]).toEqual([["write_file", "delete"], "not that one"]);
    expect([await text("a"), await text("b"), await text("c.lock")]).toEqual(["1", "free", "safe"]);
  });

  test("correction, checking, recovery and context are hooks, and there are none unless they are given", async () => {
    const hooks = [
      beforeCall(
        ({ args }) => ({ modified_args: { path: String(args["path"]).replace(/^`|`$/gu, "") } }),
        "read_file",
      ),
      beforeCall(
        ({ args }) =>
          String(args["content"]).includes("<<<<<<<")
            ? { proceed: false, alternative_response: "resolve the conflict first" }
            : undefined,
        "write_file",
      ),
      afterCall(({ result }) =>
        result?.error?.code === "NOT_FOUND" ? { text: `${result.text} Try the index.` } : undefined,
      ),
    ];
    const plain = await place(kind, { a: "1" });
    const helped = await place(kind, { a: "1" }, { hooks });
    expect((await plain.ws.call("read_file", { path: "`a`" })).error?.code).toBe("INVALID_ARGUMENT");
    expect((await helped.ws.call("read_file", { path: "`a`" })).ok).toBe(true);
    expect((await helped.ws.call("write_file", { path: "a", content: "<<<<<<< x" })).text).toBe(
      "resolve the conflict first",
    );
    expect((await helped.ws.call("stat", { path: "gone" })).text).toMatch(/Try the index\.$/u);
    expect((await plain.ws.call("write_file", { path: "a", content: "<<<<<<< x" })).ok).toBe(true);
  });
});

test("a tool that is not ours is stopped, changed and watched by the same hooks", async () => {
  const ran: unknown[] = [];
  const bash = {
    name: "bash",
    execute(args: Readonly<Record<string, unknown>>) {
      ran.push(args);
      return `ran ${args["command"]}`;
    },
  };
  const hooks = [
    beforeCall(
      ({ args }) =>
        String(args["command"]).startsWith("rm") ? { proceed: false, alternative_response: "no" } : undefined,
      "bash",
    ),
    beforeCall(({ args }) => ({ modified_args: { command: `nice ${args["command"]}` } })),
    afterCall(({ result }) => ({ text: `${result?.text}!` })),
  ];
  const guarded = withHooks(bash, hooks);
  expect(await guarded.execute({ command: "ls" })).toMatchObject({ ok: true, text: "ran nice ls!" });
  expect(await guarded.execute({ command: "rm -rf /" })).toMatchObject({
    ok: false,
    text: "no!",
    error: { code: "HOOK_BLOCKED" },
  });
  expect(ran).toEqual([{ command: "nice ls" }]);
});
