/**
 * The records that the engine sends, with their decoders.
 *
 * Written by `npm run wire` from the declarations in the Rust crates; not to be edited.
 */
import type { Unpacker } from "../wire/unpack.ts";

/**
 * Options of a diff as bits. The two lowest bits are not options: they hold the index of the
 * algorithm in `Algorithm::ALL`.
 */
export const DIFF_FLAGS = {
  /** Treat lines that differ only in white space as equal. */
  ignoreWhitespace: 4,
  /** Print line endings unchanged, so that the diff of a CRLF text contains CRs. */
  raw: 8,
  /** There is no old file. */
  noOld: 16,
  /** There is no new file. */
  noNew: 32,
} as const;

/** Lines of the new text that replace lines of the old one. Lines count from 0. */
export interface ReplacedLines {
  /** The first line in the old text. */
  readonly oldStart: number;
  /** The number of removed lines. */
  readonly oldLines: number;
  /** The first line in the new text. */
  readonly newStart: number;
  /** The number of added lines. */
  readonly newLines: number;
}

/** Decodes {@link ReplacedLines}. */
export function decodeReplacedLines(from: Unpacker): ReplacedLines {
  return {
    oldStart: from.num(),
    oldLines: from.num(),
    newStart: from.num(),
    newLines: from.num(),
  };
}

/**
 * A hunk: replaced lines that are near each other, and unchanged lines around them. Lines
 * count from 0.
 */
export interface HunkRange {
  /** The first line in the old text. */
  readonly oldStart: number;
  /** The number of lines in the old text. */
  readonly oldLines: number;
  /** The first line in the new text. */
  readonly newStart: number;
  /** The number of lines in the new text. */
  readonly newLines: number;
  /** The replaced lines, in order. */
  readonly changes: readonly ReplacedLines[];
}

/** Decodes {@link HunkRange}. */
export function decodeHunkRange(from: Unpacker): HunkRange {
  return {
    oldStart: from.num(),
    oldLines: from.num(),
    newStart: from.num(),
    newLines: from.num(),
    changes: from.list(() => decodeReplacedLines(from)),
  };
}

/**
 * The algorithm that matches lines.
 *
 * - `histogram`: Rare lines first: readable diffs. Git calls it `histogram`.
 * - `myers`: Myers with git's cost heuristics: git's default.
 * - `minimal`: Myers without heuristics: the fewest changed lines. Falls back to `myers` for inputs that would take too long.
 */
export type Algorithm = "histogram" | "myers" | "minimal";

/** The words by their numbers. */
export const ALGORITHM_WORDS: readonly Algorithm[] = ["histogram", "myers", "minimal"];

/** A printed diff. */
export interface Unified {
  /** True if `DisplayLimits` cut a line or the whole diff. */
  readonly truncated: boolean;
  /** Lines that only the new text has. */
  readonly added: number;
  /** Lines that only the old text has. */
  readonly removed: number;
  /** The diff; empty if the texts are equal. */
  readonly text: string;
}

/** Decodes {@link Unified}. */
export function decodeUnified(from: Unpacker): Unified {
  return {
    truncated: from.flag(),
    added: from.num(),
    removed: from.num(),
    text: from.str(),
  };
}

/**
 * How loosely an old text matched, strictest first.
 *
 * - `exact`: Equal bytes, ignoring only the kind of line endings.
 * - `whitespace`: Differences in white space.
 * - `fuzzy`: Small differences in wording.
 */
export type Tier = "exact" | "whitespace" | "fuzzy";

/** The words by their numbers. */
export const TIER_WORDS: readonly Tier[] = ["exact", "whitespace", "fuzzy"];

/** The result of one edit. Lines are 1-based, of the text the edit was applied to. */
export interface Applied {
  /**
   * The number of positions where the old text was found; more than were replaced if one of
   * them was chosen.
   */
  readonly matches: number;
  /** How loosely the old text matched. */
  readonly tier: Tier;
  /** The number of the first replaced line. */
  readonly startLine: number;
  /** The number of the last replaced line. */
  readonly endLine: number;
  /** The fraction of the old text that was found, 0 to 1. */
  readonly score: number;
  /** Repairs of the edit, such as removed `line numbers`. */
  readonly repairs: readonly string[];
}

