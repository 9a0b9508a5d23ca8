/**
 * Parses a notebook in chunks. Texts and outputs beyond their limits are dropped while they are read, so that
 * memory is bounded; every cell is returned.
 */
import type { ByteSource } from "../reader.ts";
import { chunksOf } from "../source.ts";
import { type ScanListener, ScanError, scanJson, unescapeJson } from "../structured/scan.ts";

/** A text that may have been truncated. Lengths are in UTF-8 bytes as the file writes them. */
export interface CappedText {
  text: string;
  /** The number of bytes that were dropped at the end of the text. */
  dropped: number;
}

/** A picture in an output. */
interface NotebookImage {
  readonly mime: string;
  /** The image in base64, without white space; empty when it was too large. */
  data: string;
  dropped: number;
}

/** One output of a cell. */
export interface NotebookOutput {
  type: string;
  /** The name of the stream (`stdout` or `stderr`), or of the error. */
  name: string;
  /** The text of a stream, or the traceback of an error. */
  readonly text: CappedText;
  /** The texts of the output, by MIME type. */
  readonly data: Map<string, CappedText>;
  readonly images: NotebookImage[];
}

/** One cell. */
export interface NotebookCell {
  /** The JSON pointer of the cell. */
  readonly place: string;
  /** The key of its source: `input` for code in the format before 2015. */
  sourceKey: "source" | "input";
  id: string;
  type: string;
  count: string;
  readonly source: CappedText;
  readonly outputs: NotebookOutput[];
  /** The number of outputs that were dropped because the cell had too many. */
  moreOutputs: number;
}

/** A notebook. */
export interface Notebook {
  readonly cells: readonly NotebookCell[];
  readonly moreCells: number;
  readonly kernel: string;
  readonly language: string;
}

/** The limits on what is kept of a notebook, in bytes. */
export interface NotebookLimits {
  /** The maximum number of cells. */
  readonly cells: number;
  readonly output: number;
  readonly source: number;
  /** The maximum size of one picture, in base64 characters. */
  readonly image: number;
  /** The maximum size of all pictures together, in base64 characters. */
  readonly images: number;
}

/** An object or array around the current position. */
interface Level {
  readonly kind: "object" | "array";
  /** The current key of an object. */
  key: string;
  /** The number of values of an array that have begun. */
  items: number;
}

const MAX_OUTPUTS_PER_CELL = 100;
/** The maximum number of MIME types that are kept of one output. */
const MAX_TYPES_PER_OUTPUT = 20;
/** The maximum length of keys and names. */
const MAX_KEY_BYTES = 512;
/** Matches the image formats that models accept. Of other images only the format is named. */
const PICTURE_TYPE = /^image\/(png|jpeg|gif|webp)$/;

