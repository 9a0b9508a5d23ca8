/** Finds the people who allowed calls of the history, or undid others, as far as this run knows them. */
import type { CallEnd } from "../../hooks/observer.ts";

/** The number of calls of which the person is known. */
const MAX_CALLS = 10_000;

/** The people behind calls. */
export interface People {
  /** Remembers who allowed a call, or for whom it was made. */
  note(call: CallEnd): void;
  /** Returns the person behind a call of the history; undefined when that is not known. */
  of(callId: string): string | undefined;
}

/** Creates an empty memory of the people behind calls. */
export function makePeople(): People {
  const people = new Map<string, string>();
  return {
    note({ call_id: callId, approval, by }) {
      const person = approval?.by ?? by;
      if (callId === undefined || person === undefined) return;
      people.set(callId, person);
      if (people.size > MAX_CALLS) people.delete(people.keys().next().value as string);
    },
    of: (callId) => people.get(callId),
  };
}