/** Decodes {@link Applied}. */
export function decodeApplied(from: Unpacker): Applied {
  return {
    matches: from.num(),
    tier: TIER_WORDS[from.num()] as Tier,
    startLine: from.num(),
    endLine: from.num(),
    score: from.num(),
    repairs: from.list(() => from.str()),
  };
}

/** The facts about applied edits besides the new text. */
export interface PlanFacts {
  /** The number of replaced positions of all edits together. */
  readonly replacements: number;
  /** The result of each edit, in order. */
  readonly edits: readonly Applied[];
  /** The diff of the whole change. */
  readonly diff: Unified;
}

/** Decodes {@link PlanFacts}. */
export function decodePlanFacts(from: Unpacker): PlanFacts {
  return {
    replacements: from.num(),
    edits: from.list(() => decodeApplied(from)),
    diff: decodeUnified(from),
  };
}

/** A decoded file. */
export interface DecodedText {
  /** The characters, without a byte order mark. */
  readonly text: string;
  /** The encoding of the bytes. */
  readonly encoding: string;
  /** True when the bytes begin with a byte order mark. */
  readonly bom: boolean;
  /** True when U+FFFD replaces invalid bytes. */
  readonly lossy: boolean;
}

/** Decodes {@link DecodedText}. */
export function decodeDecodedText(from: Unpacker): DecodedText {
  return {
    text: from.str(),
    encoding: from.str(),
    bom: from.flag(),
    lossy: from.flag(),
  };
}

/** A half-open range of lines, counted from 0. */
export interface LineRange {
  /** The first line. */
  readonly start: number;
  /** The line after the last. */
  readonly end: number;
}

/** Decodes {@link LineRange}. */
export function decodeLineRange(from: Unpacker): LineRange {
  return {
    start: from.num(),
    end: from.num(),
  };
}

/** A conflict: lines that both sides changed in different ways. */
export interface MergeConflict {
  /** Lines of the base. */
  readonly base: LineRange;
  /** Lines of ours. */
  readonly ours: LineRange;
  /** Lines of theirs. */
  readonly theirs: LineRange;
  /** Lines of the merged text, including the markers. */
  readonly merged: LineRange;
}

/** Decodes {@link MergeConflict}. */
export function decodeMergeConflict(from: Unpacker): MergeConflict {
  return {
    base: decodeLineRange(from),
    ours: decodeLineRange(from),
    theirs: decodeLineRange(from),
    merged: decodeLineRange(from),
  };
}

/** Some lines of a file. Numbers are 1-based; sizes and offsets are bytes. */
export interface Page {
  /**
   * The lines as UTF-8 with their own line endings, without a byte order mark: complete
   * while they fit in `contentBytes`; beyond that long lines are truncated, then the page
   * ends earlier.
   */
  readonly content: string;
  /**
   * The first line. Negative, counted from the end, when the end of a file was requested
   * that is too big to be counted at once.
   */
  readonly startLine: number;
  /** The last line; `startLine - 1` for an empty page. */
  readonly endLine: number;
  /** The number of lines in the page. */
  readonly linesRead: number;
  /** The number of lines of the file; null until all are counted. */
  readonly totalLines: number | null;
  /** A lower bound of the number of lines of the file. */
  readonly atLeastLines: number;
  /** The size of the file in bytes. */
  readonly size: number;
  /** The offset of the first byte of the page. */
  readonly startByte: number;
  /** The encoding of the file. */
  readonly encoding: string;
  /** The line endings of the whole file; null until all are counted. */
  readonly eol: Eol | null;
  /** True when the file begins with a byte order mark. */
  readonly bom: boolean;
  /** True when the file continues after the page. */
  readonly truncated: boolean;
  /** The first line of the next page; null at the end of the file. */
  readonly nextStartLine: number | null;
  /** The first byte of the next page, when this one ends inside a line. */
  readonly nextStartByte: number | null;
  /** The number of lines with more than `maxLineChars` code points. */
  readonly longLines: number;
  /** The first 20 of the long lines, each with the offset of its rest. */
  readonly long: readonly LongLine[];
  /** The lines that are truncated in `content`. */
  readonly cutLines: readonly number[];
  /**
   * The line anchors, six characters for each line, if requested; `------` for a line that
   * was not read completely, and for its neighbours.
   */
  readonly anchors: string | null;
  /** `sha256:…` of all bytes; null when they were not all read. */
  readonly hash: string | null;
  /** The MIME type. */
  readonly mime: string;
  /** True when U+FFFD in the content replaces invalid bytes. */
  readonly lossy: boolean;
  /** True when `content` contains a NUL character. */
  readonly nuls: boolean;
  /** True when the file changed while it was read. */
  readonly changed: boolean;
}

