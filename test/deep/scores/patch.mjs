// The patch engine in the form that the scorer of the patch cases calls: a function of files and a
// patch that returns the files after it, and throws if the patch is refused.
import { applyPatch } from "../../../dist/engine/index.node.js";

export default async function patchFiles(files, text) {
  const after = { ...files };
  for (const file of applyPatch(files, text)) {
    if (file.operation === "rename") delete after[file.from];
    if (file.bytes === null) delete after[file.path];
    else after[file.path] = new TextDecoder("utf-8", { ignoreBOM: true }).decode(file.bytes);
  }
  return after;
}
