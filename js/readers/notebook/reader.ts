/**
 * Reads Jupyter notebooks (`.ipynb`): the cells in order, each with its source and its outputs up to a limit;
 * pictures as blocks. A file that is no valid notebook is shown as text.
 */
import { withoutUndefined } from "../../schema/without-undefined.ts";
import { engine } from "../../engine/current.ts";
import { escapeControls, plural } from "../../engine/escape.ts";
import { fromBase64 } from "../../engine/wire/bytes.ts";
import type { ImageBlock, ReaderInput, Rendered, ReaderLimits } from "../reader.ts";
import { findImageDamage } from "../image/damage.ts";
import { tooLargeError } from "../refuse.ts";
import {
  type CappedText,
  type Notebook,
  type NotebookCell,
  type NotebookOutput,
  parseNotebook,
} from "./parse.ts";

const MAX_CELLS = 10_000;
/**
 * The maximum size in bytes of the text of one output, and of the source of one cell. Longer ones are
 * truncated.
 */
const MAX_OUTPUT_BYTES = 10_000;
const MAX_SOURCE_BYTES = 200_000;
/** The maximum size in bytes of the outputs of all cells together. Further outputs are dropped. */
const MAX_ALL_OUTPUTS_BYTES = 200_000;
const MAX_PICTURES = 10;
/**
 * The maximum number of base64 characters of one picture, because models accept no more. A larger picture is
 * only named.
 */
const MAX_IMAGE_BASE64 = 5 * 1024 * 1024;
/** The maximum width and height of a picture in pixels that clients accept. */
const MAX_PICTURE_SIDE_PIXELS = 8000;
const MAX_DECODED_PIXELS = 100_000_000;
/** The maximum number of cells in `data`. The text has all. */
const MAX_DATA_CELLS = 1000;

/** Jupyter notebooks. */
export async function readNotebook(input: ReaderInput): Promise<Rendered> {
  const { source, limits, signal, encoding = "utf-8" } = input;
  const caps = {
    cells: MAX_CELLS,
    output: MAX_OUTPUT_BYTES,
    source: MAX_SOURCE_BYTES,
    image: Math.min(limits.imageBase64Bytes ?? MAX_IMAGE_BASE64, Math.ceil((limits.imageBytes * 4) / 3) + 4),
    images: Math.ceil((limits.imageBytes * 4) / 3) + 4,
  };
  const notebook = encoding === "utf-8" ? await parseNotebook(source, caps, signal) : null;
  return notebook === null
    ? readAsText(input, encoding)
    : renderNotebook(notebook, input, await damagedPictures(notebook));
}

async function readAsText({ source, limits }: ReaderInput, encoding: string): Promise<Rendered> {
  if (source.size > limits.wholeFileBytes) {
    throw tooLargeError(source.size, limits.wholeFileBytes, "force_text: true shows pages of it as text");
  }
  const { text } = engine().decodeText(await source.read(), encoding);
  return { text, firstLine: 1, warning: "This is no valid notebook: shown is its text." };
}

/** Returns the pictures that cannot be decoded, as base64. */
async function damagedPictures({ cells }: Notebook): Promise<ReadonlySet<string>> {
  const damaged = new Set<string>();
  for (const { mime, data } of cells.flatMap(({ outputs }) => outputs.flatMap(({ images }) => images))) {
    const bytes = decoded(data);
    if (bytes !== undefined && (await findImageDamage(bytes, mime)) !== undefined) damaged.add(data);
  }
  return damaged;
}

function decoded(base64: string): Uint8Array | undefined {
  try {
    return fromBase64(base64);
  } catch {
    return undefined;
  }
}

