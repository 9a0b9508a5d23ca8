/**
 * Checks whether an image can be decoded, as far as its structure shows it. If a conversation contains one
 * that cannot, some providers refuse every later request. Bytes after the end of an image are no damage.
 */
import { gunzip } from "../archive/inflate.ts";

/** Returns a clause that says why the image cannot be decoded; undefined when no damage is found. */
export async function findImageDamage(bytes: Uint8Array, mime: string): Promise<string | undefined> {
  switch (mime) {
    case "image/png":
      return pngDamage(bytes);
    case "image/jpeg":
      return jpegDamage(bytes);
    case "image/gif":
      return gifDamage(bytes);
    case "image/webp":
      return webpDamage(bytes);
    default:
      return undefined;
  }
}

const CUT_SHORT_CLAUSE = "it ends before its end mark";

async function pngDamage(bytes: Uint8Array): Promise<string | undefined> {
  const view = dataViewOf(bytes);
  const data: Uint8Array[] = [];
  let header: DataView | undefined;
  for (let at = 8; ; ) {
    if (at + 12 > bytes.length) return CUT_SHORT_CLAUSE;
    const length = view.getUint32(at);
    const end = at + 12 + length;
    const type = readLatin1(bytes, at + 4, 4);
    if (!/^[A-Za-z]{4}$/u.test(type)) return `at byte ${at} there is no chunk`;
    if (end > bytes.length) return CUT_SHORT_CLAUSE;
    if (crc32(bytes, at + 4, end - 4) !== view.getUint32(end - 4))
      return `the checksum of its ${type} chunk at byte ${at} is wrong`;
    const body = bytes.subarray(at + 8, end - 4);
    if (header === undefined) {
      if (type !== "IHDR" || length !== 13) return "it does not begin with its header";
      header = dataViewOf(body);
    } else if (type === "IDAT") data.push(body);
    else if (type === "IEND") break;
    at = end;
  }
  if (data.length === 0) return "it has no pixel data";
  return (await canInflate(data, pngPixelBytes(header))) ? undefined : "its pixel data does not inflate";
}

/**
 * Returns the number of bytes of the decompressed pixels of a PNG without interlacing. With interlacing there
 * are a few more.
 */
function pngPixelBytes(header: DataView): number {
  const [width, height] = [header.getUint32(0), header.getUint32(4)];
  const samples = [1, 0, 3, 1, 2, 0, 4][header.getUint8(9)] ?? 4;
  return height * (1 + Math.ceil((width * samples * header.getUint8(8)) / 8));
}

/**
 * Returns false when zlib data is damaged before `wanted` bytes are decompressed. Damage after that is
 * accepted, because decoders ignore it.
 */
async function canInflate(data: readonly Uint8Array[], wanted: number): Promise<boolean> {
  let inflated = 0;
  try {
    for await (const chunk of gunzip(data, "deflate")) {
      inflated += chunk.length;
      if (inflated > wanted * 2) return true;
    }
  } catch {
    // At damage, what was decompressed so far counts, because decoders still show such an image if it lacks
    // only its last bytes.
    return inflated >= wanted;
  }
  return true;
}

/**
 * Checks the segments of a JPEG up to the first scan, and looks for the end mark after it. Returns a clause
 * about the damage, or undefined.
 */
function jpegDamage(bytes: Uint8Array): string | undefined {
  const view = dataViewOf(bytes);
  let at = 2;
  while (at + 4 <= bytes.length) {
    if (bytes[at] !== 0xff) return undefined; // Decoders search for the next mark themselves.
    const mark = bytes[at + 1] as number;
    if (mark === 0xff) at += 1;
    else if (mark === 0xd9) return undefined;
    else if (mark === 0xda) break;
    else if (mark === 0x01 || (mark >= 0xd0 && mark <= 0xd8)) at += 2;
    else at += 2 + view.getUint16(at + 2);
  }
  for (let from = bytes.indexOf(0xff, at); from >= 0; from = bytes.indexOf(0xff, from + 1))
    if (bytes[from + 1] === 0xd9) return undefined;
  return CUT_SHORT_CLAUSE;
}

function gifDamage(bytes: Uint8Array): string | undefined {
  const table = (flags: number): number => ((flags & 0x80) === 0 ? 0 : 3 << ((flags & 7) + 1));
  let at = 13 + table(bytes[10] ?? 0);
  const skipBlocks = (from: number): number => {
    let next = from;
    while (next < bytes.length && bytes[next] !== 0) next += 1 + (bytes[next] as number);
    return next + 1;
  };
  let pictures = 0;
  while (at < bytes.length) {
    if (bytes[at] === 0x3b) return undefined;
    if (bytes[at] === 0x21) at = skipBlocks(at + 2);
    else if (bytes[at] === 0x2c) {
      at = skipBlocks(at + 11 + table(bytes[at + 9] ?? 0));
      if (at <= bytes.length) pictures++;
    } else break;
  }
  // Decoders show complete pictures even if the end mark after them is missing.
  return pictures > 0 ? undefined : CUT_SHORT_CLAUSE;
}

function webpDamage(bytes: Uint8Array): string | undefined {
  return bytes.length < 12 || dataViewOf(bytes).getUint32(4, true) + 8 > bytes.length
    ? CUT_SHORT_CLAUSE
    : undefined;
}

function dataViewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function readLatin1(bytes: Uint8Array, at: number, length: number): string {
  return String.fromCharCode(...bytes.subarray(at, at + length));
}

const CRC32_TABLE = Uint32Array.from({ length: 256 }, (_, n) => {
  let c = n;
  for (let bit = 0; bit < 8; bit++) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1;
  return c;
});

function crc32(bytes: Uint8Array, from: number, to: number): number {
  let c = 0xffffffff;
  for (let at = from; at < to; at++)
    c = (CRC32_TABLE[(c ^ (bytes[at] as number)) & 0xff] as number) ^ (c >>> 8);
  return (c ^ 0xffffffff) >>> 0;
}
