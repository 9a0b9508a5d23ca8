/**
 * Reads workbooks as tables, sheet by sheet: cells separated by tabs, with letters for columns and numbers
 * for rows. A cell shows its last computed value; its formula only if it has no value. `pages` selects
 * sheets.
 */
import { withoutUndefined } from "../../schema/without-undefined.ts";
import { escapeControls, plural } from "../../engine/escape.ts";
import { choosePages } from "../pages.ts";
import type { ReaderInput, Rendered } from "../reader.ts";
import { unsupportedFormatError } from "../refuse.ts";
import { type OfficePackage, openPackage } from "./package.ts";
import { attributeValue, readXmlText, type OpenTag, type XmlToken, xmlTokens } from "./xml.ts";

/** The maximum number of columns that are shown. Further ones are left out. */
const MAX_COLUMNS = 256;
/** The maximum number of code points that are shown of one cell. A longer text is truncated. */
const MAX_CELL_CHARS = 1000;
const MAX_SHEETS = 200;
/** The numbers of the built-in formats that show a number as a date or time. */
const BUILT_IN_DATE_FORMATS = new Set([14, 15, 16, 17, 18, 19, 20, 21, 22, 45, 46, 47]);
const MS_PER_DAY = 86_400_000;

interface Sheet {
  readonly name: string;
  readonly part: string;
  readonly hidden: boolean;
}

/** Data of the workbook to which cells refer. */
interface WorkbookData {
  readonly strings: readonly string[];
  /** For each cell style: true when it shows a number as a date. */
  readonly dates: readonly boolean[];
  /** True when days count from 1904, as in workbooks of old Macs, and not from 1900. */
  readonly from1904: boolean;
}

/** Reads Excel workbooks. */
export async function readXlsx(input: ReaderInput): Promise<Rendered> {
  const parts = await openPackage(input);
  const book = await parts.part("xl/workbook.xml");
  if (book === undefined)
    throw unsupportedFormatError(input.mime, "has no workbook in it", { reason: "damaged" });
  const sheets = await sheetsOf(book, parts);
  const shared: WorkbookData = {
    strings: sharedStringsOf((await parts.part("xl/sharedStrings.xml")) ?? ""),
    dates: dateStylesOf((await parts.part("xl/styles.xml")) ?? ""),
    from1904: countsFrom1904(book),
  };
  const { numbers, next } = choosePages(input.options.pages, sheets.length, MAX_SHEETS, "sheet");
  const blocks: string[] = [];
  const facts: object[] = [];
  const left: number[] = [];
  let budget = input.limits.outputBytes;
  for (const number of numbers) {
    const sheet = sheets[number - 1] as Sheet;
    if (budget <= 0) {
      left.push(number);
      continue;
    }
    const grid = sheetGridOf((await parts.part(sheet.part)) ?? "", shared, budget);
    budget -= grid.text.length;
    const hidden = sheet.hidden ? ", hidden" : "";
    blocks.push(
      `--- sheet ${number}: ${escapeControls(sheet.name)} (${rowCount(grid.rows)}${hidden}) ---\n${grid.text}`.trimEnd(),
    );
    if (grid.cut) blocks.push("[rows left out: the output is full]");
    facts.push({
      name: sheet.name,
      rows: grid.rows,
      columns: grid.columns,
      hidden: sheet.hidden,
      cut: grid.cut,
    });
  }
  const rest = [...left.map(String), ...(next === undefined ? [] : [next])].join(",");
  const summary = `[workbook: ${plural(sheets.length, "sheet")}]`;
  const closing = rest === "" ? [] : [`[continue with pages="${rest}"]`];
  return {
    text: [summary, ...blocks, ...closing].join("\n"),
    data: withoutUndefined({
      format: "xlsx",
      sheet_count: sheets.length,
      names: sheets.slice(0, MAX_SHEETS).map(({ name }) => name),
      sheets: facts,
      next_pages: rest === "" ? undefined : rest,
    }),
  };
}

