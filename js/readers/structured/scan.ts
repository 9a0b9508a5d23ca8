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
  /** A string, as it is written between its quotes, which are at `from` and `to - 1`: its first `keep` units. */
  string(raw: string, from: number, to: number, line: number): void;
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
const SLASH_UNIT = 0x2f;
const STAR_UNIT = 0x2a;
const LF = 0x0a;

type Units = Uint8Array | Uint16Array;
type Kind = "object" | "array";

/** Starts a scan. With `lines` the input is a sequence of values, as in JSON Lines. */
export function scanJson(listener: ScanListener, options: { readonly lines?: boolean } = {}): JsonScan {
  return new Scanner(listener, options.lines === true);
}

/**
 * A machine of two states: `#place` says which token may come next, `#inside` in which token the scanner is.
 * Each method that is named after a token takes the units from `at` on that belong to it, and returns the
 * index of the next unit.
 */
class Scanner implements JsonScan {
  readonly #listener: ScanListener;
  readonly #many: boolean;
  readonly #kinds: Kind[] = [];
  readonly #kept = new KeptText();
  #place: ScanState = EXPECT_VALUE;
  #inside: TokenState = BETWEEN_TOKENS;
  #asKey = false;
  /** The number of units in all earlier chunks. */
  #base = 0;
  #line = 1;
  /** The offset at which the current string or literal begins. */
  #from = 0;
  #fromLine = 1;

  constructor(listener: ScanListener, many: boolean) {
    this.#listener = listener;
    this.#many = many;
  }

  get keep(): number {
    return this.#kept.most;
  }

  set keep(most: number) {
    this.#kept.most = most;
  }

  push(units: Units): void {
    const size = units.length;
    for (let at = 0; at < size; ) at = this.#step(units, at);
    this.#base += size;
  }

