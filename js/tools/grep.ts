/** `grep`: searches the contents of files. */
import { childOf, isWithin, relativeTo } from "../backends/paths.ts";
import { isAbsolutePath, pathOfDisplayed } from "../backends/windows-paths.ts";
import { engine } from "../engine/current.ts";
import { encodeCursor } from "../engine/wire/cursor.ts";
import { FilewrightError } from "../engine/errors.ts";
import type { SearchCounts, SearchQuery, SearchResult } from "../engine/search-types.ts";
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
  WARNINGS_SCHEMA,
} from "./lib/shared.ts";
import {
  closedRootsNote,
  type CoveredRoots,
  coveredRoots,
  grepInCovered,
  grepInRoot,
  makeRootCursor,
} from "./every-root.ts";
import { grepText, resultLines } from "./grep/text.ts";
import { withoutUndefined } from "../schema/without-undefined.ts";
import { plural } from "../engine/escape.ts";
import { maxAnswerBytes, quoteForPeople, truncatedClause } from "./lib/text.ts";
import { matchesElsewhereNote } from "./grep/elsewhere.ts";
import { exactly, named } from "./lib/exact.ts";
import type { GrepData, GrepMatch, GrepSummary } from "./generated/types.ts";
import type { CheckedArgs } from "./generated/internal.ts";
import {
  excludeGlobNotes,
  grepWarnings,
  type LeftOutFiles,
  otherReadableRoots,
  otherRootsNote,
} from "./render/left-out.ts";
import { findLeftOut } from "./lib/left-out-entry.ts";
import { unfollowedLinksNote } from "./render/unfollowed.ts";
import type { Answer, Call, ReadingTool } from "./lib/tool.ts";
import { searchedGlobs } from "./lib/walks.ts";

type GrepToolArgs = CheckedArgs["grep"];

const inputSchema = object(
  {
    pattern: text(
      "Regular expression (Rust syntax: no look-around, no back-references), or plain text with regex: false.",
      { minLength: 1 },
    ),
    path: path("The directory to search, or one file", { default: "." }),
    glob: textOrTextListSchema("Only files whose path matches: *.ts at any depth, src/** below a directory."),
    exclude: texts("Globs of files to leave out.", { default: [] }),
    file_types: texts("Only files of these types or extensions: ts, rust, .py.", { default: [] }),
    regex: flag("False: the pattern is plain text.", true),
    case: choice(
      "Whether letter case counts; smart: only where the pattern has a capital.",
      ["sensitive", "insensitive", "smart"],
      "sensitive",
    ),
    word: flag("Match whole words only.", false),
    multiline: flag("Let a match span lines.", false),
    before: integer("Lines shown before each match.", { minimum: 0, maximum: 50 }),
    after: integer("Lines shown after each match.", { minimum: 0, maximum: 50 }),
    context: integer("Lines shown before and after each match.", { default: 0, minimum: 0, maximum: 50 }),
    output: named(
      "GrepOutput",
      choice(
        "The matching lines, only the paths of files that match, or the number of matching lines of each.",
        ["content", "files", "count"],
        "content",
      ),
    ),
    rank: named(
      "Rank",
      choice(
        "path; definitions: lines that define what was found first; recent: files that changed lately first. The latter two have no cursor.",
        ["path", "definitions", "recent"],
        "path",
      ),
    ),
    max_results: integer("The most lines (or files) given.", {
      default: 200,
      minimum: 1,
      maximum: 1_000_000,
    }),
    max_per_file: integer("The most lines given of one file.", { minimum: 1 }),
    max_line_chars: integer("Longer lines are cut around the match. 0: never.", { default: 500, minimum: 0 }),
    hidden: flag("Search names that begin with a dot too; .git is never searched.", true),
    respect_ignore: flag("Leave out what .gitignore, .ignore and .agentignore files name.", true),
    cursor: text("`next_cursor` of an earlier call with the same arguments, to go on from there."),
    timeout_ms: integer("After this time what was found so far is given.", { default: 30_000, minimum: 1 }),
  },
  ["pattern"],
);

const AS_TEXT = object(
  { path: text("The first file."), line: integer("The first line."), count: integer("Matching lines.") },
  ["path", "line", "count"],
);

