/**
 * Paths of which no exact entry exists, but one that looks the same: a name that is equal under NFKC and blanks (a
 * screenshot of macOS has U+202F where people type a space), or a relative path that another root has.
 *
 * A call that reads or changes what exists takes that entry and says so. One that would create an entry beside it is
 * refused, because nobody could tell the two apart.
 */
import type { Location, SandboxPolicy } from "../access/index.ts";
import type { FsBackend } from "../backends/backend.ts";
import { lstatOrNull } from "../backends/fallback.ts";
import { childOf, isWithin, joinPath, normalise } from "../backends/paths.ts";
import { FilewrightError } from "../engine/errors.ts";
import { escapeControls } from "../engine/escape.ts";
import type { PathUse } from "../tools/tool.ts";

/** What is known of the workspace. */
export interface LookAlikeContext {
  readonly fs: FsBackend;
  readonly cwd: string;
  readonly roots: readonly string[];
  display(path: string): string;
}

/** The directories that a policy opens, once each. */
export function readableRoots({
  cwd,
  read,
  write,
}: Pick<SandboxPolicy, "cwd" | "read" | "write">): readonly string[] {
  return [...new Set([...(read ?? [cwd]), ...write])];
}

/** An argument that is taken for another path. */
export interface TakenPath {
  readonly argument: string;
  readonly typed: string;
  readonly path: string;
  /** What the answer says of it. */
  readonly note: string;
}

/** Arguments that name something that exists, of each tool. */
const EXISTING: Readonly<Record<string, readonly string[]>> = {
  read_file: ["path"],
  edit_file: ["path"],
  apply_patch: ["patch", "path"],
  stat: ["path"],
  delete: ["path"],
  grep: ["path"],
  glob: ["path"],
  find_files: ["path"],
  list_directory: ["path"],
  diff: ["a", "b"],
  copy: ["source"],
  move: ["source"],
};

/** Arguments that name what the call would create. */
const CREATED: Readonly<Record<string, readonly string[]>> = {
  write_file: ["path"],
  apply_patch: ["patch", "path"],
  mkdir: ["path"],
  copy: ["destination"],
  move: ["destination"],
};

/** Names of plain letters have no look-alike that people meet; for them no directory is listed. */
const HAS_LOOK_ALIKES = /[^!-~/]/u;

/** A directory larger than this is not searched for look-alikes. */
const MAX_ENTRIES = 20_000;

/** What a call whose paths were not found takes instead; undefined where nothing looks the same. */
export async function takeLookAlikes(
  tool: { readonly name: string; readonly kind: string },
  uses: readonly PathUse[],
  locations: readonly Location[],
  context: LookAlikeContext,
): Promise<readonly TakenPath[] | undefined> {
  const taken: TakenPath[] = [];
  for (const [index, { argument, typed, creates = false }] of uses.entries()) {
    const at = locations[index];
    if (at === undefined || creates || !EXISTING[tool.name]?.includes(argument)) continue;
    if (await exists(context.fs, at.path)) continue;
    const other = await pathLike(typed, at, context, tool.kind === "read");
    if (other === undefined) return undefined;
    taken.push({ argument, typed, ...other });
  }
  return taken.length === 0 ? undefined : taken;
}

/** The path that is taken for a missing one, and what the answer says of it; undefined where nothing looks the same. */
export async function pathLike(
  typed: string,
  at: Location,
  context: LookAlikeContext,
  readsOnly: boolean,
): Promise<Pick<TakenPath, "path" | "note"> | undefined> {
  const same = await lookAlike(at.path, context);
  const path = same ?? (readsOnly ? await inOtherRoot(typed, context) : undefined);
  if (path === undefined) return undefined;
  const shown = `'${escapeControls(context.display(path))}'`;
  const why = same === undefined ? "which is in another root" : difference(at.path, path);
  return { path, note: `'${escapeControls(typed)}' is not there; taken was ${shown}, ${why}` };
}

/**
 * Refuses to create an entry that looks like one that is there.
 *
 * @throws FilewrightError INVALID_ARGUMENT naming that entry
 */
