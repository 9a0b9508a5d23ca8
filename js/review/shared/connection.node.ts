/** One end of the connection between two processes that share a review page. */
import type { Socket } from "node:net";
import { encodeFrame, type Frame, makeFrameReader } from "./frames.ts";

/** The number of bytes that the other side may leave unread; with more, the connection ends. */
const MAX_UNREAD_BYTES = 128 * 1024 * 1024;

/** A connection. */
export interface LinkConnection {
  /** Sends a message. Without effect when the connection has ended. */
  send(message: object, body?: Uint8Array): void;
  /** Ends the connection after what was sent. */
  end(): void;
}

/**
 * Exchanges frames over a socket. A frame for which `onFrame` returns false, or that is none, ends the connection.
 * `onClose` is called once, when the connection has ended for any reason.
 */
export function connectLink(
  socket: Socket,
  { onFrame, onClose }: { readonly onFrame: (frame: Frame) => boolean; readonly onClose: () => void },
): LinkConnection {
  const read = makeFrameReader((frame) => {
    if (!socket.destroyed && !onFrame(frame)) socket.destroy();
  });
  socket.on("data", (chunk) => {
    try {
      read(chunk);
    } catch {
      socket.destroy();
    }
  });
  socket.on("error", () => socket.destroy());
  socket.once("close", onClose);
  return {
    send(message, body) {
      if (socket.destroyed || socket.writableEnded) return;
      if (socket.writableLength > MAX_UNREAD_BYTES) socket.destroy();
      else socket.write(encodeFrame(message, body));
    },
    end() {
      socket.end();
    },
  };
}
