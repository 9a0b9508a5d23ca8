/** Where backends get their globs: the engine's, so that one rule holds everywhere. */
import { engine } from "../engine/current.ts";

/** A compiled set of globs. */
export interface GlobMatcher {
  /** Whether a relative, `/`-separated path matches any of the globs. */
  matches(path: string): boolean;
}

/** Compiles globs. @throws INVALID_GLOB */
export function compileGlobs(patterns: readonly string[]): GlobMatcher {
  return engine().glob(patterns);
}
