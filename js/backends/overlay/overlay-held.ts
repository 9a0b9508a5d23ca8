/**
 * The in-memory contents of an overlay, for searches: unchanged files keep the lower backend's
 * content and index.
 */
import { failure } from "../failure.ts";
import { contentsOf, type ContentProvider, type HeldFile } from "../search/held.ts";
import type { OverlayLayer } from "./overlay-layer.ts";

/**
 * Returns the contents of an overlay, or undefined where the lower backend has none. `own` is true
 * while no caller has replaced one of the overlay's methods.
 */
export function overlayContents(layer: OverlayLayer, own: () => boolean): ContentProvider | undefined {
  const held = contentsOf(layer.lower);
  if (held === undefined) return undefined;
  return {
    signs: held.signs,
    shape: () => `${held.shape()} ${layer.upper.revision}`,
    stamp(directory) {
      // The path may resolve to another directory than in the lower backend.
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
    // The source of a pending copy may change in the lower backend, which is a conflict then.
    intact: () => own() && held.intact() && !layer.anyCopies(),
  };
}
