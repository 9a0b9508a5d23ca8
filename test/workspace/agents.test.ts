/** Several agents on one workspace: their own memory, grants, approvals and budgets; never more than it has. */
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import {
  type AgentOptions,
  type Confirmation,
  type GrantQuestion,
  MemoryBackend,
  openWorkspace,
  toolsFor,
  type WorkspaceOptions,
} from "../../js/index.node.ts";

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

async function memory(options: Partial<WorkspaceOptions> = {}, seed: Record<string, string> = {}) {
  const files = { "a/f": "one\n", "b/f": "two\n", f: "three\n", ...seed };
  const backend = new MemoryBackend(
    Object.fromEntries(Object.entries(files).map(([name, text]) => [`/w/${name}`, text])),
  );
  return openWorkspace({ backend, root: "/w", ...options });
}

describe("agents of one workspace", () => {
  test("share one history, which says who did what", async () => {
    const ws = await memory();
    const [one, two] = [await ws.agent("one"), await ws.agent("two")];
    await one.call("write_file", { path: "f", content: "1\n" });
    const operations = [{ tool: "write_file", args: { path: "g", content: "2\n" } }];
    const batch = await two.call("batch", { operations });
    await ws.call("mkdir", { path: "d" });
    await ws.call("mkdir", { path: "e" }, { agent: "three" });
    await one.undo(batch.meta.call_id ?? "");
    const told = (await ws.history()).map(({ tool, agent }) => `${tool} by ${agent}`);
    expect(told).toEqual([
      "undo by one",
      "mkdir by three",
      "mkdir by undefined",
      "batch by two",
      "write_file by one",
    ]);
    expect(await two.history()).toEqual(await ws.history());
  });

  test("have each read what they read", async () => {
    const ws = await memory({ guard: true });
    const [one, two] = [await ws.agent("one"), await ws.agent("two")];
    await one.call("read_file", { path: "f" });
    const change = { path: "f", content: "new\n" };
    expect((await two.call("write_file", change)).error?.details).toMatchObject({ reason: "not_read" });
    expect((await one.call("write_file", change)).ok).toBe(true);
    await two.call("read_file", { path: "f" });
    expect((await two.call("write_file", { path: "f", content: "two's\n" })).ok).toBe(true);
    const late = await one.call("edit_file", { path: "f", old_text: "new", new_text: "x" });
    expect(late.ok).toBe(false);
    expect((await one.call("write_file", change)).error?.details).toMatchObject({
      reason: "changed_since_read",
    });
  });

  test("are granted directories one by one, and it is told who asks", async () => {
    const asked: GrantQuestion[] = [];
    const ask = (_: string, __: readonly string[], about: GrantQuestion): string => {
      asked.push(about);
      return about.agent === "two" ? "no" : "yes";
    };
    const ws = await memory({ permissions: { mode: "prompt", ask } });
    const [one, two] = [await ws.agent("one"), await ws.agent("two")];
    const read = { path: "a/f" };
    expect((await one.call("read_file", read)).ok).toBe(true);
    expect((await one.call("read_file", read)).ok).toBe(true);
    expect((await two.call("read_file", read)).error?.code).toBe("GRANT_DENIED");
    expect((await ws.call("read_file", read)).ok).toBe(true);
    expect(asked.map(({ agent, dir }) => [agent, dir])).toEqual([
      ["one", "/w/a"],
      ["two", "/w/a"],
      [undefined, "/w/a"],
    ]);
    await one.grants.revoke("/w/a");
    expect((await ws.grants.list()).map(({ dir }) => dir)).toEqual(["/w/a"]);
    expect(await one.grants.list()).toEqual([]);
  });

  test("are asked for by themselves where the workspace does not ask", async () => {
    const ws = await memory();
    const careful = await ws.agent("careful", { permissions: { ask: () => "no" } });
    expect((await careful.call("read_file", { path: "a/f" })).error?.code).toBe("GRANT_DENIED");
    expect((await ws.call("read_file", { path: "a/f" })).ok).toBe(true);
  });

  test("secrets granted to one are kept from the other", async () => {
    const ask = (_: string, __: readonly string[], { agent }: GrantQuestion): string =>
      agent === "one" ? "yes" : "no";
    const ws = await memory({ permissions: { mode: "prompt", ask } }, { ".env": "KEY=needle\n" });
    const [one, two] = [await ws.agent("one"), await ws.agent("two")];
    await two.grants.add({ dir: "/w", access: "write" });
    expect((await one.call("read_file", { path: ".env" })).ok).toBe(true);
    expect((await two.call("read_file", { path: ".env" })).error?.code).toBe("GRANT_DENIED");
    expect((await one.grep({ pattern: "needle" })).total_matches).toBe(1);
    expect((await two.grep({ pattern: "needle" })).total_matches).toBe(0);
  });

  test("are approved one by one", async () => {
    const asked: (string | undefined)[] = [];
    const confirm = ({ agent }: Confirmation) => {
      asked.push(agent);
      return { outcome: "proceed_always_server" } as const;
    };
    const ws = await memory({ confirm });
    const [one, two] = [await ws.agent("one"), await ws.agent("two")];
    for (const agent of [one, one, two]) await agent.call("write_file", { path: "n", content: "x" });
    expect(asked).toEqual(["one", "two"]);
    const lists = await Promise.all([one, two, ws].map(({ approvals }) => approvals.list()));
    expect(lists.map(({ length }) => length)).toEqual([1, 1, 0]);
  });

  test("an agent's own reviewer is asked after that of the workspace", async () => {
    const asked: string[] = [];
    const says = (name: string, outcome: "proceed_once" | "cancel") => () => {
      asked.push(name);
      return { outcome };
    };
    const ws = await memory({ confirm: says("all", "proceed_once") });
    const agent = await ws.agent("a", { confirm: says("own", "cancel") });
    expect((await agent.call("write_file", { path: "n", content: "x" })).error?.code).toBe("APPROVAL_DENIED");
    expect(asked).toEqual(["all", "own"]);
  });

  test("each speaks the names of its model", async () => {
    const ws = await memory();
    const agent = await ws.agent("gemini", { preset: "gemini-cli" });
    expect((await agent.call("read_file", { file_path: "f" })).text).toBe("three\n");
    expect(toolsFor(agent, "claude").map(({ name }) => name)).toContain("MultiEdit");
    expect(ws.tools.map(({ name }) => name)).toContain("apply_patch");
  });

  test("one that is closed ends alone; the workspace ends them all", async () => {
    const ws = await memory();
    const [one, two] = [await ws.agent("one"), await ws.agent("two")];
    await one.close();
    expect((await one.call("stat", { path: "f" })).error?.code).toBe("UNSUPPORTED_OPERATION");
    expect((await two.call("stat", { path: "f" })).ok).toBe(true);
    await ws.close();
    expect((await two.call("stat", { path: "f" })).error?.code).toBe("UNSUPPORTED_OPERATION");
    await expect(ws.agent("three")).rejects.toMatchObject({ code: "UNSUPPORTED_OPERATION" });
  });
});

