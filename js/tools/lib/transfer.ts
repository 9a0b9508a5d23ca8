/**
 * The common part of `copy` and `move`: checks of source and destination, the preview, and the creation of
 * missing parents.
 */
import type { Location } from "../../policy/index.ts";
import type { FsStat, FsBackend } from "../../backends/backend.ts";
import {
  entryPathVia,
  lstatOrNull,
  lstatVia,
  realpathVia,
  missingParents,
} from "../../backends/fallback/fallback.ts";
import { relationOf, type TransferEnd } from "../../backends/fallback/same-entry.ts";
import { isWithin, nameOf } from "../../backends/paths.ts";
import { currentVersion } from "./contents.ts";
import {
  previewDiff,
  readBytesForPreview,
  incompleteTreeReason,
  formatTreeCounts,
  textIfDecodableAsync,
  readTreeFacts,
  currentVersionsOf,
  type TreeFacts,
} from "../render/preview.ts";
import { checkLinkTargets } from "../render/link-target.ts";
import type { CopyArgs, MoveArgs } from "../generated/types.ts";
import type { CheckedArgs } from "../generated/internal.ts";
import { type ObjectSchema, object } from "./schema.ts";
import { escapeControls } from "../../engine/escape.ts";
import { TIMEOUT_BEFORE_WRITING_TEXT, flag, path, timeoutSchema } from "./shared.ts";
import {
  type BaseVersion,
  type Call,
  type PathEffect,
  type Plan,
  type Preview,
  locationError,
} from "./tool.ts";
import { FilewrightError } from "../../engine/errors.ts";
import { withoutUndefined } from "../../schema/without-undefined.ts";
import { transact } from "../../backends/transaction/transaction.ts";

/** The arguments of either tool. */
type TransferArgs = CheckedArgs["copy" | "move"];
/** The arguments that `copy` and `move` have in common. */
export interface TransferOptions
  extends Pick<CopyArgs & MoveArgs, "overwrite" | "create_dirs" | "timeout_ms"> {}

/** The planned copy or move. */
export interface TransferTodo {
  /** The real path of the source: a copy resolves all links, a move all but the last name. */
  readonly from: string;
  /**
   * The version of the source when the call was planned, if it is a file. The call fails with CONFLICT when
   * it has changed since.
   */
  readonly version?: string | undefined;
}

/** Returns the schema of the arguments; `verb` completes its descriptions. */
export function transferSchema(verb: "copy" | "move"): ObjectSchema {
  return object(
    {
      source: path(`What to ${verb}: a file or a directory`),
      destination: path("The exact path it will have there (not the directory to put it in)"),
      overwrite: flag("Replace an existing destination. When false it is ALREADY_EXISTS.", false),
      create_dirs: flag("Make missing parent directories of the destination.", true),
      timeout_ms: timeoutSchema(TIMEOUT_BEFORE_WRITING_TEXT),
    },
    ["source", "destination"],
  );
}

/**
 * Returns the effect of a transfer that may overwrite its destination: a deletion, so that rules for `delete`
 * apply. It counts only if the destination exists; a copy merges directories.
 */
export function replacingEffect(destination: string, verb: "copy" | "move"): PathEffect {
  const args = { path: destination, recursive: true, missing_ok: true };
  return { tool: "delete", args, ifThere: verb === "copy" ? "non-directory" : "entry" };
}

/**
 * Checks source and destination, and returns the plan. @throws SAME_FILE, ALREADY_EXISTS, INVALID_ARGUMENT,
 * PROTECTED_PATH and others
 */
export async function planTransfer(
  args: TransferArgs,
  call: Call,
  verb: "copy" | "move",
): Promise<Plan<never, TransferTodo>> {
  const [from, to] = [call.locations[0]!, call.locations[1]!];
  const { statOf, realPathOf } = LINKS_BY_VERB[verb];
  if (verb === "move") assertNotRoot(call, from);
  assertNotRoot(call, to);
  const source = await statOf(call.fs, from.path);
  if (from.directory && !source.isDir) throw locationError("NOT_DIRECTORY", from);
  if (source.type === "other" && verb === "copy") throw locationError("NOT_REGULAR_FILE", from);
  const target = await lstatOrNull(call.fs, to.path);
  if (target === null && to.directory && !source.isDir) throw locationError("NOT_DIRECTORY", to);
  const realFrom = await realPathOf(call.fs, from.path);
  const realTo = await entryPathVia(call.fs, to.path);
  await assertApart(call, verb, { path: realFrom, stat: source }, { path: realTo, stat: target });
  if (target !== null) assertReplaceable(args, call, source, target);
  await checkLinkTargets(call, { verb, from: realFrom, to: realTo }, source.type);
  const seen = async (path: string): Promise<BaseVersion> => ({
    path,
    version: await currentVersion(call.fs, path, true),
    entry: true,
  });
  const own = source.isDir ? [] : [await seen(realFrom)];
  const version = source.isFile ? (own[0]?.version ?? undefined) : undefined;
  return { todo: { from: realFrom, version }, base: [...own, await seen(to.path)] };
}

/** A copy follows a link to its target; a move moves the link itself. */
const LINKS_BY_VERB = {
  copy: { statOf: async (fs: FsBackend, path: string) => fs.stat(path), realPathOf: realpathVia },
  move: { statOf: lstatVia, realPathOf: entryPathVia },
} as const;

