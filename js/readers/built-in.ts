/** The readers of this package. Each loads its heavy libraries at its first file. */
import { gzipReader, tarReader, zipReader } from "./archive/reader.ts";
import { imageReader } from "./image/reader.ts";
import { notebookReader } from "./notebook/reader.ts";
import { docxReader } from "./office/docx.ts";
import { legacyReader } from "./office/legacy.ts";
import { pptxReader } from "./office/pptx.ts";
import { xlsxReader } from "./office/xlsx.ts";
import { pdfReader } from "./pdf.ts";
import type { Reader } from "./reader.ts";

/** The readers of this package; the first that knows a kind wins. */
export const builtIn: readonly Reader[] = Object.freeze([
  imageReader,
  notebookReader,
  pdfReader,
  docxReader,
  xlsxReader,
  pptxReader,
  legacyReader,
  zipReader,
  tarReader,
  gzipReader,
]);
