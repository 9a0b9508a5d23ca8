/** A server over standard input and output, from a command line to an exit status. */
import process from "node:process";
import { type Defaults, stdioOptions, WrongArguments } from "./command.ts";
import { serveOverStdio } from "./stdio.ts";

/** Runs it; gives the exit status. */
export async function runStdio(
  argv: readonly string[],
  defaults: Defaults = { structured: "none" },
): Promise<number> {
  try {
    return await serveOverStdio(stdioOptions(argv, defaults));
  } catch (error) {
    if (!(error instanceof WrongArguments)) throw error;
    process.stderr.write(`filewright: ${error.message}\n`);
    return 2;
  }
}
