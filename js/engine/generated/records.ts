/**
 * The records that the engine sends, with their decoders.
 *
 * Written by `npm run wire` from the declarations in the Rust crates; not to be edited.
 */
import type { Unpacker } from "../wire/unpack.ts";

/** A definition as an outline shows it. */
export interface OutlineEntry {
  /** The word for the kind. */
  readonly kind: string;
  /** The name. */
  readonly name: string;
  /**
   * The line with the name, without indentation, opening brace and line end; at most 120
   * characters.
   */
  readonly signature: string;
  /** The first line, from 1, without decorators, attributes and comments above. */
  readonly startLine: number;
  /** The last line, inclusive. */
  readonly endLine: number;
  /** The first line with the decorators, attributes and comments directly above. */
  readonly leadLine: number;
  /**
   * Whether its first and last line hold nothing else, so that they can be replaced as a
   * whole.
   */
  readonly ownsLines: boolean;
  /** The index of the definition around this one, or -1. */
  readonly parent: number;
}

/** Decodes {@link OutlineEntry}. */
export function decodeOutlineEntry(from: Unpacker): OutlineEntry {
  const { nums } = from;
  return {
    kind: from.str(),
    name: from.str(),
    signature: from.str(),
    startLine: nums[from.at++] as number,
    endLine: nums[from.at++] as number,
    leadLine: nums[from.at++] as number,
    ownsLines: nums[from.at++] === 1,
    parent: nums[from.at++] as number,
  };
}

/** The definitions of a text. */
export interface Outline {
  /** Whether the language is known, by the name of the file or the first line. */
  readonly known: boolean;
  /** The definitions by their first line, an outer one before those inside. */
  readonly definitions: readonly OutlineEntry[];
}

