/**
 * The command line as a reader of texts: the names of commands for tools, and options for arguments.
 *
 * Tools and errors say their remedies as data, and the pipeline words them with these names, as it does for the models
 * of a preset.
 */
import type { Preset } from "../presets/preset.ts";
import { TOOLS } from "../tools/index.ts";
import type { OptionOfSetting, ReaderNames, SettingValue } from "../tools/lib/tool.ts";
import { type DeclaredOption, declaredOptions } from "../schema/command-line.node.ts";
import { shellWord } from "../schema/shell-word.ts";
import { aliasesOf, type Command } from "./command.ts";
import { COMMANDS } from "./commands.ts";
import { singleToolPreset } from "./single-tool.ts";

/** For each tool, the command that calls it. */
export const COMMAND_BY_TOOL: Readonly<Record<string, string>> = Object.fromEntries(
  COMMANDS.flatMap(({ tool, name }) => (tool === undefined ? [] : [[tool, name]])),
);

/** Returns the names of tools and arguments for the person who typed a command. */
function commandLineNames(command: Command): ReaderNames {
  const { settings: more = {}, called = {} } = command.words ?? {};
  const options = new Map(declaredOptions(command.help).map((option) => [option.name, option]));
  const aliases = aliasesOf(command);
  const settings: Readonly<Record<string, OptionOfSetting>> = {
    ...Object.assign({}, ...[...options.values()].map(settingsOf)),
    ...more,
    "secrets: true": { add: "--secrets" },
  };
  const optionOf = (argument: string): DeclaredOption | undefined => {
    const typed = argument.replaceAll("_", "-");
    return options.get(aliases[typed] ?? typed);
  };
  return Object.freeze({
    tool: (name: string) =>
      COMMAND_BY_TOOL[name] === undefined ? undefined : `filewright ${COMMAND_BY_TOOL[name]}`,
    argument(name: string): string | undefined {
      if (called[name] !== undefined) return called[name];
      const option = optionOf(name);
      return option === undefined ? undefined : `--${option.name}`;
    },
    value: (_name: string, value: number) => value,
    option(name: string, value: SettingValue): OptionOfSetting | undefined {
      const option = optionOf(name);
      const operand = called[name] === undefined ? undefined : { add: String(value) };
      return (
        settings[`${name}: ${value}`] ?? (option === undefined ? operand : optionWithValue(option, value))
      );
    },
  });
}

/** Returns an option as it is typed, by its letter where it has one. */
const typedOption = ({ name, short }: DeclaredOption): string =>
  short === undefined ? `--${name}` : `-${short}`;

/** Returns the settings that a switch makes: it sets some arguments, and without it those that are false are true. */
function settingsOf(option: DeclaredOption): Readonly<Record<string, OptionOfSetting>> {
  const { name, means } = option;
  if (means === undefined || typeof means === "string") return {};
  const settings = Object.entries(means).flatMap(([argument, value]) => [
    [`${argument}: ${String(value)}`, { add: typedOption(option) }] as const,
    ...(value === false ? [[`${argument}: true`, { leaveOut: `--${name}` }] as const] : []),
  ]);
  return Object.fromEntries(settings);
}

/** Returns how an option takes a value; undefined for a value that leaves a switch out. */
function optionWithValue(option: DeclaredOption, value: SettingValue): OptionOfSetting | undefined {
  if (option.value !== undefined) return { add: `--${option.name} ${shellWord(String(value))}` };
  return value === true ? { add: typedOption(option) } : undefined;
}

/** Returns the preset of a command: the tool that it calls, with texts in the words of the command line. */
export function presetOfCommandLine(command: Command, tool: string): Preset | undefined {
  const found = TOOLS.find(({ name }) => name === tool);
  return found === undefined ? undefined : singleToolPreset(found, command.name, commandLineNames(command));
}
