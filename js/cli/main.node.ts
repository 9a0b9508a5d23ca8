#!/usr/bin/env node
/**
 * The `filewright` command: the tools from a shell, for people and for scripts.
 *
 * Loads only the modules that a command needs: a client that starts a server must not wait for the
 * rest.
 */
import process from "node:process";
import { limitHeapGrowth } from "../mcp/lean.ts";

const argv = process.argv.slice(2);
const asksForHelp = argv.some((arg) => arg === "--help" || arg === "-h");

if (argv[0] === "mcp" && !asksForHelp) {
  limitHeapGrowth();
  const { runStdio } = await import("../mcp/run.ts");
  process.exit(await runStdio(argv.slice(1)));
} else {
  const { start } = await import("./run.ts");
  await start(argv);
}
