/** The reading of `read_many_files`. It is loaded with its first call. */
import { excludeGlobNotes } from "../render/left-out.ts";
import type { Location } from "../../policy/index.ts";
import { FilewrightError, fromEngine } from "../../engine/errors.ts";
import { readPage } from "../lib/contents.ts";
import { factsIfKnown, type UnchangedFacts } from "./known.ts";
import { imageText, readImage } from "../render/image.ts";
import { linesThatFit, maxAnswerBytes, utf8Length } from "../lib/text.ts";
import { madeWithin } from "../lib/tokens.ts";
import { expandPaths, type RequestedFile } from "../lib/read_many_paths.ts";
import { withoutUndefined } from "../../schema/without-undefined.ts";
import { skipReasonOf } from "../lib/skip-reason.ts";
import { phraseIfNamed, type Answer, type Call, type ContentBlock } from "../lib/tool.ts";
import { readManyFilesText } from "../read/many-text.ts";
import { renderPage } from "../render/page.ts";
import { type KnownFile, renderFile } from "../render/renderings.ts";
import type { ReadManyFilesData, ReadOne, SkippedOne } from "../generated/types.ts";
import type { CheckedArgs } from "../generated/internal.ts";
import { plural } from "../../engine/escape.ts";
import { Yielder } from "../../engine/yielder.ts";

type CheckedReadManyFilesArgs = CheckedArgs["read_many_files"];

/** The number of files that are read concurrently. */
const CONCURRENT_READS = 8;

/**
 * The bytes that are reserved in a page for the lines before and after each file, in addition to its path,
 * and for the list of skipped paths.
 */
const [HEAD_BYTES, SKIP_LIST_BYTES] = [16, 1000];

/** Answers a call of `read_many_files`. */
export async function runReadManyFiles(
  args: CheckedReadManyFilesArgs,
  call: Call,
): Promise<Answer<ReadManyFilesData>> {
  const skipped: SkippedOne[] = [];
  const warnings: string[] = [...excludeGlobNotes(args.exclude)];
  const wanted = await expandPaths(args, call, skipped, warnings);
  const answer = new FillingAnswer(args, call, skipped);
  const yielder = new Yielder({});
  for (let from = 0; from < wanted.length; from += CONCURRENT_READS) {
    const full = answer.exhaustedLimit();
    if (full !== undefined) {
      answer.skipAll(wanted.slice(from), { reason: full, code: "LIMIT_EXCEEDED" });
      break;
    }
    const batch = wanted.slice(from, from + CONCURRENT_READS);
    const reading = Promise.all(batch.map((one) => readRequestedFile(one, answer.maxBytes, args, call)));
    const read = await withinTimeLimit(reading, call);
    if (read === undefined) {
      answer.skipAll(wanted.slice(from), {
        reason: `not read: ${args.timeout_ms} ms were over`,
        code: "TIMEOUT",
      });
      break;
    }
    for (const [index, got] of read.entries()) answer.add((batch[index] as RequestedFile).at, got);
    await yielder.yieldIfDue();
    call.reader.onProgress?.({
      done: Math.min(from + CONCURRENT_READS, wanted.length),
      total: wanted.length,
    });
  }
  return answer.with(warnings);
}

/**
 * Returns the data with so many of its files that the text has at most `max_tokens`. Of the first one it keeps the lines
 * that fit; the others are skipped.
 */
async function dataWithinTokens(
  data: ReadManyFilesData,
  args: CheckedReadManyFilesArgs,
  call: Call,
): Promise<ReadManyFilesData> {
  const { max_tokens: most } = args;
  if (most === undefined) return data;
  const left = (file: ReadOne): SkippedOne => ({
    path: file.path,
    reason: `max_tokens (${most}) would be exceeded; read it alone`,
    code: "LIMIT_EXCEEDED",
  });
  const first = data.files[0];
  const files = first === undefined ? 0 : data.files.length;
  const total = data.files.reduce((sum, { content }) => sum + utf8Length(content), 0);
  return madeWithin({ most, count: call.settings.tokens }, Math.max(1, total), async (bytes) => {
    let used = 0;
    let kept = 0;
    for (; kept < files; kept++) {
      used += utf8Length((data.files[kept] as ReadOne).content);
      if (used > bytes) break;
    }
    const beginning = kept === 0 && first !== undefined ? beginningOf(first, bytes) : undefined;
    const shown = beginning === undefined ? data.files.slice(0, kept) : [beginning];
    const skipped = [...data.skipped, ...data.files.slice(shown.length).map(left)];
    const made = {
      files: shown,
      skipped,
      truncated: data.truncated || shown.length < files || beginning !== undefined,
    };
    return { made, text: readManyFilesText(made, args) };
  });
}

