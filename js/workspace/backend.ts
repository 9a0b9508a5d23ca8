/** Opens the files of a workspace before anything confines them: the local disk, a storage, or a backend of the host. */
import { lazily } from "../engine/lazy.ts";
import type { FsBackend } from "../backends/backend.ts";
import { asFiles } from "../backends/host-files.ts";
import type { Files } from "../backends/files.ts";
import type { SandboxPolicy } from "../backends/policy.ts";
import type { StateDirectory } from "../backends/state-directory.ts";
import { type JournalStore, type LogOptions, MemoryJournal } from "../log/index.ts";
import type { CheckedOptions } from "./check.ts";
import { isLocalDisk, type LocalStorage, requireLocalHost } from "./host.ts";
import type { MadeParts } from "./made.ts";
import type { WorkspaceOptions } from "./options.ts";
import type { OpenedStorage } from "./storage.ts";

/** Loads what a workspace over a storage has besides its files. */
export const loadStorages: () => Promise<typeof import("./storage.ts")> = lazily(
  "storages",
  () => import("./storage.ts"),
);

/** The opened files of a workspace. */
export interface OpenedBackend {
  /** The options. Where they name a storage, `backend` is the one that all workspaces on it share. */
  readonly given: CheckedOptions;
  /** Undefined without the option `storage`. */
  readonly shared: OpenedStorage | undefined;
  /** The local disk, which this workspace closes; undefined for a backend of the host. */
  readonly disk: LocalStorage | undefined;
  /** The files, not confined. */
  readonly storage: Files;
  /** True where they are the local disk. */
  readonly local: boolean;
  /** Undefined for a workspace that keeps nothing on the disk. */
  readonly state: StateDirectory | undefined;
}

/** Opens the files. @throws FilewrightError UNSUPPORTED_PLATFORM and others */
export async function openFiles(checked: CheckedOptions, made: MadeParts): Promise<OpenedBackend> {
  const shared =
    checked.storage === undefined ? undefined : await (await loadStorages()).openStorage(checked.storage);
  const given = shared === undefined ? checked : { ...checked, backend: shared.backend };
  const disk = given.backend === undefined ? await openDisk(given) : undefined;
  made.add(() => disk?.close());
  const local = disk !== undefined;
  const state = stateDirectoryOf(given, local);
  return { given, shared, disk, storage: disk ?? asFiles(given.backend as FsBackend), local, state };
}

function openDisk({
  stateDir,
  durability,
  preserve,
  kernel,
  engine,
  index,
}: CheckedOptions): Promise<LocalStorage> {
  return requireLocalHost().open({
    stateDir,
    durability: durability ?? "atomic",
    preserve: preserve ?? "possible",
    kernel: kernel ?? "prefer",
    engine: engine ?? "auto",
    index: index ?? "auto",
  });
}

/**
 * Returns the state directory; undefined for a workspace that keeps nothing on the disk.
 * @throws FilewrightError when the host named one that cannot be written
 */
function stateDirectoryOf(
  { backend, backendId, stateDir, journal }: WorkspaceOptions,
  local: boolean,
): StateDirectory | undefined {
  // A journal of the host needs no place on the disk.
  const isNamed = backendId !== undefined && journal === undefined;
  const isKept = local || (isLocalDisk(backend as FsBackend) ? stateDir !== undefined : isNamed);
  return isKept ? requireLocalHost().stateDir(stateDir) : undefined;
}

/**
 * Returns the place of the journal. The paths of a `LocalBackend` identify its files on the disk, and so
 * its journal. The paths of another backend identify nothing without a name for the storage.
 */
export function journalPlaceOf(
  { given: { backend, backendId, journal, history }, state }: OpenedBackend,
  { cwd, write, readOnly }: SandboxPolicy,
  made: MadeParts,
): Pick<LogOptions, "store" | "files" | "storage"> {
  if (journal === undefined && state === undefined) return { store: new MemoryJournal() };
  const shared =
    journal === undefined ? requireLocalHost().journal((state as StateDirectory).path) : undefined;
  const place = { store: shared ?? (journal as JournalStore), files: shared };
  if (shared !== undefined) made.add(shared.use());
  const isDisk = backend === undefined || isLocalDisk(backend);
  const others = write.filter((root) => root !== cwd);
  if (isDisk && history !== false && !readOnly && write.includes(cwd) && others.length > 0)
    shared?.share([cwd, ...others]);
  return isDisk ? place : { ...place, storage: `backend ${backendId}` };
}

/** Returns true for a workspace whose history is kept by its own journal, whatever its storage keeps. */
export function keepsOwnJournal({ journal, history }: Pick<CheckedOptions, "journal" | "history">): boolean {
  return journal !== undefined || history === false;
}

/** Returns where the changes of a workspace are recorded. */
export function journalKindOf({
  given,
  shared,
  state,
}: OpenedBackend): "disk" | "memory" | "host" | "storage" {
  if (given.journal !== undefined) return "host";
  if (shared?.facts.history === true && !keepsOwnJournal(given)) return "storage";
  return state === undefined ? "memory" : "disk";
}
