/**
 * Policies: access rules that are made by factories, frozen, and combined only by intersection.
 * Nothing here touches storage; a confined backend enforces a policy.
 */
import {
  choice,
  flag,
  optionChecker,
  integer,
  list,
  nullable,
  type Options,
  options,
  type Rows,
  text,
} from "../schema/option.ts";
import { withoutUndefined } from "../schema/without-undefined.ts";
import { FilewrightError } from "../engine/errors.ts";
import { checkPath, isWithin, joinPath, literalGlob, normalise } from "../backends/paths.ts";
import { PLACES_OPTIONS, type PlacesOptions, encodePlaces } from "../backends/confined/places.ts";
import { expandBracesWithSlash } from "../backends/glob-braces.ts";
import { beginsWithDrive, isOnDrive, innerWindowsPath, withWindowsPaths } from "../backends/windows-paths.ts";
import type { FollowSymlinks, SandboxPolicy as Policy } from "../backends/policy.ts";
import { unicodeFormsOfGlob } from "./glob-forms.ts";

export { literalGlob } from "../backends/paths.ts";
export type { FollowSymlinks, Intent } from "../backends/policy.ts";

/** The access rules of a workspace. Frozen plain data. */
export type SandboxPolicy = Policy;

/** Options of a policy's factories. */
export interface PolicyOptions {
  /** The base of relative paths and globs. Default: the root of the policy. */
  readonly cwd?: string | undefined;
  /** Globs relative to `cwd`; matches are refused. */
  readonly deny?: readonly string[] | undefined;
  /**
   * Refuse writes to protected places: files that other programs run or read as configuration, such as
   * git's hooks. Default false.
   */
  readonly protect?: boolean | undefined;
  /** `grant`: keep the content of secrets (`.env`, keys, tokens) from being read. Default `allow`. */
  readonly secrets?: "grant" | "allow" | undefined;
  /** Changes to the table of protected and secret places. */
  readonly places?: PlacesOptions | undefined;
  /** Refuse every write. Default false. */
  readonly readOnly?: boolean | undefined;
  /** Default `inside`. */
  readonly followSymlinks?: FollowSymlinks | undefined;
  /** The maximum size of the text of one answer, in UTF-8 bytes. A longer text is truncated. */
  readonly maxOutputBytes?: number | undefined;
}

/** The lists of {@link SandboxPolicy.allowList}. Relative entries are relative to `cwd`. */
export interface AllowLists extends PolicyOptions {
  /** Paths that may be read; null for everything. Default: those of `write`. */
  readonly read?: readonly string[] | null | undefined;
  /** Paths that may be written. Default: none. */
  readonly write?: readonly string[] | undefined;
}

const POLICY_ROWS: Rows<PolicyOptions> = {
  cwd: text(),
  deny: list(text()),
  protect: flag(),
  secrets: choice("grant", "allow"),
  places: PLACES_OPTIONS,
  readOnly: flag(),
  followSymlinks: choice("inside", "never", "any"),
  maxOutputBytes: integer(1),
};

/** The options of a policy's factories. */
export const POLICY_OPTIONS: Options<PolicyOptions> = options("PolicyOptions", POLICY_ROWS);

/** The options of {@link SandboxPolicy.allowList}. */
export const ALLOW_LISTS: Options<AllowLists> = options("AllowLists", {
  ...POLICY_ROWS,
  read: nullable(list(text())),
  write: list(text()),
});

const checkOptions = optionChecker("SandboxPolicy", POLICY_OPTIONS);
const checkAllowLists = optionChecker("SandboxPolicy.allowList", ALLOW_LISTS);

function makePolicy(
  read: readonly string[] | null,
  write: readonly string[],
  options: PolicyOptions,
): Policy {
  const cwd = absolutePath(options.cwd ?? write[0] ?? read?.[0] ?? "/");
  const places = (list: readonly string[]): readonly string[] =>
    Object.freeze([...new Set(list.map((entry) => absolutePath(entry, cwd)))]);
  const { deny = [], secrets = "allow", maxOutputBytes: limit } = options;
  const changed = encodePlaces(options.places);
  return Object.freeze(
    withoutUndefined({
      cwd,
      read: read === null ? null : places(read),
      write: places(write),
      places: changed.length > 0 ? changed : undefined,
      deny: Object.freeze([...new Set(deny.flatMap(withOwnAnchors).flatMap(unicodeFormsOfGlob))]),
      protect: options.protect ?? false,
      secrets: secrets === "grant" ? secrets : undefined,
      readOnly: options.readOnly ?? false,
      followSymlinks: options.followSymlinks ?? "inside",
      maxOutputBytes: limit,
    }),
  );
}

/** Returns a deny glob, or one for each alternative of braces when some of these are absolute and need their own anchor. */
function withOwnAnchors(glob: string): readonly string[] {
  if (glob.startsWith("/") || !glob.includes("{")) return [glob];
  const globs = expandBracesWithSlash(glob);
  return globs.some((one) => one.startsWith("/")) ? globs : [glob];
}

function absolutePath(given: string, base?: string): string {
  checkPath(given);
  const mayBeginWithDrive = base === undefined || isOnDrive(base);
  const path = mayBeginWithDrive && beginsWithDrive(given) ? innerWindowsPath(given) : given;
  if (!path.startsWith("/") && base === undefined) {
    throw new FilewrightError("INVALID_ARGUMENT", "a root must be an absolute path", { path });
  }
  return normalise(base === undefined ? path : joinPath(base, path)).path;
}