/** Returns the cells of a notebook; null when the file is not a valid notebook. */
export async function parseNotebook(
  source: ByteSource,
  caps: NotebookLimits,
  signal?: AbortSignal,
): Promise<Notebook | null> {
  const cells: NotebookCell[] = [];
  let moreCells = 0;
  let hasCells = false;
  let kernel = "";
  let language = "";
  let imageBudget = caps.images;
  let cell: NotebookCell | undefined;
  let output: NotebookOutput | undefined;
  /** The objects and arrays around the current position, outermost first. */
  const levels: Level[] = [];
  /** The number of containers around a cell: 2, or 4 in the format before 2015 (`worksheets/0/cells`). */
  let cellDepth = 2;

  const keyAt = (depth: number): string => levels[depth]?.key ?? "";
  const inCells = (): boolean => levels.length >= cellDepth && keyAt(cellDepth - 2) === "cells";

  const text = (value: string, length: number, cut: boolean): void => {
    if (!inCells()) {
      if (levels.length !== 3 || keyAt(0) !== "metadata" || keyAt(2) !== "name") return;
      if (keyAt(1) === "kernelspec") kernel = value;
      if (keyAt(1) === "language_info") language = value;
      return;
    }
    if (cell === undefined) return;
    const field = keyAt(cellDepth);
    const below = levels.length - cellDepth - 1;
    if (field === "id" && below === 0) cell.id = value;
    else if (field === "cell_type" && below === 0) cell.type = value;
    else if ((field === "source" || field === "input") && below <= 1) {
      cell.sourceKey = field;
      appendCapped(cell.source, value, length, cut, caps.source);
    } else if (field === "outputs" && below >= 2 && output !== undefined)
      outputText(output, value, length, cut);
  };

  const outputText = (to: NotebookOutput, value: string, length: number, cut: boolean): void => {
    const field = keyAt(cellDepth + 2);
    const below = levels.length - cellDepth - 3;
    if (field === "output_type" && below === 0) to.type = value;
    else if ((field === "name" || field === "ename") && below === 0) to.name = value;
    else if (field === "text" && below <= 1) appendCapped(to.text, value, length, cut, caps.output);
    else if (field === "traceback" && below <= 1)
      appendCapped(to.text, `${value}\n`, length, cut, caps.output);
    else if (field === "data" && below >= 1 && below <= 2) {
      const mime = keyAt(cellDepth + 3);
      if (PICTURE_TYPE.test(mime)) picture(to, mime, value, length, cut);
      else {
        let part = to.data.get(mime);
        if (part === undefined && to.data.size < MAX_TYPES_PER_OUTPUT) {
          part = { text: "", dropped: 0 };
          to.data.set(mime, part);
        }
        if (part !== undefined) appendCapped(part, value, length, cut, caps.output);
      }
    }
  };

  const picture = (to: NotebookOutput, mime: string, value: string, length: number, cut: boolean): void => {
    let image = to.images.find((other) => other.mime === mime);
    if (image === undefined) {
      image = { mime, data: "", dropped: 0 };
      to.images.push(image);
    }
    if (cut || image.dropped > 0 || length > imageBudget || image.data.length + length > caps.image) {
      image.data = "";
      image.dropped += length;
      return;
    }
    imageBudget -= length;
    image.data += value.replaceAll(/\s/g, "");
  };

  /** Called for every value in an array: counts it, and begins a cell or an output if it is an object. */
  const count = (kind: "object" | "array" | "other"): void => {
    countItem(levels);
    if (levels.at(-1)?.kind !== "array" || !inCells()) return;
    if (levels.length === cellDepth) {
      cell = undefined;
      output = undefined;
      if (kind !== "object") return;
      if (cells.length === caps.cells) moreCells += 1;
      else {
        cell = emptyCell(cellPointer(levels));
        cells.push(cell);
      }
    } else if (levels.length === cellDepth + 2 && keyAt(cellDepth) === "outputs") {
      output = undefined;
      if (kind !== "object" || cell === undefined) return;
      if (cell.outputs.length === MAX_OUTPUTS_PER_CELL) cell.moreOutputs += 1;
      else {
        output = { type: "", name: "", text: { text: "", dropped: 0 }, data: new Map(), images: [] };
        cell.outputs.push(output);
      }
    }
  };

  const listener: ScanListener = {
    begin(kind) {
      count(kind);
      levels.push({ kind, key: "", items: 0 });
      if (kind !== "array") return;
      if (levels.length === 2 && keyAt(0) === "cells") hasCells = true;
      if (levels.length === 4 && keyAt(0) === "worksheets" && keyAt(2) === "cells") {
        hasCells = true;
        cellDepth = 4;
      }
    },
    end() {
      levels.pop();
      scan.keep = Math.max(scan.keep, MAX_KEY_BYTES); // Later keys are read again.
    },
    key(raw) {
      const top = levels.at(-1);
      if (top === undefined) return;
      top.key = raw === null ? "" : unescapeJson(raw);
      scan.keep = PICTURE_TYPE.test(top.key)
        ? Math.max(MAX_KEY_BYTES, Math.min(caps.image, imageBudget))
        : keptLength(top.key, caps);
    },
    string(raw, _from, _to, _line, length) {
      const top = levels.at(-1);
      count("other");
      text(unescapeJson(raw), length, length > scan.keep);
      // Of a text in many lines, lines beyond the limit are not even decoded. The next key resets this.
      if (top?.kind === "array" && inCells() && length > 0 && full()) scan.keep = 0;
    },
    literal(word) {
      count("other");
      const field = keyAt(cellDepth);
      if (!inCells() || levels.length !== cellDepth + 1 || cell === undefined || word === "null") return;
      if (field === "execution_count" || field === "prompt_number") cell.count = word.slice(0, 20);
    },
  };
  const full = (): boolean =>
    keyAt(cellDepth) === "outputs" &&
    keyAt(cellDepth + 2) === "text" &&
    output !== undefined &&
    output.text.dropped > 0;

  const scan = scanJson(listener);
  scan.keep = MAX_KEY_BYTES;
  try {
    for await (const chunk of chunksOf(source, signal)) scan.push(chunk);
    scan.finish();
  } catch (error) {
    if (error instanceof ScanError) return null;
    throw error;
  }
  if (!hasCells) return null;
  return { cells, moreCells, kernel, language };
}

/** Returns how many bytes of a text with this key are kept. */
function keptLength(key: string, caps: NotebookLimits): number {
  if (key === "source" || key === "input") return caps.source;
  return key === "text" || key === "traceback" || key.includes("/") ? caps.output : MAX_KEY_BYTES;
}

/** Counts a value, if it is one in an array. */
function countItem(levels: readonly Level[]): void {
  const top = levels.at(-1);
  if (top?.kind === "array") top.items += 1;
}

/** Returns the JSON pointer of the cell that begins in the innermost array. */
function cellPointer(levels: readonly Level[]): string {
  return levels.map(({ kind, key, items }) => `/${kind === "array" ? items - 1 : key}`).join("");
}

function emptyCell(place: string): NotebookCell {
  const source = { text: "", dropped: 0 };
  return { place, sourceKey: "source", id: "", type: "", count: "", source, outputs: [], moreOutputs: 0 };
}

/** Appends to a text up to `cap`, and counts what is dropped. */
function appendCapped(to: CappedText, text: string, length: number, cut: boolean, cap: number): void {
  const room = Math.max(0, cap - to.text.length);
  const kept = text.length > room ? text.slice(0, room) : text;
  to.text += kept;
  if (cut || kept.length < text.length) to.dropped += Math.max(1, length - kept.length);
}
