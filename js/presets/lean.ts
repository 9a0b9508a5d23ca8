/**
 * Preset `lean`, which `filewright mcp` uses: our own tools, with schemas that contain only the arguments that models use,
 * because a client sends the list to the model with every request. Calls may use all arguments of the tools, and the
 * names and spellings of the reference server, to which most clients are used.
 */
import { choice, flag, integer, path, text, texts } from "../tools/lib/shared.ts";
import {
  type Arguments,
  isPlain,
  object,
  type ObjectSchema,
  type Schema,
  withCanonicalKeys,
} from "../tools/lib/schema.ts";
import { historyTool } from "../tools/history.ts";
import { TOOLS } from "../tools/index.ts";
import type { Tool } from "../tools/lib/tool.ts";
import { undoTool } from "../tools/undo.ts";
import { wrongArgumentError } from "./arguments.ts";
import { mcp } from "./mcp.ts";
import { type Preset, type PresetTool, sameCall } from "./preset.ts";
import { LEAN_TOOLS } from "./served.ts";

/** The short form of a tool: its description, and the arguments that its schema contains. */
interface ShortForm {
  readonly description?: string;
  /** A sentence that names another tool, and stands only where that tool is listed. */
  readonly advice?: readonly [tool: string, sentence: string];
  readonly properties: Readonly<Record<string, Schema>>;
  /** The required arguments. Default: those of the tool that are among the properties. */
  readonly required?: readonly string[];
  /**
   * Converts arguments in the form of the reference server to ours, besides the aliases of every tool.
   * @throws FilewrightError INVALID_ARGUMENT
   */
  readonly fromReference?: (given: unknown) => Arguments;
}

const FILE_SCHEMA = path("The file");
const OLD_TEXT_SCHEMA = text(
  "The text to replace, copied from the file without line numbers, with enough lines around it to be there once.",
);
const NEW_TEXT_SCHEMA = text('The text to put there, complete, nothing left out as "..."; "" deletes.');
const REPLACE_ALL_SCHEMA: Schema = { type: "boolean", description: "Replace every occurrence." };
const CURSOR_SCHEMA = text("`next_cursor` of an earlier call with the same arguments, to go on from there.");
const DRY_RUN_SCHEMA = flag("Only show the diff; nothing is written.", false);

const REFERENCE_SPELLINGS = { oldText: "old_text", newText: "new_text", dryRun: "dry_run" };

function editFromReference(given: unknown): Arguments {
  const args = withCanonicalKeys("edit_file", given, REFERENCE_SPELLINGS);
  const { edits } = args;
  if (!Array.isArray(edits) || !edits.every(isPlain)) return args;
  return {
    ...args,
    edits: edits.map((edit) => withCanonicalKeys("edit_file", edit, REFERENCE_SPELLINGS)),
  };
}

function readFromReference(given: unknown): Arguments {
  const { head, tail, ...rest } = withCanonicalKeys("read_file", given);
  if (head !== undefined && head !== null && tail !== undefined && tail !== null)
    throw wrongArgumentError("read_file", "tail", "it cannot be given together with head");
  if (head !== undefined && head !== null) return { max_lines: head, ...rest };
  if (tail === undefined || tail === null) return rest;
  const lines = Number(tail);
  if (!Number.isSafeInteger(lines) || lines < 1)
    throw wrongArgumentError("read_file", "tail", "it must be an integer of at least 1");
  return { start_line: -lines, ...rest };
}

