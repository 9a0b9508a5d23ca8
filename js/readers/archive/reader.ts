/**
 * Lists the members of archives: zip, tar, and a tar in gzip. Nothing is written to disk; compressed data is
 * decompressed only up to a limit.
 */
import { withoutUndefined } from "../../schema/without-undefined.ts";
import { escapeControls, plural } from "../../engine/escape.ts";
import { FilewrightError } from "../../engine/errors.ts";
import type { ReaderInput, Rendered } from "../reader.ts";
import { unsupportedFormatError } from "../refuse.ts";
import { chunksOf } from "../source.ts";
import { sequentialBytesOf, sequentialBytesOfStream } from "./bytes.ts";
import { gunzip } from "./inflate.ts";
import { isTarHeader, readTar, type TarEntry } from "./tar.ts";
import { MAX_LISTED_MEMBERS, readZip } from "./zip.ts";

/**
 * The maximum number of bytes that are decompressed in order to list a compressed archive. The list ends
 * there and says so.
 */
const MAX_UNPACKED_BYTES = 512 * 1024 * 1024;
/** The maximum number of entries in `data`. The text lists up to `MAX_LISTED_MEMBERS`. */
const MAX_DATA_ENTRIES = 1000;
/**
 * A ratio of decompressed to compressed size that no ordinary text reaches. A file above it is reported as a
 * likely zip bomb.
 */
const MAX_COMPRESSION_RATIO = 200;
const MIN_BOMB_BYTES = 1024 * 1024 * 1024;
/** The maximum number of bytes that are shown of a compressed text. */
const MAX_SHOWN_TEXT_BYTES = 1024 * 1024;

/** One line of the list of members. */
interface ListedMember {
  readonly name: string;
  readonly size: number;
  readonly type: TarEntry["type"];
  readonly target?: string | undefined;
  readonly encrypted?: boolean;
}

interface MemberListing {
  readonly format: string;
  readonly entries: readonly ListedMember[];
  /** The number of members, when it is known. */
  readonly count: number;
  /** The size of the archive in bytes. */
  readonly packed: number;
  /** Sentences about damage or missing members, for the warning of the answer. */
  readonly problems: readonly string[];
}

/** Reads zip archives, and all formats that are zip archives inside. */
export async function readZipArchive({ source, mime }: ReaderInput): Promise<Rendered> {
  const found = await readZip(source);
  if (found === null) throw damagedArchiveError(mime);
  const entries = found.entries.map(
    ({ name, size, directory, symlink, encrypted }): ListedMember => ({
      name,
      size,
      type: directory ? "dir" : symlink ? "symlink" : "file",
      encrypted,
    }),
  );
  const problems = found.problem === undefined ? [] : [`The list may not be complete: ${found.problem}.`];
  const packed = found.entries.reduce((sum, entry) => sum + entry.packed, 0);
  if (packed > source.size) problems.push("Its members overlap, as in a zip bomb.");
  return renderListing({ format: "zip", entries, count: found.count, packed: source.size, problems });
}

/** Reads tar archives. */
export async function readTarArchive({ source, signal }: ReaderInput): Promise<Rendered> {
  const { entries, count, problems } = await collectMembers(readTar(sequentialBytesOf(source, signal)));
  return renderListing({ format: "tar", entries, count, packed: source.size, problems });
}

/** Reads gzip files: lists the members of a tar in it, and shows a text in it. */
export async function readGzip(input: ReaderInput): Promise<Rendered> {
  const { source, mime, signal } = input;
  try {
    const head = await firstBytes(gunzip(chunksOf(source, signal)), 512);
    if (!isTarHeader(head)) return await renderSingleFile(input);
    const bytes = sequentialBytesOfStream(gunzip(chunksOf(source, signal)), MAX_UNPACKED_BYTES, signal);
    const { entries, count, problems } = await collectMembers(readTar(bytes));
    if (bytes.stopped) {
      problems.splice(
        0,
        problems.length,
        `The list is not complete: it stops after ${bytes.seen} unpacked bytes.`,
      );
    }
    return renderListing({ format: "tar in gzip", entries, count, packed: source.size, problems });
  } catch (error) {
    if (error instanceof FilewrightError) throw error;
    throw damagedArchiveError(mime, error);
  }
}

function damagedArchiveError(mime: string, cause?: unknown): FilewrightError {
  return unsupportedFormatError(mime, "is damaged or cut short", { reason: "damaged", cause });
}

