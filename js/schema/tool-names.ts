/** The names and arguments of all tools, for code that checks names without loading the tools. */
import { ARGUMENTS_BY_TOOL } from "./generated/arguments.ts";

/** The canonical names of all tools, including `run_command`, `undo` and `history`: those that rules and hooks may name. */
export const TOOL_NAMES: ReadonlySet<string> = new Set(Object.keys(ARGUMENTS_BY_TOOL));

/** The argument names of each tool, by the name of the tool. */
export const ARGUMENT_NAMES: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries(ARGUMENTS_BY_TOOL),
);

/** Returns true when a tool has this argument. */
export function takesArgument(tool: string, argument: string): boolean {
  return ARGUMENT_NAMES.get(tool)?.includes(argument) === true;
}