describe("the budget of an agent", () => {
  test("counts calls, and a batch as its operations", async () => {
    const ws = await memory();
    const agent = await ws.agent("a", { budget: { calls: 4 } });
    const stat = { tool: "stat", args: { path: "f" } };
    expect((await agent.call("stat", { path: "nope" })).error?.code).toBe("NOT_FOUND");
    expect((await agent.call("batch", { operations: [stat, stat], atomic: false })).ok).toBe(true);
    expect((await agent.call("batch", { operations: [stat, stat] })).error?.code).toBe("LIMIT_EXCEEDED");
    expect((await agent.call("stat", { path: "f" })).ok).toBe(true);
    const over = await agent.call("stat", { path: "f" });
    expect(over.text).toMatch(/^Error: The budget of this agent is spent: 4 of 4 calls/);
    expect(await agent.spent()).toMatchObject({ calls: 4 });
    expect((await ws.call("stat", { path: "f" })).ok).toBe(true);
  });

  test("bounds what an agent is told in all", async () => {
    const ws = await memory({}, { long: "x\n".repeat(10_000) });
    const agent = await ws.agent("a", { budget: { outputBytes: 5_000 } });
    const first = await agent.call("read_file", { path: "long", max_lines: 300 });
    expect(first.ok && first.data).toMatchObject({ truncated: true, lines_read: 300 });
    const second = await agent.call("read_file", { path: "long" });
    expect(Buffer.byteLength(first.text) + Buffer.byteLength(second.text)).toBeLessThanOrEqual(5_500);
    expect((await agent.call("read_file", { path: "long" })).error?.code).toBe("LIMIT_EXCEEDED");
    expect((await agent.spent())?.outputBytes).toBe(
      Buffer.byteLength(first.text) + Buffer.byteLength(second.text),
    );
  });

  test("of an agent's agent is part of its own", async () => {
    const ws = await memory();
    const outer = await ws.agent("outer", { budget: { calls: 3 } });
    const inner = await outer.agent("inner", { budget: { calls: 2 } });
    for (let n = 0; n < 3; n += 1) await inner.call("stat", { path: "f" });
    expect([(await inner.spent())?.calls, (await outer.spent())?.calls]).toEqual([2, 2]);
    const free = await outer.agent("free");
    expect((await free.call("stat", { path: "f" })).ok).toBe(true);
    expect((await free.call("stat", { path: "f" })).error?.code).toBe("LIMIT_EXCEEDED");
  });
});

