// The edit matcher as the corpus's scorer wants it: bytes and two texts in, the
// new bytes or null for a refusal out.
import { planEditsBytes } from "../../dist/engine/index.node.js";

export default async function edit(file, oldText, newText) {
  const plan = planEditsBytes(file, [{ oldText, newText }], { match: "fuzzy" });
  return plan.ok ? plan.bytes : null;
}
