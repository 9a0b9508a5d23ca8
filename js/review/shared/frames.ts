/**
 * The frames of the connection between processes that share a review page: a header as JSON, and a body of bytes.
 *
 * A frame begins with two unsigned integers of four bytes, the higher byte first: the length of the header and that of
 * the body. A body is sent as it is, because a page of a large diff would be escaped twice as JSON within JSON.
 */
import { concatBytes, EMPTY_BYTES } from "../../engine/wire/bytes.ts";

/** The maximum length of a header in bytes: a question that names a hundred thousand paths. */
const MAX_HEADER_BYTES: number = 16 * 1024 * 1024;
/** The maximum length of a body in bytes: several times that of a page of a diff. */
export const MAX_BODY_BYTES: number = 64 * 1024 * 1024;
/** The length of the two integers. */
const LENGTHS_BYTES = 8;

/** Thrown by a frame reader for bytes that are no frame. */
export class FrameError extends Error {
  override name = "FrameError";
}

/** A frame. */
export interface Frame {
  /** The parsed header, which is not checked. */
  readonly header: unknown;
  readonly body: Uint8Array<ArrayBuffer>;
}

/** Returns the bytes of a frame. @throws FrameError when the header or the body is too long */
export function encodeFrame(header: object, body: Uint8Array = EMPTY_BYTES): Uint8Array<ArrayBuffer> {
  const text = new TextEncoder().encode(JSON.stringify(header));
  assertLengths(text.length, body.length);
  const frame = new Uint8Array(LENGTHS_BYTES + text.length + body.length);
  const view = new DataView(frame.buffer);
  view.setUint32(0, text.length);
  view.setUint32(4, body.length);
  frame.set(text, LENGTHS_BYTES);
  frame.set(body, LENGTHS_BYTES + text.length);
  return frame;
}

/**
 * Creates the reader of one connection. The function takes the received bytes and calls `onFrame` with each complete
 * frame. It throws FrameError for bytes that are no frame, as soon as their beginning shows it.
 */
export function makeFrameReader(onFrame: (frame: Frame) => void): (chunk: Uint8Array) => void {
  let chunks: Uint8Array[] = [];
  let length = 0;
  /** The number of bytes of the frame that arrives, or of its lengths until these have arrived. */
  let needed = LENGTHS_BYTES;
  return (chunk) => {
    chunks.push(chunk);
    length += chunk.length;
    // The chunks are joined only when a whole frame is there, so that a large frame is copied once.
    while (length >= needed) {
      const bytes = concatBytes(chunks);
      const view = new DataView(bytes.buffer, bytes.byteOffset);
      const [headerLength, bodyLength] = [view.getUint32(0), view.getUint32(4)];
      assertLengths(headerLength, bodyLength);
      const headerEnd = LENGTHS_BYTES + headerLength;
      needed = headerEnd + bodyLength;
      chunks = [bytes];
      if (length < needed) return;
      const header = parseHeader(bytes.subarray(LENGTHS_BYTES, headerEnd));
      const body = bytes.slice(headerEnd, needed);
      chunks = [bytes.subarray(needed)];
      length -= needed;
      needed = LENGTHS_BYTES;
      onFrame({ header, body });
    }
  };
}

function assertLengths(header: number, body: number): void {
  if (header > MAX_HEADER_BYTES || body > MAX_BODY_BYTES)
    throw new FrameError(
      `a frame may have a header of ${MAX_HEADER_BYTES} and a body of ${MAX_BODY_BYTES} bytes`,
    );
}

function parseHeader(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw new FrameError("the header of a frame is not JSON");
  }
}
