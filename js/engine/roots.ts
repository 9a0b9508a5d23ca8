/**
 * What the native addon offers over the disk: sets of roots and locks. There is
 * no WebAssembly counterpart.
 *
 * Paths are absolute, in the form of `crates/core/src/path.rs`; a negative
 * number stands for "not given". Failures are those of `errors.ts`.
 */
import type { ReadRoots } from "./read.ts";
import type { CancelToken, NativeSearch } from "./tree-search.ts";
import type { Packed } from "./unpack.ts";

export type { CancelToken };

/** Content with packed facts; `bytes` is absent where the version is unchanged. */
export interface PackedContent extends Packed {
  readonly bytes?: Uint8Array | null;
}

/** Bits of the flags of a write. */
export const WRITE_FLAGS: Readonly<Record<"ifAbsent" | "createDirs" | "append" | "strict", number>> =
  Object.freeze({
    ifAbsent: 1,
    createDirs: 2,
    append: 4,
    strict: 8,
  });

/** Bits of the flags of a move or copy. */
export const TRANSFER_FLAGS: Readonly<Record<"overwrite" | "createDirs" | "strict", number>> = Object.freeze({
  overwrite: 1,
  createDirs: 2,
  strict: 8,
});

/** The numbers under which durability crosses. */
export const DURABILITY: Readonly<Record<"none" | "atomic" | "durable", number>> = Object.freeze({
  none: 0,
  atomic: 1,
  durable: 2,
});

/** A set of roots, as `crates/node/src/root.rs` exports it. */
export interface RootsBinding extends NativeSearch, ReadRoots {
  capabilities(): string;
  /** Lets the content of these secrets be read, and of no others any more. */
  grantSecrets(paths: string[]): void;
  /** Gives everything back at once; later calls are refused with UNSUPPORTED_OPERATION. */
  close(): void;
  /** The same for the host's own reading: no secrets are kept. */
  withoutSecretFilter(): RootsBinding;
  /** What the kernel enforces, the version of Landlock, the reason: a line each. */
  enforcement(): string;
  exists(path: string): Promise<boolean>;
  existsSync(path: string): boolean;
  /** Facts, then the target of a link. */
  stat(path: string, follow: boolean): Promise<Packed>;
  statSync(path: string, follow: boolean): Packed;
  readBytes(path: string): Promise<Uint8Array>;
  readBytesSync(path: string): Uint8Array;
  read(
    path: string,
    start: number,
    end: number,
    maxBytes: number,
    ifNoneMatch: string | undefined,
    cancel: CancelToken | undefined,
  ): Promise<PackedContent>;
  /** Facts, then the hash. */
  hashFile(path: string, cancel: CancelToken | undefined): Promise<Packed>;
  /** Facts, then `created`, `otherNames`, `inPlace`. */
  writeBytes(
    path: string,
    bytes: Uint8Array,
    ifVersion: string | undefined,
    flags: number,
    mode: number,
    durability: number,
    /** The name that a replaced file gets, from `asideName`. */
    aside: string | undefined,
    cancel: CancelToken | undefined,
  ): Promise<Packed>;
  writeBytesSync(
    path: string,
    bytes: Uint8Array,
    ifVersion: string | undefined,
    flags: number,
    mode: number,
    durability: number,
  ): Packed;
  /** `total`, `more`, the number of entries, then each entry. */
  listDir(
    path: string,
    facts: boolean,
    limit: number,
    after: string | undefined,
    afterDir: boolean,
    cancel: CancelToken | undefined,
  ): Promise<Packed>;
  listDirSync(path: string, facts: boolean): Packed;
  /** `total`, the number of entries, then each entry. */
  listTree(path: string, options: string, cancel: CancelToken | undefined): Promise<Packed>;
  mkdir(path: string, parents: boolean, existOk: boolean): Promise<boolean>;
  mkdirSync(path: string, parents: boolean, existOk: boolean): boolean;
  delete(path: string, ifVersion: string | undefined, aside: string | undefined): Promise<void>;
  deleteSync(path: string): void;
  /** `files`, `directories`, `bytes`. */
  removeTree(path: string, aside: string | undefined, cancel: CancelToken | undefined): Promise<Packed>;
  /** The version of the entry under its new name, where it is known. */
  rename(
    from: string,
    to: string,
    flags: number,
    durability: number,
    ifVersion: string | undefined,
    ifTarget: string | undefined,
    aside: string | undefined,
    cancel: CancelToken | undefined,
  ): Promise<string | null>;
  /** As {@link RootsBinding.writeBytes}. */
  copyFile(
    from: string,
    to: string,
    flags: number,
    durability: number,
    ifVersion: string | undefined,
    aside: string | undefined,
    cancel: CancelToken | undefined,
  ): Promise<Packed>;
  /** `files`, `directories`, `bytes`. */
  copyTree(
    from: string,
    to: string,
    flags: number,
    durability: number,
    cancel: CancelToken | undefined,
  ): Promise<Packed>;
  chmod(path: string, mode: number): Promise<void>;
  sweep(path: string): Promise<void>;
  symlink(target: string, path: string): Promise<void>;
  readLink(path: string): Promise<string>;
  realpath(path: string): Promise<string>;
}

/** A held lock. */
export interface NativeLock {
  release(): void;
}

/** A directory of lock files. */
export interface LocksBinding {
  /** The lock of a real path, or null while another holder has it. */
  tryLock(real: string): NativeLock | null;
}
