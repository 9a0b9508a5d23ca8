/** The definitions of a file for tools: read once, and found by the name that a caller gives. */
import type { Location } from "../../policy/index.ts";
import { engine } from "../../engine/current.ts";
import { escapeControls, plural } from "../../engine/escape.ts";
import { FilewrightError, fromEngine } from "../../engine/errors.ts";
import type { OutlineEntry } from "../../engine/read.ts";
import { nearest } from "../../schema/nearest.ts";
import { isTextKind, readWholeFile } from "./contents.ts";
import { ANCHOR_LENGTH } from "./seen.ts";
import { encodeUtf8 } from "./text.ts";
import { type Call, locationError } from "./tool.ts";

/** A text with its definitions. */
export interface DefinedText {
  /** The text in UTF-8. */
  readonly text: Uint8Array;
  /** False when the language of the file is not known. */
  readonly known: boolean;
  /** The definitions by their first line, an outer one before those inside. */
  readonly definitions: readonly OutlineEntry[];
}

/** The text of a file with its definitions, and its version. */
export interface DefinedFile extends DefinedText {
  readonly bytes: Uint8Array;
  readonly version: string;
}

/** The most candidates that an error lists. */
const MAX_CANDIDATES = 10;

/**
 * Reads a file and finds its definitions. @throws BINARY_FILE when it is no text, TOO_LARGE when it is larger than
 * searches read
 */
export async function readDefinitions(call: Call, at: Location): Promise<DefinedFile> {
  const { bytes, version } = await readWholeFile(call, at, call.settings.limits.grepFileBytes);
  const { kind, mime, encoding } = await engine().reading.inspect(bytes, {
    name: at.path,
    signal: call.signal,
  });
  if (!isTextKind(kind))
    throw locationError("BINARY_FILE", at, { details: { kind, mime, size: bytes.length } });
  return { bytes, version, ...(await definitionsIn(bytes, encoding ?? "utf-8", at.path, call.signal)) };
}

/**
 * Reads the definitions of a file that a search has found; `unread` for one that cannot be read, undefined for one without a
 * text of a known language. @throws CANCELLED, INTERNAL
 */
export async function definitionsFound(
  call: Call,
  at: Location,
): Promise<DefinedFile | "unread" | undefined> {
  if (!engine().reading.isOutlined(at.path)) return undefined;
  try {
    return await readDefinitions(call, at);
  } catch (thrown) {
    const error = fromEngine(thrown);
    if (error.code === "CANCELLED" || error.code === "INTERNAL") throw error;
    // A file with the name of a text that is none has no definitions.
    return error.code === "BINARY_FILE" ? undefined : "unread";
  }
}

/** Finds the definitions of a content in an encoding. */
export async function definitionsIn(
  bytes: Uint8Array,
  encoding: string,
  name: string,
  signal: AbortSignal | undefined,
): Promise<DefinedText> {
  const { reading } = engine();
  const text =
    encoding === "utf-8" ? bytes : encodeUtf8((await reading.decodeText(bytes, encoding, { signal })).text);
  return { text, ...(await reading.outline(text, name, { signal })) };
}

/** Returns a function that gives the anchor of a line of a text in UTF-8, without the character of its content. */
export function anchorAt(text: Uint8Array): (line: number) => string {
  const anchors = engine().lineAnchors(new TextDecoder().decode(text));
  return (line) => `${line}#${anchors.slice((line - 1) * ANCHOR_LENGTH, line * ANCHOR_LENGTH)}`;
}

/**
 * Returns the one definition that a caller means by its name, or by the name of what is around it and a dot before that:
 * `Class.method`. `shown` is the path in errors.
 *
 * @throws MATCH_NOT_FOUND with the nearest names; MATCH_NOT_UNIQUE with the lines of the definitions that have the name
 */
