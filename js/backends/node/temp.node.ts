/** Names of temporary files, which name their process, and the removal of those that dead processes left. */
import { randomBytes } from "node:crypto";
import * as fs from "node:fs";
import process from "node:process";
import { STEPS_PER_YIELD_CHECK, Yielder } from "../../engine/yielder.ts";
import { isTempName } from "../walk/temp-name.ts";
import { osError } from "./errors.node.ts";
import { fileIdOf } from "./facts.node.ts";
import { factsIn, type PinnedDirectory, pinBelow } from "./pinned.node.ts";
import { textOfNameBytes } from "../name-escapes.ts";
import { hasEnded, ownIdentity, type ProcessIdentity } from "./process-identity.node.ts";

/** The suffix of an entry that a change moved aside. */
const ASIDE_SUFFIX = "-kept";
/** The age in milliseconds after which a temporary file of another boot or machine is removed. */
const MIN_FOREIGN_AGE_MS = 3_600_000;
/** The age in milliseconds before which an entry that was moved aside is kept, because the journal may need it. */
const MIN_ASIDE_AGE_MS = 7 * 24 * 3_600_000;
/** The time in milliseconds within which a directory is not swept twice. */
const SWEEP_INTERVAL_MS = 60_000;
/** The number of directories whose last sweep is known. */
const MAX_KNOWN_SWEEPS = 1024;

/** Returns a new name for a temporary file of this process. */
export function newTempName(): string {
  const { realm, pid, started } = ownIdentity();
  return `.filewright-${realm}-${pid.toString(16)}-${started.toString(16)}-${randomBytes(8).toString("hex")}`;
}

/** Returns a new name for an entry that is moved aside. */
export function newAsideName(): string {
  return newTempName() + ASIDE_SUFFIX;
}

/** Returns true for a name from {@link newAsideName} of this process. */
export function isOwnAsideName(name: string): boolean {
  const creator = isAsideName(name) ? creatorOf(name) : undefined;
  const own = ownIdentity();
  return creator?.realm === own.realm && creator.pid === own.pid && creator.started === own.started;
}

/** Returns true for the name of an entry that a change moved aside. */
export function isAsideName(name: string): boolean {
  return name.endsWith(ASIDE_SUFFIX) && isTempName(name);
}

function creatorOf(name: string): ProcessIdentity {
  const [, realm = "", pid = "", started = ""] = name.split("-");
  return { realm, pid: Number.parseInt(pid, 16), started: Number.parseInt(started, 16) };
}

const lastSweeps = new Map<string, number>();

/** Removes stale temporary files from a directory after a change in it, unless that was done a moment ago. */
export async function sweepSometimes(directory: PinnedDirectory): Promise<void> {
  const id = fileIdOf(directory.facts);
  const now = performance.now();
  if (now - (lastSweeps.get(id) ?? Number.NEGATIVE_INFINITY) < SWEEP_INTERVAL_MS) return;
  if (lastSweeps.size >= MAX_KNOWN_SWEEPS) lastSweeps.clear();
  lastSweeps.set(id, now);
  try {
    await sweepDirectory(directory);
  } catch {
    // The change has been made. The next sweep tries again.
  }
}

/** Removes the temporary files of ended processes from a directory. Returns their number. */
export async function sweepDirectory(directory: PinnedDirectory): Promise<number> {
  const yielder = new Yielder({});
  let swept = 0;
  let seen = 0;
  for (const name of await namesIn(directory, yielder)) {
    if (++seen % STEPS_PER_YIELD_CHECK === 0) await yielder.yieldIfDue();
    if (!isTempName(name) || !isStale(directory, name)) continue;
    try {
      await removeEntry(directory, name, yielder);
      swept++;
    } catch {
      // Another process was faster, or it may not be removed.
    }
  }
  return swept;
}

/**
 * Returns true when a temporary file may be removed: it belongs to the user of this process, and its process has
 * ended, or cannot be checked and the file is old. Root removes those of all users, because it gives the files that
 * it writes to the owners of those that they replace.
 */
