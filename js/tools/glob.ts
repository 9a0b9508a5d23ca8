/** `glob`: finds files and directories by name. */
import { engine } from "../engine/current.ts";
import { closedRootsNote, type CoveredRoots, coveredRoots, findInCovered } from "./every-root.ts";
import { findCountingIgnored, searchedGlobs } from "./lib/walks.ts";
import { unfollowedLinksNote } from "./render/unfollowed.ts";
import { unmatchedGlobHint } from "./grep/text.ts";
import { excludeGlobNotes, findWarnings, otherRootsNote } from "./render/left-out.ts";
import { globsInForm } from "../backends/windows-globs.ts";
import { findLeftOut, type LeftOutEntry } from "./lib/left-out-entry.ts";
import { maxAnswerBytes, quoteForPeople, truncatedClause } from "./lib/text.ts";
import {
  assignmentPhrase,
  type ReaderNames,
  type Answer,
  type Call,
  type ReadingTool,
  locationError,
} from "./lib/tool.ts";
import type { GlobArgs, GlobData } from "./generated/types.ts";
import type { CheckedArgs } from "./generated/internal.ts";
import { compileArgumentCheck, object } from "./lib/schema.ts";
import {
  choice,
  flag,
  integer,
  PATH_ALIASES,
  path,
  text,
  textOrTextListSchema,
  texts,
  timeoutSchema,
  WARNINGS_SCHEMA,
} from "./lib/shared.ts";
import { withoutUndefined } from "../schema/without-undefined.ts";
import { escapeControls, plural } from "../engine/escape.ts";

type CheckedGlobArgs = CheckedArgs["glob"];

const inputSchema = object(
  {
    pattern: textOrTextListSchema(
      "Glob, or several: * within a directory, ** across them, {a,b}, [a-z]. Without a slash it matches names at any depth.",
    ),
    path: path("The directory to look in", { default: "." }),
    exclude: texts("Globs of what to leave out.", { default: [] }),
    type: choice("What to find.", ["file", "dir", "any"], "file"),
    case_sensitive: flag("Whether letter case counts.", true),
    hidden: flag("Find names that begin with a dot too; .git is never searched.", true),
    respect_ignore: flag("Leave out what .gitignore, .ignore and .agentignore files name.", true),
    sort: choice(
      "path; recent: what changed within recency_ms first, newest first, then the others by path; mtime: newest first.",
      ["path", "recent", "mtime"],
      "path",
    ),
    recency_ms: integer("What `recent` means, in milliseconds.", { default: 86_400_000, minimum: 0 }),
    limit: integer("The most paths given.", { default: 1000, minimum: 1, maximum: 100_000 }),
    cursor: text("`next_cursor` of an earlier call with the same arguments, to go on from there."),
    timeout_ms: timeoutSchema(),
  },
  ["pattern"],
);

const outputSchema = object(
  {
    matches: { type: "array", items: { type: "string" }, description: "Paths relative to the workspace." },
    total: integer("All matches, also those beyond the limit."),
    truncated: { type: "boolean", description: "Whether there are more." },
    next_cursor: text("Pass as cursor to go on."),
    ignored: integer(
      "Matches that ignore files leave out; where there are others, without those inside large ignored directories.",
    ),
    warnings: WARNINGS_SCHEMA,
  },
  ["matches", "total", "truncated", "ignored"],
);

/** Finds files and directories by name. */
export const glob: ReadingTool<CheckedGlobArgs, GlobData> = {
  kind: "read",
  name: "glob",
  title: "Find files",
  traits: ["searches", "needsDirectory"],
  otherNames: {
    names:
      /^search(?:files?|code|project)?$|^codebasesearch$|^filesearch$|^find(?:files?|byname|name)?$|^globfiles?$|^globsearch$|^locate$/u,
    does: "finds names",
  },
  description: `Finds files by name pattern, such as **/*.ts or src/*.{js,jsx}, anywhere below a directory; one path a line. A pattern without a slash (*.ts) matches at any depth. Use it when you know something of the name; to search contents use grep, to look around list_directory.
Ignored files and .git are left out, symbolic links are not followed. At most limit paths are given; the total is always told.`,
  inputSchema,
  outputSchema,
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  aliases: PATH_ALIASES,
  parse: compileArgumentCheck("glob", inputSchema),
  paths: (args) => [{ argument: "path", typed: args.path, intent: "read", missing: "refuse" }],
  scans: () => true,
  run: runGlob,
  texts: {
    render(data, args, call) {
      if (data.matches.length === 0) {
        const patterns = patternListOf(args);
        const list = patterns.length === 1 ? unmatchedGlobHint(patterns[0] as string) : undefined;
        return `No files match ${patterns.map(escapeControls).join(", ")}${list === undefined ? "" : `\n[${list}]`}`;
      }
      const lines = data.matches.map(escapeControls);
      if (data.truncated)
        lines.push(
          `[${lines.length} of ${data.total} matches; ${nextPageHint(data, call.reader.names) ?? "narrow the pattern to see the others"}]`,
        );
      return lines.join("\n");
    },
    display: ({ total, truncated }, { pattern }) =>
      `Found ${plural(total, "path")} for ${quoteForPeople([pattern].flat().join(" "))}${truncatedClause(truncated)}`,
    fit: {
      // Runs the search again with a lower limit, because only the search can make the cursor for the new end.
      shrink: async (data, args, lines, call) =>
        (await runGlob({ ...args, limit: Math.max(1, Math.min(lines, data.matches.length)) }, call)).data,
    },
  },
};

/**
 * Returns the advice how to get the next page; undefined when there is no cursor, or the caller cannot pass
 * one.
 */
function nextPageHint({ next_cursor: next }: GlobData, names: ReaderNames): string | undefined {
  const assigned = next === undefined ? undefined : assignmentPhrase(names, "cursor", next);
  return assigned === undefined ? undefined : `continue with ${assigned}`;
}

function patternListOf(args: Pick<GlobArgs, "pattern">): readonly string[] {
  return typeof args.pattern === "string" ? [args.pattern] : args.pattern;
}

async function runGlob(args: CheckedGlobArgs, call: Call): Promise<Answer<GlobData>> {
  const at = call.locations[0]!;
  if (!(await call.fs.stat(at.path)).isDir) throw locationError("NOT_DIRECTORY", at);
  const covered = await coveredRoots(args.path, call);
  const patternsBelow = (root: string): readonly string[] =>
    patternListOf(args)
      .flatMap((pattern) => globsInForm(pattern, call.reach.summary.paths))
      .map((pattern) => patternBelow(pattern, root, call.reach.summary.paths));
  const queryIn = (root: string) => ({
    pattern: patternsBelow(root),
    exclude: args.exclude,
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
      closedRootsNote(covered, "searched"),
      covered.roots.length > 1 || covered.closed.length > 0
        ? undefined
        : otherRootsNote(found.total, at.path, call.reach.summary),
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
    engine().glob(searchedGlobs(call, patternsBelow(root)), { caseSensitive }),
  );
}

/** Returns the first directory that a search for names could not list. */
function firstUnlisted(
  unreadable: number,
  { roots }: CoveredRoots,
  { hidden, respect_ignore: respectIgnore }: Pick<CheckedGlobArgs, "hidden" | "respect_ignore">,
  call: Call,
): Promise<LeftOutEntry | undefined> | undefined {
  if (unreadable === 0) return undefined;
  const query = { hidden, respectIgnore, ignoreFiles: call.settings.ignoreFiles };
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
