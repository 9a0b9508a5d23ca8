/**
 * Shows the target of a link if the caller may know it, and refuses to move or copy a link to a place where a
 * hidden target would become visible.
 */
import type { FsStat } from "../../backends/backend.ts";
import { childOf, isWithin, joinPath, nameOf, normalise, parentOf } from "../../backends/paths.ts";
import { FilewrightError } from "../../engine/errors.ts";
import { escapeControls } from "../../engine/escape.ts";
import { type Call, locationError } from "../lib/tool.ts";

/** The text that replaces a hidden target. */
export const HIDDEN_TARGET_TEXT = "(not shown)";

/**
 * Returns the target of a link as it is written; undefined when it cannot be read, lies outside, or is hidden
 * by a deny glob or a rule. Links in the target's path are resolved first, so that a link to another link
 * does not reveal a denied name.
 */
export async function shownLinkTarget(
  call: Pick<Call, "fs" | "reach">,
  link: string,
  known?: string,
): Promise<string | undefined> {
  try {
    const target = known ?? (await call.fs.readLink(link));
    const beside = parentOf(link);
    const written = normalise(joinPath(await call.fs.realpath(beside), target)).path;
    if (!call.reach.mayTell(normalise(joinPath(beside, target)).path) || !call.reach.mayTell(written))
      return undefined;
    const directory = await resolveTarget(call, parentOf(written));
    if (directory !== undefined && !call.reach.mayTell(childOf(directory, nameOf(written)))) return undefined;
    const end = await resolveTarget(call, link);
    return end === undefined || call.reach.mayTell(end) ? target : undefined;
  } catch {
    return undefined; // A target that cannot be resolved as far as it exists is hidden.
  }
}

/** Returns the path without links; undefined when a name is missing or links form a loop. */
async function resolveTarget({ fs }: Pick<Call, "fs">, path: string): Promise<string | undefined> {
  try {
    return await fs.realpath(path);
  } catch (error) {
    if (error instanceof FilewrightError && UNRESOLVED_CODES.has(error.code)) return undefined;
    throw error;
  }
}

const UNRESOLVED_CODES: ReadonlySet<string> = new Set(["NOT_FOUND", "NOT_DIRECTORY", "LOOP"]);

/**
 * Refuses a copy or move of a link after which its hidden target would be visible. A relative target means
 * another place in another directory: `../out/name` leads outside when the link is at the top of the
 * workspace, but to a missing entry inside when it is in a directory below.
 * @throws OUTSIDE_ALLOWED with the reason `link_target`
 */
export async function checkLinkTargets(call: Call, transfer: Transfer, type: FsStat["type"]): Promise<void> {
  const { from } = transfer;
  if (type === "symlink") return checkLinkTarget(call, transfer, from);
  if (type !== "dir") return;
  const { signal } = call;
  const links = await call.fs.find(from, {
    pattern: "**",
    type: "symlink",
    respectIgnore: false,
    signal,
  });
  for (const path of links.paths) await checkLinkTarget(call, transfer, childOf(from, path));
}

/** A copy or move, between real paths. */
interface Transfer {
  readonly verb: "copy" | "move";
  readonly from: string;
  readonly to: string;
}

/**
 * Refuses to copy or move one link whose hidden target would be visible at the new place. `link` is `from`, or a
 * link below it. @throws OUTSIDE_ALLOWED
 */
async function checkLinkTarget(call: Call, { verb, from, to }: Transfer, link: string): Promise<void> {
  // A target that cannot be read is not shown in the new place either.
  const target = await call.fs.readLink(link).catch(() => undefined);
  if (
    target === undefined ||
    target.startsWith("/") ||
    (await shownLinkTarget(call, link, target)) !== undefined
  )
    return;
  const here = normalise(joinPath(parentOf(link), target)).path;
  // The target is hidden only because it leads through another link of the same tree, which is moved along. A
  // copy may leave that link out, so this holds for moves only.
  if (verb === "move" && link !== from && isWithin(here, from) && call.reach.mayTell(here)) return;
  const there = to + link.slice(from.length);
  if (!call.reach.mayTell(normalise(joinPath(parentOf(there), target)).path)) return;
  const shown = escapeControls(call.reader.display(link));
  throw locationError("OUTSIDE_ALLOWED", call.locations[0]!, {
    complete: true,
    message: `the target of the link '${shown}' is not shown, and at the new place it would be. ${
      link === from
        ? "Leave the link where it is"
        : `Leave the link where it is, and ${verb} the entries beside it`
    }.`,
    details: { reason: "link_target", path: call.reader.display(link) },
  });
}
