/** Runs a server over standard input and output, from its command line to its exit status. */
import type { Program } from "./program.ts";
import {
  type ServerDefaults,
  FILEWRIGHT_DEFAULTS,
  packageVersion,
  printedConfig,
  parseStdioOptions,
} from "./command.ts";
import { startFailureOf } from "./start.ts";
import { serveOverStdio } from "./transport/stdio.ts";

/** The defaults of the drop-in for the filesystem server of the Model Context Protocol. */
export const DROP_IN_DEFAULTS: ServerDefaults = {
  structured: "full",
  preset: "mcp",
  greeting: "Secure MCP Filesystem Server running on stdio",
};

/** Runs the server in this process, and returns the exit status. */
export function runStdioProcess(argv: readonly string[], defaults?: ServerDefaults): Promise<number> {
  // A library may print to the console, and standard output must carry only protocol messages.
  console.log = console.info = console.debug = console.error;
  return runStdioServer(argv, process, defaults);
}

/** Runs the server over the streams of a program, and returns the exit status. */
export async function runStdioServer(
  argv: readonly string[],
  program: Program,
  defaults: ServerDefaults = FILEWRIGHT_DEFAULTS,
): Promise<number> {
  const { stdout, stderr } = program;
  if (argv.includes("--version") || argv.includes("-V")) {
    stdout.write(`${packageVersion()}\n`);
    return 0;
  }
  try {
    const config = await printedConfig(argv, defaults);
    if (config !== undefined) {
      stderr.write(`${config.file}:\n`);
      stdout.write(`${config.text}\n`);
      for (const shortcut of config.shortcuts) stderr.write(`or: ${shortcut}\n`);
      return 0;
    }
    return await serveOverStdio(await parseStdioOptions(argv, defaults), program);
  } catch (error) {
    const { line, status } = startFailureOf(error, program);
    stderr.write(`${line}\n`);
    return status;
  }
}
