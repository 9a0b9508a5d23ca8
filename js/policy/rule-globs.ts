/**
 * Converts the path of a rule to absolute globs, in the dialect of deny lists.
 *
 * A rule's path is anchored like a deny glob: without a slash, or beginning with `**`, it matches
 * at any depth below the cwd and below every root; with a slash it is relative to the cwd; an
 * absolute one is used unchanged. A glob for everything in a directory (`vault/**`) covers the
 * directory as well.
 */
import { expandBracesWithSlash, invalidGlobError } from "../backends/glob-braces.ts";
import { literalGlob, normalise } from "../backends/paths.ts";
import { ruleGlobsInForm } from "../backends/windows-globs.ts";
import { unicodeFormsOfGlob } from "./glob-forms.ts";
import type { SandboxPolicy } from "./policy.ts";

/** The absolute globs that stand for the path of a rule. */
export interface RuleGlobs {
  /** Absolute deny globs: each covers its matches and everything below them. */
  readonly globs: readonly string[];
  /** The literal directories with which the globs begin: nothing outside them matches. */
  readonly prefixes: readonly string[];
  /** True when `/` itself is covered, which no glob can express. */
  readonly coversSlash: boolean;
}

/** The base directories of relative globs: real paths. */
export type GlobBases = Pick<SandboxPolicy, "cwd" | "read" | "write" | "paths" | "foldsCase">;

/** Converts the path of a rule to absolute globs. @throws FilewrightError INVALID_GLOB */
export function ruleGlobs(path: string, bases: GlobBases): RuleGlobs {
  const globs = new Set<string>();
  const prefixes = new Set<string>();
  let coversSlash = false;
  const add = (base: string, rest: string): void => {
    prefixes.add(literalDirectoryOf(base, rest));
    if (rest !== "") globs.add(`${literalGlob(base)}/${rest}`);
    else if (base !== "/") globs.add(literalGlob(base));
    else {
      globs.add("/**");
      coversSlash = true;
    }
  };
  for (const pattern of expandedGlobs(path, bases.paths).flatMap(unicodeFormsOfGlob)) {
    if (pattern.startsWith("!"))
      throw invalidGlobError("cannot be negated; write \\! for a name that begins with !");
    const names = pattern.split("/").filter((name) => name !== "" && name !== ".");
    const up = names.findIndex((name) => name !== "..");
    const climbs = up < 0 ? names.length : up;
    const own = names.slice(climbs);
    for (const base of baseDirectoriesOf(pattern, own, climbs, bases)) {
      const rest =
        own.length === 1 && matchesAtAnyDepth(pattern, own, climbs) ? `**/${own[0]}` : own.join("/");
      add(base, rest);
      const directory = rest.replace(/(?:^|\/)\*\*(?:\/\*\*)*(?:\/\*)?$/u, "");
      if (directory !== rest) add(base, directory);
    }
  }
  return { globs: [...globs], prefixes: [...prefixes], coversSlash };
}

function expandedGlobs(path: string, paths: GlobBases["paths"]): readonly string[] {
  return ruleGlobsInForm(path, paths).flatMap(expandBracesWithSlash);
}

/** Returns true for a pattern that matches at any depth: without a slash, or beginning with `**`. */
function matchesAtAnyDepth(pattern: string, names: readonly string[], climbs: number): boolean {
  if (pattern.startsWith("/") || climbs > 0) return false;
  return names[0] === "**" || (names.length === 1 && !pattern.startsWith("./"));
}

function baseDirectoriesOf(
  pattern: string,
  names: readonly string[],
  climbs: number,
  { cwd, read, write }: GlobBases,
): readonly string[] {
  if (pattern.startsWith("/")) return ["/"];
  if (matchesAtAnyDepth(pattern, names, climbs)) return [...new Set([cwd, ...(read ?? ["/"]), ...write])];
  return [normalise(`${cwd}/${"../".repeat(climbs)}`).path];
}

/**
 * Returns the directory that contains every possible match of a glob: the names before the first
 * glob character that is not escaped.
 */
function literalDirectoryOf(base: string, rest: string): string {
  const names = rest === "" ? [] : rest.split("/");
  const first = names.findIndex((name) => /^(?:[^\\*?[{]|\\.)*[*?[{]/su.test(name));
  const literal = (first < 0 ? names : names.slice(0, first)).map((name) => name.replace(/\\(.)/gsu, "$1"));
  return normalise([base, ...literal].join("/")).path;
}
