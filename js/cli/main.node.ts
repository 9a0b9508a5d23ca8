#!/usr/bin/env node
/**
 * The program `filewright`: the tools for people and scripts in a shell.
 *
 * It loads only the modules that the command needs, because a client that starts a server must not wait for
 * the others.
 */
import process from "node:process";
import { VERSION } from "../engine/generated/version.ts";
import { limitHeapGrowth } from "../mcp/lean.ts";

const argv = process.argv.slice(2);
const asksForHelp = argv.some((arg) => arg === "--help" || arg === "-h");

try {
  if (argv[0] === "mcp" && !asksForHelp) {
    limitHeapGrowth();
    const { runStdioServer } = await import("../mcp/run.ts");
    process.exit(await runStdioServer(argv.slice(1)));
  } else if (argv[0] === "doctor" && !asksForHelp) {
    // It must not load what it checks.
    const { runDoctorProcess } = await import("./doctor/run.ts");
    process.exitCode = await runDoctorProcess(argv.slice(1));
  } else if (argv[0] === "--version" || argv[0] === "-V") {
    process.stdout.write(`${VERSION}\n`);
  } else {
    const { runProcess } = await import("./run.ts");
    await runProcess(argv);
  }
} catch (error) {
  // What runs words its own errors, so a module could not be loaded: by an old Node, or from a broken installation.
  const [message = ""] = (error instanceof Error ? error.message : String(error)).split("\n");
  process.stderr.write(
    `filewright: cannot start on Node ${process.version}: ${message}; run: npm install filewright@${VERSION}\n`,
  );
  process.exitCode = 1;
}
