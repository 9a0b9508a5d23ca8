/** Runs the command, and reports errors as text and as an exit status. */
import process from "node:process";
import { FilewrightError } from "../engine/errors.ts";
import { EXIT } from "./exit-status.ts";
import { commandHint } from "./hints.ts";
import { printError, surviveBrokenPipes } from "./output.ts";
import { UsageError } from "../schema/command-line.node.ts";
import { main } from "./run.ts";

/** Runs a command line and sets the exit status. */
export async function start(argv: readonly string[]): Promise<void> {
  surviveBrokenPipes();
  try {
    process.exitCode = await main(argv);
  } catch (error) {
    if (error instanceof UsageError) {
      printError(`filewright: ${error.message}`);
      process.exitCode = EXIT.error;
    } else if (error instanceof FilewrightError) {
      printError(`filewright: ${commandHint(error.message)}`);
      process.exitCode = EXIT.error;
    } else if (error instanceof Error && typeof (error as NodeJS.ErrnoException).syscall === "string") {
      // A system error, such as a used port: its message suffices without a stack.
      printError(`filewright: ${error.message}`);
      process.exitCode = EXIT.error;
    } else throw error;
  }
}
