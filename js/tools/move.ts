/** `move`: moves or renames a file or a directory to an exact path. */
import { proposeTransfer, replacingEffect, transferSchema } from "./lib/transfer.ts";
import type { MoveData } from "./generated/types.ts";
import type { CheckedArgs } from "./generated/internal.ts";
import { compileArgumentCheck, object } from "./lib/schema.ts";
import { text, TRANSFER_ALIASES, WARNINGS_SCHEMA } from "./lib/shared.ts";
import { escapeControls } from "../engine/escape.ts";
import type { ChangingTool } from "./lib/tool.ts";

const inputSchema = transferSchema("move");

const outputSchema = object(
  {
    source: text("Where it was, relative to the workspace."),
    destination: text("Where it is now, relative to the workspace."),
    warnings: WARNINGS_SCHEMA,
  },
  ["source", "destination"],
);

/** Moves or renames. */
export const move: ChangingTool<CheckedArgs["move"], MoveData> = {
  kind: "change",
  name: "move",
  title: "Move or rename",
  traits: ["actsOnLinks", "moves", "alsoReplaces"],
  otherNames: {
    names: /^(?:mv|rename)(?:file)?$|^movefile$/u,
    does: "moves and renames",
  },
  description: `Moves or renames a file or a directory to the exact path given as destination; a symbolic link itself is moved, not its target.
An existing destination is ALREADY_EXISTS unless overwrite is true: then a file replaces a file, and a directory an empty directory.`,
  inputSchema,
  outputSchema,
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
  aliases: TRANSFER_ALIASES,
  parse: compileArgumentCheck("move", inputSchema),
  paths: (args) => [
    { argument: "source", typed: args.source, intent: "write", entry: true, tree: true, missing: "refuse" },
    {
      argument: "destination",
      typed: args.destination,
      intent: "write",
      missing: "create_or_replace",
      entry: true,
      tree: true,
      effects: args.overwrite ? [replacingEffect(args.destination, "move")] : [],
    },
  ],
  async plan(args, call) {
    const [source, destination] = call.locations.map(({ path }) => call.reader.display(path));
    return {
      ...(await proposeTransfer(args, call, "move")),
      answer: () => ({ data: { source: source!, destination: destination! } }),
    };
  },
  texts: {
    render: (_data, args) => `Moved ${escapeControls(args.source)} -> ${escapeControls(args.destination)}`,
    display: ({ source, destination }) => `Moved ${escapeControls(source)} to ${escapeControls(destination)}`,
  },
};
