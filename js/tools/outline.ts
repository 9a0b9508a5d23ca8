import { compileArgumentCheck, object } from "./lib/schema.ts";
import { flag, integer, PATH_ALIASES, path, text, timeoutSchema, WARNINGS_SCHEMA } from "./lib/shared.ts";
import { named } from "./lib/exact.ts";
import type { CheckedArgs } from "./generated/internal.ts";
import type { OutlineData, OutlinedFile } from "./generated/types.ts";
import type { ReadingTool } from "./lib/tool.ts";
import { escapeControls, plural } from "../engine/escape.ts";
import { truncatedClause } from "./lib/text.ts";
import { MAX_TOKENS_SCHEMA, TOKENS_SCHEMA } from "./lib/tokens.ts";
import { outlineLines } from "./render/outline.ts";
import { lazily } from "../engine/lazy.ts";

const outlining = lazily("outlines", () => import("./run/outline.ts"));

type Args = CheckedArgs["outline"];

const inputSchema = object(
  {
    path: path("The file, or the directory to map", { default: "." }),
    depth: integer(
      "Levels of definitions: 1 those of the file itself. Default: all of a file, 1 of a directory.",
      {
        minimum: 1,
        maximum: 32,
      },
    ),
    max_tokens: { ...MAX_TOKENS_SCHEMA, default: 4000 },
    anchors: flag("Give the first and last line as anchors (`12#k3x9q1a`), as edit_file takes them.", false),
    hidden: flag("Map names that begin with a dot too; .git is never mapped.", true),
    respect_ignore: flag("Leave out what .gitignore, .ignore and .agentignore files name.", true),
    timeout_ms: timeoutSchema("After this time what was found so far is given."),
  },
  [],
);

const outputSchema = object(
  {
    files: {
      type: "array",
      description: "Files with definitions, by path.",
      items: named(
        "OutlinedFile",
        object(
          {
            path: text("Relative to the workspace."),
            definitions: {
              type: "array",
              description: "By first line, an outer one before those inside.",
              items: named(
                "OutlinedDefinition",
                object(
                  {
                    kind: text("function, method, class, struct, enum, interface, section and so on."),
                    name: text("The name."),
                    signature: text("The line with the name, shortened."),
                    start_line: integer("First line, without decorators and comments above."),
                    end_line: integer("Last line."),
                    lead_line: integer("First line with decorators and comments above, if there are any."),
                    level: integer("0 for one of the file itself, 1 for one inside, and so on."),
                    from: text("Anchor of the first line, with anchors: true."),
                    to: text("Anchor of the last line, with anchors: true."),
                  },
                  ["kind", "name", "signature", "start_line", "end_line", "level"],
                ),
              ),
            },
            total: integer("All definitions of the file to that depth, also those left out."),
          },
          ["path", "definitions", "total"],
        ),
      ),
    },
    total: integer("Files with definitions that were found, also those left out."),
    truncated: {
      type: "boolean",
      description: "Whether files or definitions were left out for lack of room.",
    },
    tokens: TOKENS_SCHEMA,
    warnings: WARNINGS_SCHEMA,
  },
  ["files", "total", "truncated"],
);

/** Lists the definitions of a file, or of the files of a directory. */
export const outline: ReadingTool<Args, OutlineData> = {
  kind: "read",
  name: "outline",
  title: "Outline",
  traits: ["knowsRepository", "searches"],
  otherNames: {
    names:
      /^(?:repomap|repositorymap|symbols|documentsymbols?|listsymbols|getsymbolsoverview|codeoutline|fileoutline)$/u,
    does: "lists definitions",
  },
  description: `Lists what a file defines, such as functions, types, headings and keys, with their lines (\`12-40  class Foo\`), those inside indented. For a directory, a map: each file with its top definitions. Use it before reading a large file, then read_file with symbol or the lines.
About 30 languages are known, without comments and strings. The answer keeps to max_tokens: deeper levels are left out first, then files that do not fit, while later ones that do are still given. anchors: true gives lines as edit_file takes them.`,
  inputSchema,
  outputSchema,
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  aliases: PATH_ALIASES,
  parse: compileArgumentCheck("outline", inputSchema),
  paths: (args) => [{ argument: "path", typed: args.path, intent: "read", missing: "refuse" }],
  scans: () => "partial",
  run: async (args, call) => (await outlining()).runOutline(args, call),
  texts: {
    render: (data) => outlineText(data),
    display: ({ files, total, truncated }, { path: typed }) => {
      const [only] = files;
      const what =
        total === 1 && only !== undefined
          ? plural(only.total, "definition")
          : `definitions of ${plural(total, "file")}`;
      return `Outlined ${escapeControls(typed)}: ${what}${truncatedClause(truncated)}`;
    },
    fit: {
      shrink: (data, _args, lines) => shrunk(data, lines),
    },
  },
};

/** Returns the text of an answer: the lines of each file below its path. */
function outlineText({ files, total, truncated }: OutlineData): string {
  if (files.length === 0)
    return total === 0 ? "No definitions" : `[${plural(total, "file")}; none fits max_tokens]`;
  const lines = files.flatMap((file) => outlineLines(file));
  const left = total - files.length;
  if (left > 0)
    lines.push(`[${plural(left, "more file")} left out; outline a directory below, or set max_tokens]`);
  else if (truncated) lines.push("[definitions left out; outline one file, or set max_tokens]");
  return lines.join("\n");
}

/** Returns an answer with as many lines at most. */
function shrunk(data: OutlineData, lines: number): OutlineData {
  let room = Math.max(2, lines);
  const files: OutlinedFile[] = [];
  for (const file of data.files) {
    if (room < 2) break;
    const definitions = file.definitions.slice(0, room - 1);
    room -= definitions.length + 1;
    files.push({ ...file, definitions });
  }
  return { ...data, files, truncated: true };
}
