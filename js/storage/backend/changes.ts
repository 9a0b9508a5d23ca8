/**
 * The changes of a backend over a storage. Each is planned on what was read and made by one commit, whose
 * conditions say what it was planned on. Where another writer was faster it is planned again, so that a version
 * that the caller expects is compared with what is there.
 */
import { FilewrightError } from "../../engine/errors.ts";
import type {
  DeleteOptions,
  MkdirOptions,
  MoveOptions,
  TreeCounts,
  WriteOptions,
  WriteResult,
} from "../../backends/backend.ts";
import { backendError, checkMode, checkSignal } from "../../backends/failure.ts";
import { checkTarget, parentOf } from "../../backends/paths.ts";
import {
  checkCopied,
  checkCopyTarget,
  checkMove,
  checkNew,
  checkParent,
  checkRemoval,
  checkReplaced,
  checkWrite,
} from "../../backends/tree/checks.ts";
import { toWriteResult } from "../../backends/tree/facts.ts";
import { storedContentOf } from "../staged/stored-content.ts";
import type { Committed, CommitOptions, Entry, Expect, Op } from "../storage.ts";
import type { Contention } from "./contention.ts";
import { assertFound, entriesBelow, look, lookAll, type StoredPlace, type StorageView } from "./look.ts";

/** How often a change is planned again when another writer was faster. */
const MAX_PLANS = 8;
/** How often a commit is tried when its answer was lost. */
const MAX_TRIES = 3;

/** A commit, and the path whose entry is the result. */
interface PlannedChange {
  readonly ops: readonly Op[];
  readonly expect: readonly Expect[];
}

/** Makes the changes of a backend as commits of a storage. */
export class StorageChanges {
  readonly #view: StorageView;

  readonly #contention: Contention;

  constructor(view: StorageView, contention: Contention) {
    this.#view = view;
    this.#contention = contention;
  }

