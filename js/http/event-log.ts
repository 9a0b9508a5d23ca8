/**
 * Numbered events in their order. The last ones are kept, so that a reader that connects again gets what it has missed,
 * or learns that it must read the whole state.
 */

/** An event. Each has the number after that of the one before it. */
interface NumberedEvent {
  readonly seq: number;
}

/** An event without its number. */
type Unnumbered<E extends NumberedEvent> = E extends unknown ? Omit<E, "seq"> : never;

/** The number of events that are kept for readers that connect again. */
const MAX_KEPT_EVENTS = 10_000;

/** The numbered events of one source. */
export interface EventLog<E extends NumberedEvent> {
  /** The number of the last event; 0 before the first. */
  readonly seq: number;
  /**
   * Numbers an event, keeps it, and passes it to the listeners. One that a listener appends is passed on after the
   * event that it heard, so that all listeners hear the same order.
   */
  append(event: Unnumbered<E>): void;
  /** Calls `listener` with each later event. Returns a function that ends it. A listener that throws is removed. */
  watch(listener: (event: E) => void): () => void;
  /** Returns the id of the event with this number. No other log has it, nor has that of the server after a restart. */
  idOf(seq: number): string;
  /** Returns the events after that with an id; undefined when they are not kept, or the id is none of this source. */
  after(id: string): readonly E[] | undefined;
  /** Returns the events after the one with this number; undefined for a number of none, or when some are dropped. */
  eventsAfter(seq: number): readonly E[] | undefined;
}

/** Creates a log without events. The ids of its events begin with `prefix`, which no other log has. */
export function makeEventLog<E extends NumberedEvent>(prefix: string): EventLog<E> {
  const kept: E[] = [];
  const listeners = new Set<(event: E) => void>();
  let seq = 0;
  /** The events that are being passed to the listeners. */
  const waiting: E[] = [];
  const pass = (event: E): void => {
    for (const listener of listeners) {
      try {
        listener(event);
      } catch {
        listeners.delete(listener); // The connection of the reader is gone.
      }
    }
  };
  const eventsAfter = (last: number): readonly E[] | undefined => {
    if (!Number.isInteger(last) || last < 0 || last > seq || seq - last > MAX_KEPT_EVENTS) return undefined;
    return Array.from({ length: seq - last }, (_, at) => kept[(last + 1 + at) % MAX_KEPT_EVENTS] as E);
  };
  return {
    get seq() {
      return seq;
    },
    append(unnumbered) {
      seq += 1;
      const event = Object.freeze({ seq, ...unnumbered }) as unknown as E;
      kept[seq % MAX_KEPT_EVENTS] = event;
      waiting.push(event);
      if (waiting.length > 1) return; // A listener appended it; the loop below passes it on.
      for (let at = 0; at < waiting.length; at++) pass(waiting[at] as E);
      waiting.length = 0;
    },
    watch(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    idOf: (at) => `${prefix}${at}`,
    after(id) {
      const last = id.startsWith(prefix) ? id.slice(prefix.length) : "";
      return /^\d{1,15}$/u.test(last) ? eventsAfter(Number(last)) : undefined;
    },
    eventsAfter,
  };
}
