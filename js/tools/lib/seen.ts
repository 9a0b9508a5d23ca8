/**
 * The files that one caller has read or written: the version of each, and the hash of its content where
 * known. It tells, when an edit does not match, whether the file has changed since; and, if the host requires
 * it, prevents overwriting content that the caller has not seen.
 *
 * It also checks line anchors. An anchor has six characters of the engine, which identify a line and its
 * neighbours, and a seventh derived from the content of the whole file. The seventh tells whether the anchor
 * was given for the current content.
 */
import { isWithin } from "../../backends/paths.ts";
import { engine } from "../../engine/current.ts";
import { LineHashes } from "./line-hashes.ts";
import { mergeRanges, type LineRange, undefinedIfWhole } from "./line-ranges.ts";

/** The state of a file when the caller last read or wrote it. */
export interface SeenFile {
  /** The version that the backend stated; undefined when it has no versions. */
  readonly version?: string | undefined;
  /** The hash of the whole content. */
  readonly hash?: string | undefined;
  /** The lines that the caller has seen, sorted and disjoint; undefined when it has seen all. */
  readonly lines?: readonly LineRange[] | undefined;
}

/** The current state of a file. */
export interface CurrentFileFacts {
  readonly version: string;
  /** Returns the hash of the content. */
  hash(): Promise<string>;
}

/** Returns the state of a file. The hash is computed when it is first asked for, of a large content on another thread. */
export function currentFileFacts(bytes: Uint8Array, version: string): CurrentFileFacts {
  let hash: Promise<string> | undefined;
  return {
    version,
    hash() {
      hash ??= engine().onThreads.sha256(bytes);
      return hash;
    },
  };
}

/** The files that a caller has seen. */
export interface SeenFiles {
  /**
   * Records a read or write. Without version and hash the record of the file is removed. `lines` are added to
   * the lines recorded for the same content; undefined means all lines.
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
  changed(path: string, now: CurrentFileFacts): Promise<boolean | undefined>;
  /**
   * Records that the caller received anchors of a file. `contents` identifies the content: its hash, or its
   * version if the file was not read to its end.
   */
  giveAnchors(path: string, contents: string): void;
  /**
   * Returns true when the seventh character of an anchor belongs to the current content. Returns false when
   * the caller received anchors of several contents with that character, because it could belong to any.
   */
  hasAnchorOf(path: string, now: CurrentFileFacts, anchor: string): Promise<boolean>;
  /** Returns the recorded state of a file; undefined when there is none. */
  recall(path: string): SeenFile | undefined;
  /** Returns what the caller saw of the last earlier contents of a file, by their hashes. An undo brings one back. */
  recallEarlier(path: string): ReadonlyMap<string, SeenFile>;
  /** Records that a listing or the facts of a file showed the caller that these paths exist. */
  noteListed(paths: Iterable<string>): void;
  /** Returns true when the caller was shown that a path exists, after it last read or wrote the file. */
  wasListed(path: string): boolean;
  /** The line hashes of the contents that the caller has seen; empty unless the workspace `knows`. */
  readonly lineHashes: LineHashes;
  /** Returns the paths of the recorded files at and below a path. */
  below(path: string): readonly string[];
  /**
   * Brings in what the caller has seen of a path through other processes, with `tree` also of everything below it.
   * Absent where no other process keeps the record.
   */
  readonly refresh?: ((path: string, tree?: boolean) => Promise<void>) | undefined;
}

/** The record of a caller that other processes keep as well. */
export interface SharedSeenFiles {
  /** Returns the entry of a path. */
  recall(path: string): Promise<SeenFile | undefined>;
  /** Returns the entries at and below a path. */
  below(path: string): Promise<Iterable<readonly [path: string, file: SeenFile]>>;
}

/**
 * The maximum number of recorded files. Beyond it the record that was updated least recently is dropped, so
 * that the file counts as not seen.
 */
const MAX_SEEN_FILES = 10_000;
/** The number of earlier contents of each file that are remembered. */
const MAX_EARLIER_CONTENTS = 8;
/** The maximum number of paths that count as listed. Beyond it the one that was listed first is dropped. */
const MAX_LISTED_PATHS = 20_000;

/**
 * Creates a record that begins with the entries of `before`, oldest first. `noted` is called after every
 * later change of an entry. `shared` has the entries of other processes.
 */
