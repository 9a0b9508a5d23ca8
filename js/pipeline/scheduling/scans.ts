/**
 * The queue of calls that walk a tree.
 *
 * A few run at once, and the others wait in one queue for each client (an agent of a workspace). A
 * free slot is given to the clients in turn, so that many calls of one client delay its own calls and
 * not those of others. Clients of one tenant share the turns of their tenant, so that a tenant with many clients does
 * not delay the others either. The process has one queue, because it has one disk.
 */
import { LoopTurns, waitForTurn } from "./admission.ts";

/** The maximum number of calls that walk at once. */
const MAX_RUNNING_SCANS = 8;
/**
 * The maximum number of walking calls of one client. It is lower than the total, so that the calls of other
 * clients start soon.
 */
const MAX_RUNNING_SCANS_OF_CLIENT = 4;
/** The maximum number of walking calls of one tenant, for the same reason. */
const MAX_RUNNING_SCANS_OF_TENANT = 6;
/**
 * The maximum number of calls that begin in one turn of the event loop, because a search that uses an
 * index takes less time than its answer.
 */
const MAX_SCAN_STARTS_PER_TURN = 8;

/** A client, compared by its values. */
export interface ScanClient {
  /** The name of a client, unique in this process. */
  readonly name: string;
  /** The tenant of the client. Default: the client has no other clients beside it. */
  readonly tenant?: string | undefined;
}

/** Starts the calls of clients in turn. */
export class ScanQueue {
  /** The numbers of running calls, by client and by tenant. */
  readonly #running = new Map<string, number>();
  /** The waiting calls by tenant and client, both in the order in which they have their turns. */
  readonly #waiting = new Map<string, Map<string, (() => void)[]>>();
  readonly #turns = new LoopTurns(MAX_SCAN_STARTS_PER_TURN);
  /** True when the waiting calls are checked in the next turn of the event loop. */
  #resumes = false;
  #total = 0;

  /**
   * Waits for a turn. Returns the function that ends it.
   * @throws FilewrightError CANCELLED when the signal is aborted first
   */
  admit(given: ScanClient, signal: AbortSignal): (() => void) | Promise<() => void> {
    const client = `client ${given.name}`;
    // A client without a tenant is alone in its group.
    const tenant = given.tenant === undefined ? client : `tenant ${given.tenant}`;
    const isNext = this.#waiting.get(tenant)?.has(client) !== true;
    if (this.#mayStart(tenant, client) && isNext && this.#turns.take()) return this.#started(tenant, client);
    return waitForTurn(signal, () => this.#started(tenant, client), {
      enter: (start) => this.#enter(tenant, client, start),
      leave: (start) => this.#leave(tenant, client, start),
    });
  }

  #enter(tenant: string, client: string, start: () => void): void {
    const clients = this.#waiting.get(tenant) ?? new Map<string, (() => void)[]>();
    this.#waiting.set(tenant, clients);
    const queue = clients.get(client);
    if (queue === undefined) clients.set(client, [start]);
    else queue.push(start);
    if (this.#mayStart(tenant, client)) this.#resume();
  }

  #mayStart(tenant: string, client: string): boolean {
    return (
      this.#total < MAX_RUNNING_SCANS &&
      (this.#running.get(client) ?? 0) < MAX_RUNNING_SCANS_OF_CLIENT &&
      (this.#running.get(tenant) ?? 0) < MAX_RUNNING_SCANS_OF_TENANT
    );
  }

  #started(tenant: string, client: string): () => void {
    const counted = new Set([tenant, client]);
    this.#total += 1;
    for (const name of counted) this.#running.set(name, (this.#running.get(name) ?? 0) + 1);
    let ended = false;
    return () => {
      if (ended) return;
      ended = true;
      this.#total -= 1;
      for (const name of counted) {
        const left = (this.#running.get(name) ?? 1) - 1;
        if (left === 0) this.#running.delete(name);
        else this.#running.set(name, left);
      }
      this.#next();
    };
  }

  /** Starts the waiting calls that may run now. */
  #next(): void {
    for (const [tenant, clients] of this.#waiting) {
      if (this.#total >= MAX_RUNNING_SCANS) return;
      const client = [...clients.keys()].find((name) => this.#mayStart(tenant, name));
      if (client === undefined) continue;
      if (!this.#turns.take()) {
        this.#resume();
        return;
      }
      // Client and tenant move to the end, so that the others have their turns first.
      const queue = clients.get(client) ?? [];
      this.#waiting.delete(tenant);
      clients.delete(client);
      const next = queue.shift();
      if (queue.length > 0) clients.set(client, queue);
      if (clients.size > 0) this.#waiting.set(tenant, clients);
      next?.();
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

  #leave(tenant: string, client: string, start: () => void): void {
    const clients = this.#waiting.get(tenant);
    const left = clients?.get(client)?.filter((one) => one !== start);
    if (clients === undefined || left === undefined) return;
    if (left.length > 0) clients.set(client, left);
    else clients.delete(client);
    if (clients.size === 0) this.#waiting.delete(tenant);
  }
}

/** The queue of this process. */
export const scanQueue: ScanQueue = new ScanQueue();
