/** Moves entries and copies files by real paths. Trees are copied by the fallbacks, entry by entry. */
import type { BigIntStats } from "node:fs";
import * as fs from "node:fs";
import process from "node:process";
import type { Durability, MoveOptions, WriteResult } from "../backend.ts";
import { backendError, checkSignal } from "../failure.ts";
import { isWithin } from "../paths.ts";
import { checkEmpty, checkEntryVersion, existingEntry, setAside } from "./change.node.ts";
import { noAside, osError, pathChanged, systemErrorName, versionConflict } from "./errors.node.ts";
import { isSameEntry, versionOf } from "./facts.node.ts";
import { linkAside, moveUnlessExists, syncDirectory } from "./names.node.ts";
import { factsIn, inParentAsync, openFile, type PinnedDirectory } from "./pinned.node.ts";
import { eachBlock } from "./read.node.ts";
import { hasName, sweepSometimes } from "./temp.node.ts";
import { asideName, checkWritableEntry, writeFile, writeResultOf } from "./write.node.ts";

/** Options of a move or copy, and how far it is flushed. */
export interface TransferCall extends MoveOptions {
  readonly durability: Durability;
  readonly signal?: AbortSignal | undefined;
}

/** Moves an entry. @throws UNSUPPORTED_OPERATION between two file systems */
export function moveEntry(from: string, to: string, call: TransferCall): Promise<WriteResult> {
  checkSignal(call.signal, from);
  const aside = asideName(to, call.aside);
  return inParentAsync(from, async (source, name) => {
    const facts = existingEntry(from, source, name);
    await checkEntryVersion(from, source, name, facts, call.ifVersion);
    return inParentAsync(to, async (target, newName) => {
      // From here nothing waits, so no other call of this process comes between the checks and the move.
      const now = factsIn(source, name);
      if (now === undefined || !isSameEntry(now, facts)) throw pathChanged(from);
      if (call.ifVersion !== undefined && versionOf(now) !== versionOf(facts)) throw pathChanged(from);
      const old = factsIn(target, newName);
      checkReplaced([from, to], now, old, target, newName, call);
      source.verify();
      move([from, to], [source, name], [target, newName], old, aside);
      if (call.durability === "durable") for (const directory of [target, source]) syncDirectory(directory);
      const moved = factsIn(target, newName);
      await sweepSometimes(source);
      await sweepSometimes(target);
      return moved === undefined || !isSameEntry(moved, facts) ? Object.freeze({}) : writeResultOf(moved);
    });
  });
}

/** Refuses a move onto an entry that may not be replaced. */
function checkReplaced(
  [from, to]: readonly [string, string],
  moved: BigIntStats,
  old: BigIntStats | undefined,
  target: PinnedDirectory,
  newName: string,
  { overwrite, ifTargetVersion }: TransferCall,
): void {
  if (newName === ".")
    throw backendError("PROTECTED_PATH", to, "a root cannot be moved, replaced or deleted");
  const respelled = old !== undefined && isRespelling([from, to], moved, old, target, newName);
  if (old !== undefined && overwrite !== true && !respelled) throw backendError("ALREADY_EXISTS", to);
  if (from === to) throw backendError("SAME_FILE", to);
  if (moved.isDirectory() && isWithin(to, from))
    throw backendError("INVALID_ARGUMENT", to, "a directory cannot be moved into itself");
  if (
    ifTargetVersion !== undefined &&
    (old === undefined || versionOf(old) !== ifTargetVersion.split(":")[0])
  )
    throw versionConflict(to, "the file to be replaced has changed");
  if (old === undefined || respelled) return;
  if (isSameEntry(old, moved)) throw backendError("SAME_FILE", to);
  if (moved.isDirectory() && !old.isDirectory()) throw backendError("NOT_DIRECTORY", to);
  if (!moved.isDirectory() && old.isDirectory()) throw backendError("IS_DIRECTORY", to);
  // A move with this condition is a rollback, which replaces only what the call itself has written.
  if (old.isFile() && ifTargetVersion === undefined) checkWritableEntry(to, target, newName, old);
}

