/** Scales images down for models, through the optional package `sharp`. */
import { importOptional, PackageProblem } from "../../schema/optional-packages.ts";

/** The width or height in pixels above which models scale an image down, or refuse it. */
export const MAX_MODEL_SIDE_PIXELS = 1568;
/** The size in bytes (of base64) above which many models refuse an image. */
export const MAX_MODEL_BASE64_BYTES: number = 5 * 1024 * 1024;

/** A scaled image. */
export interface ScaledImage {
  readonly bytes: Uint8Array;
  readonly mime: string;
  readonly width: number;
  readonly height: number;
}

/** The maximum size in bytes of a scaled image: providers count its base64 form, which is a third longer. */
const MAX_SCALED_BYTES = Math.floor(MAX_MODEL_BASE64_BYTES * 0.75);

/** Settings with decreasing size and quality. They are tried in this order until the result is small enough. */
const SCALE_SETTINGS: readonly { readonly side: number; readonly jpeg?: number }[] = [
  { side: MAX_MODEL_SIDE_PIXELS },
  { side: MAX_MODEL_SIDE_PIXELS, jpeg: 80 },
  { side: 1024, jpeg: 70 },
];

/**
 * The name of the package in a variable, so that bundlers do not include its native code. Whether it is
 * installed is found out at run time.
 */
const SHARP_PACKAGE: string = "sharp";

/** Returns the image scaled down, or a clause that says why it cannot be scaled down. */
export async function scaleImageDown(
  bytes: Uint8Array,
  mime: string,
  mostPixels: number,
): Promise<ScaledImage | string> {
  const module = await importOptional(
    "sharp",
    () =>
      import(/* @vite-ignore */ /* webpackIgnore: true */ SHARP_PACKAGE) as Promise<typeof import("sharp")>,
  );
  if (module instanceof PackageProblem) return `to have it scaled down, ${module.remedy}`;
  const sharp = module.default;
  try {
    for (const { side, jpeg } of SCALE_SETTINGS) {
      const image = sharp(bytes, { limitInputPixels: mostPixels, failOn: "truncated" })
        .rotate() // Applies the EXIF orientation, which the copy lacks.
        .resize({ width: side, height: side, fit: "inside", withoutEnlargement: true });
      const format =
        jpeg !== undefined ? "jpeg" : mime === "image/jpeg" || mime === "image/webp" ? mime.slice(6) : "png";
      const shaped =
        format === "jpeg"
          ? image.flatten({ background: "#ffffff" }).jpeg({ quality: jpeg ?? 85 })
          : format === "webp"
            ? image.webp({ quality: 85 })
            : image.png();
      const { data, info } = await shaped.toBuffer({ resolveWithObject: true });
      if (data.length > MAX_SCALED_BYTES) continue;
      return { bytes: data, mime: `image/${format}`, width: info.width, height: info.height };
    }
    return "it is too detailed to be made small";
  } catch {
    // Sharp cannot decode the file: it is damaged, or a BMP.
    return "it could not be scaled down";
  }
}
