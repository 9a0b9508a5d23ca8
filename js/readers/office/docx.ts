/**
 * Reads Word documents as plain Markdown: headings, lists, tables, links and notes. Text that change tracking
 * marks as deleted is left out, as is formatting.
 */
import type { ReaderInput, Rendered } from "../reader.ts";
import { unsupportedFormatError } from "../refuse.ts";
import { openPackage } from "./package.ts";
import { attributeValue, type OpenTag, xmlTokens } from "./xml.ts";

/** The maximum level of a list item, as in Word. A deeper one counts as this level. */
const MAX_LIST_LEVELS = 9;
/** The maximum depth of tables in tables. A deeper table is read as text of the cell that contains it. */
const MAX_NESTED_TABLES = 8;

/** Reads Word documents. */
export async function readDocx(input: ReaderInput): Promise<Rendered> {
  const parts = await openPackage(input);
  const body = await parts.part("word/document.xml");
  if (body === undefined)
    throw unsupportedFormatError(input.mime, "has no document in it", { reason: "damaged" });
  const context: DocumentContext = {
    headings: headingLevelByStyle((await parts.part("word/styles.xml")) ?? ""),
    bullets: bulletListLevels((await parts.part("word/numbering.xml")) ?? ""),
    links: await parts.relations("word/document.xml"),
  };
  const main = toMarkdown(body, context);
  const notes = toMarkdown((await parts.part("word/footnotes.xml")) ?? "", context);
  const text = [main.text, ...notes.notes.map(([id, note]) => `[^${id}]: ${note}`)].join("\n").trim();
  const warning = text === "" ? "The document has no text." : undefined;
  return { text, data: { format: "docx", paragraphs: main.paragraphs, images: main.images }, warning };
}

interface DocumentContext {
  /** The level of headings, by the id of the paragraph style. */
  readonly headings: ReadonlyMap<string, number>;
  /** The list levels that have bullets and no numbers, each as `numId/level`. */
  readonly bullets: ReadonlySet<string>;
  readonly links: ReadonlyMap<string, string>;
}

/** Yields the name of each tag that opens, and a function that returns the value of one of its attributes. */
function* openTags(xml: string): Generator<readonly [name: string, value: (name: string) => string]> {
  for (const token of xmlTokens(xml))
    if (token.kind === "open")
      yield [token.name, (name) => attributeValue(token.attributes, name) ?? ""] as const;
}

/**
 * Returns the level of each paragraph style that is a heading. A style is recognised by its name or its
 * outline level, which do not depend on the language.
 */
function headingLevelByStyle(xml: string): Map<string, number> {
  const levels = new Map<string, number>();
  let id = "";
  for (const [name, value] of openTags(xml)) {
    if (name === "style") id = value("styleId");
    const level =
      name === "name"
        ? levelOfStyleName(value("val").toLowerCase())
        : name === "outlineLvl" && !levels.has(id)
          ? levelOfOutline(value("val"))
          : 0;
    if (level > 0) levels.set(id, level);
  }
  return levels;
}

/** Returns the level of the headings of a style; 0 for another style. */
function levelOfStyleName(name: string): number {
  return name === "title" ? 1 : Number(/^heading ([1-9])$/.exec(name)?.[1] ?? 0);
}

/** Returns the level for an outline level, which counts from 0; 0 for none. */
function levelOfOutline(text: string): number {
  const level = Number(text);
  return text !== "" && level >= 0 && level < 9 ? level + 1 : 0;
}

function bulletListLevels(xml: string): Set<string> {
  const abstract = new Map<string, Set<string>>();
  const found = new Set<string>();
  let [outer, level, numId] = ["", "", ""];
  for (const [name, value] of openTags(xml)) {
    switch (name) {
      case "abstractNum":
        outer = value("abstractNumId");
        abstract.set(outer, new Set());
        break;
      case "lvl":
        level = value("ilvl");
        break;
      case "numFmt":
        if (value("val") === "bullet") abstract.get(outer)?.add(level);
        break;
      case "num":
        numId = value("numId");
        break;
      case "abstractNumId":
        if (numId === "") break;
        for (const bullet of abstract.get(value("val")) ?? []) found.add(`${numId}/${bullet}`);
        break;
    }
  }
  return found;
}

interface DocumentMarkdown {
  readonly text: string;
  readonly paragraphs: number;
  readonly images: number;
  /** The notes of the document, each with its id. */
  readonly notes: readonly (readonly [string, string])[];
}

