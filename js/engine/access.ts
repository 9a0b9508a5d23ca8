/** The rules of a policy: denied globs and protected names over real paths. */
import { fromEngine } from "./errors.ts";

/** What rules are made of. All paths are absolute and resolved. */
export interface RulesOptions {
  /** The directory that relative globs start from. */
  readonly cwd: string;
  /** A glob without a slash holds at any depth below each of these, and below `cwd`. */
  readonly roots: readonly string[];
  readonly deny: readonly string[];
  /** Whether what other programs obey is protected: git's hooks, configuration of agents, editors and shells. */
  readonly protect: boolean;
  /** Whether the content of secrets is kept from being read. */
  readonly secrets: boolean;
}

/** What rules say of a path. */
export interface PathVerdict {
  /** A deny glob matches it or a directory above it. */
  readonly denied: boolean;
  /** It is a protected place or lies below one: not to be written. */
  readonly protected: boolean;
  /** It must not be moved, replaced or deleted as a whole either. */
  readonly guarded: boolean;
  /** Its content is not to be read, nor taken to where it could be. */
  readonly secret: boolean;
  /** A directory that holds it somewhere below must not be moved or deleted. */
  readonly holds: boolean;
}

/** Compiled rules. */
export interface AccessRules {
  /** The verdict on an absolute resolved path. */
  judge(path: string): PathVerdict;
  /** Which names of a directory that is not denied itself are denied: 1 or 0 each, in one crossing. */
  deniedNames(directory: string, names: readonly string[]): Uint8Array;
}

interface RawRules {
  judge(path: string): number;
  deniedNames(directory: string, names: string): Uint8Array;
}

/** What both bindings export for this area. */
export interface AccessBinding {
  readonly AccessRules: new (
    cwd: string,
    roots: string[],
    deny: string[],
    protect: boolean,
    secrets: boolean,
  ) => RawRules;
}

/** The functions of this area. */
export interface AccessEngine {
  /** Compiles rules. @throws INVALID_GLOB, LIMIT_EXCEEDED */
  compileRules(options: RulesOptions): AccessRules;
}

// One object for each sum of flags, so that judging makes none.
const VERDICTS: readonly PathVerdict[] = Array.from({ length: 32 }, (_, flags) =>
  Object.freeze({
    denied: (flags & 1) !== 0,
    protected: (flags & 2) !== 0,
    guarded: (flags & 4) !== 0,
    secret: (flags & 8) !== 0,
    holds: (flags & 16) !== 0,
  }),
);

/** How many verdicts are remembered, and for paths of at most so many UTF-16 units: a few hundred KiB. */
const REMEMBERED = 1024;
const REMEMBERED_LENGTH = 256;

/** One call judges the same path several times, and so do many calls: rules do not change, so verdicts are kept. */
function remembering(judge: (path: string) => PathVerdict): (path: string) => PathVerdict {
  const known = new Map<string, PathVerdict>();
  return (path) => {
    const before = known.get(path);
    if (before !== undefined) return before;
    const verdict = judge(path);
    if (path.length > REMEMBERED_LENGTH) return verdict;
    if (known.size >= REMEMBERED) known.clear();
    known.set(path, verdict);
    return verdict;
  };
}

/** Wraps a binding. */
export function accessEngine(binding: AccessBinding): AccessEngine {
  return {
    compileRules({ cwd, roots, deny, protect, secrets }) {
      try {
        const raw = new binding.AccessRules(cwd, [...roots], [...deny], protect, secrets);
        return {
          judge: remembering((path) => VERDICTS[raw.judge(path)] as PathVerdict),
          deniedNames: (directory, names) => raw.deniedNames(directory, names.join("/")),
        };
      } catch (error) {
        throw fromEngine(error);
      }
    },
  };
}
