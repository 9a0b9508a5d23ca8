/**
 * Locates values in TOML. Only the syntax that this needs is parsed: tables, keys, and where values end.
 * Values are not checked.
 *
 * The value of a table is the text from its header, or its first key, to its last key. If other tables lie in
 * between, a warning says so.
 */
import {
  lineAt,
  locatedPart,
  syntaxError,
  truncateForMessage,
  type DeadEnd,
  arrayIndexOf,
  MAX_LISTED_KEYS,
  type Located,
  nothingAtPointerError,
  pointerOf,
} from "./pointer.ts";

const TOML_MIME = "application/toml";
const MAX_TOML_DEPTH = 100;
/** Matches a number, word or date. A space may separate a date from its time. */
const BARE_VALUE = /(?:\d{4}-\d\d-\d\d (?=\d\d:))?[^\s,[\]{}#"'=]+/y;

/** One part of the value to find. The keys of a table can be in several places. */
interface ValuePart {
  start: number;
  end: number;
  type: string;
  children: Set<string> | undefined;
  /** True when other text lies between the parts. */
  mixed: boolean;
}

/** Locates the value at a pointer in a TOML text. */
export function locateToml(text: string, tokens: readonly string[]): Located {
  const lexer = new TomlLexer(text);
  /** The number of elements of each array of tables so far, by its pointer. */
  const arrays = new Map<string, number>();
  const warnings: string[] = [];
  let table: readonly string[] = [];
  let found: ValuePart | undefined;
  let elsewhere = false;
  let dead: DeadEnd = { depth: 0, type: "object" };
  const seen: Set<string>[] = tokens.map(() => new Set());

  /** Records the keys that exist beside the path of the pointer, for the error message. */
  const meet = (path: readonly string[]): void => {
    for (const [depth, key] of path.entries()) {
      seen[depth]?.add(key);
      if (key !== tokens[depth]) return;
      if (depth + 1 < tokens.length && depth + 1 > dead.depth) dead = { depth: depth + 1, type: "object" };
    }
  };

  const add = (start: number, end: number, type: string, child: string | undefined): void => {
    if (found === undefined) found = { start, end, type, children: undefined, mixed: false };
    else {
      found.mixed ||= elsewhere;
      found.end = end;
    }
    if (child !== undefined) {
      found.children ??= new Set();
      found.children.add(child);
    }
    elsewhere = false;
  };

  const statement = (path: readonly string[], start: number, end: number, header: boolean): void => {
    meet(path);
    if (pathStartsWith(path, tokens)) {
      const below = path[tokens.length];
      const type = below !== undefined && arrays.has(pointerOf(tokens)) ? "array" : "object";
      if (header || below !== undefined) {
        add(start, end, type, below);
        return;
      }
    }
    elsewhere = true;
  };

  for (;;) {
    const start = lexer.next();
    if (start < 0) break;
    if (text[start] === "[") {
      const many = text[start + 1] === "[";
      lexer.at = start + (many ? 2 : 1);
      const keys = lexer.keys();
      lexer.expect(many ? "]]" : "]");
      table = resolveHeaderPath(keys, arrays, many);
      statement(table, start, lexer.at, true);
    } else {
      const keys = lexer.keys();
      lexer.expect("=");
      const valueStart = lexer.blanks();
      const path = [...table, ...keys];
      lexer.value();
      if (pathStartsWith(tokens, path)) {
        meet(path);
        const inner = locateInlineValue(lexer, valueStart, tokens, path.length);
        if ("start" in inner) {
          if (found !== undefined)
            warnings.push(`'${truncateForMessage(pointerOf(tokens))}' is there twice; the last is shown.`);
          found = { ...inner, mixed: false, children: inner.children };
          elsewhere = false;
        } else dead = inner;
      } else statement(path, start, lexer.at, false);
    }
    lexer.lineEnd();
  }
  if (found === undefined) {
    const keys =
      dead.type === "object" && dead.keys === undefined ? [...(seen[dead.depth] ?? [])] : dead.keys;
    const array = arrays.get(pointerOf(tokens.slice(0, dead.depth)));
    if (array !== undefined) dead = { depth: dead.depth, type: "array", children: array };
    throw nothingAtPointerError(tokens, {
      ...dead,
      keys: dead.type === "object" ? keys?.slice(0, MAX_LISTED_KEYS) : undefined,
      children: dead.children ?? keys?.length,
    });
  }
  const { start, end, type, children, mixed } = found as ValuePart;
  if (mixed)
    warnings.push("Other tables stand between the parts of this one: the lines shown hold them too.");
  return locatedPart(text, { start, end }, { type, children: children?.size, warnings });
}

/** Returns the path that a header means: the name of an array of tables stands for its last element. */
function resolveHeaderPath(
  keys: readonly string[],
  arrays: Map<string, number>,
  many: boolean,
): readonly string[] {
  const path: string[] = [];
  for (const [index, key] of keys.entries()) {
    path.push(key);
    const pointer = pointerOf(path);
    let count = arrays.get(pointer);
    if (many && index === keys.length - 1) {
      count = (count ?? 0) + 1;
      arrays.set(pointer, count);
    }
    if (count !== undefined) path.push(String(count - 1));
  }
  return path;
}

function pathStartsWith(path: readonly string[], prefix: readonly string[]): boolean {
  return prefix.length <= path.length && prefix.every((token, at) => token === path[at]);
}

type InlineValue = { start: number; end: number; type: string; children: Set<string> | undefined };

/** Follows the tokens from index `depth` on into a value that is written inline. */
function locateInlineValue(
  lexer: TomlLexer,
  from: number,
  tokens: readonly string[],
  depth: number,
): InlineValue | DeadEnd {
  const resume = lexer.at;
  let start = from;
  let at = depth;
  try {
    for (;;) {
      lexer.at = start;
      const children: { readonly key: string; readonly start: number }[] = [];
      const type = lexer.value(0, (key, childStart) => children.push({ key, start: childStart }));
      const end = lexer.at;
      if (at === tokens.length) {
        const container = type === "object" || type === "array";
        return {
          start,
          end,
          type,
          children: container ? new Set(children.map(({ key }) => key)) : undefined,
        };
      }
      const token = tokens[at] as string;
      const child = children.find(
        ({ key }) => key === token && (type === "object" || arrayIndexOf(token) >= 0),
      );
      if (child === undefined) {
        const keys = type === "object" ? children.slice(0, MAX_LISTED_KEYS).map(({ key }) => key) : undefined;
        return { depth: at, type, keys, children: children.length };
      }
      start = child.start;
      at += 1;
    }
  } finally {
    lexer.at = resume;
  }
}

/** Reads the tokens of a TOML text. It accepts any input, in time proportional to its length. */
class TomlLexer {
  at: number;
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
    this.at = text.startsWith("\ufeff") ? 1 : 0;
  }

  #fail(what: string): never {
    throw syntaxError(TOML_MIME, what, lineAt(this.#text, this.at));
  }

  /** Skips spaces and tabs, and returns the offset after them. */
  blanks(): number {
    while (this.#text[this.at] === " " || this.#text[this.at] === "\t") this.at += 1;
    return this.at;
  }

  /** Skips whitespace, line endings and comments. */
  #gap(): void {
    for (;;) {
      const c = this.#text[this.blanks()];
      if (c === "#") this.#comment();
      else if (c === "\n" || c === "\r") this.at += 1;
      else return;
    }
  }

  #comment(): void {
    const end = this.#text.indexOf("\n", this.at);
    this.at = end < 0 ? this.#text.length : end;
  }

  /** Returns the offset at which the next statement begins; -1 at the end. */
  next(): number {
    this.#gap();
    return this.at < this.#text.length ? this.at : -1;
  }

  lineEnd(): void {
    if (this.#text[this.blanks()] === "#") this.#comment();
    const c = this.#text[this.at];
    if (c !== undefined && c !== "\n" && !(c === "\r" && this.#text[this.at + 1] === "\n")) {
      this.#fail("a statement goes on where its line should end");
    }
  }

  expect(word: string): void {
    this.blanks();
    if (!this.#text.startsWith(word, this.at)) this.#fail(`'${word}' is missing`);
    this.at += word.length;
  }

  /** Reads a dotted key, and returns its parts. */
  keys(): string[] {
    const keys: string[] = [];
    do {
      if (keys.length > 0) this.at += 1; // the dot
      if (keys.length === MAX_TOML_DEPTH) this.#fail(`a key of more than ${MAX_TOML_DEPTH} parts`);
      this.blanks();
      keys.push(this.#key());
    } while (this.#text[this.blanks()] === ".");
    return keys;
  }

  #key(): string {
    const quote = this.#text[this.at];
    const start = this.at;
    if (quote === '"' || quote === "'") {
      this.#string(quote);
      const raw = this.#text.slice(start + 1, this.at - 1);
      return quote === "'" ? raw : unescapeToml(raw);
    }
    while (/[A-Za-z0-9_-]/.test(this.#text[this.at] ?? "")) this.at += 1;
    if (this.at === start) this.#fail("a key is missing");
    return this.#text.slice(start, this.at);
  }

  /** Parses a string on one line. */
  #string(quote: string): void {
    for (this.at += 1; ; this.at++) {
      const c = this.#text[this.at];
      if (c === undefined || c === "\n") this.#fail("a string is not closed on its line");
      if (c === "\\" && quote === '"') this.at += 1;
      else if (c === quote) break;
    }
    this.at += 1;
  }

  #multiline(quote: string): void {
    const fence = quote.repeat(3);
    for (this.at += 3; ; this.at++) {
      if (this.at >= this.#text.length) this.#fail("a string is never closed");
      if (this.#text[this.at] === "\\" && quote === '"') this.at += 1;
      else if (this.#text.startsWith(fence, this.at)) break;
    }
    this.at += 3;
    // Up to two quotes that belong to the text may directly precede the three closing ones.
    for (let more = 0; more < 2 && this.#text[this.at] === quote; more++) this.at += 1;
  }

  /** Skips a value and returns its type. `child` is called for each direct child of an array or inline table. */
  value(depth = 0, child?: (key: string, start: number) => void): string {
    if (depth > MAX_TOML_DEPTH) this.#fail(`nested deeper than ${MAX_TOML_DEPTH}`);
    const c = this.#text[this.at];
    if (c === '"' || c === "'") {
      if (this.#text.startsWith(c.repeat(3), this.at)) this.#multiline(c);
      else this.#string(c);
      return "string";
    }
    if (c === "[") return this.#array(depth, child);
    if (c === "{") return this.#inlineTable(depth, child);
    BARE_VALUE.lastIndex = this.at;
    const word = BARE_VALUE.exec(this.#text)?.[0] ?? "";
    this.at += word.length;
    if (word === "") this.#fail("a value is missing");
    if (word === "true" || word === "false") return "boolean";
    return /^\d{4}-|^\d\d:/.test(word) ? "date" : "number";
  }

  #array(depth: number, child?: (key: string, start: number) => void): string {
    this.at += 1;
    for (let index = 0; ; index++) {
      this.#gap();
      if (this.#text[this.at] === "]") break;
      child?.(String(index), this.at);
      this.value(depth + 1);
      this.#gap();
      if (this.#text[this.at] === ",") this.at += 1;
      else if (this.#text[this.at] !== "]") this.#fail("an array is not closed");
    }
    this.at += 1;
    return "array";
  }

  #inlineTable(depth: number, child?: (key: string, start: number) => void): string {
    this.at += 1;
    for (;;) {
      this.#gap();
      if (this.#text[this.at] === "}") break;
      const [key = "", ...more] = this.keys();
      this.expect("=");
      this.blanks();
      // The table that a dotted key creates has no text of its own, so the key's value stands for it.
      child?.(more.length === 0 ? key : [key, ...more].join("."), this.at);
      this.value(depth + 1);
      this.#gap();
      if (this.#text[this.at] === ",") this.at += 1;
      else if (this.#text[this.at] !== "}") this.#fail("an inline table is not closed");
    }
    this.at += 1;
    return "object";
  }
}

function unescapeToml(raw: string): string {
  return raw.replaceAll(/\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))/gs, (_, short, long, one) => {
    const hex = (short ?? long) as string | undefined;
    if (hex === undefined) return { b: "\b", t: "\t", n: "\n", f: "\f", r: "\r" }[one as string] ?? one;
    const code = Number.parseInt(hex, 16);
    return code <= 0x10ffff ? String.fromCodePoint(code) : "\ufffd";
  });
}