/** A table that is being read. */
interface OpenTable {
  readonly rows: string[][];
  cell: string[];
}

/** A paragraph that is being read. */
interface OpenParagraph {
  text: string;
  style: string;
  /** The number of the list of which it is an item; empty for none. */
  list: string;
  level: number;
}

/** A link that is being read. Its target is empty when it leads to a place in the document itself. */
interface OpenLink {
  readonly target: string;
  text: string;
}

function toMarkdown(xml: string, context: DocumentContext): DocumentMarkdown {
  const into = new DocumentText(context);
  for (const token of xmlTokens(xml)) {
    if (token.kind === "text") into.characters(token.text);
    else if (token.kind === "open") OPENED[token.name]?.(into, token);
    else CLOSED[token.name]?.(into);
  }
  return into;
}

/** What each element does when it begins. */
const OPENED: Readonly<Record<string, ((into: DocumentText, tag: OpenTag) => void) | undefined>> = {
  __proto__: null as never,
  t: (into, { empty }) => into.setInText(!empty),
  tab: (into) => into.tab(),
  br: (into) => into.append("\n"),
  cr: (into) => into.append("\n"),
  noBreakHyphen: (into) => into.append("-"),
  pStyle: ({ paragraph }, tag) => {
    paragraph.style = valueIn(tag, "val");
  },
  numId: ({ paragraph }, tag) => {
    paragraph.list = valueIn(tag, "val") === "0" ? "" : valueIn(tag, "val");
  },
  ilvl: ({ paragraph }, tag) => {
    const level = Math.trunc(Number(valueIn(tag, "val")) || 0);
    paragraph.level = Math.min(MAX_LIST_LEVELS, Math.max(0, level));
  },
  hyperlink: (into, tag) => {
    if (!tag.empty) into.beginLink(valueIn(tag, "id"));
  },
  footnoteReference: (into, tag) => into.append(`[^${valueIn(tag, "id")}]`),
  docPr: (into, tag) => into.picture(valueIn(tag, "descr")),
  tbl: ({ tables }) => tables.begin(),
  tr: ({ tables }) => tables.beginRow(),
  tc: ({ tables }) => tables.beginCell(),
  // Notes with a type are separators.
  footnote: (into, tag) =>
    into.beginNote(attributeValue(tag.attributes, "type") === undefined ? valueIn(tag, "id") : ""),
};

/** What each element does when it ends. */
const CLOSED: Readonly<Record<string, ((into: DocumentText) => void) | undefined>> = {
  __proto__: null as never,
  t: (into) => into.setInText(false),
  p: (into) => {
    into.endLink();
    into.endParagraph();
  },
  hyperlink: (into) => into.endLink(),
  tc: ({ tables }) => tables.endCell(),
  tbl: (into) => into.endTable(),
  footnote: (into) => into.endNote(),
};

/** Returns the value of an attribute; an empty text when the tag does not have it. */
function valueIn({ attributes }: OpenTag, name: string): string {
  return attributeValue(attributes, name) ?? "";
}

/** The tables that are being read, the innermost last. A deeper one than the limit is text of its cell. */
class OpenTables {
  readonly #open: OpenTable[] = [];
  /** The number of open tables beyond {@link MAX_NESTED_TABLES}. */
  #beyond = 0;

  /** The table that receives text; undefined outside tables. */
  get current(): OpenTable | undefined {
    return this.#open.at(-1);
  }

