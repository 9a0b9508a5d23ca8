import { unmatchedGlobHint } from "./grep/text.ts";
import { quoteForPeople, truncatedClause } from "./lib/text.ts";
import { MAX_TOKENS_SCHEMA, TOKENS_SCHEMA } from "./lib/tokens.ts";
import { assignmentPhrase, type ReaderNames, type ReadingTool } from "./lib/tool.ts";
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
import { escapeControls, plural } from "../engine/escape.ts";
import { lazilyEarly } from "../engine/lazy.ts";

const searching = lazilyEarly("searches of names", () => import("./run/glob.ts"));

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
    max_tokens: MAX_TOKENS_SCHEMA,
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
    tokens: TOKENS_SCHEMA,
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
  run: async (args, call) => (await searching()).runGlob(args, call),
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
        (
          await (
            await searching()
          ).runGlob({ ...args, limit: Math.max(1, Math.min(lines, data.matches.length)) }, call)
        ).data,
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
