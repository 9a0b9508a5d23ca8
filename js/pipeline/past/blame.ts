/**
 * Finds out which call wrote each line of a file. It begins with the present content and goes back through the recorded
 * changes of the path: lines that a change added are its own, and the others are looked for in the content that it
 * found. A file that was moved is followed to the path that it had before.
 */
import { engine } from "../../engine/current.ts";
import { FilewrightError } from "../../engine/errors.ts";
import type { HunkRow } from "../../hooks/changed-files.ts";
import type { HistoryRecord, Log, StateBefore } from "../../log/index.ts";
import { statesOfChange } from "../../log/past.ts";
import { hasTrait, takesBack } from "../../schema/tool-facts.ts";
import { textIfDecodable } from "../../tools/render/preview.ts";
import type { Session } from "../session.ts";
import { withStage } from "../staged.ts";
import { historyChange, sideOf } from "./file-change.ts";
import { withoutUndefined } from "../../schema/without-undefined.ts";

/** Consecutive lines with the same origin. */
export interface BlamedLines {
  /** The first line, from 1. */
  readonly line: number;
  /** The number of lines. */
  readonly count: number;
  /**
   * `call`: the call below wrote them. `older`: they were there before the recorded changes. `elsewhere`: a person or
   * another program wrote them between two recorded changes, or after the last one. `unknown`: a call or what was before
   * it, because the history does not have the content that the call found.
   */
  readonly origin: "call" | "older" | "elsewhere" | "unknown";
  /** The id of the call, with the origin `call`. */
  readonly callId?: string;
  /** The tool of the call. */
  readonly tool?: string;
  /** The time of the call: ISO 8601, UTC. */
  readonly time?: string;
  /** The agent that made the call, if it has a name. */
  readonly agent?: string;
}

/** The origins of the lines of a file. */
export interface Blame {
  /** The path, relative to the working directory if it is inside. */
  readonly path: string;
  /** `sha256:` of the content whose lines these are. */
  readonly hash: string;
  /** The lines in their order; empty for an empty file. */
  readonly lines: readonly BlamedLines[];
}

/** The largest file whose lines are looked up, in bytes. */
const MAX_BLAMED_BYTES = 4 * 1024 * 1024;
/** The maximum number of recorded changes of a file that are read. Lines that are older than these are `older`. */
const MAX_READ_CHANGES = 500;

/**
 * Returns which call wrote each line of a file.
 * @throws FilewrightError as reading the file does; LIMIT_EXCEEDED beyond 4 MB, BINARY_FILE for what is not text
 */
export async function blameFile(workspace: Session, typed: string): Promise<Blame> {
  const session = withStage(workspace, false);
  const { resolver } = session.files;
  const { path } = resolver.resolve(typed, "read");
  const bytes = await blamableBytes(session, path);
  const hash = engine().sha256(bytes);
  const lines = new LineOrigins(bytes);
  if (!lines.isText)
    throw new FilewrightError("BINARY_FILE", `${resolver.display(path)} is not text`, {
      hint: "only text has lines",
    });
  const { log } = session.past;
  const past: Past = { log, records: await log.list() };
  let place: HistoryPosition | undefined = { path, from: 0 };
  for (let read = 0; place !== undefined && read < MAX_READ_CHANGES && !lines.isDone; read++)
    place = await goBackFrom(place, past, lines);
  return Object.freeze({ path: resolver.display(path), hash, lines: lines.runs() });
}

/** Returns the content of a file. @throws FilewrightError LIMIT_EXCEEDED beyond 4 MB, and as reading the file does */
async function blamableBytes({ files: { fs, resolver } }: Session, path: string): Promise<Uint8Array> {
  const stat = await fs.stat(path);
  if (stat.type === "file" && stat.size > MAX_BLAMED_BYTES)
    throw new FilewrightError("LIMIT_EXCEEDED", `${resolver.display(path)} has more than 4 MB`, {
      hint: "the lines of smaller files can be looked up",
    });
  return fs.readBytes(path);
}

/** The recorded changes, the newest first. */
interface Past {
  readonly log: Log;
  readonly records: readonly HistoryRecord[];
}

/** A position in the history of a file: its path then, and the newest of the changes that may be before it. */
interface HistoryPosition {
  readonly path: string;
  readonly from: number;
}

/**
 * Goes back over the last change of a file before a place. Returns the place before it; undefined where none is known.
 */
async function goBackFrom(
  { path, from }: HistoryPosition,
  past: Past,
  lines: LineOrigins,
): Promise<HistoryPosition | undefined> {
  const at = past.records.findIndex(({ paths }, index) => index >= from && paths.includes(path));
  const record = past.records[at];
  if (record === undefined) return undefined;
  const next = at + 1;
  if (restoresContents(record.header.tool)) {
    const restored = await indexOfState(past, { path, from: next }, lines.hash);
    if (restored !== undefined) return { path, from: restored + 1 };
  }
  const states = await statesOf(past, record, path);
  const source = states.find((state) => state.from === path);
  if (source !== undefined) return { path: source.path, from: next };
  const state = states.find((one) => one.path === path);
  return state === undefined || lines.goBack(record, state) ? { path, from: next } : undefined;
}