  begin(): void {
    if (this.#open.length < MAX_NESTED_TABLES) this.#open.push({ rows: [], cell: [] });
    else this.#beyond += 1;
  }

  beginRow(): void {
    if (this.#beyond === 0) this.current?.rows.push([]);
  }

  beginCell(): void {
    const table = this.current;
    if (table !== undefined && this.#beyond === 0) table.cell = [];
  }

  endCell(): void {
    const table = this.#beyond === 0 ? this.current : undefined;
    table?.rows.at(-1)?.push(table.cell.filter((line) => line !== "").join(" "));
  }

  /** Ends a table, and returns its rows; undefined for one that is text of a cell. */
  end(): readonly (readonly string[])[] | undefined {
    if (this.#beyond === 0) return this.#open.pop()?.rows ?? [];
    this.#beyond -= 1;
    return undefined;
  }
}

/** The Markdown of a document that is being read. */
class DocumentText implements DocumentMarkdown {
  readonly tables: OpenTables = new OpenTables();
  readonly notes: [string, string][] = [];
  paragraph: OpenParagraph = newParagraph();
  paragraphs = 0;
  images = 0;
  readonly #context: DocumentContext;
  readonly #out: string[] = [];
  /** The last number of each level, by list. */
  readonly #counters = new Map<string, number[]>();
  /** The link that is being read. Links cannot contain links. */
  #link: OpenLink | undefined;
  #inText = false;
  #inList = false;
  #note = "";
  #noteLines: string[] = [];

  constructor(context: DocumentContext) {
    this.#context = context;
  }

  get text(): string {
    return withoutRepeatedEmptyLines(this.#out);
  }

  setInText(isInText: boolean): void {
    this.#inText = isInText;
  }

  characters(text: string): void {
    if (this.#inText) this.append(text);
  }

  // Texts are only appended to. Taking parts of a growing string would take time quadratic in the size of the
  // file.
  append(text: string): void {
    if (this.#link === undefined) this.paragraph.text += text;
    else this.#link.text += text;
  }

  /** The same element also defines a tab stop, in the properties that precede the text of a paragraph. */
  tab(): void {
    if (this.paragraph.text !== "" || this.#link !== undefined) this.append("\t");
  }

  picture(description: string): void {
    this.images += 1;
    this.append(`[image${pictureDescription(description)}]`);
  }

  beginLink(id: string): void {
    this.#link ??= { target: this.#context.links.get(id) ?? "", text: "" };
  }

  endLink(): void {
    if (this.#link === undefined) return;
    const { target, text } = this.#link;
    this.paragraph.text += target === "" || text === "" ? text : `[${text}](${target})`;
    this.#link = undefined;
  }

  endParagraph(): void {
    const { text: whole, style, list, level } = this.paragraph;
    this.paragraph = newParagraph();
    const text = whole.trimEnd();
    if (text === "") return;
    this.paragraphs += 1;
    const heading = this.#context.headings.get(style) ?? 0;
    const isItem = list !== "" && heading === 0;
    if (this.#inList && !isItem && this.tables.current === undefined) this.#write("");
    this.#inList = isItem;
    // An empty line separates paragraphs, but not items of a list, cells, or notes.
    if (isItem) this.#write(`${"  ".repeat(level)}${this.#marker(list, level)} ${text.trim()}`);
    else {
      this.#write(heading > 0 ? `${"#".repeat(Math.min(6, heading))} ${text.trim()}` : text);
      this.#write("");
    }
  }

  endTable(): void {
    const rows = this.tables.end();
    if (rows === undefined) return;
    for (const row of tableInMarkdown(rows)) this.#write(row);
    this.#write("");
  }

  beginNote(id: string): void {
    this.#note = id;
    this.#noteLines = [];
  }

  endNote(): void {
    const lines = this.#noteLines.filter((line) => line !== "");
    if (this.#note !== "") this.notes.push([this.#note, lines.join(" ")]);
    this.#note = "";
  }

  #write(line: string): void {
    const table = this.tables.current;
    if (table !== undefined) table.cell.push(line.trim());
    else if (this.#note !== "") this.#noteLines.push(line.trim());
    else this.#out.push(line);
  }

  /** Returns the marker of the next item of a list. */
  #marker(list: string, level: number): string {
    if (this.#context.bullets.has(`${list}/${level}`)) return "-";
    const counts = this.#counters.get(list) ?? [];
    this.#counters.set(list, counts);
    counts[level] = (counts[level] ?? 0) + 1;
    counts.length = level + 1;
    return `${counts[level]}.`;
  }
}

function newParagraph(): OpenParagraph {
  return { text: "", style: "", list: "", level: 0 };
}

function pictureDescription(text: string): string {
  return text === "" ? "" : `: ${text.slice(0, 500).replaceAll(/\s+/g, " ")}`;
}

/** Returns a table in Markdown; its first row is the header. */
function tableInMarkdown(rows: readonly (readonly string[])[]): string[] {
  const lines = rows.map(
    (row) => `| ${row.map((cell) => toOneLine(cell).replaceAll("|", "\\|")).join(" | ")} |`,
  );
  const head = rows[0]?.length ?? 0;
  if (head > 0) lines.splice(1, 0, `|${" --- |".repeat(head)}`);
  return lines;
}

function toOneLine(text: string): string {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .join(" ");
}

/** Joins the lines, and replaces several empty lines by one. */
function withoutRepeatedEmptyLines(lines: readonly string[]): string {
  return lines
    .join("\n")
    .replaceAll(/\n{3,}/g, "\n\n")
    .trim();
}
