/** Images: handed to the model as they are, within a limit. */
import type { Location } from "../access/index.ts";
import { engine } from "../engine/current.ts";
import { toBase64 } from "./base64.ts";
import { readWhole } from "./contents.ts";
import { escapeControls } from "./text.ts";
import { type Call, type ImageBlock, refuse } from "./tool.ts";

/** The size of an image in pixels, where its header tells. */
export interface ImageFacts {
  readonly width?: number;
  readonly height?: number;
}

/** Several model providers refuse larger images. */
const PROVIDERS_LIMIT = 5 * 1024 * 1024;

/** An image read for a model. */
export interface ReadImage {
  readonly block: ImageBlock;
  readonly facts: ImageFacts;
  readonly hash: string;
  readonly version: string;
  readonly warning: string | undefined;
}

/** Reads an image. @throws TOO_LARGE with size and limit */
export async function readImage(call: Call, at: Location, mime: string, size: number): Promise<ReadImage> {
  const limit = call.limits.imageBytes;
  if (size > limit) {
    throw refuse("TOO_LARGE", at, { details: { size, limit }, hint: "make a smaller copy of the image" });
  }
  const { bytes, version } = await readWhole(call, at, limit);
  const { width, height } = engine().inspect(bytes, { name: at.path });
  return {
    block: {
      type: "image",
      source: { type: "base64", media_type: mime, data: toBase64(bytes) },
      file_path: call.display(at.path),
      size_bytes: bytes.length,
    },
    facts: { ...(width === null ? {} : { width }), ...(height === null ? {} : { height }) },
    hash: engine().sha256(bytes),
    version,
    warning:
      bytes.length > PROVIDERS_LIMIT
        ? `the image has ${bytes.length} bytes; some models refuse more than 5 MB`
        : undefined,
  };
}

/** What the text says of an image. */
export function imageText(path: string, mime: string, size: number, { width, height }: ImageFacts): string {
  const pixels = width === undefined || height === undefined ? "" : `, ${width}x${height} pixels`;
  return `[image: ${escapeControls(path)} (${mime}, ${size} bytes${pixels})]`;
}
