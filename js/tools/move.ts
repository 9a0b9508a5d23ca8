/** `move`: moves or renames a file or a directory to an exact path. */
import { renameVia } from "../backends/fallback/fallback-tree.ts";
import {
  withCreatedParents,
  planTransfer,
  previewTransfer,
  replacingEffect,
  type TransferTodo,
  transferSchema,
} from "./lib/transfer.ts";
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
export const move: ChangingTool<CheckedArgs["move"], MoveData, TransferTodo> = {
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
  plan: (args, call) => planTransfer(args, call, "move"),
  preview: ({ todo }, args, call) => previewTransfer("Move", todo, args, call),
  async apply({ todo }, args, call) {
    const [from, to] = [call.locations[0]!, call.locations[1]!];
    await withCreatedParents(call.fs, to.path, args.create_dirs, async () =>
      renameVia(call.fs, todo.from, to.path, {
        overwrite: args.overwrite,
        ifVersion: todo.version,
        signal: call.signal,
      }),
    );
    return { data: { source: call.reader.display(from.path), destination: call.reader.display(to.path) } };
  },
  render: (_data, args) => `Moved ${escapeControls(args.source)} -> ${escapeControls(args.destination)}`,
};