/** Returns the first lines of a file, at most so many bytes of them; undefined where the first line has more. */
function beginningOf(file: ReadOne, bytes: number): ReadOne | undefined {
  const { lines, end } = linesThatFit(file.content, bytes);
  if (lines === 0 || file.lines_read === 0) return undefined;
  return { ...file, content: `${file.content.slice(0, end)}\n`, lines_read: lines, truncated: true };
}

/** An answer that files fill, until a limit is reached. */
class FillingAnswer {
  /** The bytes of content that fit in the answer. */
  readonly maxBytes: number;
  readonly #args: CheckedReadManyFilesArgs;
  readonly #call: Call;
  readonly #files: ReadOne[] = [];
  readonly #skipped: SkippedOne[];
  readonly #content: ContentBlock[] = [];
  #left: number;
  #truncated = false;

  constructor(args: CheckedReadManyFilesArgs, call: Call, skipped: SkippedOne[]) {
    this.#args = args;
    this.#call = call;
    this.#skipped = skipped;
    this.maxBytes =
      args.max_total_bytes ?? Math.max(1, maxAnswerBytes(call.settings.limits) - SKIP_LIST_BYTES);
    this.#left = this.maxBytes;
  }

  /** Returns the reason why no further file is read, such as a limit; undefined while one may be read. */
  exhaustedLimit(): string | undefined {
    const { max_files: most } = this.#args;
    if (this.#files.length >= most) return `the limit of ${plural(most, "file")} is reached`;
    return this.#left <= 0 ? beyondTotalBytesReason(this.#args, this.#call) : undefined;
  }

  /** Leaves files out. */
  skipAll(files: readonly RequestedFile[], why: Pick<SkippedOne, "reason" | "code">): void {
    for (const { at } of files) this.#skipped.push({ path: this.#call.reader.display(at.path), ...why });
    this.#truncated = true;
  }

  /** Adds a file that was read, or leaves it out if it failed or does not fit. */
  add(at: Location, got: ReadResult): void {
    const path = this.#call.reader.display(at.path);
    if (got instanceof FilewrightError) {
      this.#skipped.push({ path, reason: skipReasonOf(got), code: got.code });
      return;
    }
    const over = this.exhaustedLimit() ?? this.#overBudgetReason(got.file);
    if (over !== undefined) {
      this.#truncated = true;
      this.#skipped.push({ path, reason: over, code: "LIMIT_EXCEEDED" });
      return;
    }
    this.#files.push(got.file);
    const isPage = this.#args.max_total_bytes === undefined;
    this.#left -= utf8Length(got.file.content) + (isPage ? HEAD_BYTES + utf8Length(path) : 0);
    this.#truncated ||= got.file.truncated;
    if (got.block !== undefined) this.#content.push(got.block);
  }

  /**
   * Returns the reason why a file that was read is left out because it exceeds the remaining bytes; undefined
   * when it is included. The first file is always included, truncated if necessary, because an empty answer
   * would not help.
   */
  #overBudgetReason({ content, truncated }: ReadOne): string | undefined {
    const fits = !truncated && utf8Length(content) <= this.#left;
    return fits || this.#files.length === 0 ? undefined : beyondTotalBytesReason(this.#args, this.#call);
  }

