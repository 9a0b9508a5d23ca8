/** `read_many_files`: the contents of several files, one after the other. */
import { excludeGlobNotes } from "./render/left-out.ts";
import type { Location } from "../policy/index.ts";
import { FilewrightError, fromEngine } from "../engine/errors.ts";
import { readPage } from "./lib/contents.ts";
import { imageText, readImage } from "./render/image.ts";
import type { Limits } from "./lib/limits.ts";
import { maxAnswerBytes, utf8Length, truncatedClause } from "./lib/text.ts";
import { expandPaths, type RequestedFile } from "./lib/read_many_paths.ts";
import { skipReasonOf } from "./lib/skip-reason.ts";
import { phraseIfNamed, type Answer, type Call, type ContentBlock, type ReadingTool } from "./lib/tool.ts";
import { renderPage } from "./render/page.ts";
import { type KnownFile, renderFile } from "./render/renderings.ts";
import { named } from "./lib/exact.ts";
import type { ReadManyFilesData, ReadOne, SkippedOne } from "./generated/types.ts";
import type { CheckedArgs } from "./generated/internal.ts";
import { compileArgumentCheck, object } from "./lib/schema.ts";
import { choice, flag, integer, text, texts, timeoutSchema, WARNINGS_SCHEMA } from "./lib/shared.ts";
import { escapeControls, plural } from "../engine/escape.ts";
import { Yielder } from "../engine/yielder.ts";

type CheckedReadManyFilesArgs = CheckedArgs["read_many_files"];

const inputSchema = object(
  {
    paths: texts(
      "Files, directories and globs, such as src/**/*.ts. An existing file of exactly that name wins over the glob.",
      { minItems: 1 },
    ),
    include: texts("Further globs.", { default: [] }),
    exclude: texts("Globs of what to leave out.", { default: [] }),
    use_default_excludes: flag(
      "Leave out node_modules, .git, build output, archives, office documents and .env, except where named exactly.",
      true,
    ),
    respect_ignore: flag("Leave out what .gitignore, .ignore and .agentignore files name.", true),
    recursive: flag("False: of directories only the files directly in them; ** goes through no level.", true),
    max_files: integer("The most files read.", { default: 200, minimum: 1, maximum: 10_000 }),
    max_total_bytes: integer("The most content given, in bytes. Default one page of text.", { minimum: 1 }),
    separator: text("The line before each file; {filePath} stands for its path.", {
      default: "--- {filePath} ---",
    }),
    non_text: choice(
      "Files asked for by name or extension: images as image blocks (block), PDF files as blocks too (media), or skipped (error).",
      ["block", "media", "error"],
      "block",
    ),
    timeout_ms: timeoutSchema("After this time the files not read yet are listed as skipped."),
  },
  ["paths"],
);

const outputSchema = object(
  {
    files: {
      type: "array",
      description: "The files, in path order.",
      items: named(
        "ReadOne",
        object(
          {
            path: text("Relative to the workspace."),
            content: text("What is in it."),
            lines_read: integer("Lines given."),
            total_lines: { type: ["integer", "null"], description: "Lines of the file." },
            size: integer("Bytes of the file."),
            truncated: { type: "boolean", description: "Whether only its beginning is given." },
            mime: text("Media type."),
          },
          ["path", "content", "lines_read", "total_lines", "size", "truncated", "mime"],
        ),
      ),
    },
    skipped: {
      type: "array",
      description: "What was not read, and why.",
      items: named(
        "SkippedOne",
        object({ path: text("As asked for."), reason: text("Why."), code: text("An error code.") }, [
          "path",
          "reason",
          "code",
        ]),
      ),
    },
    truncated: { type: "boolean", description: "Whether a limit left something out." },
    warnings: WARNINGS_SCHEMA,
  },
  ["files", "skipped", "truncated"],
);

