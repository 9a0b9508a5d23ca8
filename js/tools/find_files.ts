/** `find_files`: fuzzy search for files by their paths. */
import { findRankedFiles } from "../backends/search/search-fuzzy.ts";
import { childOf } from "../backends/paths.ts";
import type { FuzzyResult } from "../engine/search-types.ts";
import { closedRootsNote, coveredRoots } from "./every-root.ts";
import { leftOutNote, otherRootsNote } from "./render/left-out.ts";
import { findLeftOut } from "./lib/left-out-entry.ts";
import { named } from "./lib/exact.ts";
import type { FindFilesData, FoundFile } from "./generated/types.ts";
import type { CheckedArgs } from "./generated/internal.ts";
import { compileArgumentCheck, object } from "./lib/schema.ts";
import {
  choice,
  flag,
  integer,
  PATH_ALIASES,
  path,
  text,
  timeoutSchema,
  WARNINGS_SCHEMA,
} from "./lib/shared.ts";
import {
  phraseIfNamed,
  set,
  settingPhrase,
  type Answer,
  type Call,
  type ReadingTool,
  locationError,
} from "./lib/tool.ts";
import { escapeControls, plural } from "../engine/escape.ts";
import { quoteForPeople, truncatedClause } from "./lib/text.ts";

type CheckedFindFilesArgs = CheckedArgs["find_files"];

const inputSchema = object(
  {
    query: text(
      "Letters of the path in their order, such as usrctl for src/user/controller.ts; case and spaces do not count, and in longer queries one letter may be wrong.",
      { minLength: 1 },
    ),
    path: path("The directory to look in", { default: "." }),
    rank: choice("score; recent: files that changed lately count more.", ["score", "recent"], "score"),
    respect_ignore: flag("Leave out what .gitignore, .ignore and .agentignore files name.", true),
    limit: integer("The most files given.", { default: 20, minimum: 1, maximum: 100_000 }),
    timeout_ms: timeoutSchema(),
  },
  ["query"],
);

const outputSchema = object(
  {
    files: {
      type: "array",
      description: "Files, best first.",
      items: named(
        "FoundFile",
        object({ path: text("Relative to the workspace."), score: integer("Higher is better.") }, [
          "path",
          "score",
        ]),
      ),
    },
    total: integer("All files that fit, also those beyond the limit."),
    truncated: { type: "boolean", description: "Whether there are more." },
    warnings: WARNINGS_SCHEMA,
  },
  ["files", "total", "truncated"],
);

/** Finds files by some of the letters of their paths. */
export const findFiles: ReadingTool<CheckedFindFilesArgs, FindFilesData> = {
  kind: "read",
  name: "find_files",
  title: "Find files by letters",
  traits: ["isExtra", "searches", "needsDirectory"],
  description: `Finds files whose paths have the letters of query in their order, the best first, one path a line. Use it when you remember a name roughly or in part; when you know a pattern use glob, to search contents grep.
Matches in the file's own name count more than in its directories. Ignored files and .git are left out. At most limit paths are given; the total is always told.`,
  inputSchema,
  outputSchema,
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  aliases: PATH_ALIASES,
  parse: compileArgumentCheck("find_files", inputSchema),
  paths: (args) => [{ argument: "path", typed: args.path, intent: "read", missing: "refuse" }],
  scans: () => true,
  run: runFindFiles,
  texts: {
    render(data, args) {
      if (data.files.length === 0) return `No files match ${escapeControls(args.query)}`;
      const lines = data.files.map((file) => escapeControls(file.path));
      if (data.truncated) lines.push(`[${lines.length} of ${data.total} files; more letters narrow it]`);
      return lines.join("\n");
    },
    display: ({ total, truncated }, { query }) =>
      `Found ${plural(total, "file")} for ${quoteForPeople(query)}${truncatedClause(truncated)}`,
    fit: {
      shrink: (data, _args, lines) => ({
        ...data,
        files: data.files.slice(0, Math.max(1, lines)),
        truncated: true,
      }),
    },
  },
};

