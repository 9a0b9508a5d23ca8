/**
 * Locates values in YAML by the optional package `yaml`. Only its syntax tree is used. Aliases are followed
 * one at a time and never expanded, so that a small document cannot grow in memory.
 *
 * A file with several documents is treated as an array of them: the first token is the index of a document.
 */
import type { Document, Node, Pair, ParsedNode } from "yaml";
import { rethrowImportFailure, loadOptionalPackage, tooLargeError } from "../refuse.ts";
import {
  syntaxError,
  truncateForMessage,
  type DeadEnd,
  arrayIndexOf,
  MAX_LISTED_KEYS,
  type Located,
  nothingAtPointerError,
  pointerOf,
} from "./pointer.ts";

const YAML_MIME = "application/yaml";
/**
 * The maximum length of a text in UTF-16 units, because the package takes seconds for 1 MiB. A longer one is
 * refused with TOO_LARGE.
 */
const MAX_YAML_LENGTH = 1024 * 1024;
/**
 * The maximum depth of nesting. Thousands of levels exhaust the stack in the package, and V8 then ends the
 * process, because it cannot compile a regular expression without stack.
 */
const MAX_YAML_DEPTH = 200;
/** The maximum number of aliases that lead to each other. */
const MAX_ALIAS_CHAIN = 50;

/** Locates the value at a pointer in a YAML text. */
export async function locateYaml(text: string, tokens: readonly string[]): Promise<Located> {
  const yaml = await loadOptionalPackage("yaml", YAML_MIME, () =>
    import(/* webpackIgnore: true */ "yaml").catch(rethrowImportFailure),
  );
  if (text.length > MAX_YAML_LENGTH)
    throw tooLargeError(text.length, MAX_YAML_LENGTH, "read it as text, without json_pointer");
  if (minNestingDepth(text) > MAX_YAML_DEPTH)
    throw syntaxError(YAML_MIME, `nested deeper than ${MAX_YAML_DEPTH}`, 1);
  const lines = new yaml.LineCounter();
  let documents: Document.Parsed[];
  try {
    const parsed = yaml.parseAllDocuments(text, {
      lineCounter: lines,
      uniqueKeys: false, // Reported below instead, where they matter.
      prettyErrors: false,
      strict: false,
      logLevel: "silent",
    });
    documents = Array.isArray(parsed) ? (parsed as Document.Parsed[]) : [];
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    throw syntaxError(YAML_MIME, "nested too deeply", 1, cause);
  }
  const lineOf = (offset: number): number => lines.linePos(offset).line;
  const warnings: string[] = [];
  let alias = false;
  let depth = 0;
  if (documents.length > 1) {
    depth = 1;
    const index = arrayIndexOf(tokens[0] ?? "");
    const chosen = documents[index];
    if (chosen === undefined)
      throw nothingAtPointerError(tokens, { depth: 0, type: "array", children: documents.length });
    documents = [chosen];
  }
  const document = documents[0];
  const error = document?.errors[0];
  if (error !== undefined)
    throw syntaxError(
      YAML_MIME,
      truncateForMessage(firstLineOfMessage(error.message)),
      lineOf(error.pos[0]),
      error,
    );
  let node: Node | null = document?.contents ?? null;
  if (document === undefined || node === null)
    throw nothingAtPointerError(tokens, { depth: 0, type: "document" });

  const follow = (start: Node | null, at: number): Node | null => {
    let target = start;
    for (let hops = 0; yaml.isAlias(target); hops++) {
      if (hops === MAX_ALIAS_CHAIN) return null;
      const name = target.source;
      alias = true;
      warnings.push(
        `'${truncateForMessage(pointerOf(tokens.slice(0, at)))}' is an alias; shown is its anchor &${truncateForMessage(name)}.`,
      );
      target = target.resolve(document) ?? null;
    }
    return target;
  };

  for (; depth < tokens.length; depth++) {
    node = follow(node, depth);
    const token = tokens[depth] as string;
    const next: Node | null | DeadEnd = child(node, token, depth);
    if (next !== null && "depth" in next) throw nothingAtPointerError(tokens, next);
    if (next === null) throw nothingAtPointerError(tokens, { depth: depth + 1, type: "null" });
    node = next;
  }
  const target = follow(node, tokens.length);
  if (target === null || target.range == null) throw nothingAtPointerError(tokens, { depth, type: "null" });
  const [start, end] = target.range;
  const whole = tokens.length === 0;
  // The package lets a block collection end at the next token; blank lines in between are excluded here.
  const trimmed = start + text.slice(start, end).trimEnd().length;
  return {
    start: whole ? 0 : start,
    end: whole ? text.length : trimmed,
    startLine: lineOf(whole ? 0 : start),
    endLine: lineOf(Math.max(start, trimmed - 1)),
    type: typeOf(target),
    children: yaml.isCollection(target) ? target.items.length : undefined,
    alias,
    warnings: warnings.slice(0, 5),
  };

  function child(parent: Node | null, token: string, at: number): Node | null | DeadEnd {
    if (yaml.isMap(parent)) {
      const pairs = parent.items as Pair<ParsedNode, ParsedNode | null>[];
      const same = pairs.filter(({ key }) => yaml.isScalar(key) && keyText(key) === token);
      const last = same.at(-1);
      if (last !== undefined) {
        if (same.length > 1) {
          const path = truncateForMessage(pointerOf(tokens.slice(0, at + 1)));
          const all = same.map(({ key }) => lineOf(key.range[0])).join(", ");
          warnings.push(`'${path}' is there ${same.length} times, on lines ${all}; the last counts.`);
        }
        return last.value;
      }
      const merged = pairs.some(({ key }) => yaml.isScalar(key) && keyText(key) === "<<");
      if (merged) warnings.push("Keys that '<<' merges are not looked at.");
      const keys = pairs
        .slice(0, MAX_LISTED_KEYS)
        .map(({ key }) => (yaml.isScalar(key) ? keyText(key) : "…"));
      return { depth: at, type: "object", keys, children: pairs.length };
    }
    if (yaml.isSeq(parent)) {
      const item = parent.items[arrayIndexOf(token)];
      if (yaml.isNode(item)) return item;
      if (yaml.isPair(item)) return item.value as Node | null;
      return { depth: at, type: "array", children: parent.items.length };
    }
    return { depth: at, type: parent === null ? "null" : typeOf(parent) };
  }

  function keyText(key: { readonly source?: string | undefined; readonly value: unknown }): string {
    return typeof key.value === "string" ? key.value : (key.source ?? String(key.value));
  }

  function typeOf(of: Node): string {
    if (yaml.isMap(of)) return "object";
    if (yaml.isSeq(of)) return "array";
    const value: unknown = yaml.isScalar(of) ? of.value : undefined;
    return value === null ? "null" : typeof value === "bigint" ? "number" : typeof value;
  }
}

