/** The parts that changes of a call and of a batch share: how often they are planned, and what they note as seen. */
import type { RecordOp } from "../storage/storage.ts";
import { holdSeen, type SeenFiles } from "../tools/lib/seen.ts";
import type { Call } from "../tools/lib/tool.ts";
import type { NotesInCommit } from "./past/reads.ts";
import type { Session } from "./session.ts";

/** The maximum number of plans for one call; a new one is needed when another writer was faster. */
export const MAX_PLANS_PER_CALL: number = 8;

/** The notes of a change about the content that it has seen. They count once the change is committed. */
interface HeldNotes {
  /** The record for the calls of the change. */
  readonly seen: SeenFiles;
  /** Returns the notes that can be a part of the commit. */
  records(): readonly RecordOp[];
  /** Makes all notes in the record itself. */
  committed(): void;
}

/** Holds back what a change notes as seen; undefined for a session without a stage, where it counts at once. */
export function holdNotes(
  { staging: { stage }, past: { reads } }: Pick<Session, "staging" | "past">,
  { seen, about: { agent } }: Pick<Call, "seen" | "about">,
): HeldNotes | undefined {
  if (stage === undefined) return undefined;
  const held = holdSeen(seen);
  let noted: NotesInCommit | undefined;
  return {
    seen: held.seen,
    records() {
      noted = reads.inCommit(agent, held.notes());
      return noted?.ops ?? [];
    },
    committed() {
      held.release((version) => stage.committedVersion(version));
      noted?.committed();
    },
  };
}
