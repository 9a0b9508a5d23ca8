/** Reads and counts the bodies of requests while they arrive: each one and all together. */
import type { IncomingMessage } from "node:http";
import type { HttpLimits } from "./limits.ts";

/** The body of one request. */
interface Body {
  readonly stream: ReadableStream<Uint8Array>;
  /**
   * The status with which the request must be answered instead: 413 or 503; undefined while the
   * body is within the limits.
   */
  refusedWith(): number | undefined;
  /** Releases the bytes after the request was answered. */
  release(): void;
}

/** Counts the bytes of all bodies of a server. */
export interface Bodies {
  /** Returns 413 or 503 for a body of this declared size that exceeds the limits; otherwise undefined. */
  refusedWith(length: number): number | undefined;
  /** Reads a body at the speed of its reader. */
  read(incoming: IncomingMessage): Body;
}

/** Creates the counter of a server. */
export function bodyCounter({ bodyBytes, allBodiesBytes }: HttpLimits): Bodies {
  let held = 0;
  const refusedWith = (size: number, more: number): number | undefined => {
    if (size > bodyBytes) return 413;
    return held + more > allBodiesBytes ? 503 : undefined;
  };
  return {
    refusedWith: (length) => refusedWith(length, length),
    read(incoming) {
      let size = 0;
      let status: number | undefined;
      const chunks = incoming[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
      const stream = new ReadableStream<Uint8Array>(
        {
          async pull(controller) {
            const { done, value } = await chunks.next();
            if (done === true) return controller.close();
            status = refusedWith(size + value.length, value.length);
            if (status !== undefined) return controller.error(new Error("the request body is out of bounds"));
            size += value.length;
            held += value.length;
            controller.enqueue(new Uint8Array(value.buffer, value.byteOffset, value.length));
          },
        },
        // Nothing is read from the connection before the reader requests it.
        { highWaterMark: 0 },
      );
      return {
        stream,
        refusedWith: () => status,
        release() {
          held -= size;
          size = 0;
        },
      };
    },
  };
}
