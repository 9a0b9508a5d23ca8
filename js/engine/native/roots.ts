/**
 * The native addon's functions on the disk: sets of roots, and locks. WebAssembly has no
 * counterpart.
 *
 * Paths are absolute, in the form of `crates/core/src/text/path.rs`; a negative number means "not
 * given". Errors are those of `errors.ts`.
 */
import type { ReadRoots } from "../read.ts";
import type { CancelToken } from "../cancellable.ts";
import type { NativeSearch } from "./tree-search.ts";
import type { Packed } from "../wire/unpack.ts";

export type { CancelToken };

/** Content with packed facts; `bytes` is absent when the version is unchanged. */
interface PackedContent extends Packed {
  readonly bytes?: Uint8Array | null;
}

/** A set of roots, as `crates/node/src/root.rs` exports it. */
export interface RootsBinding extends NativeSearch, ReadRoots {
  capabilities(): string;
  /** Allows reading the content of exactly these secrets. Replaces the previous list. */
  grantSecrets(paths: string[]): void;
  /** Releases all resources at once; later calls fail with UNSUPPORTED_OPERATION. */
  close(): void;
  /** Returns the same roots for the host's own reads: secrets are ordinary files. */
  withoutSecretFilter(): RootsBinding;
  /** Returns the kernel's enforcement, the version of Landlock and the reason, a line each. */
  enforcement(): string;
  exists(path: string): Promise<boolean>;
  existsSync(path: string): boolean;
  /** Returns facts, then the target of a link. */
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
  /** Returns facts, then the hash. */
  hashFile(path: string, cancel: CancelToken | undefined): Promise<Packed>;
  /** Returns facts, then `created`, `otherNames`, `inPlace`. */
  writeBytes(
    path: string,
    bytes: Uint8Array,
    ifVersion: string | undefined,
    flags: number,
    mode: number,
    durability: number,
    /** The name to which a replaced file is renamed, from `asideName`. */
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
  /** Returns `total`, `more`, the number of entries, then each entry. */
  listDir(
    path: string,
    facts: boolean,
    limit: number,
    after: string | undefined,
    afterDir: boolean,
    cancel: CancelToken | undefined,
  ): Promise<Packed>;
  listDirSync(path: string, facts: boolean): Packed;
  /** Returns `total`, the number of entries, then each entry. */
  listTree(path: string, options: string, cancel: CancelToken | undefined): Promise<Packed>;
  mkdir(path: string, parents: boolean, existOk: boolean): Promise<boolean>;
  mkdirSync(path: string, parents: boolean, existOk: boolean): boolean;
  delete(path: string, ifVersion: string | undefined, aside: string | undefined): Promise<void>;
  deleteSync(path: string): void;
  /** Returns `files`, `directories`, `bytes`. */
  removeTree(path: string, aside: string | undefined, cancel: CancelToken | undefined): Promise<Packed>;
  /** Returns the version of the entry under its new name, when known. */
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
  /** Returns `files`, `directories`, `bytes`. */
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
  /** Returns the lock of a real path, or null while another process holds it. */
  tryLock(real: string): NativeLock | null;
}
