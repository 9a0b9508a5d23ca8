/**
 * Names of temporary files, which name their process, the removal of those that dead processes left, and the end of each
 * change in a directory, after which that is done.
 */
import { randomBytes } from "node:crypto";
import type { BigIntStats, Dirent } from "node:fs";
import * as fs from "node:fs";
import { STEPS_PER_YIELD_CHECK, Yielder } from "../../engine/yielder.ts";
import type { Durability, EntryType } from "../backend.ts";
import { textOfNameBytes } from "../name-escapes.ts";
import { isTempName } from "../walk/temp-name.ts";
import { pathChanged, systemErrorName, unconfirmedError } from "./errors.node.ts";
import { fileIdOf, typeOf } from "./facts.node.ts";
import { closeQuietly, type PinnedDirectory, type PinnedEntry } from "./pinned.node.ts";
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

/**
 * Ends a change in a directory: its names are flushed to the disk if the change is durable, and its stale temporary files
 * are removed, unless that was done a moment ago.
 */
export async function settle(directory: PinnedDirectory, durability: Durability | undefined): Promise<void> {
  if (durability === "durable") syncDirectory(directory);
  try {
    const id = fileIdOf(directory.facts);
    const now = performance.now();
    if (now - (lastSweeps.get(id) ?? Number.NEGATIVE_INFINITY) < SWEEP_INTERVAL_MS) return;
    if (lastSweeps.size >= MAX_KNOWN_SWEEPS) lastSweeps.clear();
    lastSweeps.set(id, now);
    await sweepDirectory(directory);
  } catch {
    // The change has been made. The next sweep tries again.
  }
}

/** Flushes the names of a directory to the disk. Does nothing if the directory cannot be opened for reading. */
export function syncDirectory(directory: PinnedDirectory): void {
  let fd: number;
  try {
    fd = fs.openSync(directory.at("."), fs.constants.O_RDONLY);
  } catch {
    return;
  }
  try {
    fs.fsyncSync(fd);
  } catch (error) {
    // Windows and some file systems cannot flush a directory, and answer with one of these errors.
    if (!["EPERM", "EINVAL", "EISDIR", "EBADF"].includes(systemErrorName(error) ?? ""))
      throw unconfirmedError(error, directory.path);
  } finally {
    closeQuietly(fd);
  }
}