const outputSchema = exactly(
  object(
    {
      matches: {
        type: "array",
        description: "Matching lines, by path and line.",
        items: named(
          "GrepMatch",
          object(
            {
              path: text("Relative to the workspace."),
              line: integer("From 1."),
              column: integer("Of the first match, in characters from 1."),
              text: text("The line."),
              end_line: integer("Last line of a match that spans several."),
              rest: {
                type: "array",
                items: { type: "string" },
                description: "Lines of such a match after its first.",
              },
              before: { type: "array", items: { type: "string" }, description: "Lines before." },
              after: { type: "array", items: { type: "string" }, description: "Lines after." },
            },
            ["path", "line", "column", "text"],
          ),
        ),
      },
      files: { type: "array", items: { type: "string" }, description: "With output files." },
      counts: {
        type: "array",
        description: "With output count.",
        items: named(
          "GrepCount",
          object({ path: text("Relative to the workspace."), count: integer("Matching lines.") }, [
            "path",
            "count",
          ]),
        ),
      },
      total_matches: integer("Matching lines; a lower bound unless complete."),
      files_with_matches: integer("Files that match."),
      files_searched: integer("Files searched."),
      skipped_binary: integer("Binary files passed over."),
      skipped_large: integer("Files too large to be searched."),
      unreadable: integer("Entries that could not be read."),
      truncated: { type: "boolean", description: "Whether there is more." },
      fresh: exactly(text("watch, sweep or scan: how changes are known."), {
        values: ["watch", "sweep", "scan"],
      }),
      complete: { type: "boolean", description: "Whether everything was searched." },
      incomplete_reason: text("max_results, max_per_file or timeout."),
      next_cursor: text("Pass as cursor to go on."),
      as_text: exactly(AS_TEXT, {
        object: {
          ...AS_TEXT,
          description: "Where a pattern that finds nothing as a regular expression is there as plain text.",
        },
      }),
      warnings: WARNINGS_SCHEMA,
    },
    ["total_matches", "files_with_matches", "files_searched", "skipped_binary", "truncated", "complete"],
  ),
  {
    always: ["skipped_large", "unreadable", "fresh"],
    oneOf: {
      common: "GrepSummary",
      by: { argument: "output", type: "GrepOutput" },
      cases: [
        { name: "GrepContentData", value: "content", required: ["matches"] },
        { name: "GrepFilesData", value: "files", required: ["files"] },
        { name: "GrepCountData", value: "count", required: ["counts"] },
      ],
    },
  },
);

/** Searches the contents of files. */
export const grep: ReadingTool<GrepToolArgs, GrepData> = {
  kind: "read",
  name: "grep",
  title: "Search contents",
  traits: ["searches"],
  otherNames: {
    names:
      /^search(?:files?|code|project)?$|^codebasesearch$|^filesearch$|^(?:rip)?grep(?:search|files)?$|^rg$|^searchcontents?$|^searchtext$|^findtext$|^searchfilecontent$/u,
    does: "finds contents",
  },
  description: `Searches the contents of files for a regular expression or plain text, below a directory or in one file; gives path:line:text by path and line, or a path with line:text below it where a file has six lines or more. Use it to find where something is defined or used; to find files by name use glob. Narrow it with glob or file_types; output files or count gives an overview first.
Ignored files, binary files and .git are left out. Nothing found is a success. At most max_results lines are given; the last line then says that there is more, and next_cursor goes on.`,
  inputSchema,
  outputSchema,
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  aliases: PATH_ALIASES,
  parse: compileArgumentCheck("grep", inputSchema),
  paths: (args) => [{ argument: "path", typed: args.path, intent: "read", missing: "refuse" }],
  scans: () => "partial",
  run: runGrep,
  texts: {
    render(data, args, { reader: { names } }) {
      return grepText(data, args, names);
    },
    display({ total_matches, files_with_matches, complete, truncated }, { pattern }) {
      const counts = `${plural(total_matches, "match", "matches")} in ${plural(files_with_matches, "file")}`;
      return `Found ${complete ? "" : "at least "}${counts} for ${quoteForPeople(pattern)}${truncatedClause(truncated)}`;
    },
    fit: {
      shrink(data, args, lines, call) {
        let used = 0;
        const kept = resultLines(data).filter((group) => {
          used += group.length;
          return used <= lines;
        }).length;
        const first = truncateGrepData(data, Math.max(1, kept), call);
        if (args.rank === "path") return first;
        const { next_cursor: _, ...ranked } = first;
        return ranked;
      },
    },
  },
};

