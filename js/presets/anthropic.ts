/** Preset `anthropic`: the text editor and memory tools that Anthropic's API defines. */
import { choice, integer, text } from "../tools/lib/shared.ts";
import type { ToolName } from "../tools/index.ts";
import type { Arguments, Schema } from "../tools/lib/schema.ts";
import { buildPreset, param, tool } from "./define.ts";
import { editorCall, memoryCall } from "./anthropic-commands.ts";
import { byArguments, type Meant } from "./meaning.ts";
import type { Param, Preset, ToolSpec } from "./preset.ts";

const VIEW_RANGE_SCHEMA: Schema = {
  type: "array",
  items: { type: "integer" },
  minItems: 2,
  maxItems: 2,
  description: "With view: first and last line, counted from 1; -1 as last reads to the end.",
};

/** Defines a parameter of some commands; texts call `called` by its name. */
const paramOfCommands = (
  commands: string,
  what: string,
  more: Partial<Schema> = {},
  called: Pick<Param, "called"> = {},
): Param => param(null, text(`With ${commands}: ${what}`, more), called);

const EDIT_PARAMS = {
  file_text: paramOfCommands("create", "the whole content of the new file.", {}, { called: "content" }),
  old_str: paramOfCommands(
    "str_replace",
    "the text to replace, exactly as in the file; it must occur once.",
    { minLength: 1 },
    { called: "old_text" },
  ),
  new_str: paramOfCommands(
    "str_replace",
    "the text to put there; an empty text deletes.",
    {},
    { called: "new_text" },
  ),
  insert_line: param(
    null,
    integer("With insert: the line to insert behind; 0 inserts at the beginning.", { minimum: 0 }),
  ),
  insert_text: paramOfCommands("insert", "the text to insert."),
} as const;

/** Defines a tool whose argument `command` decides which canonical tool is called. */
function commandTool(
  spec: Pick<ToolSpec, "name" | "title" | "description" | "params">,
  others: readonly ToolName[],
  meant: (given: Arguments) => Meant,
): ToolSpec {
  const tools: readonly ToolName[] = [
    "edit_file",
    "read_file",
    "list_directory",
    "write_file",
    "apply_patch",
  ];
  return tool({
    ...spec,
    required: ["command"],
    means: byArguments([...tools, ...others], ({ given }) => meant(given)),
  });
}

/** Two tools, for editing files and for notes of the model; each takes a command. */
export const anthropic: Preset = buildPreset({
  name: "anthropic",
  about: "the text editor and memory tools of Anthropic's API",
  tools: [
    () =>
      commandTool(
        {
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
              { called: "path" },
            ),
            view_range: param(null, VIEW_RANGE_SCHEMA),
            ...EDIT_PARAMS,
          },
        },
        [],
        editorCall,
      ),
    () =>
      commandTool(
        {
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
              { called: "path" },
            ),
            view_range: param(null, VIEW_RANGE_SCHEMA),
            ...EDIT_PARAMS,
            old_path: paramOfCommands("rename", "what to rename.", { minLength: 1 }),
            new_path: paramOfCommands("rename", "its new path.", { minLength: 1 }),
          },
        },
        ["delete", "move"],
        memoryCall,
      ),
  ],
});

/** Returns the schema of a required argument that takes one of some words. */
function requiredChoiceSchema(description: string, values: readonly string[]): Schema {
  const { default: _, ...schema } = choice(description, values, "");
  return schema;
}
