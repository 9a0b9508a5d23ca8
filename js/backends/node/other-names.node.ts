/**
 * Other names (hard links) of files that the rules hide, on the disk without the native addon: what
 * `crates/fs/src/root/other_names.rs` does for the disk with it, which describes the method and its limits.
 *
 * A file with several names is checked before it is read, or after it was read and before its content is returned.
 */
import type { Files } from "../files.ts";
import { Yielder } from "../../engine/yielder.ts";
import type { FsEntry, FsStat } from "../backend.ts";
import { compilePathRules, type BackendPathRules } from "../confined/rules.ts";
import { backendError } from "../failure.ts";
import { lstatOrNull } from "../fallback/fallback.ts";
import { isWithin, parentOf } from "../paths.ts";
import type { SandboxPolicy } from "../policy.ts";

/** The maximum number of entries that are looked through. Beyond it, a file with several names counts as hidden. */
const MAX_ENTRIES = 2_000_000;
/** A walk is used for at least this many milliseconds, and at most for this many times its own duration. */
const [MIN_AGE_MS, MAX_AGE_FACTOR] = [1000, 20];
/** The milliseconds by which a change time can be older than the change. */
const CLOCK_TICK_MS = 20;

/** A name of a file. */
interface FoundName {
  readonly path: string;
  readonly denied: boolean;
}

/** The files that one walk has found, by their ids. */
interface FoundNames {
  /** When the walk began, in milliseconds since 1970, and how long it took. */
  readonly began: number;
  readonly took: number;
  readonly names: ReadonlyMap<string, readonly FoundName[]>;
  /** False when there are too many entries. */
  readonly complete: boolean;
}

/** Which files a walk collects: those with a name that the rules hide, by these names, or those with several names. */
type Wanted = "hidden" | "linked";

/** Where the names of files are looked for, and the rules for them. */
interface WalkedPlaces {
  /** The real paths of the outermost roots, without `/`. */
  readonly roots: readonly string[];
  readonly rules: BackendPathRules;
}

/** The names of the files of one disk, under one policy. */
export class OtherNames {
  /** The real paths of the secrets that may be read. */
  granted: readonly string[] = [];
  readonly #disk: Files;
  readonly #policy: SandboxPolicy;
  #opened: Promise<WalkedPlaces> | undefined;
  readonly #kept = new Map<Wanted, FoundNames>();
  readonly #walking = new Map<Wanted, Promise<FoundNames>>();

  constructor(disk: Files, policy: SandboxPolicy) {
    this.#disk = disk;
    this.#policy = policy;
  }

