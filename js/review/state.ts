/**
 * The state of the review page as a function of its events. The server and the page apply the same function, so a page
 * that has missed events gets the same state from those events as the server has.
 */
import type { ReviewCall, ReviewEvent, ReviewQuestion, ReviewState, SettledQuestion } from "./protocol.ts";

/** The number of settled questions, and of calls, that the state holds. */
const MAX_SETTLED = 200;
const MAX_CALLS = 200;

/** The state before the first event. */
export const EMPTY_STATE: ReviewState = Object.freeze({
  seq: 0,
  history: 0,
  unreviewed: 0,
  waiting: [],
  settled: [],
  calls: [],
});

/** Thrown by {@link applyEvent} when events before the given one are missing. */
export class MissingEventsError extends Error {
  override name = "MissingEventsError";
}

/**
 * Returns the state after an event. An event that the state already contains changes nothing, so events may be
 * delivered twice.
 *
 * @throws MissingEventsError when the event is not the next one
 */
export function applyEvent(state: ReviewState, event: ReviewEvent): ReviewState {
  const { seq } = event;
  if (seq <= state.seq) return state;
  if (seq > state.seq + 1) throw new MissingEventsError(`event ${seq} follows after ${state.seq}`);
  switch (event.type) {
    case "asked":
      return { ...state, seq, waiting: [...state.waiting, event.question] };
    case "answered":
      return settle({ ...state, seq }, event.id, (question) => ({
        question,
        outcome: event.outcome,
        by: event.by,
        at: event.at,
        ...(event.isWider === undefined ? {} : { isWider: event.isWider }),
        ...(event.reason === undefined ? {} : { reason: event.reason }),
      }));
    case "withdrawn":
      return settle({ ...state, seq }, event.id, (question) => ({
        question,
        outcome: "withdrawn",
        at: event.at,
      }));
    case "stale":
      return {
        ...state,
        seq,
        waiting: state.waiting.map((one) => {
          if (one.id !== event.id) return one;
          const { conflict: _, ...question } = one;
          return {
            ...question,
            stale: true,
            ...(event.conflict === undefined ? {} : { conflict: event.conflict }),
          };
        }),
      };
    case "subject":
      return { ...state, seq };
    case "call.begin":
      return { ...state, seq, calls: lastOf([...state.calls, event.call], MAX_CALLS) };
    case "call.end": {
      const { call } = event;
      const history = call.changes === true ? seq : state.history;
      const unreviewed = call.changesUnreviewed === true ? seq : state.unreviewed;
      return { ...state, seq, history, unreviewed, calls: withCall(state.calls, call) };
    }
    case "history":
      return { ...state, seq, history: seq, unreviewed: seq };
  }
}

/**
 * Returns the state after some events, as {@link applyEvent} does for each of them in turn. Events of calls that follow
 * each other share one copy of the list of calls, because they are many.
 *
 * @throws MissingEventsError when events between the state and the given ones are missing
 */
export function applyEvents(state: ReviewState, events: readonly ReviewEvent[]): ReviewState {
  let after = state;
  for (let at = 0; at < events.length; ) {
    const event = events[at] as ReviewEvent;
    if (!isCallEvent(event) || event.seq !== after.seq + 1) {
      after = applyEvent(after, event);
      at += 1;
      continue;
    }
    const calls = [...after.calls];
    let first = 0;
    let { seq, history, unreviewed } = after;
    for (; at < events.length; at++) {
      const next = events[at] as ReviewEvent;
      if (!isCallEvent(next) || next.seq !== seq + 1) break;
      seq = next.seq;
      const { call } = next;
      if (next.type === "call.end" && call.changes === true) history = seq;
      if (next.type === "call.end" && call.changesUnreviewed === true) unreviewed = seq;
      let known = next.type === "call.end" ? calls.length - 1 : -1;
      while (known >= first && calls[known]?.id !== call.id) known -= 1;
      if (known >= first) calls[known] = call;
      else calls.push(call);
      first = Math.max(first, calls.length - MAX_CALLS);
    }
    after = { ...after, seq, history, unreviewed, calls: calls.slice(first) };
  }
  return after;
}

function isCallEvent(
  event: ReviewEvent,
): event is ReviewEvent & { readonly type: "call.begin" | "call.end" } {
  return event.type === "call.begin" || event.type === "call.end";
}

/** Moves a question from those that wait to the settled ones. */
function settle(
  state: ReviewState,
  id: string,
  settled: (question: ReviewQuestion) => SettledQuestion,
): ReviewState {
  const question = state.waiting.find((one) => one.id === id);
  if (question === undefined) return state;
  return {
    ...state,
    waiting: state.waiting.filter((one) => one !== question),
    settled: lastOf([...state.settled, settled(question)], MAX_SETTLED),
  };
}

/** Replaces a call that has ended. One whose beginning is not kept any more is added. */
function withCall(calls: readonly ReviewCall[], call: ReviewCall): readonly ReviewCall[] {
  const at = calls.findLastIndex(({ id }) => id === call.id);
  return at < 0 ? lastOf([...calls, call], MAX_CALLS) : calls.with(at, call);
}

function lastOf<T>(list: readonly T[], count: number): readonly T[] {
  return list.length > count ? list.slice(list.length - count) : list;
}
