/** Where backends get their globs: the engine's, so that one rule holds everywhere. */
import { engine } from "../engine/current.ts";
import { FilewrightError } from "../engine/errors.ts";

/** A compiled set of globs. */
export interface GlobMatcher {
  /** Whether a relative, `/`-separated path matches any of the globs. */
  matches(path: string): boolean;
}

/** Compiles globs. @throws INVALID_GLOB */
export function compileGlobs(patterns: readonly string[]): GlobMatcher {
  const source = engine() as unknown as { compileGlob?: (patterns: readonly string[]) => GlobMatcher };
  if (source.compileGlob === undefined) {
    throw new FilewrightError("UNSUPPORTED_OPERATION", "the engine has no globs");
  }
  return source.compileGlob(patterns);
}
