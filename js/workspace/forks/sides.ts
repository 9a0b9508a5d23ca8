/**
 * The three sides of a merge of an overlay into its lower backend: the first state of each changed path, its state below
 * and its state here. The plan of the merge is that of the storages.
 */
import { concurrentGroups } from "../../backends/concurrent.ts";
import { type DraftState, givenMode, type Known, nodeOf } from "../../backends/overlay/draft.ts";
import { nullIfKept, type OverlayLayer } from "../../backends/overlay/overlay-layer.ts";
import { FilewrightError } from "../../engine/errors.ts";
import { EMPTY_BYTES } from "../../engine/wire/bytes.ts";
import { withoutUndefined } from "../../schema/without-undefined.ts";
import type { MergeSide, MergeSides } from "../../storage/merge.ts";
import type { Entry } from "../../storage/storage.ts";

const MODE_MASK = 0o7777;
/** Stands for a content that may not be read: it is no text. */
const UNREADABLE_BYTES: Uint8Array = new Uint8Array(1);

/** Returns the paths that may differ from what they were at one moment of an overlay, and their three sides. */
export function sidesOf(
  layer: OverlayLayer,
  state: DraftState,
): { readonly paths: readonly string[]; readonly sides: MergeSides } {
  const { lower } = layer;
  const removed = removedTrees(state);
  const entry = (path: string, known: Known): Entry | null => {
    // The modes of directories count only where the overlay has changed them: new ones get those of the system.
    const isCounted = known?.type !== "dir" || givenMode(state.get(path)) !== undefined;
    const hasMode = lower.abilities.modes && isCounted;
    return known && entryOf(path, known, hasMode);
  };
  const base = async (path: string): Promise<Entry | null> => {
    const was = state.get(path)?.was;
    return was === undefined ? (removed.get(path) ?? null) : entry(path, was);
  };
  const ours = async (path: string): Promise<Entry | null> => {
    const stat = removed.get(path)?.type === "file" ? await layer.below(path).catch(nullIfOutside) : null;
    if (stat !== null && stat.type !== "dir") return unreadFile(path, `${stat.size}:${stat.mtime}`);
    return entry(path, await layer.lookBelow(path, state.get(path)?.was).catch(nullIfOutside));
  };
  const theirs = async (path: string): Promise<Entry | null> => {
    const changed = state.get(path);
    return changed === undefined ? null : entry(path, await layer.shown(changed));
  };
  const baseBody = async (path: string): Promise<Uint8Array> => {
    const was = state.get(path)?.was;
    return (was?.type === "file" ? was.bytes : null) ?? EMPTY_BYTES;
  };
  const ourBody = async (path: string): Promise<Uint8Array> => {
    const found = await lower.read(path).catch(nullIfKept);
    // What may not be read is merged as one content.
    return found?.bytes ?? UNREADABLE_BYTES;
  };
  const theirBody = async (path: string): Promise<Uint8Array> => {
    const now = state.get(path)?.now;
    return now?.type === "file" ? layer.content(now) : EMPTY_BYTES;
  };
  const children = async (path: string): Promise<readonly string[]> =>
    (await lower.listDir(path)).map((one) => one.path);
  return {
    paths: [...new Set([...state.keys(), ...removed.keys()])],
    sides: {
      base: sideOf(base, baseBody),
      ours: { ...sideOf(ours, ourBody), children },
      theirs: sideOf(theirs, theirBody),
    },
  };
}

function sideOf(
  entry: (path: string) => Promise<Entry | null>,
  body: (path: string) => Promise<Uint8Array>,
): MergeSide {
  return {
    entries: (paths) => mapInOrder(paths, entry),
    bodies: (paths) => mapInOrder(paths, body),
  };
}

/** Returns what was below removed directories and was not changed before. Its contents were not read. */
function removedTrees(state: DraftState): ReadonlyMap<string, Entry> {
  const found = new Map<string, Entry>();
  for (const changed of state.values()) {
    const { was } = changed;
    if (was?.type !== "dir" || nodeOf(changed) === undefined) continue;
    for (const path of was.tree.directories) found.set(path, { path, type: "dir", version: "" });
    for (const [path, sign] of was.tree.files) found.set(path, unreadFile(path, sign));
  }
  for (const path of state.keys()) found.delete(path);
  return found;
}

/** A file of a removed directory, whose content was not read: size and time stand for its hash. It has no version. */
function unreadFile(path: string, sign: string): Entry {
  return { path, type: "file", version: "", hash: `unread ${sign}` };
}

function entryOf(path: string, known: NonNullable<Known>, hasMode: boolean): Entry {
  const { type, size, target } = known.stat;
  const mode = known.stat.mode === undefined || !hasMode ? undefined : known.stat.mode & MODE_MASK;
  if (known.type === "dir") return withoutUndefined({ path, type: "dir", version: "", mode });
  const { version } = known;
  if (known.type === "file")
    return withoutUndefined({ path, type: "file", version, size, mode, hash: known.hash });
  // What is neither file, directory nor link can be neither taken nor merged.
  return type === "symlink" ? { path, type, version, target: target ?? "" } : { path, type: "gone", version };
}

/** Directories above a root may not be read; they are there, and no links. */
function nullIfOutside(error: unknown): null {
  if (error instanceof FilewrightError && error.code === "OUTSIDE_ALLOWED") return null;
  throw error;
}

async function mapInOrder<T>(paths: readonly string[], read: (path: string) => Promise<T>): Promise<T[]> {
  const found: T[] = [];
  for (const group of concurrentGroups(paths)) found.push(...(await Promise.all(group.map(read))));
  return found;
}
