/** Preset `anthropic`: the text editor and memory tools that Anthropic's API defines. */
import { choice, integer, text } from "../tools/lib/shared.ts";
import type { Arguments, Schema } from "../tools/lib/schema.ts";
import { buildPreset, param, tool } from "./define.ts";
import { editorRoute, memoryRoute, listDirectoryInstead } from "./anthropic-commands.ts";
import type { Param, Preset, ToolSpec } from "./preset.ts";

const VIEW_RANGE_SCHEMA: Schema = {
  type: "array",
  items: { type: "integer" },
  minItems: 2,
  maxItems: 2,
  description: "With view: first and last line, counted from 1; -1 as last reads to the end.",
};

const paramOfCommands = (commands: string, what: string, more: Partial<Schema> = {}): Param =>
  param(null, text(`With ${commands}: ${what}`, more));

const EDIT_PARAMS = {
  file_text: paramOfCommands("create", "the whole content of the new file."),
  old_str: paramOfCommands(
    "str_replace",
    "the text to replace, exactly as in the file; it must occur once.",
    {
      minLength: 1,
    },
  ),
  new_str: paramOfCommands("str_replace", "the text to put there; an empty text deletes."),
  insert_line: param(
    null,
    integer("With insert: the line to insert behind; 0 inserts at the beginning.", { minimum: 0 }),
  ),
  insert_text: paramOfCommands("insert", "the text to insert."),
} as const;

/** Completes the specification of a tool whose argument `command` decides which canonical tool is called. */
function withCommandArgument(
  spec: Pick<ToolSpec, "name" | "title" | "description" | "params"> & {
    readonly route: (given: Arguments) => ReturnType<NonNullable<ToolSpec["route"]>>;
    readonly memory: boolean;
  },
): ToolSpec {
  const { memory, ...rest } = spec;
  return tool({
    ...rest,
    of: "edit_file",
    called: { path: "path", content: "file_text", old_text: "old_str", new_text: "new_str" },
    kind: "read",
    required: ["command"],
    instead: (code, given) => listDirectoryInstead(code, given, memory),
  });
}

/** Two tools, for editing files and for notes of the model; each takes a command. */
export const anthropic: Preset = buildPreset({
  name: "anthropic",
  about: "the text editor and memory tools of Anthropic's API",
  tools: [
    withCommandArgument({
      name: "str_replace_based_edit_tool",
      title: "Text editor",
      description:
        "Views, creates and edits text files. view shows a file with line numbers, or a directory two levels deep; create makes a new file; str_replace replaces text that occurs exactly once; insert puts text behind a line. Returns a diff of what changed.",
      params: {
        command: param(
          null,
          requiredChoiceSchema("What to do.", ["view", "create", "str_replace", "insert"]),
        ),
        path: param(
          null,
          text("The file or directory; relative to the workspace, or absolute.", { minLength: 1 }),
        ),
        view_range: param(null, VIEW_RANGE_SCHEMA),
        ...EDIT_PARAMS,
      },
      route: editorRoute,
      memory: false,
    }),
    withCommandArgument({
      name: "memory",
      title: "Memory",
      description:
        "Keeps notes between conversations, as files below /memories. view shows a file or the directory; create makes a file; str_replace and insert change one; delete removes a file or directory; rename moves one. Look at /memories before a task, and write down what is worth knowing next time.",
      params: {
        command: param(
          null,
          requiredChoiceSchema("What to do.", [
            "view",
            "create",
            "str_replace",
            "insert",
            "delete",
            "rename",
          ]),
        ),
        path: param(
          null,
          text("The file or directory, from /memories on. Not with rename.", { minLength: 1 }),
        ),
        view_range: param(null, VIEW_RANGE_SCHEMA),
        ...EDIT_PARAMS,
        old_path: paramOfCommands("rename", "what to rename.", { minLength: 1 }),
        new_path: paramOfCommands("rename", "its new path.", { minLength: 1 }),
      },
      route: memoryRoute,
      memory: true,
    }),
  ],
});

/** Returns the schema of a required argument that takes one of some words. */
function requiredChoiceSchema(description: string, values: readonly string[]): Schema {
  const { default: _, ...schema } = choice(description, values, "");
  return schema;
}
