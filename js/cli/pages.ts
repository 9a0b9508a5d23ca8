/**
 * Asks a tool page by page for all that a command line wants, so that it gets everything and memory stays bounded. A
 * person has no cursor, and a limit counts only what the person said.
 */
import { compareCodePoints } from "../backends/paths.ts";
import type { GrepData, ReadFileData, ReadOne } from "../tools/index.ts";
import { BYTES_PER_MIB, type Limits } from "../tools/lib/limits.ts";
import type { ToolResult } from "../workspace/index.ts";
import type { ToolCall } from "./command.ts";
import { hasTrait, TOOL_FOR_ACCESS } from "../schema/tool-facts.ts";
import { takesArgument } from "../schema/tool-names.ts";

/** Makes one call. */
export type RunCall = (call: ToolCall) => Promise<ToolResult>;

/** How many results may still come, over all paths of a command line. */
export interface ResultBudget {
  left: number;
}

/** The limits of a command line: the size of one page, which is what is in memory at a time. */
export const PAGE_LIMITS: Pick<Limits, "outputBytes" | "pageBytes"> = Object.freeze({
  outputBytes: 8 * BYTES_PER_MIB,
  pageBytes: 8 * BYTES_PER_MIB,
});

/** The longest time of a timer. A person ends a search with Ctrl-C. */
const NO_TIMEOUT_MS = 2_147_483_647;
/** The number of results and of lines that are asked for at once. */
const [PAGE_MATCHES, PAGE_NAMES, PAGE_LINES, PAGE_FILES] = [10_000, 100_000, 10_000, 10_000] as const;

/** The arguments that limit the number of results. */
const LIMIT_ARGUMENTS = ["max_results", "limit"] as const;
/** The lists in the data of a page that have its results. */
const RESULT_LISTS = ["matches", "files", "counts", "entries"] as const;

/** How a tool gives its results page by page, and how the data of its pages become that of one. */
interface Paging {
  pages(call: ToolCall, run: RunCall, budget: ResultBudget): AsyncGenerator<ToolResult>;
  join(joined: Record<string, unknown>, pages: readonly Record<string, unknown>[]): object;
}

const FILE_PAGING: Paging = {
  pages: pagesOfFile,
  join: (joined, pages) => joinedFile(joined, pages as unknown as readonly ReadFileData[]),
};

const FILES_PAGING: Paging = {
  pages: pagesOfFiles,
  join: (joined) => ({ ...joined, files: joinedPieces(joined["files"] as readonly ReadOne[]) }),
};

const LIST_PAGING: Paging = { pages: pagesOfList, join: withFirstTotal };

const SEARCH_PAGING: Paging = {
  pages: pagesOfList,
  join: (joined, pages) => joinedSearch(joined, pages as unknown as readonly GrepData[]),
};

/** A tool that answers at once. */
const NO_PAGING: Paging = {
  async *pages(call, run) {
    yield await run(call);
  },
  join: withFirstTotal,
};

/** Returns how a tool gives its pages, by the arguments with which it can be asked for one. */
function pagingOf(tool: string): Paging {
  if (takesArgument(tool, "start_byte")) return FILE_PAGING;
  if (hasTrait(tool, "takesLists")) return FILES_PAGING;
  // A ranked answer that keeps to max_tokens has the best results, and nothing gives more of them.
  const isRanked = takesArgument(tool, "max_tokens") && !takesArgument(tool, "cursor");
  if (isRanked || limitArgumentOf(tool) === undefined) return NO_PAGING;
  return takesArgument(tool, "max_line_chars") ? SEARCH_PAGING : LIST_PAGING;
}

/** Returns the argument for the number of results; undefined for a tool that cannot be asked for fewer. */
function limitArgumentOf(tool: string): string | undefined {
  return LIMIT_ARGUMENTS.find((argument) => takesArgument(tool, argument));
}

/** Returns the number of results that a person allows; infinite without a limit. */
export function budgetOf({ tool, args }: ToolCall): ResultBudget {
  const limit = (args as Record<string, unknown>)[limitArgumentOf(tool) ?? ""];
  return { left: typeof limit === "number" ? limit : Number.POSITIVE_INFINITY };
}

/** Makes the calls for everything that a call wants, and gives the result of each. The last may be a failure. */
export function pagesOf(
  call: ToolCall,
  run: RunCall,
  budget: ResultBudget = budgetOf(call),
): AsyncGenerator<ToolResult> {
  return pagingOf(call.tool).pages(call, run, budget);
}

