/** The reading of `read_file`. It is loaded after a workspace opens, or by the first call. */
import { hashOf } from "../../backends/fallback/fallback.ts";
import type { Location } from "../../policy/index.ts";
import { engine } from "../../engine/current.ts";
import { FilewrightError, fromEngine } from "../../engine/errors.ts";
import type { LongLine, Page, PageRequest } from "../../engine/read.ts";
import { withContentsDigit } from "../lib/seen.ts";
import { changeOf, type PresentFile, presentContent } from "../lib/changed.ts";
import { assertFile, readPage, statOrNull } from "../lib/contents.ts";
import { definitionOf, readDefinitions } from "../lib/definitions.ts";
import { imageFacts } from "../render/image.ts";
import { BYTES_PER_MIB } from "../lib/limits.ts";
import { lineHashesOf, MAX_COMPARED_BYTES } from "../lib/line-hashes.ts";
import { linesShownByPage } from "../lib/line-ranges.ts";
import { pageWarning } from "../render/page.ts";
import { type KnownFile, renderFile } from "../render/renderings.ts";
import { factsIfKnown, isRecorded, type UnchangedFacts } from "./known.ts";
import type { CheckedArgs } from "../generated/internal.ts";
import type { ReadFileData } from "../generated/types.ts";
import { withoutUndefined } from "../../schema/without-undefined.ts";
import { encodeUtf8, maxAnswerBytes } from "../lib/text.ts";
import { madeWithin } from "../lib/tokens.ts";
import { type Answer, type Call, locationError } from "../lib/tool.ts";
import { readFileAnswerText } from "../read/text.ts";

type CheckedReadFileArgs = CheckedArgs["read_file"];

/** Answers a call of `read_file`. */
export async function runReadFile(args: CheckedReadFileArgs, call: Call): Promise<Answer<ReadFileData>> {
  const at = call.locations[0]!;
  if (at.directory) await assertFile(call.fs, at);
  const known = await factsIfKnown(call, at, args.known_hash === undefined ? [] : [args.known_hash]);
  if (known !== undefined) return { data: unchangedDataOf(known, at, call) };
  const asked = args.json_pointer !== undefined || args.pages !== undefined;
  let page: Page;
  try {
    const request = pageRequestOf(args, call);
    if (args.symbol !== undefined) return await readSymbol(args.symbol, args, call, at);
    page = asked
      ? await readPage(call, at, { ...request, startLine: 1, maxLines: 1 })
      : await pageWithin(args, call, (textBytes) => readPage(call, at, { ...request, textBytes }));
  } catch (error) {
    if (!(error instanceof FilewrightError) || error.code !== "BINARY_FILE") throw error;
    await noteUnreadable(error, at, call);
    return readNotText(error, args, at, call);
  }
  const { mime, size, encoding } = page;
  const plain = args.force_text || args.start_byte !== undefined;
  if (asked || (!plain && call.settings.readers.find(mime) !== undefined)) {
    return readRendered(args, call, at, { mime, size, encoding });
  }
  if (!plain) assertSvgSize(page, at);
  return { data: await seenPage({ page, bytes: undefined }, args, call, at) };
}

/** A page, with the content from which it was read where that is in memory. */
interface ReadPage {
  readonly page: Page;
  readonly bytes: Uint8Array | undefined;
}

/** Records what a page shows, and returns its data. */
async function seenPage(
  read: ReadPage,
  args: CheckedReadFileArgs,
  call: Call,
  at: Location,
): Promise<ReadFileData> {
  const { page } = read;
  const { version, hash } = page;
  const lineHashes = await lineHashesOfPage(read, call, at);
  const changed = await changeBeforeRead(call, { path: at.path, version, hash, lineHashes });
  call.seen.note(at.path, version, hash, linesShownByPage(page, args.start_byte));
  noteAnchors(page, at, call);
  return withoutUndefined({ ...readFileDataOf(page, call.reader.display(at.path)), changed });
}

