/**
 * Parses the argument `pages`: pages of a PDF, sheets of a workbook or slides of a presentation. They count
 * from 1; negative numbers count from the end.
 */
import { invalidArgumentError } from "./refuse.ts";

/** The selected pages, and the argument for the remaining ones. */
export interface PageChoice {
  /** The numbers of the selected pages from 1, in the requested order and without repetition. */
  readonly numbers: readonly number[];
  /** The argument `pages` that selects the pages beyond the limit; absent when there are none. */
  readonly next?: string;
}

const PAGE_RANGE = /^(-?\d{1,9})(?:(-)(-?\d{1,9})?)?$/;
/** The maximum length of the argument in UTF-16 units. A longer one is refused. */
const MAX_PAGES_ARGUMENT_CHARS = 400;

/**
 * Returns the pages that an argument selects: `3`, `1-5`, `2-`, `-1`, `-3--1`, `1,4-6` or `all`, of a
 * document with `count` pages. At most `most` are selected. @throws INVALID_ARGUMENT
 */
export function choosePages(
  pages: string | undefined,
  count: number,
  most: number,
  unit = "page",
): PageChoice {
  const wanted: number[] = [];
  const text = pages?.replaceAll(/\s/g, "") ?? "";
  if (text.length > MAX_PAGES_ARGUMENT_CHARS)
    throw invalidArgumentError("pages", `Invalid pages: longer than ${MAX_PAGES_ARGUMENT_CHARS} characters.`);
  if (text === "" || text === "all") {
    for (let n = 1; n <= count; n++) wanted.push(n);
  } else {
    const seen = new Set<number>();
    for (const part of text.split(",")) {
      const [from, to] = parsePageRange(part, count, unit);
      for (let n = from; n <= to; n++) if (!seen.has(n)) seen.add(n) && wanted.push(n);
    }
  }
  const numbers = wanted.slice(0, most);
  const rest = wanted.slice(most);
  return rest.length === 0 ? { numbers } : { numbers, next: formatPageRanges(rest) };
}

function parsePageRange(part: string, count: number, unit: string): readonly [number, number] {
  const [match, first, dash, last] = PAGE_RANGE.exec(part) ?? [];
  if (match === undefined || first === undefined) {
    throw invalidArgumentError(
      "pages",
      `Invalid pages '${part.slice(0, 40)}': use "3", "1-5", "2-", "-1" or "1,4-6".`,
    );
  }
  const number = (digits: string): number => {
    const n = Number(digits);
    const absolute = n < 0 ? count + 1 + n : n;
    if (absolute < 1 || absolute > count || n === 0) {
      throw invalidArgumentError(
        "pages",
        `No ${unit} ${digits} in pages: there ${count === 1 ? "is 1" : `are ${count}`}.`,
        {
          count,
        },
      );
    }
    return absolute;
  };
  const from = number(first);
  if (dash === undefined) return [from, from];
  if (last === undefined) return [from, count];
  // A range that extends beyond the last page ends at the last page.
  const to = Number(last) > count ? count : number(last);
  if (to < from) throw invalidArgumentError("pages", `Invalid pages '${part}': ${last} is before ${first}.`);
  return [from, to];
}

/** Returns a short form of page numbers: `1-3,7` for `[1,2,3,7]`. */
export function formatPageRanges(numbers: readonly number[]): string {
  const parts: string[] = [];
  for (let at = 0; at < numbers.length; ) {
    const from = numbers[at] as number;
    let to = from;
    while (numbers[++at] === to + 1) to += 1;
    parts.push(from === to ? `${from}` : `${from}-${to}`);
    if (parts.length === 20) break;
  }
  return parts.join(",");
}
