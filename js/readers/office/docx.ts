/**
 * Reads Word documents as plain Markdown: headings, lists, tables, links and notes. Text that change tracking
 * marks as deleted is left out, as is formatting.
 */
import type { Reader, ReaderInput, Rendered } from "../reader.ts";
import { unsupportedFormatError } from "../refuse.ts";
import { openPackage } from "./package.ts";
import { attributeValue, xmlTokens } from "./xml.ts";

const DOCX_MIME = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
/** The maximum level of a list item, as in Word. A deeper one counts as this level. */
const MAX_LIST_LEVELS = 9;
/** The maximum depth of tables in tables. A deeper table is read as text of the cell that contains it. */
const MAX_NESTED_TABLES = 8;

/** Reads Word documents. */
export const docxReader: Reader = Object.freeze({
  mimes: [DOCX_MIME],
  reusable: true,
  async read(input: ReaderInput): Promise<Rendered> {
    const parts = await openPackage(input);
    const body = await parts.part("word/document.xml");
    if (body === undefined)
      throw unsupportedFormatError(DOCX_MIME, "has no document in it", { reason: "damaged" });
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
  },
});

interface DocumentContext {
  /** The level of headings, by the id of the paragraph style. */
  readonly headings: ReadonlyMap<string, number>;
  /** The list levels that have bullets and no numbers, each as `numId/level`. */
  readonly bullets: ReadonlySet<string>;
  readonly links: ReadonlyMap<string, string>;
}

/**
 * Returns the level of each paragraph style that is a heading. A style is recognised by its name or its
 * outline level, which do not depend on the language.
 */
function headingLevelByStyle(xml: string): Map<string, number> {
  const levels = new Map<string, number>();
  let id = "";
  for (const token of xmlTokens(xml)) {
    if (token.kind !== "open") continue;
    if (token.name === "style") id = attributeValue(token.attributes, "styleId") ?? "";
    else if (token.name === "name") {
      const name = attributeValue(token.attributes, "val")?.toLowerCase() ?? "";
      const level = name === "title" ? 1 : Number(/^heading ([1-9])$/.exec(name)?.[1] ?? 0);
      if (level > 0) levels.set(id, level);
    } else if (token.name === "outlineLvl" && !levels.has(id)) {
      const level = Number(attributeValue(token.attributes, "val"));
      if (level >= 0 && level < 9) levels.set(id, level + 1);
    }
  }
  return levels;
}

