/**
 * The queue of calls that walk a tree.
 *
 * A few run at once, and the others wait in one queue for each client (an agent of a workspace). A
 * free slot is given to the clients in turn, so that many calls of one client delay its own calls and
 * not those of others. The process has one queue, because it has one disk.
 */
import { FilewrightError } from "../../engine/errors.ts";
import { LoopTurns } from "./admission.ts";

/** The maximum number of calls that walk at once. */
const MAX_RUNNING_SCANS = 8;
/**
 * The maximum number of walking calls of one client. It is lower than the total, so that the calls of other
 * clients start soon.
 */
const MAX_RUNNING_SCANS_OF_CLIENT = 4;
/**
 * The maximum number of calls that begin in one turn of the event loop, because a search that uses an
 * index takes less time than its answer.
 */
const MAX_SCAN_STARTS_PER_TURN = 8;

/** A client, compared by its value. */
export type ScanClient = string;

interface WaitingScan {
  start(): void;
}

/** Starts the calls of clients in turn. */
export class ScanQueue {
  readonly #running = new Map<ScanClient, number>();
  /** The waiting calls, in the order in which the clients have their turns. */
  readonly #waiting = new Map<ScanClient, WaitingScan[]>();
  readonly #turns = new LoopTurns(MAX_SCAN_STARTS_PER_TURN);
  /** True when the waiting calls are checked in the next turn of the event loop. */
  #resumes = false;
  #total = 0;

  /**
   * Waits for a turn. Returns the function that ends it.
   * @throws FilewrightError CANCELLED when the signal is aborted first
   */
  admit(client: ScanClient, signal: AbortSignal): (() => void) | Promise<() => void> {
    if (this.#mayStart(client) && !this.#waiting.has(client) && this.#turns.take())
      return this.#started(client);
    return new Promise((resolve, reject) => {
      const waiting: WaitingScan = {
        start: () => {
          signal.removeEventListener("abort", abort);
          resolve(this.#started(client));
        },
      };
      const abort = (): void => {
        this.#leave(client, waiting);
        reject(new FilewrightError("CANCELLED", "cancelled while it waited for its turn"));
      };
      if (signal.aborted) return abort();
      signal.addEventListener("abort", abort, { once: true });
      const queue = this.#waiting.get(client);
      if (queue === undefined) this.#waiting.set(client, [waiting]);
      else queue.push(waiting);
      if (this.#mayStart(client)) this.#resume();
    });
  }

  #mayStart(client: ScanClient): boolean {
    return this.#total < MAX_RUNNING_SCANS && (this.#running.get(client) ?? 0) < MAX_RUNNING_SCANS_OF_CLIENT;
  }

  #started(client: ScanClient): () => void {
    this.#total += 1;
    this.#running.set(client, (this.#running.get(client) ?? 0) + 1);
    let ended = false;
    return () => {
      if (ended) return;
      ended = true;
      this.#total -= 1;
      const left = (this.#running.get(client) ?? 1) - 1;
      if (left === 0) this.#running.delete(client);
      else this.#running.set(client, left);
      this.#next();
    };
  }

  /** Starts the waiting calls that may run now. */
  #next(): void {
    for (const [client, queue] of this.#waiting) {
      if (this.#total >= MAX_RUNNING_SCANS) return;
      if (!this.#mayStart(client)) continue;
      if (!this.#turns.take()) {
        this.#resume();
        return;
      }
      // The client moves to the end, so that the others have their turns first.
      this.#waiting.delete(client);
      const next = queue.shift();
      if (queue.length > 0) this.#waiting.set(client, queue);
      next?.start();
    }
  }

  /** Starts waiting calls in the next turn of the event loop. */
  #resume(): void {
    if (this.#resumes) return;
    this.#resumes = true;
    void this.#turns.next().then(() => {
      this.#resumes = false;
      this.#next();
    });
  }

  #leave(client: ScanClient, waiting: WaitingScan): void {
    const queue = this.#waiting.get(client);
    if (queue === undefined) return;
    const left = queue.filter((one) => one !== waiting);
    if (left.length > 0) this.#waiting.set(client, left);
    else this.#waiting.delete(client);
  }
}

/** The queue of this process. */
export const scanQueue: ScanQueue = new ScanQueue();
