/** Moves entries and copies files by real paths. Trees are copied by the fallbacks, entry by entry. */
import type { BigIntStats } from "node:fs";
import * as fs from "node:fs";
import type { Durability, MoveOptions, WriteResult } from "../backend.ts";
import { backendError, checkSignal } from "../failure.ts";
import { isWithin } from "../paths.ts";
import {
  afterChange,
  noAside,
  osError,
  pathChanged,
  systemErrorName,
  versionConflict,
} from "./errors.node.ts";
import { isSameEntry, parseVersion, versionOf, writeResultOf } from "./facts.node.ts";
import { writeBlock } from "./in-place.node.ts";
import { checkEmpty, linkAside, moveUnlessExists, removeUnused, setAside } from "./names.node.ts";
import { atEntry, closeQuietly, openFile, type PinnedEntry } from "./pinned.node.ts";
import { eachBlock } from "./read.node.ts";
import { hasName, settle } from "./temp.node.ts";
import { asideName, checkEntryVersion, checkWritableEntry, writeFile } from "./write.node.ts";

/** Options of a move or copy, and how far it is flushed. */
export interface TransferCall extends MoveOptions {
  readonly durability: Durability;
  readonly signal?: AbortSignal | undefined;
}

/** Moves an entry. @throws UNSUPPORTED_OPERATION between two file systems */
export function moveEntry(from: string, to: string, call: TransferCall): Promise<WriteResult> {
  checkSignal(call.signal, from);
  const aside = asideName(to, call.aside);
  return atEntry(from, async (source) => {
    const facts = source.existing();
    await checkEntryVersion(source, facts, call.ifVersion);
    return atEntry(to, async (target) => {
      // From here nothing waits, so no other call of this process comes between the checks and the move.
      const now = source.still(facts);
      if (call.ifVersion !== undefined && versionOf(now) !== versionOf(facts)) throw pathChanged(from);
      const replaced = replacedBy(source, now, target, call);
      source.directory.verify();
      try {
        move(source, target, replaced, aside);
      } catch (error) {
        throw moveError(error, source, target, { replaced, aside });
      }
      const moved = afterChange(to, () => target.facts());
      for (const { directory } of [target, source]) await settle(directory, call.durability);
      return moved === undefined || !isSameEntry(moved, facts) ? Object.freeze({}) : writeResultOf(moved);
    });
  });
}

/** Returns the facts about the entry that a move replaces. Refuses one that may not be replaced. */
function replacedBy(
  source: PinnedEntry,
  moved: BigIntStats,
  target: PinnedEntry,
  call: TransferCall,
): BigIntStats | undefined {
  const [from, to] = [source.path, target.path];
  if (target.isTop) throw backendError("PROTECTED_PATH", to, "a root cannot be moved, replaced or deleted");
  const old = target.facts();
  const respelled = old !== undefined && isRespelling(source, moved, target, old);
  if (old !== undefined && call.overwrite !== true && !respelled) throw backendError("ALREADY_EXISTS", to);
  if (from === to) throw backendError("SAME_FILE", to);
  if (moved.isDirectory() && isWithin(to, from)) throw intoItself(to);
  const wanted = call.ifTargetVersion;
  if (wanted !== undefined && (old === undefined || versionOf(old) !== parseVersion(wanted)?.facts))
    throw versionConflict(to, "the file to be replaced has changed");
  if (old !== undefined && !respelled) checkOld(target, old, moved, wanted === undefined);
  return old;
}

/** @throws FilewrightError for an entry that may not be replaced by another one */
function checkOld(target: PinnedEntry, old: BigIntStats, moved: BigIntStats, mustBeWritable: boolean): void {
  if (isSameEntry(old, moved)) throw backendError("SAME_FILE", target.path);
  if (moved.isDirectory() !== old.isDirectory())
    throw backendError(moved.isDirectory() ? "NOT_DIRECTORY" : "IS_DIRECTORY", target.path);
  // A move with a version of its target is a rollback, which replaces only what the call itself has written.
  if (old.isFile() && mustBeWritable) checkWritableEntry(target, old);
}

function intoItself(to: string): Error {
  return backendError("INVALID_ARGUMENT", to, "a directory cannot be moved into itself");
}

/**
 * Returns true when two names that differ in letter case or normal form name one entry. Where the directory has the
 * new name too, it is a second hard link of the file: a rename between the two would leave both.
 */
function isRespelling(
  source: PinnedEntry,
  moved: BigIntStats,
  target: PinnedEntry,
  old: BigIntStats,
): boolean {
  const [from, to] = [source.path, target.path];
  if (!isSameEntry(moved, old) || from === to) return false;
  if (from.normalize("NFC").toLowerCase() !== to.normalize("NFC").toLowerCase()) return false;
  return (
    moved.nlink === 1n || moved.isDirectory() || !hasName(target.directory, (one) => one === target.name)
  );
}

/** Moves an entry. With `aside` the replaced one is renamed to that, and back after a failure. */
function move(
  source: PinnedEntry,
  target: PinnedEntry,
  old: BigIntStats | undefined,
  aside: string | undefined,
): void {
  if (old === undefined) {
    moveUnlessExists(source, target);
    return;
  }
  if (aside === undefined) {
    // Windows replaces no directory, not even an empty one.
    if (process.platform === "win32" && old.isDirectory()) fs.rmdirSync(target.at);
    fs.renameSync(source.at, target.at);
    return;
  }
  if (old.isDirectory()) checkEmpty(target);
  (old.isFile() ? linkAside : setAside)(target, old, aside);
  try {
    if (old.isDirectory()) moveUnlessExists(source, target);
    else fs.renameSync(source.at, target.at);
  } catch (error) {
    const kept = target.sibling(aside);
    if (old.isFile()) removeUnused(kept);
    else afterChange(kept.path, () => moveUnlessExists(kept, target));
    throw error;
  }
}

/** The errors of a move that are about its target. */
const TARGET_ERRORS: ReadonlySet<string> = new Set(["ENOTEMPTY", "ENOSPC"]);

function moveError(
  error: unknown,
  { path: from }: PinnedEntry,
  { path: to }: PinnedEntry,
  { replaced, aside }: { readonly replaced: BigIntStats | undefined; readonly aside: string | undefined },
): unknown {
  const code = systemErrorName(error) ?? "";
  if (code === "EXDEV" && aside !== undefined) return noAside(to);
  if (code === "EXDEV")
    return backendError("UNSUPPORTED_OPERATION", from, "the two paths are on different file systems");
  if (code === "EEXIST") return replaced?.isDirectory() ? backendError("NOT_EMPTY", to) : pathChanged(to);
  if (code === "EINVAL") return intoItself(to);
  return osError(error, TARGET_ERRORS.has(code) ? to : from);
}

/** Copies a regular file with its permission bits. */
export async function copyRegularFile(from: string, to: string, call: TransferCall): Promise<WriteResult> {
  const { overwrite, ifVersion, durability, aside, signal } = call;
  const file = openFile(from);
  try {
    if (ifVersion !== undefined && versionOf(file.facts) !== parseVersion(ifVersion)?.facts)
      throw versionConflict(from, "it has changed since it was looked at");
    return await writeFile(to, {
      content: (fd) => eachBlock(file, from, signal, (block, at) => writeBlock(fd, block, at)),
      ifAbsent: overwrite !== true,
      mode: Number(file.facts.mode & 0o7777n),
      durability,
      aside,
      signal,
      checkOld: (old) => {
        if (isSameEntry(old, file.facts)) throw backendError("SAME_FILE", to);
      },
    });
  } finally {
    closeQuietly(file.fd);
  }
}