/** Refuses to put the source where something is that it may not replace. @throws ALREADY_EXISTS and others */
function assertReplaceable(args: TransferArgs, call: Call, source: FsStat, target: FsStat): void {
  const [from, to] = [call.locations[0]!, call.locations[1]!];
  // A caller that names a directory wants the source inside it: replacing the directory would lose it.
  if (target.isDir && (!args.overwrite || !source.isDir)) {
    const inside = `${to.typed.replace(/\/+$/u, "")}/${nameOf(from.path)}`;
    throw locationError(args.overwrite ? "IS_DIRECTORY" : "ALREADY_EXISTS", to, {
      complete: true,
      message: `'${escapeControls(to.typed)}' is a directory that exists; give the path that the source will have: '${escapeControls(inside)}'.`,
      details: { argument: "destination", path: inside },
    });
  }
  if (!args.overwrite) throw locationError("ALREADY_EXISTS", to);
  const mustBeDirectory = source.isDir || to.directory;
  if (!target.isDir && mustBeDirectory) throw locationError("NOT_DIRECTORY", to);
}

/** Refuses a transfer of an entry onto itself, and of a directory into itself. @throws SAME_FILE, INVALID_ARGUMENT */
async function assertApart(
  call: Call,
  verb: "copy" | "move",
  source: TransferEnd & { readonly stat: FsStat },
  target: TransferEnd,
): Promise<void> {
  const to = call.locations[1] as Location;
  const relation = await relationOf(call.fs, source, target);
  const isSame = relation === "same" || (relation === "respelled" && verb === "copy");
  if (isSame || (target.stat !== null && isSameFile(source.stat, target.stat)))
    throw locationError("SAME_FILE", to);
  if (relation === "inside") {
    throw locationError("INVALID_ARGUMENT", to, {
      message: "it lies inside the source; a directory cannot go into itself",
      details: { argument: "destination" },
    });
  }
}

/**
 * Refuses to move, replace or delete a root of the workspace, or a directory that contains one. @throws
 * PROTECTED_PATH
 */
export function assertNotRoot(call: Call, at: Location): void {
  const { cwd, readRoots, writeRoots } = call.reach.summary;
  for (const root of [cwd, ...(readRoots ?? []), ...writeRoots]) {
    if (isWithin(root, at.path)) throw locationError("PROTECTED_PATH", at, { details: { reason: "root" } });
  }
}

/**
 * Returns true for two hard links to one file. Equal versions alone do not suffice: in a backend that derives
 * them from contents, two files may have the same one.
 */
function isSameFile(a: FsStat, b: FsStat): boolean {
  return a.isFile && b.isFile && (a.nlink ?? 1) > 1 && a.version !== undefined && a.version === b.version;
}

/** Creates the preview: the new entry, and the entry that it replaces. */
export async function previewTransfer(
  verb: "Copy" | "Move",
  { from }: TransferTodo,
  args: TransferArgs,
  call: Call,
): Promise<Preview> {
  const to = await entryPathVia(call.fs, (call.locations[1] as Location).path);
  const [source, target] = [await lstatVia(call.fs, from), await lstatOrNull(call.fs, to)];
  const { counts, entries, base, incomplete } = source.isDir
    ? await movedTree(from, to, target, call)
    : { ...NO_TREE, entries: [{ path: from, type: source.type }] };
  const before = target?.isFile ? await readBytesForPreview(call, to) : null;
  const isShown = source.isFile && (verb === "Copy" || before !== null);
  const after = isShown ? await readBytesForPreview(call, from) : null;
  return withoutUndefined({
    title: `${verb} ${args.source} to ${args.destination}${counts}${target === null ? "" : ", over what is there"}`,
    location: verb === "Copy" ? 1 : 0,
    diff: after === null ? "" : await previewDiff(before, after, args.destination),
    originalContent: before && (await textIfDecodableAsync(before)),
    newContent: after && (await textIfDecodableAsync(after)),
    risk: target === null ? ("low" as const) : target.isDir ? ("high" as const) : ("medium" as const),
    base,
    changes: entries.map(({ path: source, type }) => ({
      path: movedPath(source, from, to),
      from: source,
      kind: verb === "Copy" ? ("copy" as const) : ("move" as const),
      type,
    })),
    incomplete,
  });
}

/** What a preview says of the tree that a directory is. */
type MovedTree = Pick<TreeFacts, "entries"> & {
  readonly counts: string;
  readonly base: readonly BaseVersion[] | undefined;
  readonly incomplete: string | undefined;
};

const NO_TREE: Omit<MovedTree, "entries"> = { counts: "", base: undefined, incomplete: undefined };

/**
 * Returns the tree that is moved or copied. When directories are merged, the approval requires that every file to be
 * replaced is unchanged since the preview.
 */
async function movedTree(from: string, to: string, target: FsStat | null, call: Call): Promise<MovedTree> {
  const tree = await readTreeFacts(call, from);
  const replaced = target?.isDir === true ? tree.entries.slice(1) : [];
  const places = replaced.map(({ path }) => movedPath(path, from, to));
  return {
    entries: tree.entries,
    counts: ` (${formatTreeCounts(tree)})`,
    base: [...tree.base, ...(await currentVersionsOf(call.fs, places))],
    incomplete: incompleteTreeReason(tree),
  };
}

/** Replaces the prefix `from` of a path by `to`. */
function movedPath(path: string, from: string, to: string): string {
  return `${to}${path.slice(from.length)}`;
}

/**
 * Creates the missing parents of `path`, then runs `action`; the parents are removed again if it fails.
 * @throws NOT_FOUND when parents are missing and `create` is false
 */
export async function withCreatedParents<T>(
  fs: FsBackend,
  path: string,
  create: boolean,
  action: () => Promise<T>,
): Promise<T> {
  const [parent] = await missingParents(fs, path);
  if (parent === undefined) return action();
  if (!create) throw new FilewrightError("NOT_FOUND", "the parent directory does not exist", { path });
  return transact(fs, async (own) => {
    await own.mkdir(parent, { parents: true, existOk: true });
    return action();
  });
}
