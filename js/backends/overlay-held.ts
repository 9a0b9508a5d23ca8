/**
 * An overlay as searches of held contents see it: what was not changed is where
 * the backend below holds it, with the signatures it has there.
 */
import { failure } from "./failure.ts";
import { heldBy, type HeldContents, type HeldFile } from "./held.ts";
import type { OverlayLayer } from "./overlay-layer.ts";

/** The contents of an overlay; undefined where the backend below holds none. `own`: nobody has put another method in place of one of the overlay's. */
export function heldThrough(layer: OverlayLayer, own: () => boolean): HeldContents | undefined {
  const held = heldBy(layer.lower);
  if (held === undefined) return undefined;
  return {
    signs: held.signs,
    shape: () => `${held.shape()} ${layer.upper.revision}`,
    stamp(directory) {
      // Another directory than the one below may be at such a path.
      if (layer.touched(directory) || layer.anyLinks()) return undefined;
      const below = held.stamp(directory);
      return below === undefined ? undefined : `${below} ${layer.upper.revision}`;
    },
    watch: held.watch,
    async file(path): Promise<HeldFile> {
      const real = await layer.real(path, true);
      if (!layer.touched(real)) return held.file(real);
      const node = layer.upper.get(real);
      if (node?.type === "dir") throw failure("IS_DIRECTORY", path);
      if (node?.type !== "file" || node.bytes === null) throw failure("NOT_FOUND", path);
      return { bytes: node.bytes };
    },
    // What is still where it was copied from may change there, and is a conflict then.
    intact: () => own() && held.intact() && !layer.anyCopies(),
  };
}
