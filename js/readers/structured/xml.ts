/**
 * Locates values in XML by pointers such as `/project/dependencies/dependency/1/version` or `/svg/@width`:
 * names of elements from the root down, an index (from 0) among elements of the same name, and `@` before the
 * name of an attribute.
 *
 * The value of an element is the text between its tags. Entities stay as they are written; nothing is
 * expanded or fetched.
 */
import { tagEndOffset } from "../office/xml.ts";
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

const XML_MIME = "application/xml";
/** The maximum number of tokens of a pointer: at each level the element is scanned again. */
const MAX_XML_DEPTH = 100;

/** An element, by offsets in the text. */
interface XmlElement {
  readonly name: string;
  /** The offset of `<`. */
  readonly start: number;
  /** The offset after the opening tag. */
  readonly open: number;
  /** The offset of the closing tag; `open` for a self-closing tag. */
  readonly close: number;
  /** The offset after the closing tag. */
  readonly end: number;
}

/** Locates the value at a pointer in an XML text. */
export function locateXml(text: string, tokens: readonly string[]): Located {
  if (tokens.length > MAX_XML_DEPTH) throw syntaxError(XML_MIME, `a pointer deeper than ${MAX_XML_DEPTH}`, 1);
  /** The elements that the tokens up to here name: several, if they have the same name. */
  let found: readonly XmlElement[] = [{ name: "", start: 0, open: 0, close: text.length, end: text.length }];
  for (const [depth, token] of tokens.entries()) {
    const [only, ...others] = found as [XmlElement, ...XmlElement[]];
    if (token.startsWith("@") && others.length === 0 && depth > 0) {
      const value = depth + 1 === tokens.length ? attributeValueRange(text, only, token.slice(1)) : undefined;
      if (value === undefined)
        throw nothingAtPointerError(tokens, { depth, type: "object", ...attributeNamesOf(text, only) });
      return locatedPart(text, value, { type: "string", warnings: [] });
    }
    const chosen = found[arrayIndexOf(token)];
    const children = others.length === 0 ? childElementsOf(text, only) : [];
    const named = children.filter(({ name }) => name === token || localName(name) === token);
    if (named.length > 0) found = named;
    else if (chosen !== undefined && depth > 0) found = [chosen];
    else throw nothingAtPointerError(tokens, nothingAtError(found, children, depth, text));
  }
  return rangeOfValue(text, found as [XmlElement, ...XmlElement[]], tokens);
}

function rangeOfValue(
  text: string,
  [first, ...others]: [XmlElement, ...XmlElement[]],
  tokens: readonly string[],
): Located {
  const last = others.at(-1);
  if (last !== undefined) {
    const apart = text.slice(first.start, last.end).split(`<${first.name}`).length - 1 !== others.length + 1;
    const at = truncateForMessage(pointerOf(tokens));
    const warnings = apart ? [`Other elements may stand between those of '${at}'.`] : [];
    const facts = { type: "array", children: others.length + 1, warnings };
    return locatedPart(text, { start: first.start, end: last.end }, facts);
  }
  const children = childElementsOf(text, first).length;
  const whole = { start: first.open, end: first.close };
  if (children === 0) return locatedPart(text, whole, { type: "string", warnings: [] });
  const facts = { type: "object", children, warnings: [] };
  if (tokens.length === 0) return locatedPart(text, whole, facts);
  const inner = text.slice(first.open, first.close);
  const start = first.open + inner.length - inner.trimStart().length;
  return locatedPart(text, { start, end: first.open + inner.trimEnd().length }, facts);
}

