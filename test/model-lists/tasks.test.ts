/** The tasks for readers of a tool list: the calls that are held to be right are made. */
import { describe, expect, test } from "vitest";
import { MemoryBackend, openWorkspace } from "../../js/index.node.ts";
import { leanPreset } from "../../js/mcp/lean-preset.ts";
import { PRESETS, type PresetName } from "../../js/presets/index.ts";
import tasks from "./tasks.json" with { type: "json" };

interface Call {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
}
interface Task {
  readonly task: string;
  readonly calls: readonly Call[];
  /** What was called before the task. */
  readonly before?: readonly Call[];
}

const lists = Object.entries(tasks.lists as Readonly<Record<string, readonly Task[]>>);
const log = Array.from({ length: 300 }, (_, n) => `line ${n + 1}\n`).join("");

describe.each(lists)("%s", (list, all) => {
  test("has twenty tasks, and calls of tools that it lists", () => {
    expect(all).toHaveLength(20);
    const { tools } = list === "lean" ? leanPreset() : PRESETS[list as Exclude<PresetName, "canonical">];
    const names = tools.map(({ name }) => name);
    for (const { calls } of all) for (const { tool } of calls) expect(names).toContain(tool);
  });

  test.each(all)("$task", async ({ calls, before = [] }) => {
    const seed = Object.entries({ ...tasks.seed, "log.txt": log });
    const files = Object.fromEntries(seed.map(([path, text]) => [`${tasks.root}/${path}`, text]));
    await using ws = await openWorkspace({
      backend: new MemoryBackend(files),
      root: tasks.root,
      preset: list === "lean" ? leanPreset() : (list as PresetName),
    });
    for (const { tool, args } of before) await ws.call(tool, args);
    for (const { tool, args } of calls) {
      const made = await ws.call(tool, args);
      expect(made, made.text).toMatchObject({ ok: true });
      expect(made.text).not.toMatch(/^No (?:matches|files)/u);
    }
  });
});