  finish(): void {
    if (this.#inside === IN_LITERAL) this.#endLiteral(this.#base);
    if (this.#inside === IN_STRING || this.#inside === IN_ESCAPE) {
      this.#line = this.#fromLine;
      this.#fail("a string is never closed", this.#from);
    }
    if (this.#inside === IN_BLOCK_COMMENT || this.#inside === AFTER_STAR_IN_COMMENT)
      this.#fail("a comment is never closed", this.#base);
    if (this.#kinds.length > 0)
      this.#fail(`the end is missing: ${this.#kinds.length} still open`, this.#base);
    if (this.#place !== EXPECT_NOTHING && !this.#many) this.#fail("there is no value", this.#base);
  }

  #step(units: Units, at: number): number {
    switch (this.#inside) {
      case BETWEEN_TOKENS:
        return this.#betweenTokens(units, at);
      case IN_STRING:
        return this.#string(units, at);
      case IN_ESCAPE:
        this.#kept.add(units, at, at + 1, false);
        this.#inside = IN_STRING;
        return at + 1;
      case IN_LITERAL:
        return this.#literal(units, at);
      default:
        this.#comment(units[at] as number, this.#base + at);
        return at + 1;
    }
  }

  #betweenTokens(units: Units, from: number): number {
    const size = units.length;
    for (let at = from; at < size; at += 1) {
      const unit = units[at] as number;
      if (unit === LF) this.#line += 1;
      else if (unit !== 0x20 && unit !== 0x0d && unit !== 0x09) {
        // A literal has no unit that begins it: its first unit belongs to it.
        if (!this.#token(unit, this.#base + at)) return at;
        if (this.#inside !== BETWEEN_TOKENS) return at + 1;
      }
    }
    return size;
  }

  #string(units: Units, from: number): number {
    const size = units.length;
    let to = from;
    let next = units[from] as number;
    // Control characters other than LF are not valid in JSON strings, but harmless, so they are accepted.
    while (next !== QUOTE_UNIT && next !== BACKSLASH_UNIT && next !== LF && ++to < size)
      next = units[to] as number;
    if (to === size) {
      this.#kept.add(units, from, size, false);
      return size;
    }
    if (next === LF) this.#fail("a string is not closed on its line", this.#base + to);
    this.#kept.add(units, from, to, next === QUOTE_UNIT);
    if (next === QUOTE_UNIT) this.#endString(this.#base + to + 1);
    else {
      this.#inside = IN_ESCAPE;
      this.#kept.add(units, to, to + 1, false);
    }
    return to + 1;
  }

  #endString(at: number): void {
    const { text, length } = this.#kept;
    this.#inside = BETWEEN_TOKENS;
    if (this.#asKey) {
      this.#place = EXPECT_COLON;
      this.#listener.key(length > this.#kept.most ? null : text, this.#from, this.#fromLine);
    } else {
      this.#afterValue();
      this.#listener.string(text, this.#from, at, this.#fromLine);
    }
  }

  #literal(units: Units, from: number): number {
    const size = units.length;
    let to = from;
    while (to < size && !endsLiteral(units[to] as number)) to += 1;
    this.#kept.addAll(units, from, to);
    if (this.#kept.text.length > MAX_LITERAL_LENGTH) this.#fail("a number is too long", this.#from);
    if (to < size) this.#endLiteral(this.#base + to);
    return to;
  }

  #endLiteral(at: number): void {
    const { text } = this.#kept;
    this.#inside = BETWEEN_TOKENS;
    if (!VALID_LITERAL.test(text)) {
      this.#line = this.#fromLine;
      this.#fail(`'${text.length > 20 ? `${text.slice(0, 20)}…` : text}' is no value`, this.#from);
    }
    this.#afterValue();
    this.#listener.literal(text, this.#from, at, this.#fromLine);
  }

  /** Processes a unit of a comment. */
  #comment(unit: number, at: number): void {
    if (this.#inside === AFTER_SLASH) {
      if (unit !== SLASH_UNIT && unit !== STAR_UNIT) this.#fail("unexpected '/'", at);
      this.#inside = unit === SLASH_UNIT ? IN_LINE_COMMENT : IN_BLOCK_COMMENT;
      return;
    }
    if (unit === LF) this.#line += 1;
    if (this.#inside === IN_LINE_COMMENT) {
      if (unit === LF) this.#inside = BETWEEN_TOKENS;
    } else if (this.#inside === AFTER_STAR_IN_COMMENT && unit === SLASH_UNIT) this.#inside = BETWEEN_TOKENS;
    else this.#inside = unit === STAR_UNIT ? AFTER_STAR_IN_COMMENT : IN_BLOCK_COMMENT;
  }

  /** Processes a unit outside strings and literals. Returns false when it is the first unit of a literal. */
  #token(unit: number, at: number): boolean {
    switch (unit) {
      case QUOTE_UNIT:
        this.#asKey = this.#place === EXPECT_KEY_OR_END;
        if (!this.#asKey && this.#place > EXPECT_VALUE_OR_END) this.#fail("unexpected string", at);
        this.#start(IN_STRING, at);
        return true;
      case 0x7b: // {
        this.#open("object", unit, at);
        return true;
      case 0x5b: // [
        this.#open("array", unit, at);
        return true;
      case 0x7d:
        this.#close("object", unit, at);
        return true;
      case 0x5d:
        this.#close("array", unit, at);
        return true;
      case 0x2c: // ,
        this.#expect(EXPECT_COMMA_OR_END, unit, at);
        this.#place = this.#kinds.at(-1) === "object" ? EXPECT_KEY_OR_END : EXPECT_VALUE_OR_END;
        return true;
      case 0x3a: // :
        this.#expect(EXPECT_COLON, unit, at);
        this.#place = EXPECT_VALUE;
        return true;
      case SLASH_UNIT:
        this.#inside = AFTER_SLASH;
        return true;
      default:
        if (this.#place > EXPECT_VALUE_OR_END) this.#fail(`unexpected ${describeUnit(unit)}`, at);
        this.#start(IN_LITERAL, at);
        return false;
    }
  }

  #expect(place: ScanState, unit: number, at: number): void {
    if (this.#place !== place) this.#fail(`unexpected ${describeUnit(unit)}`, at);
  }

  #start(what: TokenState, at: number): void {
    this.#inside = what;
    this.#from = at;
    this.#fromLine = this.#line;
    this.#kept.clear();
  }

  #open(kind: Kind, unit: number, at: number): void {
    if (this.#place > EXPECT_VALUE_OR_END) this.#fail(`unexpected ${describeUnit(unit)}`, at);
    if (this.#kinds.length === MAX_JSON_DEPTH) this.#fail(`nested deeper than ${MAX_JSON_DEPTH}`, at);
    this.#kinds.push(kind);
    this.#place = kind === "object" ? EXPECT_KEY_OR_END : EXPECT_VALUE_OR_END;
    this.#listener.begin(kind, at, this.#line);
  }

  #close(kind: Kind, unit: number, at: number): void {
    // The bracket may follow a value, a trailing comma, or the opening bracket.
    const place = this.#place;
    const may = place === EXPECT_COMMA_OR_END || place === EXPECT_KEY_OR_END || place === EXPECT_VALUE_OR_END;
    if (!may || this.#kinds.at(-1) !== kind) this.#fail(`unexpected ${describeUnit(unit)}`, at);
    this.#kinds.pop();
    this.#afterValue();
    this.#listener.end(at + 1, this.#line);
  }

  #afterValue(): void {
    const outside = this.#many ? EXPECT_VALUE : EXPECT_NOTHING;
    this.#place = this.#kinds.length > 0 ? EXPECT_COMMA_OR_END : outside;
  }

  #fail(message: string, at: number): never {
    throw new ScanError(message, at, this.#line);
  }
}

/** The text of the current string or literal, which may come in several chunks. */
class KeptText {
  /** The number of units that are kept of a string. */
  most = 1024;
  text = "";
  /** The number of its units, of which `text` may have only the first. */
  length = 0;
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  /** True when the last chunk ended within a character of several bytes. */
  #waiting = false;

