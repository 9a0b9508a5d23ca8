/** The facts about the directory of private files: where it is, and why it is not in a better place. */
import { escapeControls } from "../engine/escape.ts";

/** A directory that was not taken as the state directory. */
export interface PassedDirectory {
  /** The directory, or the environment variable that names none. */
  readonly path: string;
  /** Why it cannot be used, such as `permission denied`. */
  readonly reason: string;
}

/** The directory of locks, history and other private files. */
export interface StateDirectory {
  /** Its absolute path. */
  readonly path: string;
  /** The better places that cannot be used, the best first; empty for one that the host named. */
  readonly passedOver: readonly PassedDirectory[];
  /** Why nothing can be written there now; absent if something can. */
  readonly problem?: string;
}

/** Returns the places that were passed over as a phrase, such as `/root/x: permission denied`. */
export function describePassedOver(passedOver: readonly PassedDirectory[]): string {
  return passedOver.map(({ path, reason }) => `${escapeControls(path)}: ${reason}`).join("; ");
}