export function definitionOf(
  symbol: string,
  { definitions, known }: DefinedText,
  shown: string,
): OutlineEntry {
  const path = escapeControls(shown);
  const name = escapeControls(symbol);
  if (!known)
    throw refusal(
      "UNSUPPORTED_FORMAT",
      `The definitions of ${path} cannot be told: its language is not known.`,
    );
  const fits = definitionsNamed(symbol, definitions);
  // The members of a type are elsewhere for a reader: its own definition is meant.
  const own = fits.filter(({ kind }) => kind !== "impl");
  const found = own.length === 0 ? fits : own;
  // A name alone means the one definition of the file itself that has it, since nothing around it can be named.
  const outermost = found.filter((one) => one.parent < 0 && one.name === symbol);
  const [only] = outermost.length === 1 ? outermost : found;
  if (only !== undefined && (found.length === 1 || outermost.length === 1)) return only;
  if (found.length > 1) {
    const names = new DefinitionNames(definitions);
    const candidates = found.slice(0, MAX_CANDIDATES).map((one) => candidateOf(one, names.of(one)));
    const lines = candidates
      .map((one) => `\n${one.start_line}-${one.end_line}  ${escapeControls(one.name)}`)
      .join("");
    throw refusal(
      "MATCH_NOT_UNIQUE",
      `${path} has ${plural(found.length, "definition")} named ${name}; name what is around it too, or its lines:${lines}`,
      { candidates },
    );
  }
  const last = partsOfName(symbol).at(-1) ?? symbol;
  const near = nearest(last, [...new Set(definitions.map((one) => one.name))]);
  const like =
    near === undefined ? "outline lists its definitions" : `the nearest is ${escapeControls(near)}`;
  throw refusal(
    "MATCH_NOT_FOUND",
    `${path} defines no ${name}; ${like}.`,
    near === undefined ? {} : { nearest: near },
  );
}

function refusal(
  code: "MATCH_NOT_FOUND" | "MATCH_NOT_UNIQUE" | "UNSUPPORTED_FORMAT",
  message: string,
  details: Readonly<Record<string, unknown>> = {},
): FilewrightError {
  return new FilewrightError(code, message, { complete: true, details });
}

function candidateOf(one: OutlineEntry, name: string): SymbolCandidate {
  return { name, kind: one.kind, start_line: one.startLine, end_line: one.endLine };
}

/** A definition that has the name of a call. */
interface SymbolCandidate {
  readonly name: string;
  readonly kind: string;
  readonly start_line: number;
  readonly end_line: number;
}

/** Returns the definitions that have a name, or its last part where those around them have the others. */
export function definitionsNamed(
  name: string,
  definitions: readonly OutlineEntry[],
): readonly OutlineEntry[] {
  const parts = partsOfName(name);
  return definitions.filter((one) => one.name === name || endsIn(one, definitions, parts));
}

/** Returns the parts of a name that a caller gives: `Class.method`, `Class::method`, `Class#method` or `Class/method`. */
export function partsOfName(name: string): readonly string[] {
  return name.split(/::|[.#/]/u).filter((part) => part !== "");
}

/** The UTF-16 units after which the name of a definition with those around it is cut at its beginning. */
const MAX_NAME_CHARS = 200;

/** The names of the definitions of a file, each with the names of what is around it: `Class.method`. */
export class DefinitionNames {
  readonly #definitions: readonly OutlineEntry[];
  /** A name is made once: of deep definitions with long names each would have all those around it. */
  readonly #known = new Map<OutlineEntry, string>();

  constructor(definitions: readonly OutlineEntry[]) {
    this.#definitions = definitions;
  }

  /** Returns the name of a definition, the last {@link MAX_NAME_CHARS} units of it after an ellipsis where it is longer. */
  of(one: OutlineEntry): string {
    const known = this.#known.get(one);
    if (known !== undefined) return known;
    let name = one.name;
    let at = this.#definitions[one.parent];
    for (; at !== undefined && name.length <= MAX_NAME_CHARS; at = this.#definitions[at.parent])
      name = `${at.name}.${name}`;
    const end = name.length <= MAX_NAME_CHARS ? name : `…${name.slice(-MAX_NAME_CHARS)}`;
    const made = end.toWellFormed();
    this.#known.set(one, made);
    return made;
  }
}

/** Returns whether a definition has the last of some names, and those around it the others. */
function endsIn(one: OutlineEntry, definitions: readonly OutlineEntry[], parts: readonly string[]): boolean {
  let at: OutlineEntry | undefined = one;
  for (const part of parts.toReversed()) {
    if (at?.name !== part) return false;
    at = definitions[at.parent];
  }
  return parts.length > 0;
}
