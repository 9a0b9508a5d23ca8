/** The search of `glob`. It is loaded after a workspace opens, or by the first call. */
import { engine } from "../../engine/current.ts";
import { type CoveredRoots, coveredRoots, findInCovered, leftOutRootsNote } from "../every-root.ts";
import { findCountingIgnored, inBothUnicodeForms, searchedGlobs } from "../lib/walks.ts";
import { unfollowedLinksNote } from "../render/unfollowed.ts";
import { excludeGlobNotes, findWarnings } from "../render/left-out.ts";
import { globsInForm } from "../../backends/windows-globs.ts";
import { findLeftOut, type LeftOutEntry } from "../lib/left-out-entry.ts";
import { maxAnswerBytes } from "../lib/text.ts";
import { type Answer, type Call, locationError } from "../lib/tool.ts";
import type { GlobData } from "../generated/types.ts";
import type { CheckedArgs } from "../generated/internal.ts";
import { withoutUndefined } from "../../schema/without-undefined.ts";

type CheckedGlobArgs = CheckedArgs["glob"];

/** Answers a call of `glob`. */
export async function runGlob(args: CheckedGlobArgs, call: Call): Promise<Answer<GlobData>> {
  const at = call.locations[0]!;
  if (!(await call.fs.stat(at.path)).isDir) throw locationError("NOT_DIRECTORY", at);
  const covered = await coveredRoots(args.path, call);
  const patternsBelow = (root: string): readonly string[] =>
    [args.pattern]
      .flat()
      .flatMap((pattern) => globsInForm(pattern, call.reach.summary.paths))
      .map((pattern) => patternBelow(pattern, root, call.reach.summary.paths));
  const exclude = searchedGlobs(call, args.exclude);
  const queryIn = (root: string) => ({
    pattern: patternsBelow(root),
    exclude,
    type: args.type,
    caseSensitive: args.case_sensitive,
    hidden: args.hidden,
    respectIgnore: args.respect_ignore,
    sort: args.sort,
    recencyMs: args.recency_ms,
    limit: args.limit,
    maxTextBytes: maxAnswerBytes(call.settings.limits),
    cursor: args.cursor,
  });
  const found = await findCountingIgnored((changes) =>
    findInCovered(call, covered, (root) => ({ ...queryIn(root), ...changes })),
  );
  call.seen.noteListed(found.paths);
  return {
    data: withoutUndefined({
      matches: found.paths.map(call.reader.display),
      total: found.total,
      truncated: found.truncated,
      next_cursor: found.nextCursor,
      ignored: found.ignored,
    }),
    warnings: [
      ...excludeGlobNotes(args.exclude),
      ...findWarnings(found, await firstUnlisted(found.unreadable, covered, args, call), call.reader.names),
      found.total > 0 ? undefined : await linksOfGlob(args, call, covered, patternsBelow),
      leftOutRootsNote(covered, found.total, call),
    ].filter((note) => note !== undefined),
  };
}

/** Returns a note about links behind which a search without a match could have had one. */
async function linksOfGlob(
  { exclude, hidden, respect_ignore: respectIgnore, case_sensitive: caseSensitive }: CheckedGlobArgs,
  call: Call,
  covered: CoveredRoots,
  patternsBelow: (root: string) => readonly string[],
): Promise<string | undefined> {
  const query = {
    exclude: searchedGlobs(call, exclude),
    hidden,
    respectIgnore,
    ignoreFiles: call.settings.ignoreFiles,
  };
  return unfollowedLinksNote(call, covered, query, (root) =>
    engine().glob(inBothUnicodeForms(patternsBelow(root)), { caseSensitive }),
  );
}

/** Returns the first directory that a search for names could not list. */
function firstUnlisted(
  unreadable: number,
  { roots }: CoveredRoots,
  { exclude, hidden, respect_ignore: respectIgnore }: CheckedGlobArgs,
  call: Call,
): Promise<LeftOutEntry | undefined> | undefined {
  if (unreadable === 0) return undefined;
  const { ignoreFiles } = call.settings;
  const query = { exclude: searchedGlobs(call, exclude), hidden, respectIgnore, ignoreFiles };
  const paths = roots.map(({ path }) => path);
  return findLeftOut(call, paths, query, { files: false });
}

/** Converts an absolute pattern to one relative to `directory`. */
function patternBelow(pattern: string, directory: string, paths: Call["reach"]["summary"]["paths"]): string {
  const start = directory === "/" ? "/" : `${directory}/`;
  const head = pattern.slice(0, start.length);
  const isBelow = head === start || (paths === "windows" && head.toLowerCase() === start.toLowerCase());
  return isBelow ? pattern.slice(start.length - 1) : pattern;
}
