/** The work of `outline`. It is loaded with its first call. */
import type { Location } from "../../policy/index.ts";
import { plural } from "../../engine/escape.ts";
import type { OutlineEntry } from "../../engine/read.ts";
import { Yielder } from "../../engine/yielder.ts";
import { withoutUndefined } from "../../schema/without-undefined.ts";
import { closedRootsNote, coveredRoots } from "../every-root.ts";
import type { CheckedArgs } from "../generated/internal.ts";
import type { OutlineData, OutlinedDefinition, OutlinedFile } from "../generated/types.ts";
import { anchorAt, type DefinedFile, definitionsFound, readDefinitions } from "../lib/definitions.ts";
import { contentsDigit, currentFileFacts } from "../lib/seen.ts";
import { NOTE_TOKENS, TokenRoom } from "../lib/tokens.ts";
import { type Answer, type Call, locationError } from "../lib/tool.ts";
import { findPaths } from "../lib/walks.ts";
import { leftOutNote } from "../render/left-out.ts";
import { definitionLine, headLine } from "../render/outline.ts";

type Args = CheckedArgs["outline"];

/** The number of files that are read concurrently. */
const CONCURRENT_READS = 8;

/** Answers a call of `outline`. */
export async function runOutline(args: Args, call: Call): Promise<Answer<OutlineData>> {
  const at = call.locations[0]!;
  const map = new OutlineMap(
    new TokenRoom({ most: args.max_tokens - NOTE_TOKENS, count: call.settings.tokens }),
  );
  if (!at.directory && (await call.fs.stat(at.path)).isFile) {
    const file = await readDefinitions(call, at);
    if (!file.known)
      throw locationError("UNSUPPORTED_FORMAT", at, {
        details: { kind: "text", reason: "unknown_language" },
      });
    map.add(await outlinedFile(file, at, args, call));
    return { data: map.data() };
  }
  const covered = await coveredRoots(args.path, call);
  let unlisted = 0;
  let late = false;
  for (const { path: root } of covered.roots) {
    const { paths, unreadable, complete } = await findPaths(call, root, {
      pattern: ["**/*"],
      hidden: args.hidden,
      respectIgnore: args.respect_ignore,
      timeoutMs: Math.max(1, call.timer.timeLeft?.() ?? args.timeout_ms),
    });
    unlisted += unreadable;
    late ||= !complete;
    if (await mapFiles(paths, args, call, map)) late = true;
  }
  const warnings = [
    closedRootsNote(covered, "mapped"),
    leftOutNote(unlisted, "mapped", undefined),
    late ? `not all files were mapped: ${args.timeout_ms} ms were over` : undefined,
    map.unreadNote(),
  ];
  const known = warnings.filter((note) => note !== undefined);
  return known.length === 0 ? { data: map.data() } : { warnings: known, data: map.data() };
}

/** Adds the files at some paths, in their order. Returns true when the time was over before the last one. */
async function mapFiles(paths: readonly string[], args: Args, call: Call, map: OutlineMap): Promise<boolean> {
  const yielder = new Yielder({ signal: call.signal });
  for (let from = 0; from < paths.length; from += CONCURRENT_READS) {
    if (call.timer.timeLeft?.() === 0) return true;
    const batch = paths.slice(from, from + CONCURRENT_READS);
    const files = await Promise.all(
      batch.map((path) => mappedFile(call.reach.found(path, "read"), args, call)),
    );
    // A file that is not shown does not count as listed.
    call.seen.noteListed(batch.filter((_, at) => map.add(files[at])));
    await yielder.yieldIfDue();
    call.reader.onProgress?.({ done: Math.min(from + CONCURRENT_READS, paths.length), total: paths.length });
  }
  return false;
}

/** Returns a file of a directory with its definitions; undefined for one that has none. */
async function mappedFile(at: Location, args: Args, call: Call): Promise<Mapped> {
  const file = await definitionsFound(call, at);
  if (file === undefined || file === "unread") return file;
  return outlinedFile(file, at, { ...args, depth: args.depth ?? 1 }, call);
}

/** A file of a map; `unread` for one that cannot be read, undefined for one without definitions. */
type Mapped = OutlinedFile | "unread" | undefined;

/** Returns a file with its definitions to a depth. */
async function outlinedFile(file: DefinedFile, at: Location, args: Args, call: Call): Promise<OutlinedFile> {
  const anchorOf = args.anchors ? await anchorsOf(file, at, call) : undefined;
  const levels: number[] = [];
  const definitions: OutlinedDefinition[] = [];
  for (const one of file.definitions) {
    const level = levelOf(one, file.definitions, levels);
    levels.push(level);
    if (level < (args.depth ?? Number.MAX_SAFE_INTEGER)) definitions.push(outlined(one, level, anchorOf));
  }
  return { path: call.reader.display(at.path), definitions, total: definitions.length };
}