/**
 * Returns the line hashes of the content of a page, where the workspace knows; undefined where the file has another
 * content by now. The file is read for them only if the page shows a part of a content whose line hashes are not kept.
 */
async function lineHashesOfPage(
  { page, bytes }: ReadPage,
  call: Call,
  { path }: Location,
): Promise<string | null | undefined> {
  const { hash, size } = page;
  if (!call.settings.knows || hash === null || size > MAX_COMPARED_BYTES) return undefined;
  const kept = call.seen.lineHashes.of(hash);
  if (kept !== undefined) return kept;
  try {
    const content = bytes ?? contentIn(page) ?? (await presentContent(call, path)).bytes;
    const isOfPage = content !== undefined && (await engine().onThreads.sha256(content)) === hash;
    return isOfPage ? await lineHashesOf(content, call.signal) : undefined;
  } catch (thrown) {
    const error = fromEngine(thrown);
    if (error.code === "CANCELLED") throw error;
    return undefined;
  }
}

/** Returns the content of a file of which a page has every byte. */
function contentIn({ content, size, encoding, bom, lossy, truncated }: Page): Uint8Array | undefined {
  if (encoding !== "utf-8" || bom || lossy || truncated) return undefined;
  const bytes = encodeUtf8(content);
  return bytes.length === size ? bytes : undefined;
}

/** Records that the caller received the anchors of a page, if it has some. */
function noteAnchors(page: Page, { path }: Location, { seen }: Call): void {
  const contents = contentIdOfPage(page);
  if (page.anchors !== null && contents !== undefined) seen.giveAnchors(path, contents);
}

/** Reads the lines of a definition, from the content in which it was found. */
async function readSymbol(
  symbol: string,
  args: CheckedReadFileArgs,
  call: Call,
  at: Location,
): Promise<Answer<ReadFileData>> {
  const file = await readDefinitions(call, at);
  const { startLine, endLine } = definitionOf(symbol, file, args.path);
  const lines = endLine - startLine + 1;
  const request = {
    ...pageRequestOf(args, call),
    startLine,
    maxLines: Math.min(lines, args.max_lines ?? lines),
  };
  const page = await pageWithin(args, call, (textBytes) =>
    engine().reading.readPage(file.bytes, { ...request, textBytes }, at.path, { signal: call.signal }),
  );
  const { bytes, version } = file;
  return { data: await seenPage({ page: { ...page, version }, bytes }, args, call, at) };
}

/** Refuses an SVG that is too large to be shown as text. @throws FilewrightError TOO_LARGE */
function assertSvgSize({ mime, size }: Page, at: Location): void {
  if (mime !== SVG_MIME_TYPE || size <= MAX_SVG_BYTES) return;
  throw locationError("TOO_LARGE", at, {
    details: { size, limit: MAX_SVG_BYTES, mime },
    hint: "force_text: true shows pages of it all the same",
  });
}

/** Returns what changed in a file since the caller read it, and keeps its line hashes for the next time. */
async function changeBeforeRead(call: Call, now: PresentFile): Promise<string | undefined> {
  if (!call.settings.knows) return undefined;
  const changed = await changeOf(call, now);
  if (now.hash !== null && now.lineHashes !== undefined) call.seen.lineHashes.keep(now.hash, now.lineHashes);
  return changed;
}

/** Returns the data of a file whose content the caller has. It shows nothing, so nothing is recorded as read. */
function unchangedDataOf(facts: UnchangedFacts, at: Location, call: Call): ReadFileData {
  const { hash, size, encoding, eol, bom, mime, totalLines, version } = facts;
  return withoutUndefined({
    path: call.reader.display(at.path),
    content: "",
    start_line: 0,
    end_line: 0,
    lines_read: 0,
    total_lines: totalLines,
    ...{ size, encoding, eol, bom, hash, version, mime },
    truncated: false,
    long_lines: 0,
    unchanged: true as const,
    warning: isRecorded(call, at, hash) ? undefined : UNRECORDED_WARNING,
  });
}