/**
 * Returns a depth that the nesting has at least, from brackets, indentation and list marks. Quotes are not
 * considered.
 */
function minNestingDepth(text: string): number {
  let flow = 0;
  let deepest = 0;
  /** The columns at which the open block collections begin. */
  const columns: number[] = [];
  for (const line of text.split("\n")) {
    let markers = 0;
    let start = 0;
    for (; start < line.length; start++) {
      const c = line[start];
      if ((c === "-" || c === "?") && (line[start + 1] === " " || line[start + 1] === "\t")) markers += 1;
      else if (c !== " " && c !== "\t") break;
    }
    if (start === line.length && markers === 0) continue;
    const column = start - 2 * markers;
    while ((columns.at(-1) ?? -1) >= column) columns.pop();
    columns.push(column);
    for (let at = start; at < line.length; at++) {
      const c = line.charCodeAt(at);
      if (c === 0x5b || c === 0x7b) flow += 1;
      else if ((c === 0x5d || c === 0x7d) && flow > 0) flow -= 1;
      else if (c === 0x3a && at + 1 < line.length && line.charCodeAt(at + 1) <= 0x20) markers += 1;
      if (flow > deepest) deepest = flow;
    }
    deepest = Math.max(deepest, flow + columns.length + markers - 1);
  }
  return deepest;
}

function firstLineOfMessage(text: string): string {
  return text.split("\n", 1)[0] ?? "";
}