/** Decodes {@link Page}. */
export function decodePage(from: Unpacker): Page {
  return {
    content: from.str(),
    startLine: from.num(),
    endLine: from.num(),
    linesRead: from.num(),
    totalLines: from.opt(),
    atLeastLines: from.num(),
    size: from.num(),
    startByte: from.num(),
    encoding: from.str(),
    eol: EOL_WORDS[from.num()] ?? null,
    bom: from.flag(),
    truncated: from.flag(),
    nextStartLine: from.optSigned(),
    nextStartByte: from.opt(),
    longLines: from.num(),
    long: from.list(() => decodeLongLine(from)),
    cutLines: from.list(() => from.num()),
    anchors: from.optStr(),
    hash: from.optStr(),
    mime: from.str(),
    lossy: from.flag(),
    nuls: from.flag(),
    changed: from.flag(),
  };
}

/** A line with more code points than are shown. */
export interface LongLine {
  /** The number of the line. */
  readonly line: number;
  /**
   * The offset of the first byte that is not shown: continue inside the line with it as
   * `startByte`.
   */
  readonly restByte: number;
  /** The number of bytes from there to the line's end; null when the end is unknown. */
  readonly restBytes: number | null;
}

/** Decodes {@link LongLine}. */
export function decodeLongLine(from: Unpacker): LongLine {
  return {
    line: from.num(),
    restByte: from.num(),
    restBytes: from.opt(),
  };
}

/** The limits and signs of ignore files. */
export const IGNORE_LIMITS = {
  /** The maximum size of an ignore file, in bytes. A larger one is not applied. */
  maxFileBytes: 1048576,
  /** The maximum size of a file of git that contains one path, in bytes. */
  maxGitFileBytes: 8192,
  /** The number that stands for `.git/info/exclude` in place of the index of an ignore file's name. */
  gitExcludePlace: 4294967295,
} as const;

/**
 * The name of an ignore file, lowest precedence first.
 *
 * - `.gitignore`: The file of git.
 * - `.ignore`: The file of ripgrep and other search tools.
 * - `.agentignore`: The file for agents alone.
 */
export type IgnoreFileName = ".gitignore" | ".ignore" | ".agentignore";

/** The words by their numbers. */
export const IGNORE_FILE_NAME_WORDS: readonly IgnoreFileName[] = [".gitignore", ".ignore", ".agentignore"];

/** The rules that apply to a path, as bits. */
export const PATH_FLAGS = {
  /** A deny glob matches the path or a directory above it. */
  denied: 1,
  /** The path is a protected place or below one: it must not be written. */
  protected: 2,
  /**
   * The path is protected, or a directory that may contain a protected place: it must not be
   * moved, replaced or deleted as a whole.
   */
  guarded: 4,
  /** The content must not be read, nor moved to a path where it could be read. */
  secret: 8,
  /**
   * The path is an entry of git, such as `.git`: no directory above it may be moved or
   * deleted.
   */
  holds: 16,
  /** Writing the path requires an approval. */
  asks: 32,
  /**
   * The path is part of a git repository if a directory above it has the other entries that
   * make it one.
   */
  part: 64,
  /** The host allows reading the content, whatever it contains. */
  opened: 128,
} as const;

/**
 * The kinds of files that tools treat differently.
 *
 * - `empty`: A file without content.
 * - `text`: Text in some encoding.
 * - `svg`: Scalable vector graphics: an image that is text.
 * - `image`: A raster image.
 * - `pdf`: A PDF document.
 * - `document`: An office document or book.
 * - `audio`: Audio.
 * - `video`: Video.
 * - `archive`: Several files in one, or one compressed file.
 * - `font`: A font.
 * - `binary`: Any other content that is not text: programs, databases, data.
 */
