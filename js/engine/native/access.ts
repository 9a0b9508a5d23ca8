/**
 * The path rules of a policy, which match absolute paths without links: denied globs, protected places and
 * secrets.
 */
import { asEngineCall } from "../threads.ts";
import type { FileExports } from "../generated/exports.ts";
import { PATH_FLAGS } from "../generated/records.ts";

/** The rules to compile. All paths are absolute and contain no links. */
export interface RulesOptions {
  /** The base directory of relative globs. */
  readonly cwd: string;
  /** A glob without a slash matches at any depth below each of these, and below `cwd`. */
  readonly roots: readonly string[];
  readonly deny: readonly string[];
  /**
   * True when files that other programs execute or obey are protected: git's hooks, and configuration of
   * agents, editors and shells.
   */
  readonly protect: boolean;
  /** True when the content of secrets, such as private keys, must not be read. */
  readonly secrets: boolean;
  /**
   * The host's changes to the table of places. Each is a word of the table (its decision), a space and a
   * pattern.
   */
  readonly places?: readonly string[] | undefined;
  /** True when deny globs ignore letter case, for disks that do. Default false. */
  readonly foldCase?: boolean | undefined;
}

/** The base of the paths that callers write for a Windows disk: inside, `C:\\repo` is `/C:/repo`. */
interface WindowsPathBase {
  /** The base of relative paths: absolute and normalised. */
  readonly cwd: string;
  /** The roots: absolute and normalised. A path that begins with one in another letter case begins with it. */
  readonly roots: readonly string[];
}

/** The rules that apply to one path, as flags. */
export interface PathVerdict {
  /** True when a deny glob matches the path or a directory above it. */
  readonly denied: boolean;
  /** True for a protected place and everything below it: it must not be written. */
  readonly protected: boolean;
  /** True when, in addition, the path must not be moved, replaced or deleted as a whole. */
  readonly guarded: boolean;
  /** True for a secret: its content must not be read, nor moved to a path at which it could be read. */
  readonly secret: boolean;
  /** True when a protected place lies below the path, so that the path must not be moved or deleted. */
  readonly holds: boolean;
  /** True when writing the path requires an approval. */
  readonly asks: boolean;
  /**
   * True for a name that belongs to a git repository if a directory above it contains the other files of one,
   * such as `HEAD`, `objects` or `refs`.
   */
  readonly part: boolean;
  /** True when the host allows reading the content even if it looks like a secret. */
  readonly opened: boolean;
  /**
   * The index, from 0, of the place that makes the path protected or requires an approval; undefined when
   * none does.
   */
  readonly row: number | undefined;
  /** The index, from 0, of the place that makes the path a secret; undefined when none does. */
  readonly secretRow: number | undefined;
}

/** Compiled rules. */
interface AccessRules {
  /**
   * Returns which rules apply to an absolute path without links: denied, protected, secret and so on. Whether
   * a call is allowed is decided elsewhere.
   */
  check(path: string): PathVerdict;
  /** Does the same without a cache, for one of many paths, none of which is checked again soon. */
  checkOnce(path: string): PathVerdict;
  /**
   * Returns for each name of a directory whether the path is denied: 1 or 0, in the order of `names`. The
   * directory itself must not be denied. All names take one native call.
   */
  deniedNames(directory: string, names: readonly string[]): Uint8Array;
  /**
   * Returns why a glob can match nothing below the roots of these rules, as the end of a sentence; empty for one that can.
   * Without roots it may match anywhere. `isPlace` for a pattern in the form of the table of places.
   */
  objection(glob: string, isPlace: boolean): string;
}