  clear(): void {
    this.text = "";
    this.length = 0;
    if (this.#waiting) this.#decoder.decode();
    this.#waiting = false;
  }

  /** Adds units, as far as the text has at most `most`. `last` says whether they end the text. */
  add(units: Units, start: number, end: number, last: boolean): void {
    const room = Math.max(0, this.most - this.length);
    this.length += end - start;
    if (room > 0 || this.#waiting)
      this.text += this.#decode(units, start, Math.min(end, start + room), last && this.length <= this.most);
  }

  /** Adds all of the units. */
  addAll(units: Units, start: number, end: number): void {
    this.text += this.#decode(units, start, end, true);
  }

  #decode(units: Units, start: number, end: number, last: boolean): string {
    if (units instanceof Uint16Array) return textOfUnits(units, start, end);
    if (last && !this.#waiting && end - start < MAX_SHORT_BYTES) {
      const short = asciiText(units, start, end);
      return short ?? this.#decoder.decode(units.subarray(start, end));
    }
    // A character may be divided between two chunks.
    this.#waiting = !last;
    return this.#decoder.decode(units.subarray(start, end), { stream: !last });
  }
}

function textOfUnits(units: Uint16Array, start: number, end: number): string {
  let text = "";
  for (let at = start; at < end; at += 8192)
    text += String.fromCharCode(...units.subarray(at, Math.min(end, at + 8192)));
  return text;
}

/** The length in bytes below which text is built unit by unit, which is faster than the decoder. */
const MAX_SHORT_BYTES = 24;

/** Returns the text of ASCII bytes; undefined when others are among them. Most keys and literals are ASCII. */
function asciiText(bytes: Uint8Array, start: number, end: number): string | undefined {
  let text = "";
  for (let at = start; at < end; at++) {
    const byte = bytes[at] as number;
    if (byte > 0x7f) return undefined;
    text += String.fromCharCode(byte);
  }
  return text;
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
