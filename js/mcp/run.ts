/** Runs a server over standard input and output, from its command line to its exit status. */
import process from "node:process";
import {
  type ServerDefaults,
  FILEWRIGHT_DEFAULTS,
  packageVersion,
  printedConfig,
  parseStdioOptions,
} from "./command.ts";
import { startFailureOf } from "./start.ts";
import { serveOverStdio } from "./transport/stdio.ts";

/** Runs the server and returns the exit status. */
export async function runStdioServer(
  argv: readonly string[],
  defaults: ServerDefaults = FILEWRIGHT_DEFAULTS,
): Promise<number> {
  if (argv.includes("--version") || argv.includes("-V")) {
    process.stdout.write(`${packageVersion()}\n`);
    return 0;
  }
  try {
    const config = await printedConfig(argv, defaults);
    if (config !== undefined) {
      process.stderr.write(`${config.file}:\n`);
      process.stdout.write(`${config.text}\n`);
      for (const shortcut of config.shortcuts) process.stderr.write(`or: ${shortcut}\n`);
      return 0;
    }
    return await serveOverStdio(await parseStdioOptions(argv, defaults));
  } catch (error) {
    const { line, status } = startFailureOf(error);
    process.stderr.write(`${line}\n`);
    return status;
  }
}
