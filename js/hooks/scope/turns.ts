/**
 * Turns: the work of an agent on one request of its user. A host names the turn of a call; otherwise calls belong to one
 * turn until their caller has been idle for ten minutes.
 */
import { keepLast } from "../../schema/keep-last.ts";

/** The time without calls after which a turn that the host does not name ends. */
const IDLE_TURN_MS = 10 * 60 * 1000;
/** The number of callers whose turns are remembered. A caller that is forgotten begins a new turn. */
const MAX_CALLERS = 1000;

/** The turns of the callers that share one list of approvals. */
export interface Turns {
  /** Returns the turn of a call that begins now. `named` is that of the host. */
  of(agent: string | undefined, named: string | undefined): string;
  /**
   * Returns the turn that a call would belong to, and begins or extends none; undefined where the call would begin a
   * turn.
   */
  current(agent: string | undefined, named: string | undefined): string | undefined;
}

/** Creates turns, none of which has begun. `now` returns milliseconds since 1970. */
export function makeTurns(now: () => number): Turns {
  const byCaller = new Map<string, { readonly id: string; last: number }>();
  const openTurn = (agent: string, at: number) => {
    const turn = byCaller.get(agent);
    return turn !== undefined && at - turn.last < IDLE_TURN_MS ? turn : undefined;
  };
  return {
    current: (agent = "", named) => (named === undefined ? openTurn(agent, now())?.id : `named ${named}`),
    of(agent = "", named) {
      if (named !== undefined) return `named ${named}`;
      const at = now();
      const current = openTurn(agent, at);
      if (current !== undefined) {
        current.last = at;
        return current.id;
      }
      const begun = { id: `begun ${crypto.randomUUID()}`, last: at };
      keepLast(byCaller, agent, begun, MAX_CALLERS);
      return begun.id;
    },
  };
}
