/** The person at the terminal as an approver: `--ask` for each change, `--ask-dirs` for each directory. */
import process from "node:process";
import type { Approver, Confirmation, Outcome, Scope } from "../hooks/confirm.ts";
import { terminalApprover } from "../hooks/terminal.node.ts";
import type { WorkspaceOptions } from "../workspace/index.node.ts";
import type { ParsedCommandLine } from "../schema/command-line.node.ts";
import type { Command } from "./command.ts";
import { grantsFileOf } from "./commands/grants.ts";

/** The parts of a running command that a question uses. */
export interface QuestionHost {
  /** Runs a question while nothing else is written to the terminal. */
  quietly<T>(ask: () => Promise<T>): Promise<T>;
  /** Called when the person presses Ctrl-C at a question. */
  interrupt(): void;
}

/**
 * Returns the options of the workspace by which the person is asked. Commands that only report never ask,
 * unless they say so.
 */
export function askingOptions(
  command: Command,
  { values }: ParsedCommandLine,
  configured: WorkspaceOptions,
  { quietly, interrupt }: QuestionHost,
): Pick<WorkspaceOptions, "confirm" | "permissions"> {
  if (command.report !== undefined && command.asks !== true) return {};
  const terminal = terminalApprover();
  const askAlone = <T>(ask: () => Promise<T>): Promise<T> => quietly(() => noticeInterrupt(ask, interrupt));
  const confirm: Approver["confirm"] = (details) =>
    askAlone(async () => terminal.confirm(forCommand(command, details)));
  const ask: Approver["ask"] = (...question) => askAlone(async () => terminal.ask(...question));
  const configuredFile = configured.permissions?.grantsFile;
  const grantsFile =
    values["grants-file"] === undefined && configuredFile !== undefined
      ? configuredFile
      : grantsFileOf(values);
  return {
    ...(values["ask"] === true ? { confirm } : {}),
    ...(values["ask-dirs"] === true
      ? { permissions: { ...configured.permissions, mode: "prompt", ask, grantsFile } }
      : {}),
  };
}

/** Answers that hold for later calls. */
const LASTING: ReadonlySet<Outcome> = new Set([
  "proceed_always",
  "proceed_always_tool",
  "proceed_always_server",
]);

/** Commands whose one call can ask several questions: a batch, and `call`, which can call it. */
const ASKS_REPEATEDLY: ReadonlySet<string> = new Set(["batch", "call"]);

/**
 * Returns a question whose answers fit the command: one that asks once offers no answer for later calls; the
 * others say that such an answer ends with the command. The words replaced are those of `hooks/approvals.ts`.
 */
function forCommand({ name }: Command, details: Confirmation): Confirmation {
  const scopes: readonly Scope[] = ASKS_REPEATEDLY.has(name)
    ? details.scopes.map(({ outcome, label }) => ({
        outcome,
        label: label.replace("until this workspace is closed", "until this command ends"),
      }))
    : details.scopes.filter(({ outcome }) => !LASTING.has(outcome));
  return { ...details, scopes };
}

const CTRL_C = "\u0003";

/**
 * Reports Ctrl-C during a question. In raw mode it arrives as a byte and not as SIGINT, and the approver takes
 * it for a refusal.
 */
async function noticeInterrupt<T>(ask: () => Promise<T>, interrupt: () => void): Promise<T> {
  const { stdin } = process;
  if (stdin.isTTY !== true) return ask();
  const notice = (keys: Buffer | string): void => {
    if (keys.toString() === CTRL_C) interrupt();
  };
  stdin.on("data", notice);
  try {
    return await ask();
  } finally {
    stdin.off("data", notice);
    // Standard input that is read keeps the process alive.
    stdin.pause();
  }
}
