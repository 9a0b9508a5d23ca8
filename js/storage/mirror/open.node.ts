/** Opens the copy of a storage on this machine. One copy serves all workspaces on the storage in this process. */
import { FilewrightError } from "../../engine/errors.ts";
import { loadNative } from "../../engine/load.node.ts";
import type { StorageSearches } from "../search/searches.ts";
import type { Storage } from "../storage.ts";
import { DiskMirror } from "./mirror.node.ts";
import { type MirrorPlace, takePlace } from "./places.node.ts";

/** A copy that a workspace uses. */
export interface HeldMirror {
  /** Ends the use by this workspace; the last one closes the copy. */
  release(): Promise<void>;
}

interface SharedMirror {
  readonly mirror: Promise<DiskMirror>;
  users: number;
}

const mirrors = new WeakMap<Storage, SharedMirror>();

/** The kind and id of the record that names a workspace of a storage. */
const [RECORD_KIND, RECORD_ID] = ["filewright_mirror", "workspace"];

/** Returns why this machine has no copies of storages; undefined where it has. */
export function mirrorProblem(): string | undefined {
  if (process.platform === "win32") return "Windows cannot hold every name of a storage";
  const loaded = loadNative();
  return "binding" in loaded ? undefined : "the native addon does not load";
}

/**
 * Opens the copy of a storage below a state directory. It is filled when the storage is first searched.
 * @throws UNSUPPORTED_PLATFORM where this machine has no copies; IO_ERROR
 */
export async function openMirror(
  storage: Storage,
  searches: StorageSearches,
  stateDir: string,
  maxBytes: number,
): Promise<HeldMirror> {
  const problem = mirrorProblem();
  if (problem !== undefined)
    throw new FilewrightError("UNSUPPORTED_PLATFORM", `a mirror needs the native engine: ${problem}`);
  let shared = mirrors.get(storage);
  if (shared === undefined) {
    shared = { mirror: makeMirror(storage, searches, stateDir, maxBytes), users: 0 };
    mirrors.set(storage, shared);
  }
  const used = shared;
  used.users++;
  const release = async (): Promise<void> => {
    if (--used.users > 0) return;
    if (mirrors.get(storage) === used) mirrors.delete(storage);
    searches.use(undefined);
    await (await used.mirror).close();
  };
  try {
    searches.use(await used.mirror);
  } catch (error) {
    if (mirrors.get(storage) === used) mirrors.delete(storage);
    throw error;
  }
  let released: Promise<void> | undefined;
  return { release: () => (released ??= release()) };
}

async function makeMirror(
  storage: Storage,
  searches: StorageSearches,
  stateDir: string,
  maxBytes: number,
): Promise<DiskMirror> {
  const identity = await identityOf(storage);
  let mirror: DiskMirror | undefined;
  let place: MirrorPlace;
  try {
    place = takePlace(stateDir, identity, () => mirror?.evict() ?? false);
  } catch (cause) {
    if (cause instanceof FilewrightError) throw cause;
    throw new FilewrightError("IO_ERROR", "no directory for the mirror can be made in the stateDir", {
      cause,
    });
  }
  const fresh = () => searches.trees.fresh();
  const newest = () => searches.trees.last;
  mirror = new DiskMirror({ contents: searches.contents, fresh, newest, place, maxBytes });
  return mirror;
}

/**
 * Returns the name of a workspace of a storage, which is made by the first process that asks; undefined for a storage
 * without records. A fork has another one, because records are not inherited.
 */
async function identityOf({ records }: Storage): Promise<string | undefined> {
  if (records === undefined) return undefined;
  for (;;) {
    const known = await records.get(RECORD_KIND, RECORD_ID);
    if (typeof known?.value === "string") return known.value;
    try {
      const made = crypto.randomUUID();
      await records.put(RECORD_KIND, RECORD_ID, made, { expect: known?.rev ?? null });
      return made;
    } catch (error) {
      // Another process was faster.
      if (!(error instanceof FilewrightError) || error.code !== "CONFLICT") throw error;
    }
  }
}