export type FileKind =
  | "empty"
  | "text"
  | "svg"
  | "image"
  | "pdf"
  | "document"
  | "audio"
  | "video"
  | "archive"
  | "font"
  | "binary";

/** The words by their numbers. */
export const FILE_KIND_WORDS: readonly FileKind[] = [
  "empty",
  "text",
  "svg",
  "image",
  "pdf",
  "document",
  "audio",
  "video",
  "archive",
  "font",
  "binary",
];

/** The type of a file, detected from its content. */
export interface Inspection {
  /** The kind. */
  readonly kind: FileKind;
  /** The MIME type, without parameters. */
  readonly mime: string;
  /** For text, SVG and empty files: the encoding, in lower case. */
  readonly encoding: string | null;
  /** For text: the line endings of the inspected bytes. */
  readonly eol: Eol | null;
  /** True when the text begins with a byte order mark. */
  readonly bom: boolean;
  /** For images: the width in pixels, when the header states it. */
  readonly width: number | null;
  /** For images: the height in pixels, when the header states it. */
  readonly height: number | null;
}

/** Decodes {@link Inspection}. */
export function decodeInspection(from: Unpacker): Inspection {
  return {
    kind: FILE_KIND_WORDS[from.num()] as FileKind,
    mime: from.str(),
    encoding: from.optStr(),
    eol: EOL_WORDS[from.num()] ?? null,
    bom: from.flag(),
    width: from.opt(),
    height: from.opt(),
  };
}

/**
 * The line endings of a text.
 *
 * - `none`: No line has a line ending.
 * - `lf`: All line endings are LF.
 * - `crlf`: All line endings are CRLF.
 * - `mixed`: Both occur.
 */
export type Eol = "none" | "lf" | "crlf" | "mixed";

/** The words by their numbers. */
export const EOL_WORDS: readonly Eol[] = ["none", "lf", "crlf", "mixed"];

/** The limits of walks of trees. */
export const WALK_LIMITS = {
  /** The maximum depth of a walk below its start, in directories. */
  maxDepth: 2048,
  /**
   * The maximum number of entries that one walk visits in ignored directories to count the
   * matching ones. Beyond it, no more ignored directories are entered, and the count is too
   * low.
   */
  maxIgnoredEntries: 200000,
} as const;

/** Bits of the flags of a write, a move or a copy. */
export const CHANGE_FLAGS = {
  /** Fail if the entry exists. */
  ifAbsent: 1,
  /** Create the directories above the entry. */
  createDirs: 2,
  /** Add to the end of the file. */
  append: 4,
  /** Fail rather than lose metadata of a replaced file. */
  strict: 8,
  /** Replace the target of a move or copy. */
  overwrite: 16,
} as const;

/**
 * The type of an entry.
 *
 * - `file`: A regular file.
 * - `dir`: A directory.
 * - `symlink`: A symbolic link.
 * - `other`: A FIFO, socket or device.
 */
export type Kind = "file" | "dir" | "symlink" | "other";

/** The words by their numbers. */
export const KIND_WORDS: readonly Kind[] = ["file", "dir", "symlink", "other"];

/** The number and size of the entries that an operation on a tree affected. */
export interface TreeCounts {
  /** The number of entries that are not directories. */
  readonly files: number;
  /** The number of directories, including the top. */
  readonly directories: number;
  /** The sum of the sizes of the regular files, in bytes. */
  readonly bytes: number;
}

/** Decodes {@link TreeCounts}. */
export function decodeTreeCounts(from: Unpacker): TreeCounts {
  return {
    files: from.num(),
    directories: from.num(),
    bytes: from.num(),
  };
}

/** A page of a file on disk. */
export interface FilePage extends Page {
  /**
   * The version of the file from before the first byte was read, with the hash of the
   * content if all of it was read.
   */
  readonly version: string;
  /** When the file last changed, in milliseconds since 1970. */
  readonly mtime: number;
  /** Permission bits. */
  readonly mode: number;
}

