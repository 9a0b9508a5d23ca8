/**
 * The command line as a reader of texts: the names of commands for tools, and options for arguments.
 *
 * Tools and errors say their remedies as data, and the pipeline words them with these names, as it does for the models
 * of a preset.
 */
import type { Preset } from "../presets/preset.ts";
import { TOOLS } from "../tools/index.ts";
import type { OptionOfSetting, ReaderNames, SettingValue } from "../tools/lib/tool.ts";
import type { OptionTable } from "../schema/command-line.node.ts";
import { shellWord } from "../schema/shell-word.ts";
import type { ArgumentWords, Command } from "./command.ts";
import { COMMANDS } from "./commands.ts";
import { singleToolPreset } from "./single-tool.ts";

/** For each tool, the command that calls it. */
export const COMMAND_BY_TOOL: Readonly<Record<string, string>> = Object.fromEntries(
  COMMANDS.flatMap(({ tool, name }) => (tool === undefined ? [] : [[tool, name]])),
);

/** Returns the names of tools and arguments for the person who typed a command. */
function commandLineNames({ options, aliases = {}, words = {} }: Command): ReaderNames {
  const { settings: own = {}, called = {} } = words;
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