async function sheetsOf(book: string, parts: OfficePackage): Promise<Sheet[]> {
  const targets = await parts.relations("xl/workbook.xml");
  const sheets: Sheet[] = [];
  for (const token of xmlTokens(book)) {
    if (token.kind !== "open" || token.name !== "sheet") continue;
    const part = targets.get(/[\s:](?:\w+:)id\s*=\s*["']([^"']*)/.exec(token.attributes)?.[1] ?? "");
    sheets.push({
      name: attributeValue(token.attributes, "name") ?? "",
      part: part ?? "",
      hidden: (attributeValue(token.attributes, "state") ?? "visible") !== "visible",
    });
  }
  return sheets;
}

function countsFrom1904(book: string): boolean {
  for (const token of xmlTokens(book)) {
    if (token.kind !== "open") continue;
    if (token.name === "sheets") break;
    if (token.name === "workbookPr")
      return /^(1|true)$/.test(attributeValue(token.attributes, "date1904") ?? "");
  }
  return false;
}

/** Returns the texts of the shared string table, without phonetic guides. */
function sharedStringsOf(xml: string): string[] {
  const strings: string[] = [];
  let shared = "";
  readXmlText(xml, "rPh", {
    text(text) {
      shared += text;
    },
    open({ name, empty }) {
      if (name === "si" && empty) strings.push("");
    },
    close(name) {
      if (name !== "si") return;
      strings.push(shared);
      shared = "";
    },
  });
  return strings;
}

/** Returns for each cell style whether it shows a date. */
function dateStylesOf(xml: string): boolean[] {
  const custom = new Map<number, boolean>();
  const dates: boolean[] = [];
  let inCells = false;
  for (const token of xmlTokens(xml)) {
    if (token.kind === "close" && token.name === "cellXfs") inCells = false;
    if (token.kind !== "open") continue;
    const number = (name: string): number => Number(attributeValue(token.attributes, name));
    if (token.name === "numFmt") {
      // Excel allows at most 255 characters; this limits the work on a malicious file.
      const code = (attributeValue(token.attributes, "formatCode") ?? "")
        .slice(0, 255)
        .replaceAll(/"[^"]*"|\[[^\]]*\]|\\./g, "");
      custom.set(number("numFmtId"), /[dmyhs]/i.test(code));
    } else if (token.name === "cellXfs") inCells = !token.empty;
    else if (token.name === "xf" && inCells) {
      const format = number("numFmtId");
      dates.push(custom.get(format) ?? BUILT_IN_DATE_FORMATS.has(format));
    }
  }
  return dates;
}

interface SheetGrid {
  readonly text: string;
  /** The number of rows with content. */
  readonly rows: number;
  readonly columns: number;
  /** True when rows were left out. */
  readonly cut: boolean;
}

function sheetGridOf(xml: string, shared: WorkbookData, budget: number): SheetGrid {
  const scan = new SheetScan(shared, budget);
  for (const token of xmlTokens(xml)) scan.take(token);
  return scan.grid();
}

/** Collects the rows of a sheet from the tokens of its part. */
class SheetScan {
  readonly #shared: WorkbookData;
  readonly #budget: number;
  readonly #lines: string[] = [];
  #rows = 0;
  #columns = 0;
  #size = 0;
  #cut = false;
  /** The number of the row, and its cells. */
  #number = 0;
  #cells: string[] = [];
  /** The number of the column, and what is known of its cell. */
  #column = 0;
  #cell = { type: "", style: 0 };
  #value = "";
  #formula = "";
  /** The name of the element around a text. */
  #inside = "";

  constructor(shared: WorkbookData, budget: number) {
    this.#shared = shared;
    this.#budget = budget;
  }

  take(token: XmlToken): void {
    if (token.kind === "text") this.#takeText(token.text);
    else if (token.kind === "open") this.#open(token);
    else this.#close(token.name);
  }

  grid(): SheetGrid {
    const [rows, columns, cut] = [this.#rows, this.#columns, this.#cut];
    const head = Array.from({ length: columns }, (_, index) => columnLettersOf(index + 1));
    const text = rows === 0 ? "[empty]" : [`\t${head.join("\t")}`, ...this.#lines].join("\n");
    return { text, rows, columns, cut };
  }

  #takeText(text: string): void {
    if (this.#inside === "v" || this.#inside === "t") this.#value += text;
    else if (this.#inside === "f") this.#formula += text;
  }

  #open({ name, attributes, empty }: OpenTag): void {
    if (name === "row") this.#number = Number(attributeValue(attributes, "r")) || this.#number + 1;
    else if (name === "c") {
      this.#column = columnNumberOf(attributeValue(attributes, "r") ?? "") || this.#column + 1;
      const type = attributeValue(attributes, "t") ?? "";
      this.#cell = { type, style: Number(attributeValue(attributes, "s") ?? 0) };
      [this.#value, this.#formula] = ["", ""];
    } else if (!empty) this.#inside = name;
  }

  #close(name: string): void {
    this.#inside = "";
    if (name === "row") this.#endRow();
    if (name !== "c") return;
    const text = shownCellValue(this.#value, this.#formula, this.#cell, this.#shared);
    if (this.#column <= MAX_COLUMNS && text !== "") this.#cells[this.#column - 1] = text;
  }

  #endRow(): void {
    if (this.#cells.some((text) => text !== "")) this.#addRow();
    this.#cells = [];
    this.#column = 0;
  }

  #addRow(): void {
    this.#rows += 1;
    const line = `${this.#number}\t${Array.from(this.#cells, (text) => text ?? "").join("\t")}`;
    this.#size += line.length + 1;
    if (this.#size > this.#budget) {
      this.#cut = true;
      return;
    }
    this.#lines.push(line);
    this.#columns = Math.max(this.#columns, this.#cells.length);
  }
}

function shownCellValue(
  value: string,
  formula: string,
  { type, style }: { readonly type: string; readonly style: number },
  { strings, dates, from1904 }: WorkbookData,
): string {
  let text = value;
  if (type === "s") text = strings[Number(value)] ?? "";
  else if (type === "b") text = value === "1" ? "TRUE" : "FALSE";
  else if ((type === "" || type === "n") && value !== "" && dates[style])
    text = isoDateOf(Number(value), from1904) ?? value;
  if (text === "" && formula !== "") text = `=${formula}`;
  const one = text.replaceAll(/[\t\r\n]+/g, " ");
  return one.length > MAX_CELL_CHARS ? `${one.slice(0, MAX_CELL_CHARS)}... [truncated]` : one;
}

/** Returns the ISO 8601 form of a day number: a date, a time, or both; undefined for a number that is no date. */
function isoDateOf(days: number, from1904: boolean): string | undefined {
  if (!Number.isFinite(days) || days < 0 || days > 2_958_466) return undefined;
  // Excel counts 29 February 1900, a day that did not exist, so earlier days are off by one.
  const epoch = from1904 ? Date.UTC(1904, 0, 1) : Date.UTC(1899, 11, days < 60 ? 31 : 30);
  const iso = new Date(epoch + Math.round(days * 86_400) * 1000).toISOString();
  if (days < 1) return iso.slice(11, 19);
  return days * MS_PER_DAY === Math.trunc(days) * MS_PER_DAY
    ? iso.slice(0, 10)
    : iso.slice(0, 19).replace("T", " ");
}

/** Returns the number of the column in a cell reference: 2 for `B7`; 0 when there is no letter. */
function columnNumberOf(reference: string): number {
  let column = 0;
  for (const letter of /^[A-Z]{1,3}/.exec(reference)?.[0] ?? "")
    column = column * 26 + letter.charCodeAt(0) - 64;
  return column;
}

function columnLettersOf(column: number): string {
  let letters = "";
  for (let left = column; left > 0; left = Math.floor((left - 1) / 26)) {
    letters = String.fromCharCode(65 + ((left - 1) % 26)) + letters;
  }
  return letters;
}

const rowCount = (rows: number): string => (rows === 1 ? "1 row" : `${rows} rows`);
