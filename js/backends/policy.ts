/**
 * The shape of a policy that a confined backend enforces.
 * `js/policy/policy.ts` creates and combines policies.
 */

/** The rule for symbolic links that lead out of the roots. */
export type FollowSymlinks =
  /** A link is followed while it stays inside the roots (the default). */
  | "inside"
  /** No link is followed at all. */
  | "never"
  /** A link is followed wherever it leads; deny rules still apply there. */
  | "any";

/** The access rules of a workspace. Frozen plain data. */
export interface SandboxPolicy {
  /** The base of relative paths and globs: absolute and normalised. */
  readonly cwd: string;
  /** Directories or single files that may be read; null for everything. */
  readonly read: readonly string[] | null;
  /** Directories or single files that may be changed. */
  readonly write: readonly string[];
  /** Globs of paths that are refused, even in a root. They are relative to `cwd`. */
  readonly deny: readonly string[];
  /**
   * True to refuse writes to protected places: files that other programs run or read as configuration, such as
   * git's hooks.
   */
  readonly protect: boolean;
  /** `grant`: the content of secrets (`.env`, keys, tokens) is not read unless it was granted. Default `allow`. */
  readonly secrets?: "grant" | "allow" | undefined;
  /** Changes to the table of protected and secret places: a word of the table, a space and a pattern each. */
  readonly places?: readonly string[] | undefined;
  /** The person's git excludes, as lines of a gitignore file: a workspace reads them when it opens. */
  readonly gitExcludes?: string | undefined;
  /**
   * `windows`: paths are those of a Windows disk, so rules ignore letter case, and names that refer to another
   * file are refused. The storage sets it.
   */
  readonly paths?: "windows" | undefined;
  /** True if the storage finds a name in any letter case (macOS), so rules ignore it. The storage sets it. */
  readonly foldsCase?: boolean | undefined;
  /** True to refuse every write. */
  readonly readOnly: boolean;
  /** Links that lead out of the roots: refused (`inside`), all links refused (`never`), followed (`any`). */
  readonly followSymlinks: FollowSymlinks;
  /** The maximum size of the text of one answer, in UTF-8 bytes. */
  readonly maxOutputBytes?: number;
}

/** Returns true if the rules of a policy ignore letter case, because its storage does. */
export function ignoresCase({ paths, foldsCase }: Pick<SandboxPolicy, "paths" | "foldsCase">): boolean {
  return paths === "windows" || foldsCase === true;
}

/**
 * Returns a policy with secrets as ordinary files, for what the host itself reads by real paths. A link that another
 * program puts on the way meanwhile must not lead to a secret, so links are not followed.
 */
export function withoutSecretFilter(policy: SandboxPolicy): SandboxPolicy {
  // Where links may lead anywhere, real paths are allowed by that alone.
  const followSymlinks = policy.followSymlinks === "any" ? "any" : "never";
  return { ...policy, secrets: "allow", followSymlinks };
}

/** The kind of access a call needs to a path. */
export type Intent = "read" | "write";
