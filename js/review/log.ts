/** The numbered events of a review page, and the state after the last one. */
import type { ReviewEvent, ReviewState, UnnumberedEvent } from "./protocol.ts";
import { applyEvent, EMPTY_STATE } from "./state.ts";

/** The number of events that are kept for pages that connect again. */
const MAX_KEPT_EVENTS = 10_000;

/** What a page reads: the state, and the events that change it. */
export interface ReviewFeed {
  /** Names this run. The numbers of events begin again with each run. */
  readonly run: string;
  /** Returns the state after the last event. */
  state(): ReviewState;
  /** Returns the events after the one with this number; undefined when some of them are not kept any more. */
  eventsAfter(seq: number): readonly ReviewEvent[] | undefined;
  /** Calls `listener` with each later event. Returns a function that ends it. A listener that throws is removed. */
  watch(listener: (event: ReviewEvent) => void): () => void;
}

/** A feed, and the function that adds to it. */
export interface ReviewLog extends ReviewFeed {
  /** Numbers an event, applies it to the state, keeps it, and passes it to the listeners. */
  tell(event: UnnumberedEvent): void;
}

/** Creates a log without events. */
export function makeReviewLog(): ReviewLog {
  const listeners = new Set<(event: ReviewEvent) => void>();
  const kept: ReviewEvent[] = [];
  let state: ReviewState = EMPTY_STATE;
  return {
    run: crypto.randomUUID(),
    state: () => state,
    tell(unnumbered) {
      const event = { seq: state.seq + 1, ...unnumbered } as ReviewEvent;
      state = applyEvent(state, event);
      kept.push(event);
      // The list is trimmed only when it is a quarter too long, so most events do not copy it.
      if (kept.length > MAX_KEPT_EVENTS * 1.25) kept.splice(0, kept.length - MAX_KEPT_EVENTS);
      for (const listener of listeners) {
        try {
          listener(event);
        } catch {
          listeners.delete(listener);
        }
      }
    },
    eventsAfter(seq) {
      if (seq > state.seq) return undefined;
      const missed = state.seq - seq;
      return missed > kept.length ? undefined : kept.slice(kept.length - missed);
    },
    watch(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
