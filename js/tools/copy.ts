/** `copy`: copies a file or a directory to an exact path. */
import { proposeTransfer, replacingEffect, transferSchema } from "./lib/transfer.ts";
import type { CopyData } from "./generated/types.ts";
import type { CheckedArgs } from "./generated/internal.ts";
import { compileArgumentCheck, object } from "./lib/schema.ts";
import { integer, text, TRANSFER_ALIASES, WARNINGS_SCHEMA } from "./lib/shared.ts";
import { escapeControls, plural } from "../engine/escape.ts";
import type { ChangingTool } from "./lib/tool.ts";

const inputSchema = transferSchema("copy");

const outputSchema = object(
  {
    source: text("The source, relative to the workspace."),
    destination: text("The destination, relative to the workspace."),
    files: integer("Files and links copied."),
    directories: integer("Directories made."),
    bytes: integer("Bytes copied."),
    warnings: WARNINGS_SCHEMA,
  },
  ["source", "destination", "files", "directories", "bytes"],
);

/** Copies a file or a directory. */
export const copy: ChangingTool<CheckedArgs["copy"], CopyData> = {
  kind: "change",
  name: "copy",
  title: "Copy",
  traits: ["readsContents", "copies", "alsoReplaces"],
  otherNames: {
    names: /^(?:cp)$|^copyfile$/u,
    does: "copies",
  },
  description: `Copies a file, or a directory with everything in it, to the exact path given as destination. Contents and modes are kept; symbolic links inside it are copied as links, never followed.
An existing destination is ALREADY_EXISTS unless overwrite is true: then a file is replaced and directories are merged.`,
  inputSchema,
  outputSchema,
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
  aliases: TRANSFER_ALIASES,
  parse: compileArgumentCheck("copy", inputSchema),
  paths: (args) => [
    { argument: "source", typed: args.source, intent: "read", tree: true, missing: "refuse" },
    {
      argument: "destination",
      typed: args.destination,
      intent: "write",
      missing: "create_or_replace",
      entry: true,
      writesThrough: true,
      tree: true,
      effects: args.overwrite ? [replacingEffect(args.destination, "copy")] : [],
    },
  ],
  async plan(args, call) {
    const [source, destination] = call.locations.map(({ path }) => call.reader.display(path));
    return {
      ...(await proposeTransfer(args, call, "copy")),
      answer([outcome]) {
        const { files, directories, bytes } = outcome!;
        return { data: { source: source!, destination: destination!, files, directories, bytes } };
      },
    };
  },
  texts: {
    render: (data, args) =>
      `Copied ${escapeControls(args.source)} -> ${escapeControls(args.destination)} (${plural(data.files, "file")}, ${plural(data.bytes, "byte")})`,
    display: ({ source, destination, files }) =>
      `Copied ${escapeControls(source)} to ${escapeControls(destination)}: ${plural(files, "file")}`,
  },
};