/** Removes the temporary files of ended processes from a directory. Returns their number. */
export async function sweepDirectory(directory: PinnedDirectory): Promise<number> {
  const yielder = new Yielder({});
  let swept = 0;
  let seen = 0;
  for (const { name } of await entriesOf(directory, yielder)) {
    if (++seen % STEPS_PER_YIELD_CHECK === 0) await yielder.yieldIfDue();
    if (!isTempName(name) || !isStale(directory.entry(name))) continue;
    try {
      await removeForced(directory.entry(name), yielder);
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
function isStale(entry: PinnedEntry): boolean {
  const ended = hasEnded(creatorOf(entry.name));
  if (ended === false) return false;
  const facts = entry.facts();
  if (facts === undefined) return false;
  const own = process.geteuid?.();
  if (own !== undefined && own !== 0 && BigInt(own) !== facts.uid) return false;
  const aside = isAsideName(entry.name);
  if (ended === true && !aside) return true;
  return Date.now() - Number(facts.ctimeMs) > (aside ? MIN_ASIDE_AGE_MS : MIN_FOREIGN_AGE_MS);
}

/** The size in bytes of a directory above which its names are read on a thread of Node. */
const MAX_SYNC_DIRECTORY_BYTES = 64n * 1024n;

/** An entry as a listing names it, with its type where the system tells it. */
export interface NamedEntry {
  readonly name: string;
  readonly type: EntryType | undefined;
}

/** Returns the entries of a held directory, with pauses. */
export async function entriesOf(
  directory: PinnedDirectory,
  yielder: Yielder,
): Promise<readonly NamedEntry[]> {
  const at = directory.at(".");
  const isLarge = directory.facts.size > MAX_SYNC_DIRECTORY_BYTES;
  const typed = { withFileTypes: true } as const;
  const entries = isLarge ? await fs.promises.readdir(at, typed) : fs.readdirSync(at, typed);
  // A name that is not UTF-8 may not be the whole one.
  if (!entries.some(({ name }) => name.includes("\ufffd") || name.includes("\\")))
    return entries.map((entry) => ({ name: entry.name, type: hasType(entry) ? typeOf(entry) : undefined }));
  // The names are read again as bytes. Their types come from `lstat`.
  const raw = { encoding: "buffer" } as const;
  const found: NamedEntry[] = [];
  for (const bytes of isLarge ? await fs.promises.readdir(at, raw) : fs.readdirSync(at, raw))
    if (found.push({ name: textOfNameBytes(bytes), type: undefined }) % STEPS_PER_YIELD_CHECK === 0)
      await yielder.yieldIfDue();
  return found;
}

/** Returns true for an entry whose type the file system tells with its name. */
function hasType(entry: Dirent): boolean {
  if (entry.isFile() || entry.isDirectory() || entry.isSymbolicLink()) return true;
  return entry.isFIFO() || entry.isSocket() || entry.isBlockDevice() || entry.isCharacterDevice();
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

/** How an entry is removed with everything below it. */
export interface Removal {
  /** `count` removes nothing; `force` adds missing permissions of the owner to directories. */
  readonly how: "count" | "remove" | "force";
  /** The counts to which the entries are added. */
  readonly counts: { files: number; directories: number; bytes: number };
  readonly yielder: Yielder;
}

/** Removes an entry of a held directory and everything below it, whatever its permission bits, with pauses. */
async function removeForced(entry: PinnedEntry, yielder: Yielder): Promise<void> {
  const facts = entry.facts();
  const counts = { files: 0, directories: 0, bytes: 0 };
  if (facts !== undefined) await removeWithContent(entry, facts, { how: "force", counts, yielder });
}

/** Removes or counts an entry and everything below it, contents before their directories. Links are not followed. */
export async function removeWithContent(
  entry: PinnedEntry,
  facts: BigIntStats,
  removal: Removal,
): Promise<void> {
  const { how, counts, yielder } = removal;
  await yielder.yieldIfDue();
  if (!facts.isDirectory()) {
    if (how !== "count") unlinkEntry(entry);
    counts.files++;
    if (facts.isFile()) counts.bytes += Number(facts.size);
    return;
  }
  const inside = entry.pin();
  try {
    if (how === "force") openToOwner(inside);
    for (const { name } of await entriesOf(inside, yielder)) await removeBelow(inside.entry(name), removal);
  } finally {
    inside.close();
  }
  if (how !== "count") fs.rmdirSync(entry.at);
  counts.directories++;
}

async function removeBelow(entry: PinnedEntry, removal: Removal): Promise<void> {
  const { how, yielder } = removal;
  // Temporary files are no content: they are not counted, and nothing keeps them.
  const isTemp = how !== "force" && isTempName(entry.name);
  if (isTemp && how === "remove") await removeForced(entry, yielder);
  const facts = isTemp ? undefined : entry.facts();
  if (facts !== undefined) await removeWithContent(entry, facts, removal);
}

/** Removes a file or link. @throws CONFLICT of `pathChanged` for a directory that has taken its name */
export function unlinkEntry(entry: PinnedEntry): void {
  try {
    fs.unlinkSync(entry.at);
  } catch (error) {
    // A directory has taken the name: Linux says EISDIR, other systems EPERM.
    if (entry.facts()?.isDirectory() === true) throw pathChanged(entry.path);
    throw error;
  }
}

/** Adds missing permissions of its owner to a directory whose content is removed. */
function openToOwner(directory: PinnedDirectory): void {
  if ((directory.facts.mode & 0o700n) === 0o700n) return;
  try {
    fs.chmodSync(directory.at("."), 0o700);
  } catch {
    // The listing or the removal reports the refusal.
  }
}
