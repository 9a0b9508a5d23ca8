/** Options that are right: what was added, and forms that the check must not refuse. */
import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { runInNewContext } from "node:vm";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type AnyHook,
  MemoryBackend,
  memoryRecords,
  openWorkspace,
  usageCounter,
  withHooks,
  type WorkspaceOptions,
} from "../../js/index.node.ts";
import { definePreset, PRESETS } from "../../js/presets/index.node.ts";

let dir: string;
beforeAll(async () => {
  dir = await realpath(await mkdtemp(join(tmpdir(), "filewright options-")));
  await writeFile(join(dir, "a.txt"), "one\n");
});
afterAll(() => rm(dir, { recursive: true }));

/** A hook with state of its own. */
class Counting {
  readonly stage = "before";
  readonly tool = "*";
  calls = 0;
  run(): undefined {
    this.calls += 1;
  }
}

describe("a root", () => {
  test.each<[string, (dir: string) => string | URL | WorkspaceOptions]>([
    ["a path", (path) => path],
    ["a URL", (path) => pathToFileURL(path)],
    ["root as a URL", (path) => ({ root: pathToFileURL(path) })],
    ["roots as URLs", (path) => ({ roots: [pathToFileURL(path)] })],
    ["a root with its access", (path) => ({ roots: [{ path: pathToFileURL(path), access: "write" }] })],
  ])("is given as %s", async (_name, options) => {
    const ws = await openWorkspace(options(dir));
    expect((await ws.readFile({ path: "a.txt" })).content).toBe("one\n");
    expect((await ws.call("write_file", { path: "b.txt", content: "" })).ok).toBe(true);
    await ws.close();
  });

  test("readOnly refuses every change, and so does access.readOnly", async () => {
    for (const options of [
      { readOnly: true },
      { access: { readOnly: true } },
      { readOnly: false, access: { readOnly: true } },
    ]) {
      const ws = await openWorkspace({ root: dir, ...options });
      expect((await ws.call("write_file", { path: "c.txt", content: "" })).error?.code).toBe("READ_ONLY");
      expect((await ws.accessInfo({})).read_only).toBe(true);
      await ws.close();
    }
  });

  test("a single file may be among what is read", async () => {
    const ws = await openWorkspace({ cwd: dir, access: { read: [join(dir, "a.txt")], write: [] } });
    expect((await ws.readFile({ path: "a.txt" })).content).toBe("one\n");
    await ws.close();
  });
});

describe("the check accepts", () => {
  const open = async (options: WorkspaceOptions): Promise<void> => {
    const ws = await openWorkspace({ backend: new MemoryBackend({ "/w/a": "x" }), root: "/w", ...options });
    expect((await ws.call("read_file", { path: "a" })).ok).toBe(true);
    await ws.close();
  };

  test.each<[string, WorkspaceOptions]>([
    ["options that are undefined", { access: undefined, guard: undefined, hooks: undefined }],
    ["levels of guard", { guard: "off" }],
    ["guard: warn", { guard: "warn" }],
    ["guard: true", { guard: true }],
    ["records of the host", { records: memoryRecords() }],
    ["a rule with a test of arguments", { rules: [{ args: () => false, decision: "deny" }] }],
    ["a rule for commands", { rules: [{ tool: "run_command", decision: "deny" }] }],
    ["a hook with a preset's name", { hooks: [{ stage: "before", tool: "fs_write", run: () => undefined }] }],
    ["a counter as observer", { observers: [usageCounter()] }],
    ["a preset of one's own", { preset: { ...PRESETS.fluent, name: "mine" } }],
    ["no deny globs", { access: { deny: [] } }],
    ["everything to read", { access: { read: null, write: [] } }],
    [
      "names of tools that are not ours",
      { foreignTools: ["bash"], rules: [{ tool: "bash", decision: "deny" }] },
    ],
  ])("%s", async (_name, options) => open(options));

  test("a preset that is defined without tools", async () => {
    const preset = definePreset({ name: "none", about: "", tools: [] });
    const ws = await openWorkspace({ backend: new MemoryBackend(), root: "/w", preset });
    expect(ws.tools).toEqual([]);
    await ws.close();
  });

  test("options of another realm", async () => {
    await open(
      runInNewContext("({ access: { deny: ['secret'] }, limits: { outputBytes: 500 } })") as WorkspaceOptions,
    );
  });

  test("a hook of a class, with its state", async () => {
    const hook = new Counting();
    await open({ hooks: [hook as unknown as AnyHook] });
    expect(hook.calls).toBe(1);
  });

  test("one list of hooks for tools of several kinds", async () => {
    const hooks: readonly AnyHook[] = [
      { stage: "before", tool: "bash", run: () => ({ proceed: false }) },
      { stage: "before", tool: "write_file", run: () => ({ proceed: false }) },
    ];
    await open({ hooks, foreignTools: ["bash"] });
    const bash = withHooks({ name: "bash", execute: () => "ran" }, hooks);
    expect((await bash.execute({})).error?.code).toBe("HOOK_BLOCKED");
    const fetch = withHooks({ name: "fetch", execute: () => "ran" }, hooks, { foreignTools: ["bash"] });
    expect((await fetch.execute({})).ok).toBe(true);
  });
});
