#!/usr/bin/env node
/**
 * A replacement for the reference server `server-filesystem` of the Model Context Protocol. It has the same
 * arguments, tools, schemas and structured answers, so that a client needs to change only the path of the
 * program.
 */
import { limitHeapGrowth } from "./lean.ts";

limitHeapGrowth();
const { DROP_IN_DEFAULTS, runStdioProcess } = await import("./run.ts");
process.exit(await runStdioProcess(process.argv.slice(2), DROP_IN_DEFAULTS));