describe("an agent has no more than its workspace", () => {
  test.each<[string, AgentOptions, string, object, string]>([
    ["read elsewhere", { access: { read: ["/o"] } }, "read_file", { path: "/o/s" }, "OUTSIDE_ALLOWED"],
    ["read everywhere", { access: { read: null } }, "read_file", { path: "/o/s" }, "OUTSIDE_ALLOWED"],
    ["through a link", { access: { read: ["out"] } }, "read_file", { path: "out/s" }, "OUTSIDE_ALLOWED"],
    ["denied", { access: { deny: [] } }, "read_file", { path: "b/f" }, "OUTSIDE_ALLOWED"],
    [
      "ruled out",
      { rules: [{ decision: "allow" }] },
      "write_file",
      { path: "a/f", content: "" },
      "APPROVAL_DENIED",
    ],
  ])("not what is %s", async (_, options, tool, args, code) => {
    const backend = new MemoryBackend({
      "/w/a/f": "one\n",
      "/w/b/f": "two\n",
      "/o/s": "SECRET",
      "/w/out": { type: "symlink", target: "/o" },
    });
    const rules = [{ path: "a/**", decision: "deny", tool: "write_file" }] as const;
    const ws = await openWorkspace({ backend, root: "/w", access: { deny: ["b"] }, rules });
    const result = await (await ws.agent("a", options)).call(tool, args);
    expect(result.error?.code, result.text).toBe(code);
    expect(result.text).not.toContain("SECRET");
  });

  test.each<[string, AgentOptions, readonly (readonly [string, object, string | undefined])[]]>([
    [
      "to one directory",
      { access: { read: ["a"], write: ["a"] } },
      [
        ["read_file", { path: "a/f" }, undefined],
        ["read_file", { path: "f" }, "OUTSIDE_ALLOWED"],
        ["write_file", { path: "a/n", content: "" }, undefined],
        ["write_file", { path: "b/n", content: "" }, "OUTSIDE_ALLOWED"],
      ],
    ],
    [
      "to reading",
      { access: { readOnly: true } },
      [
        ["read_file", { path: "f" }, undefined],
        ["write_file", { path: "f", content: "" }, "READ_ONLY"],
      ],
    ],
    [
      "by rules of its own",
      { rules: [{ tool: "delete", decision: "deny" }] },
      [
        ["delete", { path: "f" }, "APPROVAL_DENIED"],
        ["write_file", { path: "f", content: "" }, undefined],
      ],
    ],
    [
      "by lower limits",
      { limits: { wholeFileBytes: 3 } },
      [["read_file", { path: "f", max_lines: null }, "TOO_LARGE"]],
    ],
  ])("it can be held %s", async (_, options, calls) => {
    const ws = await memory();
    const agent = await ws.agent("a", options);
    for (const [tool, args, code] of calls) {
      const result = await agent.call(tool, args);
      expect(result.error?.code, `${tool}: ${result.text}`).toBe(code);
    }
  });

  test("an agent's agent is held by both", async () => {
    const ws = await memory();
    const outer = await ws.agent("outer", { access: { read: ["a"], write: [] } });
    const inner = await outer.agent("inner", { access: { read: ["a", "b"], write: ["a"] } });
    expect((await inner.call("read_file", { path: "b/f" })).error?.code).toBe("OUTSIDE_ALLOWED");
    expect((await inner.call("write_file", { path: "a/f", content: "" })).ok).toBe(false);
    expect((await inner.call("read_file", { path: "a/f" })).ok).toBe(true);
  });

  test("a limit above that of the workspace stays that of the workspace", async () => {
    const ws = await memory({ limits: { wholeFileBytes: 3 } });
    const agent = await ws.agent("a", { limits: { wholeFileBytes: 100 } });
    expect((await agent.call("read_file", { path: "f", max_lines: null })).error?.code).toBe("TOO_LARGE");
  });

  test.each<[string, unknown, unknown]>([
    ["no name", "", {}],
    ["an unknown option", "a", { rulez: [] }],
    ["an unknown limit", "a", { limits: { bytes: 1 } }],
    ["a limit of nothing", "a", { limits: { outputBytes: 0 } }],
    ["an unknown budget", "a", { budget: { tokens: 1 } }],
    ["a budget that is no number", "a", { budget: { calls: "many" } }],
  ])("%s is refused", async (_, name, options) => {
    const ws = await memory();
    await expect(ws.agent(name as string, options as AgentOptions)).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
    });
  });

  test("on a disk, where the kernel holds it too", async () => {
    const base = await realpath(await mkdtemp(join(tmpdir(), "filewright-agents-")));
    cleanups.push(() => rm(base, { recursive: true, force: true }));
    for (const dir of ["w/a", "w/b", "o", "s"]) await mkdir(join(base, dir), { recursive: true });
    await writeFile(join(base, "w/a/f"), "one\n");
    await writeFile(join(base, "w/b/f"), "two\n");
    await writeFile(join(base, "o/s"), "SECRET");
    await symlink("../o", join(base, "w/out"));
    const ws = await openWorkspace({ root: join(base, "w"), stateDir: join(base, "s") });
    cleanups.push(() => ws.close());
    const agent = await ws.agent("a", { access: { read: ["a", "out"], write: ["a"] } });
    expect((await agent.call("edit_file", { path: "a/f", old_text: "one", new_text: "1" })).ok).toBe(true);
    for (const path of ["b/f", "out/s", "../o/s"])
      expect((await agent.call("read_file", { path })).error?.code, path).toBe("OUTSIDE_ALLOWED");
    expect((await ws.history()).map(({ tool }) => tool)).toEqual(["edit_file"]);
  });
});
