/**
 * The files that one caller has seen: the version of each at its last read or write, and the hash
 * of its content where known. It tells, when an edit does not match, whether the file has changed
 * since; and, when the host requires it, prevents the overwriting of unseen content.
 *
 * Line anchors are part of it: six characters of the engine, which identify a line and its neighbours, and a
 * seventh for the contents of the whole file, which tells anchors of an earlier version from those of the
 * last one.
 */
import { isWithin } from "../../backends/paths.ts";
import { engine } from "../../engine/current.ts";
import { joinRanges, type LineRange, wholeAsNone } from "./line-ranges.ts";

/** The last seen state of one file. */
export interface SeenFile {
  /** Opaque; undefined when the backend has no versions. */
  readonly version?: string | undefined;
  /** The hash of the whole content. */
  readonly hash?: string | undefined;
  /** The seen lines, sorted and disjoint; undefined when all were seen. */
  readonly lines?: readonly LineRange[] | undefined;
}

/** The current state of a file. */
interface FileNow {
  readonly version: string;
  readonly bytes: Uint8Array;
}

/** The files that a caller has seen. */
export interface Seen {
  /**
   * Records a read or write; without version and hash the file is removed. `lines` are added to
   * the lines seen before of the same content.
   */
  note(
    path: string,
    version: string | undefined,
    hash?: string | null,
    lines?: readonly LineRange[] | undefined,
  ): void;
  /**
   * Returns true when the file has changed since it was seen; undefined when it was not seen.
   * Equal content is no change, even with other times or another place on the disk.
   */
  changed(path: string, now: FileNow): boolean | undefined;
  /**
   * Records that the caller received anchors of a file. `contents` identifies the file's content:
   * its hash, or its version when it was not read to its end.
   */
  giveAnchors(path: string, contents: string): void;
  /**
   * Returns true when an anchor that the caller sends belongs to the current content: among all
   * contents whose anchors the caller received, only this one has the anchor's last digit.
   */
  hasAnchorOf(path: string, now: FileNow, anchor: string): boolean;
  /** Returns the last seen state of a file. */
  recall(path: string): SeenFile | undefined;
  /** Returns the seen files at and below a path. */
  below(path: string): readonly string[];
}

/** The maximum number of recorded files; beyond it the oldest is removed. */
const MAX_SEEN_FILES = 10_000;

/** Creates a record from earlier entries, oldest first; `noted` is called for every new entry. */
export function makeSeen(
  before: Iterable<readonly [path: string, file: SeenFile]> = [],
  noted?: (path: string, file: SeenFile | undefined) => void,
): Seen {
  const files = new Map<string, SeenFile>(before);
  /**
   * By file and digit: the contents whose anchors were given; null where several share a digit.
   * Never persisted.
   */
  const anchored = new Map<string, Map<string, string | null>>();
  return Object.freeze({
    giveAnchors(path: string, contents: string): void {
      const digits = anchored.get(path) ?? new Map<string, string | null>();
      const digit = contentsDigit(contents);
      const known = digits.get(digit);
      digits.set(digit, known === undefined || known === contents ? contents : null);
      anchored.delete(path);
      anchored.set(path, digits);
      if (anchored.size > MAX_SEEN_FILES) anchored.delete(anchored.keys().next().value as string);
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
      if (files.size > MAX_SEEN_FILES) files.delete(files.keys().next().value as string);
      noted?.(path, file);
    },
    changed: (path: string, now: FileNow) => differs(files.get(path), now),
    recall: (path: string) => files.get(path),
    below: (path: string) => [...files.keys()].filter((one) => isWithin(one, path)),
  });
}

/**
 * Returns the lines of a page with those seen before of the same content; undefined when that is
 * all of them.
 */
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

/** Returns a copy for a dry run: it starts with the entries of the original and does not change it. */
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
    // Anchors read during a dry run may be sent later.
    giveAnchors: base.giveAnchors,
    hasAnchorOf: base.hasAnchorOf,
    changed: (path: string, now: FileNow) => of(path).changed(path, now),
    recall: (path: string) => of(path).recall(path),
    below: (path: string) => [...base.below(path).filter((one) => !touched.has(one)), ...own.below(path)],
  });
}

/** The length of the engine's anchors, in characters. */
export const ANCHOR_LENGTH = 6;

/** Crockford's base 32, as the engine's digits. */
const ANCHOR_DIGITS = "0123456789abcdefghjkmnpqrstvwxyz";

/** Returns the digit for the contents of a file, given by their hash or version. */
export function contentsDigit(contents: string): string {
  const hash = engine().sha256(new TextEncoder().encode(contents));
  return ANCHOR_DIGITS[Number.parseInt(hash.slice(-2), 16) & 31] as string;
}

/**
 * Returns the engine's anchors, each followed by the digit of the file's contents; unchanged where
 * neither hash nor version is known.
 */
export function withContentsDigit(anchors: string, contents: string | undefined): string {
  if (contents === undefined) return anchors;
  const digit = contentsDigit(contents);
  let text = "";
  for (let at = 0; at < anchors.length; at += ANCHOR_LENGTH) {
    text += anchors.slice(at, at + ANCHOR_LENGTH) + digit;
  }
  return text;
}

/** Returns the contents digit of an anchor that a caller sent (`120#k3x9q1a`), if it has one. */
function contentsDigitOf(anchor: string): string | undefined {
  return /#[0-9a-z]{6}([0-9a-z])(?![0-9a-z])/iu.exec(anchor)?.[1]?.toLowerCase();
}
