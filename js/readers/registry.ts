/**
 * Finds the reader of a file by its MIME type: first among the readers of the workspace, then those added by
 * `registerReader`, then the built-in ones. A reader of the exact type precedes one of its family.
 */
import { lazily } from "../engine/lazy.ts";
import type { MaybePromise } from "../backends/backend.ts";
import {
  optionChecker,
  callback,
  flag,
  instance,
  list,
  type Options,
  options,
  required,
  text,
} from "../schema/option.ts";
import type { Reader, ReaderInput, Rendered } from "./reader.ts";
import { invalidArgumentError, unsupportedFormatError } from "./refuse.ts";

/** Reads one kind of file; the short form of a {@link Reader}. */
export type ReadFunction = (input: ReaderInput) => MaybePromise<Rendered>;

/** A reader: any object with its kinds and a `read` function. */
export const READER: Options<Reader> = instance<Reader>("Reader", "a reader", {
  mimes: required(list(text(), { minItems: 1 })),
  reusable: flag(),
  read: required(callback()),
});

/** The readers that a host supplies. */
export interface OwnReaders {
  /** Readers that precede all others, in this order. Default none. */
  readonly readers?: readonly Reader[] | undefined;
}

/**
 * The options of {@link readersFor}.
 *
 * @printed
 */
export const READERS_OPTIONS: Options<OwnReaders> = options("OwnReaders", { readers: list(READER) });

const checkOptions = optionChecker("readersFor", READERS_OPTIONS);
const checkReader = optionChecker("registerReader", READER);

/** The readers of one workspace. */
export interface Readers {
  /** Returns the reader of a MIME type, if there is one. */
  find(mime: string): Reader | undefined;
  /**
   * Reads a file by the reader of its type. With `nonText: "error"` everything but text is refused, unless
   * `pages` requests the text of a document.
   * @throws UNSUPPORTED_FORMAT and the reader's errors
   */
  read(input: ReaderInput): Promise<Rendered>;
}

let registeredReaders: readonly Reader[] = [];

/**
 * Adds a reader for every workspace. The last one added wins over earlier and built-in ones.
 * Returns a function that removes it.
 *
 * @example
 * registerReader("model/stl", async ({ source }) => ({ text: `a solid of ${source.size} bytes` }));
 *
 * @throws FilewrightError INVALID_ARGUMENT for a kind that is no text, or a reader that is no
 * function
 */
export function registerReader(mime: string | readonly string[], read: ReadFunction): () => void {
  const mimes = Array.isArray(mime) ? [...(mime as readonly string[])] : [mime as string];
  const reader: Reader = Object.freeze(checkReader({ mimes, read }));
  registeredReaders = [reader, ...registeredReaders];
  return () => {
    registeredReaders = registeredReaders.filter((other) => other !== reader);
  };
}

/**
 * The maximum number of MIME types for which the found reader is cached. The cache is then emptied; only a
 * caller that invents types reaches it.
 */
const MAX_CACHED_KINDS = 1_000;

function readerForMime(all: readonly Reader[], mime: string): Reader | undefined {
  const family = `${mime.split("/", 1)[0]}/*`;
  return all.find(({ mimes }) => mimes.includes(mime)) ?? all.find(({ mimes }) => mimes.includes(family));
}

/** Returns the readers of a workspace, its own before all others. @throws FilewrightError INVALID_ARGUMENT */
export function readersFor(options: OwnReaders = {}): Readers {
  const own = checkOptions(options).readers ?? [];
  let asOf = registeredReaders;
  const found = new Map<string, Reader | undefined>();
  const find = (mime: string): Reader | undefined => {
    // A reader that is registered after the workspace was opened is used, too, so the cache is then emptied.
    if (asOf !== registeredReaders || found.size > MAX_CACHED_KINDS) {
      asOf = registeredReaders;
      found.clear();
    }
    if (!found.has(mime)) found.set(mime, readerForMime([...own, ...asOf, ...builtInReaders], mime));
    return found.get(mime);
  };
  return Object.freeze({
    find,
    async read(input: ReaderInput): Promise<Rendered> {
      const { mime, options } = input;
      if (options.nonText === "error" && !isTextWithReader(mime) && options.pages === undefined) {
        throw unsupportedFormatError(mime, "only text is read here", {
          reason: "text_only",
          hint: textOnlyHint(mime),
        });
      }
      if (options.jsonPointer !== undefined) return (await structured()).readValue(input);
      const reader = find(mime);
      if (reader === undefined && options.pages !== undefined && isTextWithReader(mime)) {
        throw invalidArgumentError(
          "pages",
          `The argument pages is for documents; this file is ${mime}: use start_line.`,
        );
      }
      if (reader === undefined) {
        throw unsupportedFormatError(mime, "no reader renders it", {
          reason: "no_reader",
          hint: unknownFormatHint(mime),
        });
      }
      return await reader.read(input);
    },
  });
}

