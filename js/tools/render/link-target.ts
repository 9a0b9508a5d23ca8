/**
 * Shows the target of a link when the policy allows it, and refuses to take a link to a place where
 * its hidden target would be shown.
 */
import type { FsStat } from "../../backends/backend.ts";
import { readLinkVia, realpathVia } from "../../backends/fallback/fallback.ts";
import { childOf, isWithin, joinPath, nameOf, normalise, parentOf } from "../../backends/paths.ts";
import { findBackend } from "../../backends/search/search.ts";
import { FilewrightError } from "../../engine/errors.ts";
import { escapeControls } from "../../engine/escape.ts";
import { type Call, refuse } from "../lib/tool.ts";

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

/**
 * Refuses a copy or move that would show the hidden target of a link. A relative target names
 * another place from another directory: `../out/name` leads outside at the top of the workspace, and
 * to an absent entry inside it from a directory below.
 * @throws OUTSIDE_ALLOWED with the reason `link_target`
 */
export async function checkLinkTargets(
  call: Call,
  verb: "copy" | "move",
  type: FsStat["type"],
  from: string,
  to: string,
): Promise<void> {
  if (type === "symlink") return checkLinkTarget(call, verb, from, from, to);
  if (type !== "dir") return;
  const { signal } = call;
  const links = await findBackend(call.fs, from, {
    pattern: "**",
    type: "symlink",
    respectIgnore: false,
    signal,
  });
  for (const path of links.paths) await checkLinkTarget(call, verb, childOf(from, path), from, to);
}

/** Checks one link, at the top of what is transferred or below it. */
async function checkLinkTarget(
  call: Call,
  verb: "copy" | "move",
  link: string,
  from: string,
  to: string,
): Promise<void> {
  // A target that cannot be read is not shown anywhere.
  const target = await readLinkVia(call.fs, link).catch(() => undefined);
  if (target === undefined || target.startsWith("/") || (await shownTarget(call, link, target)) !== undefined)
    return;
  const here = normalise(joinPath(parentOf(link), target)).path;
  // Hidden only because it leads through another link of the tree, which moves along. A copy may leave
  // that link out.
  if (verb === "move" && link !== from && isWithin(here, from) && call.mayTell(here)) return;
  const there = to + link.slice(from.length);
  if (!call.mayTell(normalise(joinPath(parentOf(there), target)).path)) return;
  const shown = escapeControls(call.display(link));
  throw refuse("OUTSIDE_ALLOWED", call.locations[0]!, {
    complete: true,
    message: `the target of the link '${shown}' is not shown, and at the new place it would be. ${
      link === from
        ? "Leave the link where it is"
        : `Leave the link where it is, and ${verb} the entries beside it`
    }.`,
    details: { reason: "link_target", path: call.display(link) },
  });
}
