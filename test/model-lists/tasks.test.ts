/** The tasks for readers of a tool list: the calls that are held to be right are made. */
import { describe, expect, test } from "vitest";
import { MemoryBackend, openWorkspace } from "../../js/index.node.ts";
import { LEAN_TOOLS } from "../../js/presets/served.ts";
import { leanPreset } from "../../js/presets/lean.ts";
import { PRESETS, type PresetName } from "../../js/presets/index.ts";
import { filesAtRoot, LISTS, ROOT } from "./seed.mjs";

/** The names that the server lists. */
function listed(list: string): readonly string[] {
  if (list === "lean") return LEAN_TOOLS;
  return PRESETS[list as Exclude<PresetName, "canonical">].tools.map(({ name }) => name);
}

describe.each(Object.entries(LISTS))("%s", (list, all) => {
  test("has twenty tasks, and calls of tools that it lists", () => {
    expect(all).toHaveLength(20);
    for (const { calls, before = [] } of all)
      for (const { tool } of [...before, ...calls]) expect(listed(list)).toContain(tool);
  });

  test("has the read of every file that a task says was read", () => {
    for (const { task, before = [] } of all)
      expect(before.length > 0, task).toBe(/which you have read|You just/u.test(task));
  });

  test.each(all)("$task", async ({ calls, before = [] }) => {
    await using ws = await openWorkspace({
      backend: new MemoryBackend(filesAtRoot()),
      root: ROOT,
      preset: list === "lean" ? leanPreset() : (list as PresetName),
    });
    for (const { tool, args } of [...before, ...calls]) {
      const made = await ws.call(tool, args);
      expect(made, made.text).toMatchObject({ ok: true });
      expect(made.text).not.toMatch(/^No (?:matches|files)/u);
    }
  });
});
