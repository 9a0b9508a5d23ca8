/**
 * Keeps large files for an undo without a copy of their content: a file that a change has set aside is moved to a
 * directory of the disk's own state, and back when the change is undone.
 */
import type { FsStat } from "../backend.ts";
import { backendError } from "../failure.ts";
import type { PreImage } from "./pre-image.ts";

/** Moves files that were set aside to where they are kept, and back. */
export interface FileKeeper {
  /**
   * Returns the name under which a file would be kept: that of the file itself, whichever change sets it aside. Undefined
   * where it cannot be kept: on another file system, or where there is too little room for it and for the `planned` bytes
   * that the change keeps besides.
   */
  nameFor(stat: FsStat, planned: number): Promise<string | undefined>;
  /**
   * Moves the file that was set aside at a path to its name, and forgets the oldest files for which there is no room then.
   * @throws UNSUPPORTED_OPERATION on another file system, NOT_FOUND, ALREADY_EXISTS for a second name of a kept file
   */
  putAway(aside: string, name: string): Promise<void>;
  /**
   * Moves a file back to a path, in one step for observers. The file that is there is set aside at `aside`; without that,
   * none may be there.
   * @throws NOT_FOUND when it is no longer kept, CONFLICT when it has changed since, ALREADY_EXISTS, and
   * UNSUPPORTED_OPERATION where the file that is there cannot have a second name
   */
  bringBack(image: PreImage, path: string, aside: string | undefined): Promise<void>;
  /** Moves a file back to a path, where `replaces` tells whether there is a file that it replaces. @throws the same */
  restore(image: PreImage, path: string, replaces: boolean): Promise<void>;
}

/** The keeper of files that are nowhere kept. */
export const NO_KEEPER: FileKeeper = Object.freeze<FileKeeper>({
  nameFor: async () => undefined,
  putAway: (aside) => Promise.reject(notKeptError(aside)),
  bringBack: (_image, path) => Promise.reject(notKeptError(path)),
  restore: (_image, path) => Promise.reject(notKeptError(path)),
});

/** Returns the error of a file whose content is not kept, or not any more. */
export function notKeptError(path: string): Error {
  const hint = "restore it from version control or a backup";
  return backendError("UNSUPPORTED_OPERATION", path, "its content is not kept", { hint });
}