/** Said of a content that the caller has, and whose lines the guard does not count as read. */
const UNRECORDED_WARNING = "its lines do not count as read for a change";

/** Reads a page of at most as many bytes as the call may show, or so few that its text has at most `max_tokens`. */
async function pageWithin(
  args: CheckedReadFileArgs,
  call: Call,
  read: (textBytes: number) => Promise<Page>,
): Promise<Page> {
  const { limits, tokens: count } = call.settings;
  const bytes = maxAnswerBytes(limits);
  if (args.max_tokens === undefined) return read(bytes);
  return madeWithin({ most: args.max_tokens, count }, bytes, async (textBytes) => {
    const made = await read(textBytes);
    const data = readFileDataOf(made, call.reader.display(call.locations[0]!.path));
    return { made, text: readFileAnswerText(data, args, call) };
  });
}

/**
 * Returns what identifies the content of the page's file: its hash, or else its version. The seventh
 * character of anchors is derived from it.
 */
function contentIdOfPage({ hash, version }: Page): string | undefined {
  return hash ?? version;
}

const SVG_MIME_TYPE = "image/svg+xml";
/** The maximum size in bytes of an SVG that is shown as text without being asked for. */
const MAX_SVG_BYTES = BYTES_PER_MIB;

function pageRequestOf(args: CheckedReadFileArgs, call: Call): PageRequest {
  return {
    startLine: args.start_line,
    maxLines: args.max_lines,
    maxLineChars: args.max_line_chars,
    lineNumbers: args.line_numbers,
    encoding: args.encoding,
    forceText: args.force_text,
    anchors: args.anchors,
    startByte: args.start_byte,
    wholeFileBytes: call.settings.limits.wholeFileBytes,
  };
}

function readFileDataOf(page: Page, shownPath: string): ReadFileData {
  const warning = pageWarning(page);
  return withoutUndefined({
    path: shownPath,
    content: page.content,
    start_line: page.startLine,
    end_line: page.endLine,
    lines_read: page.linesRead,
    total_lines: page.totalLines,
    at_least_lines: page.totalLines === null ? page.atLeastLines : undefined,
    size: page.size,
    encoding: page.encoding,
    eol: page.eol,
    bom: page.bom,
    truncated: page.truncated,
    next_start_line: page.nextStartLine ?? undefined,
    next_start_byte: page.nextStartByte ?? undefined,
    long_lines: page.longLines,
    hash: page.hash,
    version: page.version,
    mime: page.mime,
    cut_lines: page.cutLines.length === 0 ? undefined : page.cutLines,
    long: page.long.length === 0 ? undefined : page.long.map(longLineDataOf),
    anchors: page.anchors === null ? undefined : withContentsDigit(page.anchors, contentIdOfPage(page)),
    warning,
  });
}

function longLineDataOf({ line, restByte, restBytes }: LongLine): NonNullable<ReadFileData["long"]>[number] {
  return withoutUndefined({ line, rest_byte: restByte, rest_bytes: restBytes ?? undefined });
}

/**
 * Records a file that is not text as seen: nothing more can be read of it as lines, so a change of it must not demand a
 * read. The size shows that the file is still the one whose kind the caller is told.
 */
async function noteUnreadable({ details }: FilewrightError, { path }: Location, call: Call): Promise<void> {
  const now = await statOrNull(call.fs, path);
  if (now === null || now.size !== details?.["size"]) return;
  const hash = now.version === undefined ? await hashOf(call.fs, path, call.signal) : undefined;
  call.seen.note(path, now.version, hash);
}

/** Kinds of files that errors name by their media type, because it tells more than the kind. */
const KINDS_WITH_MEDIA_TYPE: ReadonlySet<string> = new Set(["image", "pdf", "document", "audio", "video"]);

