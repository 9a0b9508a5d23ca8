/**
 * Reads the three answers in XML that are needed: a page of a listing, the result of a deletion of many, and an error.
 *
 * It reads elements, text, the five named entities and character references, and refuses everything else: document
 * types, other entities, comments, processing instructions after the first, and answers that do not close. An answer
 * in a form it does not know is an error and never an empty list.
 */

/** An element: its children, and its text when it has none. */
interface Element {
  readonly name: string;
  readonly children: Element[];
  text: string;
}

/** One object of a listing. */
export interface ListedObject {
  readonly key: string;
  readonly size: number;
  readonly etag: string;
  /** The time of the last write, in milliseconds since 1970. */
  readonly modified: number;
}

/** A page of a listing. */
export interface ListedPage {
  readonly objects: readonly ListedObject[];
  /** The common prefixes, where a delimiter was given. */
  readonly prefixes: readonly string[];
  /** The token of the next page. Absent on the last. */
  readonly next?: string;
}

const MAX_DEPTH = 16;
const NAMED_ENTITIES: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };
/** A declaration, an end tag, a start tag with attributes, or text. */
const TOKEN =
  /<\?xml(?:\s+(?:version|encoding|standalone)=(?:"[\w.-]+"|'[\w.-]+'))+\s*\?>|<\/([A-Z_a-z][\w.:-]*)\s*>|<([A-Z_a-z][\w.:-]*)((?:\s+[A-Z_a-z][\w.:-]*\s*=\s*(?:"[^"<&]*"|'[^'<&]*'))*)\s*(\/?)>|([^<]+)/uy;

const malformed = (why: string): Error => new Error(`the store's XML ${why}`);

/** Returns text with its entities replaced. */
function decodeEntities(text: string): string {
  return text.replace(/&([^;&\s]{0,12};?)/gu, (_, reference: string) => {
    const name = reference.endsWith(";") ? reference.slice(0, -1) : "";
    const named = NAMED_ENTITIES[name];
    if (named !== undefined && Object.hasOwn(NAMED_ENTITIES, name)) return named;
    const [, hex, decimal] = /^#(?:x([\da-f]{1,6})|(\d{1,7}))$/iu.exec(name) ?? [];
    const point = hex === undefined ? Number(decimal ?? Number.NaN) : Number.parseInt(hex, 16);
    if (!(point > 0 && point <= 0x10ffff) || (point >= 0xd800 && point < 0xe000))
      throw malformed("has an entity that is not known");
    return String.fromCodePoint(point);
  });
}

/** Parses an answer and returns its root element. */
function parse(xml: string): Element {
  const top: Element = { name: "", children: [], text: "" };
  const open = [top];
  TOKEN.lastIndex = xml.startsWith("\ufeff") ? 1 : 0;
  while (TOKEN.lastIndex < xml.length) {
    const first = TOKEN.lastIndex <= 1;
    const match = TOKEN.exec(xml);
    if (match === null) throw malformed("has something that is neither an element nor text");
    const [whole, end, start, , empty, text] = match;
    const parent = open.at(-1) as Element;
    if (end !== undefined) {
      if (parent.name !== end) throw malformed("closes an element that is not open");
      open.pop();
    } else if (start !== undefined) {
      const element: Element = { name: start, children: [], text: "" };
      parent.children.push(element);
      if (empty === "") open.push(element);
      if (open.length > MAX_DEPTH) throw malformed("is too deep");
    } else if (text !== undefined) {
      if (text.includes("]]>")) throw malformed("has the end of raw text");
      parent.text += decodeEntities(text);
    } else if (!first || whole === undefined) {
      throw malformed("has a declaration in the middle");
    }
  }
  const [root] = top.children;
  if (open.length !== 1 || root === undefined || top.children.length !== 1 || top.text.trim() !== "")
    throw malformed("is not one closed element");
  return root;
}

/** Returns the text of an element, which may have nothing but text. */
function textOf({ name, children, text }: Element): string {
  if (children.length > 0) throw malformed(`has elements in <${name}>`);
  return text;
}

/** Returns the text of a child, and undefined when there is none. */
function childText(element: Element, name: string): string | undefined {
  const child = element.children.find((one) => one.name === name);
  return child && textOf(child);
}

/** Returns the text of a child that has to be there. */
function requiredText(element: Element, name: string): string {
  const text = childText(element, name);
  if (text === undefined) throw malformed(`lacks <${name}>`);
  return text;
}

/** Returns the page of a listing. Its elements may have any order; a prefix counts only below `CommonPrefixes`. */
export function parseListing(xml: string): ListedPage {
  const root = parse(xml);
  if (root.name !== "ListBucketResult") throw malformed("is no listing");
  const encoded = childText(root, "EncodingType") === "url";
  const decode = (text: string): string => (encoded ? decodeURIComponent(text.replaceAll("+", " ")) : text);
  const objects: ListedObject[] = [];
  const prefixes: string[] = [];
  for (const child of root.children) {
    if (child.name === "Contents") {
      const size = Number(requiredText(child, "Size"));
      const modified = Date.parse(requiredText(child, "LastModified"));
      if (!Number.isSafeInteger(size) || size < 0 || Number.isNaN(modified))
        throw malformed("has a wrong size or time");
      objects.push({
        key: decode(requiredText(child, "Key")),
        size,
        modified,
        etag: childText(child, "ETag") ?? "",
      });
    } else if (child.name === "CommonPrefixes") {
      for (const prefix of child.children)
        if (prefix.name === "Prefix") prefixes.push(decode(textOf(prefix)));
    }
  }
  if (childText(root, "IsTruncated")?.trim() !== "true") return { objects, prefixes };
  // A token is opaque: it is sent back as it came, whatever the encoding of the keys.
  return { objects, prefixes, next: requiredText(root, "NextContinuationToken") };
}

/** Returns the code of an error, a plain word; undefined for an answer in another form. */
export function parseErrorCode(xml: string): string | undefined {
  try {
    const root = parse(xml);
    const code = root.name === "Error" ? childText(root, "Code")?.trim() : undefined;
    return code !== undefined && /^[A-Za-z\d.]{1,64}$/u.test(code) ? code : undefined;
  } catch {
    return undefined;
  }
}