/** Decodes {@link Outline}. */
export function decodeOutline(from: Unpacker): Outline {
  const { nums } = from;
  return {
    known: nums[from.at++] === 1,
    definitions: from.list(() => decodeOutlineEntry(from)),
  };
}

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
  const { nums } = from;
  return {
    oldStart: nums[from.at++] as number,
    oldLines: nums[from.at++] as number,
    newStart: nums[from.at++] as number,
    newLines: nums[from.at++] as number,
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
  const { nums } = from;
  return {
    oldStart: nums[from.at++] as number,
    oldLines: nums[from.at++] as number,
    newStart: nums[from.at++] as number,
    newLines: nums[from.at++] as number,
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
  const { nums } = from;
  return {
    truncated: nums[from.at++] === 1,
    added: nums[from.at++] as number,
    removed: nums[from.at++] as number,
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
  const { nums } = from;
  return {
    matches: nums[from.at++] as number,
    tier: TIER_WORDS[nums[from.at++] as number] as Tier,
    startLine: nums[from.at++] as number,
    endLine: nums[from.at++] as number,
    score: nums[from.at++] as number,
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
  const { nums } = from;
  return {
    replacements: nums[from.at++] as number,
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
  const { nums } = from;
  return {
    text: from.str(),
    encoding: from.str(),
    bom: nums[from.at++] === 1,
    lossy: nums[from.at++] === 1,
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
  const { nums } = from;
  return {
    start: nums[from.at++] as number,
    end: nums[from.at++] as number,
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
  const { nums } = from;
  return {
    content: from.str(),
    startLine: nums[from.at++] as number,
    endLine: nums[from.at++] as number,
    linesRead: nums[from.at++] as number,
    totalLines: (nums[from.at++] as number) < 0 ? null : (nums[from.at - 1] as number),
    atLeastLines: nums[from.at++] as number,
    size: nums[from.at++] as number,
    startByte: nums[from.at++] as number,
    encoding: from.str(),
    eol: EOL_WORDS[nums[from.at++] as number] ?? null,
    bom: nums[from.at++] === 1,
    truncated: nums[from.at++] === 1,
    nextStartLine: Number.isNaN(nums[from.at++]) ? null : (nums[from.at - 1] as number),
    nextStartByte: (nums[from.at++] as number) < 0 ? null : (nums[from.at - 1] as number),
    longLines: nums[from.at++] as number,
    long: from.list(() => decodeLongLine(from)),
    cutLines: from.list(() => nums[from.at++] as number),
    anchors: from.optStr(),
    hash: from.optStr(),
    mime: from.str(),
    lossy: nums[from.at++] === 1,
    nuls: nums[from.at++] === 1,
    changed: nums[from.at++] === 1,
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
  const { nums } = from;
  return {
    line: nums[from.at++] as number,
    restByte: nums[from.at++] as number,
    restBytes: (nums[from.at++] as number) < 0 ? null : (nums[from.at - 1] as number),
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

/** The limits of ranked searches. */
export const RANK_LIMITS = {
  /** The maximum size in bytes of a file that is ranked. Larger ones are generated or data. */
  maxRankedBytes: 1048576,
  /** The maximum number of directories that are searched together. */
  maxDirectories: 256,
} as const;

/** A line of a block. */
export interface CodeLine {
  /** From 1. */
  readonly line: number;
  /** The line, at most 200 characters. */
  readonly text: string;
}

/** Decodes {@link CodeLine}. */
export function decodeCodeLine(from: Unpacker): CodeLine {
  const { nums } = from;
  return {
    line: nums[from.at++] as number,
    text: from.str(),
  };
}

/** Some consecutive lines of a file that fit a query. */
export interface CodeBlock {
  /** The index of the searched directory, in the order in which they were given. */
  readonly root: number;
  /** The path, relative to that directory. */
  readonly path: string;
  /** The first line, from 1. */
  readonly first: number;
  /** The last line, inclusive. */
  readonly last: number;
  /** Six hexadecimal digits that change with the lines of the block. */
  readonly hash: string;
  /**
   * The line of the definition with which the block begins, and the lines with words of the
   * query; the first line with text where there are none.
   */
  readonly lines: readonly CodeLine[];
}

/** Decodes {@link CodeBlock}. */
export function decodeCodeBlock(from: Unpacker): CodeBlock {
  const { nums } = from;
  return {
    root: nums[from.at++] as number,
    path: from.str(),
    first: nums[from.at++] as number,
    last: nums[from.at++] as number,
    hash: from.str(),
    lines: from.list(() => decodeCodeLine(from)),
  };
}

/** The blocks that fit a question best, and the counts of the search. */
export interface CodeFound {
  /** The number of files that were ranked. */
  readonly filesSearched: number;
  /** The number of text files of more than 1 MiB, which were left out. */
  readonly skippedLarge: number;
  /** The path of the first of them, relative to its directory; empty if there is none. */
  readonly firstLarge: string;
  /** The index of the searched directory that contains it. */
  readonly largeRoot: number;
  /** The number of entries that could not be read. */
  readonly unreadable: number;
  /** False when the time was up before all files were ranked. */
  readonly complete: boolean;
  /** The blocks, best first. */
  readonly blocks: readonly CodeBlock[];
}

/** Decodes {@link CodeFound}. */
export function decodeCodeFound(from: Unpacker): CodeFound {
  const { nums } = from;
  return {
    filesSearched: nums[from.at++] as number,
    skippedLarge: nums[from.at++] as number,
    firstLarge: from.str(),
    largeRoot: nums[from.at++] as number,
    unreadable: nums[from.at++] as number,
    complete: nums[from.at++] === 1,
    blocks: from.list(() => decodeCodeBlock(from)),
  };
}

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
  const { nums } = from;
  return {
    kind: FILE_KIND_WORDS[nums[from.at++] as number] as FileKind,
    mime: from.str(),
    encoding: from.optStr(),
    eol: EOL_WORDS[nums[from.at++] as number] ?? null,
    bom: nums[from.at++] === 1,
    width: (nums[from.at++] as number) < 0 ? null : (nums[from.at - 1] as number),
    height: (nums[from.at++] as number) < 0 ? null : (nums[from.at - 1] as number),
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
   * The maximum number of entries of ignored directories that a search for names counts. If
   * there are more, it counts none.
   */
  maxIgnoredEntries: 1000,
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
  const { nums } = from;
  return {
    files: nums[from.at++] as number,
    directories: nums[from.at++] as number,
    bytes: nums[from.at++] as number,
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
  const { nums } = from;
  return {
    content: from.str(),
    startLine: nums[from.at++] as number,
    endLine: nums[from.at++] as number,
    linesRead: nums[from.at++] as number,
    totalLines: (nums[from.at++] as number) < 0 ? null : (nums[from.at - 1] as number),
    atLeastLines: nums[from.at++] as number,
    size: nums[from.at++] as number,
    startByte: nums[from.at++] as number,
    encoding: from.str(),
    eol: EOL_WORDS[nums[from.at++] as number] ?? null,
    bom: nums[from.at++] === 1,
    truncated: nums[from.at++] === 1,
    nextStartLine: Number.isNaN(nums[from.at++]) ? null : (nums[from.at - 1] as number),
    nextStartByte: (nums[from.at++] as number) < 0 ? null : (nums[from.at - 1] as number),
    longLines: nums[from.at++] as number,
    long: from.list(() => decodeLongLine(from)),
    cutLines: from.list(() => nums[from.at++] as number),
    anchors: from.optStr(),
    hash: from.optStr(),
    mime: from.str(),
    lossy: nums[from.at++] === 1,
    nuls: nums[from.at++] === 1,
    changed: nums[from.at++] === 1,
    version: from.str(),
    mtime: nums[from.at++] as number,
    mode: nums[from.at++] as number,
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
  const { nums } = from;
  return {
    kind: KIND_WORDS[nums[from.at++] as number] as Kind,
    size: nums[from.at++] as number,
    mode: nums[from.at++] as number,
    nlink: nums[from.at++] as number,
    mtime: nums[from.at++] as number,
    ctime: nums[from.at++] as number,
    atime: nums[from.at++] as number,
    birthtime: Number.isNaN(nums[from.at++]) ? null : (nums[from.at - 1] as number),
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
  const { nums } = from;
  return {
    kind: KIND_WORDS[nums[from.at++] as number] as Kind,
    size: nums[from.at++] as number,
    mode: nums[from.at++] as number,
    nlink: nums[from.at++] as number,
    mtime: nums[from.at++] as number,
    ctime: nums[from.at++] as number,
    atime: nums[from.at++] as number,
    birthtime: Number.isNaN(nums[from.at++]) ? null : (nums[from.at - 1] as number),
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
  const { nums } = from;
  return {
    kind: KIND_WORDS[nums[from.at++] as number] as Kind,
    size: nums[from.at++] as number,
    mode: nums[from.at++] as number,
    nlink: nums[from.at++] as number,
    mtime: nums[from.at++] as number,
    ctime: nums[from.at++] as number,
    atime: nums[from.at++] as number,
    birthtime: Number.isNaN(nums[from.at++]) ? null : (nums[from.at - 1] as number),
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
  const { nums } = from;
  return {
    kind: KIND_WORDS[nums[from.at++] as number] as Kind,
    size: nums[from.at++] as number,
    mode: nums[from.at++] as number,
    nlink: nums[from.at++] as number,
    mtime: nums[from.at++] as number,
    ctime: nums[from.at++] as number,
    atime: nums[from.at++] as number,
    birthtime: Number.isNaN(nums[from.at++]) ? null : (nums[from.at - 1] as number),
    version: from.str(),
    created: nums[from.at++] === 1,
    otherNames: nums[from.at++] as number,
    inPlace: nums[from.at++] === 1,
  };
}

/** A step of a list of changes: what became known of it. */
export interface ListedStep {
  /** The version of what it has made; null where it has made nothing. */
  readonly version: string | null;
  /** The number of other hard links of the replaced file, which keep the old content. */
  readonly otherNames: number;
  /** True if the file was written in place, because it could not be replaced. */
  readonly inPlace: boolean;
}

/** Decodes {@link ListedStep}. */
export function decodeListedStep(from: Unpacker): ListedStep {
  const { nums } = from;
  return {
    version: from.optStr(),
    otherNames: nums[from.at++] as number,
    inPlace: nums[from.at++] === 1,
  };
}

/** A list of changes that was made, or not. */
export interface MadeList {
  /** The moment of the commit in milliseconds since 1970; null unless all was made. */
  readonly moment: number | null;
  /** The steps that were begun. */
  readonly steps: readonly ListedStep[];
  /** The directories that are missing, outermost first, so that nothing was made. */
  readonly missing: readonly string[];
  /** The JSON of the error of the change with the index `at`, before which all were made. */
  readonly error: string | null;
  /** The index of the change that failed; the number of changes for the end of the record. */
  readonly at: number;
}

/** Decodes {@link MadeList}. */
export function decodeMadeList(from: Unpacker): MadeList {
  const { nums } = from;
  return {
    moment: Number.isNaN(nums[from.at++]) ? null : (nums[from.at - 1] as number),
    steps: from.list(() => decodeListedStep(from)),
    missing: from.list(() => from.str()),
    error: from.optStr(),
    at: nums[from.at++] as number,
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
  const { nums } = from;
  return {
    total: nums[from.at++] as number,
    more: nums[from.at++] === 1,
    count: nums[from.at++] as number,
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
  const { nums } = from;
  return {
    total: nums[from.at++] as number,
    count: nums[from.at++] as number,
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
  const { nums } = from;
  return {
    kind: KIND_WORDS[nums[from.at++] as number] as Kind,
    size: (nums[from.at++] as number) < 0 ? null : (nums[from.at - 1] as number),
    mtime: nums[from.at++] as number,
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
  /**
   * The number of excluded directories whose contents are not counted: 0, or all that may
   * contain matches, if they have many entries, or cannot all be read in time.
   */
  readonly ignoredDirectories: number;
  /** The number of entries that could not be read. */
  readonly unreadable: number;
  /** True when more follows. */
  readonly truncated: boolean;
  /** False when the time limit was reached. */
  readonly complete: boolean;
}

/** Decodes {@link FindTotals}. */
export function decodeFindTotals(from: Unpacker): FindTotals {
  const { nums } = from;
  return {
    total: nums[from.at++] as number,
    ignored: nums[from.at++] as number,
    ignoredDirectories: nums[from.at++] as number,
    unreadable: nums[from.at++] as number,
    truncated: nums[from.at++] === 1,
    complete: nums[from.at++] === 1,
  };
}

/** The head of the result of a search for names; the paths follow it. */
export interface FindHead extends FindTotals {
  /** The time of the last path in milliseconds since 1970; -1 without one. */
  readonly lastTime: number;
}

/** Decodes {@link FindHead}. */
export function decodeFindHead(from: Unpacker): FindHead {
  const { nums } = from;
  return {
    total: nums[from.at++] as number,
    ignored: nums[from.at++] as number,
    ignoredDirectories: nums[from.at++] as number,
    unreadable: nums[from.at++] as number,
    truncated: nums[from.at++] === 1,
    complete: nums[from.at++] === 1,
    lastTime: nums[from.at++] as number,
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
  const { nums } = from;
  return {
    totalMatches: nums[from.at++] as number,
    filesWithMatches: nums[from.at++] as number,
    filesSearched: nums[from.at++] as number,
    skippedBinary: nums[from.at++] as number,
    skippedLarge: nums[from.at++] as number,
    unreadable: nums[from.at++] as number,
    ignored: nums[from.at++] as number,
    truncated: nums[from.at++] === 1,
    fresh: FRESHNESS_WORDS[nums[from.at++] as number] as Freshness,
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
  const { nums } = from;
  return {
    totalMatches: nums[from.at++] as number,
    filesWithMatches: nums[from.at++] as number,
    filesSearched: nums[from.at++] as number,
    skippedBinary: nums[from.at++] as number,
    skippedLarge: nums[from.at++] as number,
    unreadable: nums[from.at++] as number,
    ignored: nums[from.at++] as number,
    truncated: nums[from.at++] === 1,
    fresh: FRESHNESS_WORDS[nums[from.at++] as number] as Freshness,
    incompleteReason: INCOMPLETE_REASON_WORDS[nums[from.at++] as number] ?? null,
    nextPath: from.optStr(),
    nextLine: nums[from.at++] as number,
    context: nums[from.at++] === 1,
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
  const { nums } = from;
  return {
    files: nums[from.at++] as number,
    unsigned: nums[from.at++] as number,
    corpusBytes: nums[from.at++] as number,
    memoryBytes: nums[from.at++] as number,
    watches: nums[from.at++] as number,
    ready: nums[from.at++] === 1,
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
  const { nums } = from;
  return {
    exitCode: Number.isNaN(nums[from.at++]) ? null : (nums[from.at - 1] as number),
    signal: Number.isNaN(nums[from.at++]) ? null : (nums[from.at - 1] as number),
    timedOut: nums[from.at++] === 1,
    truncated: nums[from.at++] === 1,
    stdout: from.str(),
    stderr: from.str(),
    exceeded: LIMIT_WORDS[nums[from.at++] as number] ?? null,
  };
}