function statesOf({ log }: Past, record: HistoryRecord, path: string): Promise<readonly StateBefore[]> {
  return statesOfChange(log, record, (one) => one === path);
}

type Origin = HistoryRecord | "older" | "elsewhere" | "unknown";

/** The number of changes that are looked through for the content that was restored. */
const MAX_COMPARED_STATES = 50;

/** Returns true for a tool that restores an earlier content, whose lines are those of the calls that wrote them. */
function restoresContents(tool: string): boolean {
  return takesBack(tool) && !hasTrait(tool, "takesBackPart");
}

/** Returns the index of the last change before a place that had found a content; undefined for one that none has. */
async function indexOfState(
  past: Past,
  { path, from }: HistoryPosition,
  hash: string,
): Promise<number | undefined> {
  const { records } = past;
  for (let at = from; at < Math.min(records.length, from + MAX_COMPARED_STATES); at++) {
    const record = records[at] as HistoryRecord;
    if (!record.paths.includes(path)) continue;
    const found = (await statesOf(past, record, path)).find((state) => state.path === path);
    const image = found?.image;
    if (image?.type !== "file") continue;
    const bytes = sideOf(image)?.bytes;
    if ((image.hash ?? (bytes && engine().sha256(bytes))) === hash) return at;
  }
  return undefined;
}

/** The lines of a content, and the origins that are known so far of the lines of the present file. */
class LineOrigins {
  /** The content whose lines {@link #places} counts. */
  #bytes: Uint8Array;
  /** The line of the present file for each line of the content, from 0; undefined for one that is not in it any more. */
  #places: (number | undefined)[];
  readonly #origins: Origin[];
  readonly isText: boolean;

  constructor(bytes: Uint8Array) {
    const text = textIfDecodable(bytes);
    this.isText = text !== null;
    this.#bytes = bytes;
    const count = countLines(text ?? "");
    this.#places = Array.from({ length: count }, (_, line) => line);
    this.#origins = Array.from({ length: count }, () => "older");
  }

  /** `sha256:` of the content. */
  get hash(): string {
    return engine().sha256(this.#bytes);
  }

  /** True when every line of the present file has its origin. */
  get isDone(): boolean {
    return this.#places.every((place) => place === undefined);
  }

  /** Goes back to the content that a change found. Returns false when that is not known, or was no text. */
  goBack(record: HistoryRecord, { path, image, after }: StateBefore): boolean {
    // A change that does not record what it left is taken to have left what is there.
    const isSame = after?.hash === undefined || after.hash === engine().sha256(this.#bytes);
    const origin = isSame ? record : "elsewhere";
    if (image === null || image.type !== "file") return this.#end(origin);
    const before = sideOf(image)?.bytes;
    if (before === undefined) return this.#end("unknown");
    if (textIfDecodable(before) === null) return this.#end(origin);
    const { hunks } = historyChange({ path, display: path }, sideOf(image), {
      type: "file",
      bytes: this.#bytes,
    });
    const rows = hunks.flatMap((hunk) => hunk.rows);
    this.#places = this.#placesBefore(rows, origin);
    this.#bytes = before;
    return true;
  }

  /** Gives the lines that a change added their origin, and returns the places of the lines that it found. */
  #placesBefore(rows: readonly HunkRow[], origin: Origin): (number | undefined)[] {
    const places: (number | undefined)[] = [];
    let next = 0;
    const keep = (count: number): void => {
      for (let left = count; left > 0; left--) places.push(this.#places[next++]);
    };
    for (const row of rows) {
      if (row.new === null) {
        if (row.old !== null) keep(row.old - 1 - places.length);
        places.push(undefined);
        continue;
      }
      keep(row.new - 1 - next);
      const place = this.#places[next++];
      if (row.kind === "same") places.push(place);
      else if (place !== undefined) this.#origins[place] = origin;
    }
    keep(this.#places.length - next);
    return places;
  }

  /** Gives all remaining lines one origin. */
  #end(origin: Origin): false {
    for (const place of this.#places) if (place !== undefined) this.#origins[place] = origin;
    this.#places = [];
    return false;
  }

  /** Returns the origins, with consecutive lines of one origin together. */
  runs(): readonly BlamedLines[] {
    const runs: BlamedLines[] = [];
    for (let at = 0; at < this.#origins.length; ) {
      const origin = this.#origins[at];
      let end = at + 1;
      while (end < this.#origins.length && this.#origins[end] === origin) end += 1;
      const place = { line: at + 1, count: end - at };
      runs.push(
        Object.freeze(
          typeof origin === "object"
            ? { ...place, ...factsOf(origin) }
            : { ...place, origin: origin ?? "older" },
        ),
      );
      at = end;
    }
    return Object.freeze(runs);
  }
}

function factsOf({
  header: { callId, tool, time, agent },
}: HistoryRecord): Omit<BlamedLines, "line" | "count"> {
  const at = new Date(time).toISOString();
  return withoutUndefined({ origin: "call" as const, callId, tool, time: at, agent });
}

/** Returns the number of lines. A line end at the end of the text begins no further line. */
function countLines(text: string): number {
  if (text === "") return 0;
  let count = text.endsWith("\n") ? 0 : 1;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) count += 1;
  return count;
}
