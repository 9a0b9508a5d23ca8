/**
 * Deny globs and protected names over real paths.
 *
 * A denied directory takes everything below it along. Both kinds of rule see
 * only paths whose links are resolved; what asks them is `sandboxed.ts` and,
 * for a first answer before storage is touched, `js/access`.
 */
import { compileGlobs, type GlobMatcher } from "./globs.ts";
import { parentOf, relativeTo } from "./paths.ts";
import type { SandboxPolicy } from "./policy.ts";

/** The rules of one policy. */
export interface Rules {
  /** Whether there are deny rules at all. */
  readonly denies: boolean;
  /** Whether protected names are refused to writers. */
  readonly protects: boolean;
  /** Whether a real absolute path, or a directory above it, is denied. */
  denied(path: string): boolean;
  /** Whether a real absolute path is a protected one or lies below one. */
  isProtected(path: string): boolean;
}

/** Compiles the rules of a policy. @throws INVALID_GLOB */
export function compileRules(policy: SandboxPolicy): Rules {
  const globs: GlobMatcher | null = policy.deny.length > 0 ? compileGlobs(policy.deny) : null;
  const denied = (path: string): boolean => {
    if (globs === null) return false;
    for (let at = path; at !== "/" && at !== policy.cwd; at = parentOf(at)) {
      if (globs.matches(relativeTo(at, policy.cwd) ?? at.slice(1))) return true;
    }
    return false;
  };
  return {
    denies: globs !== null,
    protects: policy.protect,
    denied,
    isProtected: (path) => policy.protect && hasProtectedName(path),
  };
}

/** `.git/hooks`, `.git/config` and `.gitmodules`, at any depth and in any letter case. */
function hasProtectedName(path: string): boolean {
  const names = path.split("/").map(fold);
  return names.some((name, i) => {
    if (name === ".gitmodules") return true;
    return name === ".git" && (names[i + 1] === "hooks" || names[i + 1] === "config");
  });
}

/** Letter case, compatibility forms and characters that some file systems ignore do not make another name. */
function fold(name: string): string {
  return name
    .normalize("NFKC")
    .replace(/[\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g, "")
    .toLowerCase();
}
