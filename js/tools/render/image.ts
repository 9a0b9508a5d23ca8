/** Images, passed to the model as the reader of their format returns them. */
import type { Location } from "../../policy/index.ts";
import { renderFile } from "./renderings.ts";
import { escapeControls } from "../../engine/escape.ts";
import { type Call, type ContentBlock, refuse } from "../lib/tool.ts";

/** The size of an image in pixels, when its header states it. */
export interface ImageFacts {
  readonly width?: number;
  readonly height?: number;
  /** The copy scaled down for models, when it replaces the file's own bytes. */
  readonly sent?: SentImage;
}

/** A copy made for the model. `size` in bytes. */
export interface SentImage {
  /** Media type. */
  readonly mime: string;
  /** Bytes. */
  readonly size: number;
  /** Pixels. */
  readonly width: number;
  /** Pixels. */
  readonly height: number;
}

/** An image read for a model. */
export interface ReadImage {
  readonly block: ContentBlock;
  readonly facts: ImageFacts;
  readonly hash: string | null;
  readonly version: string | undefined;
  readonly warning: string | undefined;
}

/**
 * Reads an image. @throws TOO_LARGE with size and limit, UNSUPPORTED_FORMAT for formats that
 * models do not accept
 */
export async function readImage(call: Call, at: Location, mime: string, size: number): Promise<ReadImage> {
  const { content, data, hash, version, warning } = await renderFile(call, at, { mime, size }, {});
  const block = content?.[0];
  if (block === undefined) throw refuse("UNSUPPORTED_FORMAT", at, { details: { mime, size } });
  return { block, facts: imageFacts(data), hash, version, warning };
}

/** Selects the facts about an image from a reader's facts. */
export function imageFacts(facts: Readonly<Record<string, unknown>> = {}): ImageFacts {
  const { width, height, sent } = facts as ImageFacts;
  return {
    ...(width === undefined ? {} : { width }),
    ...(height === undefined ? {} : { height }),
    ...(sent === undefined ? {} : { sent }),
  };
}

/** Returns the text about an image. */
export function imageText(path: string, mime: string, size: number, { width, height }: ImageFacts): string {
  const pixels = width === undefined || height === undefined ? "" : `, ${width}x${height} pixels`;
  return `[image: ${escapeControls(path)} (${mime}, ${size} bytes${pixels})]`;
}