/**
 * Returns true when two names that differ in letter case or normal form name one entry. Where the directory has the
 * new name too, it is a second hard link of the file: a rename between the two would leave both.
 */
function isRespelling(
  [from, to]: readonly [string, string],
  moved: BigIntStats,
  old: BigIntStats,
  target: PinnedDirectory,
  newName: string,
): boolean {
  if (!isSameEntry(moved, old) || from === to) return false;
  if (from.normalize("NFC").toLowerCase() !== to.normalize("NFC").toLowerCase()) return false;
  return moved.nlink === 1n || moved.isDirectory() || !hasName(target, (one) => one === newName);
}

function move(
  [from, to]: readonly [string, string],
  [source, name]: readonly [PinnedDirectory, string],
  [target, newName]: readonly [PinnedDirectory, string],
  old: BigIntStats | undefined,
  aside: string | undefined,
): void {
  let kept: string | undefined;
  try {
    if (aside !== undefined && old !== undefined) {
      keepTarget(to, target, newName, old, aside);
      kept = aside;
    }
    if (old === undefined || (kept !== undefined && old.isDirectory()))
      moveUnlessExists(source, name, target, newName);
    else {
      // Windows replaces no directory, not even an empty one.
      if (process.platform === "win32" && old.isDirectory()) fs.rmdirSync(target.at(newName));
      fs.renameSync(source.at(name), target.at(newName));
    }
  } catch (error) {
    if (kept !== undefined) restoreTarget(target, newName, old as BigIntStats, kept);
    const code = systemErrorName(error);
    if (code === "EXDEV")
      throw aside === undefined
        ? backendError("UNSUPPORTED_OPERATION", from, "the two paths are on different file systems")
        : noAside(to);
    if (code === "EEXIST")
      throw old?.isDirectory() === true ? backendError("NOT_EMPTY", to) : pathChanged(to);
    if (code === "EINVAL")
      throw backendError("INVALID_ARGUMENT", to, "a directory cannot be moved into itself");
    throw osError(error, code === "ENOTEMPTY" || code === "ENOSPC" ? to : from);
  }
}

/** Sets the entry aside that a move replaces. */
function keepTarget(
  to: string,
  target: PinnedDirectory,
  newName: string,
  old: BigIntStats,
  aside: string,
): void {
  if (old.isDirectory()) checkEmpty(to, target, newName);
  if (old.isFile()) linkAside(to, target, newName, old, aside);
  else setAside(to, target, newName, old, aside);
}

/** Puts an entry back that was set aside for a move which failed. */
function restoreTarget(target: PinnedDirectory, newName: string, old: BigIntStats, aside: string): void {
  if (old.isFile()) fs.unlinkSync(target.at(aside));
  else moveUnlessExists(target, aside, target, newName);
}

/** Copies a regular file with its permission bits. */
export async function copyRegularFile(from: string, to: string, call: TransferCall): Promise<WriteResult> {
  const file = openFile(from);
  try {
    if (call.ifVersion !== undefined && versionOf(file.facts) !== call.ifVersion.split(":")[0])
      throw versionConflict(from, "it has changed since it was looked at");
    return await writeFile(to, {
      content: (fd) => {
        let at = 0;
        return eachBlock(file, from, call.signal, (block) => {
          for (let done = 0; done < block.length; )
            done += fs.writeSync(fd, block, done, block.length - done, at + done);
          at += block.length;
        });
      },
      ifAbsent: call.overwrite !== true,
      mode: Number(file.facts.mode & 0o7777n),
      durability: call.durability,
      aside: call.aside,
      signal: call.signal,
      checkOld: (old) => {
        if (isSameEntry(old, file.facts)) throw backendError("SAME_FILE", to);
      },
    });
  } finally {
    fs.closeSync(file.fd);
  }
}
