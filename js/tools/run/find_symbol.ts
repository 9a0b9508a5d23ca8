/** The search of `find_symbol`. It is loaded with its first call. */
import { plural } from "../../engine/escape.ts";
import type { OutlineEntry } from "../../engine/read.ts";
import type { SearchMatch, SearchResult } from "../../engine/search-types.ts";
import { Yielder } from "../../engine/yielder.ts";
import { withoutUndefined } from "../../schema/without-undefined.ts";
import { closedRootsNote, coveredRoots, grepRoots, largeFilesNote, pathOfResult } from "../every-root.ts";
import type { CheckedArgs } from "../generated/internal.ts";
import type { FindSymbolData, SymbolDefinition, SymbolUse } from "../generated/types.ts";
import { linesIn } from "../lib/contents.ts";
import {
  type DefinedFile,
  definitionsFound,
  definitionsNamed,
  DefinitionNames,
  partsOfName,
} from "../lib/definitions.ts";
import { assertWellFormed } from "../lib/text.ts";
import { NOTE_TOKENS, TokenRoom } from "../lib/tokens.ts";
import type { Answer, Call } from "../lib/tool.ts";
import { searchedGlobs } from "../lib/walks.ts";
import { withFirstPlaces } from "../render/symbol.ts";

type Args = CheckedArgs["find_symbol"];

/** The most lines with the name that are looked at. */
const MAX_LINES = 20_000;
/** The maximum size in bytes of these lines. */
const MAX_LINES_BYTES = 4 << 20;
/** The UTF-16 units after which a line is cut. */
const MAX_LINE_CHARS = 200;
/** The number of files that are read concurrently. */
const CONCURRENT_READS = 8;

/** Answers a call of `find_symbol`. */
export async function runFindSymbol(args: Args, call: Call): Promise<Answer<FindSymbolData>> {
  assertWellFormed("name", args.name);
  const root = call.locations[0]!.path;
  // The names around it are compared with the definitions of each file.
  const lastPart = partsOfName(args.name).at(-1) ?? args.name;
  const covered = await coveredRoots(args.path, call);
  const query = {
    pattern: lastPart,
    regex: false,
    case: "sensitive",
    word: true,
    glob: args.glob && searchedGlobs(call, args.glob),
    output: "content",
    maxResults: MAX_LINES,
    maxTextBytes: MAX_LINES_BYTES,
    maxLineChars: MAX_LINE_CHARS,
    maxFileBytes: call.settings.limits.grepFileBytes,
    ignoreFiles: call.settings.ignoreFiles,
    timeoutMs: Math.max(1, call.timer.timeLeft?.() ?? args.timeout_ms),
    signal: call.signal,
  } as const;
  const found = await grepRoots(call, covered, query, "path");
  const places = await placesOf(linesByFile(found, root), { name: args.name, lastPart }, call);
  const { definitions, complete } = places;
  const uses = args.uses ? places.uses : [];
  const data = {
    ...{ definitions, uses, total_definitions: definitions.length, total_uses: uses.length },
    // Lines beyond the most that are looked at may define the name.
    complete: complete && found.complete && !found.truncated,
  };
  const room = new TokenRoom({ most: args.max_tokens - NOTE_TOKENS, count: call.settings.tokens });
  const shown = withFirstPlaces(data, "max_tokens", (text) => room.take(text));
  // A file that is not shown does not count as listed.
  const listed = new Set([...shown.definitions, ...shown.uses].map(({ path }) => places.paths.get(path)!));
  call.seen.noteListed(listed);
  const notes = [
    found.unreadable > 0 ? `${plural(found.unreadable, "entry", "entries")} could not be read` : undefined,
    await largeFilesNote(
      call,
      covered.roots.map(({ path }) => path),
      query,
      {
        skipped: found.skippedLarge,
        above: query.maxFileBytes,
      },
    ),
    places.unread > 0 ? `the definitions of ${plural(places.unread, "file")} could not be read` : undefined,
    places.changed > 0 ? `${plural(places.changed, "file")} changed during the search` : undefined,
    closedRootsNote(covered, "searched"),
  ];
  return { data: shown, warnings: notes.filter((note) => note !== undefined) };
}

/** Returns the lines that were found by the path of their file, in the order in which they were found. */
function linesByFile({ matches }: SearchResult, root: string): ReadonlyMap<string, readonly SearchMatch[]> {
  const files = new Map<string, SearchMatch[]>();
  for (const match of matches) {
    const path = pathOfResult(match.path, root);
    const lines = files.get(path);
    if (lines === undefined) files.set(path, [match]);
    else lines.push(match);
  }
  return files;
}

/** A name that a call looks for. */
interface WantedName {
  /** As the caller gives it. */
  readonly name: string;
  /** The name itself, without what is around it. */
  readonly lastPart: string;
}

/** The places of a name. */
interface SymbolPlaces {
  readonly definitions: readonly SymbolDefinition[];
  readonly uses: readonly SymbolUse[];
  /** The real path of each file by the shown one. */
  readonly paths: ReadonlyMap<string, string>;
  /** The number of files whose definitions could not be read. */
  readonly unread: number;
  /** The number of files that no longer have a line that was found. */
  readonly changed: number;
  /** True when the definitions of every file were found in time, in the content that was searched. */
  readonly complete: boolean;
}

