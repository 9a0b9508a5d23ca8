// What the scorer of the encoding samples calls: bytes in, kind and text out.
import { decodeText, inspect } from "../../dist/engine/index.node.js";

export default async function engine(bytes) {
  const found = inspect(bytes);
  if (found.encoding === null) return { binary: true };
  const { text, encoding } = decodeText(bytes);
  return { binary: false, encoding, text };
}
