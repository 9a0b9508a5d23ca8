/** Standard input, whole. */
import { text } from "node:stream/consumers";

/** All of standard input as text. */
export async function readStdin(): Promise<string> {
  return text(process.stdin);
}
