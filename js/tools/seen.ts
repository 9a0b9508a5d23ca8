/**
 * What one caller has seen of files: the version of each, and the hash of its
 * content where it is known, when it was last read or written. It serves to say,
 * where an edit does not fit, whether the file has changed since; and where the
 * host asks for it, that nothing is replaced unseen.
 */
import { isWithin } from "../backends/paths.ts";
import { engine } from "../engine/current.ts";
import { joinRanges, type LineRange, wholeAsNone } from "./line-ranges.ts";

/** What was seen of one file. */
export interface SeenFile {
  /** Opaque; undefined where the backend has none. */
  readonly version?: string | undefined;
  /** Of the whole content. */
  readonly hash?: string | undefined;
  /** The lines that were seen, in order and apart; undefined where all were. */
  readonly lines?: readonly LineRange[] | undefined;
}

/** A file as it is now. */
export interface FileNow {
  readonly version: string;
  readonly bytes: Uint8Array;
}

/** The files that a caller has seen. */
export interface Seen {
  /**
   * Notes what was read or written; without version and hash the file is forgotten. `lines`:
   * those that were seen, which are added to the ones seen before of the same content.
   */
  note(
    path: string,
    version: string | undefined,
    hash?: string | null,
    lines?: readonly LineRange[] | undefined,
  ): void;
  /**
   * Whether the file is another than was seen; undefined where it was not. Equal
   * content is no change, though its times or its place on the disk are others.
   */
  changed(path: string, now: FileNow): boolean | undefined;
  /** What was seen of a file. */
  recall(path: string): SeenFile | undefined;
  /** The files at and below a path that were seen. */
  below(path: string): readonly string[];
}

/** Files remembered; beyond that the one noted longest ago is forgotten. */
const REMEMBERED = 10_000;

/** What was seen so far, from oldest to newest; `noted` is told of everything that comes. */
export function makeSeen(
  before: Iterable<readonly [path: string, file: SeenFile]> = [],
  noted?: (path: string, file: SeenFile | undefined) => void,
): Seen {
  const files = new Map<string, SeenFile>(before);
  return Object.freeze({
    note(
      path: string,
      version: string | undefined,
      hash?: string | null,
      page?: readonly LineRange[] | undefined,
    ): void {
      const before = files.get(path);
      files.delete(path);
      const known = version !== undefined || typeof hash === "string";
      const lines = page === undefined ? undefined : withEarlier(page, before, version, hash ?? undefined);
      const file = known
        ? { version, hash: hash ?? undefined, ...(lines === undefined ? {} : { lines }) }
        : undefined;
      if (file !== undefined) files.set(path, file);
      if (files.size > REMEMBERED) files.delete(files.keys().next().value as string);
      noted?.(path, file);
    },
    changed: (path: string, now: FileNow) => differs(files.get(path), now),
    recall: (path: string) => files.get(path),
    below: (path: string) => [...files.keys()].filter((one) => isWithin(one, path)),
  });
}

/** The lines of a page with those seen before of the same content; undefined where that is all of them. */
function withEarlier(
  page: readonly LineRange[],
  before: SeenFile | undefined,
  version: string | undefined,
  hash: string | undefined,
): readonly LineRange[] | undefined {
  const isSame =
    before !== undefined &&
    ((version !== undefined && before.version === version) || (hash !== undefined && before.hash === hash));
  if (!isSame) return wholeAsNone(joinRanges(page));
  return before.lines === undefined ? undefined : wholeAsNone(joinRanges([...before.lines, ...page]));
}

function differs(seen: SeenFile | undefined, now: FileNow): boolean | undefined {
  if (seen === undefined) return undefined;
  if (seen.version === now.version) return false;
  return seen.hash === undefined || seen.hash !== engine().sha256(now.bytes);
}

/** A memory for a trial: it knows what the other knows, and keeps its own notes to itself. */
export function trialOf(base: Seen): Seen {
  const own = makeSeen();
  const touched = new Set<string>();
  const of = (path: string): Seen => (touched.has(path) ? own : base);
  return Object.freeze({
    note(
      path: string,
      version: string | undefined,
      hash?: string | null,
      lines?: readonly LineRange[] | undefined,
    ): void {
      touched.add(path);
      own.note(path, version, hash, lines);
    },
    changed: (path: string, now: FileNow) => of(path).changed(path, now),
    recall: (path: string) => of(path).recall(path),
    below: (path: string) => [...base.below(path).filter((one) => !touched.has(one)), ...own.below(path)],
  });
}
