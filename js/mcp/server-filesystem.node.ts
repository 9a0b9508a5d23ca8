#!/usr/bin/env node
/**
 * The filesystem server of the Model Context Protocol, replaced: the same
 * arguments, tools, schemas and structured answers, with only the path changed.
 */
import process from "node:process";
import { stayLean } from "./lean.ts";

stayLean();
const { runStdio } = await import("./run.ts");
process.exit(
  await runStdio(process.argv.slice(2), {
    structured: "full",
    preset: "mcp",
    greeting: "Secure MCP Filesystem Server running on stdio",
  }),
);
