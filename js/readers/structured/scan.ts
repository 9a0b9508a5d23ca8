/**
 * Scans JSON in chunks and reports the position of every value. No value is created.
 *
 * It takes UTF-8 bytes or UTF-16 units, in chunks of any size, and keeps only as much text as its listener
 * requests, so memory does not grow with the document. Comments and trailing commas are accepted. Other
 * invalid JSON is an error with its position. Numbers are reported as text, so `1e400` and integers of fifty
 * digits are accepted.
 */

/** Receives what a scan finds. Offsets are in units from the beginning of the input. */
export interface ScanListener {
  /** An object or array begins; `end` follows. */
  begin(kind: "object" | "array", at: number, line: number): void;
  /** The innermost object or array has ended; `at` is the offset after its bracket. */
  end(at: number, line: number): void;
  /**
   * A key of the innermost object, as it is written between its quotes; null when it is longer than `keep`
   * units.
   */
  key(raw: string | null, at: number, line: number): void;
  /** A string, as it is written between its quotes: the first `keep` of its `length` units. */
  string(raw: string, from: number, to: number, line: number, length: number): void;
  /** A number, `true`, `false` or `null`, as it is written. */
  literal(text: string, from: number, to: number, line: number): void;
}

/** The error for invalid JSON, with its position. */
export class ScanError extends Error {
  readonly at: number;
  readonly line: number;

  constructor(message: string, at: number, line: number) {
    super(message);
    this.at = at;
    this.line = line;
  }
}

/** A scan in progress. */
export interface JsonScan {
  /** The number of units of a string that are kept. The listener may change it at any call. */
  keep: number;
  /** Processes the next chunk. @throws ScanError */
  push(units: Uint8Array | Uint16Array): void;
  /** Ends the input. @throws ScanError when it is incomplete */
  finish(): void;
}

/** The maximum depth of nested containers. A deeper document is an error. */
const MAX_JSON_DEPTH = 100_000;
/** The maximum length in units of a number or word. A longer one is an error. */
const MAX_LITERAL_LENGTH = 100_000;
const VALID_LITERAL = /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)$/;

/** Which tokens may come next. A number, because it is compared for every token. */
type ScanState = 0 | 1 | 2 | 3 | 4 | 5;
const EXPECT_VALUE = 0;
const EXPECT_VALUE_OR_END = 1;
const EXPECT_KEY_OR_END = 2;
const EXPECT_COLON = 3;
const EXPECT_COMMA_OR_END = 4;
const EXPECT_NOTHING = 5;

/** In which kind of token the scanner is at the current unit. */
type TokenState = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7;
const BETWEEN_TOKENS = 0;
const IN_STRING = 1;
const IN_ESCAPE = 2;
const IN_LITERAL = 3;
const AFTER_SLASH = 4;
const IN_LINE_COMMENT = 5;
const IN_BLOCK_COMMENT = 6;
const AFTER_STAR_IN_COMMENT = 7;

const QUOTE_UNIT = 0x22;
const BACKSLASH_UNIT = 0x5c;
const LF = 0x0a;

