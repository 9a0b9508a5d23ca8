/** When the searches of a fork need no judge: what is below it is judged by its parent, what it changed is plain. */
import { holdsSecret, SECRET_HEAD_BYTES } from "../../backends/confined/rules.ts";
import type { ChangedNode } from "../../backends/overlay/draft.ts";
import type { OverlayLayer } from "../../backends/overlay/overlay-layer.ts";
import type { Resolver } from "../../policy/index.ts";

/**
 * Returns a function that says whether everything that a layer changed may be read by its policy: no denied path, no
 * secret by name or content, no link, and no content that is still elsewhere.
 */
export function allowsChanges(layer: OverlayLayer, resolver: Resolver): () => boolean {
  const secrets = resolver.policy.secrets === "grant";
  const known = new WeakMap<ChangedNode, boolean>();
  const isPlain = (path: string, node: ChangedNode): boolean => {
    if (!resolver.mayRead(path) || resolver.isTemporary(path) || node.type === "symlink") return false;
    if (node.type === "dir") return true;
    if (resolver.secret(path) || !(node.content instanceof Uint8Array)) return false;
    return !secrets || !holdsSecret(node.content.subarray(0, SECRET_HEAD_BYTES));
  };
  return () => {
    for (const [path, node] of layer.draft.nodes()) {
      if (node === null) continue;
      let plain = known.get(node);
      if (plain === undefined) {
        plain = isPlain(path, node);
        known.set(node, plain);
      }
      if (!plain) return false;
    }
    return true;
  };
}
