/** Locates a value in the text of a structured file, so that it can be read or edited alone. */
import { lazily } from "../../engine/lazy.ts";
import { type Located, locateWholeText, parsePointer } from "./pointer.ts";

const csv = lazily("values of CSV", () => import("./csv.ts"));
const json = lazily("values of JSON", () => import("./json.ts"));
const toml = lazily("values of TOML", () => import("./toml.ts"));
const xml = lazily("values of XML", () => import("./xml.ts"));
const yaml = lazily("values of YAML", () => import("./yaml.ts"));

/** The formats in which pointers can be used. `json` includes JSON with comments and trailing commas. */
export type StructuredFormat = "json" | "jsonl" | "yaml" | "toml" | "xml" | "csv" | "tsv";

const FORMAT_BY_MIME_TYPE: Readonly<Record<string, StructuredFormat>> = {
  "application/json": "json",
  "application/geo+json": "json",
  "application/x-ipynb+json": "json",
  "application/json5": "json",
  "application/jsonl": "jsonl",
  "application/yaml": "yaml",
  "application/toml": "toml",
  "application/xml": "xml",
  "text/csv": "csv",
  "text/tab-separated-values": "tsv",
};

const FORMAT_BY_MIME_SUFFIX: Readonly<Record<string, StructuredFormat>> = {
  json: "json",
  yaml: "yaml",
  xml: "xml",
};

/** Returns the format of a MIME type; undefined when pointers cannot be used in it. */
export function formatOf(mime: string): StructuredFormat | undefined {
  return FORMAT_BY_MIME_TYPE[mime] ?? FORMAT_BY_MIME_SUFFIX[/\+(json|yaml|xml)$/.exec(mime)?.[1] ?? ""];
}

/** The size of a file in bytes from which its parsing takes longer than some milliseconds. */
const MIN_LONG_BYTES = 128 * 1024;
/** The same for YAML, which the package `yaml` parses 10 to 30 times as slowly. */
const MIN_LONG_YAML_BYTES = 8 * 1024;

/** Returns true when the parsing of a file takes so long that it is done on another thread where there is one. */
export function isLongToParse(size: number, format: StructuredFormat): boolean {
  return size >= (format === "yaml" ? MIN_LONG_YAML_BYTES : MIN_LONG_BYTES);
}

/**
 * Returns the location of the value that a JSON pointer (RFC 6901) names. Offsets are UTF-16 units
 * of `text`. YAML needs the optional package `yaml`.
 *
 * @example
 * const { start, end } = await locatePointer(text, "/scripts/test", "json");
 * text.slice(start, end); // the value as it is written there
 *
 * @throws FilewrightError INVALID_ARGUMENT when the pointer is malformed or has no target,
 * UNSUPPORTED_FORMAT when the text is invalid in the format or the package is missing
 */
export async function locatePointer(
  text: string,
  pointer: string,
  format: StructuredFormat,
): Promise<Located> {
  const tokens = parsePointer(pointer);
  switch (format) {
    case "json":
      return (await json()).locateJson(text, tokens);
    case "jsonl":
      return (await json()).locateJson(text, tokens, { lines: true, mime: "application/jsonl" });
    case "yaml":
      return (await yaml()).locateYaml(text, tokens);
    case "toml":
      return tokens.length === 0
        ? locateWholeText(text, 0, "object")
        : (await toml()).locateToml(text, tokens);
    case "xml":
      return tokens.length === 0 ? locateWholeText(text) : (await xml()).locateXml(text, tokens);
    default: {
      const mime = format === "tsv" ? "text/tab-separated-values" : "text/csv";
      return tokens.length === 0 ? locateWholeText(text) : (await csv()).locateCsv(text, tokens, mime);
    }
  }
}
