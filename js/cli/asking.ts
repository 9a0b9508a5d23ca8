/**
 * Asks the person at the terminal for approvals: with `--ask` about each change, with `--ask-dirs` about each
 * directory.
 */
import { withoutUndefined } from "../schema/without-undefined.ts";
import type { Approver, Confirmation, Scope } from "../hooks/confirm.ts";
import { isLasting } from "../hooks/scope/offer.ts";
import { terminalApprover } from "../hooks/terminal.node.ts";
import type { Program } from "../mcp/program.ts";
import type { WorkspaceOptions } from "../workspace/index.node.ts";
import type { ParsedCommandLine } from "../schema/command-line.node.ts";
import type { Command } from "./command.ts";
import { grantsFilePath } from "./commands/grants.ts";

/** The parts of the running command that a question needs. */
export interface QuestionHost {
  readonly program: Program;
  /** Runs a question while nothing else is written to the terminal, and returns its result. */
  quietly<T>(ask: () => Promise<T>): Promise<T>;
  /** Called when the person presses Ctrl-C during a question. */
  interrupt(): void;
}

/**
 * Returns the options of the workspace that make it ask the person. Commands that only report do not ask,
 * except those that declare it (`asks`).
 */
export function askingOptions(
  command: Command,
  { values }: ParsedCommandLine,
  configured: WorkspaceOptions,
  { program, quietly, interrupt }: QuestionHost,
): Pick<WorkspaceOptions, "confirm" | "permissions"> {
  if (command.report !== undefined && command.sort !== "asks") return {};
  const { stdin: input, stderr: output, env } = program;
  const terminal = terminalApprover({ input, output, env });
  const asksAgain = mayAskAgain(command, values);
  const askAlone = <T>(ask: () => Promise<T>): Promise<T> =>
    quietly(() => noticeInterrupt(input, ask, interrupt));
  const confirm: Approver["confirm"] = (details) =>
    askAlone(async () => terminal.confirm(withScopesForCommand(asksAgain, details)));
  const ask: Approver["ask"] = (...question) => askAlone(async () => terminal.ask(...question));
  const configuredFile = configured.permissions?.grantsFile;
  const grantsFile =
    values["grants-file"] === undefined && configuredFile !== undefined
      ? configuredFile
      : grantsFilePath(values);
  return withoutUndefined({
    confirm: values["ask"] === true ? confirm : undefined,
    permissions:
      values["ask-dirs"] === true
        ? { ...configured.permissions, mode: "prompt" as const, ask, grantsFile }
        : undefined,
  });
}

/** Returns true for a command that can ask several times: a batch whose calls are made one by one, also by `call`. */
function mayAskAgain({ name }: Command, values: ParsedCommandLine["values"]): boolean {
  return name === "call" || (name === "batch" && values["not-atomic"] === true);
}

/**
 * Returns the question with answers that suit the command. If the command asks only once, no answer for later
 * calls is offered; otherwise the answer says that it ends with the command. The replaced words come from
 * `hooks/approvals.ts`.
 */
function withScopesForCommand(asksAgain: boolean, details: Confirmation): Confirmation {
  const scopes: readonly Scope[] = asksAgain
    ? details.scopes.map(({ outcome, label }) => ({
        outcome,
        label: label.replace("until this workspace is closed", "until this command ends"),
      }))
    : details.scopes.filter(({ outcome }) => !isLasting(outcome));
  return { ...details, scopes };
}

const CTRL_C_KEY = "\u0003";

/**
 * Calls `interrupt` when Ctrl-C is pressed during a question. The terminal is in raw mode then: Ctrl-C
 * arrives as a byte and not as SIGINT, and the approver would take it for a refusal.
 */
async function noticeInterrupt<T>(
  stdin: NodeJS.ReadStream,
  ask: () => Promise<T>,
  interrupt: () => void,
): Promise<T> {
  if (stdin.isTTY !== true) return ask();
  const notice = (keys: Buffer | string): void => {
    if (keys.toString() === CTRL_C_KEY) interrupt();
  };
  stdin.on("data", notice);
  try {
    return await ask();
  } finally {
    stdin.off("data", notice);
    // Reading from standard input would keep the process alive.
    stdin.pause();
  }
}
