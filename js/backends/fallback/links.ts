/**
 * Path resolution as POSIX defines it, for storages that do not resolve links themselves. The only
 * walk over links in TypeScript; on a disk the native engine resolves with open directories.
 *
 * `LinkWalk` does no I/O: it names the next entry to look up, and is told what is there. So one walk
 * serves a storage in memory, one that answers with promises, and a policy that denies some
 * look-ups. It looks at every directory it passes, so a name after a file is NOT_DIRECTORY and `..`
 * after a missing name is NOT_FOUND, as the kernel answers; lexical normalisation would resolve both
 * to some other file.
 */
import { backendError } from "../failure.ts";
import { childOf, isLongName, normalise } from "../paths.ts";

/** The maximum number of links that one resolution follows, as on Linux. More fail with LOOP. */
const MAX_LINKS = 40;

/** An entry that was looked up: a link with its target, or any other type. */
export type FoundEntry =
  | { readonly type: "symlink"; readonly target: string }
  | {
      readonly type: "dir" | "file" | "other";
      /** The name under which the entry is stored, where the storage also finds it under others. */
      readonly name?: string | undefined;
    };

/** Returns a stored entry as one that was looked up. */
export function toFoundEntry({
  type,
  target = "",
}: {
  readonly type: string;
  readonly target?: string | undefined;
}): FoundEntry {
  if (type === "symlink") return { type, target };
  return { type: type === "dir" ? "dir" : "file" };
}

/**
 * The state of resolving one absolute path, which may contain `.`, `..` and a final slash.
 *
 * @example
 * const walk = new LinkWalk(path, true);
 * for (let name = walk.next(); name !== undefined; name = walk.next())
 *   walk.found(lookUp(childOf(walk.reached, name)));
 */
export class LinkWalk {
  /** The names resolved so far; at the end also the last entry, or the first missing name. */
  readonly names: string[] = [];
  /** The names after the first missing one, in order; undefined while nothing is missing. */
  beyond: readonly string[] | undefined;
  /** The name that {@link next} returned last. */
  #name = "";
  #links = 0;
  readonly #path: string;
  readonly #follow: boolean;
  /** The names that are not resolved yet, the last name first. */
  readonly #pending: string[];

  /**
   * @param follow true to follow a link that is the last name. A final slash or `.` after it follows it in any
   * case.
   */
  constructor(path: string, follow: boolean) {
    this.#path = path;
    this.#follow = follow;
    this.#pending = reversedNamesOf(path);
  }

  /** The path of {@link names}. */
  get reached(): string {
    return `/${this.names.join("/")}`;
  }

  /** True when nothing follows the name that is looked up, not even a final slash or `.`. */
  get isLast(): boolean {
    return this.#pending.length === 0;
  }

  /** Returns the next name to look up in {@link reached}, a directory; undefined at the end. */
  next(): string | undefined {
    if (this.beyond !== undefined) return undefined;
    for (let name = this.#pending.pop(); name !== undefined; name = this.#pending.pop()) {
      if (name === "..") this.names.pop();
      else if (name !== "." && name !== "") {
        this.#name = name;
        return name;
      }
    }
    return undefined;
  }

  /**
   * Continues with the entry of the last returned name; null when it does not exist.
   * @throws FilewrightError LOOP, NOT_DIRECTORY, NAME_TOO_LONG
   */
  found(entry: FoundEntry | null): void {
    if (isLongName(this.#name)) throw backendError("NAME_TOO_LONG", this.#path);
    if (entry === null) {
      this.names.push(this.#name);
      this.beyond = remainingNames(this.#pending);
      // With `..` after it the path is NOT_FOUND, which {@link LinkWalk.resolved} throws.
      if (!this.beyond.includes("..") && this.beyond.some(isLongName))
        throw backendError("NAME_TOO_LONG", this.#path);
    } else if (entry.type === "symlink" && (!this.isLast || this.#follow)) {
      this.#links += 1;
      if (this.#links > MAX_LINKS) throw backendError("LOOP", this.#path);
      if (entry.target.startsWith("/")) this.names.length = 0;
      this.#pending.push(...reversedNamesOf(entry.target));
    } else {
      if (!this.isLast && entry.type !== "dir") throw backendError("NOT_DIRECTORY", this.#path);
      this.names.push((entry.type === "symlink" ? undefined : entry.name) ?? this.#name);
    }
  }

  /**
   * Returns the resolved path, the missing names at its end included. `keepMissingDirectory` keeps a
   * missing end with a slash (`gone/`) too. @throws FilewrightError NOT_FOUND for `..` or a final `.`
   * after a missing name, and for a final slash unless it is kept
   */
  resolved(keepMissingDirectory: boolean): string {
    const { beyond } = this;
    if (beyond === undefined || beyond.length === 0) return this.reached;
    const ending = beyond.at(-1);
    const mustExist = ending === "." || (ending === "" && !keepMissingDirectory);
    if (beyond.includes("..") || mustExist) throw backendError("NOT_FOUND", this.#path);
    return normalise([this.reached, ...beyond].join("/")).path;
  }
}

/**
 * Returns the pending names in order. After a `.` from the target of a link, final slashes of other targets can
 * follow; they are left out, because `.` requires a directory already.
 */
function remainingNames(pending: readonly string[]): readonly string[] {
  const names = pending.toReversed();
  const last = names.findLastIndex((name) => name !== "");
  return names[last] === "." ? names.slice(0, last + 1) : names;
}

/** How a path is resolved, and how entries are looked up. */
export interface LinkResolution {
  /** True when a link that is the last name of the path is followed. */
  readonly follow: boolean;
  /**
   * Returns the entry at a path without following it: a link with its target, null where nothing exists. The parent
   * is already resolved to a real directory. `isLast`: no name follows in the path that is walked.
   */
  look(path: string, isLast: boolean): Promise<FoundEntry | null>;
  /**
   * With true, the missing end of a path that ends in a slash (`gone/`) is kept. Default: such a path is
   * NOT_FOUND.
   */
  readonly keepMissingDirectory?: boolean;
}

/**
 * Resolves the links of an absolute path. Missing names at its end are kept.
 *
 * @throws FilewrightError NOT_DIRECTORY, LOOP, NAME_TOO_LONG, NOT_FOUND as {@link LinkWalk.resolved}
 */
export async function resolveLinks(path: string, resolution: LinkResolution): Promise<string> {
  const { follow, look, keepMissingDirectory = false } = resolution;
  const walk = new LinkWalk(path, follow);
  for (let name = walk.next(); name !== undefined; name = walk.next()) {
    // No storage is asked for a name that none can have; `found` throws for it.
    walk.found(isLongName(name) ? null : await look(childOf(walk.reached, name), walk.isLast));
  }
  return walk.resolved(keepMissingDirectory);
}

/**
 * Returns the names of a path, the last one first. A final `.` is kept, and a final `/` as an empty name, because
 * both require a directory before them.
 */
function reversedNamesOf(path: string): string[] {
  const names: string[] = [];
  const parts = path.split("/");
  for (let at = parts.length - 1; at >= 0; at--) {
    const part = parts[at] as string;
    if ((part !== "" && part !== ".") || (at > 0 && at === parts.length - 1)) names.push(part);
  }
  return names;
}
