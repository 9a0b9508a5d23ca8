/**
 * Handles a path without an exact entry that has a look-alike: a name that is equal under NFKC and
 * with equal spaces (macOS puts U+202F into the names of screenshots where people type a space), or
 * a relative path that exists in another root.
 *
 * A call that reads or changes an existing entry uses the look-alike, and its answer says so. A call
 * that would create a second entry with that look is refused, because users could not distinguish
 * the two.
 */
import type { Files } from "../../backends/files.ts";
import type { Location, SandboxPolicy } from "../../policy/index.ts";
import { childOf, isWithin, joinPath, normalise } from "../../backends/paths.ts";
import { FilewrightError } from "../../engine/errors.ts";
import { escapeControls } from "../../engine/escape.ts";
import type { PathUse } from "../../tools/lib/tool.ts";
import { entryExists } from "./entry-exists.ts";
import { refuseOddNewNames } from "./new-names.ts";

/** The properties of the workspace that the search needs. */
export interface LookAlikeContext {
  /** The storage as the call may see it. */
  readonly fs: Files;
  /** The working directory. */
  readonly cwd: string;
  /** The directories that may be read. */
  readonly roots: readonly string[];
  /** Returns a path as results show it. */
  display(path: string): string;
}

/** Returns the directories that a policy allows to read, without duplicates. */
export function readableRoots({
  cwd,
  read,
  write,
}: Pick<SandboxPolicy, "cwd" | "read" | "write">): readonly string[] {
  return [...new Set([...(read ?? [cwd]), ...write])];
}

/** An argument that was replaced by another path. */
export interface ReplacedPath {
  readonly argument: string;
  readonly typed: string;
  readonly path: string;
  /** The sentence about it for the answer. */
  readonly note: string;
}

/**
 * Matches names that can have look-alikes. A name of plain ASCII has none in practice, and no directory is
 * listed for it.
 */
export const HAS_LOOK_ALIKES: RegExp = /[^!-~/]/u;

/** The maximum number of entries of a directory that is searched for look-alikes. A larger one is not searched. */
const MAX_SEARCHED_ENTRIES = 20_000;

/** Returns the replacements for the missing paths of a call; undefined when one has no look-alike. */
export async function replaceByLookAlikes(
  tool: { readonly kind: string },
  uses: readonly PathUse[],
  locations: readonly Location[],
  context: LookAlikeContext,
): Promise<readonly ReplacedPath[] | undefined> {
  const taken: ReplacedPath[] = [];
  for (const [index, { argument, typed, missing }] of uses.entries()) {
    const at = locations[index];
    if (at === undefined || missing !== "refuse") continue;
    if (await entryExists(context.fs, at.path, true)) continue;
    const other = await replacementForMissingPath(typed, at, context, tool.kind === "read");
    if (other === undefined) return undefined;
    taken.push({ argument, typed, ...other });
  }
  return taken.length === 0 ? undefined : taken;
}

/**
 * Returns the path that replaces a missing one, with a note for the answer: a look-alike, or for a read the same
 * relative path in another root. Undefined without either.
 */
export async function replacementForMissingPath(
  typed: string,
  at: Location,
  context: LookAlikeContext,
  readsOnly: boolean,
): Promise<Pick<ReplacedPath, "path" | "note"> | undefined> {
  const same = await findLookAlikePath(at.path, context);
  const path = same ?? (readsOnly ? await pathInOtherRoot(typed, context) : undefined);
  if (path === undefined) return undefined;
  const shown = `'${escapeControls(context.display(path))}'`;
  const why = same === undefined ? "which is in another root" : describeDifference(at.path, path);
  return { path, note: `'${escapeControls(typed)}' is not there; taken was ${shown}, ${why}` };
}

/**
 * Refuses to create an entry that looks like an existing one, or whose name people cannot read as it is.
 *
 * @throws FilewrightError INVALID_ARGUMENT naming the path to send
 */
