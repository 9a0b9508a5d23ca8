/**
 * The log of a storage that keeps its history: a change is one commit, the log is the history of the storage, and an
 * undo is another commit. Nothing is recorded before a change, because the storage makes all of it or nothing. Marks and
 * what is unreviewed are shared records, which all replicas see.
 */
import { FilewrightError } from "../engine/errors.ts";
import { listAll } from "../records/records.ts";
import type { CallStage } from "../storage/staged/stage.ts";
import { withoutUndefined } from "../schema/without-undefined.ts";
import type { ListedRecord, Past, RecordOp, Records, Storage, Version } from "../storage/storage.ts";
import { isCallId } from "./call-id.ts";
import { beyondHistoryError, cannotBeReviewedError } from "./errors.ts";
import { commitOf } from "./log.ts";
import type { ChangeFacts, HistoryRecord, LargestUndo, Log, LoggedChange, LogPlace } from "./log.ts";
import type { Mark, ReviewFacts, Reviews } from "./log.ts";
import { MAX_UNDONE_PATHS, recordOf, statesAfter, statesBefore, stepsOfCommit } from "./storage-past.ts";

/** The number of commits that a history shows, and that are read at once. */
const COMMITS_PER_PAGE = 200;
/** The maximum number of commits that are undone at once. */
const MAX_REWOUND_COMMITS = 5000;
/** The maximum number of commits that are searched for unreviewed changes. */
const MAX_SEARCHED_COMMITS = 20_000;
/** The maximum number of marks that are listed. */
const MAX_MARKS = 1000;

/** The kind of the shared records of marks. */
const MARK_KIND = "mark";
/** The kind of the shared records of unreviewed changes: one for each, written in its commit and removed once a person keeps it. */
const UNREVIEWED_KIND = "unreviewed";
/** The kind of the shared records of rewinds, with the changes of which nothing is left. */
const REWIND_KIND = "rewind";

const LARGEST_UNDO: LargestUndo = Object.freeze({
  bytes: undefined,
  // Made on use, as in options.ts.
  get words() {
    return `at most ${MAX_UNDONE_PATHS.toLocaleString("en-US")} paths`;
  },
});

/** The history of a storage, and the part of it that a workspace may see and undo. */
export interface StorageHistory {
  readonly history: NonNullable<Storage["history"]>;
  /** Undefined for a storage whose past contents cannot be read. */
  readonly readContents: Storage["readContents"];
  /** Returns true when the storage has forgotten commits since its first one. */
  readonly isCut: () => Promise<boolean>;
  /** The shared records; undefined for a storage without them, which has no marks and no reviews. */
  readonly records: Records | undefined;
  /** Returns true for a path that the workspace may change. */
  readonly isMine: (path: string) => boolean;
}

/** The log of one call over a storage, whose changes are in its stage. */
export class StorageLog implements Log {
  readonly largestUndo: LargestUndo = LARGEST_UNDO;
  readonly isOneCommit = true;
  readonly #source: StorageHistory;
  readonly #stage: CallStage;
  /** The commits that were read, by their calls. */
  readonly #known = new Map<string, Promise<Past | undefined>>();

  constructor(source: StorageHistory, stage: CallStage) {
    this.#source = source;
    this.#stage = stage;
  }