/**
 * Handles a file that is not text: returns an image block or a rendering, or throws an error that names its
 * type.
 */
async function readNotText(
  error: FilewrightError,
  args: CheckedReadFileArgs,
  at: Location,
  call: Call,
): Promise<Answer<ReadFileData>> {
  const { kind, mime, size } = error.details as {
    readonly kind: string;
    readonly mime: string;
    readonly size: number;
  };
  if (call.settings.readers.find(mime) !== undefined) {
    try {
      return await readRendered(args, call, at, { mime, size });
    } catch (refused) {
      // Only the name says that it is an archive, or only text is accepted: the file is refused as binary.
      const reason = refused instanceof FilewrightError && refused.details?.["reason"];
      if (KINDS_WITH_MEDIA_TYPE.has(kind) || (reason !== "damaged" && reason !== "text_only")) throw refused;
    }
  }
  if (!KINDS_WITH_MEDIA_TYPE.has(kind)) throw locationError("BINARY_FILE", at, { details: error.details });
  throw locationError("UNSUPPORTED_FORMAT", at, { details: error.details });
}

/** Reads a file by the reader of its kind, and returns a page of the resulting text. */
async function readRendered(
  args: CheckedReadFileArgs,
  call: Call,
  at: Location,
  file: KnownFile,
): Promise<Answer<ReadFileData>> {
  const options = { pages: args.pages, jsonPointer: args.json_pointer, nonText: args.non_text };
  const made = await renderFile(call, at, file, options);
  const image = made.content !== undefined && file.mime.startsWith("image/");
  const read = async (textBytes: number): Promise<Page> =>
    pageOfRenderedText(image ? "" : made.text, made.firstLine ?? 1, args, {
      ...pageRequestOf(args, call),
      textBytes,
    });
  const page = await pageWithin(args, call, read);
  const { content, warning, data: facts, hash, version, firstLine } = made;
  const changed = await changeBeforeRead(call, { path: at.path, version, hash, lineHashes: undefined });
  // A rendering shows the whole content in another form, but for single pages and values.
  if (args.pages === undefined && args.json_pointer === undefined) call.seen.note(at.path, version, hash);
  const shown = readFileDataOf(page, call.reader.display(at.path));
  const data: ReadFileData = withoutUndefined({
    ...shown,
    size: file.size,
    encoding: file.encoding ?? "binary",
    eol: firstLine === undefined ? null : page.eol,
    hash,
    mime: file.mime,
    version: version ?? shown.version,
    rendered: firstLine === undefined ? (true as const) : undefined,
    image: image ? imageFacts(facts) : undefined,
    facts: image ? undefined : facts,
    changed,
    warning: warning ?? shown.warning,
  });
  return content === undefined ? { data } : { data, content };
}

/** Returns a page of a text that is in memory. `first` is the number of its first line. */
function pageOfRenderedText(
  content: string,
  first: number,
  { start_line: start }: CheckedReadFileArgs,
  request: PageRequest,
): Page {
  const read = engine().readPage(encodeUtf8(content), {
    ...request,
    anchors: false, // The shown text may be a part of a line.
    startLine: start < 0 ? start : Math.max(1, start - first + 1),
    startByte: undefined,
    encoding: "utf-8",
    forceText: true,
    wholeFileBytes: Number.MAX_SAFE_INTEGER,
  });
  // Offsets in this text are not offsets in the file, so none are returned.
  const page = { ...read, long: [] };
  const shift = first - 1;
  if (shift === 0) return page;
  return {
    ...page,
    startLine: page.startLine + shift,
    endLine: page.endLine + shift,
    totalLines: page.totalLines === null ? null : page.totalLines + shift,
    atLeastLines: page.atLeastLines + shift,
    nextStartLine: page.nextStartLine === null ? null : page.nextStartLine + shift,
    cutLines: page.cutLines.map((line) => line + shift),
  };
}
