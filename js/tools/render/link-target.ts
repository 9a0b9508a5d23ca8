/** Shows the target of a link, when the policy allows it. */
import { readLinkVia, realpathVia } from "../../backends/fallback/fallback.ts";
import { childOf, joinPath, nameOf, normalise, parentOf } from "../../backends/paths.ts";
import { FilewrightError } from "../../engine/errors.ts";
import type { Call } from "../lib/tool.ts";

/** The text shown instead of a hidden target. */
export const NOT_SHOWN = "(not shown)";

/**
 * Returns the target of a link, as written; undefined when it cannot be read, lies outside, or is
 * hidden by a deny glob or a rule. Links on the way are resolved, so that one link does not reveal
 * a denied name through another.
 */
export async function shownTarget(
  call: Pick<Call, "fs" | "mayTell">,
  link: string,
  known?: string,
): Promise<string | undefined> {
  try {
    const target = known ?? (await readLinkVia(call.fs, link));
    const beside = parentOf(link);
    const written = normalise(joinPath(await realpathVia(call.fs, beside), target)).path;
    if (!call.mayTell(normalise(joinPath(beside, target)).path) || !call.mayTell(written)) return undefined;
    const directory = await resolveTarget(call, parentOf(written));
    if (directory !== undefined && !call.mayTell(childOf(directory, nameOf(written)))) return undefined;
    const end = await resolveTarget(call, link);
    return end === undefined || call.mayTell(end) ? target : undefined;
  } catch {
    return undefined; // A target that cannot be resolved as far as it exists is hidden.
  }
}

/** Returns the real path; undefined for a missing name or a loop. */
async function resolveTarget({ fs }: Pick<Call, "fs">, path: string): Promise<string | undefined> {
  try {
    return await realpathVia(fs, path);
  } catch (error) {
    if (error instanceof FilewrightError && UNRESOLVED_CODES.has(error.code)) return undefined;
    throw error;
  }
}

const UNRESOLVED_CODES: ReadonlySet<string> = new Set(["NOT_FOUND", "NOT_DIRECTORY", "LOOP"]);
