/** The numbered events of a review page, and the state after the last one. */
import { type EventLog, makeEventLog } from "../http/event-log.ts";
import type { ReviewEvent, ReviewState, UnnumberedEvent } from "./protocol.ts";
import { applyEvents, EMPTY_STATE } from "./state.ts";

/**
 * The number of events after which the state is brought up to date. Usually a read of the state does that, so that it
 * costs the call of an agent nothing.
 */
const MAX_PENDING_EVENTS = 1000;

/** The state of a page, and the events that change it. */
export interface ReviewFeed extends Pick<EventLog<ReviewEvent>, "eventsAfter" | "watch"> {
  /** Names this run. The numbers of events begin again with each run. */
  readonly run: string;
  /** Returns the state after the last event. */
  state(): ReviewState;
}

/** A feed, and the function that adds to it. */
export interface ReviewLog extends ReviewFeed {
  /** Numbers an event, which becomes part of the log, applies it to the state, and passes it to the listeners. */
  tell(event: UnnumberedEvent): void;
}

/** Creates a log without events. */
export function makeReviewLog(): ReviewLog {
  const run = crypto.randomUUID();
  const log = makeEventLog<ReviewEvent>(`${run}:`);
  let applied: ReviewState = EMPTY_STATE;
  const state = (): ReviewState => {
    applied = applyEvents(applied, log.eventsAfter(applied.seq) ?? []);
    return applied;
  };
  return {
    run,
    state,
    tell(event) {
      log.append(event);
      if (log.seq - applied.seq >= MAX_PENDING_EVENTS) state();
    },
    eventsAfter: log.eventsAfter,
    watch: log.watch,
  };
}
