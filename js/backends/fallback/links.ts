/**
 * Path resolution as POSIX defines it, for storages that do not resolve links themselves. The only
 * walk over links in TypeScript; on a disk the native engine walks descriptors.
 *
 * `LinkWalk` does no I/O: it names the next entry to look at, and is told what is there. So one walk
 * serves a storage in memory, one that is asked over promises, and a policy that refuses some looks.
 * It looks at every directory it passes, so a name after a file is NOT_DIRECTORY and `..` after a
 * missing name is NOT_FOUND, as the kernel answers; text alone would resolve both to some other file.
 */
import { failure } from "../failure.ts";
import { childOf, isLongName, normalise } from "../paths.ts";

/** The maximum number of links that one resolution follows, as on Linux. One more is LOOP. */
const MAX_LINKS = 40;

/** The entry at a path: a link with its target, or any other type. */
export type Step =
  | { readonly type: "symlink"; readonly target: string }
  | { readonly type: "dir" | "file" | "other" };

/**
 * The state of resolving one absolute path.
 *
 * @example
 * const walk = new LinkWalk(path, true);
 * for (let name = walk.next(); name !== undefined; name = walk.next()) walk.answer(look(walk.at(name)));
 */
export class LinkWalk {
  /** The names of the real directory that was reached. */
  readonly names: string[] = [];
  /** The names after the missing one, in order; undefined while nothing is missing. */
  beyond: readonly string[] | undefined;
  /** The name that is looked at, or at which the walk ended. */
  #name = "";
  #links = 0;
  readonly #path: string;
  readonly #follow: boolean;
  /** The last name first. */
  readonly #pending: string[];

  /** `follow`: a link in the last place is followed. */
  constructor(path: string, follow: boolean) {
    this.#path = path;
    this.#follow = follow;
    this.#pending = namesOf(path);
  }

  /** The real path that was reached; the names after a missing one are left out. */
  get real(): string {
    return `/${this.names.join("/")}`;
  }

  /** True when no name follows the one that is looked at. */
  get isLast(): boolean {
    return this.#pending.length === 0;
  }

  /** Returns the next name to look up in {@link real}; undefined at the end. */
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
   * Continues with the entry that has the name; null where nothing has it. @throws FilewrightError
   * LOOP, NOT_DIRECTORY, NAME_TOO_LONG
   */
  answer(step: Step | null): void {
    if (isLongName(this.#name)) throw failure("NAME_TOO_LONG", this.#path);
    if (step === null) {
      this.names.push(this.#name);
      const beyond = this.#pending.reverse();
      // What ends in `.` must exist; a slash after it demands no more.
      while (beyond.at(-1) === "" && beyond.at(-2) === ".") beyond.pop();
      this.beyond = beyond;
      // `..` after a missing name is NOT_FOUND, whatever follows.
      if (!beyond.includes("..") && beyond.some(isLongName)) throw failure("NAME_TOO_LONG", this.#path);
    } else if (step.type === "symlink" && (!this.isLast || this.#follow)) {
      this.#links += 1;
      if (this.#links > MAX_LINKS) throw failure("LOOP", this.#path);
      if (step.target.startsWith("/")) this.names.length = 0;
      this.#pending.push(...namesOf(step.target));
    } else {
      if (!this.isLast && step.type !== "dir") throw failure("NOT_DIRECTORY", this.#path);
      this.names.push(this.#name);
    }
  }

  /**
   * Returns the real path, the missing names at its end included. `keepMissingDirectory` keeps a
   * missing end with a slash (`gone/`) too. @throws FilewrightError NOT_FOUND for `..` or `.` after a
   * missing name
   */
  resolved(keepMissingDirectory: boolean): string {
    const { beyond } = this;
    if (beyond === undefined || beyond.length === 0) return this.real;
    const ending = beyond.at(-1);
    const mustExist = ending === "." || (ending === "" && !keepMissingDirectory);
    if (beyond.includes("..") || mustExist) throw failure("NOT_FOUND", this.#path);
    return normalise([this.real, ...beyond].join("/")).path;
  }
}

/** How a path is resolved. */
export interface Resolution {
  /** True when a link in the last place is followed. */
  readonly follow: boolean;
  /**
   * Returns the entry at a path whose parent is a real directory, or null where nothing exists.
   * `isLast`: no name follows.
   */
  look(path: string, isLast: boolean): Promise<Step | null>;
  /**
   * Keeps the missing end of a path that ends in a slash (`gone/`); default: such a path is
   * NOT_FOUND.
   */
  readonly keepMissingDirectory?: boolean;
}

/**
 * Resolves the links of a normalised absolute path. Missing names at its end are kept.
 *
 * @throws FilewrightError NOT_DIRECTORY, NOT_FOUND (`..` after a missing name), LOOP, NAME_TOO_LONG
 */
export async function resolveLinks(path: string, resolution: Resolution): Promise<string> {
  const { follow, look, keepMissingDirectory = false } = resolution;
  const walk = new LinkWalk(path, follow);
  for (let name = walk.next(); name !== undefined; name = walk.next()) {
    // No storage has to be asked for a name that none can have.
    walk.answer(isLongName(name) ? null : await look(childOf(walk.real, name), walk.isLast));
  }
  return walk.resolved(keepMissingDirectory);
}

/**
 * The names of a path, the last one first. A final `.` stays, and a final `/` as an empty name;
 * both require a directory before them.
 */
function namesOf(path: string): string[] {
  const names: string[] = [];
  const parts = path.split("/");
  for (let at = parts.length - 1; at >= 0; at--) {
    const part = parts[at] as string;
    if ((part !== "" && part !== ".") || (at > 0 && at === parts.length - 1)) names.push(part);
  }
  return names;
}