function renderNotebook(
  notebook: Notebook,
  { path, limits, options }: ReaderInput,
  damaged: ReadonlySet<string>,
): Rendered {
  const images: ImageBlock[] = [];
  let budget = Math.min(MAX_ALL_OUTPUTS_BYTES, limits.outputBytes);
  let imageBudget = limits.imageBytes;
  let left = 0;

  const picture = (mime: string, data: string): string => {
    const size = Math.floor((data.replace(/=+$/, "").length * 3) / 4);
    if (options.nonText === "error") return `[${mime}, ${size} bytes]`;
    if (data !== "" && damaged.has(data)) {
      left += 1;
      return `[${mime}, ${size} bytes: damaged, left out]`;
    }
    if (
      data === "" ||
      images.length === MAX_PICTURES ||
      size > imageBudget ||
      !isAcceptedPicture(data, limits)
    ) {
      left += 1;
      return `[${mime}, ${size} bytes: left out]`;
    }
    imageBudget -= size;
    images.push({
      type: "image",
      source: { type: "base64", media_type: mime, data },
      file_path: path,
      size_bytes: size,
    });
    return `[${mime}, ${size} bytes: image ${images.length}]`;
  };

  const outputText = (output: NotebookOutput): string => {
    const shown = plainestTextOf(output);
    const pictures = output.images.map(({ mime, data }) => picture(mime, data));
    const others = [...output.data.keys()].filter((mime) => mime !== shown?.mime && mime !== "text/plain");
    const parts = [...pictures];
    if (shown !== undefined && (pictures.length === 0 || shown.mime === "")) {
      const text = stripAnsi(shown.text.text).trimEnd();
      if (text.length > budget) {
        parts.push(`[output left out: ${text.length + shown.text.dropped} bytes]`);
        left += 1;
      } else {
        budget -= text.length;
        if (text !== "") parts.push(text);
        if (shown.text.dropped > 0) parts.push(`[output cut: ${shown.text.dropped} more bytes]`);
      }
    } else if (shown === undefined && others.length > 0 && pictures.length === 0) {
      parts.push(`[${others.map(escapeControls).join(", ")}]`);
    }
    return parts.join("\n");
  };

  const blocks = notebook.cells.map((cell, index) => {
    const head = [`cell ${index + 1}`, ...(cell.id === "" ? [] : [`id=${escapeControls(cell.id)}`])];
    head.push(escapeControls(cell.type) || "unknown");
    if (cell.count !== "") head.push(`[${cell.count}]`);
    const lines = [`--- ${head.join(" ")} ---`];
    if (cell.source.text !== "") lines.push(cell.source.text.replace(/\n$/, ""));
    if (cell.source.dropped > 0) lines.push(`[source cut: ${cell.source.dropped} more bytes]`);
    for (const output of cell.outputs) {
      const text = outputText(output);
      if (text !== "") lines.push(`--- output${outputLabel(output)} ---`, text);
    }
    if (cell.moreOutputs > 0) lines.push(`[${cell.moreOutputs} more outputs]`);
    return lines.join("\n");
  });

  const count = notebook.cells.length + notebook.moreCells;
  const about = [notebook.kernel || notebook.language].filter((word) => word !== "").map(escapeControls);
  const summary = `[notebook: ${[plural(count, "cell"), ...about].join(", ")}]`;
  const more = notebook.moreCells > 0 ? [`[${notebook.moreCells} more cells]`] : [];
  return withoutUndefined({
    text: [summary, ...blocks, ...more].join("\n"),
    content: images.length === 0 ? undefined : images,
    data: {
      format: "notebook",
      cell_count: count,
      kernel: notebook.kernel || null,
      language: notebook.language || null,
      cells: notebook.cells.slice(0, MAX_DATA_CELLS).map(cellFacts),
    },
    warning:
      left === 0
        ? undefined
        : `${left} outputs are left out; json_pointer shows one, as in "/cells/0/outputs/0".`,
  });
}

function cellFacts(cell: NotebookCell): object {
  return { id: cell.id || null, type: cell.type, outputs: cell.outputs.length + cell.moreOutputs };
}

/** Returns the text of an output in the plainest of its forms. */
function plainestTextOf({
  text,
  data,
}: NotebookOutput): { readonly mime: string; readonly text: CappedText } | undefined {
  if (text.text !== "") return { mime: "", text };
  for (const mime of ["text/markdown", "text/plain", "application/json", "text/latex", "text/html"]) {
    const found = data.get(mime);
    if (found !== undefined) return { mime, text: found };
  }
  return undefined;
}

function outputLabel({ type, name }: NotebookOutput): string {
  if (type === "error") return ` error ${escapeControls(name)}`.trimEnd();
  return name === "" || name === "stdout" ? "" : ` ${escapeControls(name)}`;
}

/** Returns true when the picture can be read and is not larger than clients accept. */
function isAcceptedPicture(data: string, { imagePixels = MAX_PICTURE_SIDE_PIXELS }: ReaderLimits): boolean {
  const head = decoded(data.slice(0, 4096));
  if (head === undefined) return false;
  const { kind, width, height } = engine().inspect(head, { partial: true });
  const [across, down] = [width ?? 0, height ?? 0];
  return kind === "image" && across * down <= MAX_DECODED_PIXELS && Math.max(across, down) <= imagePixels;
}

/** Removes the escape sequences for terminal colours. */
function stripAnsi(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what an escape sequence begins with
  return text.replaceAll(/\x1b\[[0-9;?]*[A-Za-z]/g, "");
}