  /** Returns the answer with these warnings. */
  async with(warnings: readonly string[]): Promise<Answer<ReadManyFilesData>> {
    const all = { files: this.#files, skipped: this.#skipped, truncated: this.#truncated };
    const data = await dataWithinTokens(all, this.#args, this.#call);
    return this.#content.length === 0 ? { data, warnings } : { data, warnings, content: this.#content };
  }
}

/** Returns the result of `work`, or undefined when the time of the call ends before. */
async function withinTimeLimit<T>(work: Promise<T>, call: Call): Promise<T | undefined> {
  if (call.timer.timeLeft?.() === 0) {
    work.catch(() => {});
    return undefined;
  }
  try {
    return await work;
  } catch (error) {
    if (call.timer.timeLeft?.() === 0 && error instanceof FilewrightError && error.code === "CANCELLED")
      return undefined;
    throw error;
  }
}

type ReadResult = FilewrightError | { readonly file: ReadOne; readonly block: ContentBlock | undefined };

function beyondTotalBytesReason(
  { max_total_bytes: asked }: CheckedReadManyFilesArgs,
  { reader: { names } }: Call,
): string {
  return asked === undefined
    ? `left out, because the answer is full; read it alone${phraseIfNamed(names.argument("max_total_bytes"), (name) => `, or set ${name}`)}`
    : `max_total_bytes (${asked}) would be exceeded; read it alone`;
}

async function readRequestedFile(
  { at, byName }: RequestedFile,
  maxBytes: number,
  args: CheckedReadManyFilesArgs,
  call: Call,
): Promise<ReadResult> {
  try {
    const known = await factsIfKnown(call, at, args.known_hashes);
    if (known !== undefined) return { file: unchangedOne(known, at, call), block: undefined };
    const page = await readPage(call, at, {
      maxLines: Number.MAX_SAFE_INTEGER,
      maxLineChars: 0,
      contentBytes: maxBytes,
    });
    const { linesRead, totalLines, size, truncated, mime, hash } = page;
    const file: ReadOne = withoutUndefined({
      path: call.reader.display(at.path),
      content:
        linesRead === 0 ? "" : renderPage(page, { lineNumbers: "none", maxLineChars: 0, closing: false }),
      lines_read: linesRead,
      total_lines: totalLines,
      size,
      truncated,
      mime,
      hash: hash ?? undefined,
    });
    return { file, block: undefined };
  } catch (thrown) {
    const error = fromEngine(thrown);
    if (error.code === "CANCELLED") throw error;
    const { kind, mime, size } = (error.details ?? {}) as {
      readonly kind?: string;
      readonly mime?: string;
      readonly size?: number;
    };
    const shown = kind === "image" ? args.non_text !== "error" : kind === "pdf" && args.non_text === "media";
    if (error.code !== "BINARY_FILE" || !shown || !byName) return error;
    const facts = { mime: mime as string, size: size as number };
    return kind === "image" ? readPicture(at, facts, call) : readDocument(at, facts, call);
  }
}

/** Returns a file whose content the caller has, without it. */
function unchangedOne({ size, mime, hash, totalLines }: UnchangedFacts, at: Location, call: Call): ReadOne {
  const lines = { lines_read: 0, total_lines: totalLines, truncated: false };
  return { path: call.reader.display(at.path), content: "", ...lines, size, mime, hash, unchanged: true };
}

async function readDocument(at: Location, { mime, size }: KnownFile, call: Call): Promise<ReadResult> {
  try {
    const { text, content } = await renderFile(call, at, { mime, size }, { nonText: "media" });
    const file = {
      path: call.reader.display(at.path),
      content: text,
      lines_read: 0,
      total_lines: 0,
      size,
      mime,
    };
    return { file: { ...file, truncated: false }, block: content?.[0] };
  } catch (error) {
    return fromEngine(error);
  }
}

async function readPicture(at: Location, { mime, size }: KnownFile, call: Call): Promise<ReadResult> {
  try {
    const { block, facts } = await readImage(call, at, mime, size);
    const path = call.reader.display(at.path);
    const content = imageText(path, mime, size, facts);
    return { file: { path, content, lines_read: 0, total_lines: 0, size, truncated: false, mime }, block };
  } catch (error) {
    return fromEngine(error);
  }
}
