/**
 * Reads one value of a structured file as it is written there, with its lines. JSON of any size is searched
 * in chunks, and only the value is kept.
 */
import { withoutUndefined } from "../../schema/without-undefined.ts";
import { runOnThread } from "../../engine/workers/file-calls.ts";
import type { ReaderInput, Rendered } from "../reader.ts";
import { invalidArgumentError, tooLargeError } from "../refuse.ts";
import { chunksOf, readAll } from "../source.ts";
import { searchJson } from "./json.ts";
import { formatOf, isLongToParse, type StructuredFormat } from "./locate.ts";
import { type Located, parsePointer } from "./pointer.ts";
import { valueText } from "./value.ts";

/** Returns the value that `options.jsonPointer` names. @throws INVALID_ARGUMENT, UNSUPPORTED_FORMAT, TOO_LARGE */
export async function readValue(input: ReaderInput): Promise<Rendered> {
  const { source, mime, limits, options, signal } = input;
  const pointer = options.jsonPointer ?? "";
  const format = formatOf(mime) ?? (await formatOfText(input));
  if (format === undefined) {
    throw invalidArgumentError(
      "json_pointer",
      `The argument json_pointer reaches into JSON, YAML, TOML, XML and CSV; this file is ${mime}.`,
      { mime },
    );
  }
  const encoding = input.encoding ?? "utf-8";
  const whole = format === "jsonl" && parsePointer(pointer).length === 0;
  if ((format === "json" || format === "jsonl") && encoding === "utf-8" && !whole)
    return searchJsonInChunks(input, pointer, format);
  const bytes = await readAll(source, limits.wholeFileBytes, "read it in pages, or make a JSON of it");
  const args: Parameters<typeof valueText> = [bytes, encoding, pointer, format];
  const { text, found } = isLongToParse(bytes.length, format)
    ? await runOnThread({ file: "readers/structured/value.js", args, inPlace: valueText, signal })
    : await valueText(...args);
  return renderValue(text, found, pointer, format, {});
}

/**
 * Returns `json` for a file of no known type, such as a lock file, that begins like JSON; otherwise
 * undefined.
 */
async function formatOfText({ source, mime }: ReaderInput): Promise<StructuredFormat | undefined> {
  if (mime !== "text/plain" && mime !== "application/octet-stream") return undefined;
  const head = new TextDecoder().decode(await source.read(0, Math.min(source.size, 1024)));
  return /^\s*[[{]/.test(head) ? "json" : undefined;
}

async function searchJsonInChunks(
  { source, mime, limits, signal }: ReaderInput,
  pointer: string,
  format: "json" | "jsonl",
): Promise<Rendered> {
  const tokens = parsePointer(pointer);
  const head = await source.read(0, Math.min(source.size, 3));
  const skip = head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf ? 3 : 0;
  const search = searchJson(tokens, { lines: format === "jsonl", mime });
  for await (const chunk of chunksOf(source, signal, skip)) {
    search.push(chunk);
    if (search.settled) break;
  }
  const found = search.finish();
  const [start, end] = [found.start + skip, found.end + skip];
  const size = end - start;
  if (size > limits.wholeFileBytes) {
    throw tooLargeError(size, limits.wholeFileBytes, "point at something inside this value");
  }
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(await source.read(start, end));
  return renderValue(text, found, pointer, format, { start_byte: start, end_byte: end });
}

function renderValue(text: string, found: Located, pointer: string, format: string, bytes: object): Rendered {
  const { startLine, endLine, type, children, warnings } = found;
  return {
    text,
    firstLine: startLine,
    data: withoutUndefined({
      ...{ json_pointer: pointer, format, type, children },
      ...{ start_line: startLine, end_line: endLine },
      ...bytes,
    }),
    warning: warnings.length === 0 ? undefined : warnings.join(" "),
  };
}
