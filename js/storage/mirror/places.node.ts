/**
 * The directories of copies below a state directory: one for each workspace of a storage, held by one process at a
 * time. Those that were used least recently are removed when all of them together are too large.
 */
import { createHash, randomUUID } from "node:crypto";
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { debug } from "../../engine/debug.ts";
import { tryLock } from "../../backends/local/lock.node.ts";
import type { LockHandle } from "../../backends/backend.ts";
import { makePrivateDirectory } from "../../backends/private-directory.node.ts";

/** The directory of all copies, below a state directory. */
const MIRRORS = "mirrors";
/** The number of processes on one machine that have a copy of the same workspace. Further ones have a passing one. */
const MAX_COPIES = 8;
/** The file that says how large a copy is. The time of its last change is that of the last search. */
const SIZE_FILE = "size";
/** The beginning of the name of a copy that ends with its process. */
const PASSING = "passing-";

/** A directory that this process holds. */
export interface MirrorPlace {
  readonly directory: string;
  /** True for a directory that is removed when it is released. */
  readonly passing: boolean;
  /** True when an earlier process has left a copy. */
  readonly known: boolean;
  /** Notes the size of the copy, and that it is in use. */
  note(bytes: number): void;
  /** Removes other copies until there is room. Returns false where a copy of so many bytes is too large. */
  makeRoom(bytes: number, maxBytes: number): boolean;
  release(): void;
}

/** The copies of this process that can be removed while they are open. */
const evictors = new Map<string, () => boolean>();

/**
 * Takes the directory for the copy of a workspace. `identity` names the workspace; without one, the copy ends with the
 * process. `evict` empties the copy if nothing uses it, and says whether it did.
 */
export function takePlace(stateDir: string, identity: string | undefined, evict: () => boolean): MirrorPlace {
  const parent = join(stateDir, MIRRORS);
  makePrivateDirectory(parent);
  const name =
    identity === undefined ? undefined : createHash("sha256").update(identity).digest("hex").slice(0, 32);
  for (let number = 1; name !== undefined && number <= MAX_COPIES; number++) {
    const own = number === 1 ? name : `${name}.${number}`;
    const lock = lockOf(stateDir, own);
    if (lock !== null) return openPlace(stateDir, own, { lock, passing: false, evict });
  }
  for (const left of readdirSync(parent)) if (left.startsWith(PASSING)) removePlace(stateDir, left);
  const own = PASSING + randomUUID();
  const lock = lockOf(stateDir, own) as LockHandle;
  return openPlace(stateDir, own, { lock, passing: true, evict });
}

/** How a place is held. */
interface Holding {
  readonly lock: LockHandle;
  /** True for a copy that ends with the process. */
  readonly passing: boolean;
  /** Empties the copy if nothing uses it, and says whether it did. */
  readonly evict: () => boolean;
}

function openPlace(stateDir: string, name: string, { lock, passing, evict }: Holding): MirrorPlace {
  const directory = join(stateDir, MIRRORS, name);
  makePrivateDirectory(directory);
  evictors.set(directory, evict);
  let released = false;
  return {
    directory,
    passing,
    known: sizeOf(directory).bytes > 0,
    note: (bytes) => writeFileSync(join(directory, SIZE_FILE), String(bytes), { mode: 0o600 }),
    makeRoom: (bytes, maxBytes) => bytes <= maxBytes && evictOthers(stateDir, name, maxBytes - bytes),
    release: () => {
      if (released) return;
      released = true;
      evictors.delete(directory);
      if (passing) rmSync(directory, { recursive: true, force: true });
      lock.release();
    },
  };
}

/** Removes copies other than `own`, the least recently used first, until the others have at most so many bytes. */
function evictOthers(stateDir: string, own: string, mostBytes: number): boolean {
  const others = readdirSync(join(stateDir, MIRRORS))
    .filter((name) => name !== own)
    .map((name) => ({ name, ...sizeOf(join(stateDir, MIRRORS, name)) }))
    .sort((a, b) => a.usedAt - b.usedAt);
  let sum = others.reduce((total, { bytes }) => total + bytes, 0);
  for (const { name, bytes } of others) {
    if (sum <= mostBytes) break;
    if (bytes > 0 && removePlace(stateDir, name)) sum -= bytes;
  }
  return sum <= mostBytes;
}

function sizeOf(directory: string): { readonly bytes: number; readonly usedAt: number } {
  try {
    const file = join(directory, SIZE_FILE);
    return { bytes: Number(readFileSync(file, "utf8")) || 0, usedAt: statSync(file).mtimeMs };
  } catch {
    return { bytes: 0, usedAt: 0 };
  }
}

/** Removes a copy that no other process holds, and that no search of this one uses. */
function removePlace(stateDir: string, name: string): boolean {
  const directory = join(stateDir, MIRRORS, name);
  const evict = evictors.get(directory);
  if (evict !== undefined) return evict();
  const lock = lockOf(stateDir, name);
  if (lock === null) return false;
  try {
    rmSync(directory, { recursive: true, force: true });
    debug.search?.(`removed the copy ${name}, which was used least recently`);
    return true;
  } finally {
    lock.release();
  }
}

function lockOf(stateDir: string, name: string): LockHandle | null {
  return tryLock(stateDir, `mirror ${name}`);
}
