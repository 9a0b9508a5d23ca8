import { named } from "./lib/exact.ts";
import type { FindFilesData } from "./generated/types.ts";
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
import type { ReadingTool } from "./lib/tool.ts";
import { escapeControls, plural } from "../engine/escape.ts";
import { quoteForPeople, truncatedClause } from "./lib/text.ts";
import { lazily } from "../engine/lazy.ts";

const searching = lazily("searches by letters", () => import("./run/find_files.ts"));

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
  run: async (args, call) => (await searching()).runFindFiles(args, call),
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
