/** The way into a workspace, which a closed or draining workspace refuses: of every call by name, and of every method. */
import { FilewrightError, makeError } from "../engine/errors.ts";
import { checkCallOptions, NO_CALL_OPTIONS } from "../pipeline/call-options.ts";
import type { CallOptions } from "../pipeline/enter.ts";
import { type Failure, refusedFailure, type ToolResult, unknownToolFailure } from "../pipeline/result.ts";
import type { CallGate } from "../pipeline/scheduling/admission.ts";
import type { Session } from "../pipeline/session.ts";

const CLOSED_MESSAGE = "The workspace is closed.";

/** Calls a tool by its name. */
export type CallByName = (name: string, args: unknown, options?: CallOptions) => Promise<ToolResult>;

/** The way into a workspace. */
export interface Entrance {
  readonly gate: CallGate;
  /** Returns the function that calls these tools by their names. */
  callsBy<Named>(
    byName: ReadonlyMap<string, Named>,
    run: (tool: Named, args: unknown, options: CallOptions) => Promise<ToolResult>,
  ): CallByName;
  /** Returns the failure of a call of a closed workspace, and of one that lets no more calls begin. */
  refusal(): Failure | undefined;
  /** Refuses a closed workspace. @throws FilewrightError UNSUPPORTED_OPERATION */
  assertOpen(): void;
  /** Refuses a workspace that lets no more calls begin. @throws FilewrightError */
  assertAdmitted(): void;
}

/** Makes the way into a workspace. */
export function makeEntrance({ scheduling: { running } }: Session, gate: CallGate): Entrance {
  const refusal = (): Failure | undefined =>
    running.closed ? refusedFailure("UNSUPPORTED_OPERATION", CLOSED_MESSAGE) : gate.refusal();
  return {
    gate,
    callsBy(byName, run) {
      return async (name, args, given) => {
        const tool = byName.get(name);
        const end = refusal();
        if (end !== undefined) return end;
        if (tool === undefined) return unknownToolFailure(name, byName.keys());
        if (given === undefined) return gate.run(() => run(tool, args, NO_CALL_OPTIONS));
        const checked = checkCallOptions(given);
        return "ok" in checked ? checked : gate.run(() => run(tool, args, checked.options));
      };
    },
    refusal,
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
