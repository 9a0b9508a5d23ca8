/**
 * Locates the value that a pointer names in JSON, JSON with comments, or JSON Lines. The rest of the document
 * is not kept in memory.
 *
 * If an object has a key twice, the last one counts, as in parsers, and a warning names both lines. Therefore
 * the objects on the path of the pointer are scanned to their end.
 */
import {
  truncateForMessage,
  type DeadEnd,
  arrayIndexOf,
  MAX_LISTED_KEYS,
  type Located,
  nothingAtPointerError,
  syntaxError,
  locateWholeText,
  pointerOf,
} from "./pointer.ts";
import { type ScanListener, type JsonScan, ScanError, scanJson, unescapeJson } from "./scan.ts";

/** A search for a value. The caller passes the document in chunks. */
export interface JsonSearch {
  /** Processes the next chunk. */
  push(units: Uint8Array | Uint16Array): void;
  /** True when the rest of the document cannot change the result. */
  readonly settled: boolean;
  /**
   * Returns the location of the value. @throws INVALID_ARGUMENT when the pointer names no value,
   * UNSUPPORTED_FORMAT when the document is not valid JSON
   */
  finish(): Located;
}

/** An object or array on the path of the pointer. */
interface OpenContainer {
  readonly kind: "object" | "array";
  /** The pointer's token in this container, and its value as an array index. */
  readonly token: string;
  readonly index: number;
  /** The number of children that were scanned so far. */
  children: number;
  keys: string[];
  key: string | null;
  keyLine: number;
  /** The line of the key that the pointer follows. */
  takenLine: number;
}

interface FoundValue {
  start: number;
  end: number;
  startLine: number;
  endLine: number;
  type: string;
  children: number | undefined;
}

/** The document that is searched. With `lines` it is JSON Lines: the first token is the index of a value in it. */
interface Document {
  readonly lines?: boolean;
  readonly mime?: string;
}

/** Starts a search. */
export function searchJson(tokens: readonly string[], options: Document = {}): JsonSearch {
  return new Search(tokens, options);
}

class Search implements JsonSearch, ScanListener {
  readonly #tokens: readonly string[];
  readonly #mime: string;
  readonly #scan: JsonScan;
  /** The length in units above which a key cannot match, because one character may be written as six. */
  readonly #keyLength: number;
  readonly #frames: OpenContainer[] = [];
  readonly #warnings: string[] = [];
  /** The number of open containers. JSON Lines count as an array around all values. */
  #depth = 0;
  #found: FoundValue | undefined;
  /** The depth of the container that is the value to find, while it is scanned; otherwise -1. */
  #measuring = -1;
  #dead: DeadEnd = { depth: 0, type: "document" };
  #problem: ScanError | undefined;

  constructor(tokens: readonly string[], { lines = false, mime = "application/json" }: Document) {
    this.#tokens = tokens;
    this.#mime = mime;
    this.#keyLength = Math.max(128, 6 * Math.max(0, ...tokens.map((token) => token.length)));
    this.#scan = scanJson(this, { lines });
    if (!lines || tokens.length === 0) return;
    this.#depth = 1;
    this.#enter("array");
  }