export async function refuseLookAlikes(
  uses: readonly PathUse[],
  locations: readonly Location[],
  context: LookAlikeContext,
): Promise<void> {
  for (const [index, use] of uses.entries()) {
    const { argument, typed } = use;
    const at = locations[index];
    if (at === undefined || !HAS_LOOK_ALIKES.test(typed) || !mayCreate(use)) continue;
    if (await entryExists(context.fs, at.path, true)) continue;
    const other = await findLookAlikePath(at.path, context, (name) => comparableName(name).trim());
    if (other === undefined) {
      // The parser of patches trims what no quote and no tab ends: what is left was written by a program.
      if (argument !== "patch") await refuseOddNewNames({ argument, typed, path: at.path }, context);
      continue;
    }
    const shown = escapeControls(context.display(other));
    throw new FilewrightError(
      "INVALID_ARGUMENT",
      `Invalid argument '${argument}': '${escapeControls(typed)}' is not there, but '${shown}' is, ${describeDifference(at.path, other)}. Send that name, or one that differs more.`,
      { complete: true, path: typed, details: { argument, existing: other } },
    );
  }
}

/** Returns true for a path that the call may create. */
export function mayCreate({ missing }: PathUse): boolean {
  return missing === "create" || missing === "create_or_replace";
}

/** Returns the only existing path whose names have the same keys; undefined without exactly one. */
async function findLookAlikePath(
  path: string,
  { fs, roots }: LookAlikeContext,
  key: (name: string) => string = comparableName,
): Promise<string | undefined> {
  const root = roots.filter((one) => isWithin(path, one)).sort((a, b) => b.length - a.length)[0];
  if (root === undefined || root === path) return undefined;
  let at = root;
  for (const name of path.slice(root === "/" ? 1 : root.length + 1).split("/")) {
    const exact = childOf(at, name);
    if (await entryExists(fs, exact, true)) {
      at = exact;
      continue;
    }
    const found = await findLookAlikeEntry(fs, at, name, key);
    if (found === undefined) return undefined;
    at = childOf(at, found);
  }
  return at;
}

async function findLookAlikeEntry(
  fs: Files,
  directory: string,
  name: string,
  keyOf: (name: string) => string,
): Promise<string | undefined> {
  try {
    const entries = await fs.listDir(directory, { facts: false });
    if (entries.length > MAX_SEARCHED_ENTRIES) return undefined;
    const key = keyOf(name);
    const same = entries.filter((entry) => keyOf(entry.name) === key);
    return same.length === 1 ? same[0]?.name : undefined;
  } catch {
    return undefined; // The call itself reports why the directory cannot be read.
  }
}

/**
 * Returns a name in a form for comparison: compatibility characters resolved, all spaces equal, and
 * characters without width removed. White space at the end of a path is significant: such a path is
 * refused with the name of the existing entry.
 */
function comparableName(name: string): string {
  return name
    .normalize("NFKC")
    .replaceAll(/\p{Zs}+/gu, " ")
    .replaceAll(/[\u200B-\u200D\u2060\uFEFF]/gu, "");
}

/** Describes the first code point in which two paths differ. */
function describeDifference(typed: string, found: string): string {
  const [a, b] = [Array.from(typed), Array.from(found)];
  const at = b.findIndex((char, index) => char !== a[index]);
  const code = (char: string | undefined): string =>
    char === undefined
      ? "nothing"
      : `U+${(char.codePointAt(0) as number).toString(16).toUpperCase().padStart(4, "0")}`;
  return at < 0
    ? `which has nothing where this path has ${code(a[b.length])}`
    : `which has ${code(b[at])} where this path has ${code(a[at])}`;
}

/**
 * Returns the path in another root of a relative path that the working directory lacks; undefined
 * unless exactly one root has it.
 */
export async function pathInOtherRoot(
  typed: string,
  { fs, cwd, roots }: Omit<LookAlikeContext, "display">,
): Promise<string | undefined> {
  const found: string[] = [];
  const others = roots.filter((root) => !isWithin(cwd, root));
  for await (const path of existingPathsInRoots(typed, others, fs)) found.push(path);
  return found.length === 1 ? found[0] : undefined;
}

/**
 * Yields each existing path of a relative path, in the order of the roots. Skips a root when `keeps`
 * returns true for the path in it, or when the storage refuses the path: a refusal would reveal that
 * a hidden path exists.
 */
export async function* existingPathsInRoots(
  typed: string,
  roots: readonly string[],
  fs: Files,
  keeps: (path: string) => Promise<boolean> = () => Promise.resolve(false),
): AsyncGenerator<string> {
  if (typed.startsWith("/")) return;
  for (const root of roots) {
    const { path } = normalise(joinPath(root, typed));
    if (isWithin(path, root) && !(await keeps(path)) && (await entryExists(fs, path, false))) yield path;
  }
}
