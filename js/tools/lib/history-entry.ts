/** The entries of the history: calls that changed files, and marks. There is no code here, so a page can import it, too. */

import type { AllowedBy } from "../../backends/transaction/step.ts";

/** One changing call of the past. */
export interface HistoryEntry {
  /** The id that `undo` takes. */
  readonly callId: string;
  /** The canonical name of the tool, or `undo`, or `rewind`. */
  readonly tool: string;
  /** ISO 8601, UTC. */
  readonly time: string;
  /** The changed paths, relative to the working directory if they are inside. */
  readonly paths: readonly string[];
  /** The name of the agent, if it has one. */
  readonly agent?: string;
  /** The call that this one undid. */
  readonly undoOf?: string;
  /** The calls of which nothing is left after this one, for a rewind. */
  readonly undoes?: readonly string[];
  /** True for a call that cannot be undone, such as a command. */
  readonly unrecorded?: true;
  /**
   * The reasons why it was allowed: several for a batch whose operations were allowed in several ways. Absent where the
   * workspace neither asks nor reviews, and where the history does not keep them, as that of a storage.
   */
  readonly allowedBy?: readonly AllowedBy[];
}

/** A named place in the history. */
export interface HistoryMark {
  /** The name, as `rewind` takes it. */
  readonly name: string;
  /** When it was set: ISO 8601, UTC. */
  readonly time: string;
  /** The agent of the workspace that set it, if it has one. */
  readonly agent?: string;
}
