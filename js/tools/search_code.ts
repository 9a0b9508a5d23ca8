import { escapeControls, plural } from "../engine/escape.ts";
import { lazily } from "../engine/lazy.ts";
import type { CheckedArgs } from "./generated/internal.ts";
import type { SearchCodeData } from "./generated/types.ts";
import { named } from "./lib/exact.ts";
import { BLOCK_HASH_PATTERN, compileArgumentCheck, object } from "./lib/schema.ts";
import {
  choice,
  integer,
  PATH_ALIASES,
  path,
  text,
  textOrTextListSchema,
  timeoutSchema,
  WARNINGS_SCHEMA,
} from "./lib/shared.ts";
import { countLines, quoteForPeople } from "./lib/text.ts";
import { MAX_TOKENS_SCHEMA, TOKENS_SCHEMA } from "./lib/tokens.ts";
import type { ReadingTool } from "./lib/tool.ts";
import { blockText, withBestBlocks } from "./render/blocks.ts";

const searching = lazily("ranked searches", () => import("./run/search_code.ts"));

type SearchCodeArgs = CheckedArgs["search_code"];

const inputSchema = object(
  {
    query: text("What to look for, in words or names: where are expired sessions removed; SessionStore.", {
      minLength: 1,
    }),
    path: path("The directory to search", { default: "." }),
    glob: textOrTextListSchema("Only files whose path matches: *.ts at any depth, src/** below a directory."),
    kind: named(
      "CodeKind",
      choice(
        "definition: only blocks that define a name of the query. test: only tests.",
        ["any", "definition", "test"],
        "any",
      ),
    ),
    max_tokens: { ...MAX_TOKENS_SCHEMA, default: 2000 },
    limit: integer("The most blocks given.", { default: 10, minimum: 1, maximum: 100 }),
    known: {
      type: "array",
      description: "Hashes (#1a2b3c) of blocks that you have: they come back as one line.",
      items: text("Six hexadecimal digits.", { pattern: BLOCK_HASH_PATTERN }),
      maxItems: 1000,
      default: [],
    },
    timeout_ms: timeoutSchema(),
  },
  ["query"],
);

const outputSchema = object(
  {
    blocks: {
      type: "array",
      description: "Blocks, best first.",
      items: named(
        "FoundBlock",
        object(
          {
            path: text("Relative to the workspace."),
            first_line: integer("From 1."),
            last_line: integer("Inclusive."),
            hash: text("Six hexadecimal digits that change with the lines of the block."),
            known: { type: "boolean", description: "Whether known has its hash; then it has no lines." },
            lines: {
              type: "array",
              description:
                "The line of the definition, and those with words of the query. Of a first block that is larger than max_tokens, those that fit.",
              items: named(
                "FoundLine",
                object({ line: integer("From 1."), text: text("At most 200 characters.") }, ["line", "text"]),
              ),
            },
            lines_left_out: integer("How many of its lines did not fit, if any."),
          },
          ["path", "first_line", "last_line", "hash", "known", "lines"],
        ),
      ),
    },
    left_out: integer("Blocks that were found and do not fit into the answer."),
    left_out_by: {
      type: "string",
      enum: ["max_tokens", "size"],
      description:
        "The limit that left out blocks or lines: max_tokens, or that of the size of every answer.",
    },
    tokens: TOKENS_SCHEMA,
    files_searched: integer("Files searched."),
    complete: { type: "boolean", description: "Whether everything was searched." },
    warnings: WARNINGS_SCHEMA,
  },
  ["blocks", "left_out", "files_searched", "complete"],
);

/** Finds the blocks of code that fit a question best. */
export const searchCode: ReadingTool<SearchCodeArgs, SearchCodeData> = {
  kind: "read",
  name: "search_code",
  title: "Search code by meaning of words",
  traits: ["searches", "needsDirectory"],
  description: `Finds the functions, types and passages that fit a question best, best first: path:first-last #hash, then the line of the definition and the lines with words of the query. Use it when you do not know how the code names a thing; when you know the exact text use grep.
It compares words and names, not types: two functions with one name are not told apart. Ignored and binary files are left out. The answer has at most max_tokens tokens and says what was left out.`,
  inputSchema,
  outputSchema,
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  aliases: PATH_ALIASES,
  parse: compileArgumentCheck("search_code", inputSchema),
  paths: (args) => [{ argument: "path", typed: args.path, intent: "read", missing: "refuse" }],
  // It searches until its time is up, and ranks what it has.
  scans: () => "partial",
  run: async (args, call) => (await searching()).runSearchCode(args, call),
  texts: {
    render: (data, args) => codeText(data, args),
    display: ({ blocks }, { query }) =>
      `Found ${plural(blocks.length, "block")} for ${quoteForPeople(query)}`,
    fit: {
      shrink(data, _args, lines) {
        let left = lines;
        return withBestBlocks(data, "size", (text) => {
          const isTaken = countLines(text) <= left;
          if (isTaken) left -= countLines(text);
          return isTaken;
        });
      },
    },
  },
};

/** Returns the text of an answer. */
function codeText(
  { blocks, left_out, left_out_by, complete }: SearchCodeData,
  { query, kind }: SearchCodeArgs,
): string {
  const notes: string[] = [];
  if (blocks.length === 0 && left_out === 0)
    notes.push(
      kind === "definition"
        ? `Nothing defines a name of ${escapeControls(query)}`
        : `Nothing fits ${escapeControls(query)}`,
    );
  const remedy = left_out_by === "size" ? "a narrower path or glob" : "a larger max_tokens";
  if (left_out > 0) notes.push(`[${plural(left_out, "more block")}; ${remedy} gives them]`);
  else if (left_out_by !== undefined) notes.push(`[${remedy} gives the lines that are left out]`);
  if (!complete)
    notes.push("[the time was up before every file was searched; a larger timeout_ms searches all]");
  return [blocks.map(blockText).join("\n\n"), ...notes].filter(Boolean).join("\n\n");
}
