/** The options of a local backend and of its calls. */
import { choice, flag, type Options, options, text } from "../../schema/option.ts";
import { POLICY_OPTION } from "../option-schema.ts";
import type { Durability, WriteOptions } from "../backend.ts";
import {
  callChecks,
  type CallChecks,
  type FlushedMoveOptions,
  MOVE_ROWS,
  WRITE_ROWS,
} from "../call-options.ts";
import type { IndexUse } from "../../engine/search-types.ts";
import type { SandboxPolicy } from "../policy.ts";

/** The options of {@link LocalBackend}. */
export interface LocalOptions {
  /** The paths that may be read and changed; default: all. Enforced natively. */
  readonly policy?: SandboxPolicy | undefined;
  /**
   * The directory of lock files; default: the user's state directory. Share it between processes. If it
   * is given, indexes of large trees, and those made by `warm`, are saved there, too: the next process
   * only checks each file.
   */
  readonly stateDir?: string | undefined;
  /** The guarantee of writes, unless a call sets it: `none`, `atomic` (the default), or `durable`, which also flushes them. */
  readonly durability?: Durability | undefined;
  /**
   * How a write, copy or move treats an owner, extended attributes and hard links that it cannot preserve.
   * `possible`, the default, preserves as much as it can (other hard links keep the old content; a file of
   * another owner is written in place). `strict` throws UNSUPPORTED_OPERATION.
   */
  readonly preserve?: "possible" | "strict" | undefined;
  /**
   * Kernel confinement of the threads that access files: `prefer`, the default, uses it where the kernel can,
   * `require` throws where it cannot. Without a policy there is nothing to enforce.
   */
  readonly kernel?: "prefer" | "require" | "off" | undefined;
  /** The use of an index by searches that do not name one themselves. Default `auto`. */
  readonly index?: IndexUse | undefined;
  /**
   * How the native code resolves paths. `walk`, for tests, resolves them step by step even where the kernel
   * can do it at once. Default `auto`.
   */
  readonly resolver?: "auto" | "walk" | undefined;
}

/** The options of a local backend. */
export const LOCAL_OPTIONS: Options<LocalOptions> = options("LocalOptions", {
  policy: POLICY_OPTION,
  stateDir: text(),
  durability: choice("none", "atomic", "durable"),
  preserve: choice("possible", "strict"),
  kernel: choice("prefer", "require", "off"),
  index: choice("auto", "off", "anywhere", "strict"),
  resolver: choice("auto", "walk"),
});

/** How the files of a {@link LocalBackend} are protected. */
export interface LocalCapabilities {
  /** How paths are resolved: by the kernel beneath a descriptor, or by a walk of descriptors. */
  readonly resolver: "openat2" | "nofollow_any" | "walk";
  /** The reason why the kernel's resolution is not in use. */
  readonly reason?: string;
  /** The access that the kernel restricts for the threads that touch files. */
  readonly kernel: KernelEnforcement;
}

/** How much of a policy the kernel enforces. */
export interface KernelEnforcement {
  /** How far threads that touch files are restricted to the allowed files. */
  readonly files: "enforced" | "partial" | "none";
  /** The version of Landlock; 0 where there is none. */
  readonly landlock: number;
  /** The reason why the kernel enforces a policy only partly or not at all. */
  readonly reason?: string;
}

/** Options of a move or copy. */
export interface LocalTransferOptions extends FlushedMoveOptions {
  /**
   * With true, missing parent directories of a move's or copy's target are created, and removed again if it
   * fails.
   */
  readonly createDirs?: boolean | undefined;
}

/** Preconditions and properties of a write, and whether it appends. */
export interface LocalWriteOptions extends WriteOptions {
  /** With true, a write appends to the existing content of the file. Default false. */
  readonly append?: boolean | undefined;
}

/** The options of a write. */
export const LOCAL_WRITE_OPTIONS: Options<LocalWriteOptions> = options("LocalWriteOptions", {
  ...WRITE_ROWS,
  append: flag(),
});

/** The options of a move or copy. */
export const LOCAL_TRANSFER_OPTIONS: Options<LocalTransferOptions> = options("LocalTransferOptions", {
  ...MOVE_ROWS,
  createDirs: flag(),
});

/** The checks of the options of single calls. */
export const LOCAL_CALL_CHECKS: CallChecks = callChecks(
  "LocalBackend",
  LOCAL_WRITE_OPTIONS,
  LOCAL_TRANSFER_OPTIONS,
);