async function runGrep(args: GrepToolArgs, call: Call): Promise<Answer<GrepData>> {
  const root = call.locations[0]!.path;
  const query = {
    pattern: args.pattern,
    regex: args.regex,
    case: args.case,
    word: args.word,
    multiline: args.multiline,
    before: args.before,
    after: args.after,
    context: args.context,
    glob: args.glob && searchedGlobs(call, args.glob),
    exclude: searchedGlobs(call, args.exclude),
    fileTypes: args.file_types,
    output: args.output,
    maxResults: args.max_results,
    maxPerFile: args.max_per_file,
    maxLineChars: args.max_line_chars,
    maxFileBytes: call.settings.limits.grepFileBytes,
    hidden: args.hidden,
    respectIgnore: args.respect_ignore,
    ignoreFiles: call.settings.ignoreFiles,
    cursor: args.cursor,
    timeoutMs: Math.max(1, call.timer.timeLeft?.() ?? args.timeout_ms),
  } satisfies SearchQuery;
  if (args.rank !== "path" && args.cursor !== undefined)
    throw new FilewrightError(
      "INVALID_ARGUMENT",
      "Invalid argument 'cursor': results by rank have none; leave it out, or leave rank out.",
      { complete: true, details: { argument: "cursor" } },
    );
  // A ranking considers more matches than the page shows, because the best may come late in path order.
  const maxTextBytes = args.rank === "path" ? maxAnswerBytes(call.settings.limits) : MAX_RANKED_BYTES;
  const signalled = { ...query, maxTextBytes, signal: call.signal };
  const { onProgress } = call.reader;
  const counted = {
    ...signalled,
    onCounts:
      onProgress &&
      (({ files, matches }: SearchCounts) =>
        onProgress({ done: files, message: plural(matches, "match", "matches") })),
  };
  const covered = await coveredRoots(args.path, call);
  const coversMore = covered.roots.length > 1;
  const found = coversMore
    ? await grepInCovered(call, covered, counted, args.rank)
    : await grepInRoot(call, root, args.rank, counted);
  const shown = (path: string): string =>
    call.reader.display(path === "" ? root : path.startsWith("/") ? path : childOf(root, path));
  const data = grepDataOf(found, args, shown);
  const text =
    found.totalMatches === 0 && found.complete
      ? await searchAsPlainText(args, call, signalled, shown)
      : undefined;
  const notes = [...excludeGlobNotes(args.exclude), ...(await leftOutNotes(found, query, call, covered))];
  const others =
    coversMore || covered.closed.length > 0
      ? closedRootsNote(covered, "searched")
      : otherRootsNote(found.totalMatches, root, call.reach.summary);
  const elsewhere = await matchesElsewhereNote(found, args, call, signalled);
  return {
    data: text === undefined ? data : { ...data, as_text: text },
    warnings: [...notes, elsewhere, others].filter((note) => note !== undefined),
  };
}

/** Returns notes about what a search left out. */
async function leftOutNotes(
  found: SearchResult,
  query: SearchQuery,
  call: Call,
  covered: CoveredRoots,
): Promise<readonly (string | undefined)[]> {
  const { glob } = query;
  const globs = () => (glob === undefined ? undefined : engine().glob([glob].flat(), {}));
  return [
    ...grepWarnings(found, await leftOutFiles(found, covered, query, call), call.reader.names),
    found.totalMatches > 0 ? undefined : await unfollowedLinksNote(call, covered, query, globs),
  ];
}

/** Returns the first files that a search left out, by reason. */
async function leftOutFiles(
  { unreadable, skippedLarge }: SearchResult,
  { roots }: CoveredRoots,
  query: SearchQuery,
  call: Call,
): Promise<LeftOutFiles> {
  const paths = roots.map(({ path: root }) => root);
  const look = (above?: number) => findLeftOut(call, paths, query, { files: true, above });
  return {
    unread: unreadable > 0 ? await look() : undefined,
    large: skippedLarge > 0 ? await look(call.settings.limits.grepFileBytes) : undefined,
  };
}

/**
 * Searches for a pattern such as `foo(bar)` as plain text after it found nothing as a regular expression,
 * because code is often sent unescaped. Returns the first match and the number of matching lines; undefined
 * for none.
 */
