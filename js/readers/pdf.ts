/**
 * Reads PDF files: the text of their pages, by the optional package `unpdf`. If there is no text, the error
 * names the reason: encrypted, damaged, scanned or empty. For models that read PDF, returns the file itself.
 */
import { withoutUndefined } from "../schema/without-undefined.ts";
import type { FilewrightError } from "../engine/errors.ts";
import { toBase64 } from "../engine/wire/bytes.ts";
import { choosePages, type PageChoice, formatPageRanges } from "./pages.ts";
import type { ReaderInput, Rendered } from "./reader.ts";
import { rethrowImportFailure, checkSignal, loadOptionalPackage, unsupportedFormatError } from "./refuse.ts";
import { readAll } from "./source.ts";
import { plural } from "../engine/escape.ts";

const PDF_MIME = "application/pdf";
/** The maximum number of pages of one read: without `pages`, and with it. Further pages need another read. */
const DEFAULT_MAX_PAGES = 20;
const MAX_REQUESTED_PAGES = 100;
/** The maximum number of pixels of a picture in a page that is decoded. */
const MAX_DECODED_PIXELS = 50_000_000;

type UnpdfModule = typeof import("unpdf");
type PdfDocument = Awaited<ReturnType<UnpdfModule["getDocumentProxy"]>>;

/** Reads PDF files. */
export async function readPdf({ source, path, limits, options, signal }: ReaderInput): Promise<Rendered> {
  const bytes = await readAll(source, limits.wholeFileBytes, "split the document");
  if (options.nonText === "media" && options.pages === undefined) return wholePdfAsBlock(bytes, path);
  const unpdf = await loadOptionalPackage("unpdf", PDF_MIME, () =>
    import(/* webpackIgnore: true */ "unpdf").catch(rethrowImportFailure),
  );
  const document = await openPdf(unpdf, bytes);
  try {
    const count = document.numPages;
    if (count === 0) throw noTextError("has no pages", "empty", 0);
    const choice = choosePages(
      options.pages,
      count,
      options.pages === undefined ? DEFAULT_MAX_PAGES : MAX_REQUESTED_PAGES,
    );
    const pages = await textOfPages(document, choice, limits.outputBytes, signal);
    if (options.pages === undefined && pages.texts.every((text) => text === "")) {
      const scanned = await hasPictures(unpdf, document, choice.numbers[0] ?? 1);
      throw scanned
        ? noTextError("has no text: its pages are pictures", "scanned", count)
        : noTextError("has no text", "empty", count);
    }
    return renderPages(pages, count, await titleOf(document));
  } finally {
    await document.destroy();
  }
}

/**
 * The mark with which a complete file ends, and the number of bytes at the end in which PDF programs look for
 * it.
 */
const [END_MARK, MAX_BEHIND_END] = ["%%EOF", 1024];

/** Returns the whole file as a block. A file that a model could not open is refused here, with the reason. */
async function wholePdfAsBlock(bytes: Uint8Array, path: string): Promise<Rendered> {
  const end = new TextDecoder("latin1").decode(bytes.subarray(-MAX_BEHIND_END));
  if (!end.includes(END_MARK))
    throw unsupportedFormatError(PDF_MIME, "is damaged or cut short", { reason: "damaged" });
  const count = await pageCount(bytes);
  const size = bytes.length;
  const pages = count === undefined ? "" : `, ${plural(count, "page")}`;
  return {
    text: `[PDF: ${path} (${PDF_MIME}, ${size} bytes${pages})]`,
    content: [
      {
        type: "document",
        source: { type: "base64", media_type: PDF_MIME, data: toBase64(bytes) },
        file_path: path,
        size_bytes: size,
      },
    ],
    data: withoutUndefined({ format: "pdf", page_count: count }),
  };
}

/** Returns the number of pages; undefined when the package `unpdf` is not installed. */
async function pageCount(bytes: Uint8Array): Promise<number | undefined> {
  const unpdf = await import(/* webpackIgnore: true */ "unpdf").catch(() => undefined);
  if (unpdf === undefined) return undefined;
  const document = await openPdf(unpdf, bytes);
  try {
    return document.numPages;
  } finally {
    await document.destroy();
  }
}

