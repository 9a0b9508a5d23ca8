/** The options of a local backend and of its calls. */
import { choice, type Options, options, text } from "../../schema/option.ts";
import { POLICY_OPTION } from "../option-schema.ts";
import type { Durability, MoveOptions, WriteOptions } from "../backend.ts";
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
   * How a write, copy or move treats owner, extended attributes and hard links that it cannot preserve: `possible`
   * preserves as much as it can (other hard links keep the old content; a file of another owner is written in place),
   * `strict` throws UNSUPPORTED_OPERATION. Default `possible`.
   */
  readonly preserve?: "possible" | "strict" | undefined;
  /**
   * Kernel confinement of the threads that access files: `prefer`, the default, uses it where the kernel can,
   * `require` throws where it cannot. Without a policy there is nothing to enforce.
   */
  readonly kernel?: "prefer" | "require" | "off" | undefined;
  /** The use of an index by searches that do not set it; default `auto`. */
  readonly index?: IndexUse | undefined;
  /** `walk` resolves paths step by step even where the kernel can do it at once: for tests. */
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
  /** The reason when it is less than `enforced`. */
  readonly reason?: string;
}

/** The signal that cancels a call. */
export interface Signalled {
  readonly signal?: AbortSignal | undefined;
}

/** Options of a move or copy. */
export interface LocalTransferOptions extends Signalled, MoveOptions {
  /** Make missing parent directories of the destination; removed again if the call fails. */
  readonly createDirs?: boolean | undefined;
  readonly durability?: Durability | undefined;
}

/** Preconditions and properties of a write, and whether it appends. */
export interface LocalWriteOptions extends WriteOptions {
  /** Keep the existing content and append to it. Default false. */
  readonly append?: boolean | undefined;
}
