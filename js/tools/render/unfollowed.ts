/**
 * Symbolic links that a search or a listing met and did not follow, so that a model does not conclude that what they
 * lead to does not exist.
 */
import type { FsEntry } from "../../backends/backend.ts";
import { childOf, isWithin, relativeTo } from "../../backends/paths.ts";
import { FilewrightError } from "../../engine/errors.ts";
import { escapeControls, plural } from "../../engine/escape.ts";
import type { WalkQuery } from "../../engine/search-types.ts";
import type { PathGlobs } from "../../engine/search.ts";
import type { CoveredRoots } from "../every-root.ts";
import type { Call } from "../lib/tool.ts";

/** The maximum number of links that are examined, of links that are named, and of milliseconds spent on finding them. */
const [MAX_EXAMINED, MAX_NAMED, MAX_MILLISECONDS] = [100, 3, 1000];

/** The part of a search that decides which links could lead to a result. */
type LinkedSearch = Pick<WalkQuery, "exclude" | "hidden" | "respectIgnore" | "ignoreFiles">;

/**
 * Returns a note about the links below the searched roots behind which a search that found nothing could have found something;
 * undefined without any. `globs` are those of the search for a root, if it has any; without, what a link leads to inside its root was searched
 * there.
 */
export async function unfollowedLinksNote(
  call: Call,
  { roots }: CoveredRoots,
  query: LinkedSearch,
  globs: (root: string) => PathGlobs | undefined,
): Promise<string | undefined> {
  let beyond = 0;
  const found: string[] = [];
  for (const { path: root } of roots) {
    const links = await linksBelow(call, root, query);
    beyond += links.beyond;
    found.push(...(await leadingElsewhere(call, root, links.paths, globs(root))));
  }
  return unfollowedNote(found, call, beyond);
}

/**
 * Returns the links of a page of a listing that lead to directories elsewhere. Those at the last level are left out, as
 * the content of directories there is.
 */
export async function unlistedLinks(
  page: readonly FsEntry[],
  root: string,
  depth: number,
  call: Call,
): Promise<readonly string[]> {
  const found: string[] = [];
  const links = page.filter(({ type }) => type === "symlink").slice(0, MAX_EXAMINED);
  for (const { path } of links) {
    if ((relativeTo(path, root) ?? "").split("/").length >= depth) continue;
    const target = await targetOf(call, path);
    const isElsewhere = typeof target === "object" && target.isDir && !isWithin(target.path, root);
    if (target === "outside" || isElsewhere) found.push(path);
  }
  return found;
}

/** Returns the note about links that were not followed; undefined without any. `beyond` others were not examined. */
export function unfollowedNote(links: readonly string[], call: Call, beyond = 0): string | undefined {
  if (links.length === 0) return undefined;
  const named = links.slice(0, MAX_NAMED).map((link) => escapeControls(call.reader.display(link)));
  const more = links.length - named.length + beyond;
  const all = plural(links.length + beyond, "symbolic link");
  const verb = links.length + beyond === 1 ? "was" : "were";
  return `${all} ${verb} not followed: ${named.join(", ")}${more === 0 ? "" : ` and ${more} more`}`;
}

/** Returns the links below a directory, as absolute paths, and the number of those beyond the limit. */
async function linksBelow(
  call: Call,
  root: string,
  { exclude, hidden, respectIgnore, ignoreFiles }: LinkedSearch,
): Promise<{ readonly paths: readonly string[]; readonly beyond: number }> {
  try {
    const { paths, total } = await call.fs.find(root, {
      ...{ pattern: "**", type: "symlink", exclude, hidden, respectIgnore, ignoreFiles },
      ...{ limit: MAX_EXAMINED, timeoutMs: MAX_MILLISECONDS, signal: call.signal },
    });
    return { paths: paths.map((path) => childOf(root, path)), beyond: total - paths.length };
  } catch (error) {
    // A single file has no links below it; a note is no reason to fail.
    if (error instanceof FilewrightError && error.code !== "CANCELLED") return { paths: [], beyond: 0 };
    throw error;
  }
}

async function leadingElsewhere(
  call: Call,
  root: string,
  links: readonly string[],
  globs: PathGlobs | undefined,
): Promise<readonly string[]> {
  const found: string[] = [];
  for (const link of links) {
    const relative = relativeTo(link, root) ?? "";
    if (globs !== undefined && !globs.mayContain(relative) && !globs.matches(relative, false)) continue;
    const target = await targetOf(call, link);
    if (target === undefined) continue;
    if (target === "outside") found.push(link);
    else if (
      globs === undefined ? !isWithin(target.path, root) : target.isDir || globs.matches(relative, false)
    )
      found.push(link);
  }
  return found;
}

/** Returns what a link leads to: `outside` for what may not be seen, undefined for nothing. */
async function targetOf(
  { fs }: Call,
  link: string,
): Promise<{ readonly path: string; readonly isDir: boolean } | "outside" | undefined> {
  try {
    const path = await fs.realpath(link);
    return { path, isDir: (await fs.stat(path)).isDir };
  } catch (error) {
    if (!(error instanceof FilewrightError) || error.code === "CANCELLED") throw error;
    return error.code === "OUTSIDE_ALLOWED" ? "outside" : undefined;
  }
}
