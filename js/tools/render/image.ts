/** Reads images for models. The reader of the format supplies the image block. */
import type { Location } from "../../policy/index.ts";
import type { ImageFacts } from "../generated/types.ts";
import { renderFile } from "./renderings.ts";
import { withoutUndefined } from "../../schema/without-undefined.ts";
import { escapeControls } from "../../engine/escape.ts";
import { type Call, type ContentBlock, locationError } from "../lib/tool.ts";

/** An image that was read for a model. */
export interface ReadImage {
  readonly block: ContentBlock;
  readonly facts: ImageFacts;
  readonly hash: string | null;
  readonly version: string | undefined;
  readonly warning: string | undefined;
}

/**
 * Reads an image as a block. @throws TOO_LARGE with size and limit in bytes, UNSUPPORTED_FORMAT for formats
 * that models do not accept
 */
export async function readImage(call: Call, at: Location, mime: string, size: number): Promise<ReadImage> {
  const { content, data, hash, version, warning } = await renderFile(call, at, { mime, size }, {});
  const block = content?.[0];
  if (block === undefined) throw locationError("UNSUPPORTED_FORMAT", at, { details: { mime, size } });
  return { block, facts: imageFacts(data), hash, version, warning };
}

/** Returns the facts about an image among the facts of a reader. */
export function imageFacts(facts: Readonly<Record<string, unknown>> = {}): ImageFacts {
  const { width, height, sent } = facts as ImageFacts;
  return withoutUndefined({ width, height, sent });
}

/** Returns the line of text that accompanies an image: its path, type and sizes. */
export function imageText(path: string, mime: string, size: number, { width, height }: ImageFacts): string {
  const pixels = width === undefined || height === undefined ? "" : `, ${width}x${height} pixels`;
  return `[image: ${escapeControls(path)} (${mime}, ${size} bytes${pixels})]`;
}
