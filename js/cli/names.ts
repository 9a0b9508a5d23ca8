/**
 * The command line as a reader of texts: the names of commands for tools, and options for arguments.
 *
 * Tools and errors say their remedies as data, and the pipeline words them with these names, as it does for the models
 * of a preset.
 */
import { type CanonicalCall, type Preset, sameCall } from "../presets/preset.ts";
import type { Arguments } from "../tools/lib/schema.ts";
import { TOOLS } from "../tools/index.ts";
import {
  CANONICAL_NAMES,
  type OptionOfSetting,
  type ReaderNames,
  type SettingValue,
  type Tool,
} from "../tools/lib/tool.ts";
import type { OptionTable } from "../schema/command-line.node.ts";
import { shellWord } from "../schema/shell-word.ts";
import type { Command } from "./command.ts";

/** For each tool, the command that calls it. */
export const COMMAND_BY_TOOL: Readonly<Record<string, string>> = {
  read_file: "read",
  read_many_files: "cat",
  write_file: "write",
  edit_file: "edit",
  apply_patch: "patch",
  diff: "diff",
  list_directory: "ls",
  glob: "glob",
  find_files: "find",
  grep: "grep",
  stat: "stat",
  copy: "copy",
  move: "move",
  delete: "delete",
  mkdir: "mkdir",
  batch: "batch",
  access_info: "access",
  undo: "undo",
  history: "history",
};

/** The words of a command for arguments of its tool. */
interface ArgumentWords {
  /** The option that makes a setting (`regex: false`), or whose absence does, where no option has its name. */
  readonly settings?: Readonly<Record<string, OptionOfSetting>>;
  /** The name in texts of an argument that is no option. */
  readonly called?: Readonly<Record<string, string>>;
}

const NO_IGNORE = { "respect_ignore: false": { add: "--no-ignore" } } as const;
const TRANSFER_SETTINGS = {
  "create_dirs: true": { leaveOut: "--no-parents" },
  // That of filewright delete, which makes room for the destination.
  "recursive: true": { add: "-r" },
} as const;

const ARGUMENT_WORDS: Readonly<Record<string, ArgumentWords>> = {
  grep: {
    settings: { "regex: false": { add: "-F" }, "case: insensitive": { add: "-i" }, ...NO_IGNORE },
    called: { path: "PATH", pattern: "PATTERN" },
  },
  glob: { settings: NO_IGNORE },
  find: { settings: NO_IGNORE },
  cat: { settings: NO_IGNORE },
  edit: { called: { old_text: "the old text", new_text: "the new text" } },
  write: { settings: { "overwrite: true": { leaveOut: "--no-overwrite" } } },
  copy: { settings: TRANSFER_SETTINGS },
  move: { settings: TRANSFER_SETTINGS },
  mkdir: {
    settings: { "exist_ok: true": { leaveOut: "--new" }, "parents: true": { leaveOut: "--no-parents" } },
  },
};

/** Returns the names of tools and arguments for the person who typed a command. */
function commandLineNames({ name: commandName, options, aliases = {} }: Command): ReaderNames {
  const { settings: own = {}, called = {} } = ARGUMENT_WORDS[commandName] ?? {};
  const settings: NonNullable<ArgumentWords["settings"]> = { ...own, "secrets: true": { add: "--secrets" } };
  const optionOf = (argument: string): string | undefined => {
    const typed = argument.replaceAll("_", "-");
    const meant = aliases[typed] ?? typed;
    return options[meant] === undefined ? undefined : meant;
  };
  return Object.freeze({
    tool: (name: string) =>
      COMMAND_BY_TOOL[name] === undefined ? undefined : `filewright ${COMMAND_BY_TOOL[name]}`,
    argument(name: string): string | undefined {
      if (called[name] !== undefined) return called[name];
      const option = optionOf(name);
      return option === undefined ? undefined : `--${option}`;
    },
    value: (_name: string, value: number) => value,
    option(name: string, value: SettingValue): OptionOfSetting | undefined {
      const option = optionOf(name);
      const operand = called[name] === undefined ? undefined : { add: String(value) };
      return (
        settings[`${name}: ${value}`] ??
        (option === undefined ? operand : optionWithValue(option, options[option] ?? {}, value))
      );
    },
  });
}

/** Returns how an option takes a value; undefined for a value that leaves a switch out. */
function optionWithValue(
  name: string,
  { type, short }: Partial<OptionTable[string]>,
  value: SettingValue,
): OptionOfSetting | undefined {
  if (type !== "boolean") return { add: `--${name} ${shellWord(String(value))}` };
  if (value !== true) return undefined;
  return { add: short === undefined ? `--${name}` : `-${short}` };
}

/** Returns the preset of a command: the tool that it calls, with texts in the words of the command line. */
export function presetOfCommandLine(command: Command, tool: string): Preset | undefined {
  const found = TOOLS.find(({ name }) => name === tool);
  return found === undefined ? undefined : singleToolPreset(found, command.name, commandLineNames(command));
}

/** Returns a preset that consists of one tool, for a command that calls the tool for a person. */
export function singleToolPreset(tool: Tool, command: string, names: ReaderNames = CANONICAL_NAMES): Preset {
  const { name, title, description, inputSchema, outputSchema, annotations, kind } = tool;
  const expand = (args: unknown): CanonicalCall => sameCall(tool, args as Arguments, names);
  const offered = {
    ...{ name, title, description, inputSchema, outputSchema, annotations, kind, tool },
    ...{ names, expand },
  };
  return { name: command, about: `the command ${command}`, tools: [offered], limits: {}, access: {} };
}
