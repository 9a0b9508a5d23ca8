/**
 * Locates values in XML by pointers such as `/project/dependencies/dependency/1/version` or `/svg/@width`:
 * names of elements from the root down, an index (from 0) among elements of the same name, and `@` before the
 * name of an attribute.
 *
 * The value of an element is the text between its tags. Entities stay as they are written; nothing is
 * expanded or fetched.
 */
import { tagEnd } from "../office/xml.ts";
import {
  broken,
  cut,
  type DeadEnd,
  indexOf,
  LISTED_KEYS,
  type Located,
  nothingAt,
  pointerOf,
} from "./pointer.ts";

const XML_MIME = "application/xml";
/** The maximum number of tokens of a pointer: at each level the element is scanned again. */
const MAX_XML_DEPTH = 100;

/** An element, by offsets in the text. */
interface Element {
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
  if (tokens.length > MAX_XML_DEPTH) throw broken(XML_MIME, `a pointer deeper than ${MAX_XML_DEPTH}`, 1);
  /** The elements that the tokens up to here name: several, if they have the same name. */
  let found: readonly Element[] = [{ name: "", start: 0, open: 0, close: text.length, end: text.length }];
  for (const [depth, token] of tokens.entries()) {
    const [only, ...others] = found as [Element, ...Element[]];
    if (token.startsWith("@") && others.length === 0 && depth > 0) {
      const value = depth + 1 === tokens.length ? attributeOf(text, only, token.slice(1)) : undefined;
      if (value === undefined)
        throw nothingAt(tokens, { depth, type: "object", ...attributesOf(text, only) });
      return located(text, value[0], value[1], "string", undefined, []);
    }
    const chosen = found[indexOf(token)];
    const children = others.length === 0 ? childrenOf(text, only) : [];
    const named = children.filter(({ name }) => name === token || local(name) === token);
    if (named.length > 0) found = named;
    else if (chosen !== undefined && depth > 0) found = [chosen];
    else throw nothingAt(tokens, deadEnd(found, children, depth, text));
  }
  return extent(text, found as [Element, ...Element[]], tokens);
}

function extent(
  text: string,
  [first, ...others]: [Element, ...Element[]],
  tokens: readonly string[],
): Located {
  const last = others.at(-1);
  if (last !== undefined) {
    const apart = text.slice(first.start, last.end).split(`<${first.name}`).length - 1 !== others.length + 1;
    const at = cut(pointerOf(tokens));
    const warnings = apart ? [`Other elements may stand between those of '${at}'.`] : [];
    return located(text, first.start, last.end, "array", others.length + 1, warnings);
  }
  const children = childrenOf(text, first).length;
  if (children === 0 || tokens.length === 0) {
    return located(
      text,
      first.open,
      first.close,
      children === 0 ? "string" : "object",
      children || undefined,
      [],
    );
  }
  const inner = text.slice(first.open, first.close);
  const start = first.open + inner.length - inner.trimStart().length;
  return located(text, start, first.open + inner.trimEnd().length, "object", children, []);
}

function located(
  text: string,
  start: number,
  end: number,
  type: string,
  children: number | undefined,
  warnings: readonly string[],
): Located {
  const startLine = lineAt(text, start);
  return {
    start,
    end,
    startLine,
    endLine: Math.max(startLine, lineAt(text, Math.max(start, end - 1))),
    type,
    children,
    warnings,
  };
}

function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf("\n"); at >= 0 && at < offset; at = text.indexOf("\n", at + 1)) line += 1;
  return line;
}

/** Returns the child elements. @throws UNSUPPORTED_FORMAT when tags do not match */
function childrenOf(text: string, parent: Element): Element[] {
  const children: Element[] = [];
  const names: string[] = [];
  let [start, open] = [0, 0];
  for (let at = text.indexOf("<", parent.open); at >= 0 && at < parent.close; at = text.indexOf("<", at)) {
    const passed = passOver(text, at);
    if (passed < 0) throw broken(XML_MIME, "a tag or comment does not end", lineAt(text, at));
    if (passed > 0) {
      at = passed;
      continue;
    }
    const end = tagEnd(text, at);
    if (end < 0) throw broken(XML_MIME, "a tag does not end", lineAt(text, at));
    const name = nameAt(text, at);
    if (text[at + 1] === "/") {
      if (names.pop() !== name) throw broken(XML_MIME, `</${cut(name)}> closes nothing`, lineAt(text, at));
      if (names.length === 0) children.push({ name, start, open, close: at, end: end + 1 });
    } else {
      if (names.length === 0) [start, open] = [at, end + 1];
      if (text[end - 1] !== "/") names.push(name);
      else if (names.length === 0) children.push({ name, start, open, close: open, end: open });
    }
    at = end + 1;
  }
  const unclosed = names.at(-1);
  if (unclosed !== undefined) throw broken(XML_MIME, `<${cut(unclosed)}> is not closed`, lineAt(text, start));
  return children;
}

/**
 * Returns the offset after the comment, CDATA section, processing instruction or declaration at `at`; 0 when
 * there is none, -1 when it is not closed.
 */
function passOver(text: string, at: number): number {
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
  const end = tagEnd(text, at);
  const bracket = text.indexOf("[", at);
  return bracket > 0 && bracket < end ? behind("]>", bracket) : end + 1;
}

function nameAt(text: string, at: number): string {
  TAG_NAME.lastIndex = at;
  return TAG_NAME.exec(text)?.[1] ?? "";
}

const TAG_NAME = /<\/?([^\s/>]{0,1000})/y;

function local(name: string): string {
  return name.slice(name.indexOf(":") + 1);
}

/**
 * Returns the offsets of the value of an attribute, without its quotes; undefined when the element does not
 * have it.
 */
function attributeOf(text: string, element: Element, wanted: string): readonly [number, number] | undefined {
  for (const { name, from, to } of attributes(text, element)) {
    if (name === wanted || local(name) === wanted) return [from, to];
  }
  return undefined;
}

function attributesOf(
  text: string,
  element: Element,
): { readonly keys: readonly string[]; readonly children: number } {
  const keys = [...attributes(text, element)].map(({ name }) => `@${name}`);
  return { keys: keys.slice(0, LISTED_KEYS), children: keys.length };
}

function* attributes(
  text: string,
  { start, open }: Element,
): Generator<{ readonly name: string; readonly from: number; readonly to: number }> {
  ATTRIBUTE.lastIndex = start + 1 + nameAt(text, start).length;
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

function deadEnd(
  found: readonly Element[],
  children: readonly Element[],
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
  return { depth, type: "object", keys: keys.slice(0, LISTED_KEYS), children: keys.length };
}
