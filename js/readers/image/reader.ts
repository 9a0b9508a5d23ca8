/**
 * Reads images, as blocks for models that can see. The format is detected from the bytes, never from the
 * name. The size in pixels is read from the header, so that a huge image is refused before it is decoded.
 */
import { withoutUndefined } from "../../schema/without-undefined.ts";
import { engine } from "../../engine/current.ts";
import type { Inspection } from "../../engine/read.ts";
import { type FilewrightError, makeError } from "../../engine/errors.ts";
import { toBase64 } from "../../engine/wire/bytes.ts";
import type { ReaderInput, ReaderLimits, Rendered } from "../reader.ts";
import { checkSignal, tooLargeError, unsupportedFormatError } from "../refuse.ts";
import { findImageDamage } from "./damage.ts";
import { MAX_MODEL_BASE64_BYTES, MAX_MODEL_SIDE_PIXELS, type ScaledImage, scaleImageDown } from "./scale.ts";

/**
 * The number of bytes that are read for the header. It suffices for every format, except for a JPEG with more
 * data before its first frame.
 */
const IMAGE_HEADER_BYTES = 64 * 1024;
/**
 * The maximum number of pixels of an image that is decoded, which takes 4 bytes for each. A larger image is
 * refused.
 */
const MAX_DECODED_PIXELS = 100_000_000;
/** The maximum width and height in pixels that clients accept. */
const MAX_IMAGE_SIDE_PIXELS = 8000;
/** Reads PNG, JPEG, GIF, WebP and BMP. */
export async function readImage(input: ReaderInput): Promise<Rendered> {
  const { path, mime } = input;
  const { size } = input.source;
  const { bytes, facts } = await inspectedImage(input);
  const damage = await findImageDamage(bytes, mime);
  if (damage !== undefined) throw damagedImageError(mime, damage);
  checkSignal(input.signal);
  const { scaled, warning } = await fittingImage(bytes, facts, input);
  const warnings = [warning, mime === "image/bmp" ? "Many models take no BMP; a PNG is safer." : undefined];
  const sent = scaled?.mime ?? mime;
  const measure = facts.width === null ? "" : `, ${facts.width}x${facts.height} pixels`;
  return {
    text: `[image: ${path}, ${mime}${measure}, ${size} bytes]`,
    content: [
      {
        type: "image",
        source: { type: "base64", media_type: sent, data: toBase64(scaled?.bytes ?? bytes) },
        file_path: path,
        size_bytes: size,
      },
    ],
    data: withoutUndefined({
      mime,
      size,
      width: facts.width ?? undefined,
      height: facts.width === null ? undefined : facts.height,
      sent: scaled && { mime: sent, size: scaled.bytes.length, width: scaled.width, height: scaled.height },
    }),
    warning: warnings.filter((one) => one !== undefined).join(" ") || undefined,
  };
}

/** Returns the bytes of an image that is not too large to be decoded, and what its header says. */
async function inspectedImage({ source, path, mime, limits }: ReaderInput): Promise<{
  readonly bytes: Uint8Array;
  readonly facts: Inspection;
}> {
  const { size } = source;
  if (size > limits.imageBytes)
    throw tooLargeError(size, limits.imageBytes, "make a smaller copy of the image", { mime });
  const head = await source.read(0, Math.min(size, IMAGE_HEADER_BYTES));
  const facts = engine().inspect(head, { name: path, partial: size > head.length });
  refuseDecompressionBomb(facts);
  if (size <= head.length) return { bytes: head, facts };
  const bytes = await source.read();
  if (facts.width !== null) return { bytes, facts };
  const whole = engine().inspect(bytes, { name: path });
  refuseDecompressionBomb(whole);
  return { bytes, facts: whole };
}

/**
 * Returns a smaller copy of an image that is large for a model, and a warning about either; undefined where
 * there is none. @throws TOO_LARGE when clients do not accept the image and it cannot be scaled down
 */
