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
  /** What the host says of places: a word of the table, a space and a pattern each. */
  readonly places?: readonly string[] | undefined;
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
  /** A person is to be asked before it is written. */
  readonly asks: boolean;
  /** It is part of a git repository, if a directory above it has the other marks of one. */
  readonly part: boolean;
  /** The host said that its content may be read, whatever it holds. */
  readonly opened: boolean;
  /** The number of the row that protects it or asks; undefined where none does. */
  readonly row: number | undefined;
  /** The number of the row that makes it a secret. */
  readonly secretRow: number | undefined;
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
    places: string[],
  ) => RawRules;
  placeTable(): string;
  holdsSecretContent(head: Uint8Array): boolean;
}

/** The functions of this area. */
export interface AccessEngine {
  /** Compiles rules. @throws INVALID_GLOB, INVALID_ARGUMENT, LIMIT_EXCEEDED */
  compileRules(options: RulesOptions): AccessRules;
  /** The table of places: decision, pattern and reason of a row on each line, with tabs between. */
  placeTable(): string;
  /** Whether a file that begins with these bytes holds a private key or the key of a service account. */
  holdsSecretContent(head: Uint8Array): boolean;
}

/** One object for each sum of flags, so that few are made. */
const VERDICTS = new Map<number, PathVerdict>();

/** How much of the beginning of a file tells whether it is a secret. Bytes. */
const HEAD_BYTES = 64 << 10;

function verdictOf(flags: number): PathVerdict {
  const known = VERDICTS.get(flags);
  if (known !== undefined) return known;
  // Numbers of rows are one too high, so that 0 is none.
  const row = (shift: number): number | undefined => {
    const number = (flags >>> shift) & 0xfff;
    return number === 0 ? undefined : number - 1;
  };
  const verdict = Object.freeze({
    denied: (flags & 1) !== 0,
    protected: (flags & 2) !== 0,
    guarded: (flags & 4) !== 0,
    secret: (flags & 8) !== 0,
    holds: (flags & 16) !== 0,
    asks: (flags & 32) !== 0,
    part: (flags & 64) !== 0,
    opened: (flags & 128) !== 0,
    row: row(8),
    secretRow: row(20),
  });
  VERDICTS.set(flags, verdict);
  return verdict;
}

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
    compileRules({ cwd, roots, deny, protect, secrets, places = [] }) {
      try {
        const raw = new binding.AccessRules(cwd, [...roots], [...deny], protect, secrets, [...places]);
        return {
          judge: remembering((path) => verdictOf(raw.judge(path) >>> 0)),
          deniedNames: (directory, names) => raw.deniedNames(directory, names.join("/")),
        };
      } catch (error) {
        throw fromEngine(error);
      }
    },
    placeTable: () => binding.placeTable(),
    holdsSecretContent: (head) => binding.holdsSecretContent(head.subarray(0, HEAD_BYTES)),
  };
}
