/**
 * Taking steps back, the last first, whether or not each of them happened.
 *
 * A path that is neither what it was nor what the step made of it has been
 * changed by somebody else since, and is left to them.
 */
import type { FsBackend } from "../backends/backend.ts";
import { lstatOrNull } from "../backends/fallback.ts";
import { renameVia } from "../backends/fallback-tree.ts";
import { put, standsAt } from "./image.ts";
import type { Step } from "./step.ts";

/** Takes steps back; gives the paths that could not be. */
export async function takeBack(fs: FsBackend, steps: readonly Step[]): Promise<readonly string[]> {
  const left: string[] = [];
  for (const step of steps.toReversed()) {
    try {
      const done = step.kind === "path" ? await pathBack(fs, step) : await moveBack(fs, step);
      if (!done) left.push(step.kind === "path" ? step.path : step.to);
    } catch {
      left.push(step.kind === "path" ? step.path : step.from);
    }
  }
  return left;
}

async function pathBack(fs: FsBackend, step: Step & { readonly kind: "path" }): Promise<boolean> {
  const { path, before, after } = step;
  if (await standsAt(fs, path, before)) return true;
  if (!(await standsAt(fs, path, after))) return false;
  await put(fs, path, before);
  return true;
}

async function moveBack(fs: FsBackend, step: Step & { readonly kind: "move" }): Promise<boolean> {
  const { from, to, over } = step;
  if ((await lstatOrNull(fs, from)) !== null) return standsAt(fs, to, over);
  await renameVia(fs, to, from, { overwrite: false });
  if (over !== null) await put(fs, to, over);
  return true;
}
