/**
 * Splits an XML document into tokens, as far as Office files need it. Namespace prefixes are removed.
 * Entities other than the five standard ones and numeric ones are kept as written: nothing is expanded or
 * fetched.
 */

/** One token. Names have no prefix: `w:p` is `p`. */
export type XmlToken =
  | { readonly kind: "open"; readonly name: string; readonly attributes: string; readonly empty: boolean }
  | { readonly kind: "close"; readonly name: string }
  | { readonly kind: "text"; readonly text: string };

/** A tag that opens an element. */
export type OpenTag = Extract<XmlToken, { readonly kind: "open" }>;

/**
 * The maximum length of the attributes that are read from one tag, in UTF-16 units. The rest is ignored,
 * which bounds the search for an attribute.
 */
const MAX_TAG_LENGTH = 64 * 1024;
/**
 * The maximum length of an attribute's value, quotes included, in UTF-16 units. A longer one is treated as
 * missing.
 */
const MAX_VALUE_LENGTH = 4096;

/**
 * Yields every tag and text of the document. Comments, declarations and processing instructions are skipped.
 * If a tag or section is not closed, the sequence ends there.
 */
export function* xmlTokens(xml: string): Generator<XmlToken> {
  let at = 0;
  while (at < xml.length) {
    const open = xml.indexOf("<", at);
    if (open !== at) {
      const text = xml.slice(at, open < 0 ? xml.length : open);
      yield { kind: "text", text: unescapeXml(text) };
      if (open < 0) return;
    }
    if (xml.startsWith("<![CDATA[", open)) {
      const end = xml.indexOf("]]>", open);
      if (end < 0) return;
      yield { kind: "text", text: xml.slice(open + 9, end) };
      at = end + 3;
    } else if (xml.startsWith("<!--", open)) {
      const end = xml.indexOf("-->", open);
      if (end < 0) return;
      at = end + 3;
    } else {
      const end = tagEndOffset(xml, open);
      if (end < 0) return;
      const first = xml[open + 1];
      if (first !== "?" && first !== "!") yield parseTag(xml.slice(open + 1, end));
      at = end + 1;
    }
  }
}

/** The functions that a reader calls for the tags of a document and for its text. */
interface TextHandlers {
  /** Called for each tag that opens. */
  open(tag: OpenTag): void;
  /** Called for each tag that closes. */
  close(name: string): void;
  /** Called for the text of each `t` element. */
  text(text: string): void;
}

/** Reads the text of a document, which is in `t` elements, without the text inside of elements with the name `except`. */
export function readXmlText(xml: string, except: string, handlers: TextHandlers): void {
  let [isText, isExcepted] = [false, false];
  for (const token of xmlTokens(xml)) {
    if (token.kind === "text") {
      if (isText && !isExcepted) handlers.text(token.text);
      continue;
    }
    const begins = token.kind === "open" && !token.empty;
    if (token.name === "t") isText = begins;
    else if (token.name === except) isExcepted = begins;
    if (token.kind === "open") handlers.open(token);
    else handlers.close(token.name);
  }
}

/**
 * Returns the offset of the `>` that ends the tag which begins at `from`, or -1. A `>` inside quotes does not
 * count.
 */
export function tagEndOffset(xml: string, from: number): number {
  TAG_END_OR_QUOTE.lastIndex = from + 1;
  while (TAG_END_OR_QUOTE.test(xml)) {
    const at = TAG_END_OR_QUOTE.lastIndex - 1;
    const quote = xml[at] as string;
    if (quote === ">") return at;
    const close = xml.indexOf(quote, at + 1);
    if (close < 0) return -1;
    TAG_END_OR_QUOTE.lastIndex = close + 1;
  }
  return -1;
}

const TAG_END_OR_QUOTE = /["'>]/g;

function parseTag(body: string): XmlToken {
  const close = body.startsWith("/");
  const empty = body.endsWith("/");
  const start = close ? 1 : 0;
  const space = body.search(/\s/);
  const end = space < 0 ? body.length - (empty && !close ? 1 : 0) : space;
  const full = body.slice(start, end);
  const name = full.slice(full.indexOf(":") + 1);
  if (close) return { kind: "close", name };
  return {
    kind: "open",
    name,
    empty,
    attributes: space < 0 ? "" : body.slice(space, space + MAX_TAG_LENGTH),
  };
}

const ATTRIBUTE_VALUE = /^\s*=\s*(?:"([^"]*)"|'([^']*)')/;

/** Returns the value of an attribute by its name without prefix; undefined when the tag does not have it. */
export function attributeValue(attributes: string, name: string): string | undefined {
  let at = 0;
  for (;;) {
    at = attributes.indexOf(name, at);
    if (at < 0) return undefined;
    const end = at + name.length;
    if (/[\s:]/.test(attributes[at - 1] ?? " ")) {
      const rest = ATTRIBUTE_VALUE.exec(attributes.slice(end, end + MAX_VALUE_LENGTH));
      if (rest !== null) return unescapeXml(rest[1] ?? rest[2] ?? "");
    }
    at = end;
  }
}

const CHARACTER_BY_ENTITY: Readonly<Record<string, string>> = {
  lt: "<",
  gt: ">",
  amp: "&",
  quot: '"',
  apos: "'",
};

function unescapeXml(text: string): string {
  if (!text.includes("&")) return text;
  return text.replaceAll(/&(?:#(\d{1,7})|#x([0-9a-fA-F]{1,6})|([a-z]{2,4}));/g, (all, decimal, hex, name) => {
    if (name !== undefined) return CHARACTER_BY_ENTITY[name as string] ?? all;
    const code = decimal === undefined ? Number.parseInt(hex as string, 16) : Number(decimal);
    return code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code < 0xe000)
      ? String.fromCodePoint(code)
      : all;
  });
}