/** The functions of the engine for paths of a Windows disk. */
interface WindowsPathEngine {
  /**
   * Returns a function that converts a path as a caller writes it for a Windows disk to the internal form:
   * absolute, without `.` and `..`, with `/` at its end if it can only name a directory. It refuses a path that
   * means something else than its text: devices, streams, short names, the network. @throws OUTSIDE_ALLOWED,
   * INVALID_ARGUMENT, NAME_TOO_LONG
   */
  paths(base: WindowsPathBase): (typed: string) => string;
  /**
   * Returns a root as a host writes it for a Windows disk in the internal form. `cwd` is the base of a
   * relative one. @throws OUTSIDE_ALLOWED, INVALID_ARGUMENT, NAME_TOO_LONG
   */
  root(given: string, cwd: string): string;
}

/** The functions of the engine for path rules. */
export interface AccessEngine {
  readonly windows: WindowsPathEngine;
  /** Compiles rules. @throws INVALID_GLOB, INVALID_ARGUMENT, LIMIT_EXCEEDED */
  compileRules(options: RulesOptions): AccessRules;
  /**
   * Returns the built-in table of places: one line for each, with decision, pattern and reason, separated by
   * tabs.
   */
  placeTable(): string;
  /**
   * Returns true when a file that begins with these bytes contains a private key or the key of a service
   * account. Only the first 64 KiB are examined.
   */
  holdsSecretContent(head: Uint8Array): boolean;
  /**
   * Returns the path in a small file of git that consists of `key` and one path: `gitdir: ` in a `.git` file, nothing in
   * `commondir` and `gitdir`. Undefined for any other content.
   */
  gitPathIn(content: Uint8Array, key: string): string | undefined;
}

/** The verdicts by their flags: equal ones share an object, to save allocations. */
const VERDICT_BY_FLAGS = new Map<number, PathVerdict>();

/** The number of bytes at the beginning of a file that decide whether it is a secret. */
const MAX_SECRET_DETECTION_BYTES = 64 << 10;

function verdictOfFlags(flags: number): PathVerdict {
  const known = VERDICT_BY_FLAGS.get(flags);
  if (known !== undefined) return known;
  // The index of a place is stored plus one, so that 0 means none.
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
  VERDICT_BY_FLAGS.set(flags, verdict);
  return verdict;
}

/** The maximum number of cached verdicts. When it is reached, the cache is emptied. */
const MAX_CACHED_VERDICTS = 1024;
const MAX_CACHED_PATH_LENGTH = 256;

/**
 * Adds a cache to `check`. A call checks the same path several times, as later calls do, and compiled rules
 * never change. Of paths longer than `MAX_CACHED_PATH_LENGTH` UTF-16 units only the last one is remembered.
 */
function withVerdictCache(check: (path: string) => PathVerdict): (path: string) => PathVerdict {
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

/** Returns the functions of the engine for path rules, which call the given binding. */
export function makeAccessEngine(binding: FileExports): AccessEngine {
  return {
    windows: {
      paths({ cwd, roots }) {
        const raw = asEngineCall(() => new binding.WindowsPaths(cwd, [...roots]));
        return (typed) => asEngineCall(() => raw.resolve(typed));
      },
      root: (given, cwd) => asEngineCall(() => binding.windowsRoot(given, cwd)),
    },
    compileRules({ cwd, roots, deny, protect, secrets, places = [], foldCase = false }) {
      const raw = asEngineCall(
        () => new binding.AccessRules(cwd, [...roots], [...deny], protect, secrets, [...places], foldCase),
      );
      const checkOnce = (path: string): PathVerdict => verdictOfFlags(raw.judge(path) >>> 0);
      return {
        check: withVerdictCache(checkOnce),
        checkOnce,
        deniedNames: (directory, names) => raw.deniedNames(directory, names.join("/")),
        objection: (glob, isPlace) => raw.objection(glob, isPlace),
      };
    },
    placeTable: () => binding.placeTable(),
    holdsSecretContent: (head) => binding.holdsSecretContent(head.subarray(0, MAX_SECRET_DETECTION_BYTES)),
    gitPathIn: (content, key) => binding.gitPathIn(content, key) ?? undefined,
  };
}