async function collectMembers(
  members: AsyncGenerator<TarEntry, boolean>,
): Promise<{ entries: ListedMember[]; count: number; problems: string[] }> {
  const entries: ListedMember[] = [];
  const problems: string[] = [];
  try {
    for (;;) {
      const next = await members.next();
      if (next.done === true) {
        if (!next.value) problems.push("The archive is damaged or cut short: the list may not be complete.");
        break;
      }
      if (entries.length === MAX_LISTED_MEMBERS) {
        problems.push(`Only the first ${MAX_LISTED_MEMBERS} entries are listed.`);
        break;
      }
      entries.push(next.value);
    }
  } catch (error) {
    if (error instanceof FilewrightError || entries.length === 0) throw error;
    problems.push("The archive is damaged: the list is not complete.");
  }
  return { entries, count: entries.length, problems };
}

async function firstBytes(stream: AsyncGenerator<Uint8Array>, count: number): Promise<Uint8Array> {
  const out = new Uint8Array(count);
  let at = 0;
  for await (const chunk of stream) {
    const part = chunk.subarray(0, count - at);
    out.set(part, at);
    at += part.length;
    if (at === count) break;
  }
  return out.subarray(0, at);
}

/** Decompresses a single file that is no archive, and shows it if it is text. */
async function renderSingleFile({ source, signal, limits }: ReaderInput): Promise<Rendered> {
  const limit = Math.min(MAX_SHOWN_TEXT_BYTES, limits.outputBytes);
  const head = await firstBytes(gunzip(chunksOf(source, signal)), limit + 1);
  const cut = head.length > limit;
  const shown = cut ? head.subarray(0, head.lastIndexOf(0x0a, limit - 1) + 1 || limit) : head;
  const data = { format: "gzip", packed_bytes: source.size, unpacked_bytes: cut ? null : head.length };
  const text = new TextDecoder().decode(shown);
  if (shown.includes(0) || text.includes("\ufffd")) {
    const size = cut ? `more than ${limit}` : `${head.length}`;
    return { text: `[gzip: one file that is not text; ${source.size} bytes, unpacked ${size}]`, data };
  }
  const warning = `This is the first ${shown.length} bytes of the text that is packed in this file.`;
  return cut ? { text, data, warning } : { text, data };
}

function renderListing({ format, entries, count, packed, problems }: MemberListing): Rendered {
  const unpacked = entries.reduce((sum, { size }) => sum + size, 0);
  const ratio = packed === 0 ? 0 : unpacked / packed;
  const warnings = [...problems];
  if (ratio > MAX_COMPRESSION_RATIO || unpacked > MIN_BOMB_BYTES * 16) {
    warnings.push(
      `It would unpack to ${unpacked} bytes, ${Math.round(ratio)} times its size: do not unpack it unchecked.`,
    );
  }
  const hostile = entries.filter(({ name }) => escapesTargetDirectory(name)).length;
  if (hostile > 0) warnings.push(`${hostile} of its names lead out of the directory it is unpacked in.`);
  const encrypted = entries.filter((entry) => entry.encrypted === true).length;
  if (encrypted > 0) warnings.push(`${encrypted} of its entries are encrypted.`);
  const width = Math.max(4, ...entries.map(({ size }) => String(size).length));
  const lines = entries.map((entry) => `${String(entry.size).padStart(width)}  ${shownMemberName(entry)}`);
  const more = count > entries.length ? [`... and ${count - entries.length} more`] : [];
  const summary = `[${format}: ${plural(count, "entry", "entries")}, ${packed} bytes, unpacked ${unpacked}]`;
  return {
    text: [summary, ...lines, ...more].join("\n"),
    data: {
      format,
      entry_count: count,
      packed_bytes: packed,
      unpacked_bytes: unpacked,
      ratio: Math.round(ratio * 10) / 10,
      entries: entries.slice(0, MAX_DATA_ENTRIES).map(({ name, size, type, target }) =>
        withoutUndefined({
          name: escapeControls(name),
          size,
          type,
          target: target === undefined ? undefined : escapeControls(target),
        }),
      ),
    },
    warning: warnings.length === 0 ? undefined : warnings.join(" "),
  };
}

function shownMemberName({ name, type, target, encrypted }: ListedMember): string {
  const notes = [
    ...(target === undefined ? [] : [`-> ${escapeControls(target)}`]),
    ...(type === "symlink" && target === undefined ? ["[link]"] : []),
    ...(type === "other" ? ["[device or other]"] : []),
    ...(encrypted === true ? ["[encrypted]"] : []),
    ...(escapesTargetDirectory(name) ? ["[leads outside]"] : []),
  ];
  return [escapeControls(name), ...notes].join(" ");
}

/** Returns true when a program that unpacks a member under this name could write outside its target directory. */
function escapesTargetDirectory(name: string): boolean {
  return /^[/\\]|^[A-Za-z]:/.test(name) || name.split(/[/\\]/).includes("..");
}
