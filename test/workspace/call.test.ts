import { describe, expect, test } from "vitest";
import {
  FilewrightError,
  type Hook,
  MemoryBackend,
  memoryRecords,
  openWorkspace,
  type Records,
  withHooks,
} from "../../js/index.node.ts";
import { reviewer } from "../support/reviewer.ts";
import { KINDS, place } from "../tools/harness.ts";

describe("tools as models see them", () => {
  test("every tool is described, every argument too, and nothing else is accepted", async () => {
    const { ws } = await place("memory");
    expect(ws.tools.map((tool) => tool.name)).toEqual([
      "read_file",
      "read_many_files",
      "write_file",
      "edit_file",
      "apply_patch",
      "diff",
      "list_directory",
      "glob",
      "grep",
      "search_code",
      "stat",
      "copy",
      "move",
      "delete",
      "mkdir",
      "batch",
      "access_info",
    ]);
    const { ws: more } = await place("memory", {}, { knows: "names" });
    const names = more.tools.map((tool) => tool.name);
    expect(names.filter((name) => !ws.tools.some((tool) => tool.name === name))).toEqual(["find_files"]);
    for (const tool of more.tools) {
      expect(tool.description.length).toBeGreaterThan(80);
      expect(tool.inputSchema).toMatchObject({ type: "object", additionalProperties: false });
      for (const name of tool.inputSchema.required) expect(tool.inputSchema.properties).toHaveProperty(name);
      for (const [name, property] of Object.entries(tool.inputSchema.properties)) {
        expect(property.description, `${tool.name}.${name}`).toBeTruthy();
      }
      expect(tool.outputSchema.required.length).toBeGreaterThan(0);
      expect(tool.annotations.readOnlyHint).toBe(
        !["write_file", "edit_file", "apply_patch", "copy", "move", "delete", "mkdir", "batch"].includes(
          tool.name,
        ),
      );
    }
  });

  test("results have the data that the output schemas promise", async () => {
    const seed = { "a.txt": "a\n", "b.txt": "b\n", d: null };
    const { ws } = await place("memory", seed, { knows: "names" });
    const calls: readonly [string, Record<string, unknown>][] = [
      ["read_file", { path: "a.txt" }],
      ["read_many_files", { paths: ["*.txt"] }],
      ["write_file", { path: "n", content: "x" }],
      ["edit_file", { path: "a.txt", old_text: "a", new_text: "A" }],
      ["apply_patch", { patch: "--- a/b.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-b\n+B\n" }],
      ["diff", { a: "a.txt", b: "b.txt" }],
      ["list_directory", {}],
      ["glob", { pattern: "*" }],
      ["find_files", { query: "a" }],
      ["grep", { pattern: "b" }],
      ["stat", { path: "a.txt" }],
      ["copy", { source: "a.txt", destination: "c" }],
      ["move", { source: "c", destination: "e" }],
      ["delete", { path: "e" }],
      ["mkdir", { path: "q" }],
      ["batch", { operations: [{ tool: "stat", args: { path: "a.txt" } }] }],
      ["access_info", {}],
    ];
    for (const [name, args] of calls) {
      const result = await ws.call(name, args);
      expect(result.ok, `${name}: ${result.text}`).toBe(true);
      const schema = ws.tools.find((tool) => tool.name === name)!.outputSchema;
      for (const key of schema.required) expect(result.data, name).toHaveProperty(key);
      for (const key of Object.keys(result.data as object))
        expect(schema.properties, `${name}.${key}`).toHaveProperty(key);
    }
  });

  test("an unknown tool is refused with the nearest", async () => {
    const { ws } = await place("memory");
    const result = await ws.call("reed_file", {});
    expect(result).toMatchObject({
      ok: false,
      error: { code: "UNKNOWN_TOOL" },
      text: expect.stringContaining("'read_file'"),
    });
  });

  test("each tool is a method too: data, or a FilewrightError", async () => {
    const { ws } = await place("memory", { "a.txt": "a\n" });
    expect((await ws.readFile({ path: "a.txt" })).content).toBe("a\n");
    const error = await ws.readFile({ path: "b.txt" }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(FilewrightError);
    expect(error).toMatchObject({ code: "NOT_FOUND", path: "b.txt" });
    const outside = await ws.readFile({ path: "/etc/passwd" }).catch((thrown: unknown) => thrown);
    expect(outside).toMatchObject({ name: "SandboxViolation", code: "OUTSIDE_ALLOWED" });
  });

  test("a closed workspace answers no more", async () => {
    const { ws } = await place("memory");
    await ws.close();
    expect(await ws.call("stat", { path: "." })).toMatchObject({ error: { code: "UNSUPPORTED_OPERATION" } });
  });

  test("a read-only workspace offers only what it would do", async () => {
    const { ws, text } = await place("memory", { a: "1" }, { access: { readOnly: true } });
    expect(ws.tools.every((tool) => tool.annotations.readOnlyHint)).toBe(true);
    expect(await ws.call("write_file", { path: "a", content: "2" })).toMatchObject({
      error: { code: "READ_ONLY" },
    });
    expect(await text("a")).toBe("1");
  });
});

describe("opening", () => {
  const bad: readonly [name: string, options: Record<string, unknown>, code: string][] = [
    ["no root", {}, "INVALID_ARGUMENT"],
    ["a root and roots", { root: "/a", roots: ["/b"] }, "INVALID_ARGUMENT"],
    ["a limit that does not exist", { root: "/", limits: { outputBites: 3 } }, "INVALID_ARGUMENT"],
    ["a limit of nothing", { root: "/", limits: { outputBytes: 0 } }, "INVALID_ARGUMENT"],
    ["an option that does not exist", { root: "/", limit: {} }, "INVALID_ARGUMENT"],
    ["a backend that is none", { root: "/", backend: {} }, "INVALID_ARGUMENT"],
    [
      "kernel confinement where there is none",
      { root: "/", backend: new MemoryBackend(), kernel: "require" },
      "SANDBOX_SETUP_FAILED",
    ],
    ["a preset that does not exist", { root: "/", preset: "klingon" }, "INVALID_ARGUMENT"],
    ["a root that does not exist", { root: "/no/such/place" }, "NOT_FOUND"],
  ];
  test.each(bad)("refuses %s", async (_, options, code) => {
    await expect(openWorkspace(options as never)).rejects.toMatchObject({ code });
  });

  test("says what is in force", async () => {
    const { ws } = await place("memory");
    expect(ws.capabilities()).toMatchObject({ engine: { kind: "native" }, confinement: "checked" });
    expect((await place("local")).ws.capabilities()).toMatchObject({ confinement: "native" });
  });
});

describe.each(KINDS)("hooks on %s", (kind) => {
  const first = (run: Hook["run"], tool = "*"): Hook => ({ stage: "before", tool, run });
  const then = (run: Hook["run"], tool = "*"): Hook => ({ stage: "after", tool, run });

  test("nothing, an empty answer and proceed: true go on", async () => {
    const hooks = [first(() => undefined), first(() => ({})), first(async () => ({ proceed: true }))];
    const { ws, text } = await place(kind, {}, { hooks });
    expect(await ws.call("write_file", { path: "a", content: "x" })).toMatchObject({ ok: true });
    expect(await text("a")).toBe("x");
  });

  const stops: readonly [name: string, run: Hook["run"], text: string][] = [
    ["proceed: false", () => ({ proceed: false }), "Error: blocked by hook"],
    [
      "an alternative response",
      () => ({ proceed: false, alternative_response: "Ask Bob.\nError: x" }),
      "Ask Bob.\nError: x",
    ],
    [
      "a hook that throws",
      () => {
        throw new Error("secret");
      },
      "Error: blocked by hook: it failed",
    ],
    [
      "a hook that gives nonsense",
      () => 3,
      "Error: blocked by hook: it gave an answer that is not understood",
    ],
    ...[{ proceed: 0 }, { proceed: "no" }, { modified_args: ["x"] }, [false], "deny"].map(
      (reply): [name: string, run: Hook["run"], text: string] => [
        `a hook that gives ${JSON.stringify(reply)}`,
        () => reply as never,
        "Error: blocked by hook: it gave an answer that is not understood",
      ],
    ),
    ["an empty response", () => ({ proceed: false, alternative_response: "" }), "Error: blocked by hook"],
    [
      "a response that is no text",
      () => ({ proceed: false, alternative_response: { use: "other" } as never }),
      '{"use":"other"}',
    ],
    [
      "a hook that never answers",
      () => new Promise(() => {}),
      "Error: blocked by hook: it gave no answer within 30 ms",
    ],
  ];
  test.each(stops)("%s stops the call", async (_, run, words) => {
    const { ws, text } = await place(kind, {}, { hooks: [first(run)], limits: { hookTimeoutMs: 30 } });
    const result = await ws.call("write_file", { path: "a", content: "x" });
    expect(result).toMatchObject({ ok: false, error: { code: "HOOK_BLOCKED" }, text: words });
    expect(await text("a")).toBeUndefined();
  });

  test("arguments changed by a hook are used, checked again, and reported", async () => {
    const replace = (modified_args: Record<string, unknown>) => [
      first(() => ({ modified_args }), "write_file"),
    ];
    const changed = await place(kind, {}, { hooks: replace({ content: "changed" }) });
    const result = await changed.ws.call("write_file", { path: "a", content: "x" });
    expect(result).toMatchObject({
      ok: true,
      meta: { modified_by_hook: true },
      text: expect.stringMatching(/modified/),
    });
    expect(await changed.text("a")).toBe("changed");
    const out = await place(kind, {}, { hooks: replace({ path: "../out/x" }) });
    expect(await out.ws.call("write_file", { path: "a", content: "x" })).toMatchObject({
      error: { code: "OUTSIDE_ALLOWED" },
    });
    const removed = await place(kind, {}, { hooks: replace({ content: null }) });
    expect(await removed.ws.call("write_file", { path: "a", content: "x" })).toMatchObject({
      error: { code: "INVALID_ARGUMENT" },
    });
  });

  test("an exception that a hook raises rejects the call with exactly that", async () => {
    const mine = new Error("mine");
    const { ws } = await place(kind, {}, { hooks: [first(() => ({ raise_exception: mine }))] });
    await expect(ws.call("mkdir", { path: "a" })).rejects.toBe(mine);
  });

  test("tools that are not ours go through the same hooks", async () => {
    const ran: unknown[] = [];
    const bash = { name: "bash", execute: (args: unknown) => [ran.push(args), "done"][1] };
    const hooks = [
      first(
        ({ args }) =>
          args["command"] === "rm"
            ? { proceed: false, alternative_response: "No." }
            : { modified_args: { cwd: "/w" } },
        "bash",
      ),
      then(({ result }) => ({ text: `${result?.text}!` }), "bash"),
    ];
    const guarded = withHooks(bash, hooks);
    expect(await guarded.execute({ command: "ls" })).toMatchObject({ ok: true, text: "done!" });
    expect(await guarded.execute({ command: "rm" })).toMatchObject({
      ok: false,
      text: "No.!",
      error: { code: "HOOK_BLOCKED" },
    });
    expect(ran).toEqual([{ command: "ls", cwd: "/w" }]);
  });

  test("after hooks see successes and failures, may replace the text, and cannot fail the call", async () => {
    const seen: unknown[] = [];
    const hooks = [
      then(({ tool_name, result }) => {
        seen.push([tool_name, result?.ok]);
      }),
      then(({ result }) => (result?.ok ? { text: "REDACTED" } : undefined), "read_file"),
      then(() => {
        throw new Error("observer");
      }),
    ];
    const errors: unknown[] = [];
    const { ws } = await place(kind, { a: "1\n" }, { hooks, onHookError: (error) => errors.push(error) });
    expect((await ws.call("read_file", { path: "a" })).text).toBe("REDACTED");
    expect((await ws.call("read_file", { path: "zz" })).error?.code).toBe("NOT_FOUND");
    expect(seen).toEqual([
      ["read_file", true],
      ["read_file", false],
    ]);
    expect(errors).toHaveLength(2);
  });
});

describe.each(KINDS)("approvals on %s", (kind) => {
  test("the reviewer sees the very change, and a no writes nothing", async () => {
    const { shown, confirm } = reviewer({ outcome: "cancel" });
    const { ws, text, root } = await place(kind, { f: "a\nb\n" }, { confirm });
    const result = await ws.call("edit_file", { path: "f", old_text: "b", new_text: "B" });
    expect(result.error?.code).toBe("APPROVAL_DENIED");
    expect(shown).toMatchObject([
      {
        type: "edit",
        fileName: "f",
        path: `${root}/f`,
        originalContent: "a\nb\n",
        newContent: "a\nB\n",
        fileDiff: expect.stringContaining("-b\n+B\n"),
      },
    ]);
    expect(await text("f")).toBe("a\nb\n");
  });

  test("what is wrong, outside or only tried is not asked about", async () => {
    const { shown, confirm } = reviewer();
    const { ws } = await place(kind, { f: "a\n" }, { confirm });
    await ws.call("edit_file", { path: "f", old_text: "zz", new_text: "B" });
    await ws.call("write_file", { path: "../out/x", content: "x" });
    await ws.call("edit_file", { path: "f", old_text: "a", new_text: "B", dry_run: true });
    await ws.call("mkdir", { path: "." });
    await ws.call("read_file", { path: "f" });
    expect(shown).toEqual([]);
  });

  test("once, for a tool, for everything", async () => {
    const { shown, confirm } = reviewer(
      { outcome: "proceed_once" },
      { outcome: "proceed_always_tool" },
      { outcome: "proceed_always_server" },
    );
    const { ws } = await place(kind, {}, { confirm });
    for (const content of ["1", "2", "3"]) await ws.writeFile({ path: "a", content });
    expect(shown).toHaveLength(2);
    await ws.editFile({ path: "a", old_text: "3", new_text: "4" });
    expect(shown).toHaveLength(3);
    await ws.delete({ path: "a" });
    expect(shown).toHaveLength(3);
  });

  test("the reviewer's own text is written, and said to be", async () => {
    const { shown, confirm } = reviewer(
      { outcome: "modify_with_editor", payload: { newContent: "draft" } },
      { outcome: "modify_with_editor", payload: { newContent: "human", final: true } },
    );
    const { ws, text } = await place(kind, {}, { confirm });
    const result = await ws.call("write_file", { path: "a", content: "model" });
    expect(result).toMatchObject({
      ok: true,
      meta: { modified_by_user: true },
      text: expect.stringContaining("modified"),
    });
    expect(shown[1]).toMatchObject({ newContent: "draft", isModifying: true });
    expect(await text("a")).toBe("human");
  });

  test("a file that changes while the reviewer thinks is a conflict, and is not asked about again", async () => {
    let change: () => Promise<void> = async () => {};
    const { shown, confirm } = reviewer(async () => {
      await change();
      return { outcome: "proceed_once" };
    });
    const { ws, text, foreign } = await place(kind, { f: "a\n" }, { confirm });
    change = () => foreign("f", "foreign\n");
    const result = await ws.call("write_file", { path: "f", content: "mine\n" });
    expect(result.error?.code).toBe("CONFLICT");
    expect(shown).toHaveLength(1);
    expect(await text("f")).toBe("foreign\n");
  });

  test("a reviewer who fails or says something else denies", async () => {
    for (const confirm of [
      async () => {
        throw new Error("gone");
      },
      async () => ({ outcome: "sure" }) as never,
    ]) {
      const { ws, text } = await place(kind, {}, { confirm });
      expect(await ws.call("write_file", { path: "a", content: "x" })).toMatchObject({
        error: { code: "APPROVAL_DENIED" },
      });
      expect(await text("a")).toBeUndefined();
    }
  });

  test("rules decide before anybody is asked, the first that matches", async () => {
    const { shown, confirm } = reviewer({ outcome: "proceed_once" });
    const rules = [
      { tool: "delete", decision: "deny" },
      { path: "doc/**", decision: "allow" },
      { path: "src/**", decision: "ask" },
    ] as const;
    const { ws } = await place(kind, { "doc/a": "1", "src/a": "1" }, { confirm, rules });
    expect(await ws.call("write_file", { path: "doc/a", content: "2" })).toMatchObject({ ok: true });
    expect(await ws.call("delete", { path: "doc/a" })).toMatchObject({ error: { code: "APPROVAL_DENIED" } });
    expect(shown).toHaveLength(0);
    expect(await ws.call("write_file", { path: "src/a", content: "2" })).toMatchObject({ ok: true });
    expect(shown).toHaveLength(1);
  });

  test("a needed approval without an approver is a refusal", async () => {
    const { ws, text } = await place(kind, {}, { requireApproval: true });
    expect(await ws.call("write_file", { path: "a", content: "x" })).toMatchObject({
      error: { code: "APPROVAL_DENIED" },
    });
    expect(await text("a")).toBeUndefined();
  });
});

describe.each(KINDS)("cancelling on %s", (kind) => {
  test("a signal that fired before the call: nothing happens", async () => {
    const { ws, text } = await place(kind, { f: "old" });
    const signal = AbortSignal.abort();
    for (const [tool, args] of [
      ["write_file", { path: "f", content: "x" }],
      ["delete", { path: "f" }],
      ["read_file", { path: "f" }],
    ] as const) {
      expect(await ws.call(tool, args, { signal })).toMatchObject({ error: { code: "CANCELLED" } });
    }
    expect(await text("f")).toBe("old");
  });

  test("a signal that fires during the question", async () => {
    const stop = new AbortController();
    const confirm = () => {
      stop.abort();
      return new Promise<never>(() => {});
    };
    const { ws, text } = await place(kind, {}, { confirm });
    expect(await ws.call("write_file", { path: "a", content: "x" }, { signal: stop.signal })).toMatchObject({
      error: { code: "CANCELLED" },
    });
    expect(await text("a")).toBeUndefined();
  });
});

describe("locks", () => {
  test("a lock that is held makes a call give up, and a released one lets it go on", async () => {
    const { ws, text } = await place("local", { f: "a\n" }, { limits: { lockTimeoutMs: 100 } });
    const held = await ws.lock("f");
    expect(await ws.call("edit_file", { path: "f", old_text: "a", new_text: "b" })).toMatchObject({
      error: { code: "LOCK_TIMEOUT" },
      text: expect.stringContaining("'f'"),
    });
    held.release();
    expect(await ws.call("edit_file", { path: "f", old_text: "a", new_text: "b" })).toMatchObject({
      ok: true,
    });
    expect(await text("f")).toBe("b\n");
  });

  test("two workspaces over one storage share the queue", async () => {
    const backend = new MemoryBackend({ "/ws/n": "0" });
    const all = await Promise.all([1, 2, 3].map(() => openWorkspace({ root: "/ws", backend })));
    await Promise.all(
      all.flatMap((ws) =>
        Array.from({ length: 10 }, () => ws.writeFile({ path: "n", content: "x", append: true })),
      ),
    );
    expect((await all[0]!.readFile({ path: "n" })).size).toBe(31);
  });
});

describe("an error of the host outside the tool is an answer", () => {
  const note = (): never => {
    throw new TypeError("no log");
  };
  const broken: Hook = {
    stage: "after",
    tool: "*",
    run() {
      throw new Error("hook");
    },
  };

  test("when a function for the errors of hooks throws: a change stands, and says so", async () => {
    const { ws, text } = await place("memory", { a: "1\n" }, { hooks: [broken], onHookError: note });
    const read = await ws.call("read_file", { path: "a" });
    expect(read).toMatchObject({ ok: false, error: { code: "INTERNAL" } });
    const changed = await ws.call("write_file", { path: "b", content: "2\n" });
    expect(changed).toMatchObject({
      ok: false,
      error: { code: "INTERNAL", message: expect.stringContaining("was made and stands") },
      meta: { undoable: true, call_id: expect.any(String) },
    });
    expect(await text("b")).toBe("2\n");
    await ws.undo(changed.meta.call_id as string);
    expect(await text("b")).toBeUndefined();
  });

  test("when records of a budget throw at once, before a call and after it", async () => {
    let adds = 0;
    const kept = memoryRecords();
    const records: Records = {
      ...kept,
      add(kind, id, amount, options) {
        adds += 1;
        if (adds > 1) throw new TypeError("no network");
        return kept.add(kind, id, amount, options);
      },
    };
    const { ws } = await place("memory", { a: "1\n" }, { records });
    const agent = await ws.agent("one", { budget: { calls: 9, outputBytes: 10_000 } });
    expect(await agent.call("read_file", { path: "a" })).toMatchObject({ ok: true });
    expect(await agent.call("read_file", { path: "a" })).toMatchObject({
      ok: false,
      error: { code: "INTERNAL" },
    });
  });
});
