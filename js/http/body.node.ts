/** Reads the bodies of requests, and limits the size of each and of all that are in memory together. */
import type { IncomingMessage } from "node:http";
import type { HttpLimits } from "./limits.ts";

/** The body of one request. */
interface LimitedBody {
  readonly stream: ReadableStream<Uint8Array>;
  /**
   * Returns the status with which the request must be refused: 413 when the body is too large, 503 when all
   * bodies together are; undefined while it is within the limits.
   */
  refusedWith(): number | undefined;
  /** Stops counting the bytes of the body. To be called after the request was answered. */
  release(): void;
}

/** Limits the bodies of all requests of a server. */
export interface BodyLimiter {
  /**
   * Returns the status for a body whose declared size in bytes exceeds a limit: 413 or 503; otherwise
   * undefined.
   */
  refusedWith(length: number): number | undefined;
  /** Returns the body as a stream. Bytes are received only as fast as the stream is read. */
  read(incoming: IncomingMessage): LimitedBody;
}

/** Creates the limits of a server. */
export function makeBodyLimiter({ bodyBytes, allBodiesBytes }: HttpLimits): BodyLimiter {
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
        // With this value, nothing is read from the connection until the reader asks for it.
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