/** Returns the child elements. @throws UNSUPPORTED_FORMAT when tags do not match */
function childElementsOf(text: string, parent: XmlElement): XmlElement[] {
  const children: XmlElement[] = [];
  const names: string[] = [];
  let [start, open] = [0, 0];
  for (let at = text.indexOf("<", parent.open); at >= 0 && at < parent.close; at = text.indexOf("<", at)) {
    const passed = endOfNonElement(text, at);
    if (passed < 0) throw syntaxError(XML_MIME, "a tag or comment does not end", lineAt(text, at));
    if (passed > 0) {
      at = passed;
      continue;
    }
    const end = tagEndOffset(text, at);
    if (end < 0) throw syntaxError(XML_MIME, "a tag does not end", lineAt(text, at));
    const name = tagNameAt(text, at);
    if (text[at + 1] === "/") {
      if (names.pop() !== name)
        throw syntaxError(XML_MIME, `</${truncateForMessage(name)}> closes nothing`, lineAt(text, at));
      if (names.length === 0) children.push({ name, start, open, close: at, end: end + 1 });
    } else {
      if (names.length === 0) [start, open] = [at, end + 1];
      if (text[end - 1] !== "/") names.push(name);
      else if (names.length === 0) children.push({ name, start, open, close: open, end: open });
    }
    at = end + 1;
  }
  const unclosed = names.at(-1);
  if (unclosed !== undefined)
    throw syntaxError(XML_MIME, `<${truncateForMessage(unclosed)}> is not closed`, lineAt(text, start));
  return children;
}

/**
 * Returns the offset after the comment, CDATA section, processing instruction or declaration at `at`; 0 when
 * there is none, -1 when it is not closed.
 */
function endOfNonElement(text: string, at: number): number {
  const next = text[at + 1];
  if (next !== "!" && next !== "?") return 0;
  const behind = (mark: string, from: number): number => {
    const end = text.indexOf(mark, from);
    return end < 0 ? -1 : end + mark.length;
  };
  if (text.startsWith("<!--", at)) return behind("-->", at + 4);
  if (text.startsWith("<![CDATA[", at)) return behind("]]>", at + 9);
  if (next === "?") return behind("?>", at + 2);
  // A document type declaration may contain further declarations in brackets.
  const end = tagEndOffset(text, at);
  const bracket = text.indexOf("[", at);
  return bracket > 0 && bracket < end ? behind("]>", bracket) : end + 1;
}

function tagNameAt(text: string, at: number): string {
  TAG_NAME.lastIndex = at;
  return TAG_NAME.exec(text)?.[1] ?? "";
}

const TAG_NAME = /<\/?([^\s/>]{0,1000})/y;

function localName(name: string): string {
  return name.slice(name.indexOf(":") + 1);
}

/**
 * Returns the offsets of the value of an attribute, without its quotes; undefined when the element does not
 * have it.
 */
function attributeValueRange(
  text: string,
  element: XmlElement,
  wanted: string,
): Pick<Located, "start" | "end"> | undefined {
  for (const { name, from, to } of attributeMatches(text, element)) {
    if (name === wanted || localName(name) === wanted) return { start: from, end: to };
  }
  return undefined;
}

function attributeNamesOf(
  text: string,
  element: XmlElement,
): { readonly keys: readonly string[]; readonly children: number } {
  const keys = [...attributeMatches(text, element)].map(({ name }) => `@${name}`);
  return { keys: keys.slice(0, MAX_LISTED_KEYS), children: keys.length };
}

function* attributeMatches(
  text: string,
  { start, open }: XmlElement,
): Generator<{ readonly name: string; readonly from: number; readonly to: number }> {
  ATTRIBUTE.lastIndex = start + 1 + tagNameAt(text, start).length;
  for (;;) {
    const match = ATTRIBUTE.exec(text);
    if (match === null || ATTRIBUTE.lastIndex > open) return;
    const next = ATTRIBUTE.lastIndex;
    const length = (match[2] ?? match[3] ?? "").length;
    yield { name: match[1] as string, from: next - 1 - length, to: next - 1 };
    ATTRIBUTE.lastIndex = next;
  }
}

const ATTRIBUTE = /\s+([^\s=/>"']{1,1000})\s*=\s*(?:"([^"]*)"|'([^']*)')/y;

function nothingAtError(
  found: readonly XmlElement[],
  children: readonly XmlElement[],
  depth: number,
  text: string,
): DeadEnd {
  if (found.length > 1) return { depth, type: "array", children: found.length };
  if (children.length === 0) {
    const [only] = found;
    return only !== undefined && depth === 0 && text.trim() === ""
      ? { depth, type: "document" }
      : { depth, type: "string" };
  }
  const keys = [...new Set(children.map(({ name }) => name))];
  return { depth, type: "object", keys: keys.slice(0, MAX_LISTED_KEYS), children: keys.length };
}
