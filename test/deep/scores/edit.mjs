// The edit matcher in the form that the scorer of the edit cases calls: a function of the bytes of
// a file, an old text and a new text that returns the new bytes, or null for a refusal.
import { planEditsBytes } from "../../../dist/engine/index.node.js";

export default async function editOrNull(file, oldText, newText) {
  const plan = planEditsBytes(file, [{ oldText, newText }], { match: "fuzzy" });
  return plan.ok ? plan.bytes : null;
}
