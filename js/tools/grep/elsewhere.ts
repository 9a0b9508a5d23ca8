/**
 * The note about matches outside dependencies and build output, for a page that shows only matches inside:
 * without an ignore file, a search in path order may spend all its results on `node_modules`.
 */
import { childOf, relativeTo } from "../../backends/paths.ts";
import type { SearchQuery, SearchResult } from "../../engine/search-types.ts";
import type { CheckedArgs } from "../generated/internal.ts";
import { escapeControls } from "../../engine/escape.ts";
import type { Call } from "../lib/tool.ts";

/** Names of directories that usually contain dependencies or generated files. */
const DERIVED_DIRECTORY_NAMES: ReadonlySet<string> = new Set([
  "node_modules",
  "bower_components",
  "vendor",
  "site-packages",
  ".venv",
  "venv",
  "__pycache__",
  "dist",
  "build",
  "target",
  "coverage",
]);

/** The maximum number of files outside that the note names. */
const MAX_NAMED_FILES = 5;

/**
 * Returns the name of the outermost directory of a path that is in `DERIVED_DIRECTORY_NAMES`; undefined when there is
 * none.
 */
function derivedDirectoryIn(path: string): string | undefined {
  return path
    .split("/")
    .find((name, index, all) => index < all.length - 1 && DERIVED_DIRECTORY_NAMES.has(name));
}

/**
 * Returns a note that names matching files outside such directories, when a truncated page shows only matches
 * inside them; undefined otherwise.
 */
export async function matchesElsewhereNote(
  found: SearchResult,
  args: CheckedArgs["grep"],
  call: Call,
  query: SearchQuery & { readonly signal?: AbortSignal | undefined },
): Promise<string | undefined> {
  if (!found.truncated || args.rank !== "path" || args.cursor !== undefined) return undefined;
  const root = call.locations[0]!.path;
  const seen = new Set<string>();
  for (const { path } of found.counts) {
    // With several roots the paths are absolute. A path outside this root means that its search has ended, so
    // no matches were missed.
    const below = path.startsWith("/") ? relativeTo(path, root) : path;
    const directory = below === null ? undefined : derivedDirectoryIn(below);
    if (directory === undefined) return undefined;
    seen.add(directory);
  }
  if (seen.size === 0) return undefined;
  const others = await call.fs.grep(root, {
    ...query,
    exclude: [...(query.exclude ?? []), ...DERIVED_DIRECTORY_NAMES],
    output: "files",
    maxResults: MAX_NAMED_FILES,
    timeoutMs: Math.max(1, call.timer.timeLeft?.() ?? args.timeout_ms),
  });
  const within = [...seen].join(", ");
  if (others.counts.length === 0) return undefined;
  const named = others.counts
    .map(({ path }) => escapeControls(call.reader.display(childOf(root, path))))
    .join(", ");
  const more = others.truncated ? " and more" : "";
  const exclude = call.reader.names.argument("exclude");
  const remedy =
    exclude === undefined ? "" : `; leave them out with ${exclude}: ${JSON.stringify([...seen])}`;
  return `everything shown is in ${within}; other files match too: ${named}${more}${remedy}`;
}