async function searchAsPlainText(
  { pattern, regex, cursor }: GrepToolArgs,
  call: Call,
  query: SearchQuery,
  shown: (path: string) => string,
): Promise<GrepSummary["as_text"]> {
  // A pattern with these characters is meant as a regular expression: a search for it as text would find
  // nothing.
  if (!regex || cursor !== undefined || !/[()[\]{}?]/u.test(pattern) || /[\\|^$*+]/u.test(pattern))
    return undefined;
  const plain = {
    ...query,
    regex: false,
    output: "content",
    maxResults: MAX_COUNTED_PLAIN_TEXT_LINES,
  } as const;
  const { matches, totalMatches } = await call.fs.grep(call.locations[0]!.path, plain);
  const [first] = matches;
  return first === undefined ? undefined : { path: shown(first.path), line: first.line, count: totalMatches };
}

/**
 * The maximum size in bytes of the matches from which a ranking is made; a search of very long lines ends
 * there.
 */
const MAX_RANKED_BYTES = 4 << 20;

/** The maximum number of matching lines that are counted when a pattern is searched as plain text. */
const MAX_COUNTED_PLAIN_TEXT_LINES = 1000;

function grepDataOf(found: SearchResult, args: GrepToolArgs, shown: (path: string) => string): GrepData {
  const summary = withoutUndefined({
    total_matches: found.totalMatches,
    files_with_matches: found.filesWithMatches,
    files_searched: found.filesSearched,
    skipped_binary: found.skippedBinary,
    skipped_large: found.skippedLarge,
    unreadable: found.unreadable,
    truncated: found.truncated,
    fresh: found.fresh,
    complete: found.complete,
    incomplete_reason: found.incompleteReason,
    next_cursor: found.nextCursor,
  });
  const { counts } = found;
  if (args.output === "content") return { matches: grepMatchesOf(found, shown), ...summary };
  if (args.output === "files") return { files: counts.map(({ path: where }) => shown(where)), ...summary };
  return { counts: counts.map(({ path: where, count }) => ({ path: shown(where), count })), ...summary };
}

function grepMatchesOf(found: SearchResult, shown: (path: string) => string): readonly GrepMatch[] {
  let last = "";
  let path = shown("");
  return found.matches.map((match) => {
    if (match.path !== last) {
      last = match.path;
      path = shown(last);
    }
    const { line, column, text: content, endLine, rest, before, after } = match;
    // Assigns the optional fields, because spreading is slow: a search has thousands of matches.
    const data: { -readonly [K in keyof GrepMatch]: GrepMatch[K] } = { path, line, column, text: content };
    if (endLine !== undefined) data.end_line = endLine;
    if (rest !== undefined) data.rest = rest;
    if (before !== undefined) data.before = before;
    if (after !== undefined) data.after = after;
    return data;
  });
}

/** Returns the data reduced to its first `kept` results, with a cursor that continues after the last of them. */
function truncateGrepData(data: GrepData, kept: number, call: Call): GrepData {
  const cwd = call.locations[0]!.path;
  const roots = call.reader.coversRoots ? [cwd, ...otherReadableRoots(cwd, call.reach.summary)] : [cwd];
  let index = 0;
  const relative = (shown: string): string => {
    const isAbsolute = isAbsolutePath(shown, call.reach.summary.paths);
    const path_ = isAbsolute
      ? pathOfDisplayed(shown, call.reach.summary.paths)
      : childOf(call.reach.summary.cwd, shown);
    index = Math.max(
      0,
      roots.findIndex((root) => isWithin(path_, root)),
    );
    const root = roots[index] as string;
    return path_ === root ? "" : (relativeTo(path_, root) as string);
  };
  const first = keepFirstResults(data, kept);
  const { matches, files, counts } = first;
  const last = matches?.at(-1);
  const place =
    last === undefined
      ? { path: relative(files?.at(-1) ?? (counts?.at(-1)?.path as string)), number: Number.MAX_SAFE_INTEGER }
      : { path: relative(last.path), number: last.line };
  return { ...first, truncated: true, next_cursor: makeRootCursor(index, encodeCursor("grep", place)) };
}

function keepFirstResults(data: GrepData, kept: number): GrepData {
  if (data.files !== undefined) return { ...data, files: data.files.slice(0, kept) };
  if (data.counts !== undefined) return { ...data, counts: data.counts.slice(0, kept) };
  return { ...data, matches: data.matches.slice(0, kept) };
}
