import { truncatedClause } from "./lib/text.ts";
import { renderListing } from "./render/listing.ts";
import { named } from "./lib/exact.ts";
import type { ListDirectoryData } from "./generated/types.ts";
import type { CheckedArgs } from "./generated/internal.ts";
import { compileArgumentCheck, object } from "./lib/schema.ts";
import {
  choice,
  flag,
  integer,
  path,
  PATH_ALIASES,
  text,
  texts,
  timeoutSchema,
  WARNINGS_SCHEMA,
} from "./lib/shared.ts";
import { MAX_TOKENS_SCHEMA, TOKENS_SCHEMA } from "./lib/tokens.ts";
import type { ReadingTool } from "./lib/tool.ts";
import { escapeControls, plural } from "../engine/escape.ts";
import { lazily } from "../engine/lazy.ts";

const listing = lazily("listings", () => import("./run/list_directory.ts"));

type Args = CheckedArgs["list_directory"];

const inputSchema = object(
  {
    path: path("The directory", { default: "." }),
    depth: integer("How many levels: 1 lists the directory itself, 2 also its subdirectories, and so on.", {
      default: 1,
      minimum: 1,
      maximum: 32,
    }),
    hidden: flag("Show names that begin with a dot.", true),
    ignore: texts("Globs of what to leave out, such as node_modules or *.log.", { default: [] }),
    respect_ignore: flag("Leave out what .gitignore, .ignore and .agentignore files name.", false),
    sort: choice("`type` puts directories first.", ["type", "name", "size", "mtime"], "type"),
    order: choice("asc or desc.", ["asc", "desc"], "asc"),
    limit: integer("The most entries given.", { default: 1000, minimum: 1, maximum: 100_000 }),
    cursor: text("`next_cursor` of an earlier call with the same arguments, to go on from there."),
    format: choice(
      "The text: marked lines, JSON, bare names, or an indented tree.",
      ["text", "json", "names", "tree"],
      "text",
    ),
    max_tokens: MAX_TOKENS_SCHEMA,
    timeout_ms: timeoutSchema(),
  },
  [],
);

const outputSchema = object(
  {
    path: text("The directory, relative to the workspace."),
    entries: {
      type: "array",
      description: "The entries of this page, each directory followed by what is in it.",
      items: named(
        "ListedEntry",
        object(
          {
            name: text("Last part of the path."),
            path: text("Relative to the workspace."),
            type: {
              type: "string",
              enum: ["file", "dir", "symlink", "other"],
              description: "`other` is a FIFO, socket or device.",
            },
            size: integer("Bytes."),
            modified: text("ISO 8601, UTC."),
            target: text("Where a link points."),
          },
          ["name", "path", "type"],
        ),
      ),
    },
    total: integer("All entries, also those beyond the limit."),
    truncated: { type: "boolean", description: "Whether there are more." },
    next_cursor: text("Pass as cursor to go on."),
    tokens: TOKENS_SCHEMA,
    warnings: WARNINGS_SCHEMA,
  },
  ["path", "entries", "total", "truncated"],
);

/** Lists a directory. */
export const listDirectory: ReadingTool<Args, ListDirectoryData> = {
  kind: "read",
  name: "list_directory",
  title: "List directory",
  traits: ["searches", "needsDirectory"],
  otherNames: {
    names: /^(?:ls|dir|tree|listdir|listfiles?|directorytree|readdir|listfolder)$/u,
    does: "lists directories",
  },
  description: `Lists a directory: names, types, sizes and times, directories first. depth goes into subdirectories. Use it to look around; to find files by name anywhere use glob, by content grep.
Symbolic links are shown with their target, unless that is out of bounds, and never followed. At most limit entries are given; the total is always told, and next_cursor goes on.`,
  inputSchema,
  outputSchema,
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  aliases: PATH_ALIASES,
  parse: compileArgumentCheck("list_directory", inputSchema),
  paths: (args) => [{ argument: "path", typed: args.path, intent: "read", missing: "refuse" }],
  // A single directory is listed without waiting for a turn, because that is as fast as reading a file.
  scans: ({ depth, respect_ignore }) => depth > 1 || respect_ignore,
  run: async (args, call) => (await listing()).run(args, call),
  texts: {
    render: (data, args, call) => renderListing(data, args, call.reader.names),
    display: ({ path, total, truncated }) =>
      `Listed ${escapeControls(path)}: ${plural(total, "entry", "entries")}${truncatedClause(truncated)}`,
    fit: {
      async shrink(data, args, lines) {
        const { offsetOf, cursorAfter } = await listing();
        const entries = data.entries.slice(0, Math.max(1, lines));
        const next = offsetOf(args, data.path) + entries.length;
        return { ...data, entries, truncated: true, next_cursor: cursorAfter(data.path, next) };
      },
    },
  },
};
