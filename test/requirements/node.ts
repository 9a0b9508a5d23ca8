/** Scripts in a Node of their own. */
import { execFile } from "node:child_process";
import process from "node:process";
import { promisify } from "node:util";

/** The built package. */
export const ENTRY = new URL("../../dist/cli/library.js", import.meta.url).href;

/** Runs a script as a module in a Node of its own; gives what it prints. */
export async function node(
  script: string,
  flags: readonly string[],
  ...args: readonly string[]
): Promise<string> {
  const all = [...flags, "--input-type=module", "-e", script, "--", ...args];
  return (await promisify(execFile)(process.execPath, all)).stdout.trim();
}