/** Starts a scan. With `lines` the input is a sequence of values, as in JSON Lines. */
export function scanJson(listener: ScanListener, options: { readonly lines?: boolean } = {}): JsonScan {
  const many = options.lines === true;
  const kinds: ("object" | "array")[] = [];
  let place: ScanState = EXPECT_VALUE;
  let inside: TokenState = BETWEEN_TOKENS;
  let asKey = false;
  /** The number of units in all earlier chunks. */
  let base = 0;
  let line = 1;
  /** The offset at which the current string or literal begins. */
  let from = 0;
  let fromLine = 1;
  let kept = "";
  let length = 0;
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  /** True when the last chunk ended within a character of several bytes. */
  let waiting = false;

  const fail = (message: string, at: number): never => {
    throw new ScanError(message, at, line);
  };

  const afterValue = (): void => {
    place = kinds.length > 0 ? EXPECT_COMMA_OR_END : many ? EXPECT_VALUE : EXPECT_NOTHING;
  };

  const keep = (units: Uint8Array | Uint16Array, start: number, end: number, last: boolean): void => {
    const room = Math.max(0, scan.keep - length);
    length += end - start;
    if (room > 0 || waiting)
      kept += textOf(units, start, Math.min(end, start + room), last && length <= scan.keep);
  };

  const textOf = (units: Uint8Array | Uint16Array, start: number, end: number, last: boolean): string => {
    if (units instanceof Uint16Array) {
      let text = "";
      for (let at = start; at < end; at += 8192) {
        text += String.fromCharCode(...units.subarray(at, Math.min(end, at + 8192)));
      }
      return text;
    }
    if (last && !waiting && end - start < 24) {
      // Most keys and literals are short and ASCII; this is faster than the decoder.
      let text = "";
      for (let at = start; at < end; at++) {
        const byte = units[at] as number;
        if (byte > 0x7f) return decoder.decode(units.subarray(start, end));
        text += String.fromCharCode(byte);
      }
      return text;
    }
    // A character may be divided between two chunks.
    waiting = !last;
    return decoder.decode(units.subarray(start, end), { stream: !last });
  };

  const start = (what: TokenState, at: number): void => {
    inside = what;
    from = at;
    fromLine = line;
    kept = "";
    length = 0;
    if (waiting) decoder.decode();
    waiting = false;
  };

  const endString = (at: number): void => {
    inside = BETWEEN_TOKENS;
    if (asKey) {
      place = EXPECT_COLON;
      listener.key(length > scan.keep ? null : kept, from, fromLine);
    } else {
      afterValue();
      listener.string(kept, from, at, fromLine, length);
    }
  };

  const endLiteral = (at: number): void => {
    inside = BETWEEN_TOKENS;
    if (!VALID_LITERAL.test(kept)) {
      const shown = kept.length > 20 ? `${kept.slice(0, 20)}…` : kept;
      line = fromLine;
      fail(`'${shown}' is no value`, from);
    }
    afterValue();
    listener.literal(kept, from, at, fromLine);
  };

  const open = (kind: "object" | "array", at: number): void => {
    if (kinds.length === MAX_JSON_DEPTH) fail(`nested deeper than ${MAX_JSON_DEPTH}`, at);
    kinds.push(kind);
    place = kind === "object" ? EXPECT_KEY_OR_END : EXPECT_VALUE_OR_END;
    listener.begin(kind, at, line);
  };

  const close = (kind: "object" | "array", at: number): void => {
    // The bracket may follow a value, a trailing comma, or the opening bracket.
    const may = place === EXPECT_COMMA_OR_END || place === EXPECT_KEY_OR_END || place === EXPECT_VALUE_OR_END;
    if (!may || kinds.at(-1) !== kind) fail(`unexpected '${kind === "object" ? "}" : "]"}'`, at);
    kinds.pop();
    afterValue();
    listener.end(at + 1, line);
  };

  /** Processes a unit outside strings and literals. Returns false when it is the first unit of a literal. */
  const token = (unit: number, at: number): boolean => {
    switch (unit) {
      case QUOTE_UNIT:
        asKey = place === EXPECT_KEY_OR_END;
        if (!asKey && place > EXPECT_VALUE_OR_END) fail("unexpected string", at);
        start(IN_STRING, at);
        break;
      case 0x7b: // {
      case 0x5b: // [
        if (place > EXPECT_VALUE_OR_END) fail(`unexpected '${String.fromCharCode(unit)}'`, at);
        open(unit === 0x7b ? "object" : "array", at);
        break;
      case 0x7d:
        close("object", at);
        break;
      case 0x5d:
        close("array", at);
        break;
      case 0x2c: // ,
        if (place !== EXPECT_COMMA_OR_END) fail("unexpected ','", at);
        place = kinds.at(-1) === "object" ? EXPECT_KEY_OR_END : EXPECT_VALUE_OR_END;
        break;
      case 0x3a: // :
        if (place !== EXPECT_COLON) fail("unexpected ':'", at);
        place = EXPECT_VALUE;
        break;
      default:
        if (unit === 0x2f) inside = AFTER_SLASH;
        else {
          if (place > EXPECT_VALUE_OR_END) fail(`unexpected ${describeUnit(unit)}`, at);
          start(IN_LITERAL, at);
          return false;
        }
    }
    return true;
  };

  const scan: JsonScan = {
    keep: 1024,
    push(units) {
      const size = units.length;
      for (let at = 0; at < size; ) {
        const unit = units[at] as number;
        switch (inside) {
          case IN_STRING: {
            let to = at;
            let next = unit;
            // Control characters other than LF are not valid in JSON strings, but harmless, so they are
            // accepted.
            while (next !== QUOTE_UNIT && next !== BACKSLASH_UNIT && next !== LF && ++to < size)
              next = units[to] as number;
            if (to < size && next === LF) fail("a string is not closed on its line", base + to);
            const ends = to < size && units[to] === QUOTE_UNIT;
            keep(units, at, to, ends);
            at = to + 1;
            if (ends) endString(base + at);
            else if (to < size) {
              inside = IN_ESCAPE;
              keep(units, to, to + 1, false);
            }
            break;
          }
          case IN_ESCAPE:
            keep(units, at, at + 1, false);
            inside = IN_STRING;
            at += 1;
            break;
          case IN_LITERAL: {
            let to = at;
            while (to < size && !endsLiteral(units[to] as number)) to += 1;
            kept += textOf(units, at, to, true);
            if (kept.length > MAX_LITERAL_LENGTH) fail("a number is too long", from);
            at = to;
            if (to < size) endLiteral(base + to);
            break;
          }
          case AFTER_SLASH:
            if (unit !== 0x2f && unit !== 0x2a) fail("unexpected '/'", base + at);
            inside = unit === 0x2f ? IN_LINE_COMMENT : IN_BLOCK_COMMENT;
            at += 1;
            break;
          case IN_LINE_COMMENT:
            if (unit === LF) {
              inside = BETWEEN_TOKENS;
              line += 1;
            }
            at += 1;
            break;
          case IN_BLOCK_COMMENT:
          case AFTER_STAR_IN_COMMENT:
            if (unit === LF) line += 1;
            if (inside === AFTER_STAR_IN_COMMENT && unit === 0x2f) inside = BETWEEN_TOKENS;
            else inside = unit === 0x2a ? AFTER_STAR_IN_COMMENT : IN_BLOCK_COMMENT;
            at += 1;
            break;
          default:
            if (unit === LF) line += 1;
            else if (unit !== 0x20 && unit !== 0x0d && unit !== 0x09 && !token(unit, base + at)) break;
            at += 1;
        }
      }
      base += size;
    },
    finish() {
      if (inside === IN_LITERAL) endLiteral(base);
      if (inside === IN_STRING || inside === IN_ESCAPE) {
        line = fromLine;
        fail("a string is never closed", from);
      }
      if (inside === IN_BLOCK_COMMENT || inside === AFTER_STAR_IN_COMMENT)
        fail("a comment is never closed", base);
      if (kinds.length > 0) fail(`the end is missing: ${kinds.length} still open`, base);
      if (place !== EXPECT_NOTHING && !many) fail("there is no value", base);
    },
  };
  return scan;
}

function endsLiteral(unit: number): boolean {
  switch (unit) {
    case 0x20:
    case 0x09:
    case 0x0a:
    case 0x0d:
    case 0x2c:
    case 0x3a:
    case 0x5b:
    case 0x5d:
    case 0x7b:
    case 0x7d:
    case 0x22:
    case 0x2f:
      return true;
    default:
      return false;
  }
}

function describeUnit(unit: number): string {
  return unit > 0x20 && unit < 0x7f ? `'${String.fromCharCode(unit)}'` : "character";
}

/** Returns the text of a string as it was written. Invalid escapes are kept unchanged. */
export function unescapeJson(raw: string): string {
  if (!raw.includes("\\")) return raw;
  return raw.replaceAll(/\\(?:u([0-9a-fA-F]{4})|(.))/gs, (all, hex: string | undefined, one: string) => {
    if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex, 16));
    return CHARACTER_BY_ESCAPE[one] ?? all;
  });
}

const CHARACTER_BY_ESCAPE: Readonly<Record<string, string>> = {
  '"': '"',
  "\\": "\\",
  "/": "/",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
};
