/**
 * Refuses globs of deny lists, rules and places that can match nothing below any root: a mistake in one of them is
 * not noticed, because it protects nothing. The engine checks; here the globs are collected.
 */
import { ignoresCase } from "../backends/policy.ts";
import { ruleGlobsInForm } from "../backends/windows-globs.ts";
import { engine } from "../engine/current.ts";
import { escapeControls } from "../engine/escape.ts";
import { FilewrightError } from "../engine/errors.ts";
import type { SandboxPolicy } from "./policy.ts";

/** Where globs have to match something. */
export type GlobReach = Pick<SandboxPolicy, "cwd" | "paths" | "foldsCase"> & {
  /** The roots; empty where a call may reach more than these. */
  readonly roots: readonly string[];
};

/** A glob of an option. */
export interface NamedGlob {
  /** The option with its index, such as `access.deny[0]`. */
  readonly where: string;
  readonly glob: string;
}

/**
 * Returns why a glob of a deny list or a rule can match nothing, as the end of a sentence; undefined for one that can.
 * @throws FilewrightError INVALID_GLOB where it has no form for these paths
 */
export function globObjection(glob: string, reach: GlobReach): string | undefined {
  const globs = ruleGlobsInForm(glob, reach.paths);
  const judged = (within: GlobReach): readonly string[] => globs.map((one) => judge(one, within, false));
  const text = judged({ ...reach, roots: [] }).find((objection) => objection !== "");
  if (text !== undefined) return text;
  // One of its alternatives below a root is enough.
  const outside = judged(reach);
  return outside.includes("") ? undefined : outside[0];
}

/** @throws FilewrightError INVALID_GLOB that names the option and the reason */
export function assertGlobsReach(globs: readonly NamedGlob[], reach: GlobReach): void {
  for (const { where, glob } of globs) {
    const objection = globObjection(glob, reach);
    if (objection !== undefined)
      throw new FilewrightError("INVALID_GLOB", `${where}: glob '${escapeControls(glob)}' ${objection}`);
  }
}

/**
 * Refuses places that can match nothing, and paths that only a shell could read. @throws FilewrightError
 * INVALID_ARGUMENT that names the option and the reason
 */
export function assertPlacesReach(places: readonly NamedGlob[], reach: GlobReach): void {
  for (const { where, glob } of places) {
    const objection = judge(glob, reach, true);
    if (objection !== "")
      throw new FilewrightError("INVALID_ARGUMENT", `${where}: '${escapeControls(glob)}' ${objection}.`);
  }
}

function judge(given: string, reach: GlobReach, isPlace: boolean): string {
  const { cwd, roots, paths } = reach;
  const glob = isPlace && paths === "windows" ? given.replace(/^[A-Za-z]:/u, "/$&") : given;
  const none = { deny: [], protect: false, secrets: false };
  return engine()
    .compileRules({ cwd, roots, ...none, foldCase: ignoresCase(reach) })
    .objection(glob, isPlace);
}