  /**
   * Refuses a file with another name that is denied, or a secret without a grant. `known` are its facts, where the caller
   * has them. @throws OUTSIDE_ALLOWED, GRANT_DENIED
   */
  async check(real: string, known?: FsStat): Promise<void> {
    if (!this.#hides) return;
    const stat = known ?? (await lstatOrNull(this.#disk, real));
    if (stat === null || !hasOtherNames(stat)) return;
    const { rules } = await this.#open();
    const { names, complete } = await this.#namesFor("hidden", stat);
    const hidden = names.get(stat.fileId as string) ?? [];
    const isSecret = this.#policy.secrets === "grant" && !rules.check(real).opened;
    const isDenied = hidden.some(({ denied, path }) => denied && path !== real);
    if (isDenied || (!complete && !isSecret)) {
      const message = "another name (a hard link) of the file is outside the allowed paths";
      throw backendError("OUTSIDE_ALLOWED", real, message, { details: { by: "link" } });
    }
    const isOpen = ({ path }: FoundName): boolean =>
      path === real || this.granted.some((one) => isWithin(path, one));
    if (!isSecret || (complete && (hidden.length === 0 || hidden.some(isOpen)))) return;
    const message = "it is a secret by another name (a hard link), and nobody has granted it";
    throw backendError("GRANT_DENIED", real, message, { details: { reason: "secret", by: "link" } });
  }

  /** Does what {@link OtherNames.check} does for a file that is moved: on another file system it becomes a copy. */
  async checkMove(from: string, to: string): Promise<void> {
    if (!this.#hides) return;
    const [source, target] = [await this.#device(from), await this.#device(parentOf(to))];
    if (source !== target) await this.check(from);
  }

  async #device(path: string): Promise<string | undefined> {
    return (await lstatOrNull(this.#disk, path))?.fileId?.split(".")[0];
  }

  /** Returns the other names of a file, given by its real path. @throws LIMIT_EXCEEDED */
  async of(real: string): Promise<readonly string[]> {
    const stat = await lstatOrNull(this.#disk, real);
    if (stat === null || !hasOtherNames(stat)) return [];
    const { names, complete } = await this.#namesFor("linked", stat);
    if (complete)
      return (names.get(stat.fileId as string) ?? []).map(({ path }) => path).filter((path) => path !== real);
    const message =
      "the file has several names, and there are too many entries below the roots to look for them";
    throw backendError("LIMIT_EXCEEDED", real, message);
  }

  get #hides(): boolean {
    return this.#policy.deny.length > 0 || this.#policy.secrets === "grant";
  }

  #open(): Promise<WalkedPlaces> {
    this.#opened ??= (async () => {
      const real = (paths: readonly string[]): Promise<readonly string[]> =>
        Promise.all(paths.map((path) => this.#disk.realpath(path)));
      const { cwd, read, write } = this.#policy;
      const pinned = {
        ...this.#policy,
        cwd: (await real([cwd]))[0] as string,
        read: read === null ? null : await real(read),
        write: await real(write),
      };
      const all = [...new Set([...(pinned.read ?? []), ...pinned.write])].filter((path) => path !== "/");
      const isInner = (path: string): boolean => all.some((one) => one !== path && isWithin(path, one));
      return { roots: all.filter((path) => !isInner(path)), rules: compilePathRules(pinned) };
    })();
    return this.#opened;
  }

  /** Returns the names of files, from the kept walk if it is valid for a file with these facts. */
  async #namesFor(wanted: Wanted, { ctime = 0 }: FsStat): Promise<FoundNames> {
    const kept = this.#kept.get(wanted);
    const now = Date.now();
    if (kept !== undefined) {
      const isRecent = now - kept.began < Math.max(MIN_AGE_MS, kept.took * MAX_AGE_FACTOR);
      // A time in the future says nothing: the clock was set back. `now` has whole milliseconds.
      if (isRecent && (ctime > now + CLOCK_TICK_MS || ctime < kept.began - CLOCK_TICK_MS)) return kept;
    }
    return this.#walk(wanted);
  }

  /** Walks the roots. A walk that has begun before this call serves only earlier calls. */
  async #walk(wanted: Wanted): Promise<FoundNames> {
    await this.#walking.get(wanted);
    const walking = this.#walking.get(wanted) ?? this.#findNames(wanted);
    this.#walking.set(wanted, walking);
    try {
      const found = await walking;
      this.#kept.set(wanted, found);
      return found;
    } finally {
      if (this.#walking.get(wanted) === walking) this.#walking.delete(wanted);
    }
  }

  async #findNames(wanted: Wanted): Promise<FoundNames> {
    const { roots, rules } = await this.#open();
    const began = Date.now();
    const names = new Map<string, FoundName[]>();
    const visit = async (path: string): Promise<void> => {
      const { denied, secret } = rules.checkOnce(path);
      if (wanted === "hidden" && !denied && !secret) return;
      const stat = await lstatOrNull(this.#disk, path);
      if (stat?.fileId === undefined || (wanted === "linked" && !hasOtherNames(stat))) return;
      names.set(stat.fileId, [...(names.get(stat.fileId) ?? []), { path, denied }]);
    };
    const complete = await this.#everyFile(roots, visit);
    return { began, took: Date.now() - began, names, complete };
  }

  /** Calls `visit` for each regular file below the roots. Returns false when there are too many entries. */
  async #everyFile(roots: readonly string[], visit: (path: string) => Promise<void>): Promise<boolean> {
    const yielder = new Yielder({});
    const waiting = [...roots];
    let left = MAX_ENTRIES;
    for (let directory = waiting.pop(); directory !== undefined; directory = waiting.pop()) {
      await yielder.yieldIfDue();
      const entries = await this.#entries(directory);
      left -= entries.length;
      if (left < 0) return false;
      for (const { path, type } of entries) {
        if (type === "dir") waiting.push(path);
        if (type !== "file") continue;
        await visit(path);
        await yielder.yieldIfDue();
      }
    }
    return true;
  }

  /** Returns the entries of a directory; none for one that cannot be listed. */
  async #entries(directory: string): Promise<readonly FsEntry[]> {
    try {
      return await this.#disk.listDir(directory, { facts: false });
    } catch {
      return [];
    }
  }
}

/** Returns true for a regular file with several names. */
function hasOtherNames({ isFile, nlink = 1, fileId }: FsStat): boolean {
  return isFile && nlink > 1 && fileId !== undefined;
}
