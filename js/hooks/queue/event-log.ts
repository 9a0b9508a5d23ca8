/**
 * The events of an approval queue, numbered in their order. The last ones are kept, so that a reader that connects
 * again gets what it has missed, or is given the whole state where that is not possible.
 */
import type { ApprovalSummary } from "./summary.ts";

/** Why a question was withdrawn: its call was cancelled, or the queue was closed. */
export type WithdrawalReason = "cancelled" | "closed";

/** An event of a question. */
type QueueHappening =
  | { readonly type: "asked"; readonly question: ApprovalSummary }
  /** The question was answered, with the outcome, or with the answer of a question about a directory. */
  | { readonly type: "answered"; readonly id: string; readonly outcome: string; readonly by?: string }
  /**
   * The content behind the question has changed: an approval of it is refused, and `look_again` asks again. `conflict` says
   * why that would fail, where it is known; a later event says that it is another or none.
   */
  | { readonly type: "stale"; readonly id: string; readonly conflict?: string }
  /** The question has ended without an answer. */
  | { readonly type: "withdrawn"; readonly id: string; readonly why: WithdrawalReason };

/** An event of the approval queue. `seq` is its number: each event has the number after that of the one before it. */
export type QueueEvent = { readonly seq: number } & QueueHappening;

/**
 * All waiting questions, of which `seq` is the number of the last event. It is the first event for a reader that is
 * new, or that has missed more than is kept, and it replaces whatever the reader knows.
 */
export interface QueueState {
  readonly type: "state";
  readonly seq: number;
  readonly pending: readonly ApprovalSummary[];
}

/** The number of events that are kept for readers that connect again. */
const MAX_KEPT_EVENTS = 10_000;

/** The numbered events of one queue. */
export interface EventLog {
  /** The number of the last event; 0 before the first. */
  readonly seq: number;
  /** Numbers an event, keeps it, and passes it to the listeners. */
  append(event: QueueHappening): void;
  /** Calls `listener` with each later event. Returns a function that ends it. A listener that throws is removed. */
  watch(listener: (event: QueueEvent) => void): () => void;
  /** Returns the id of the event with a number, which another queue, such as that of a restarted server, never has. */
  idOf(seq: number): string;
  /** Returns the events after that with an id; undefined when they are not kept, or the id is none of this queue. */
  after(id: string): readonly QueueEvent[] | undefined;
}

/** Creates a log without events. `name` tells the ids of its events from those of other logs. */
export function makeEventLog(name: string): EventLog {
  const kept: QueueEvent[] = [];
  const listeners = new Set<(event: QueueEvent) => void>();
  let seq = 0;
  return {
    get seq() {
      return seq;
    },
    append(happening) {
      seq += 1;
      const event = Object.freeze({ seq, ...happening });
      kept[seq % MAX_KEPT_EVENTS] = event;
      for (const listener of listeners) {
        try {
          listener(event);
        } catch {
          listeners.delete(listener); // The watcher's socket is gone.
        }
      }
    },
    watch(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    idOf: (at) => `${name}-${at}`,
    after(id) {
      const [, of, digits] = /^(\w+)-(\d{1,15})$/u.exec(id) ?? [];
      const last = Number(digits);
      if (of !== name || last > seq || seq - last > MAX_KEPT_EVENTS) return undefined;
      return Array.from(
        { length: seq - last },
        (_, at) => kept[(last + 1 + at) % MAX_KEPT_EVENTS] as QueueEvent,
      );
    },
  };
}
