/** Finds what allowed calls of the history, and who undid others, as far as this run knows. */
import { keepLast } from "../../schema/keep-last.ts";
import { withoutUndefined } from "../../schema/without-undefined.ts";
import type { AllowedBy } from "../../backends/transaction/step.ts";
import type { CallEnd } from "../../hooks/observer.ts";

/** The number of calls of which this is known. */
const MAX_CALLS = 10_000;

/** The facts about a call besides its changes. */
export interface PeopleOfCall {
  /** The person for whom the host made it. */
  readonly by?: string;
  /** The reasons why it was allowed. */
  readonly allowedBy?: readonly AllowedBy[];
}

/** The people behind calls. */
export interface People {
  /** Remembers what allowed a call, and for whom it was made. */
  note(call: CallEnd): void;
  /** Returns what is known about a call of the history. */
  of(callId: string): PeopleOfCall | undefined;
}

/** Creates an empty memory of the people behind calls. */
export function makePeople(): People {
  const people = new Map<string, PeopleOfCall>();
  return {
    note({ call_id: callId, allowed_by: allowedBy, by }) {
      if (callId === undefined || (by === undefined && allowedBy === undefined)) return;
      keepLast(people, callId, withoutUndefined({ by, allowedBy }), MAX_CALLS);
    },
    of: (callId) => people.get(callId),
  };
}
