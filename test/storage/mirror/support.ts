/** What the tests of mirrors share: workspaces over a storage, and how far their copies are. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type { Op } from "../../../js/storage/index.ts";
import { openWorkspace, type Workspace, type WorkspaceOptions } from "../../../js/workspace/index.node.ts";
import { afterThisTest } from "../../support/cleanups.ts";

export const put = (path: string, text: string): Op => ({
  op: "put",
  path,
  body: new TextEncoder().encode(text),
});

/** Returns the names of the copies below a state directory. */
export const copies = (stateDir: string): readonly string[] =>
  existsSync(join(stateDir, "mirrors")) ? readdirSync(join(stateDir, "mirrors")).sort() : [];

export function countFiles(directory: string): number {
  if (!existsSync(directory)) return 0;
  return readdirSync(directory, { recursive: true, withFileTypes: true }).filter((one) => one.isFile())
    .length;
}

/** Opens a workspace that is closed after the test. */
export async function open(options: WorkspaceOptions): Promise<Workspace> {
  const ws = await openWorkspace({ root: "/ws", ...options });
  afterThisTest(() => ws.close());
  return ws;
}

/** Counts the matches of a pattern. `fresh` says how the search was answered. */
export async function grep(
  ws: Workspace,
  pattern: string,
): Promise<{ fresh: string; total_matches: number }> {
  const result = await ws.call("grep", { pattern, output: "count", max_results: 100_000 });
  expect(result).toMatchObject({ ok: true });
  return result.data as unknown as { fresh: string; total_matches: number };
}

/** Searches until the copy answers: only a search of the copy, by its index, is not a scan. */
export async function untilWarm(ws: Workspace): Promise<void> {
  for (let tries = 0; (await grep(ws, "warm")).fresh === "scan"; tries++) {
    if (tries > 1000) throw new Error("the copy was not searched");
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
