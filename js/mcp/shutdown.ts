/** How a server over HTTP ends: running calls finish, or are cancelled and roll their changes back. */
import { setTimeout as delay } from "node:timers/promises";
import { fulfilledWithin } from "../http/limits.ts";
import { type HttpServer, MIN_LINGER_MS } from "../http/server.node.ts";
import { MAX_ROLLBACK_WAIT_MS } from "./transport/stdio.ts";

/** A running server. */
export interface RunningHttpServer {
  /** The URL of the server, such as `http://127.0.0.1:34567/mcp`. */
  readonly url: string;
  /**
   * Shuts down in order: running calls may finish, and new ones fail with CANCELLED, whose `details.reason`
   * is `shutting_down`. After the grace period the remaining calls are cancelled and roll back their
   * changes.
   */
  drain(): Promise<void>;
}

/** The parts of a server that end in order. */
export interface EndingServer {
  readonly server: HttpServer;
  /** Ends the streams of clients that are subscribed, and refuses new ones. */
  readonly handler: { drain(): void };
  /** Refuses further calls. Resolves when no call is running. */
  drainCalls(): Promise<void>;
  /** Aborted when the server stops waiting for running calls. */
  readonly ending: AbortController;
  /** The time in milliseconds for which running calls may continue. */
  readonly graceMs: number;
  /** Closes everything that was opened. */
  close(): Promise<void>;
}

/** Ends a server. `/ready` has to say so before. */
export async function drainInOrder(parts: EndingServer): Promise<void> {
  const { server, handler, ending, graceMs } = parts;
  handler.drain();
  // Whoever sends requests here learns of the shutdown by `/ready`. Calls that arrive until then are made.
  const drained = delay(MIN_LINGER_MS).then(() => parts.drainCalls());
  if (!(await server.drain(graceMs))) {
    ending.abort();
    await server.drain(MAX_ROLLBACK_WAIT_MS);
  }
  await server.close();
  await fulfilledWithin(drained, MAX_ROLLBACK_WAIT_MS);
  await fulfilledWithin(parts.close(), MAX_ROLLBACK_WAIT_MS);
}