function isStale(directory: PinnedDirectory, name: string): boolean {
  const ended = hasEnded(creatorOf(name));
  if (ended === false) return false;
  const facts = factsIn(directory, name);
  if (facts === undefined) return false;
  const own = process.geteuid?.();
  if (own !== undefined && own !== 0 && BigInt(own) !== facts.uid) return false;
  const aside = isAsideName(name);
  if (ended === true && !aside) return true;
  return Date.now() - Number(facts.ctimeMs) > (aside ? MIN_ASIDE_AGE_MS : MIN_FOREIGN_AGE_MS);
}

/** The size in bytes of a directory above which its names are read on a thread of Node. */
const MAX_SYNC_DIRECTORY_BYTES = 64n * 1024n;

/** Returns true for a directory whose names are read on a thread of Node, because reading them takes long. */
export function isLargeDirectory({ facts }: PinnedDirectory): boolean {
  return facts.size > MAX_SYNC_DIRECTORY_BYTES;
}

/** Returns true for the text of a name that may not be the whole name, because its bytes are no UTF-8. */
export function isUncertainName(name: string): boolean {
  return name.includes("\ufffd") || name.includes("\\");
}

/** Returns the names in a held directory, with pauses. */
export async function namesIn(directory: PinnedDirectory, yielder: Yielder): Promise<readonly string[]> {
  const at = directory.at(".");
  const names = isLargeDirectory(directory) ? await fs.promises.readdir(at) : fs.readdirSync(at);
  return names.some(isUncertainName) ? namesFromBytes(directory, yielder) : names;
}

/** Returns the names in a held directory, read as bytes, with pauses. */
export async function namesFromBytes(
  directory: PinnedDirectory,
  yielder: Yielder,
): Promise<readonly string[]> {
  const at = directory.at(".");
  const encoding = { encoding: "buffer" } as const;
  const names: string[] = [];
  const found = isLargeDirectory(directory)
    ? await fs.promises.readdir(at, encoding)
    : fs.readdirSync(at, encoding);
  for (const bytes of found)
    if (names.push(textOfNameBytes(bytes)) % STEPS_PER_YIELD_CHECK === 0) await yielder.yieldIfDue();
  return names;
}

/**
 * Returns true when a held directory has a name that fits. It stops at the first one and never waits, for checks that
 * must stay together with the change that follows.
 */
export function hasName(directory: PinnedDirectory, fits: (name: string) => boolean): boolean {
  const names = fs.opendirSync(directory.at("."), { bufferSize: 256 });
  try {
    for (let entry = names.readSync(); entry !== null; entry = names.readSync())
      if (fits(entry.name)) return true;
    return false;
  } finally {
    names.closeSync();
  }
}

/** Removes an entry of a held directory and everything below it, whatever its permission bits, with pauses. */
export async function removeEntry(directory: PinnedDirectory, name: string, yielder: Yielder): Promise<void> {
  const facts = factsIn(directory, name);
  if (facts === undefined) return;
  if (!facts.isDirectory()) {
    fs.unlinkSync(directory.at(name));
    return;
  }
  const inside = pinBelow(directory, name);
  try {
    for (const below of await namesInOwn(inside, yielder)) {
      await yielder.yieldIfDue();
      await removeEntry(inside, below, yielder);
    }
  } finally {
    inside.close();
  }
  fs.rmdirSync(directory.at(name));
}

/** Returns the names in a directory that is removed. Missing permissions of its owner are added first. */
async function namesInOwn(directory: PinnedDirectory, yielder: Yielder): Promise<readonly string[]> {
  if ((directory.facts.mode & 0o700n) !== 0o700n) {
    try {
      fs.chmodSync(directory.at("."), 0o700);
    } catch {
      // The listing or the removal reports the refusal.
    }
  }
  try {
    return await namesIn(directory, yielder);
  } catch (error) {
    throw osError(error, directory.path);
  }
}