const SHORT_FORM_BY_TOOL: Readonly<Record<string, ShortForm>> = {
  read_file: {
    description:
      "Reads a file: text with line numbers, a page at a time; images as images; PDF, Office and notebook files as text; archives as a list. The answer says how to go on.",
    properties: {
      path: FILE_SCHEMA,
      start_line: integer("First line, from 1; -20 begins 20 lines before the end.", { default: 1 }),
      max_lines: integer("How many lines at most.", { default: 2000, minimum: 1 }),
      anchors: flag("Number lines as `12#k3x9q1a`, for edits by `from` and `to`.", false),
      pages: text('Of a document: pages, sheets or slides, such as "3" or "1-5".'),
      json_pointer: text('Only this value of a JSON, YAML, TOML, XML or CSV file: "/scripts/test".'),
    },
    fromReference: readFromReference,
  },
  write_file: {
    description:
      "Creates a file or replaces it whole; missing directories are made. Send all of the content and never leave code out by a comment such as `... rest of the file`.",
    advice: ["edit_file", "For a change in a file use edit_file."],
    properties: {
      path: FILE_SCHEMA,
      content: text("The whole new content, written as it is."),
      overwrite: flag("False: an existing file is refused.", true),
      append: flag("Add the content to the end instead.", false),
    },
  },
  edit_file: {
    description:
      'Replaces text in a file, exactly or not at all, and shows the diff. One edit: {path, old_text, new_text}. Several, all or none: {path, edits: [{old_text, new_text}, …]}. By lines, as read_file with anchors: true numbers them: {path, from: "12#k3x9q1a", to: "14#7wq0c2a", new_text}. Text that is there more than once is refused: add lines around it, or set replace_all.',
    properties: {
      path: FILE_SCHEMA,
      old_text: OLD_TEXT_SCHEMA,
      new_text: NEW_TEXT_SCHEMA,
      replace_all: REPLACE_ALL_SCHEMA,
      edits: {
        type: "array",
        minItems: 1,
        items: object(
          {
            old_text: text("As above."),
            new_text: text("As above."),
            replace_all: REPLACE_ALL_SCHEMA,
          },
          ["old_text", "new_text"],
        ),
        description: "Several replacements, in order, each on the result of those before.",
      },
      from: text("Instead of old_text: the anchor of the first line to replace."),
      to: text("The anchor of the last one; without it the line `from` alone."),
      insert: {
        type: "string",
        enum: ["before", "after"],
        description: "Put new_text on lines of its own before or after the line `from`, which stays.",
      },
      dry_run: DRY_RUN_SCHEMA,
    },
    // Which further arguments an edit requires depends on how it names its place: the tool reports a missing one.
    required: ["path"],
    fromReference: editFromReference,
  },
  apply_patch: {
    description:
      "Applies a patch to one or more files, all of it or nothing, and shows the diff. Hunks are found by their lines, not by their numbers; what does not fit is refused and named.",
    properties: {
      patch: text("A unified diff (--- a/f, +++ b/f, @@), one of git, or *** Begin Patch … *** End Patch.", {
        minLength: 1,
      }),
      reverse: flag("Undo the patch instead.", false),
      dry_run: DRY_RUN_SCHEMA,
    },
  },
  grep: {
    description:
      "Searches the contents of files and gives the matching lines with path and number. Ignored files are left out.",
    properties: {
      pattern: text("Regular expression (Rust syntax, no look-around), or plain text with regex: false.", {
        minLength: 1,
      }),
      path: text("The directory to search, or one file.", { default: "." }),
      glob: text("Only files whose path matches: *.ts at any depth, src/** below a directory.", {
        minLength: 1,
      }),
      regex: flag("False: the pattern is plain text.", true),
      case: choice(
        "Whether letter case counts; smart: where the pattern has a capital.",
        ["sensitive", "insensitive", "smart"],
        "sensitive",
      ),
      context: integer("Lines shown around each match.", { default: 0, minimum: 0, maximum: 50 }),
      output: choice("Lines, paths of files, or counts.", ["content", "files", "count"], "content"),
      max_results: integer("The most lines or files.", { default: 200, minimum: 1 }),
      cursor: CURSOR_SCHEMA,
    },
  },
  glob: {
    description: "Finds files by their names. Ignored files are left out.",
    advice: ["grep", "For contents use grep."],
    properties: {
      pattern: text("*.ts at any depth, src/**/*.ts, {a,b}, [a-z]."),
      path: text("The directory to look in.", { default: "." }),
      type: choice("What to find.", ["file", "dir", "any"], "file"),
      respect_ignore: flag("Leave out what .gitignore and the like name.", true),
      limit: integer("The most paths.", { default: 1000, minimum: 1 }),
      cursor: CURSOR_SCHEMA,
    },
  },
  list_directory: {
    description: "Lists a directory, one entry a line, marked [DIR], [FILE] or [LINK].",
    properties: {
      path: text("The directory.", { default: "." }),
      depth: integer("How many levels.", { default: 1, minimum: 1, maximum: 32 }),
      ignore: texts("Globs of what to leave out, such as node_modules."),
      limit: integer("The most entries.", { default: 1000, minimum: 1 }),
      cursor: CURSOR_SCHEMA,
    },
  },
  move: {
    description: "Moves or renames a file or directory; missing directories are made.",
    properties: {
      source: text("What to move."),
      destination: text("The exact new path, not the directory to move into."),
      overwrite: flag("Replace what is at the destination.", false),
    },
  },
  delete: {
    description: "Deletes a file, a link (its target stays) or a directory.",
    advice: ["undo", "undo brings it back."],
    properties: {
      path: text("What to delete."),
      recursive: flag("A directory with everything in it.", false),
    },
  },
  batch: {
    description: "Runs several of these tools in order, all of them or none.",
    properties: {
      operations: {
        type: "array",
        minItems: 1,
        items: object(
          {
            tool: text("Its name; any but batch."),
            args: { type: "object", description: "Its arguments." },
          },
          ["tool", "args"],
        ),
        description: "The calls; each sees what those before it did.",
      },
      atomic: flag("False: each stands for itself, and the others go on.", true),
    },
  },
  stat: {
    description:
      "Tells type, size, permissions, times and media type of one file, directory or symbolic link, without reading it whole. With hash: true also the sha256 of a file.",
    advice: ["list_directory", "For many entries at once use list_directory."],
    properties: {
      path: path("The file, directory or link"),
      follow: flag("Tell about what a symbolic link leads to; false: about the link itself.", true),
      hash: flag("Also give the sha256 of a file's content.", false),
    },
  },
  undo: {
    properties: {
      call_id: text("The call, as history lists it. Default: your last change."),
    },
  },
  history: {
    properties: {
      path: text("Only changes of this file, or below this directory."),
      limit: integer("The most changes.", { default: 20, minimum: 1 }),
      cursor: CURSOR_SCHEMA,
    },
  },
};

