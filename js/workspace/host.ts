/**
 * The services that the host provides to a workspace: a local disk, or none.
 *
 * The Node entry registers them, so that this folder does not depend on Node.
 */
import { shortcutsOf } from "../backends/abilities.ts";
import { sharedObjectOf } from "../backends/host-files.ts";
import type { Files } from "../backends/files.ts";
import type { IndexUse } from "../engine/search-types.ts";
import type { CommandOptions } from "../backends/option-schema.ts";
import type { CommandPolicy, SandboxProvider } from "../backends/sandbox/sandbox.ts";
import type { Durability, FsBackend } from "../backends/backend.ts";
import type { StateDirectory } from "../backends/state-directory.ts";
import { FilewrightError } from "../engine/errors.ts";
import type { ApprovalPlace } from "../hooks/approvals.ts";
import type { JournalStore, RecordFiles } from "../log/index.ts";
import { type PathLocker, makePathLocker, type TakeRoom } from "../backends/path-locker.ts";
import type { ReadPlace } from "../pipeline/past/reads-records.ts";
import type { KeptRecords } from "../records/records.ts";
import type { StorageSearches } from "../storage/search/searches.ts";
import type { Storage } from "../storage/storage.ts";

/** The settings of a local backend. */
interface LocalSettings {
  readonly stateDir?: string | undefined;
  readonly durability: Durability;
  readonly preserve: "possible" | "strict";
  readonly kernel: "prefer" | "require" | "off";
  readonly engine: "auto" | "native";
  readonly index: IndexUse;
}

/** The protection of the files on a local disk. */
export interface LocalFacts {
  /** How paths are resolved, such as `openat2`. */
  readonly resolver: string;
  /** The reason why paths are not resolved in a better way. */
  readonly reason?: string;
  /** The restrictions that the kernel enforces on the threads that touch files. */
  readonly kernel: {
    /** How far the kernel restricts them to the files that the workspace allows. */
    readonly files: "enforced" | "partial" | "none";
    /** The reason why the kernel's restriction is not stronger. */
    readonly reason?: string;
  };
}

/** A local disk, with facts about its protection. */
export interface LocalStorage extends Files {
  capabilities(): LocalFacts;
}

/** Creates the sandbox for commands. @throws FilewrightError SANDBOX_SETUP_FAILED */
type OpenCommands = (options: CommandOptions, policy: CommandPolicy) => SandboxProvider;

/** The copies of storages on the disk of the host. */
export interface MirrorHost {
  /** Returns why this machine has no copies; undefined where it has. */
  problem(): string | undefined;
  /** Opens the copy of a storage below a state directory. */
  open(
    storage: Storage,
    searches: StorageSearches,
    stateDir: string,
    maxBytes: number,
  ): Promise<{ release(): Promise<void> }>;
}

/** A journal that all workspaces of a process with the same state directory share. */
interface SharedJournal extends JournalStore, RecordFiles {
  /** Notes for each of several directories that they have one history: that of the first. */
  share(roots: readonly string[]): void;
  /** Counts a workspace. Returns the function that ends its use: without one, nothing of the journal stays open. */
  use(): () => void;
}

/** The local disk of the host, and the services that depend on it. */
export interface LocalHost {
  /** Opens the disk without confinement, which is used only to resolve roots. */
  open(settings: LocalSettings): Promise<LocalStorage>;
  /** Opens a file of grants. @throws FilewrightError INVALID_ARGUMENT when it cannot be trusted */
  grants(
    file: string,
    stateDir: string | undefined,
  ): Promise<{ readonly file: string; readonly records: KeptRecords }>;
  /** Returns true when a backend is the local disk, so that its paths name files of this machine. */
  isDisk(backend: FsBackend): boolean;
  /** Returns true when a local disk checks paths before it uses them, because the native addon does not load. */
  isChecked(backend: Files): boolean;
  /** Returns the journal store in a state directory. */
  journal(stateDir: string): SharedJournal;
  /**
   * Opens the directory for private files, by default that of the user.
   * @throws FilewrightError when `given` cannot be written
   */
  stateDir(given: string | undefined): StateDirectory;
  /** Returns the paths of the directories that can be the default one of the user. */
  defaultStateDirs(): readonly string[];
  /** Loads the function that creates the sandbox for commands. */
  commands(): Promise<OpenCommands>;
  /** Returns the directory at which relative roots begin. */
  cwd(): string;
  /** Returns the user's home directory, if there is one. */
  home?(): string | undefined;
  /** Returns the environment variables of the process. */
  environment?(): Readonly<Record<string, string | undefined>>;
  /** Returns the records of reads in a state directory. */
  reads?(stateDir: string): ReadPlace;
  /** Returns the kept approvals of a workspace in a state directory. */
  approvals?(stateDir: string, name: string): ApprovalPlace;
  /** Waits until the process has descriptors for one more change; undefined where it always has. */
  readonly takeRoom?: TakeRoom | undefined;
  /** Loads what keeps copies of storages on the disk. */
  mirrors?(): Promise<MirrorHost>;
}

let currentHost: LocalHost | undefined;

/** Registers the local disk for {@link requireLocalHost}. */
export function setLocalHost(next: LocalHost): void {
  currentHost = next;
  diskLocker = makePathLocker(next.takeRoom);
}

/** Returns the host's local disk. @throws FilewrightError UNSUPPORTED_PLATFORM */
export function requireLocalHost(): LocalHost {
  if (currentHost !== undefined) return currentHost;
  throw new FilewrightError(
    "UNSUPPORTED_PLATFORM",
    "There is no local disk here; pass a backend, such as new MemoryBackend().",
  );
}

/** Returns the copies of storages on the host's disk; undefined where there is none. */
export async function mirrorsOfHost(): Promise<MirrorHost | undefined> {
  return currentHost?.mirrors?.();
}

/** Returns true when a backend is the host's local disk. */
export function isLocalDisk(backend: FsBackend): boolean {
  return currentHost?.isDisk(backend) === true;
}

/** Returns whether a backend resolves and opens in one step, or checks paths before it uses them. */
export function confinementOf(backend: Files): "native" | "checked" {
  return shortcutsOf(backend).confine === undefined || currentHost?.isChecked(backend) === true
    ? "checked"
    : "native";
}

/** Returns the user's home directory, if the host has one. */
export function homeOfHost(): string | undefined {
  return currentHost?.home?.();
}

/** The lock queue of this process for the local disk, made with its host. */
let diskLocker: PathLocker = makePathLocker();
const lockerByObject = new WeakMap<object, PathLocker>();

/** Returns the queue of a backend: one for the local disk, and one for each other storage. */
export function lockerOfBackend(backend: Files, local: boolean): PathLocker {
  if (local) return diskLocker;
  const shared = sharedObjectOf(backend);
  let locker = lockerByObject.get(shared);
  if (locker === undefined) {
    locker = makePathLocker();
    lockerByObject.set(shared, locker);
  }
  return locker;
}