  get settled(): boolean {
    if (this.#problem !== undefined) return true;
    return this.#complete !== undefined && this.#frames.every(({ kind }) => kind === "array");
  }

  push(units: Uint8Array | Uint16Array): void {
    if (this.#problem === undefined) this.#noting(() => this.#scan.push(units));
  }

  finish(): Located {
    if (!this.settled) this.#noting(() => this.#scan.finish());
    const [complete, problem] = [this.#complete, this.#problem];
    if (complete === undefined) {
      if (problem !== undefined) throw syntaxError(this.#mime, problem.message, problem.line, problem);
      while (this.#frames.length > 0) this.#leave(); // The virtual array of JSON Lines.
      throw nothingAtPointerError(this.#tokens, this.#dead);
    }
    const broken =
      problem && `The file is broken after this value, at line ${problem.line}: ${problem.message}.`;
    return { ...complete, warnings: broken === undefined ? this.#warnings : [...this.#warnings, broken] };
  }

  begin(kind: "object" | "array", at: number, line: number): void {
    const what = this.#value();
    if (what === "target") {
      this.#found = { start: at, end: -1, startLine: line, endLine: line, type: kind, children: 0 };
      this.#measuring = this.#depth + 1;
    }
    this.#depth += 1;
    if (what === "way") this.#enter(kind);
    this.#watch();
  }

  end(at: number, line: number): void {
    this.#depth -= 1;
    if (this.#measuring < 0) {
      if (this.#frames.length === this.#depth + 1) this.#leave();
    } else if (this.#depth + 1 === this.#measuring && this.#found !== undefined) {
      this.#measuring = -1;
      this.#found.end = at;
      this.#found.endLine = line;
    }
    this.#watch();
  }

  key(raw: string | null, _at: number, line: number): void {
    const frame = this.#frames.at(-1);
    if (frame === undefined || this.#measuring >= 0 || this.#depth !== this.#frames.length) return;
    frame.key = raw === null ? null : unescapeJson(raw);
    frame.keyLine = line;
    if (frame.key !== null && frame.keys.length < MAX_LISTED_KEYS) frame.keys.push(frame.key);
  }

  string(_raw: string | null, from: number, to: number, line: number): void {
    this.#scalar("string", from, to, line);
  }

  literal(text: string, from: number, to: number, line: number): void {
    const type = text === "null" ? "null" : /^[tf]/.test(text) ? "boolean" : "number";
    this.#scalar(type, from, to, line);
  }

  /** The value that was found, once its end is known. */
  get #complete(): FoundValue | undefined {
    return this.#found !== undefined && this.#found.end >= 0 ? this.#found : undefined;
  }

  #noting(scan: () => void): void {
    try {
      scan();
    } catch (error) {
      if (!(error instanceof ScanError)) throw error;
      this.#problem = error;
    }
  }

  /**
   * Called for every value. Returns whether it is the value to find (`target`), leads to it (`way`) or
   * neither (`aside`).
   */
  #value(): "aside" | "way" | "target" {
    const frames = this.#frames;
    if (this.#measuring >= 0) {
      const found = this.#found;
      if (this.#depth === this.#measuring && found !== undefined) found.children = (found.children ?? 0) + 1;
      return "aside";
    }
    if (this.#depth !== frames.length) return "aside";
    const frame = frames.at(-1);
    if (frame !== undefined) {
      if (!isOnTheWay(frame)) return "aside";
      if (frame.kind === "object") this.#take(frame);
      this.#found = undefined;
      this.#dead = { depth: frames.length, type: "nothing" };
    }
    return frames.length === this.#tokens.length ? "target" : "way";
  }

  /** Notes that the pointer follows the current key of an object, which may have it twice. */
  #take(frame: OpenContainer): void {
    if (frame.takenLine > 0 && this.#warnings.length < 5) {
      const at = truncateForMessage(pointerOf(this.#tokens.slice(0, this.#frames.length)));
      const lines = `lines ${frame.takenLine} and ${frame.keyLine}`;
      this.#warnings.push(`'${at}' is there twice, on ${lines}; the last counts.`);
    }
    frame.takenLine = frame.keyLine;
  }

  #scalar(type: string, start: number, end: number, line: number): void {
    const what = this.#value();
    if (what === "way") this.#dead = { depth: this.#frames.length, type };
    if (what === "target")
      this.#found = { start, end, startLine: line, endLine: line, type, children: undefined };
  }

  #enter(kind: "object" | "array"): void {
    const token = this.#tokens[this.#frames.length] ?? "";
    const unseen = { children: 0, keys: [], key: null, keyLine: 0, takenLine: 0 };
    this.#frames.push({ kind, token, index: arrayIndexOf(token), ...unseen });
  }

  #leave(): void {
    const frame = this.#frames.pop();
    const depth = this.#frames.length;
    if (frame === undefined || this.#found !== undefined || this.#dead.depth > depth) return;
    const { kind, keys, children } = frame;
    this.#dead = { depth, type: kind, children, keys: kind === "object" ? keys : undefined };
  }

  /** Sets the scanner to keep only keys that can match a token. */
  #watch(): void {
    const isOpen = this.#measuring < 0 && this.#depth === this.#frames.length;
    this.#scan.keep = isOpen && this.#frames.at(-1)?.kind === "object" ? this.#keyLength : 0;
  }
}

/** Counts a child of a container, and returns whether the pointer leads into it. */
function isOnTheWay(frame: OpenContainer): boolean {
  const index = frame.children++;
  return frame.kind === "array" ? index === frame.index : frame.key === frame.token;
}

const UNITS_PER_BLOCK = 32 * 1024;

/** Returns the location of the value that a pointer names in a text. Offsets are UTF-16 units. */
export function locateJson(text: string, tokens: readonly string[], options: Document = {}): Located {
  // A byte order mark does not belong to the JSON.
  const skip = text.startsWith("\ufeff") ? 1 : 0;
  if (tokens.length === 0 && options.lines === true) return locateWholeText(text, skip);
  const search = searchJson(tokens, options);
  const block = new Uint16Array(Math.min(UNITS_PER_BLOCK, text.length));
  for (let from = skip; from < text.length && !search.settled; from += UNITS_PER_BLOCK) {
    const size = Math.min(UNITS_PER_BLOCK, text.length - from);
    for (let at = 0; at < size; at++) block[at] = text.charCodeAt(from + at);
    search.push(size === block.length ? block : block.subarray(0, size));
  }
  const found = search.finish();
  return { ...found, start: found.start + skip, end: found.end + skip };
}