async function fittingImage(
  bytes: Uint8Array,
  facts: Inspection,
  { mime, limits, signal }: ReaderInput,
): Promise<{ readonly scaled: ScaledImage | undefined; readonly warning: string | undefined }> {
  const size = bytes.length;
  if (!isLargeForModel(facts, size, limits)) {
    const isKnown = facts.width !== null && facts.width !== 0 && facts.height !== 0;
    const warning = "Its header does not tell its width and height: the image may be damaged.";
    return { scaled: undefined, warning: isKnown ? undefined : warning };
  }
  const tried = await scaleImageDown(bytes, mime, MAX_DECODED_PIXELS);
  checkSignal(signal);
  const was = `The image is large (${describeImage(facts, size)})`;
  if (typeof tried === "string") {
    refuseLargeImage(facts, size, limits, tried);
    return { scaled: undefined, warning: `${was} and sent as it is: ${tried}.` };
  }
  const now = describeImage(tried, tried.bytes.length);
  return { scaled: tried, warning: `${was}: scaled down for the model to ${now}.` };
}

function isLargeForModel({ width, height }: Inspection, size: number, limits: ReaderLimits): boolean {
  return (
    Math.max(width ?? 0, height ?? 0) > MAX_MODEL_SIDE_PIXELS ||
    size > MAX_MODEL_BASE64_BYTES ||
    base64Length(size) > maxImageBase64Bytes(limits)
  );
}

function damagedImageError(mime: string, how: string): FilewrightError {
  const hint = "get an undamaged copy of it";
  return unsupportedFormatError(mime, `is damaged (${how}), so it is not handed over`, {
    reason: "damaged",
    hint,
  });
}

function base64Length(bytes: number): number {
  return Math.ceil(bytes / 3) * 4;
}

/** Returns the maximum number of base64 characters of an image that clients accept. */
function maxImageBase64Bytes({ imageBase64Bytes: limit = MAX_MODEL_BASE64_BYTES }: ReaderLimits): number {
  return limit;
}

/**
 * Refuses an image that is larger than clients accept. `why` is a clause that says why it is not scaled down.
 * @throws TOO_LARGE
 */
function refuseLargeImage(
  { width, height, mime }: Inspection,
  size: number,
  limits: ReaderLimits,
  why: string,
): void {
  const { imagePixels: side = MAX_IMAGE_SIDE_PIXELS } = limits;
  const limit = maxImageBase64Bytes(limits);
  const encoded = base64Length(size);
  if (encoded > limit) {
    throw makeError("TOO_LARGE", `${encoded} bytes as base64, and the limit is ${limit}`, {
      hint: `both are counted as base64, of which clients take no more; ${why}`,
      details: { mime, size: encoded, limit, file_size: size },
    });
  }
  if (Math.max(width ?? 0, height ?? 0) <= side) return;
  throw makeError("TOO_LARGE", `${width}x${height} pixels, and the limit is ${side} a side`, {
    hint: `it has ${width}x${height} pixels, and clients take ${side} a side; ${why}`,
    details: { mime, width, height, limit_side: side },
  });
}

function refuseDecompressionBomb({ width, height, mime }: Inspection): void {
  if (width === null || height === null || width * height <= MAX_DECODED_PIXELS) return;
  throw makeError("TOO_LARGE", `${width}x${height} pixels, and the limit is ${MAX_DECODED_PIXELS}`, {
    hint: `its header declares ${width}x${height} pixels, and the limit is ${MAX_DECODED_PIXELS}`,
    details: { mime, width, height, limit_pixels: MAX_DECODED_PIXELS },
  });
}

function describeImage(
  of: { readonly width: number | null; readonly height: number | null },
  bytes: number,
): string {
  const measure = of.width === null ? "" : `${of.width}x${of.height} pixels, `;
  return `${measure}${bytes < 100_000 ? `${bytes} bytes` : `${(bytes / 1e6).toFixed(1)} MB`}`;
}
