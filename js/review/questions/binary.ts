/** Contents that are not text, in words and as images. What an image is, its bytes say, never its name. */
import { engine } from "../../engine/current.ts";
import { type ChangedBytes, changedBytesOf, type ConfirmedChange } from "../../hooks/changed-files.ts";
import type { ChangeSide } from "../protocol.ts";

/** The images that the page shows. SVG is none of them: it can contain scripts. */
const IMAGE_TYPES: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);
/** The maximum size in bytes of an image that the page shows. */
const MAX_IMAGE_BYTES = 8 * 1024 * 1024;
/** The maximum number of pixels of an image that the page shows: a browser needs 4 bytes for each. */
const MAX_IMAGE_PIXELS = 40_000_000;
const SIDES: readonly ChangeSide[] = ["before", "after"];

/** An image with the type that its bytes have. */
export interface ShownImage {
  readonly type: string;
  readonly bytes: Uint8Array;
}

/** Returns a line for each content that is not text: its type, its size and its hash. `bytes` may be unknown. */
export function binaryLines(binary: ConfirmedChange["binary"], bytes?: ChangedBytes): string[] {
  const lines: string[] = [];
  for (const side of SIDES) {
    const content = binary?.[side];
    if (!content) continue;
    const known = bytes?.[side];
    const type = known ? engine().inspect(known).mime : "binary";
    lines.push(`${side}: ${type}, ${content.size} bytes, ${content.hash}`);
  }
  return lines;
}

/** Returns the contents of a change that the page shows as images. */
export function shownImagesOf(change: ConfirmedChange): readonly ChangeSide[] {
  if (change.binary === undefined) return [];
  return SIDES.filter((side) => shownImage(change, side) !== undefined);
}

/** Returns a content of a change as an image; undefined for what is none, or is too large. */
export function shownImage(change: ConfirmedChange, side: ChangeSide): ShownImage | undefined {
  const bytes = changedBytesOf(change)?.[side];
  if (!bytes || bytes.length > MAX_IMAGE_BYTES || !change.binary?.[side]) return undefined;
  const { mime, width, height } = engine().inspect(bytes);
  const isSmall = width !== null && height !== null && width * height <= MAX_IMAGE_PIXELS;
  return IMAGE_TYPES.has(mime) && isSmall ? { type: mime, bytes } : undefined;
}
