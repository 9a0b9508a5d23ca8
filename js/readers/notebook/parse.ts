/**
 * Parses a notebook in chunks into cells of bounded size: outputs of any size use only their
 * limit, and no cell is lost.
 */
import type { ByteSource } from "../reader.ts";
import { chunks } from "../source.ts";
import { type Listener, ScanError, scanJson, unescapeJson } from "../structured/scan.ts";

/** Text that may be truncated. Lengths are UTF-8 bytes as written in the file. */
export interface CappedText {
  text: string;
  /** The number of bytes that were dropped. */
  dropped: number;
}

/** A picture in an output. */
interface NotebookImage {
  readonly mime: string;
  /** Base64, without whitespace; empty when it was too large. */
  data: string;
  dropped: number;
}

/** One output of a cell. */
export interface NotebookOutput {
  type: string;
  /** `stdout` or `stderr`, or the name of an error. */
  name: string;
  /** A stream's text or an error's traceback. */
  readonly text: CappedText;
  /** Texts by MIME type. */
  readonly data: Map<string, CappedText>;
  readonly images: NotebookImage[];
}

/** One cell. */
export interface NotebookCell {
  id: string;
  type: string;
  count: string;
  readonly source: CappedText;
  readonly outputs: NotebookOutput[];
  /** The number of dropped outputs. */
  moreOutputs: number;
}

/** A notebook. */
export interface Notebook {
  readonly cells: readonly NotebookCell[];
  readonly moreCells: number;
  readonly kernel: string;
  readonly language: string;
}

/** The limits on kept content. Bytes. */
export interface NotebookCaps {
  readonly output: number;
  readonly source: number;
  /** Of one picture, as base64. */
  readonly image: number;
  /** Of all pictures, as base64. */
  readonly images: number;
}

const MAX_CELLS = 10_000;
const MAX_OUTPUTS_PER_CELL = 100;
/** The maximum number of MIME types of one output. */
const MAX_TYPES_PER_OUTPUT = 20;
/** The maximum length of keys and names. */
const MAX_KEY_BYTES = 512;
/** Picture formats that models accept; others are only named. */
const PICTURE_TYPE = /^image\/(png|jpeg|gif|webp)$/;

/** Returns the notebook, or null when the file is none. */
export async function parseNotebook(
  source: ByteSource,
  caps: NotebookCaps,
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
  /** The open containers, from the root. */
  const levels: { readonly kind: "object" | "array"; key: string }[] = [];
  /** The depth of cells: 2, or 4 in files from before 2015 (`worksheets/0/cells`). */
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
      add(cell.source, value, length, cut, caps.source);
    } else if (field === "outputs" && below >= 2 && output !== undefined)
      outputText(output, value, length, cut);
  };

  const outputText = (to: NotebookOutput, value: string, length: number, cut: boolean): void => {
    const field = keyAt(cellDepth + 2);
    const below = levels.length - cellDepth - 3;
    if (field === "output_type" && below === 0) to.type = value;
    else if ((field === "name" || field === "ename") && below === 0) to.name = value;
    else if (field === "text" && below <= 1) add(to.text, value, length, cut, caps.output);
    else if (field === "traceback" && below <= 1) add(to.text, `${value}\n`, length, cut, caps.output);
    else if (field === "data" && below >= 1 && below <= 2) {
      const mime = keyAt(cellDepth + 3);
      if (PICTURE_TYPE.test(mime)) picture(to, mime, value, length, cut);
      else {
        let part = to.data.get(mime);
        if (part === undefined && to.data.size < MAX_TYPES_PER_OUTPUT) {
          part = { text: "", dropped: 0 };
          to.data.set(mime, part);
        }
        if (part !== undefined) add(part, value, length, cut, caps.output);
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

  /** Counts a value in an array, and starts a cell or an output for an object. */
  const count = (kind: "object" | "array" | "other"): void => {
    if (levels.at(-1)?.kind !== "array" || !inCells()) return;
    if (levels.length === cellDepth) {
      cell = undefined;
      output = undefined;
      if (kind !== "object") return;
      if (cells.length === MAX_CELLS) moreCells += 1;
      else {
        cell = { id: "", type: "", count: "", source: { text: "", dropped: 0 }, outputs: [], moreOutputs: 0 };
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

  const listener: Listener = {
    begin(kind) {
      count(kind);
      levels.push({ kind, key: "" });
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
        : keepOf(top.key);
    },
    string(raw, _from, _to, _line, length) {
      const top = levels.at(-1);
      count("other");
      text(unescapeJson(raw), length, length > scan.keep);
      // A long array of lines: text beyond the limit is not even decoded. The next key resets it.
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
  const keepOf = (key: string): number => {
    if (key === "source" || key === "input") return caps.source;
    return key === "text" || key === "traceback" || key.includes("/") ? caps.output : MAX_KEY_BYTES;
  };

  const scan = scanJson(listener);
  scan.keep = MAX_KEY_BYTES;
  try {
    for await (const chunk of chunks(source, signal)) scan.push(chunk);
    scan.finish();
  } catch (error) {
    if (error instanceof ScanError) return null;
    throw error;
  }
  if (!hasCells) return null;
  return { cells, moreCells, kernel, language };
}

/** Appends to a text within its limit. */
function add(to: CappedText, text: string, length: number, cut: boolean, cap: number): void {
  const room = Math.max(0, cap - to.text.length);
  const kept = text.length > room ? text.slice(0, room) : text;
  to.text += kept;
  if (cut || kept.length < text.length) to.dropped += Math.max(1, length - kept.length);
}