async function openPdf(unpdf: UnpdfModule, bytes: Uint8Array): Promise<PdfDocument> {
  try {
    // The bytes are copied because the package may transfer its input to a worker. `slice` of a Node `Buffer`
    // would not copy.
    return await unpdf.getDocumentProxy(new Uint8Array(bytes), {
      verbosity: 0,
      maxImageSize: MAX_DECODED_PIXELS,
    });
  } catch (cause) {
    const name = cause instanceof Error ? cause.name : "";
    throw name === "PasswordException"
      ? unsupportedFormatError(PDF_MIME, "is encrypted with a password", {
          reason: "encrypted",
          hint: "decrypt it first, for example with qpdf",
          cause,
        })
      : unsupportedFormatError(PDF_MIME, "is damaged or cut short", { reason: "damaged", cause });
  }
}

function noTextError(clause: string, reason: string, pageCount: number): FilewrightError {
  return unsupportedFormatError(PDF_MIME, clause, {
    reason,
    hint: "make images of its pages and read those",
    details: { page_count: pageCount },
  });
}

interface PageTexts {
  readonly numbers: readonly number[];
  readonly texts: readonly string[];
  readonly damaged: readonly number[];
  readonly next: string | undefined;
}

async function textOfPages(
  document: PdfDocument,
  { numbers, next }: PageChoice,
  budget: number,
  signal: AbortSignal | undefined,
): Promise<PageTexts> {
  const texts: string[] = [];
  const damaged: number[] = [];
  let left = budget;
  for (const number of numbers) {
    checkSignal(signal);
    let text = "";
    try {
      text = await textOfPage(document, number);
    } catch {
      damaged.push(number); // One damaged page does not prevent the others.
    }
    // The first page is always included. If it is too long, paging by lines truncates it.
    if (text.length > left && texts.length > 0) break;
    left -= text.length;
    texts.push(text);
  }
  const rest = numbers.slice(texts.length);
  const later = [...(rest.length > 0 ? [formatPageRanges(rest)] : []), ...(next === undefined ? [] : [next])];
  return {
    numbers: numbers.slice(0, texts.length),
    texts,
    damaged,
    next: later.length === 0 ? undefined : later.join(","),
  };
}

async function textOfPage(document: PdfDocument, number: number): Promise<string> {
  const page = await document.getPage(number);
  try {
    const { items } = await page.getTextContent();
    let text = "";
    for (const item of items) {
      if ("str" in item) text += item.hasEOL ? `${item.str}\n` : item.str;
    }
    return text.replaceAll("\0", "").trimEnd();
  } finally {
    page.cleanup();
  }
}

async function hasPictures(unpdf: UnpdfModule, document: PdfDocument, number: number): Promise<boolean> {
  try {
    const { OPS } = await unpdf.getResolvedPDFJS();
    const { fnArray } = await (await document.getPage(number)).getOperatorList();
    const pictures = new Set([OPS.paintImageXObject, OPS.paintInlineImageXObject, OPS.paintImageMaskXObject]);
    return fnArray.some((operation: number) => pictures.has(operation));
  } catch {
    return false;
  }
}

async function titleOf(document: PdfDocument): Promise<string | null> {
  try {
    const { info } = await document.getMetadata();
    const title = (info as { readonly Title?: unknown }).Title;
    return typeof title === "string" && title.trim() !== "" ? title.trim().slice(0, 200) : null;
  } catch {
    return null;
  }
}

function renderPages(
  { numbers, texts, damaged, next }: PageTexts,
  count: number,
  title: string | null,
): Rendered {
  const blocks = numbers.map((number, index) => {
    const text =
      texts[index] || (damaged.includes(number) ? "[the page is damaged]" : "[no text on this page]");
    return `--- page ${number} ---\n${text}`;
  });
  const summary = `[PDF: ${plural(count, "page")}]`;
  const closing =
    next === undefined
      ? []
      : [`[pages ${formatPageRanges(numbers)} of ${count}; continue with pages="${next}"]`];
  return {
    text: [summary, ...blocks, ...closing].join("\n"),
    data: withoutUndefined({
      format: "pdf",
      page_count: count,
      pages: numbers,
      title,
      next_pages: next,
    }),
    warning: damaged.length === 0 ? undefined : `Pages ${formatPageRanges(damaged)} are damaged.`,
  };
}
