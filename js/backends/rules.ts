/**
 * Deny globs and protected names over real paths: `crates/core/src/access.rs`
 * in the words of a backend.
 *
 * Both kinds of rule see only paths whose links are resolved; what asks them is
 * `sandboxed.ts` and, for a first answer before storage is touched, `js/access`.
 */
import { compileGlobs, type GlobMatcher } from "./globs.ts";
import { nameOf, relativeTo } from "./paths.ts";
import type { SandboxPolicy } from "./policy.ts";

/** The rules of one policy. All paths are real and absolute. */
export interface Rules {
  /** Whether there are deny globs at all. */
  readonly denies: boolean;
  /** Whether protected names are refused to writers. */
  readonly protects: boolean;
  /** Whether a deny glob matches the path or a directory above it. */
  denied(path: string): boolean;
  /** Whether the path is a protected one or lies below one: not to be written. */
  protected(path: string): boolean;
  /** Whether the path must not be moved, replaced or deleted as a whole either. */
  guarded(path: string): boolean;
}

/** Compiles the rules of a policy. @throws INVALID_GLOB */
export function compileRules(policy: SandboxPolicy): Rules {
  const deny = compileDeny(policy);
  const { protect } = policy;
  return {
    denies: policy.deny.length > 0,
    protects: protect,
    denied: deny,
    protected: (path) => protect && hasProtectedName(path),
    guarded: (path) => protect && (hasProtectedName(path) || isGuardName(fold(nameOf(path)))),
  };
}

/**
 * A glob without a slash holds at any depth below the working directory and
 * below every root; one with a slash is relative to the working directory; one
 * that begins with a slash stands for itself.
 */
function compileDeny(policy: SandboxPolicy): (path: string) => boolean {
  if (policy.deny.length === 0) return () => false;
  const compile = (globs: readonly string[]): GlobMatcher | null =>
    globs.length > 0 ? compileGlobs(globs) : null;
  const absolute = compile(policy.deny.filter((glob) => glob.startsWith("/")));
  const anchored = compile(policy.deny.filter((glob) => glob.indexOf("/") > 0));
  const floating = compile(policy.deny.filter((glob) => !glob.includes("/")));
  const bases = [...new Set([policy.cwd, ...(policy.read ?? []), ...policy.write])];
  return (path) => {
    if (absolute !== null && matchesPrefix(absolute, `/${path.slice(1)}`)) return true;
    return bases.some((base) => {
      const rest = relativeTo(path, base);
      if (rest === null || rest === ".") return false;
      if (floating !== null && matchesPrefix(floating, rest)) return true;
      return anchored !== null && base === policy.cwd && matchesPrefix(anchored, rest);
    });
  };
}

/** Whether the globs match a path or a directory above it. */
function matchesPrefix(globs: GlobMatcher, path: string): boolean {
  for (let end = path.indexOf("/", 1); end >= 0; end = path.indexOf("/", end + 1)) {
    if (globs.matches(path.slice(0, end))) return true;
  }
  return globs.matches(path);
}

/** `.git/hooks`, `.git/config` and `.gitmodules`, at any depth and in any letter case. */
function hasProtectedName(path: string): boolean {
  let insideGit = false;
  for (const name of path.split("/").map(fold)) {
    if (name === ".gitmodules" || (insideGit && (name === "hooks" || name === "config"))) return true;
    insideGit = name === ".git";
  }
  return false;
}

function isGuardName(name: string): boolean {
  return name === ".git" || name === ".gitmodules";
}

/** Letter case, and characters that some file systems ignore, do not make another name. */
function fold(name: string): string {
  return name.replace(/[\u200c-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g, "").toLowerCase();
}
