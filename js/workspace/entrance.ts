/** What every method of a workspace passes first: closed and draining workspaces refuse. */
import { FilewrightError, makeError } from "../engine/errors.ts";
import { type Failure, refusedFailure } from "../pipeline/result.ts";
import type { CallGate } from "../pipeline/scheduling/admission.ts";
import type { Session } from "../pipeline/session.ts";

const CLOSED_MESSAGE = "The workspace is closed.";

/** The way into a workspace. */
export interface Entrance {
  readonly gate: CallGate;
  /** Returns the failure of a call of a closed workspace, and of one that lets no more calls begin. */
  refusal(): Failure | undefined;
  /** Refuses a closed workspace. @throws FilewrightError UNSUPPORTED_OPERATION */
  assertOpen(): void;
  /** Refuses a workspace that lets no more calls begin. @throws FilewrightError */
  assertAdmitted(): void;
}

/** Makes the way into a workspace. */
export function makeEntrance({ scheduling: { running } }: Session, gate: CallGate): Entrance {
  return {
    gate,
    refusal: () =>
      running.closed ? refusedFailure("UNSUPPORTED_OPERATION", CLOSED_MESSAGE) : gate.refusal(),
    assertOpen() {
      if (running.closed)
        throw new FilewrightError("UNSUPPORTED_OPERATION", CLOSED_MESSAGE, { complete: true });
    },
    assertAdmitted() {
      const refused = gate.refusal();
      if (refused !== undefined) throw makeError(refused.error.code, refused.error.message, refused.error);
    },
  };
}
