/** Compiles globs by the engine, so that all backends share one grammar. */
import { engine } from "../../engine/current.ts";
import { relativeTo } from "../paths.ts";

/** A compiled set of globs. */
export interface GlobMatcher {
  /** Returns true when a relative, `/`-separated path matches any of the globs. */
  matches(path: string): boolean;
}

/** Compiles globs. @throws INVALID_GLOB */
export function compileGlobs(patterns: readonly string[]): GlobMatcher {
  return engine().glob(patterns);
}

/**
 * Returns the files below `root` whose relative path matches a glob, in their order. @throws
 * INVALID_GLOB
 */
export async function globFiles(
  files: AsyncIterable<string> | Iterable<string>,
  root: string,
  pattern: string,
): Promise<readonly string[]> {
  const matcher = compileGlobs([pattern]);
  const found: string[] = [];
  for await (const path of files) if (matcher.matches(relativeTo(path, root) as string)) found.push(path);
  return Object.freeze(found);
}