/** Returns true for types that are text although a reader exists for them. */
function isTextWithReader(mime: string): boolean {
  return /^text\/|[/+](json|jsonl|json5|yaml|toml|xml|svg\+xml)$/.test(mime);
}

function textOnlyHint(mime: string): string {
  if (mime === "application/pdf") return 'pass pages: "1-5", or other pages, to read its text';
  if (mime.startsWith("image/")) return 'set non_text: "block" to see the image';
  return "use a tool made for this kind";
}

function unknownFormatHint(mime: string): string {
  return /^(audio|video|font)\//.test(mime)
    ? `${mime.split("/", 1)[0]} has no text form; stat tells its size`
    : "force_text: true shows the bytes as text";
}

const structured = lazily("values of structured files", () => import("./structured/reader.ts"));
const images = lazily("images", () => import("./image/reader.ts"));
const notebooks = lazily("notebooks", () => import("./notebook/reader.ts"));
const pdf = lazily("PDF files", () => import("./pdf.ts"));
const docx = lazily("Word documents", () => import("./office/docx.ts"));
const xlsx = lazily("workbooks", () => import("./office/xlsx.ts"));
const pptx = lazily("presentations", () => import("./office/pptx.ts"));
const legacyOffice = lazily("old Office files", () => import("./office/package.ts"));
const archives = lazily("archives", () => import("./archive/reader.ts"));

const OPEN_XML = "application/vnd.openxmlformats-officedocument";
const OPEN_DOCUMENT = "application/vnd.oasis.opendocument";

/**
 * The built-in readers. The first one that reads a type is used. Each is loaded for its first file, and a large library
 * that it needs as well.
 */
const builtInReaders: readonly Reader[] = Object.freeze<Reader[]>([
  {
    mimes: ["image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp"],
    read: async (input) => (await images()).readImage(input),
  },
  {
    mimes: ["application/x-ipynb+json"],
    reusable: true,
    read: async (input) => (await notebooks()).readNotebook(input),
  },
  { mimes: ["application/pdf"], reusable: true, read: async (input) => (await pdf()).readPdf(input) },
  {
    mimes: [`${OPEN_XML}.wordprocessingml.document`],
    reusable: true,
    read: async (input) => (await docx()).readDocx(input),
  },
  {
    mimes: [`${OPEN_XML}.spreadsheetml.sheet`],
    reusable: true,
    read: async (input) => (await xlsx()).readXlsx(input),
  },
  {
    mimes: [`${OPEN_XML}.presentationml.presentation`],
    reusable: true,
    read: async (input) => (await pptx()).readPptx(input),
  },
  {
    mimes: ["application/x-ole-storage"],
    read: async (input) => (await legacyOffice()).refuseLegacyOffice(input),
  },
  {
    mimes: [
      "application/zip",
      "application/java-archive",
      "application/epub+zip",
      `${OPEN_DOCUMENT}.text`,
      `${OPEN_DOCUMENT}.spreadsheet`,
      `${OPEN_DOCUMENT}.presentation`,
      `${OPEN_DOCUMENT}.graphics`,
    ],
    read: async (input) => (await archives()).readZipArchive(input),
  },
  { mimes: ["application/x-tar"], read: async (input) => (await archives()).readTarArchive(input) },
  { mimes: ["application/gzip"], read: async (input) => (await archives()).readGzip(input) },
]);