/** Decodes {@link FilePage}. */
export function decodeFilePage(from: Unpacker): FilePage {
  return {
    content: from.str(),
    startLine: from.num(),
    endLine: from.num(),
    linesRead: from.num(),
    totalLines: from.opt(),
    atLeastLines: from.num(),
    size: from.num(),
    startByte: from.num(),
    encoding: from.str(),
    eol: EOL_WORDS[from.num()] ?? null,
    bom: from.flag(),
    truncated: from.flag(),
    nextStartLine: from.optSigned(),
    nextStartByte: from.opt(),
    longLines: from.num(),
    long: from.list(() => decodeLongLine(from)),
    cutLines: from.list(() => from.num()),
    anchors: from.optStr(),
    hash: from.optStr(),
    mime: from.str(),
    lossy: from.flag(),
    nuls: from.flag(),
    changed: from.flag(),
    version: from.str(),
    mtime: from.num(),
    mode: from.num(),
  };
}

/** The metadata of an entry. Times are milliseconds since 1970. */
export interface EntryStat {
  /** The type of the entry. */
  readonly kind: Kind;
  /** The size in bytes. */
  readonly size: number;
  /** The permission bits. */
  readonly mode: number;
  /** The number of hard links. */
  readonly nlink: number;
  /** The time of the last change of the content. */
  readonly mtime: number;
  /** The time of the last change of content or metadata. */
  readonly ctime: number;
  /** The time of the last read. */
  readonly atime: number;
  /** The creation time, if the file system records it. */
  readonly birthtime: number | null;
  /** The version of the file. */
  readonly version: string;
}

/** Decodes {@link EntryStat}. */
export function decodeEntryStat(from: Unpacker): EntryStat {
  return {
    kind: KIND_WORDS[from.num()] as Kind,
    size: from.num(),
    mode: from.num(),
    nlink: from.num(),
    mtime: from.num(),
    ctime: from.num(),
    atime: from.num(),
    birthtime: from.optSigned(),
    version: from.str(),
  };
}

/** The metadata of a path. */
export interface PathStat extends EntryStat {
  /** The target of a link. */
  readonly target: string | null;
}

/** Decodes {@link PathStat}. */
export function decodePathStat(from: Unpacker): PathStat {
  return {
    kind: KIND_WORDS[from.num()] as Kind,
    size: from.num(),
    mode: from.num(),
    nlink: from.num(),
    mtime: from.num(),
    ctime: from.num(),
    atime: from.num(),
    birthtime: from.optSigned(),
    version: from.str(),
    target: from.optStr(),
  };
}

/** The hash of a file, with its metadata. */
export interface FileHash extends EntryStat {
  /** The SHA-256 of the content. */
  readonly hash: string;
}

/** Decodes {@link FileHash}. */
export function decodeFileHash(from: Unpacker): FileHash {
  return {
    kind: KIND_WORDS[from.num()] as Kind,
    size: from.num(),
    mode: from.num(),
    nlink: from.num(),
    mtime: from.num(),
    ctime: from.num(),
    atime: from.num(),
    birthtime: from.optSigned(),
    version: from.str(),
    hash: from.str(),
  };
}

/** A file that was written. */
export interface WrittenFile extends EntryStat {
  /** True if the file did not exist before. */
  readonly created: boolean;
  /** The number of other hard links of the replaced file, which keep the old content. */
  readonly otherNames: number;
  /** True if the file was written in place, because it could not be replaced. */
  readonly inPlace: boolean;
}

/** Decodes {@link WrittenFile}. */
export function decodeWrittenFile(from: Unpacker): WrittenFile {
  return {
    kind: KIND_WORDS[from.num()] as Kind,
    size: from.num(),
    mode: from.num(),
    nlink: from.num(),
    mtime: from.num(),
    ctime: from.num(),
    atime: from.num(),
    birthtime: from.optSigned(),
    version: from.str(),
    created: from.flag(),
    otherNames: from.num(),
    inPlace: from.flag(),
  };
}

/** The head of a packed listing of a directory; the entries follow it. */
export interface DirectoryHead {
  /** The number of all entries, including those that are not on the page. */
  readonly total: number;
  /** True if the directory has entries after the page. */
  readonly more: boolean;
  /** The number of entries that follow. */
  readonly count: number;
}

