/**
 * A change of files as data, before it is made.
 *
 * A tool proposes a list of changes. `make.ts` makes the list, all or none; `show.ts` makes what a reviewer sees of it,
 * and the list that is left after his choice; the guard reads from it which contents would be lost. A list has the order
 * in which it is made. How a made change is taken back is no matter of the list: the journal records what each step
 * found and left.
 */
import type { EntryType, FsStat, WriteResult } from "../../backends/backend.ts";
import type { DiffResult } from "../../engine/text/diff.ts";

/** An entry as the plan found it. */
interface EntryBefore {
  /** Undefined for a directory or link, and where the change does not depend on it. */
  readonly version: string | undefined;
  /** Null where the plan did not need the content; a preview reads it then. */
  readonly bytes: Uint8Array | null;
  /** The facts that were read with the content; undefined where it was not read. */
  readonly stat: FsStat | undefined;
}

/** A file as it will be. */
interface FileAfter {
  readonly bytes: Uint8Array;
  /** The permission bits in octal; undefined for those that the file has, or that the system gives a new one. */
  readonly mode: string | undefined;
  /** `sha256:` of the bytes. A promise while another thread computes it. */
  readonly hash: string | Promise<string>;
  /** The whole diff from the content before; undefined where its tool has computed none. */
  readonly diff: DiffResult | undefined;
}

/** The change of one path. */
interface OfPath {
  /** The absolute path, as it is located. */
  readonly path: string;
  /** The path as a diff for a reviewer names it. */
  readonly name: string;
}

/** Writes the whole content of a file. */
export interface Put extends OfPath {
  readonly do: "put";
  /** The path that is written: `path`, or the missing target of a link there. */
  readonly target: string;
  /** Null where no file is. */
  readonly was: EntryBefore | null;
  readonly now: FileAfter;
  /** The file that is moved to this path while its content changes; its removal is a change of its own. */
  readonly from: (EntryBefore & { readonly path: string }) | null;
  /** True when missing parent directories are made. */
  readonly parents: boolean;
  /** True when a file that appears at the path meanwhile may be replaced, after another plan. */
  readonly mayReplace: boolean;
  /**
   * What the caller must have read of the file: the `lines` that change; `quoted` is the same, but nothing where the caller
   * never read the file, because the edit quotes what it replaces; the whole `file`; `nothing` where content is added, after
   * which the file does not count as read.
   */
  readonly needs: "lines" | "quoted" | "file" | "nothing";
}

/** Removes an entry, with `tree` also everything below it. */
export interface Remove extends OfPath {
  readonly do: "remove";
  readonly type: EntryType;
  readonly tree: boolean;
  /** A directory has neither version nor content. */
  readonly was: EntryBefore;
  /** True when the file is moved: another change of the list has its content. */
  readonly isMoved: boolean;
}

/** Makes a directory. */
export interface MakeDirectory extends OfPath {
  readonly do: "mkdir";
  readonly parents: boolean;
  /** True when an existing directory is left as it is. */
  readonly existOk: boolean;
}

/** Copies or moves an entry, with everything below it. */
export interface Transfer extends OfPath {
  readonly do: "copy" | "move";
  /** The real path of the source. */
  readonly from: string;
  readonly type: EntryType;
  /** The version of a file that is copied or moved; undefined for anything else. */
  readonly version: string | undefined;
  /** The size in bytes of a file that is copied or moved. Of anything else it says nothing. */
  readonly size: number;
  /**
   * The type of the entry that is replaced, or a directory that is merged; null for none. A copy over a link replaces the
   * content of its target.
   */
  readonly over: EntryType | null;
  readonly overwrite: boolean;
  readonly parents: boolean;
}

/** One change of one path. */
export type Change = Put | Remove | MakeDirectory | Transfer;

/** What a made change answers. */
export interface Outcome {
  readonly written: WriteResult;
  /** The entries that were removed or copied, and the bytes that were copied. */
  readonly files: number;
  readonly directories: number;
  readonly bytes: number;
}

/** The version that a path had when it was read. */
export interface BaseVersion {
  readonly path: string;
  readonly version: string | null;
  /** True when it is the version of the entry itself: if it is a link, the link was not followed. */
  readonly entry?: boolean;
}

/** How much existing content a change can destroy. */
type Risk = "low" | "medium" | "high";

/** How a question about a list begins: its title, the file that it concerns first, and its risk. */
export interface Heading {
  readonly title: string;
  /** The index of the file concerned in the locations of the call. */
  readonly location: number;
  readonly risk: Risk;
}

/**
 * The view of a reviewer on a change before it is made. Contents are text; null stands for a missing file, and
 * for content that is not text.
 */
export interface Preview extends Heading {
  readonly diff: string;
  readonly originalContent: string | null;
  readonly newContent: string | null;
  /** `sha256:` of the bytes to be written; for several files, of the list of their hashes, one on each line. */
  readonly hash?: string;
  /**
   * The versions that must be unchanged when the approved change is made: those that the plan read, and those of
   * everything below a directory.
   */
  readonly base: readonly BaseVersion[];
  /** Every path that the change creates, replaces, moves or deletes. */
  readonly changes: readonly PreviewChange[];
  /** The bytes to be written, if they are not text. */
  readonly newBytes?: Uint8Array;
  /** A clause that says why `changes` is incomplete; absent when it is complete. */
  readonly incomplete?: string;
}

/** The effect of a change on one path. */
export interface PreviewChange {
  /** Absolute. */
  readonly path: string;
  readonly kind: "create" | "edit" | "delete" | "move" | "copy";
  readonly type: EntryType;
  /** The path from which an entry is moved or copied. */
  readonly from?: string;
  /** `sha256:` of the new content, when known. */
  readonly hash?: string;
  /** The new permission bits in octal; absent when they stay. */
  readonly mode?: string;
  /** The content of a file before and after; null where there is no file. Absent when it was not read. */
  readonly contents?: { readonly before: Uint8Array | null; readonly after: Uint8Array | null };
}

/** A path that a change without a list changes, as a reviewer sees it. */
export interface ActedPath {
  readonly change: PreviewChange;
  /** The diff of its contents, or what becomes of it in words, with the line end. */
  readonly text: string;
}

/** What a reviewer made of the files of a list, by the paths of its preview: another content, or null to leave one out. */
export type ChosenFiles = ReadonlyMap<string, Uint8Array | null>;
