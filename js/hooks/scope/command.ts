/**
 * Commands as approvals see them. A command can have any effect, so that no path and no name of a tool says what an
 * approval of it covers: it covers the same arguments in the same directory and nothing else.
 */
import { escapeControls } from "../../engine/escape.ts";
import { anyText, list, type Options, options, required } from "../../schema/option.ts";
import { argvInWords } from "../../tools/render/argv.ts";

/** The program that a call runs, with its arguments, and where. */
export interface ExactCommand {
  /** The program and its arguments; `["/bin/sh", "-c", TEXT]` for a command of a shell. */
  readonly argv: readonly string[];
  /** The real path of the directory in which it runs. */
  readonly cwd: string;
}

/** The members of a command in a scope. */
export const EXACT_COMMAND: Options<ExactCommand> = options("ExactCommand", {
  argv: required(list(anyText(), { minItems: 1 })),
  cwd: required(anyText()),
});

/** Returns true for two commands with the same arguments in the same directory. Two unknown ones are not the same. */
export function isSameCommand(one: ExactCommand | undefined, other: ExactCommand | undefined): boolean {
  if (one === undefined || other === undefined || one.cwd !== other.cwd) return false;
  return one.argv.length === other.argv.length && one.argv.every((part, at) => part === other.argv[at]);
}

/** Returns a command and its directory in words, such as `npm test in /repo`. */
export function commandInWords({ argv, cwd }: ExactCommand): string {
  return `${argvInWords(argv)} in ${escapeControls(cwd)}`;
}