export function makeSeenFiles(
  before: Iterable<readonly [path: string, file: SeenFile]> = [],
  noted?: (path: string, file: SeenFile | undefined) => void,
  shared?: SharedSeenFiles,
): SeenFiles {
  const files = new Map<string, SeenFile>(before);
  const bringIn = (path: string, file: SeenFile): void => {
    const own = files.get(path);
    files.delete(path);
    files.set(path, own === undefined ? file : mergedSeenFile(own, file));
  };
  const refresh =
    shared === undefined
      ? undefined
      : async (path: string, tree = false): Promise<void> => {
          if (tree) for (const [one, file] of await shared.below(path)) bringIn(one, file);
          else {
            const file = await shared.recall(path);
            if (file !== undefined) bringIn(path, file);
          }
        };
  /**
   * The contents of each file for which anchors were given, by the seventh character of the anchors; null where
   * several contents have the same character. Kept in memory only: those that another process gave are recognised by
   * the shared record.
   */
  const anchored = new Map<string, Map<string, string | null>>();
  /** Kept in memory only: in another process the caller reads once more. */
  const earlier = new EarlierContents();
  /** Kept in memory only: another process lists once more. */
  const listed = new Set<string>();
  return Object.freeze({
    lineHashes: new LineHashes(),
    noteListed: (paths: Iterable<string>) => addListed(listed, paths),
    wasListed: (path: string) => listed.has(path),
    giveAnchors(path: string, contents: string): void {
      const digits = anchored.get(path) ?? new Map<string, string | null>();
      const digit = contentsDigit(contents);
      const known = digits.get(digit);
      digits.set(digit, known === undefined || known === contents ? contents : null);
      anchored.delete(path);
      anchored.set(path, digits);
      dropOldest(anchored, MAX_SEEN_FILES);
    },
    async hasAnchorOf(path: string, now: CurrentFileFacts, anchor: string): Promise<boolean> {
      const digit = contentsDigitInAnchor(anchor);
      if (digit === undefined) return false;
      const given = anchored.get(path)?.get(digit);
      if (given !== undefined || refresh === undefined) return isContents([given], digit, now);
      // Another process may have given the anchor with the content that the record has.
      const { version, hash } = files.get(path) ?? {};
      return isContents([hash, version], digit, now);
    },
    note(
      path: string,
      version: string | undefined,
      hash?: string | null,
      page?: readonly LineRange[] | undefined,
    ): void {
      const before = files.get(path);
      earlier.replaced(path, before, hash ?? undefined);
      files.delete(path);
      listed.delete(path);
      const known = version !== undefined || typeof hash === "string";
      const lines =
        page === undefined ? undefined : withEarlierLines(page, before, version, hash ?? undefined);
      const file = known ? { version, hash: hash ?? undefined, lines } : undefined;
      if (file !== undefined) files.set(path, file);
      dropOldest(files, MAX_SEEN_FILES);
      noted?.(path, file);
    },
    changed: (path: string, now: CurrentFileFacts) => hasChangedSince(files.get(path), now),
    recall: (path: string) => files.get(path),
    recallEarlier: (path: string) => earlier.of(path),
    below: (path: string) => [...files.keys()].filter((one) => isWithin(one, path)),
    refresh,
  });
}

const NO_CONTENTS: ReadonlyMap<string, SeenFile> = new Map();

/** The records of a caller about contents that the files have no more. */
class EarlierContents {
  readonly #files = new Map<string, Map<string, SeenFile>>();

