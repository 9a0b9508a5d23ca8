/** The numbered events of a review page, and the state after the last one. */
import type { ReviewEvent, ReviewState, UnnumberedEvent } from "./protocol.ts";
import { applyEvents, EMPTY_STATE } from "./state.ts";

/** The number of past events that the log holds for pages that connect again. */
const MAX_KEPT_EVENTS = 10_000;

/**
 * The number of events after which the state is brought up to date. Usually a read of the state does that, so that it
 * costs the call of an agent nothing.
 */
const MAX_PENDING_EVENTS = 1000;

/** The state of a page, and the events that change it. */
export interface ReviewFeed {
  /** Names this run. The numbers of events begin again with each run. */
  readonly run: string;
  /** Returns the state after the last event. */
  state(): ReviewState;
  /** Returns the events after the one with this number; undefined when the log no longer holds all of them. */
  eventsAfter(seq: number): readonly ReviewEvent[] | undefined;
  /** Calls `listener` with each later event. Returns a function that ends it. A listener that throws is removed. */
  watch(listener: (event: ReviewEvent) => void): () => void;
}

/** A feed, and the function that adds to it. */
export interface ReviewLog extends ReviewFeed {
  /** Numbers an event, which becomes part of the log, applies it to the state, and passes it to the listeners. */
  tell(event: UnnumberedEvent): void;
}

/** Creates a log without events. */
export function makeReviewLog(): ReviewLog {
  const listeners = new Set<(event: ReviewEvent) => void>();
  const kept: ReviewEvent[] = [];
  let applied: ReviewState = EMPTY_STATE;
  let seq = applied.seq;
  const lastEvents = (count: number): readonly ReviewEvent[] => kept.slice(kept.length - count);
  const state = (): ReviewState => {
    if (applied.seq < seq) applied = applyEvents(applied, lastEvents(seq - applied.seq));
    return applied;
  };
  return {
    run: crypto.randomUUID(),
    state,
    tell(unnumbered) {
      seq += 1;
      const event = Object.assign(unnumbered, { seq }) as ReviewEvent;
      kept.push(event);
      if (seq - applied.seq >= MAX_PENDING_EVENTS) state();
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
    eventsAfter(last) {
      const missed = seq - last;
      return missed < 0 || missed > kept.length ? undefined : lastEvents(missed);
    },
    watch(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
