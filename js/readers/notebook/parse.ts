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
  const found = new NotebookScan(caps);
  try {
    for await (const chunk of chunksOf(source, signal)) found.scan.push(chunk);
    found.scan.finish();
  } catch (error) {
    if (error instanceof ScanError) return null;
    throw error;
  }
  return found.notebook();
}

/** A string of the file, and whether its end was not kept. */
interface Piece {
  readonly value: string;
  /** Its length in bytes, as the file writes it. */
  readonly length: number;
  readonly cut: boolean;
}

/** Collects the cells of a notebook while its JSON is scanned. */
class NotebookScan implements ScanListener {
  /** The scan that calls the methods of this listener. */
  readonly scan = scanJson(this);
  readonly #caps: NotebookLimits;
  readonly #cells: NotebookCell[] = [];
  #moreCells = 0;
  #hasCells = false;
  #kernel = "";
  #language = "";
  #imageBudget: number;
  #cell: NotebookCell | undefined;
  #output: NotebookOutput | undefined;
  /** The objects and arrays around the current position, outermost first. */
  readonly #levels: Level[] = [];
  /** The number of containers around a cell: 2, or 4 in the format before 2015 (`worksheets/0/cells`). */
  #cellDepth = 2;

  constructor(caps: NotebookLimits) {
    this.#caps = caps;
    this.#imageBudget = caps.images;
    this.scan.keep = MAX_KEY_BYTES;
  }

