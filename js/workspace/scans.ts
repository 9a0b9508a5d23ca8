/**
 * The turns of calls that walk a tree.
 *
 * A few run at once and the others wait, one queue for each client (an agent of a
 * workspace). A free place goes to the clients in turn, so that many calls of one
 * client delay its own calls and not those of others. There is one queue for the
 * whole process, as there is one disk.
 */
import { FilewrightError } from "../engine/errors.ts";
import { LoopTurns } from "./loop-turns.ts";

/** Calls that walk at once, in all. */
const MAX_SCANS = 8;
/** Calls of one client that walk at once: fewer, so that others always find a place soon. */
const MAX_SCANS_OF_CLIENT = 4;
/** Calls that begin in one turn of the event loop: a search by an index takes less time than its answer. */
const MAX_STARTS_OF_TURN = 8;

/** Who calls: compared by identity. */
export type Client = string;

interface Waiting {
  start(): void;
}

/** Gives calls their turns, the clients one after another. */
export class ScanQueue {
  readonly #running = new Map<Client, number>();
  /** In the order in which the clients have their turns. */
  readonly #waiting = new Map<Client, Waiting[]>();
  readonly #turns = new LoopTurns(MAX_STARTS_OF_TURN);
  /** Whether those that wait are looked at in the next turn of the event loop. */
  #resumes = false;
  #total = 0;

  /**
   * Waits for a turn; the result ends it.
   * @throws FilewrightError CANCELLED where the signal is aborted first
   */
  admit(client: Client, signal: AbortSignal): (() => void) | Promise<() => void> {
    if (this.#mayStart(client) && !this.#waiting.has(client) && this.#turns.take())
      return this.#started(client);
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
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

  #mayStart(client: Client): boolean {
    return this.#total < MAX_SCANS && (this.#running.get(client) ?? 0) < MAX_SCANS_OF_CLIENT;
  }

  #started(client: Client): () => void {
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

  /** Starts what may start now. */
  #next(): void {
    for (const [client, queue] of this.#waiting) {
      if (this.#total >= MAX_SCANS) return;
      if (!this.#mayStart(client)) continue;
      if (!this.#turns.take()) {
        this.#resume();
        return;
      }
      // To the end of the order: the others have their turns first.
      this.#waiting.delete(client);
      const next = queue.shift();
      if (queue.length > 0) this.#waiting.set(client, queue);
      next?.start();
    }
  }

  /** Starts what may start in the next turn of the event loop. */
  #resume(): void {
    if (this.#resumes) return;
    this.#resumes = true;
    void this.#turns.next().then(() => {
      this.#resumes = false;
      this.#next();
    });
  }

  #leave(client: Client, waiting: Waiting): void {
    const queue = this.#waiting.get(client);
    if (queue === undefined) return;
    const left = queue.filter((one) => one !== waiting);
    if (left.length > 0) this.#waiting.set(client, left);
    else this.#waiting.delete(client);
  }
}

/** The turns of this process. */
export const scanQueue: ScanQueue = new ScanQueue();
