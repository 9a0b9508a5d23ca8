/**
 * What the host offers a workspace: a local disk, or none.
 *
 * Set once by the Node entry, so that this room needs no Node.
 */
import type { IndexUse } from "../engine/search-types.ts";
import type { GrantStore, SandboxPolicy } from "../access/index.ts";
import type { CommandOptions } from "../backends/command-options.ts";
import type { CommandPolicy, SandboxProvider } from "../backends/sandbox.ts";
import type { Durability, FsBackend } from "../backends/backend.ts";
import { FilewrightError } from "../engine/errors.ts";
import type { JournalStore } from "../journal/index.ts";
import { type Locker, makeLocker } from "./locks.ts";
import type { ReadStore } from "./reads.ts";

/** What a local backend is told. */
export interface LocalSettings {
  readonly stateDir?: string | undefined;
  readonly durability: Durability;
  readonly preserve: "possible" | "strict";
  readonly kernel: "prefer" | "require" | "off";
  readonly index: IndexUse;
}

/** What protects the files of a local disk. */
export interface LocalFacts {
  /** How paths are resolved, such as by one call of the kernel. */
  readonly resolver: string;
  /** Why not in a better way. */
  readonly reason?: string;
  /** What the kernel enforces on the threads that touch files. */
  readonly kernel: {
    /** Whether they are kept to the files that the workspace allows. */
    readonly files: "enforced" | "partial" | "none";
    /** Why it is not more. */
    readonly reason?: string;
  };
}

/** A local disk, and how it resolves paths. */
export interface LocalStorage extends FsBackend {
  capabilities(): LocalFacts;
  confine?(policy: SandboxPolicy): FsBackend & { capabilities(): LocalFacts };
}

/** A local disk of the host. */
export interface LocalHost {
  /** The disk, not yet confined: only roots are resolved with it. */
  open(settings: LocalSettings): LocalStorage;
  /** Grants in a file. @throws FilewrightError INVALID_ARGUMENT where it cannot be trusted */
  grants(file: string, stateDir: string | undefined): Promise<GrantStore & { readonly file: string }>;
  /** Whether a backend is the local disk, so that its paths name files of this machine. */
  isDisk(backend: FsBackend): boolean;
  /** Where changes are recorded. */
  journal(stateDir: string | undefined): JournalStore;
  /** Where private files are kept: absolute. */
  stateDir(given: string | undefined): string;
  /** The sandbox for commands. @throws FilewrightError SANDBOX_SETUP_FAILED */
  commands(options: CommandOptions, policy: CommandPolicy): SandboxProvider;
  /** What a relative root is relative to. */
  cwd(): string;
  /** The user's home directory. */
  home?(): string;
  /** The environment variables of the process. */
  environment?(): Readonly<Record<string, string | undefined>>;
  /** Keeps what was read in a state directory. */
  reads?(stateDir: string): ReadStore;
}

let host: LocalHost | undefined;

/** Makes a local disk available to {@link localHost}. */
export function setLocalHost(next: LocalHost): void {
  host = next;
}

/** The host's local disk. @throws FilewrightError UNSUPPORTED_PLATFORM */
export function localHost(): LocalHost {
  if (host !== undefined) return host;
  throw new FilewrightError(
    "UNSUPPORTED_PLATFORM",
    "There is no local disk here; pass a backend, such as new MemoryBackend().",
  );
}

/** Whether a backend is the host's local disk. */
export function isDisk(backend: FsBackend): boolean {
  return host?.isDisk(backend) === true;
}

/** The user's home directory, where the host has one. */
export function homeOfHost(): string | undefined {
  return host?.home?.();
}

/** Whoever writes to the local disk in this process waits in one queue. */
const localLocker = makeLocker();
const lockers = new WeakMap<FsBackend, Locker>();

/** The queue of a backend: one for the local disk, one for each other storage. */
export function lockerOf(backend: FsBackend, local: boolean): Locker {
  if (local) return localLocker;
  let locker = lockers.get(backend);
  if (locker === undefined) {
    locker = makeLocker();
    lockers.set(backend, locker);
  }
  return locker;
}