  /** Returns what was found; null where the file has no cells. */
  notebook(): Notebook | null {
    if (!this.#hasCells) return null;
    const [cells, moreCells] = [this.#cells, this.#moreCells];
    return { cells, moreCells, kernel: this.#kernel, language: this.#language };
  }

  begin(kind: "object" | "array"): void {
    this.#count(kind);
    const levels = this.#levels;
    levels.push({ kind, key: "", items: 0 });
    if (kind !== "array") return;
    const isOld = levels.length === 4 && this.#keyAt(0) === "worksheets" && this.#keyAt(2) === "cells";
    if (isOld) this.#cellDepth = 4;
    if (isOld || (levels.length === 2 && this.#keyAt(0) === "cells")) this.#hasCells = true;
  }

  end(): void {
    this.#levels.pop();
    this.scan.keep = Math.max(this.scan.keep, MAX_KEY_BYTES); // Later keys are read again.
  }

  key(raw: string | null): void {
    const top = this.#levels.at(-1);
    if (top === undefined) return;
    top.key = raw === null ? "" : unescapeJson(raw);
    this.scan.keep = PICTURE_TYPE.test(top.key)
      ? Math.max(MAX_KEY_BYTES, Math.min(this.#caps.image, this.#imageBudget))
      : keptLength(top.key, this.#caps);
  }

  string(raw: string, from: number, to: number): void {
    const top = this.#levels.at(-1);
    const length = to - from - 2; // Without the quotes.
    this.#count("other");
    const piece = { value: unescapeJson(raw), length, cut: length > this.scan.keep };
    if (this.#isInCells) this.#textOfCell(piece);
    else this.#textOfMetadata(piece.value);
    // Of a text in many lines, lines beyond the limit are not even decoded. The next key resets this.
    if (top?.kind === "array" && this.#isInCells && length > 0 && this.#isFull) this.scan.keep = 0;
  }

  literal(word: string): void {
    this.#count("other");
    const cell = this.#cell;
    const isInCell = this.#isInCells && this.#levels.length === this.#cellDepth + 1;
    if (!isInCell || cell === undefined || word === "null") return;
    const field = this.#keyAt(this.#cellDepth);
    if (field === "execution_count" || field === "prompt_number") cell.count = word.slice(0, 20);
  }

  #keyAt(depth: number): string {
    return this.#levels[depth]?.key ?? "";
  }

  get #isInCells(): boolean {
    return this.#levels.length >= this.#cellDepth && this.#keyAt(this.#cellDepth - 2) === "cells";
  }

  /** True inside a text of an output of which something was dropped. */
  get #isFull(): boolean {
    const isText = this.#keyAt(this.#cellDepth) === "outputs" && this.#keyAt(this.#cellDepth + 2) === "text";
    return isText && this.#output !== undefined && this.#output.text.dropped > 0;
  }

  /** Counts a value, if it is one in an array, and begins a cell or an output if it is an object. */
  #count(kind: "object" | "array" | "other"): void {
    countItem(this.#levels);
    if (this.#levels.at(-1)?.kind !== "array" || !this.#isInCells) return;
    const below = this.#levels.length - this.#cellDepth;
    if (below === 0) this.#beginCell(kind === "object");
    else if (below === 2 && this.#keyAt(this.#cellDepth) === "outputs") this.#beginOutput(kind === "object");
  }

  /** Begins the next cell, if it is one; ends the last one. */
  #beginCell(isCell: boolean): void {
    this.#cell = undefined;
    this.#output = undefined;
    if (!isCell) return;
    if (this.#cells.length === this.#caps.cells) {
      this.#moreCells += 1;
      return;
    }
    this.#cell = emptyCell(cellPointer(this.#levels));
    this.#cells.push(this.#cell);
  }

  /** Begins the next output of a cell, if it is one; ends the last one. */
  #beginOutput(isOutput: boolean): void {
    this.#output = undefined;
    const cell = this.#cell;
    if (!isOutput || cell === undefined) return;
    if (cell.outputs.length === MAX_OUTPUTS_PER_CELL) {
      cell.moreOutputs += 1;
      return;
    }
    this.#output = { type: "", name: "", text: { text: "", dropped: 0 }, data: new Map(), images: [] };
    cell.outputs.push(this.#output);
  }

  #textOfMetadata(value: string): void {
    if (this.#levels.length !== 3 || this.#keyAt(0) !== "metadata" || this.#keyAt(2) !== "name") return;
    if (this.#keyAt(1) === "kernelspec") this.#kernel = value;
    if (this.#keyAt(1) === "language_info") this.#language = value;
  }

  #textOfCell(piece: Piece): void {
    const cell = this.#cell;
    if (cell === undefined) return;
    const field = this.#keyAt(this.#cellDepth);
    const below = this.#levels.length - this.#cellDepth - 1;
    if (field === "id" && below === 0) cell.id = piece.value;
    else if (field === "cell_type" && below === 0) cell.type = piece.value;
    else if ((field === "source" || field === "input") && below <= 1) {
      cell.sourceKey = field;
      appendCapped(cell.source, piece, this.#caps.source);
    } else if (field === "outputs" && below >= 2 && this.#output !== undefined)
      this.#textOfOutput(this.#output, piece);
  }

  #textOfOutput(to: NotebookOutput, piece: Piece): void {
    const field = this.#keyAt(this.#cellDepth + 2);
    const below = this.#levels.length - this.#cellDepth - 3;
    if (field === "data" && below >= 1 && below <= 2) {
      const mime = this.#keyAt(this.#cellDepth + 3);
      if (PICTURE_TYPE.test(mime)) this.#addToImage(to, mime, piece);
      else this.#addToData(to, mime, piece);
      return;
    }
    const isName = below === 0 && (field === "name" || field === "ename");
    if (isName) to.name = piece.value;
    else if (field === "output_type" && below === 0) to.type = piece.value;
    else if (field === "text" && below <= 1) appendCapped(to.text, piece, this.#caps.output);
    else if (field === "traceback" && below <= 1)
      appendCapped(to.text, { ...piece, value: `${piece.value}\n` }, this.#caps.output);
  }

  #addToData({ data }: NotebookOutput, mime: string, piece: Piece): void {
    const part = data.get(mime) ?? { text: "", dropped: 0 };
    if (!data.has(mime)) {
      if (data.size === MAX_TYPES_PER_OUTPUT) return;
      data.set(mime, part);
    }
    appendCapped(part, piece, this.#caps.output);
  }

  #addToImage({ images }: NotebookOutput, mime: string, { value, length, cut }: Piece): void {
    let image = images.find((other) => other.mime === mime);
    if (image === undefined) {
      image = { mime, data: "", dropped: 0 };
      images.push(image);
    }
    const isTooLarge = length > this.#imageBudget || image.data.length + length > this.#caps.image;
    if (cut || image.dropped > 0 || isTooLarge) {
      image.data = "";
      image.dropped += length;
      return;
    }
    this.#imageBudget -= length;
    image.data += value.replaceAll(/\s/g, "");
  }
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
function appendCapped(to: CappedText, { value, length, cut }: Piece, cap: number): void {
  const room = Math.max(0, cap - to.text.length);
  const kept = value.length > room ? value.slice(0, room) : value;
  to.text += kept;
  if (cut || kept.length < value.length) to.dropped += Math.max(1, length - kept.length);
}