  async write(path: string, content: Uint8Array, options: WriteOptions): Promise<WriteResult> {
    const { mode, hash, signal } = options;
    if (mode !== undefined) checkMode(path, mode);
    let real = path;
    const { entries } = await this.#change(signal, path, async () => {
      const place = await this.#writePlace(path, options);
      real = place.path;
      const stored = storedContentOf(content);
      const op: Op =
        stored === undefined
          ? { op: "put", path: real, body: content, mode, hash }
          : { op: "link", path: real, mode, ...stored };
      return { ops: [op], expect: conditionsOf(place, options) };
    });
    return resultAt(real, entries);
  }

  async remove(path: string, { ifVersion }: DeleteOptions): Promise<void> {
    await this.#change(undefined, path, async () => {
      const place = assertFound(await this.#entryAt(path), path);
      checkRemoval(place, ifVersion, path);
      return { ops: [{ op: "remove", path: place.path }], expect: [sameAs(place)] };
    });
  }

  async mkdir(path: string, { parents = true, existOk = true }: MkdirOptions): Promise<void> {
    await this.#change(undefined, path, async () => {
      const place = await this.#entryAt(path);
      if (place.found !== null) {
        if (existOk && (await this.#isDirectory(path, place))) return undefined;
        throw backendError("ALREADY_EXISTS", path);
      }
      if (!parents) checkParent(place, path);
      const expect = parents ? [sameAs(place)] : [sameAs(place), parentIsDir(place)];
      return { ops: [{ op: "mkdir", path: place.path }], expect };
    });
  }

  async rename(from: string, to: string, options: MoveOptions): Promise<WriteResult> {
    let real = to;
    const { entries } = await this.#change(undefined, from, async () => {
      const entry = { follow: false, bodies: false };
      const [first, target] = (await lookAll(
        this.#view,
        [
          [from, entry],
          [to, entry],
        ],
        { bodies: false },
      )) as [StoredPlace, StoredPlace];
      const source = assertFound(first, from);
      checkMove({ source, target }, options, { from, to });
      real = target.path;
      const removal: readonly Op[] = target.found === null ? [] : [{ op: "remove", path: real }];
      return {
        ops: [...removal, { op: "move", from: source.path, to: real }],
        expect: [sameAs(source), sameAs(target), parentIsDir(target)],
      };
    });
    return resultAt(real, entries);
  }

  async copyFile(from: string, to: string, options: MoveOptions): Promise<WriteResult> {
    let real = to;
    const { entries } = await this.#change(undefined, from, async () => {
      const source = assertFound(await look(this.#view, from, { follow: true, bodies: false }), from);
      checkCopied(source, options.ifVersion, from);
      checkReplaced(await this.#entryAt(to), options.overwrite, to);
      const target = await look(this.#view, to, { follow: true, bodies: false });
      checkCopyTarget(source, target, to);
      real = target.path;
      const { hash = "", size = 0, mode } = source.entry;
      return {
        ops: [{ op: "link", path: real, hash, size, mode }],
        expect: [sameAs(source), sameAs(target), parentIsDir(target)],
      };
    });
    return resultAt(real, entries);
  }

  async symlink(target: string, path: string): Promise<void> {
    checkTarget(target, path);
    await this.#change(undefined, path, async () => {
      const place = await this.#entryAt(path);
      checkNew(place, path);
      return {
        ops: [{ op: "symlink", path: place.path, target }],
        expect: [sameAs(place), parentIsDir(place)],
      };
    });
  }

  async chmod(path: string, mode: number): Promise<void> {
    checkMode(path, mode);
    await this.#change(undefined, path, async () => {
      const place = assertFound(await look(this.#view, path, { follow: true, bodies: false }), path);
      return { ops: [{ op: "chmod", path: place.path, mode }], expect: [sameAs(place)] };
    });
  }

  async removeTree(path: string, signal: AbortSignal | undefined): Promise<TreeCounts> {
    const counts = { files: 0, directories: 0, bytes: 0 };
    await this.#change(signal, path, async () => {
      const place = assertFound(await this.#entryAt(path), path);
      checkRemoval(place, undefined, path);
      Object.assign(counts, { files: 0, directories: 0, bytes: 0 });
      const count = ({ type, size = 0 }: Entry): void => {
        if (type === "dir") counts.directories++;
        else counts.files++;
        counts.bytes += size;
      };
      count(place.entry);
      for await (const entry of entriesBelow(this.#view, place.path, undefined, signal)) count(entry);
      return { ops: [{ op: "remove", path: place.path, tree: true }], expect: [sameAs(place)] };
    });
    return counts;
  }

  #entryAt(path: string): Promise<StoredPlace> {
    return look(this.#view, path, { follow: false, bodies: false });
  }

  async #isDirectory(path: string, place: StoredPlace): Promise<boolean> {
    if (place.entry?.type !== "symlink") return place.entry?.type === "dir";
    const end = await look(this.#view, path, { follow: true, bodies: false }).catch(() => null);
    return end?.entry?.type === "dir";
  }

  /** Returns the file to write, or the place of a new one, after every check but those of the commit. */
  async #writePlace(path: string, options: WriteOptions): Promise<StoredPlace> {
    const { ifAbsent, signal } = options;
    if (ifAbsent === true && (await this.#entryAt(path)).found !== null)
      throw backendError("ALREADY_EXISTS", path);
    const place = await look(this.#view, path, { follow: true, bodies: false, signal });
    checkWrite(place, options, path);
    return place;
  }

  /** Plans a change and commits it, again where another writer was faster. A plan of nothing is done. */
  async #change(
    signal: AbortSignal | undefined,
    path: string,
    plan: () => Promise<PlannedChange | undefined>,
  ): Promise<Pick<Committed, "entries">> {
    for (let attempt = 1; ; attempt++) {
      checkSignal(signal, path);
      try {
        const planned = await plan();
        if (planned === undefined) return { entries: [] };
        return await commitSurely(this.#view, planned.ops, { expect: planned.expect, signal });
      } catch (error) {
        if (!(error instanceof FilewrightError)) throw error;
        if (error.code === "CONFLICT") this.#contention.note(path);
        // A plan that finds another version than the caller expects is final.
        const isStale = error.code === "CONFLICT" && error.details?.["conflicts"] !== undefined;
        if (!isStale || attempt === MAX_PLANS) throw backendErrorFor(error, path);
      }
    }
  }
}

/** Commits, and repeats a commit whose answer was lost with the same key: at most three tries. */
export async function commitSurely(
  view: Pick<StorageView, "commit">,
  ops: readonly Op[],
  options: CommitOptions,
): Promise<Committed> {
  const key = options.key ?? crypto.randomUUID();
  for (let attempt = 1; ; attempt++) {
    try {
      return await view.commit(ops, { ...options, key });
    } catch (error) {
      const isLost =
        error instanceof FilewrightError &&
        error.code === "IO_ERROR" &&
        error.details?.["outcome"] === "unknown";
      if (!isLost || attempt === MAX_TRIES) throw error;
    }
  }
}

/** Returns the error of a storage under the path that the caller knows. */
function backendErrorFor(
  { code, message, hint, details, cause }: FilewrightError,
  path: string,
): FilewrightError {
  return backendError(code, path, message, { hint, details, cause });
}

/** Returns the result of a change for the path that it wrote. */
function resultAt(path: string, entries: readonly Entry[]): WriteResult {
  return toWriteResult(entries.find((entry) => entry.path === path));
}

function sameAs({ path, entry }: StoredPlace): Expect {
  return { path, version: entry?.version ?? null };
}

function parentIsDir({ path }: StoredPlace): Expect {
  return { path: parentOf(path), type: "dir" };
}

/** Returns the conditions of a write: without `ifVersion` another writer's content may be replaced. */
function conditionsOf(place: StoredPlace, { ifVersion, createDirs }: WriteOptions): readonly Expect[] {
  const parent = createDirs === true ? [] : [parentIsDir(place)];
  if (place.found === null || ifVersion !== undefined) return [sameAs(place), ...parent];
  return [{ path: place.path, type: "file" }, ...parent];
}