  /** Records that a file has a content with this hash now; undefined for one that is unknown. */
  replaced(path: string, before: SeenFile | undefined, hash: string | undefined): void {
    const known = this.#files.get(path);
    // Nearly every read is the first one of its file, or of the same content.
    if (known === undefined && (before?.hash === undefined || before.hash === hash)) return;
    const contents = known ?? new Map<string, SeenFile>();
    if (before?.hash !== undefined) contents.set(before.hash, before);
    // The present content has a record of its own.
    if (hash !== undefined) contents.delete(hash);
    dropOldest(contents, MAX_EARLIER_CONTENTS);
    this.#files.delete(path);
    if (contents.size > 0) this.#files.set(path, contents);
    dropOldest(this.#files, MAX_SEEN_FILES);
  }

  of(path: string): ReadonlyMap<string, SeenFile> {
    return this.#files.get(path) ?? NO_CONTENTS;
  }
}

/** Returns true when a hash or version with this digit is that of the current content. */
async function isContents(
  ids: readonly (string | null | undefined)[],
  digit: string,
  now: CurrentFileFacts,
): Promise<boolean> {
  for (const id of ids) {
    const isOfDigit = typeof id === "string" && contentsDigit(id) === digit;
    if (isOfDigit && (id === now.version || id === (await now.hash()))) return true;
  }
  return false;
}

/** Removes the oldest entry of a map or a set that has more entries than it may. */
function dropOldest(entries: Map<string, unknown> | Set<string>, most: number): void {
  if (entries.size > most) entries.delete(entries.keys().next().value as string);
}

/** Adds paths to those that were listed, and drops the oldest ones beyond the limit. */
function addListed(listed: Set<string>, paths: Iterable<string>): void {
  for (const path of paths) {
    listed.delete(path);
    listed.add(path);
    dropOldest(listed, MAX_LISTED_PATHS);
  }
}

/**
 * Returns the lines of a page together with the recorded ones, if both are of the same content; undefined
 * when that is the whole file.
 */
function withEarlierLines(
  page: readonly LineRange[],
  before: SeenFile | undefined,
  version: string | undefined,
  hash: string | undefined,
): readonly LineRange[] | undefined {
  if (before === undefined || !isSameContent(before, { version, hash }))
    return undefinedIfWhole(mergeRanges(page));
  return before.lines === undefined ? undefined : undefinedIfWhole(mergeRanges([...before.lines, ...page]));
}

/** Returns the newer of two records; with the lines of both where they are of the same content. */
export function mergedSeenFile(older: SeenFile, newer: SeenFile): SeenFile {
  if (!isSameContent(older, newer)) return newer;
  const { lines, ...facts } = newer;
  if (older.lines === undefined || lines === undefined) return facts;
  const all = undefinedIfWhole(mergeRanges([...older.lines, ...lines]));
  return all === undefined ? facts : { ...facts, lines: all };
}

/** Returns true when two records are of the same content. */
function isSameContent(one: SeenFile, other: SeenFile): boolean {
  return (
    (one.version !== undefined && one.version === other.version) ||
    (one.hash !== undefined && one.hash === other.hash)
  );
}

async function hasChangedSince(
  seen: SeenFile | undefined,
  now: CurrentFileFacts,
): Promise<boolean | undefined> {
  if (seen === undefined) return undefined;
  if (seen.version === now.version) return false;
  return seen.hash === undefined || seen.hash !== (await now.hash());
}

/** Returns a record for a dry run: it begins with the entries of `base` and does not change them. */
export function forkForTrial(base: SeenFiles): SeenFiles {
  const own = makeSeenFiles();
  const touched = new Set<string>();
  const of = (path: string): SeenFiles => (touched.has(path) ? own : base);
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
    // Anchors are recorded in `base`, because the caller may send them after the dry run.
    giveAnchors: base.giveAnchors,
    hasAnchorOf: base.hasAnchorOf,
    lineHashes: base.lineHashes,
    noteListed: base.noteListed,
    wasListed: (path: string) => !touched.has(path) && base.wasListed(path),
    changed: (path: string, now: CurrentFileFacts) => of(path).changed(path, now),
    recall: (path: string) => of(path).recall(path),
    recallEarlier: (path: string) => of(path).recallEarlier(path),
    below: (path: string) => [...base.below(path).filter((one) => !touched.has(one)), ...own.below(path)],
    refresh: base.refresh,
  });
}

/** The notes of a call about one path. */
export interface HeldNote {
  readonly path: string;
  /** The entry, whose version is one of a draft; undefined for one that was removed. */
  readonly file: SeenFile | undefined;
  /** True when the entry replaces an earlier one, instead of adding lines to it. */
  readonly replaces: boolean;
}

/** A record whose changes are held back until they are released. */
export interface HeldSeenFiles {
  readonly seen: SeenFiles;
  /** Returns what was noted, each path once with its last entry. */
  notes(): readonly HeldNote[];
  /** Makes the changes in the record itself. `committed` returns the version that a drafted one has become. */
  release(committed: (version: string | undefined) => string | undefined): void;
}

/** Returns a record for a change that is not committed yet: what it notes is not noted if the change fails. */
export function holdSeen(base: SeenFiles): HeldSeenFiles {
  const trial = forkForTrial(base);
  const notes: Parameters<SeenFiles["note"]>[] = [];
  return {
    seen: Object.freeze({
      ...trial,
      note(...note: Parameters<SeenFiles["note"]>): void {
        trial.note(...note);
        notes.push(note);
      },
    }),
    notes() {
      const replaced = new Set(notes.filter(([, version]) => version === undefined).map(([path]) => path));
      return [...new Set(notes.map(([path]) => path))].map((path) => {
        const file = trial.recall(path);
        return { path, file, replaces: file?.lines === undefined || replaced.has(path) };
      });
    },
    release(committed) {
      for (const [path, version, hash, lines] of notes) base.note(path, committed(version), hash, lines);
    },
  };
}

/** The length of the engine's anchors, in characters. */
export const ANCHOR_LENGTH = 6;

/** The 32 digits of the seventh character: Crockford's base 32, as in the engine's anchors. */
const ANCHOR_DIGITS = "0123456789abcdefghjkmnpqrstvwxyz";

/** Returns the seventh character of anchors for a content, which is given by its hash or version. */
export function contentsDigit(contents: string): string {
  const hash = engine().sha256(new TextEncoder().encode(contents));
  return ANCHOR_DIGITS[Number.parseInt(hash.slice(-2), 16) & 31] as string;
}

/**
 * Appends the seventh character to each of the engine's anchors, which are given as one string. Returns them
 * unchanged when neither hash nor version is known.
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

/**
 * Returns the seventh character of an anchor that a caller sent, such as the last one of `120#k3x9q1a`;
 * undefined when it has only six.
 */
function contentsDigitInAnchor(anchor: string): string | undefined {
  return /#[0-9a-z]{6}([0-9a-z])(?![0-9a-z])/iu.exec(anchor)?.[1]?.toLowerCase();
}
