import type { ChangingTool } from "./lib/tool.ts";
import type { WriteFileData } from "./generated/types.ts";
import { object } from "./lib/schema.ts";
import { choice, HOOK_DIFF_SCHEMA, integer, PATH_ALIASES, text, WARNINGS_SCHEMA } from "./lib/shared.ts";
import { escapeControls, plural } from "../engine/escape.ts";
import { checkWriteFileArgs, writeFileInputSchema, type WriteFileToolArgs } from "./write/arguments.ts";
import { withDiff } from "./lib/text.ts";
import { lazilyEarly } from "../engine/lazy.ts";

const planning = lazilyEarly("writes", () => import("./run/write_file.ts"));

const outputSchema = object(
  {
    path: text("The file, relative to the workspace."),
    operation: choice("What happened.", ["create", "update", "append"], "update"),
    bytes_written: integer("Bytes of the given content."),
    lines_written: integer("Lines of the given content."),
    hash: text("Hash of the whole file now, for expected_hash."),
    diff: text("Unified diff against the content before."),
    hook_diff: HOOK_DIFF_SCHEMA,
    warnings: WARNINGS_SCHEMA,
  },
  ["path", "operation", "bytes_written", "lines_written", "hash"],
);

/** Creates, replaces or extends one file. */
export const writeFile: ChangingTool<WriteFileToolArgs, WriteFileData> = {
  kind: "change",
  name: "write_file",
  title: "Write file",
  traits: ["readsContents", "writes", "standsForWriting"],
  otherNames: {
    names: /^(?:create|new|make|touch|save|add)(?:text)?file$|^create$|^write$|^savefile$|^overwritefile$/u,
    does: "creates files",
  },
  description: `Creates a file, or replaces or extends one, atomically: readers see the old content or the new, never a part.
Use it for new files and for rewriting a file completely. To change parts of an existing file use edit_file, which is shorter and safer.
Missing directories are made. Existing files are replaced unless overwrite is false; pass expected_hash from read_file to be sure that nobody changed the file meanwhile. Encoding, byte order mark, CRLF line ends, mode and owner of an existing file are kept; the answer says so.`,
  inputSchema: writeFileInputSchema,
  outputSchema,
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
  aliases: PATH_ALIASES,
  parse: (given) => ({ eol_given: given["eol"] !== undefined, ...checkWriteFileArgs(given) }),
  paths: (args) => [{ argument: "path", typed: args.path, intent: "write", missing: "create_or_replace" }],
  plan: async (args, call) => (await planning()).planWriteFile(args, call),
  texts: {
    render(data, args) {
      const verb = data.operation === "create" ? "Created" : "Updated";
      return `${verb} ${escapeControls(args.path)} (${plural(data.lines_written, "line")}, ${plural(data.bytes_written, "byte")})`;
    },
    display({ path, operation, bytes_written, diff = "" }) {
      const done = { create: "Created", update: "Overwrote", append: "Appended to" }[operation];
      return withDiff(`${done} ${escapeControls(path)}: ${plural(bytes_written, "byte")}`, diff);
    },
  },
};
