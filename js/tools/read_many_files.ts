import type { Limits } from "./lib/limits.ts";
import { maxAnswerBytes, truncatedClause } from "./lib/text.ts";
import type { ReadingTool } from "./lib/tool.ts";
import { named } from "./lib/exact.ts";
import type { ReadManyFilesData } from "./generated/types.ts";
import type { CheckedArgs } from "./generated/internal.ts";
import { compileArgumentCheck, HASH_PATTERN, object } from "./lib/schema.ts";
import { choice, flag, integer, text, texts, timeoutSchema, WARNINGS_SCHEMA } from "./lib/shared.ts";
import { MAX_TOKENS_SCHEMA, TOKENS_SCHEMA } from "./lib/tokens.ts";
import { UNCHANGED_SCHEMA } from "./read/schema.ts";
import { readManyFilesText } from "./read/many-text.ts";
import { plural } from "../engine/escape.ts";
import { lazily } from "../engine/lazy.ts";

const reading = lazily("reads of many files", () => import("./run/read_many_files.ts"));

type CheckedReadManyFilesArgs = CheckedArgs["read_many_files"];

const inputSchema = object(
  {
    paths: texts(
      "Files, directories and globs, such as src/**/*.ts. An existing file of exactly that name wins over the glob.",
      { minItems: 1 },
    ),
    include: texts("Further globs.", { default: [] }),
    exclude: texts("Globs of what to leave out.", { default: [] }),
    use_default_excludes: flag(
      "Leave out node_modules, .git, build output, archives, office documents and .env, except where named exactly.",
      true,
    ),
    respect_ignore: flag("Leave out what .gitignore, .ignore and .agentignore files name.", true),
    recursive: flag("False: of directories only the files directly in them; ** goes through no level.", true),
    max_files: integer("The most files read.", { default: 200, minimum: 1, maximum: 10_000 }),
    max_total_bytes: integer("The most content given, in bytes. Default one page of text.", { minimum: 1 }),
    max_tokens: MAX_TOKENS_SCHEMA,
    known_hashes: {
      type: "array",
      items: { type: "string", pattern: HASH_PATTERN },
      maxItems: 10_000,
      default: [],
      description:
        "Hashes of contents that you have: a file with one is named as unchanged, without its content.",
    },
    separator: text("The line before each file; {filePath} stands for its path.", {
      default: "--- {filePath} ---",
    }),
    non_text: choice(
      "Files asked for by name or extension: images as image blocks (block), PDF files as blocks too (media), or skipped (error).",
      ["block", "media", "error"],
      "block",
    ),
    timeout_ms: timeoutSchema("After this time the files not read yet are listed as skipped."),
  },
  ["paths"],
);

const outputSchema = object(
  {
    files: {
      type: "array",
      description: "The files, in path order.",
      items: named(
        "ReadOne",
        object(
          {
            path: text("Relative to the workspace."),
            content: text("What is in it."),
            lines_read: integer("Lines given."),
            total_lines: { type: ["integer", "null"], description: "Lines of the file." },
            size: integer("Bytes of the file."),
            truncated: { type: "boolean", description: "Whether only its beginning is given." },
            mime: text("Media type."),
            hash: text("sha256 of the file, where it was computed."),
            unchanged: UNCHANGED_SCHEMA,
          },
          ["path", "content", "lines_read", "total_lines", "size", "truncated", "mime"],
        ),
      ),
    },
    skipped: {
      type: "array",
      description: "What was not read, and why.",
      items: named(
        "SkippedOne",
        object({ path: text("As asked for."), reason: text("Why."), code: text("An error code.") }, [
          "path",
          "reason",
          "code",
        ]),
      ),
    },
    truncated: { type: "boolean", description: "Whether a limit left something out." },
    tokens: TOKENS_SCHEMA,
    warnings: WARNINGS_SCHEMA,
  },
  ["files", "skipped", "truncated"],
);

/** Reads several files. */
export const readManyFiles: ReadingTool<CheckedReadManyFilesArgs, ReadManyFilesData> = {
  kind: "read",
  name: "read_many_files",
  title: "Read many files",
  traits: ["readsContents", "takesLists", "searches"],
  description: `Reads several files at once: exact paths, whole directories, and globs, one after the other in path order, each behind a line with its path. Use it to take in a small module or a set of configuration files; for one file, for line numbers or for long files use read_file.
A file that cannot be read never fails the call: it is listed as skipped with the reason. Binary files, ignored files and the usual build and dependency directories are left out. At most max_files files and max_total_bytes of content are given.`,
  inputSchema,
  outputSchema,
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  parse: compileArgumentCheck("read_many_files", inputSchema),
  // Every path is checked separately: one outside the roots is skipped, with its reason.
  paths: () => [],
  scans: () => true,
  texts: {
    render: readManyFilesText,
    display: ({ files, skipped, truncated }) =>
      `Read ${plural(files.length, "file")}${skipped.length === 0 ? "" : `, left out ${skipped.length}`}${truncatedClause(truncated)}`,
    fit: { maxTextBytes },
  },
  run: async (args, call) => (await reading()).runReadManyFiles(args, call),
};

/**
 * Returns the maximum size of the text in bytes: `outputBytes` when the call names a size, otherwise the size
 * of a page.
 */
function maxTextBytes({ max_total_bytes: asked }: CheckedReadManyFilesArgs, limits: Limits): number {
  return asked === undefined ? maxAnswerBytes(limits) : limits.outputBytes;
}
