#!/usr/bin/env node
/**
 * The program `filewright`: the tools for people and scripts in a shell.
 *
 * It loads only the modules that the command needs, because a client that starts a server must not wait for
 * the others.
 */
import { VERSION } from "../engine/generated/version.ts";
import { limitHeapGrowth } from "../mcp/lean.ts";

/** The time in milliseconds in which a process ends by itself after its server has ended. */
const MAX_EXIT_WAIT_MS = 500;

const argv = process.argv.slice(2);
const asksForHelp = argv.some((arg) => arg === "--help" || arg === "-h");

try {
  if (argv[0] === "mcp" && !asksForHelp) {
    limitHeapGrowth();
    const { runStdioProcess } = await import("../mcp/run.ts");
    process.exit(await runStdioProcess(argv.slice(1)));
  } else if (argv[0] === "doctor" && !asksForHelp) {
    // It must not load what it checks.
    const { runDoctorProcess } = await import("./doctor/run.ts");
    surviveBrokenPipes();
    process.exitCode = await runDoctorProcess(argv.slice(1), process);
  } else if (argv[0] === "--version" || argv[0] === "-V") {
    process.stdout.write(`${VERSION}\n`);
  } else {
    const { runProgram } = await import("./run.ts");
    surviveBrokenPipes();
    process.exitCode = await runProgram(argv, process);
    // The connection of a server to an engine that does not answer cannot be closed in order.
    if (argv[0] === "serve" && !asksForHelp && process.exitCode === 0)
      setTimeout(() => process.exit(), MAX_EXIT_WAIT_MS).unref();
  }
} catch (error) {
  // What runs words its own errors, so a module could not be loaded: by an old Node, or from a broken installation.
  const [message = ""] = (error instanceof Error ? error.message : String(error)).split("\n");
  process.stderr.write(
    `filewright: cannot start on Node ${process.version}: ${message}; run: npm install filewright@${VERSION}\n`,
  );
  process.exitCode = 1;
}

/** Ends the program without an error message when the reader of its output closes the pipe, as `| head` does. */
function surviveBrokenPipes(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EPIPE") process.exit(process.exitCode ?? 0);
      throw error;
    });
  }
}