/**
 * Returns one of our tools in its short form.
 * @param known the names of the tools that the model can call
 */
function toolInShortForm(tool: Tool, known: ReadonlySet<string>): PresetTool {
  const lean = SHORT_FORM_BY_TOOL[tool.name];
  const names = {
    tool: (name: string) => (known.has(name) ? name : undefined),
    argument: (name: string) => name,
    value: (_name: string, value: number) => value,
  };
  return Object.freeze({
    name: tool.name,
    title: tool.title,
    description: shortDescriptionOf(tool, lean, known),
    inputSchema: lean === undefined ? tool.inputSchema : shortSchemaOf(tool, lean),
    outputSchema: tool.outputSchema,
    annotations: tool.annotations,
    kind: tool.kind,
    tool,
    names,
    expand(given: unknown) {
      const args = lean?.fromReference?.(given) ?? withCanonicalKeys(tool.name, given);
      return sameCall(tool, args, names);
    },
  });
}

function shortDescriptionOf(tool: Tool, lean: ShortForm | undefined, known: ReadonlySet<string>): string {
  const { description = tool.description, advice } = lean ?? {};
  return advice !== undefined && known.has(advice[0]) ? `${description} ${advice[1]}` : description;
}

function shortSchemaOf({ inputSchema }: Tool, { properties, required }: ShortForm): ObjectSchema {
  return object(properties, required ?? inputSchema.required.filter((one) => Object.hasOwn(properties, one)));
}

const SHORT_FORM_TOOLS: readonly Tool[] = [
  ...TOOLS,
  undoTool(false) as unknown as Tool,
  historyTool() as unknown as Tool,
];

/** The tools of the reference server that have names which none of our tools has. */
const REFERENCE_ONLY_TOOLS: readonly PresetTool[] = mcp.tools.filter(
  ({ name }) => !SHORT_FORM_TOOLS.some((one) => one.name === name),
);

/** The names of all tools that can be listed. */
export const LISTABLE_LEAN_NAMES: readonly string[] = [
  ...LEAN_TOOLS,
  ...SHORT_FORM_TOOLS.map(({ name }) => name),
].filter((name, index, all) => all.indexOf(name) === index);

/** The names of tools of the reference server that can be called but are not listed. */
export const UNLISTED_CALLABLE_NAMES: readonly string[] = REFERENCE_ONLY_TOOLS.map(({ name }) => name);

/** Returns the preset `lean`. Its texts name only the `offered` tools. */
export function leanPreset(offered: readonly string[] = LEAN_TOOLS): Preset {
  const known = new Set(offered);
  const byName = new Map(SHORT_FORM_TOOLS.map((tool) => [tool.name, tool]));
  const ours = LISTABLE_LEAN_NAMES.map((name) => toolInShortForm(byName.get(name) as Tool, known));
  return Object.freeze({
    name: "lean",
    about: "our own tools with the arguments that models use",
    tools: Object.freeze([...ours, ...REFERENCE_ONLY_TOOLS]),
    limits: {},
    access: {},
  });
}