async function* pagesOfList(
  { tool, args }: ToolCall,
  run: RunCall,
  budget: ResultBudget,
): AsyncGenerator<ToolResult> {
  const given = args as Record<string, unknown>;
  const limit = limitArgumentOf(tool) as string;
  const [page, more] = takesArgument(tool, "max_line_chars")
    ? [PAGE_MATCHES, { max_line_chars: 0 }]
    : [PAGE_NAMES, {}];
  let cursor: unknown;
  do {
    const asked = { ...given, ...more, timeout_ms: NO_TIMEOUT_MS, [limit]: Math.min(budget.left, page) };
    const result = await run({ tool, args: cursor === undefined ? asked : { ...asked, cursor } });
    yield result;
    if (!result.ok) return;
    const data = result.data as Record<string, unknown>;
    budget.left -= RESULT_LISTS.reduce(
      (sum, list) => sum + ((data[list] as unknown[] | undefined)?.length ?? 0),
      0,
    );
    cursor = data["next_cursor"];
  } while (cursor !== undefined && budget.left > 0);
}

/** Reads a file from its first wanted line to its last, in pages that may begin and end inside a line. */
async function* pagesOfFile({ tool, args }: ToolCall, run: RunCall): AsyncGenerator<ToolResult> {
  const { start_line, start_byte, max_lines, ...given } = args as Record<string, unknown>;
  let left = typeof max_lines === "number" ? max_lines : Number.POSITIVE_INFINITY;
  let from: Record<string, unknown> = { start_line, start_byte };
  for (;;) {
    const place = Object.entries(from).filter(([, value]) => value !== undefined);
    const asked = { ...given, ...Object.fromEntries(place), max_line_chars: 0 };
    const result = await run({ tool, args: { ...asked, max_lines: Math.min(left, PAGE_LINES) } });
    yield result;
    if (!result.ok) return;
    const { lines_read: read, next_start_line: line, next_start_byte: byte } = result.data as ReadFileData;
    // A line that continues on the next page is counted where it ends.
    left -= byte === undefined ? read : read - 1;
    if (left <= 0 || (line === undefined && byte === undefined)) return;
    from = byte === undefined ? { start_line: line } : { start_byte: byte };
  }
}

/** The data of a page of several files. A file that continues on the next page is `truncated`. */
interface FilesRead {
  readonly files: readonly ReadOne[];
  readonly skipped: readonly SkippedFile[];
}

interface SkippedFile {
  readonly path: string;
  readonly code?: string;
}

const isLate = ({ code }: SkippedFile): boolean => code === "LIMIT_EXCEEDED";

/** Reads several files in path order; those for which a page had no room come with the next. */
async function* pagesOfFiles({ tool, args }: ToolCall, run: RunCall): AsyncGenerator<ToolResult> {
  const given = args as Record<string, unknown>;
  const isLimited = given["max_files"] !== undefined || given["max_total_bytes"] !== undefined;
  let paths = given["paths"];
  for (;;) {
    const asked = { max_files: PAGE_FILES, timeout_ms: NO_TIMEOUT_MS, ...given, paths };
    const result = await run({ tool, args: asked });
    if (isLimited || !result.ok) {
      yield result;
      return;
    }
    const { files, skipped } = result.data as FilesRead;
    const late = skipped.filter(isLate).map(({ path }) => path);
    const [next] = [...late].sort(compareCodePoints);
    const isBefore = ({ path }: ReadOne): boolean => next === undefined || compareCodePoints(path, next) < 0;
    // What comes after a file without room is read again, so that all are in path order.
    const now = files.some(isBefore) ? files.filter(isBefore) : files;
    const others = skipped.filter((one) => !isLate(one));
    yield pageOfFiles(result, [], others);
    for (const file of now) {
      if (file.truncated) yield* piecesOfFile(file, result, run);
      else yield pageOfFiles(result, [file]);
    }
    const left = [...late, ...files.filter((file) => !now.includes(file)).map(({ path }) => path)];
    if (left.length === 0 || now.length === 0) return;
    paths = left;
  }
}

/** Reads a file that is larger than a page, as pieces of the answer to the call for several files. */
async function* piecesOfFile(file: ReadOne, answer: ToolResult, run: RunCall): AsyncGenerator<ToolResult> {
  for await (const page of pagesOfFile({ tool: TOOL_FOR_ACCESS.read, args: { path: file.path } }, run)) {
    if (!page.ok) return yield page;
    const { content, next_start_line: line, next_start_byte: byte } = page.data as ReadFileData;
    yield pageOfFiles(answer, [{ ...file, content, truncated: line !== undefined || byte !== undefined }]);
  }
}

