/** Where a link points, where that may be told. */
import { readLinkVia, realpathVia } from "../backends/fallback.ts";
import { childOf, joinPath, nameOf, normalise, parentOf } from "../backends/paths.ts";
import { FilewrightError } from "../engine/errors.ts";
import type { Call } from "./tool.ts";

/** The text that stands in the place of a target that is kept. */
export const NOT_SHOWN = "(not shown)";

/**
 * The target of a link, as written; undefined where it cannot be read, lies outside, or is
 * kept by a deny glob or a rule. A link on the way counts as what it leads to, so that the
 * name of something denied is not told through another link.
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
    const directory = await whereItLeads(call, parentOf(written));
    if (directory !== undefined && !call.mayTell(childOf(directory, nameOf(written)))) return undefined;
    const end = await whereItLeads(call, link);
    return end === undefined || call.mayTell(end) ? target : undefined;
  } catch {
    return undefined; // What cannot be followed as far as it exists is not told.
  }
}

/** The real path; undefined where something on the way is missing, or goes round in circles. */
async function whereItLeads({ fs }: Pick<Call, "fs">, path: string): Promise<string | undefined> {
  try {
    return await realpathVia(fs, path);
  } catch (error) {
    if (error instanceof FilewrightError && UNRESOLVED.has(error.code)) return undefined;
    throw error;
  }
}

const UNRESOLVED: ReadonlySet<string> = new Set(["NOT_FOUND", "NOT_DIRECTORY", "LOOP"]);
