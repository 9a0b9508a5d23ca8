/** The search of `find_symbol`. It is loaded with its first call. */
import { engine } from "../../engine/current.ts";
import { fromEngine } from "../../engine/errors.ts";
import { plural } from "../../engine/escape.ts";
import type { OutlineEntry } from "../../engine/read.ts";
import type { SearchMatch, SearchResult } from "../../engine/search-types.ts";
import { Yielder } from "../../engine/yielder.ts";
import { withoutUndefined } from "../../schema/without-undefined.ts";
import { closedRootsNote, coveredRoots, grepInCovered, grepInRoot, pathOfResult } from "../every-root.ts";
import type { CheckedArgs } from "../generated/internal.ts";
import type { FindSymbolData, SymbolDefinition, SymbolUse } from "../generated/types.ts";
import { definitionsNamed, partsOfName, qualifiedName, readDefinitions } from "../lib/definitions.ts";
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
  const root = call.locations[0]!.path;
  // Whatever is around a name is known once the definitions of a file are.
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
  const found =
    covered.roots.length > 1
      ? await grepInCovered(call, covered, query, "path")
      : await grepInRoot(call, root, "path", query);
  const places = await placesOf(linesByFile(found, root), args.name, call);
  const { definitions, complete } = places;
  const uses = args.uses ? places.uses : [];
  const data = {
    ...{ definitions, uses, total_definitions: definitions.length, total_uses: uses.length },
    // Lines beyond the most that are looked at may define the name.
    complete: complete && found.complete && !found.truncated,
  };
  const room = new TokenRoom({ most: args.max_tokens - NOTE_TOKENS, count: call.settings.tokens });
  const shown = withFirstPlaces(data, (text) => room.take(text));
  const notes = [
    found.unreadable > 0 ? `${plural(found.unreadable, "entry", "entries")} could not be read` : undefined,
    found.skippedLarge > 0 ? `${plural(found.skippedLarge, "large file")} not searched` : undefined,
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

/** The places of a name. */
interface Places {
  readonly definitions: readonly SymbolDefinition[];
  readonly uses: readonly SymbolUse[];
  /** False when the time was over before the definitions of every file were found. */
  readonly complete: boolean;
}

/** Sorts the lines of files into definitions and uses; all are uses in files that are not read before the time is over. */
async function placesOf(
  files: ReadonlyMap<string, readonly SearchMatch[]>,
  name: string,
  call: Call,
): Promise<Places> {
  const yielder = new Yielder({ signal: call.signal });
  const all = [...files];
  const definitions: SymbolDefinition[] = [];
  const uses: SymbolUse[] = [];
  let complete = true;
  for (let from = 0; from < all.length; from += CONCURRENT_READS) {
    complete &&= call.timer.timeLeft?.() !== 0;
    const batch = all.slice(from, from + CONCURRENT_READS);
    const found = await Promise.all(
      batch.map(async ([path, lines]) => {
        const entries = complete ? await definitionsAt(path, call) : [];
        return placesInFile({ shown: call.reader.display(path), lines, entries, name });
      }),
    );
    for (const one of found) {
      definitions.push(...one.definitions);
      uses.push(...one.uses);
    }
    call.seen.noteListed(batch.map(([path]) => path));
    await yielder.yieldIfDue();
  }
  return { definitions, uses, complete };
}

/** Returns the definitions of a file: none where its language is not known, or it cannot be read. */
async function definitionsAt(path: string, call: Call): Promise<readonly OutlineEntry[]> {
  if (!engine().reading.isOutlined(path)) return [];
  try {
    return (await readDefinitions(call, call.reach.found(path, "read"))).definitions;
  } catch (thrown) {
    const error = fromEngine(thrown);
    if (error.code === "CANCELLED" || error.code === "INTERNAL") throw error;
    return [];
  }
}

/** A file in which the name was found. */
interface FileWithName {
  /** Its path as the caller sees it. */
  readonly shown: string;
  readonly lines: readonly SearchMatch[];
  readonly entries: readonly OutlineEntry[];
  /** The name of the call. */
  readonly name: string;
}

function placesInFile({ shown: path, lines, entries, name }: FileWithName): Omit<Places, "complete"> {
  const named = definitionsNamed(name, entries);
  const definitions = named.map((one) => ({
    ...{ path, kind: one.kind, name: qualifiedName(one, entries).join("."), signature: one.signature },
    ...{ start_line: one.startLine, end_line: one.endLine },
  }));
  // The line with the name of a definition is the first one with it.
  const own = new Set(
    named.map((one) => lines.find(({ line }) => line >= one.startLine && line <= one.endLine)?.line),
  );
  const others = lines.filter(({ line }) => !own.has(line));
  const uses = others.map(({ line, text }) => {
    // An inner definition comes after those around it.
    const around = entries.findLast((one) => one.startLine <= line && line <= one.endLine);
    return withoutUndefined({ path, line, text, in: around && qualifiedName(around, entries).join(".") });
  });
  return { definitions, uses };
}
