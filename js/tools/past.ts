/** What tools may know of earlier changes: the calls that can be undone, and what an undo would put back. */
import type { PreImage } from "../journal/pre-image.ts";
import type { Call } from "./tool.ts";

/** One changing call of the past. */
export interface PastCall {
  readonly callId: string;
  /** The tool, or `undo`. */
  readonly tool: string;
  /** ISO 8601, UTC. */
  readonly time: string;
  /** What it touched, relative to the working directory. */
  readonly paths: readonly string[];
  readonly agent?: string;
  /** The call that this one undid. */
  readonly undoOf?: string;
}

/** What an undo puts at one path. */
export interface Restored {
  /** Absolute. */
  readonly path: string;
  /** The same, as {@link PastCall.paths} has it. */
  readonly shown: string;
  /** What will stand there; null for nothing. */
  readonly image: PreImage | null;
  /** What the change left there, without its content; null for nothing, undefined where that is not recorded. */
  readonly after?: PreImage | null | undefined;
  /** Where it comes back from, of what was moved. */
  readonly from?: string;
}

/** The past as one caller may see it. */
export interface Past {
  /** The calls that can be undone, the newest first. `all`: also those of other callers. */
  list(all: boolean): Promise<readonly PastCall[]>;
  /** What undoing a call would put back. @throws FilewrightError NOT_FOUND */
  restores(callId: string): Promise<readonly Restored[]>;
  /** Puts back what a call found; recorded under the id of the call that undoes it. @throws CONFLICT */
  undo(callId: string, by: Pick<Call, "fs" | "callId" | "agent">): Promise<void>;
}

/** The last change that is no undo and was not undone. */
export function lastChange(calls: readonly PastCall[]): PastCall | undefined {
  const undone = new Set(calls.map(({ undoOf }) => undoOf));
  return calls.find(({ callId, undoOf }) => undoOf === undefined && !undone.has(callId));
}
