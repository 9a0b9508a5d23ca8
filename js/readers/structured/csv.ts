/**
 * Finds records and fields in CSV and TSV files (RFC 4180).
 *
 * In a pointer, `/3` is the record at index 3, where the header is at index 0; `/3/1` and `/3/name` are
 * fields of it, by index or by the name in the header. A quoted field may contain line breaks, so a record
 * can span several lines.
 */
import { arrayIndexOf, MAX_LISTED_KEYS, type Located, nothingAtPointerError } from "./pointer.ts";

/** The offsets of one field, including its quotes. */
interface CsvField {
  readonly start: number;
  readonly end: number;
  readonly line: number;
  readonly endLine: number;
}

/** Returns the text of a field without its quotes. */
function unquotedFieldText(text: string, { start, end }: CsvField): string {
  const raw = text.slice(start, end);
  if (!raw.startsWith('"')) return raw;
  return raw.slice(1, raw.length > 1 && raw.endsWith('"') ? -1 : undefined).replaceAll('""', '"');
}

/**
 * Returns the delimiter of a text: the one of tab, semicolon and comma that occurs most often in the first
 * line. Always a tab for TSV.
 */
function delimiterOf(text: string, mime: string): string {
  if (mime === "text/tab-separated-values") return "\t";
  const first = text.slice(0, 4096).split("\n", 1)[0] ?? "";
  const count = (delimiter: string): number => first.split(delimiter).length - 1;
  return [",", ";", "\t"].reduce((best, next) => (count(next) > count(best) ? next : best));
}

/** Reads the fields of records in order. Never fails: a quote that is not closed ends with the text. */
class CsvScanner {
  readonly #text: string;
  readonly #delimiter: string;
  #at: number;
  #line = 1;

  constructor(text: string, delimiter: string) {
    this.#text = text;
    this.#delimiter = delimiter;
    this.#at = text.startsWith("\ufeff") ? 1 : 0;
  }

  /** Yields the fields of every record. */
  *records(): Generator<readonly CsvField[]> {
    while (this.#at < this.#text.length) {
      const fields = [this.#field()];
      while (this.#text[this.#at] === this.#delimiter) {
        this.#at += 1;
        fields.push(this.#field());
      }
      this.#at += 1; // The line ending.
      this.#line += 1;
      yield fields;
    }
  }

  /** Reads a field up to its delimiter, its line ending or the end of the text. */
  #field(): CsvField {
    const text = this.#text;
    const [start, line] = [this.#at, this.#line];
    if (text[start] === '"') this.#skipQuoted();
    while (this.#at < text.length && text[this.#at] !== this.#delimiter && text[this.#at] !== "\n")
      this.#at += 1;
    const at = this.#at;
    const end = text[at] !== this.#delimiter && at > start && text[at - 1] === "\r" ? at - 1 : at;
    return { start, end, line, endLine: this.#line };
  }

  /** Goes on to what follows the quote that closes a field. A quote in it is written twice. */
  #skipQuoted(): void {
    const text = this.#text;
    for (let at = this.#at + 1; at < text.length; at++) {
      if (text[at] === "\n") this.#line += 1;
      else if (text[at] === '"' && text[at + 1] === '"') at += 1;
      else if (text[at] === '"') {
        this.#at = at + 1;
        return;
      }
    }
    this.#at = text.length;
  }
}

/** Returns the location of a record or a field. */
export function locateCsv(text: string, tokens: readonly string[], mime: string): Located {
  const [row = "", column] = tokens;
  const delimiter = delimiterOf(text, mime);
  const wanted = arrayIndexOf(row);
  let header: readonly CsvField[] = [];
  let count = 0;
  for (const record of new CsvScanner(text, delimiter).records()) {
    if (count === 0) header = record;
    if (count++ !== wanted) continue;
    const first = record[0] as CsvField;
    const last = record.at(-1) as CsvField;
    if (column === undefined) {
      return {
        start: first.start,
        end: last.end,
        startLine: first.line,
        endLine: last.endLine,
        type: "record",
        children: record.length,
        warnings: [],
      };
    }
    const names = header.map((field) => unquotedFieldText(text, field));
    const byName = names.indexOf(column);
    const field = record[byName >= 0 ? byName : arrayIndexOf(column)];
    if (field === undefined || tokens.length > 2) {
      if (field !== undefined) throw nothingAtPointerError(tokens, { depth: 2, type: "field" });
      throw nothingAtPointerError(tokens, {
        depth: 1,
        type: "object",
        keys: names.slice(0, MAX_LISTED_KEYS),
        children: Math.max(names.length, record.length),
      });
    }
    const { start, end, line, endLine } = field;
    return { start, end, startLine: line, endLine, type: "field", warnings: [] };
  }
  throw nothingAtPointerError(tokens, { depth: 0, type: "array", children: count });
}
