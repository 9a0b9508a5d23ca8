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

/**
 * Starts a search. With `lines` the document is JSON Lines, and the first token is the index of a value in
 * it.
 */
export function searchJson(
  tokens: readonly string[],
  options: { readonly lines?: boolean; readonly mime?: string } = {},
): JsonSearch {
  const lines = options.lines === true;
  const frames: OpenContainer[] = [];
  const warnings: string[] = [];
  /** The number of open containers. JSON Lines count as an array around all values. */
  let depth = 0;
  let found: FoundValue | undefined;
  /** The depth of the container that is the value to find, while it is scanned; otherwise -1. */
  let measuring = -1;
  let dead: DeadEnd = { depth: 0, type: "document" };
  let problem: ScanError | undefined;

  const enter = (kind: "object" | "array"): void => {
    const token = tokens[frames.length] ?? "";
    frames.push({
      kind,
      token,
      index: arrayIndexOf(token),
      children: 0,
      keys: [],
      key: null,
      keyLine: 0,
      takenLine: 0,
    });
  };

  /**
   * Called for every value. Returns whether it is the value to find (`target`), leads to it (`way`) or
   * neither (`aside`).
   */
  const value = (): "aside" | "way" | "target" => {
    if (measuring >= 0) {
      if (depth === measuring && found !== undefined) found.children = (found.children ?? 0) + 1;
      return "aside";
    }
    if (depth !== frames.length) return "aside";
    const frame = frames.at(-1);
    if (frame !== undefined) {
      const index = frame.children++;
      const here = frame.kind === "array" ? index === frame.index : frame.key === frame.token;
      if (!here) return "aside";
      if (frame.kind === "object") {
        if (frame.takenLine > 0) twice(frame);
        frame.takenLine = frame.keyLine;
      }
      found = undefined;
      dead = { depth: frames.length, type: "nothing" };
    }
    return frames.length === tokens.length ? "target" : "way";
  };

  const twice = (frame: OpenContainer): void => {
    const at = truncateForMessage(pointerOf(tokens.slice(0, frames.length)));
    if (warnings.length < 5) {
      warnings.push(
        `'${at}' is there twice, on lines ${frame.takenLine} and ${frame.keyLine}; the last counts.`,
      );
    }
  };

  const scalar = (type: string, from: number, to: number, line: number): void => {
    const what = value();
    if (what === "way") dead = { depth: frames.length, type };
    if (what === "target") {
      found = { start: from, end: to, startLine: line, endLine: line, type, children: undefined };
    }
  };

  const listener: ScanListener = {
    begin(kind, at, line) {
      const what = value();
      if (what === "target") {
        found = { start: at, end: -1, startLine: line, endLine: line, type: kind, children: 0 };
        measuring = depth + 1;
      }
      depth += 1;
      if (what === "way") enter(kind);
      watch();
    },
    end(at, line) {
      close(at, line);
      watch();
    },
    key(raw, _at, line) {
      const frame = frames.at(-1);
      if (frame === undefined || measuring >= 0 || depth !== frames.length) return;
      frame.key = raw === null ? null : unescapeJson(raw);
      frame.keyLine = line;
      if (frame.key !== null && frame.keys.length < MAX_LISTED_KEYS) frame.keys.push(frame.key);
    },
    string: (_raw, from, to, line) => scalar("string", from, to, line),
    literal: (text, from, to, line) =>
      scalar(text === "null" ? "null" : /^[tf]/.test(text) ? "boolean" : "number", from, to, line),
  };

  const close = (at: number, line: number): void => {
    depth -= 1;
    if (measuring < 0) {
      if (frames.length === depth + 1) leave();
    } else if (depth + 1 === measuring && found !== undefined) {
      measuring = -1;
      found.end = at;
      found.endLine = line;
    }
  };

  /** Sets the scanner to keep only keys that can match a token. */
  const watch = (): void => {
    const wanted = measuring < 0 && depth === frames.length && frames.at(-1)?.kind === "object";
    scan.keep = wanted ? keyLength : 0;
  };

  const leave = (): void => {
    const frame = frames.pop();
    if (frame === undefined || found !== undefined || dead.depth > frames.length) return;
    const { kind, keys, children } = frame;
    dead = { depth: frames.length, type: kind, children, ...(kind === "object" ? { keys } : {}) };
  };

  const scan: JsonScan = scanJson(listener, { lines });
  // The length in units above which a key cannot match, because one character may be written as six.
  const keyLength = Math.max(128, 6 * Math.max(0, ...tokens.map((token) => token.length)));
  if (lines && tokens.length > 0) {
    depth = 1;
    enter("array");
  }

  const search: JsonSearch = {
    get settled() {
      return (
        problem !== undefined ||
        (found !== undefined && found.end >= 0 && frames.every((f) => f.kind === "array"))
      );
    },
    push(units) {
      if (problem !== undefined) return;
      try {
        scan.push(units);
      } catch (error) {
        if (!(error instanceof ScanError)) throw error;
        problem = error;
      }
    },
    finish() {
      if (!search.settled) {
        try {
          scan.finish();
        } catch (error) {
          if (!(error instanceof ScanError)) throw error;
          problem = error;
        }
      }
      const complete = found !== undefined && found.end >= 0 ? found : undefined;
      if (complete === undefined) {
        if (problem !== undefined) {
          throw syntaxError(options.mime ?? "application/json", problem.message, problem.line, problem);
        }
        while (frames.length > 0) leave(); // The virtual array of JSON Lines.
        throw nothingAtPointerError(tokens, dead);
      }
      if (problem !== undefined) {
        warnings.push(`The file is broken after this value, at line ${problem.line}: ${problem.message}.`);
      }
      return { ...complete, warnings };
    },
  };
  return search;
}

const UNITS_PER_BLOCK = 32 * 1024;

/** Returns the location of the value that a pointer names in a text. Offsets are UTF-16 units. */
export function locateJson(
  text: string,
  tokens: readonly string[],
  options: { readonly lines?: boolean; readonly mime?: string } = {},
): Located {
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

/** Returns the location of the whole text, which the empty pointer names. */
export function locateWholeText(text: string, start = 0, type = "document"): Located {
  let lines = 1;
  for (let at = text.indexOf("\n"); at >= 0 && at < text.length - 1; at = text.indexOf("\n", at + 1))
    lines += 1;
  return { start, end: text.length, startLine: 1, endLine: lines, type, warnings: [] };
}
