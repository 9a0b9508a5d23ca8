/** Reads the input of a command: standard input, or a named file. */
import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { tooWide } from "../mcp/arguments.ts";
import { type Parsed, UsageError } from "../schema/command-line.node.ts";

/** Reads all of standard input as text. */
export async function readStdin(): Promise<string> {
  return text(process.stdin);
}

/** Reads a file, or standard input for `-`, as text. @throws UsageError when it cannot be read */
export async function readInput(name: string): Promise<string> {
  if (name === "-") return readStdin();
  try {
    return await readFile(name, "utf8");
  } catch (error) {
    throw new UsageError(`cannot read '${name}': ${error instanceof Error ? error.message : String(error)}`);
  }
}

/**
 * Refuses a workspace that is the whole disk or the home directory, unless the command line allows
 * it explicitly. @throws UsageError
 */
export function assertRoot(root: string, { values }: Parsed): void {
  const wrong = tooWide(root, values["yes"] === true);
  if (wrong !== undefined) throw new UsageError(wrong);
}