function bulletListLevels(xml: string): Set<string> {
  const abstract = new Map<string, Set<string>>();
  const found = new Set<string>();
  let [outer, level, numId] = ["", "", ""];
  for (const token of xmlTokens(xml)) {
    if (token.kind !== "open") continue;
    const value = (name: string): string => attributeValue(token.attributes, name) ?? "";
    if (token.name === "abstractNum") {
      outer = value("abstractNumId");
      abstract.set(outer, new Set());
    } else if (token.name === "lvl") level = value("ilvl");
    else if (token.name === "numFmt" && value("val") === "bullet") abstract.get(outer)?.add(level);
    else if (token.name === "num") numId = value("numId");
    else if (token.name === "abstractNumId" && numId !== "") {
      for (const bullet of abstract.get(value("val")) ?? []) found.add(`${numId}/${bullet}`);
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

function toMarkdown(xml: string, { headings, bullets, links }: DocumentContext): DocumentMarkdown {
  const out: string[] = [];
  const notes: [string, string][] = [];
  const tables: OpenTable[] = [];
  const counters = new Map<string, number[]>();
  /**
   * The link that is being read; its target is empty when it leads to a place in the document itself. Links
   * cannot contain links.
   */
  let link: { readonly target: string; text: string } | undefined;
  /** The number of open tables beyond {@link MAX_NESTED_TABLES}. */
  let beyond = 0;
  let [paragraph, style, list, level, note] = ["", "", "", 0, ""];
  let [paragraphs, images] = [0, 0];
  let inText = false;
  let inList = false;
  let noteLines: string[] = [];

  // Texts are only appended to. Taking parts of a growing string would take time quadratic in the size of the
  // file.
  const append = (text: string): void => {
    if (link === undefined) paragraph += text;
    else link.text += text;
  };

  const write = (line: string): void => {
    const table = tables.at(-1);
    if (table !== undefined) table.cell.push(line.trim());
    else if (note !== "") noteLines.push(line.trim());
    else out.push(line);
  };

  const endLink = (): void => {
    if (link === undefined) return;
    const { target, text } = link;
    paragraph += target === "" || text === "" ? text : `[${text}](${target})`;
    link = undefined;
  };

  const endParagraph = (): void => {
    const text = paragraph.trimEnd();
    const heading = headings.get(style) ?? 0;
    if (text !== "") {
      paragraphs += 1;
      const item = list !== "" && heading === 0;
      if (inList && !item && tables.length === 0) write("");
      inList = item;
      if (item) write(`${"  ".repeat(level)}${marker()} ${text.trim()}`);
      else write(heading > 0 ? `${"#".repeat(Math.min(6, heading))} ${text.trim()}` : text);
      // An empty line separates paragraphs, but not items of a list, cells, or notes.
      if (!item) write("");
    }
    [paragraph, style, list, level] = ["", "", "", 0];
  };

  const marker = (): string => {
    if (bullets.has(`${list}/${level}`)) return "-";
    let counts = counters.get(list);
    if (counts === undefined) {
      counts = [];
      counters.set(list, counts);
    }
    counts[level] = (counts[level] ?? 0) + 1;
    counts.length = level + 1;
    return `${counts[level]}.`;
  };

  for (const token of xmlTokens(xml)) {
    if (token.kind === "text") {
      if (inText) append(token.text);
      continue;
    }
    if (token.kind === "open") {
      const value = (name: string): string | undefined => attributeValue(token.attributes, name);
      switch (token.name) {
        case "t":
          inText = !token.empty;
          break;
        case "tab":
          // The same element also defines a tab stop, in the properties that precede the text of a paragraph.
          if (paragraph !== "" || link !== undefined) append("\t");
          break;
        case "br":
        case "cr":
          append("\n");
          break;
        case "noBreakHyphen":
          append("-");
          break;
        case "pStyle":
          style = value("val") ?? "";
          break;
        case "numId":
          list = value("val") === "0" ? "" : (value("val") ?? "");
          break;
        case "ilvl":
          level = Math.min(MAX_LIST_LEVELS, Math.max(0, Math.trunc(Number(value("val")) || 0)));
          break;
        case "hyperlink":
          if (!token.empty) link ??= { target: links.get(value("id") ?? "") ?? "", text: "" };
          break;
        case "footnoteReference":
          append(`[^${value("id") ?? ""}]`);
          break;
        case "docPr":
          images += 1;
          append(`[image${pictureDescription(value("descr"))}]`);
          break;
        case "tbl":
          if (tables.length < MAX_NESTED_TABLES) tables.push({ rows: [], cell: [] });
          else beyond += 1;
          break;
        case "tr":
          if (beyond === 0) tables.at(-1)?.rows.push([]);
          break;
        case "tc": {
          const table = tables.at(-1);
          if (table !== undefined && beyond === 0) table.cell = [];
          break;
        }
        case "footnote":
          note = value("type") === undefined ? (value("id") ?? "") : "";
          noteLines = [];
          break;
      }
      continue;
    }
    switch (token.name) {
      case "t":
        inText = false;
        break;
      case "p":
        endLink();
        endParagraph();
        break;
      case "hyperlink":
        endLink();
        break;
      case "tc": {
        const table = beyond === 0 ? tables.at(-1) : undefined;
        table?.rows.at(-1)?.push(table.cell.filter((line) => line !== "").join(" "));
        break;
      }
      case "tbl": {
        if (beyond > 0) {
          beyond -= 1;
          break;
        }
        const table = tables.pop();
        if (table !== undefined) for (const row of tableInMarkdown(table.rows)) write(row);
        write("");
        break;
      }
      case "footnote":
        if (note !== "") notes.push([note, noteLines.filter((line) => line !== "").join(" ")]);
        note = "";
        break;
    }
  }
  return { text: withoutRepeatedEmptyLines(out), paragraphs, images, notes };
}

function pictureDescription(text: string | undefined): string {
  return text === undefined || text === "" ? "" : `: ${text.slice(0, 500).replaceAll(/\s+/g, " ")}`;
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
