/** `find_files`: finds files by some letters of their paths. */
import { findFilesBackend } from "../backends/search-fuzzy.ts";
import { childOf } from "../backends/paths.ts";
import { findBackend } from "../backends/search.ts";
import { otherRootsNote, unreadableNote } from "./left-out.ts";
import { compile, object } from "./schema.ts";
import { choice, flag, integer, PATH_ALIASES, path, text, timeout, WARNINGS } from "./shared.ts";
import { where } from "./names.ts";
import { escapeControls, plural } from "./text.ts";
import { type Answer, type Call, type ReadingTool, refuse } from "./tool.ts";

/** The arguments of `find_files`. */
export interface FindFilesArgs {
  readonly query: string;
  readonly path?: string;
  readonly rank?: "score" | "recent";
  readonly respect_ignore?: boolean;
  readonly limit?: number;
  readonly timeout_ms?: number;
}

/** What `find_files` found. */
export interface FindFilesData {
  /** Best first. */
  readonly files: readonly FoundFile[];
  /** All that fit, also those beyond the limit. */
  readonly total: number;
  readonly truncated: boolean;
  /** What else is to be known, such as that something was left out. */
  readonly warnings?: readonly string[];
}

/** A file and how well it fits. */
export interface FoundFile {
  /** Relative to the workspace. */
  readonly path: string;
  /** Higher is better; comparable within one answer only. */
  readonly score: number;
}

type Args = Required<FindFilesArgs>;

const inputSchema = object(
  {
    query: text(
      "Letters of the path in their order, such as usrctl for src/user/controller.ts; case and spaces do not count, and in longer queries one letter may be wrong.",
      { minLength: 1 },
    ),
    path: path("The directory to look in", { default: "." }),
    rank: choice("score; recent: files that changed lately count more.", ["score", "recent"], "score"),
    respect_ignore: flag("Leave out what .gitignore, .ignore and .agentignore files name.", true),
    limit: integer("The most files given.", { default: 20, minimum: 1, maximum: 1000 }),
    timeout_ms: timeout(),
  },
  ["query"],
);

const outputSchema = object(
  {
    files: {
      type: "array",
      description: "Files, best first.",
      items: object({ path: text("Relative to the workspace."), score: integer("Higher is better.") }, [
        "path",
        "score",
      ]),
    },
    total: integer("All files that fit, also those beyond the limit."),
    truncated: { type: "boolean", description: "Whether there are more." },
    warnings: WARNINGS,
  },
  ["files", "total", "truncated"],
);

/** Finds files by some letters of their paths. */
export const findFiles: ReadingTool<Args, FindFilesData> = {
  kind: "read",
  searches: true,
  name: "find_files",
  title: "Find files by letters",
  description: `Finds files whose paths have the letters of query in their order, the best first, one path a line. Use it when you remember a name roughly or in part; when you know a pattern use glob, to search contents grep.
Matches in the file's own name count more than in its directories. Ignored files and .git are left out. At most limit paths are given; the total is always told.`,
  inputSchema,
  outputSchema,
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  aliases: PATH_ALIASES,
  parse: compile("find_files", inputSchema),
  paths: (args) => [{ argument: "path", typed: args.path, intent: "read" }],
  scans: () => true,
  run,
  render(data, args) {
    if (data.files.length === 0) return `No files match ${escapeControls(args.query)}`;
    const lines = data.files.map((file) => escapeControls(file.path));
    if (data.truncated) lines.push(`[${lines.length} of ${data.total} files; more letters narrow it]`);
    return lines.join("\n");
  },
  shrink: (data, _args, lines) => ({
    ...data,
    files: data.files.slice(0, Math.max(1, lines)),
    truncated: true,
  }),
};

async function run(args: Args, call: Call): Promise<Answer<FindFilesData>> {
  const at = call.locations[0]!;
  if (!(await call.fs.stat(at.path)).isDir) throw refuse("NOT_DIRECTORY", at);
  const found = await findFilesBackend(call.fs, at.path, {
    query: args.query,
    limit: args.limit,
    rank: args.rank,
    respectIgnore: args.respect_ignore,
    ignoreFiles: call.ignoreFiles,
    signal: call.signal,
  });
  const files = found.files.map(({ path: found_, score }) => ({
    path: call.display(childOf(at.path, found_)),
    score,
  }));
  const truncated = files.length < found.total;
  const data = { files, total: found.total, truncated };
  // Whoever is told of more knows that this is not all.
  return truncated ? { data } : { data, warnings: await leftOut(args, call, at.path, found.total) };
}

/** What an answer that looks complete left out. */
async function leftOut(args: Args, call: Call, root: string, total: number): Promise<readonly string[]> {
  const { signal, ignoreFiles } = call;
  const names = { pattern: "**", limit: 1, respectIgnore: args.respect_ignore, ignoreFiles, signal } as const;
  const walked = await findBackend(call.fs, root, names);
  const notes: string[] = [];
  if (total === 0 && args.respect_ignore && walked.ignored > 0) {
    const all = { query: args.query, limit: 1, respectIgnore: false, signal } as const;
    const ignored = (await findFilesBackend(call.fs, root, all)).total;
    const name = call.names.argument("respect_ignore");
    if (ignored > 0)
      notes.push(
        `${plural(ignored, "match", "matches")} left out: ignored by .gitignore or the like${where(name, (shown) => `; ${shown}: false finds them`)}`,
      );
  }
  const others = otherRootsNote(total, root, call.access);
  return [...notes, unreadableNote(walked.unreadable), others].filter((note) => note !== undefined);
}