/** Sorts the lines of files into definitions and uses; all are uses in files whose definitions are not known. */
async function placesOf(
  files: ReadonlyMap<string, readonly SearchMatch[]>,
  wanted: WantedName,
  call: Call,
): Promise<SymbolPlaces> {
  const yielder = new Yielder({ signal: call.signal });
  const all = [...files];
  const paths = new Map<string, string>();
  const definitions: SymbolDefinition[] = [];
  const uses: SymbolUse[] = [];
  let [inTime, unread, changed] = [true, 0, 0];
  for (let from = 0; from < all.length; from += CONCURRENT_READS) {
    inTime &&= call.timer.timeLeft?.() !== 0;
    const batch = all.slice(from, from + CONCURRENT_READS);
    const read = await Promise.all(
      batch.map(([path, lines]) => (inTime ? definitionsAt(path, lines, wanted, call) : [])),
    );
    for (const [at, [path, lines]] of batch.entries()) {
      const entries = read[at] as FileDefinitions;
      unread += Number(entries === "unread");
      changed += Number(entries === "changed");
      const shown = call.reader.display(path);
      paths.set(shown, path);
      const found = placesInFile({ shown, lines, entries: knownOf(entries), wanted });
      append(definitions, found.definitions);
      append(uses, found.uses);
      await yielder.yieldIfDue();
    }
  }
  return { definitions, uses, paths, unread, changed, complete: inTime && unread + changed === 0 };
}

/** The definitions of a file; `changed` where a line that was found is no longer in it. */
type FileDefinitions = readonly OutlineEntry[] | "unread" | "changed";

function append<T>(list: T[], more: readonly T[]): void {
  for (const one of more) list.push(one);
}

const knownOf = (found: FileDefinitions): readonly OutlineEntry[] => (typeof found === "string" ? [] : found);

/** Returns the definitions of a file: none where its language is not known. */
async function definitionsAt(
  path: string,
  lines: readonly SearchMatch[],
  { lastPart }: WantedName,
  call: Call,
): Promise<FileDefinitions> {
  const file = await definitionsFound(call, call.reach.found(path, "read"));
  if (file === undefined || file === "unread") return file ?? [];
  return (await hasLines(file, lines, lastPart, call)) ? file.definitions : "changed";
}

/** Returns true when the lines that were found still have the name, as they do in a file that has not changed. */
async function hasLines(
  { text }: DefinedFile,
  lines: readonly SearchMatch[],
  name: string,
  { signal }: Call,
): Promise<boolean> {
  const spans = lines.map(({ line }) => ({ first: line - 1, count: 1 }));
  const read = await linesIn({ bytes: text, encoding: "utf-8", name: "" }, spans, signal);
  return read.every(([line]) => line?.includes(name) === true);
}

/** A file in which the name was found. */
interface FileWithName {
  /** Its path as the caller sees it. */
  readonly shown: string;
  /** By their number. */
  readonly lines: readonly SearchMatch[];
  /** By their first line, an outer one before those inside. */
  readonly entries: readonly OutlineEntry[];
  readonly wanted: WantedName;
}

function placesInFile({
  shown: path,
  lines,
  entries,
  wanted: { name, lastPart },
}: FileWithName): Pick<SymbolPlaces, "definitions" | "uses"> {
  const names = new DefinitionNames(entries);
  const named = new Set(definitionsNamed(name, entries));
  const definitions = [...named].map((one) => ({
    ...{ path, kind: one.kind, name: names.of(one), signature: one.signature },
    ...{ start_line: one.startLine, end_line: one.endLine },
  }));
  // The first line in a definition with the name is taken to be the one that defines it.
  const definingLines = new Set([...named].map((one) => firstLineIn(one, lines)));
  const otherNamesByLine = new Map(
    entries
      .filter((one) => one.name === lastPart && !named.has(one))
      .map((one) => [firstLineIn(one, lines), names.of(one)]),
  );
  const uses: SymbolUse[] = [];
  const around = new EnclosingDefinitions(entries);
  for (const { line, text } of lines) {
    const inner = around.innermostAt(line);
    if (definingLines.has(line)) continue;
    const defines = otherNamesByLine.get(line);
    const place = defines === undefined ? { in: inner && names.of(inner) } : { defines };
    uses.push(withoutUndefined({ path, line, text, ...place }));
  }
  return { definitions, uses };
}

/** Returns the number of the first of some lines, which are in order, that is in a definition; undefined for none. */
function firstLineIn(
  { startLine, endLine }: OutlineEntry,
  lines: readonly SearchMatch[],
): number | undefined {
  let [low, high] = [0, lines.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (lines[middle]!.line < startLine) low = middle + 1;
    else high = middle;
  }
  const line = lines[low]?.line;
  return line !== undefined && line <= endLine ? line : undefined;
}

/** The definitions around lines that are asked for in their order, so that each definition is looked at once. */
class EnclosingDefinitions {
  readonly #entries: readonly OutlineEntry[];
  readonly #open: OutlineEntry[] = [];
  #next = 0;

  constructor(entries: readonly OutlineEntry[]) {
    this.#entries = entries;
  }

  /** Returns the last definition in the order of their first lines that has a line: an inner one comes after those around it. */
  innermostAt(line: number): OutlineEntry | undefined {
    for (; this.#next < this.#entries.length; this.#next++) {
      const entry = this.#entries[this.#next]!;
      if (entry.startLine > line) break;
      this.#open.push(entry);
    }
    while (this.#open.length > 0 && this.#open.at(-1)!.endLine < line) this.#open.pop();
    return this.#open.at(-1);
  }
}
