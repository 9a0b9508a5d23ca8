// The detection of encodings in the form that the scorer of the samples calls: a function of bytes
// that returns their kind and text.
import { decodeText, inspect } from "../../../dist/engine/index.node.js";

export default async function detectEncoding(bytes) {
  const found = inspect(bytes);
  if (found.encoding === null) return { binary: true };
  const { text, encoding } = decodeText(bytes);
  return { binary: false, encoding, text };
}