  readonly append: Log["append"] = (fs, about, run) =>
    this.#stage.draft(async () => {
      if (about.unreviewed === true && this.#source.records === undefined) throw cannotBeReviewedError();
      const result = await run(fs);
      const commit = commitOf(about);
      const records = [...(commit.records ?? []), ...notesOf(about)];
      const changed = await this.#stage.commitDraft({ ...commit, records });
      return { result, undo: changed <= MAX_UNDONE_PATHS ? "undoable" : "too_large" };
    });

  async list(after?: LogPlace): Promise<readonly HistoryRecord[]> {
    if (after !== undefined) return this.#listAfter(after);
    const commits = await this.#source.history({ limit: COMMITS_PER_PAGE, changes: true });
    return commits.flatMap((past) => this.#shown(past));
  }

  async #listAfter(place: LogPlace): Promise<readonly HistoryRecord[]> {
    const found: HistoryRecord[] = [];
    for await (const past of this.#commits()) {
      if (isBefore(past, place)) return found;
      for (const record of this.#shown(past)) {
        this.#known.set(record.header.callId, Promise.resolve(past));
        found.push(record);
      }
      if ("before" in place && past.actor?.callId === place.before.header.callId) return found;
      if (found.length > MAX_REWOUND_COMMITS) throw beyondHistoryError();
    }
    // The history has ended before the place: it is the state before the first commit, or one that is forgotten.
    const isBeginning = "moment" in place || ("mark" in place && place.mark.version === null);
    if (!isBeginning || (await this.#source.isCut())) throw beyondHistoryError();
    return found;
  }

  async get(callId: string): Promise<LoggedChange | undefined> {
    const known = this.#known.get(callId) ?? this.#read(callId);
    this.#known.set(callId, known);
    const past = await known;
    const record = past && recordOf(past);
    if (record === undefined) return undefined;
    const { changes = [] } = past as Past;
    const { readContents } = this.#source;
    return {
      record,
      get made() {
        return stepsOfCommit(changes);
      },
      states: (wantsContent = () => false) => statesBefore(changes, wantsContent, readContents),
    };
  }

  /** Reads the commit of a call. A call that changed a path which the workspace may not change is unknown to it. */
  async #read(callId: string): Promise<Past | undefined> {
    if (!isCallId(callId)) return undefined;
    const [past] = await this.#source.history({ key: callId, limit: 1 });
    if (past?.changes === undefined || !past.changes.every(({ path }) => this.#source.isMine(path)))
      return undefined;
    // A call that asks whether the paths are as the change left them has a stage that assumes nothing.
    if (this.#stage.mayAssume) this.#stage.assume(statesAfter(past.changes));
    return past;
  }

  async marks(): Promise<readonly Mark[]> {
    const found = await this.#source.records?.list(MARK_KIND, { limit: MAX_MARKS });
    const marks = (found ?? []).map(
      ({ id, value }): Mark => ({ ...(value as Omit<Mark, "name">), name: id }),
    );
    return marks.sort((a, b) => b.at - a.at);
  }

  async mark(name: string, agent: string | undefined): Promise<Mark | undefined> {
    const { records, history } = this.#source;
    if (records === undefined)
      throw new FilewrightError("UNSUPPORTED_OPERATION", "This storage keeps no marks.", { complete: true });
    const [last] = await history({ limit: 1 });
    const value = {
      at: Date.now(),
      version: last?.version ?? null,
      ...(agent === undefined ? {} : { agent }),
    };
    try {
      await records.put(MARK_KIND, name, value, { expect: null });
    } catch (error) {
      if (error instanceof FilewrightError && error.code === "CONFLICT") return undefined;
      throw error;
    }
    return { name, ...value };
  }

  async reviews(): Promise<Reviews> {
    const { records } = this.#source;
    const left = new Set((await recordsOf(records, UNREVIEWED_KIND)).map(({ id }) => id));
    const found: HistoryRecord[] = [];
    const facts: ReviewFacts[] = [];
    if (left.size === 0) return { records: found, facts, forgottenBefore: undefined };
    const rewinds = await recordsOf(records, REWIND_KIND);
    const undoes = new Map(rewinds.map(({ id, value }) => [id, (value as RewindNote).undoes]));
    let oldest: number | undefined;
    let searched = 0;
    for await (const past of this.#commits()) {
      oldest = past.at;
      const { callId = "", tool = "", undoOf } = past.actor ?? {};
      // Also one that the workspace may not see can have undone some that it does.
      facts.push(withoutUndefined({ callId, tool, undoOf, undoes: undoes.get(callId) }));
      if (left.delete(callId)) found.push(...this.#mine(past));
      if (left.size === 0 || ++searched === MAX_SEARCHED_COMMITS) break;
    }
    // A change whose commit the storage has forgotten can be neither shown nor undone.
    return { records: found, facts, forgottenBefore: left.size > 0 ? oldest : undefined };
  }

  async keep(changes: readonly HistoryRecord[]): Promise<void> {
    for (const { header } of changes) await this.#source.records?.remove(UNREVIEWED_KIND, header.callId);
  }

  /** Yields the commits, the newest first. */
  async *#commits(): AsyncGenerator<Past, void, undefined> {
    for (let before: Version | undefined; ; ) {
      const page = await this.#source.history({ limit: COMMITS_PER_PAGE, changes: true, before });
      yield* page;
      before = page.at(-1)?.version;
      if (page.length < COMMITS_PER_PAGE) return;
    }
  }

  /** Returns the change of a commit; empty for one that no call made, or that the workspace may not see. */
  #mine(past: Past): readonly HistoryRecord[] {
    const record = recordOf(past);
    return record?.paths.every(this.#source.isMine) === true ? [record] : [];
  }

  /** Returns the change of a commit that changed files. */
  #shown(past: Past): readonly HistoryRecord[] {
    return this.#mine(past).filter(({ paths }) => paths.length > 0);
  }
}

/** Returns true for a commit at or before a mark or a moment. */
function isBefore(past: Past, place: LogPlace): boolean {
  if ("moment" in place) return past.at <= place.moment;
  return "mark" in place && past.version === (place.mark.version ?? null);
}

async function recordsOf(records: Records | undefined, kind: string): Promise<readonly ListedRecord[]> {
  return records === undefined ? [] : listAll(records, kind);
}

/** The value of the shared record of a rewind. */
interface RewindNote {
  readonly undoes: readonly string[];
}

/** Returns the shared records of a change: that it is unreviewed, and which others it undoes. */
function notesOf({ callId, unreviewed, undoes = [] }: ChangeFacts): readonly RecordOp[] {
  const note: RewindNote = { undoes };
  return [
    ...(unreviewed === true ? [unreviewedRecord(callId)] : []),
    ...(undoes.length > 0 ? [{ kind: REWIND_KIND, id: callId, put: note }] : []),
  ];
}

/** Returns the record of an unreviewed change. */
export function unreviewedRecord(callId: string): RecordOp & { readonly put: unknown } {
  return { kind: UNREVIEWED_KIND, id: callId, put: {} };
}