/** Creates and combines policies. */
export interface PolicyFactories {
  /** Read and write below one root, nothing else. */
  workspaceOnly(root: string, options?: PolicyOptions): Policy;
  /** Read below one root, write nowhere. */
  readOnly(root: string, options?: PolicyOptions): Policy;
  /** Exactly these paths. Writable paths are readable too unless `read` says otherwise. */
  allowList(lists: AllowLists): Policy;
  /** Read everywhere, write below the working directory. */
  amplifier(cwd: string, options?: PolicyOptions): Policy;
  /** Read everywhere, write below one root. */
  openRead(root: string, options?: PolicyOptions): Policy;
  /**
   * Allows what both policies allow. The working directory is the first one's; the second's deny
   * globs keep their meaning.
   */
  intersect(a: Policy, b: Policy): Policy;
}

/** Creates and combines policies. */
export const SandboxPolicy: PolicyFactories = Object.freeze({
  workspaceOnly: (root: string, options: PolicyOptions = {}) =>
    makePolicy([root], [root], checkOptions(options)),
  readOnly: (root: string, options: PolicyOptions = {}) =>
    makePolicy([root], [], { ...checkOptions(options), readOnly: true }),
  allowList: (given: AllowLists) => {
    const lists = checkAllowLists(given);
    const write = lists.write ?? [];
    return makePolicy(lists.read === undefined ? write : lists.read, write, lists);
  },
  amplifier: (cwd: string, options: PolicyOptions = {}) =>
    makePolicy(null, ["."], { ...checkOptions(options), cwd }),
  openRead: (root: string, options: PolicyOptions = {}) => makePolicy(null, [root], checkOptions(options)),
  intersect: (first: Policy, second: Policy) => {
    const paths = first.paths ?? second.paths;
    const [a, b] = [first, second].map((policy) =>
      paths === "windows" ? withWindowsPaths(policy) : policy,
    ) as [Policy, Policy];
    const limits = [a.maxOutputBytes, b.maxOutputBytes].filter((limit) => limit !== undefined);
    const strictness: readonly FollowSymlinks[] = ["never", "inside", "any"];
    const read = a.read === null ? b.read : b.read === null ? a.read : intersectRoots(a.read, b.read);
    const both = makePolicy(read, intersectRoots(a.write, b.write), {
      cwd: a.cwd,
      deny: [...a.deny, ...rebaseDenyGlobs(b, a.cwd)],
      protect: a.protect || b.protect,
      secrets: a.secrets === "grant" || b.secrets === "grant" ? "grant" : "allow",
      readOnly: a.readOnly || b.readOnly,
      followSymlinks: strictness.find((one) => one === a.followSymlinks || one === b.followSymlinks),
      maxOutputBytes: limits.length > 0 ? Math.min(...limits) : undefined,
    });
    const places = mergePlaceChanges(a, b);
    const gitExcludes = a.gitExcludes ?? b.gitExcludes;
    const foldsCase = a.foldsCase === true || b.foldsCase === true;
    return Object.freeze({
      ...both,
      ...withoutUndefined({
        places: places.length === 0 ? undefined : places,
        gitExcludes,
        foldsCase: foldsCase ? foldsCase : undefined,
        paths,
      }),
    });
  },
});

/**
 * Merges the changes of two policies to the table of places. Every restriction stays; an exception stays if
 * neither policy refuses the place.
 */
function mergePlaceChanges(a: Policy, b: Policy): readonly string[] {
  const holds = ({ places = [], protect, secrets }: Policy, place: string): boolean =>
    places.includes(place) || (place.startsWith("readable ") ? secrets !== "grant" : !protect);
  const isLoosening = (place: string): boolean => /^(?:allow|ask|readable) /.test(place);
  const all = [...new Set([...(a.places ?? []), ...(b.places ?? [])])];
  return Object.freeze(all.filter((place) => !isLoosening(place) || (holds(a, place) && holds(b, place))));
}

/** Returns the directories that lie below a directory of both lists. */
function intersectRoots(a: readonly string[], b: readonly string[]): readonly string[] {
  return a.flatMap((x) => b.flatMap((y) => (isWithin(x, y) ? [x] : isWithin(y, x) ? [y] : [])));
}

/** Returns the deny globs of a policy with the same meaning in another working directory. */
function rebaseDenyGlobs(policy: Policy, cwd: string): readonly string[] {
  if (policy.cwd === cwd) return policy.deny;
  const bases = [...new Set([policy.cwd, ...(policy.read ?? []), ...policy.write])];
  return policy.deny.flatMap((glob) => {
    if (glob.startsWith("/")) return [glob];
    // A glob without a slash matches below every root, one with a slash below the working directory.
    const floating = !glob.replace(/\/+$/, "").includes("/");
    return (floating ? bases : [policy.cwd]).map((base) => {
      const up = /^(?:\.{1,2}\/)*/.exec(glob)?.[0] ?? "";
      const from = literalGlob(normalise(`${base}/${up}`).path);
      return `${from}/${floating ? "**/" : ""}${glob.slice(up.length)}`;
    });
  });
}
