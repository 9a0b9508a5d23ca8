/** A table of calls in a preset's words: what is there, what is called, what comes of it. */
import { expect } from "vitest";
import { MemoryBackend, openWorkspace, type ToolResult, type Workspace } from "../../js/index.node.ts";
import type { WorkspaceOptions } from "../../js/workspace/index.ts";

/** One call and what is expected of it. */
interface Step {
  readonly call: string;
  readonly args?: unknown;
  readonly code?: string;
  /** The whole text. */
  readonly text?: string;
  readonly has?: readonly string[];
  readonly lacks?: readonly string[];
  readonly json?: unknown;
  readonly data?: object;
  /** Contents afterwards; null: not there. */
  readonly files?: Readonly<Record<string, string | null>>;
}

/** One named case. */
export interface Case {
  readonly title: string;
  readonly seed?: Readonly<Record<string, string | Uint8Array>>;
  readonly options?: Partial<WorkspaceOptions>;
  readonly steps: readonly Step[];
}

/** A workspace in memory at `/w`, with `/o` outside it. */
export async function open(
  preset: WorkspaceOptions["preset"],
  seed: Case["seed"] = {},
  options: Partial<WorkspaceOptions> = {},
): Promise<{ readonly ws: Workspace; readonly backend: MemoryBackend }> {
  const backend = new MemoryBackend({ "/w": { type: "dir" }, "/o": { type: "dir" } });
  for (const [path, content] of Object.entries(seed)) {
    const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
    await backend.writeBytes(path.startsWith("/") ? path : `/w/${path}`, bytes, { createDirs: true });
  }
  const access = preset === "amplifier" ? undefined : { read: ["/w"], write: ["/w"] };
  const ws = await openWorkspace({
    backend,
    cwd: "/w",
    preset,
    permissions: { mode: "off" },
    // What was read before is the matter of the tests of the guard.
    guard: "off",
    ...(access === undefined ? {} : { access }),
    ...options,
  });
  return { ws, backend };
}

/** Runs a case step by step. */
export async function run(preset: WorkspaceOptions["preset"], { seed, options, steps }: Case): Promise<void> {
  const { ws, backend } = await open(preset, seed, options);
  for (const [index, step] of steps.entries()) {
    const result = await ws.call(step.call, step.args ?? {});
    check(result, step, `step ${index}, ${step.call}`);
    for (const [path, content] of Object.entries(step.files ?? {})) {
      const at = path.startsWith("/") ? path : `/w/${path}`;
      const there = (await backend.exists(at)) ? new TextDecoder().decode(await backend.readBytes(at)) : null;
      expect(there, `${path} after step ${index}`).toBe(content);
    }
  }
}

function check(result: ToolResult, step: Step, name: string): void {
  expect(result.error?.code, `${name}: ${result.text}`).toBe(step.code);
  expect(result.ok, `${name}: ${result.text}`).toBe(step.code === undefined);
  if (!result.ok) expect(result.text).toMatch(/^Error: /);
  if (step.text !== undefined) expect(result.text, name).toBe(step.text);
  for (const part of step.has ?? []) expect(result.text, name).toContain(part);
  for (const part of step.lacks ?? []) expect(result.text, name).not.toContain(part);
  if (step.json !== undefined) expect(JSON.parse(result.text), name).toEqual(step.json);
  if (step.data !== undefined) expect(result.data, name).toMatchObject(step.data);
}