/** Decodes {@link DirectoryHead}. */
export function decodeDirectoryHead(from: Unpacker): DirectoryHead {
  return {
    total: from.num(),
    more: from.flag(),
    count: from.num(),
  };
}

/** The head of a packed page of a tree; the entries follow it. */
export interface TreeHead {
  /** The number of all entries, including those that are not on the page. */
  readonly total: number;
  /** The number of entries that follow. */
  readonly count: number;
}

/** Decodes {@link TreeHead}. */
export function decodeTreeHead(from: Unpacker): TreeHead {
  return {
    total: from.num(),
    count: from.num(),
  };
}

/** An entry of a directory or a tree. */
export interface ListedEntry {
  /** The type of the entry. */
  readonly kind: Kind;
  /**
   * The size in bytes; null if the metadata was not requested or could not be read. Then
   * `mtime` is 0.
   */
  readonly size: number | null;
  /** The time of the last change of the content. */
  readonly mtime: number;
  /** The path relative to the listed directory. */
  readonly path: string;
  /** The target of a link. */
  readonly target: string | null;
}

/** Decodes {@link ListedEntry}. */
export function decodeListedEntry(from: Unpacker): ListedEntry {
  return {
    kind: KIND_WORDS[from.num()] as Kind,
    size: from.opt(),
    mtime: from.num(),
    path: from.str(),
    target: from.optStr(),
  };
}

/** The numbers of a search for names. */
export interface FindTotals {
  /** The number of all matches, before limit and cursor. Exact when `complete`. */
  readonly total: number;
  /** The number of matching entries excluded by ignore files. */
  readonly ignored: number;
  /** The number of entries that could not be read. */
  readonly unreadable: number;
  /** True when more follows. */
  readonly truncated: boolean;
  /** False when the time limit was reached. */
  readonly complete: boolean;
}

/** Decodes {@link FindTotals}. */
export function decodeFindTotals(from: Unpacker): FindTotals {
  return {
    total: from.num(),
    ignored: from.num(),
    unreadable: from.num(),
    truncated: from.flag(),
    complete: from.flag(),
  };
}

/** The head of the result of a search for names; the paths follow it. */
export interface FindHead extends FindTotals {
  /** The time of the last path in milliseconds since 1970; -1 without one. */
  readonly lastTime: number;
}

/** Decodes {@link FindHead}. */
export function decodeFindHead(from: Unpacker): FindHead {
  return {
    total: from.num(),
    ignored: from.num(),
    unreadable: from.num(),
    truncated: from.flag(),
    complete: from.flag(),
    lastTime: from.num(),
  };
}

/**
 * The reason why a search is incomplete.
 *
 * - `maxResults`: There are more results than `maxResults`.
 * - `maxPerFile`: At least one file has more hits than `maxPerFile`.
 * - `timeout`: The time limit was reached.
 */
export type IncompleteReason = "max_results" | "max_per_file" | "timeout";

/** The words by their numbers. */
export const INCOMPLETE_REASON_WORDS: readonly IncompleteReason[] = [
  "max_results",
  "max_per_file",
  "timeout",
];

/**
 * The way in which a search made sure that its view is current.
 *
 * - `scan`: It read all files.
 * - `watch`: The system reports every change.
 * - `sweep`: It compared the times of files.
 */
export type Freshness = "scan" | "watch" | "sweep";

/** The words by their numbers. */
export const FRESHNESS_WORDS: readonly Freshness[] = ["scan", "watch", "sweep"];

/** The totals of a search of contents. */
export interface SearchTotals {
  /**
   * The number of matching lines. Exact when the search is complete, otherwise a lower
   * bound.
   */
  readonly totalMatches: number;
  /** The number of files with hits. */
  readonly filesWithMatches: number;
  /** The number of files that were searched. */
  readonly filesSearched: number;
  /** The number of binary files. */
  readonly skippedBinary: number;
  /** The number of files larger than `maxFileBytes`. */
  readonly skippedLarge: number;
  /** The number of entries that could not be read. */
  readonly unreadable: number;
  /** The number of files and whole directories excluded by ignore files. */
  readonly ignored: number;
  /** True when `maxResults` truncated the result. */
  readonly truncated: boolean;
  /** How the search made sure that its view is current. */
  readonly fresh: Freshness;
}