async function runFindFiles(args: CheckedFindFilesArgs, call: Call): Promise<Answer<FindFilesData>> {
  const at = call.locations[0]!;
  if (!(await call.fs.stat(at.path)).isDir) throw locationError("NOT_DIRECTORY", at);
  const covered = await coveredRoots(args.path, call);
  const roots = covered.roots.map((root) => root.path);
  const found: { readonly files: FoundFile[]; total: number } = { files: [], total: 0 };
  for (const root of roots) {
    const { files, total } = await findBestBelowRoot(args, args.limit, call, root);
    found.files.push(
      ...files.map((file) => ({ ...file, path: call.reader.display(childOf(root, file.path)) })),
    );
    call.seen.noteListed(files.map((file) => childOf(root, file.path)));
    found.total += total;
  }
  // The sort is stable: among equal scores those of the working directory come first.
  if (roots.length > 1) found.files.sort((a, b) => b.score - a.score);
  const files = found.files.slice(0, args.limit);
  const { total } = found;
  const truncated = files.length < total;
  const data = { files, total, truncated };
  const alone = args.path === "." ? undefined : otherRootsNote(total, at.path, call.reach.summary);
  const warnings = [alone, closedRootsNote(covered, "searched")].filter((note) => note !== undefined);
  // When the answer is truncated, its text already says that files are missing.
  if (!truncated)
    for (const root of roots) warnings.push(...(await leftOutWarnings(args, call, root, total)));
  return { data, warnings };
}

/** The maximum number of files that one ranked search returns; the best are kept. */
const MAX_RANKED_FILES = 10_000;

/**
 * Finds the files below a root, best first, at most `limit`. A query whose composed and decomposed Unicode
 * forms differ is searched in all forms, because file names may have any of them.
 */
async function findBestBelowRoot(
  {
    query,
    rank,
    respect_ignore: respectIgnore,
  }: Pick<CheckedFindFilesArgs, "query" | "rank" | "respect_ignore">,
  limit: number,
  call: Call,
  root: string,
): Promise<FuzzyResult> {
  const { signal } = call;
  const { ignoreFiles } = call.settings;
  const forms = [...new Set([query, query.normalize("NFC"), query.normalize("NFD")])];
  // A file that matches in two forms counts once, so the results of each form are needed beyond `limit`.
  const wanted = forms.length === 1 ? limit : MAX_RANKED_FILES;
  const best = new Map<string, number>();
  let total = 0;
  for (const form of forms) {
    const options = { query: form, limit: wanted, rank, respectIgnore, ignoreFiles, signal } as const;
    const found = await findRankedFiles(call.fs, root, options);
    total = Math.max(total, found.total);
    for (const { path, score } of found.files) best.set(path, Math.max(score, best.get(path) ?? 0));
  }
  const files = [...best].map(([path, score]) => ({ path, score }));
  if (forms.length === 1) return { files, total };
  files.sort((a, b) => b.score - a.score);
  return { files: files.slice(0, limit), total: Math.max(total, files.length) };
}

/**
 * Returns warnings about files below a root that the answer lacks although it is not truncated: ignored and
 * unreadable ones.
 */
async function leftOutWarnings(
  args: CheckedFindFilesArgs,
  call: Call,
  root: string,
  total: number,
): Promise<readonly string[]> {
  const { signal } = call;
  const { ignoreFiles } = call.settings;
  const names = { pattern: "**", limit: 1, respectIgnore: args.respect_ignore, ignoreFiles, signal } as const;
  const walked = await call.fs.find(root, names);
  const notes: string[] = [];
  if (total === 0 && args.respect_ignore && walked.ignored + walked.ignoredDirectories > 0) {
    const ignored = (await findBestBelowRoot({ ...args, respect_ignore: false }, 1, call, root)).total;
    const unignored = settingPhrase(call.reader.names, set("respect_ignore", false));
    if (ignored > 0)
      notes.push(
        `${plural(ignored, "match", "matches")} left out: ignored by .gitignore or the like${phraseIfNamed(unignored, (shown) => `; ${shown} finds them`)}`,
      );
  }
  const query = { respectIgnore: args.respect_ignore, ignoreFiles };
  const unread = walked.unreadable > 0 ? await findLeftOut(call, [root], query, { files: false }) : undefined;
  return [...notes, leftOutNote(walked.unreadable, "listed", unread)].filter((note) => note !== undefined);
}