/** The maximum number of skipped paths that the text names; further ones are counted. */
const MAX_SHOWN_SKIPS = 5;
/** The number of files that are read concurrently. */
const CONCURRENT_READS = 8;

/** Reads several files. */
export const readManyFiles: ReadingTool<CheckedReadManyFilesArgs, ReadManyFilesData> = {
  kind: "read",
  name: "read_many_files",
  title: "Read many files",
  traits: ["readsContents", "takesLists", "searches"],
  description: `Reads several files at once: exact paths, whole directories, and globs, one after the other in path order, each behind a line with its path. Use it to take in a small module or a set of configuration files; for one file, for line numbers or for long files use read_file.
A file that cannot be read never fails the call: it is listed as skipped with the reason. Binary files, ignored files and the usual build and dependency directories are left out. At most max_files files and max_total_bytes of content are given.`,
  inputSchema,
  outputSchema,
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  parse: compileArgumentCheck("read_many_files", inputSchema),
  // Every path is checked separately: one outside the roots is skipped, with its reason.
  paths: () => [],
  scans: () => true,
  texts: {
    render(data, args) {
      const sections = data.files.map((file) => {
        const head = args.separator.replaceAll("{filePath}", escapeControls(file.path));
        const content = file.content.replace(/\r\n/gu, "\n").replace(/\n$/u, "");
        return `${head}\n\n${content}\n${file.truncated ? `${truncatedFileNote(file)}\n` : ""}`;
      });
      if (data.files.length === 0) sections.push("No files were read.");
      if (data.skipped.length > 0) sections.push(formatSkippedPaths(data.skipped));
      return sections.join("\n");
    },
    display: ({ files, skipped, truncated }) =>
      `Read ${plural(files.length, "file")}${skipped.length === 0 ? "" : `, left out ${skipped.length}`}${truncatedClause(truncated)}`,
    fit: { maxTextBytes },
  },
  run: runReadManyFiles,
};

/**
 * Returns the maximum size of the text in bytes: `outputBytes` when the call names a size, otherwise the size
 * of a page.
 */
function maxTextBytes({ max_total_bytes: asked }: CheckedReadManyFilesArgs, limits: Limits): number {
  return asked === undefined ? maxAnswerBytes(limits) : limits.outputBytes;
}

/**
 * The bytes that are reserved in a page for the lines before and after each file, in addition to its path,
 * and for the list of skipped paths.
 */
const [HEAD_BYTES, SKIP_LIST_BYTES] = [16, 1000];

async function runReadManyFiles(
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
  with(warnings: readonly string[]): Answer<ReadManyFilesData> {
    const data = { files: this.#files, skipped: this.#skipped, truncated: this.#truncated };
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
    const page = await readPage(call, at, {
      maxLines: Number.MAX_SAFE_INTEGER,
      maxLineChars: 0,
      contentBytes: maxBytes,
    });
    const { linesRead, totalLines, size, truncated, mime } = page;
    const file: ReadOne = {
      path: call.reader.display(at.path),
      content:
        linesRead === 0 ? "" : renderPage(page, { lineNumbers: "none", maxLineChars: 0, closing: false }),
      lines_read: linesRead,
      total_lines: totalLines,
      size,
      truncated,
      mime,
    };
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

/** Returns the note that only the beginning of a file is included. */
function truncatedFileNote({ lines_read: read, total_lines: total }: ReadOne): string {
  return `[truncated: the first ${read} of ${total ?? "more"} lines; read_file goes on]`;
}

function formatSkippedPaths(skipped: readonly SkippedOne[]): string {
  const lines = skipped
    .slice(0, MAX_SHOWN_SKIPS)
    .map(({ path, reason }) => `- ${escapeControls(path)}: ${escapeControls(reason)}`);
  const more = skipped.length - lines.length;
  if (more > 0) lines.push(`… and ${more} more`);
  return `Skipped ${skipped.length}:\n${lines.join("\n")}`;
}