export async function refuseLookAlikes(
  tool: string,
  uses: readonly PathUse[],
  locations: readonly Location[],
  context: LookAlikeContext,
): Promise<void> {
  for (const [index, { argument, typed, creates = true }] of uses.entries()) {
    const at = locations[index];
    if (at === undefined || !creates || !HAS_LOOK_ALIKES.test(typed) || !CREATED[tool]?.includes(argument))
      continue;
    if (await exists(context.fs, at.path)) continue;
    const other = await lookAlike(at.path, context, (name) => nameKey(name).trim());
    if (other === undefined) continue;
    const shown = escapeControls(context.display(other));
    throw new FilewrightError(
      "INVALID_ARGUMENT",
      `Invalid argument '${argument}': '${escapeControls(typed)}' is not there, but '${shown}' is, ${difference(at.path, other)}. Send that name, or one that differs more.`,
      { complete: true, path: typed, details: { argument, existing: other } },
    );
  }
}

/** Whether a call may create an entry whose name has look-alikes. */
export function mayHaveLookAlikes(tool: string, uses: readonly PathUse[]): boolean {
  return CREATED[tool] !== undefined && uses.some(({ typed }) => HAS_LOOK_ALIKES.test(typed));
}

/** The one existing path whose names are equal, each to its own, under NFKC and blanks. */
async function lookAlike(
  path: string,
  { fs, roots }: LookAlikeContext,
  key: (name: string) => string = nameKey,
): Promise<string | undefined> {
  const root = roots.filter((one) => isWithin(path, one)).sort((a, b) => b.length - a.length)[0];
  if (root === undefined || root === path) return undefined;
  let at = root;
  for (const name of path.slice(root === "/" ? 1 : root.length + 1).split("/")) {
    const exact = childOf(at, name);
    if (await exists(fs, exact)) {
      at = exact;
      continue;
    }
    const found = await entryLike(fs, at, name, key);
    if (found === undefined) return undefined;
    at = childOf(at, found);
  }
  return at;
}

async function entryLike(
  fs: FsBackend,
  directory: string,
  name: string,
  keyOf: (name: string) => string,
): Promise<string | undefined> {
  try {
    const entries = await fs.listDir(directory, { facts: false });
    if (entries.length > MAX_ENTRIES) return undefined;
    const key = keyOf(name);
    const same = entries.filter((entry) => keyOf(entry.name) === key);
    return same.length === 1 ? same[0]?.name : undefined;
  } catch {
    return undefined; // The call itself says why the directory cannot be used.
  }
}

/**
 * A name without its form: compatibility characters resolved, blanks alike, marks without width left out. A line
 * end or a blank at the end of a path counts: such a path is refused, with the name that is there.
 */
function nameKey(name: string): string {
  return name
    .normalize("NFKC")
    .replaceAll(/\p{Zs}+/gu, " ")
    .replaceAll(/[\u200B-\u200D\u2060\uFEFF]/gu, "");
}

/** The first character in which two paths differ, by code points. */
function difference(typed: string, found: string): string {
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

/** A relative path that the working directory does not have, and one other root has. */
export async function inOtherRoot(
  typed: string,
  { fs, cwd, roots }: Omit<LookAlikeContext, "display">,
): Promise<string | undefined> {
  const found: string[] = [];
  const others = roots.filter((root) => !isWithin(cwd, root));
  for await (const path of pathsInRoots(typed, others, fs)) found.push(path);
  return found.length === 1 ? found[0] : undefined;
}

/**
 * What a relative path names in several roots, in their order, where something is there. A root is not looked into
 * where `keeps` says that the path in it is kept from the call, nor where the storage refuses it: a refusal of what a
 * rule keeps, or asks about, must not tell that something is there.
 */
export async function* pathsInRoots(
  typed: string,
  roots: readonly string[],
  fs: FsBackend,
  keeps: (path: string) => Promise<boolean> = () => Promise.resolve(false),
): AsyncGenerator<string> {
  if (typed.startsWith("/")) return;
  for (const root of roots) {
    const { path } = normalise(joinPath(root, typed));
    if (isWithin(path, root) && !(await keeps(path)) && (await exists(fs, path, false))) yield path;
  }
}

/** Whether something is at a path; `refused` where the storage does not let the call look. */
async function exists(fs: FsBackend, path: string, refused = true): Promise<boolean> {
  try {
    return (await lstatOrNull(fs, path)) !== null;
  } catch {
    return refused;
  }
}
