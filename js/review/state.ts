/**
 * The state of the review page as a function of its events. The server and the page apply the same function, so a page
 * that has missed events gets the same state from those events as the server has.
 */
import { withoutUndefined } from "../schema/without-undefined.ts";
import type { ReviewCall, ReviewEvent, ReviewState, SettledQuestion } from "./protocol.ts";

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
  return applyEvents(state, [event]);
}

/** A state that is being changed. Its lists are those of the state before until they are replaced. */
type Draft = { -readonly [Key in keyof ReviewState]: ReviewState[Key] };

/**
 * Returns the state after some events. The list of calls is copied once for all of them, because events of calls are
 * many.
 *
 * @throws MissingEventsError when events between the state and the given ones are missing
 */
export function applyEvents(state: ReviewState, events: readonly ReviewEvent[]): ReviewState {
  const draft: Draft = { ...state };
  const calls = [...state.calls];
  let hasCalls = false;
  for (const event of events) {
    const { seq } = event;
    if (seq <= draft.seq) continue;
    if (seq > draft.seq + 1) throw new MissingEventsError(`event ${seq} follows after ${draft.seq}`);
    draft.seq = seq;
    if (event.type === "call.begin" || event.type === "call.end") {
      hasCalls = true;
      addCall(calls, event);
    }
    change(draft, event);
  }
  if (draft.seq === state.seq) return state;
  if (hasCalls) draft.calls = lastOf(calls, MAX_CALLS);
  return draft;
}

/** Makes the change of an event, except that of the list of calls. */
function change(draft: Draft, event: ReviewEvent): void {
  switch (event.type) {
    case "asked":
      draft.waiting = [...draft.waiting, event.question];
      break;
    case "answered": {
      const { id, outcome, by, at, isWider, reason } = event;
      settle(draft, id, { outcome, by, at, ...withoutUndefined({ isWider, reason }) });
      break;
    }
    case "withdrawn":
      settle(draft, event.id, { outcome: "withdrawn", at: event.at });
      break;
    case "stale":
      draft.waiting = draft.waiting.map((one) => {
        if (one.id !== event.id) return one;
        const { conflict: _, ...question } = one;
        return { ...question, stale: true, ...withoutUndefined({ conflict: event.conflict }) };
      });
      break;
    case "call.end":
      if (event.call.changes === true) draft.history = event.seq;
      if (event.call.changesUnreviewed === true) draft.unreviewed = event.seq;
      break;
    case "history":
      draft.history = event.seq;
      draft.unreviewed = event.seq;
      break;
  }
}

/** Moves a question from those that wait to the settled ones. */
function settle(draft: Draft, id: string, end: Omit<SettledQuestion, "question">): void {
  const question = draft.waiting.find((one) => one.id === id);
  if (question === undefined) return;
  draft.waiting = draft.waiting.filter((one) => one !== question);
  draft.settled = lastOf([...draft.settled, { question, ...end }], MAX_SETTLED);
}

/** Adds a call that begins, and replaces it when it ends. One whose beginning is not kept any more is added. */
function addCall(
  calls: ReviewCall[],
  { type, call }: ReviewEvent & { readonly type: "call.begin" | "call.end" },
): void {
  if (calls.length >= 2 * MAX_CALLS) calls.splice(0, calls.length - MAX_CALLS);
  const first = Math.max(0, calls.length - MAX_CALLS);
  const at = type === "call.end" ? calls.findLastIndex(({ id }) => id === call.id) : -1;
  if (at >= first) calls[at] = call;
  else calls.push(call);
}

function lastOf<T>(list: readonly T[], count: number): readonly T[] {
  return list.length > count ? list.slice(list.length - count) : list;
}
