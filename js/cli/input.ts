/** What a command reads besides its arguments: standard input, or a file that is named. */
import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { tooWide } from "../mcp/arguments.ts";
import { type Parsed, UsageError } from "../schema/command-line.node.ts";

/** All of standard input as text. */
export async function readStdin(): Promise<string> {
  return text(process.stdin);
}

/** A file, or standard input for `-`, as text. @throws UsageError where it cannot be read */
export async function readInput(name: string): Promise<string> {
  if (name === "-") return readStdin();
  try {
    return await readFile(name, "utf8");
  } catch (error) {
    throw new UsageError(`cannot read '${name}': ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Refuses a workspace that is the whole disk or home, unless the command line says that it is meant. @throws UsageError */
export function assertRoot(root: string, { values }: Parsed): void {
  const wrong = tooWide(root, values["yes"] === true);
  if (wrong !== undefined) throw new UsageError(wrong);
}
