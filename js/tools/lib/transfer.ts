/** The common part of `copy` and `move`: the checks of source and destination, and the change. */
import type { Files } from "../../backends/files.ts";
import type { Location } from "../../policy/index.ts";
import type { FsStat } from "../../backends/backend.ts";
import { entryPath, lstatOrNull } from "../../backends/fallback/fallback.ts";
import { relationOf, type TransferEnd } from "../../backends/fallback/same-entry.ts";
import { isWithin, nameOf } from "../../backends/paths.ts";
import { currentVersion } from "./contents.ts";
import { checkLinkTargets } from "../render/link-target.ts";
import type { CopyArgs, MoveArgs } from "../generated/types.ts";
import type { CheckedArgs } from "../generated/internal.ts";
import { type ObjectSchema, object } from "./schema.ts";
import { escapeControls } from "../../engine/escape.ts";
import { TIMEOUT_BEFORE_WRITING_TEXT, flag, path, timeoutSchema } from "./shared.ts";
import type { BaseVersion, Heading, Transfer } from "../change/change.ts";
import { type Call, type PathEffect, type Proposal, locationError } from "./tool.ts";

/** The arguments of either tool. */
type TransferArgs = CheckedArgs["copy" | "move"];
/** The arguments that `copy` and `move` have in common. */
export interface TransferOptions
  extends Pick<CopyArgs & MoveArgs, "overwrite" | "create_dirs" | "timeout_ms"> {}

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

/** What `copy` and `move` propose, but for the answer. */
type ProposedTransfer = Omit<Proposal<never>, "answer">;

/**
 * Checks source and destination, and returns the change. @throws SAME_FILE, ALREADY_EXISTS, INVALID_ARGUMENT,
 * PROTECTED_PATH and others
 */
export async function proposeTransfer(
  args: TransferArgs,
  call: Call,
  verb: "copy" | "move",
): Promise<ProposedTransfer> {
  const [from, to] = [call.locations[0]!, call.locations[1]!];
  const { statOf, realPathOf } = LINKS_BY_VERB[verb];
  if (verb === "move") assertNotRoot(call, from);
  assertNotRoot(call, to);
  // Asked for at once, and awaited in the order in which their errors count.
  const lookups = [
    statOf(call.fs, from.path),
    lstatOrNull(call.fs, to.path),
    realPathOf(call.fs, from.path),
    entryPath(call.fs, to.path),
  ] as const;
  for (const lookup of lookups) lookup.catch(() => undefined);
  const source = await lookups[0];
  if (from.directory && !source.isDir) throw locationError("NOT_DIRECTORY", from);
  if (source.type === "other" && verb === "copy") throw locationError("NOT_REGULAR_FILE", from);
  const target = await lookups[1];
  if (target === null && to.directory && !source.isDir) throw locationError("NOT_DIRECTORY", to);
  const [realFrom, realTo] = [await lookups[2], await lookups[3]];
  await assertApart(call, verb, { path: realFrom, stat: source }, { path: realTo, stat: target });
  if (target !== null) assertReplaceable(args, call, source, target);
  await checkLinkTargets(call, { verb, from: realFrom, to: realTo }, source.type);
  const own = source.isDir ? [] : [await baseOf(call.fs, realFrom, source)];
  const over = target?.type ?? null;
  const there = [await baseOf(call.fs, to.path, target)];
  // A copy over a link replaces the content of the link's target.
  if (verb === "copy" && over === "symlink")
    there.push({ path: to.path, version: await currentVersion(call.fs, to.path, false) });
  const transfer: Transfer = {
    do: verb,
    path: to.path,
    name: args.destination,
    from: realFrom,
    type: source.type,
    version: source.isFile ? (own[0]?.version ?? undefined) : undefined,
    size: source.size,
    over,
    overwrite: args.overwrite,
    parents: args.create_dirs,
  };
  return {
    kind: "changes",
    of: "entries",
    changes: [transfer],
    base: [...own, ...there],
    reading: "list",
    by: "call",
    about: ({ counts }) => headingOf(args, transfer, counts),
  };
}

/** Returns the version of an entry, of which `stat` was read; null for none. */
async function baseOf(fs: Files, path: string, stat: FsStat | null): Promise<BaseVersion> {
  const known = stat?.isFile === true ? stat.version : undefined;
  const version = stat === null ? null : (known ?? (await currentVersion(fs, path, true)));
  return { path, version, entry: true };
}

/** Returns the title of a transfer, and how much of what is at the destination it can destroy. */
function headingOf(
  { source, destination }: TransferArgs,
  { do: verb, over }: Transfer,
  counts: string,
): Heading {
  const isCopy = verb === "copy";
  const replacing = over === null ? "" : ", over what is there";
  return {
    title: `${isCopy ? "Copy" : "Move"} ${source} to ${destination}${counts}${replacing}`,
    location: isCopy ? 1 : 0,
    risk: over === null ? "low" : over === "dir" ? "high" : "medium",
  };
}

/** A copy follows a link to its target; a move moves the link itself. */
const LINKS_BY_VERB = {
  copy: {
    statOf: async (fs: Files, path: string) => fs.stat(path),
    realPathOf: (fs: Files, path: string) => fs.realpath(path),
  },
  move: { statOf: (fs: Files, path: string) => fs.lstat(path), realPathOf: entryPath },
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