/** Returns an answer with these files. */
function pageOfFiles(
  answer: ToolResult,
  files: readonly ReadOne[],
  skipped: readonly SkippedFile[] = [],
): ToolResult {
  return { ...answer, data: { ...(answer.data as object), files, skipped, truncated: false } } as ToolResult;
}

/** Returns files, with the pieces of one as one. */
function joinedPieces(files: readonly ReadOne[]): readonly ReadOne[] {
  const joined: ReadOne[] = [];
  for (const file of files) {
    const last = joined.at(-1);
    if (last?.path !== file.path) joined.push(file);
    else joined[joined.length - 1] = { ...file, content: last.content + file.content };
  }
  return joined;
}

/** Makes all calls for everything that a call wants, and returns their results as one. */
export async function wholeResult(call: ToolCall, run: RunCall): Promise<ToolResult> {
  const pages: ToolResult[] = [];
  for await (const page of pagesOf(call, run)) {
    if (!page.ok) return page;
    pages.push(page);
  }
  const [first] = pages as [ToolResult];
  const last = pages.at(-1) as ToolResult;
  if (!first.ok || !last.ok) return first;
  const all = pages.map(({ data }) => data as Record<string, unknown>);
  const data = withoutCursor(all.length === 1 ? (all[0] as object) : joinedData(call.tool, all));
  const meta = { ...last.meta, truncated: (data as { readonly truncated?: unknown }).truncated === true };
  return { ...first, data, meta, text: pages.map(({ text }) => text).join("\n") } as ToolResult;
}

function withoutCursor(data: object): object {
  const { next_cursor: _, ...rest } = data as { readonly next_cursor?: unknown };
  return rest;
}

/** Returns the data of several pages as that of one. */
function joinedData(tool: string, pages: readonly Record<string, unknown>[]): object {
  const last = pages.at(-1) as Record<string, unknown>;
  const list = (name: string): readonly unknown[] => pages.flatMap((page) => (page[name] as unknown[]) ?? []);
  const joined: Record<string, unknown> = { ...last };
  for (const name of ["matches", "files", "counts", "entries", "skipped", "cut_lines", "long"])
    if (pages.some((page) => Array.isArray(page[name]))) joined[name] = list(name);
  const warnings = [...new Set(list("warnings"))];
  if (warnings.length > 0) joined["warnings"] = warnings;
  return pagingOf(tool).join(joined, pages);
}

function withFirstTotal(
  joined: Record<string, unknown>,
  [first]: readonly Record<string, unknown>[],
): Record<string, unknown> {
  return first?.["total"] === undefined ? joined : { ...joined, total: first["total"] };
}

/** Returns the data of a search with the sums of its pages. Each page begins in the file in which the last one ended. */
function joinedSearch(joined: Record<string, unknown>, pages: readonly GrepData[]): object {
  const sum = (count: (page: GrepData) => number | undefined): number =>
    pages.reduce((total, page) => total + (count(page) ?? 0), 0);
  const shownIn = ({ matches, files, counts }: GrepData): number =>
    matches?.length ?? files?.length ?? (counts ?? []).reduce((total, { count }) => total + count, 0);
  const last = pages.at(-1) as GrepData;
  const { matches } = joined as unknown as GrepData;
  const paths = new Set((matches ?? []).map(({ path }) => path));
  return {
    ...joined,
    total_matches: sum(shownIn) + last.total_matches - shownIn(last),
    files_with_matches: matches === undefined ? sum((page) => page.files_with_matches) : paths.size,
    files_searched: sum((page) => page.files_searched) - (pages.length - 1),
    skipped_binary: sum((page) => page.skipped_binary),
    skipped_large: sum((page) => page.skipped_large),
    unreadable: sum((page) => page.unreadable),
  };
}

/** Returns the data of a file with the content of all its pages. */
function joinedFile(joined: Record<string, unknown>, pages: readonly ReadFileData[]): object {
  const [first] = pages as [ReadFileData];
  const within = pages.slice(0, -1).filter((page) => page.next_start_byte !== undefined).length;
  const read = pages.reduce((sum, { lines_read: lines }) => sum + lines, 0) - within;
  return {
    ...joined,
    content: pages.map(({ content }) => content).join(""),
    start_line: first.start_line,
    end_line: first.start_line + read - 1,
    lines_read: read,
  };
}
