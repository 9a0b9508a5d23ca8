/**
 * What one caller has seen of files: the version of each, and the hash of its
 * content where it is known, when it was last read or written. It serves to say,
 * where an edit does not fit, whether the file has changed since; and where the
 * host asks for it, that nothing is replaced unseen.
 */
import { isWithin } from "../backends/paths.ts";
import { engine } from "../engine/current.ts";
import { contentsDigit, contentsDigitOf } from "./anchors.ts";
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
  /**
   * Notes that anchors of the lines of a file were given to the caller. `contents` names what the file held: its
   * hash, or its version where it was not read whole.
   */
  giveAnchors(path: string, contents: string): void;
  /**
   * Whether an anchor that the caller sends is of the file as it is now: of all contents that the caller was
   * given anchors of, these alone have the anchor's last digit.
   */
  hasAnchorOf(path: string, now: FileNow, anchor: string): boolean;
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
  /** By file and digit: the contents that anchors were given of; null where there were several. Never persisted. */
  const anchored = new Map<string, Map<string, string | null>>();
  return Object.freeze({
    giveAnchors(path: string, contents: string): void {
      const digits = anchored.get(path) ?? new Map<string, string | null>();
      const digit = contentsDigit(contents);
      const known = digits.get(digit);
      digits.set(digit, known === undefined || known === contents ? contents : null);
      anchored.delete(path);
      anchored.set(path, digits);
      if (anchored.size > REMEMBERED) anchored.delete(anchored.keys().next().value as string);
    },
    hasAnchorOf(path: string, now: FileNow, anchor: string): boolean {
      const digit = contentsDigitOf(anchor);
      const contents = digit === undefined ? undefined : anchored.get(path)?.get(digit);
      if (contents === undefined || contents === null) return false;
      return contents === now.version || contents === engine().sha256(now.bytes);
    },
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
    // A reading in a trial is a reading: its anchors may be sent later.
    giveAnchors: base.giveAnchors,
    hasAnchorOf: base.hasAnchorOf,
    changed: (path: string, now: FileNow) => of(path).changed(path, now),
    recall: (path: string) => of(path).recall(path),
    below: (path: string) => [...base.below(path).filter((one) => !touched.has(one)), ...own.below(path)],
  });
}