/** Returns how deep a definition is shown: what a type has elsewhere, as in Go, is shown as its own. */
function levelOf(one: OutlineEntry, all: readonly OutlineEntry[], levels: readonly number[]): number {
  const parent = all[one.parent];
  return parent === undefined || parent.endLine < one.startLine ? 0 : levels[one.parent]! + 1;
}

function outlined(
  { kind, name, signature, startLine, endLine, leadLine }: OutlineEntry,
  level: number,
  anchorOf: ((line: number) => string) | undefined,
): OutlinedDefinition {
  return withoutUndefined({
    kind,
    name,
    signature,
    start_line: startLine,
    end_line: endLine,
    lead_line: leadLine < startLine ? leadLine : undefined,
    level,
    from: anchorOf?.(startLine),
    to: anchorOf?.(endLine),
  });
}

/** Returns a function that gives the anchor of a line, and records that the caller has anchors of this content. */
async function anchorsOf(file: DefinedFile, at: Location, call: Call): Promise<(line: number) => string> {
  const contents = await currentFileFacts(file.bytes, file.version).hash();
  call.seen.giveAnchors(at.path, contents);
  const digit = contentsDigit(contents);
  const anchor = anchorAt(file.text);
  return (line) => anchor(line) + digit;
}

/** What a file gives with a number of levels. */
interface Depth {
  readonly levels: number;
  readonly given: number;
  /** The tokens of the lines of these definitions. */
  readonly tokens: number;
}

/** A map of files that fills some room. */
class OutlineMap {
  readonly #files: OutlinedFile[] = [];
  readonly #room: TokenRoom;
  #total = 0;
  #truncated = false;
  /** The first file that did not fit. */
  #tooLarge: OutlinedFile | undefined;
  #unread = 0;

  constructor(room: TokenRoom) {
    this.#room = room;
  }

  /** Adds a file as far as it fits: with all levels, or with fewer. Returns whether it did. */
  add(file: Mapped): boolean {
    if (file === undefined) return false;
    if (file === "unread") {
      this.#unread++;
      return false;
    }
    if (file.total === 0) return false;
    this.#total++;
    for (const { levels, given, tokens } of this.#depths(file)) {
      if (!this.#room.takeTokens(tokens + this.#room.tokensOf(headLine(file, given)))) continue;
      const definitions = file.definitions.filter(({ level }) => level < levels);
      this.#truncated ||= given < file.definitions.length;
      this.#files.push({ ...file, definitions });
      return true;
    }
    this.#truncated = true;
    this.#tooLarge ??= file;
    return false;
  }

  /** Returns for each number of levels how many definitions it gives, and the tokens of their lines; all levels first. */
  #depths({ definitions }: OutlinedFile): readonly Depth[] {
    const byLevel: { given: number; tokens: number }[] = [];
    for (const one of definitions) {
      const { given, tokens } = byLevel[one.level] ?? { given: 0, tokens: 0 };
      byLevel[one.level] = { given: given + 1, tokens: tokens + this.#room.tokensOf(definitionLine(one)) };
    }
    let [given, tokens] = [0, 0];
    return Array.from(byLevel, (at, level) => {
      given += at?.given ?? 0;
      tokens += at?.tokens ?? 0;
      return { levels: level + 1, given, tokens };
    }).reverse();
  }

  /** Returns the first definitions of a file that fit. */
  #firstOf(file: OutlinedFile): OutlinedFile {
    this.#room.take(headLine(file, 0));
    const top = file.definitions.filter(({ level }) => level === 0);
    const end = top.findIndex((one) => !this.#room.take(definitionLine(one)));
    return { ...file, definitions: end === -1 ? top : top.slice(0, end) };
  }

  /** Returns a warning about files that could not be read. */
  unreadNote(): string | undefined {
    return this.#unread === 0 ? undefined : `${plural(this.#unread, "file")} could not be read`;
  }

  data(): OutlineData {
    // Where nothing fits as a whole, the beginning of the first file is better than nothing.
    const isNone = this.#files.length === 0 && this.#tooLarge !== undefined;
    return {
      files: isNone ? [this.#firstOf(this.#tooLarge as OutlinedFile)] : this.#files,
      total: this.#total,
      truncated: this.#truncated,
    };
  }
}
