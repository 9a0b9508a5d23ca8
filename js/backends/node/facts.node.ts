/** The facts about an entry, from `stat` with nanoseconds, and its version in the form of `crates/fs/src/dir/stat.rs`. */
import type { BigIntStats } from "node:fs";
import type { EntryType, FsStat, WriteResult } from "../backend.ts";

const IS_WINDOWS = process.platform === "win32";

/** Returns the type of an entry. */
export function typeOf(facts: {
  isFile(): boolean;
  isDirectory(): boolean;
  isSymbolicLink(): boolean;
}): EntryType {
  if (facts.isFile()) return "file";
  if (facts.isDirectory()) return "dir";
  return facts.isSymbolicLink() ? "symlink" : "other";
}

/** Returns a time in milliseconds with a fraction. */
export function millis(nanos: bigint): number {
  let whole = nanos / 1_000_000n;
  let rest = nanos % 1_000_000n;
  if (rest < 0n) {
    whole -= 1n;
    rest += 1_000_000n;
  }
  return Number(whole) + Number(rest) / 1e6;
}

const hex = (value: bigint): string => BigInt.asUintN(64, value).toString(16);

/**
 * Returns the device and inode of an entry, which are the first two fields of its version. On Windows the number of
 * the volume is left out, because Node does not report the same one for a path and for a descriptor.
 */
export function fileIdOf({ dev, ino }: BigIntStats): string {
  return `${hex(IS_WINDOWS ? 0n : dev)}.${hex(ino)}`;
}

/** Returns the version of an entry, without a content hash. */
export function versionOf(facts: BigIntStats): string {
  return `${fileIdOf(facts)}.${hex(facts.size)}.${hex(facts.mtimeNs)}.${hex(facts.ctimeNs)}`;
}

/** Returns the result of a write for the facts about the written file. `otherNames` is left out where it is 0. */
export function writeResultOf(
  facts: BigIntStats,
  { otherNames = 0, inPlace = false }: Pick<WriteResult, "otherNames" | "inPlace"> = {},
): WriteResult {
  const result: { -readonly [K in keyof WriteResult]: WriteResult[K] } = {
    version: versionOf(facts),
    fileId: fileIdOf(facts),
  };
  if (inPlace) result.inPlace = true;
  if (otherNames > 0) result.otherNames = otherNames;
  return Object.freeze(result);
}

/** Returns the facts of the contract, frozen. */
export function fsStatOf(facts: BigIntStats, path: string, target?: string): FsStat {
  const type = typeOf(facts);
  return Object.freeze({
    path,
    type,
    size: Number(facts.size),
    isDir: type === "dir",
    isFile: type === "file",
    mtime: millis(facts.mtimeNs),
    ctime: millis(facts.ctimeNs),
    atime: millis(facts.atimeNs),
    // A file system that does not record the creation time reports zero.
    ...(facts.birthtimeNs === 0n ? {} : { birthtime: millis(facts.birthtimeNs) }),
    mode: Number(facts.mode & 0o7777n),
    nlink: Number(facts.nlink),
    ...(target === undefined ? {} : { target }),
    version: versionOf(facts),
    fileId: fileIdOf(facts),
  });
}

/** Returns true when two results describe the same entry. */
export function isSameEntry(a: BigIntStats, b: BigIntStats): boolean {
  return a.ino === b.ino && (IS_WINDOWS || a.dev === b.dev);
}

/** Returns true when two results describe the same entry in the same state: a rename changes only `ctime`. */
export function isSameState(a: BigIntStats, b: BigIntStats): boolean {
  if (!isSameEntry(a, b) || typeOf(a) !== typeOf(b)) return false;
  return a.isDirectory() || (a.size === b.size && a.mtimeNs === b.mtimeNs);
}

/** The parts of a version that a caller gave. */
export interface GivenVersion {
  /** The version without its hash. */
  readonly facts: string;
  readonly size: bigint;
  /** The hash of the content, `sha256:` and 64 digits, where it is known. */
  readonly hash: string | undefined;
}

const DIGEST = /^[0-9a-f]{64}$/;
const VERSION = /^[0-9a-f]{1,16}(?:\.[0-9a-f]{1,16}){4}$/;

/** Returns the parts of a version; undefined for a text that is none. */
export function parseVersion(version: string): GivenVersion | undefined {
  const [facts = "", digits, ...rest] = version.split(":");
  if (rest.length > 0 || !VERSION.test(facts) || (digits !== undefined && !DIGEST.test(digits)))
    return undefined;
  const size = BigInt(`0x${facts.split(".")[2] as string}`);
  return { facts, size, hash: digits === undefined ? undefined : `sha256:${digits}` };
}
