/** Finds one value of a structured file, on this thread or in a worker. */
import { engine } from "../../engine/current.ts";
import { locatePointer, type StructuredFormat } from "./locate.ts";
import type { Located } from "./pointer.ts";

/** The text of a value, and its location in the text of the file. */
export interface ValueText {
  readonly text: string;
  readonly found: Located;
}

/** Returns the value that a pointer names in the bytes of a file. @throws as `locatePointer` */
export async function valueText(
  bytes: Uint8Array,
  encoding: string,
  pointer: string,
  format: StructuredFormat,
): Promise<ValueText> {
  const { text } = engine().decodeText(bytes, encoding);
  const found = await locatePointer(text, pointer, format);
  return { text: text.slice(found.start, found.end), found };
}

/** Answers a call in a worker. */
export const answerInWorker = (_: unknown, ...args: Parameters<typeof valueText>): Promise<ValueText> =>
  valueText(...args);
