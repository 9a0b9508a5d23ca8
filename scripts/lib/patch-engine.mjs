// Patches as the corpus's scorer wants them: all files and a patch in, all files
// as they are afterwards out; a refusal is thrown.
import { applyPatch } from "../../dist/engine/index.node.js";

export default async function patch(files, text) {
  const after = { ...files };
  for (const file of applyPatch(files, text)) {
    if (file.operation === "rename") delete after[file.from];
    if (file.bytes === null) delete after[file.path];
    else after[file.path] = new TextDecoder("utf-8", { ignoreBOM: true }).decode(file.bytes);
  }
  return after;
}
