/** `mkdir`: makes a directory. */
import type { MkdirData } from "./generated/types.ts";
import type { CheckedArgs } from "./generated/internal.ts";
import { compileArgumentCheck, object } from "./lib/schema.ts";
import { flag, path, PATH_ALIASES, text, WARNINGS_SCHEMA } from "./lib/shared.ts";
import { escapeControls } from "../engine/escape.ts";
import { type ChangingTool, locationError } from "./lib/tool.ts";
import { statOrNull } from "./lib/contents.ts";

const inputSchema = object(
  {
    path: path("The directory to make"),
    parents: flag("Make missing parent directories too.", true),
    exist_ok: flag("An existing directory is fine; when false it is ALREADY_EXISTS.", true),
  },
  ["path"],
);

const outputSchema = object(
  {
    path: text("The directory, relative to the workspace."),
    created: { type: "boolean", description: "False where it was there already." },
    warnings: WARNINGS_SCHEMA,
  },
  ["path", "created"],
);

/** Makes a directory. */
export const mkdir: ChangingTool<CheckedArgs["mkdir"], MkdirData> = {
  kind: "change",
  name: "mkdir",
  title: "Make directory",
  traits: ["acceptsExisting"],
  otherNames: {
    names: /^(?:mkdirp|createdirectory|createfolder|makedirectory|newfolder)$/u,
    does: "makes directories",
  },
  description: `Makes a directory, with missing parents unless parents is false. An existing directory is fine unless exist_ok is false.
Not needed before write_file, copy or move: they make missing directories themselves.`,
  inputSchema,
  outputSchema,
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  aliases: PATH_ALIASES,
  parse: compileArgumentCheck("mkdir", inputSchema),
  paths: (args) => [{ argument: "path", typed: args.path, intent: "write", missing: "create" }],
  async plan(args, call) {
    const at = call.locations[0]!;
    const there = await statOrNull(call.fs, at.path);
    const shown = call.reader.display(at.path);
    if (there !== null) {
      if (!there.isDir || !args.exist_ok) throw locationError("ALREADY_EXISTS", at);
      return { kind: "settled", answer: { data: { path: shown, created: false } } };
    }
    const { parents, exist_ok: existOk } = args;
    return {
      kind: "changes",
      of: "entries",
      changes: [{ do: "mkdir", path: at.path, name: args.path, parents, existOk }],
      base: [{ path: at.path, version: null }],
      reading: "list",
      by: "call",
      about: () => ({ title: `Make directory ${args.path}`, location: 0, risk: "low" }),
      answer: () => ({ data: { path: shown, created: true } }),
    };
  },
  texts: {
    render: (data, args) =>
      data.created
        ? `Created directory ${escapeControls(args.path)}`
        : `Directory ${escapeControls(args.path)} already exists`,
    display: ({ path, created }) =>
      created
        ? `Made directory ${escapeControls(path)}`
        : `Directory ${escapeControls(path)} was there already`,
  },
};
