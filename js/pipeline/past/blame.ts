/**
 * Finds out which call wrote each line of a file. It begins with the present content and goes back through the recorded
 * changes of the path: lines that a change added are its own, and the others are looked for in the content that it
 * found. A file that was moved is followed to the path that it had before.
 */
import { engine } from "../../engine/current.ts";
import { FilewrightError } from "../../engine/errors.ts";
import type { HistoryRecord, StateBefore } from "../../journal/index.ts";
import { hasTrait, takesBack } from "../../schema/tool-facts.ts";
import { textIfDecodable } from "../../tools/render/preview.ts";
import type { Session } from "../session.ts";
import { withStage } from "../staged.ts";
import { historyChange, sideOf } from "./file-change.ts";

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
  const { fs, resolver } = session.files;
  const { journal } = session.past;
  const { path: start } = resolver.resolve(typed, "read");
  const stat = await fs.stat(start);
  if (stat.type === "file" && stat.size > MAX_BLAMED_BYTES)
    throw new FilewrightError("LIMIT_EXCEEDED", `${resolver.display(start)} has more than 4 MB`, {
      hint: "the lines of smaller files can be looked up",
    });
  const bytes = await fs.readBytes(start);
  const hash = engine().sha256(bytes);
  const lines = new LineOrigins(bytes);
  if (!lines.isText)
    throw new FilewrightError("BINARY_FILE", `${resolver.display(start)} is not text`, {
      hint: "only text has lines",
    });
  let path = start;
  const records = await journal.history();
  const statesOf = (record: HistoryRecord): Promise<readonly StateBefore[]> =>
    journal.found(record.header.callId, (one) => one === path);
  for (let at = 0, read = 0; at < records.length && read < MAX_READ_CHANGES && !lines.isDone; at++) {
    const record = records[at] as HistoryRecord;
    if (!record.paths.includes(path)) continue;
    read += 1;
    if (restoresContents(record.header.tool)) {
      const restored = await indexOfState(records, at + 1, lines.hash, async (one) =>
        one.paths.includes(path) ? (await statesOf(one)).find((state) => state.path === path) : undefined,
      );
      if (restored !== undefined) {
        at = restored;
        continue;
      }
    }
    const states = await statesOf(record);
    const source = states.find(({ from }) => from === path);
    if (source !== undefined) {
      path = source.path;
      continue;
    }
    const state = states.find((one) => one.path === path);
    if (state !== undefined && !lines.goBack(record, state)) break;
  }
  return Object.freeze({ path: resolver.display(start), hash, lines: lines.runs() });
}

type Origin = HistoryRecord | "older" | "elsewhere" | "unknown";

/** The number of changes that are looked through for the content that was restored. */
const MAX_COMPARED_STATES = 50;

/** Returns true for a tool that restores an earlier content, whose lines are those of the calls that wrote them. */
function restoresContents(tool: string): boolean {
  return takesBack(tool) && !hasTrait(tool, "takesBackPart");
}

/**
 * Returns the index of the change that had found a content; undefined for one that none has. It begins with the newest
 * change from `from` on.
 */
async function indexOfState(
  records: readonly HistoryRecord[],
  from: number,
  hash: string,
  stateOf: (record: HistoryRecord) => Promise<StateBefore | undefined>,
): Promise<number | undefined> {
  for (let at = from; at < Math.min(records.length, from + MAX_COMPARED_STATES); at++) {
    const image = (await stateOf(records[at] as HistoryRecord))?.image;
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
    const places: (number | undefined)[] = [];
    let next = 0;
    for (const { rows } of hunks) {
      for (const row of rows) {
        if (row.new !== null) {
          while (next < row.new - 1) places.push(this.#places[next++]);
          const place = this.#places[next++];
          if (row.kind === "same") places.push(place);
          else if (place !== undefined) this.#origins[place] = origin;
        } else {
          while (row.old !== null && places.length < row.old - 1) places.push(this.#places[next++]);
          places.push(undefined);
        }
      }
    }
    while (next < this.#places.length) places.push(this.#places[next++]);
    this.#places = places;
    this.#bytes = before;
    return true;
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
  return { origin: "call", callId, tool, time: at, ...(agent === undefined ? {} : { agent }) };
}

/** Returns the number of lines. A line end at the end of the text begins no further line. */
function countLines(text: string): number {
  if (text === "") return 0;
  let count = text.endsWith("\n") ? 0 : 1;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) count += 1;
  return count;
}
