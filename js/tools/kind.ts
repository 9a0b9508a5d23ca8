/** What kind of content some bytes are. */

/** The kind of a file, from its first bytes. */
export interface Kind {
  readonly text: boolean;
  readonly mime: string;
}

/** Tells text from what is none: until the engine tells more, by NUL bytes. */
export function kindOf(bytes: Uint8Array): Kind {
  const text = !bytes.subarray(0, 8192).includes(0);
  return { text, mime: text ? "text/plain" : "application/octet-stream" };
}