/** Decodes {@link SearchTotals}. */
export function decodeSearchTotals(from: Unpacker): SearchTotals {
  return {
    totalMatches: from.num(),
    filesWithMatches: from.num(),
    filesSearched: from.num(),
    skippedBinary: from.num(),
    skippedLarge: from.num(),
    unreadable: from.num(),
    ignored: from.num(),
    truncated: from.flag(),
    fresh: FRESHNESS_WORDS[from.num()] as Freshness,
  };
}

/** The head of the result of a search; the hits follow it. */
export interface SearchHead extends SearchTotals {
  /** The reason why the search is incomplete; null when it is complete. */
  readonly incompleteReason: IncompleteReason | null;
  /** The path to continue from; null when nothing follows. */
  readonly nextPath: string | null;
  /** The line of that path to continue after. */
  readonly nextLine: number;
  /** True when hits come with the lines around them. */
  readonly context: boolean;
}

/** Decodes {@link SearchHead}. */
export function decodeSearchHead(from: Unpacker): SearchHead {
  return {
    totalMatches: from.num(),
    filesWithMatches: from.num(),
    filesSearched: from.num(),
    skippedBinary: from.num(),
    skippedLarge: from.num(),
    unreadable: from.num(),
    ignored: from.num(),
    truncated: from.flag(),
    fresh: FRESHNESS_WORDS[from.num()] as Freshness,
    incompleteReason: INCOMPLETE_REASON_WORDS[from.num()] ?? null,
    nextPath: from.optStr(),
    nextLine: from.num(),
    context: from.flag(),
  };
}

/**
 * How far a write is flushed.
 *
 * - `none`: No guarantee after a power failure.
 * - `atomic`: Old or new content after a power failure, as far as the file system orders its writes.
 * - `durable`: New content after a power failure, once the call has returned.
 */
export type Durability = "none" | "atomic" | "durable";

/** The words by their numbers. */
export const DURABILITY_WORDS: readonly Durability[] = ["none", "atomic", "durable"];

/** The state of the index of a directory. */
export interface IndexStatus {
  /** The number of indexed files. */
  readonly files: number;
  /** The number of files that every search still reads. */
  readonly unsigned: number;
  /** Bytes of the files that were read for it. */
  readonly corpusBytes: number;
  /** Memory in use, in bytes. */
  readonly memoryBytes: number;
  /** The number of watched directories. */
  readonly watches: number;
  /** True when no work on it is pending. */
  readonly ready: boolean;
}

/** Decodes {@link IndexStatus}. */
export function decodeIndexStatus(from: Unpacker): IndexStatus {
  return {
    files: from.num(),
    unsigned: from.num(),
    corpusBytes: from.num(),
    memoryBytes: from.num(),
    watches: from.num(),
    ready: from.flag(),
  };
}

/**
 * The limit that ended a command.
 *
 * - `processes`: The number of processes and threads.
 * - `memory`: The memory of all processes together.
 */
export type Limit = "processes" | "memory";

/** The words by their numbers. */
export const LIMIT_WORDS: readonly Limit[] = ["processes", "memory"];

/** How a command ended, and its output. */
export interface SandboxedCommand {
  /** The exit status; null if the command was killed. */
  readonly exitCode: number | null;
  /** The number of the signal that ended it, if one did. */
  readonly signal: number | null;
  /** True if it was killed because its time was up. */
  readonly timedOut: boolean;
  /** True if it wrote more than `maxOutput` to one of its outputs. */
  readonly truncated: boolean;
  /** The standard output, with invalid UTF-8 replaced. */
  readonly stdout: string;
  /** The standard error output, with invalid UTF-8 replaced. */
  readonly stderr: string;
  /** The limit that it exceeded, for which it was killed. */
  readonly exceeded: Limit | null;
}

/** Decodes {@link SandboxedCommand}. */
export function decodeSandboxedCommand(from: Unpacker): SandboxedCommand {
  return {
    exitCode: from.optSigned(),
    signal: from.optSigned(),
    timedOut: from.flag(),
    truncated: from.flag(),
    stdout: from.str(),
    stderr: from.str(),
    exceeded: LIMIT_WORDS[from.num()] ?? null,
  };
}
