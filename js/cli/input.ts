/** What a command reads besides its arguments: standard input, or a file that is named. */
import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { UsageError } from "./parse.ts";

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
