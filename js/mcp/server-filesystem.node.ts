#!/usr/bin/env node
/**
 * A replacement for the reference server `server-filesystem` of the Model Context Protocol. It has the same
 * arguments, tools, schemas and structured answers, so that a client needs to change only the path of the
 * program.
 */
import process from "node:process";
import { limitHeapGrowth } from "./lean.ts";

limitHeapGrowth();
const { runStdioServer } = await import("./run.ts");
process.exit(
  await runStdioServer(process.argv.slice(2), {
    structured: "full",
    preset: "mcp",
    greeting: "Secure MCP Filesystem Server running on stdio",
  }),
);
