/** The path rules of a policy: denied globs and protected names over real paths. */
import { fromEngine } from "../errors.ts";
import { PATH_FLAGS } from "../generated/records.ts";

/** The input of compiled rules. All paths are absolute and resolved. */
export interface RulesOptions {
  /** The base directory of relative globs. */
  readonly cwd: string;
  /** A glob without a slash matches at any depth below each of these, and below `cwd`. */
  readonly roots: readonly string[];
  readonly deny: readonly string[];
  /**
   * True when files that other programs obey are protected: git's hooks, configuration of agents,
   * editors and shells.
   */
  readonly protect: boolean;
  /** True when the content of secrets is unreadable. */
  readonly secrets: boolean;
  /** The host's changes to places: a word of the table, a space and a pattern each. */
  readonly places?: readonly string[] | undefined;
}

/** The rules that apply to a path. */
export interface PathVerdict {
  /** True when a deny glob matches the path or a directory above it. */
  readonly denied: boolean;
  /** True for a protected place and everything below it: not writable. */
  readonly protected: boolean;
  /** True when it must not be moved, replaced or deleted as a whole either. */
  readonly guarded: boolean;
  /** True when its content must not be read, nor moved to a readable path. */
  readonly secret: boolean;
  /** True when a protected place is below it, so that it must not be moved or deleted. */
  readonly holds: boolean;
  /** True when a write requires an approval. */
  readonly asks: boolean;
  /** True when it is part of a git repository, if a directory above it has the other marks of one. */
  readonly part: boolean;
  /** True when the host allows reading its content, whatever it contains. */
  readonly opened: boolean;
  /** The number of the row that protects it or requires an approval; undefined for none. */
  readonly row: number | undefined;
  /** The number of the row that makes it a secret. */
  readonly secretRow: number | undefined;
}

/** Compiled rules. */
interface AccessRules {
  /** Returns the verdict on an absolute resolved path. */
  check(path: string): PathVerdict;
  /**
   * Returns which names of a directory, itself not denied, are denied: 1 or 0 each, in one native
   * call.
   */
  deniedNames(directory: string, names: readonly string[]): Uint8Array;
}

interface RawRules {
  judge(path: string): number;
  deniedNames(directory: string, names: string): Uint8Array;
}

/** The exports of both bindings for this area. */
export interface AccessBinding {
  readonly AccessRules: new (
    cwd: string,
    roots: string[],
    deny: string[],
    protect: boolean,
    secrets: boolean,
    places: string[],
  ) => RawRules;
  placeTable(): string;
  holdsSecretContent(head: Uint8Array): boolean;
}

/** The functions of this area. */
export interface AccessEngine {
  /** Compiles rules. @throws INVALID_GLOB, INVALID_ARGUMENT, LIMIT_EXCEEDED */
  compileRules(options: RulesOptions): AccessRules;
  /**
   * Returns the table of places: decision, pattern and reason of a row on each line, separated by
   * tabs.
   */
  placeTable(): string;
  /**
   * Returns true when a file that begins with these bytes contains a private key or the key of a
   * service account.
   */
  holdsSecretContent(head: Uint8Array): boolean;
}

/** One shared object per combination of flags, to save allocations. */
const VERDICTS = new Map<number, PathVerdict>();

/** The number of bytes at the beginning of a file that decide whether it is a secret. */
const SECRET_DETECTION_BYTES = 64 << 10;

function verdictOf(flags: number): PathVerdict {
  const known = VERDICTS.get(flags);
  if (known !== undefined) return known;
  // Row numbers are stored plus one; 0 means none.
  const row = (shift: number): number | undefined => {
    const number = (flags >>> shift) & 0xfff;
    return number === 0 ? undefined : number - 1;
  };
  const verdict = Object.freeze({
    denied: (flags & PATH_FLAGS.denied) !== 0,
    protected: (flags & PATH_FLAGS.protected) !== 0,
    guarded: (flags & PATH_FLAGS.guarded) !== 0,
    secret: (flags & PATH_FLAGS.secret) !== 0,
    holds: (flags & PATH_FLAGS.holds) !== 0,
    asks: (flags & PATH_FLAGS.asks) !== 0,
    part: (flags & PATH_FLAGS.part) !== 0,
    opened: (flags & PATH_FLAGS.opened) !== 0,
    row: row(8),
    secretRow: row(20),
  });
  VERDICTS.set(flags, verdict);
  return verdict;
}

/**
 * The maximum number of cached verdicts, and the maximum path length in UTF-16 units: a few
 * hundred KiB.
 */
const MAX_CACHED_VERDICTS = 1024;
const MAX_CACHED_PATH_LENGTH = 256;

/**
 * Caches verdicts. A call checks the same path several times, and so do later calls; rules never
 * change.
 */
function cached(check: (path: string) => PathVerdict): (path: string) => PathVerdict {
  const known = new Map<string, PathVerdict>();
  // One operation checks its path several times in a row, so this remembers the last long one.
  let lastLong: { readonly path: string; readonly verdict: PathVerdict } | undefined;
  return (path) => {
    if (path.length > MAX_CACHED_PATH_LENGTH) {
      if (lastLong?.path !== path) lastLong = { path, verdict: check(path) };
      return lastLong.verdict;
    }
    const before = known.get(path);
    if (before !== undefined) return before;
    const verdict = check(path);
    if (known.size >= MAX_CACHED_VERDICTS) known.clear();
    known.set(path, verdict);
    return verdict;
  };
}

/** Wraps a binding. */
export function accessEngine(binding: AccessBinding): AccessEngine {
  return {
    compileRules({ cwd, roots, deny, protect, secrets, places = [] }) {
      try {
        const raw = new binding.AccessRules(cwd, [...roots], [...deny], protect, secrets, [...places]);
        return {
          check: cached((path) => verdictOf(raw.judge(path) >>> 0)),
          deniedNames: (directory, names) => raw.deniedNames(directory, names.join("/")),
        };
      } catch (error) {
        throw fromEngine(error);
      }
    },
    placeTable: () => binding.placeTable(),
    holdsSecretContent: (head) => binding.holdsSecretContent(head.subarray(0, SECRET_DETECTION_BYTES)),
  };
}
