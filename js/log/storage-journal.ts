/**
 * The journal of a storage that keeps its history: a change is one commit, the history is that of the storage, and an
 * undo is another commit. Nothing is recorded before a change, because the storage makes all of it or nothing.
 */
import { NO_RECOVERY } from "./recovery.ts";
import { compareCodePoints, parentOf } from "../backends/paths.ts";
import { type PreImage, withoutMode } from "../backends/transaction/pre-image.ts";
import type { Step } from "../backends/transaction/step.ts";
import { FilewrightError } from "../engine/errors.ts";
import type { CallStage } from "../storage/staged/stage.ts";
import { storedContent } from "../storage/staged/stored-content.ts";
import type { Entry, Past, PastChange, Records, Storage, Version } from "../storage/storage.ts";
import { beyondHistoryError, isCallId, unknownCallError } from "./call-id.ts";
import type {
  ChangeFacts,
  HistoryRecord,
  Journal,
  LargestUndo,
  Undoability,
  PastSteps,
  StateBefore,
} from "./types.ts";
import { addStorageMark, listStorageMarks } from "./storage-marks.ts";
import { cannotBeReviewedError } from "./reviewed.ts";
import { isBelowAny, movedPaths } from "./storage-moves.ts";
import { listUnreviewed, UNREVIEWED_KIND, withReviewRecords } from "./storage-reviews.ts";

/** The number of commits that a history shows. */
const MAX_SHOWN_COMMITS = 200;
/** The number of commits that are read at once to take them back. */
const COMMITS_PER_PAGE = 200;
/** The maximum number of commits that are undone at once. */
const MAX_REWOUND_COMMITS = 5000;
/** The maximum number of paths of a change that can be undone. */
const MAX_UNDONE_PATHS = 5000;
/** The history of a storage, and the part of it that a workspace may see and undo. */
export interface StorageHistory {
  readonly history: NonNullable<Storage["history"]>;
  /** Undefined for a storage whose past contents cannot be read. */
  readonly readContents: Storage["readContents"];
  /** Returns true when the storage has forgotten commits since its first one. */
  readonly isCut: () => Promise<boolean>;
  /** The shared records, which hold the marks; undefined for a storage without them. */
  readonly records: Records | undefined;
  /** Returns true for a path that the workspace may change. */
  readonly isMine: (path: string) => boolean;
}

/** Creates the journal of one call, whose changes are in its stage. */
export function makeStorageJournal(
  { history, readContents, isMine, isCut, records }: StorageHistory,
  stage: CallStage,
): Journal {
  const pastByCall = new Map<string, Promise<Past>>();
  /** Reads the commit of a call. A call that changed a path which the workspace may not change is unknown to it. */
  const find = async (callId: string): Promise<Past> => {
    const [past] = isCallId(callId) ? await history({ key: callId, limit: 1 }) : [];
    if (past?.changes === undefined || !past.changes.every(({ path }) => isMine(path)))
      throw unknownCallError(callId);
    return past;
  };
  const read = async (callId: string): Promise<Past> => {
    const past = await find(callId);
    if (stage.mayAssume) stage.assume(statesAfter(past.changes ?? []));
    return past;
  };
  const pastOf = (callId: string): Promise<Past> => {
    const known = pastByCall.get(callId) ?? read(callId);
    pastByCall.set(callId, known);
    return known;
  };
  const change: Journal["change"] = (fs, about, run) => {
    if (about.unreviewed === true && records === undefined) throw cannotBeReviewedError();
    return stage.draft(async () => {
      const result = await run(fs);
      return { result, undo: undoOf(await stage.commitDraft(withReviewRecords(commitOf(about), about))) };
    });
  };

  const unreviewed: Journal["unreviewed"] = async () => {
    const { past, forgottenBefore } = await listUnreviewed(records, history);
    const own = past.flatMap((one) => toRecord(one) ?? []);
    return { records: own.filter(({ paths }) => paths.every(isMine)), forgottenBefore };
  };

  return Object.freeze<Journal>({
    largestUndo: LARGEST_UNDO,
    isOneCommit: true,
    change,
    async history() {
      const commits = await history({ limit: MAX_SHOWN_COMMITS, changes: true });
      return commits.flatMap((past) => {
        const record = toRecord(past);
        return record !== undefined && record.paths.length > 0 && record.paths.every(isMine) ? [record] : [];
      });
    },
    async since(place) {
      const start = "before" in place ? (await find(place.before)).version : undefined;
      const found: HistoryRecord[] = [];
      for (let before: Version | undefined; ; ) {
        const page = await history({ limit: COMMITS_PER_PAGE, changes: true, before });
        for (const past of page) {
          const isThere =
            "moment" in place
              ? past.at <= place.moment
              : "mark" in place && past.version === (place.mark.version ?? null);
          if (isThere) return found;
          const record = toRecord(past);
          if (record !== undefined && record.paths.length > 0 && record.paths.every(isMine)) {
            pastByCall.set(record.header.callId, Promise.resolve(past));
            found.push(record);
          }
          if (past.version === start) return found;
          if (found.length > MAX_REWOUND_COMMITS) throw beyondHistoryError();
        }
        before = page.at(-1)?.version;
        if (page.length < COMMITS_PER_PAGE) break;
      }
      // The history has ended before the place: it is the state before the first commit, or one that is forgotten.
      const isBeginning = "moment" in place || ("mark" in place && place.mark.version === null);
      if (!isBeginning || (await isCut())) throw beyondHistoryError();
      return found;
    },
    async steps(callId) {
      // Nothing is assumed: whether the paths are as the call left them is the question.
      const { changes = [] } = await (pastByCall.get(callId) ?? find(callId));
      return stepsOfCommit(changes);
    },
    marks: async () => (records === undefined ? [] : listStorageMarks(records)),
    async mark(name, agent) {
      if (records === undefined)
        throw new FilewrightError("UNSUPPORTED_OPERATION", "This storage keeps no marks.", {
          complete: true,
        });
      const [last] = await history({ limit: 1 });
      const by = agent === undefined ? {} : { agent };
      return addStorageMark(records, { name, at: Date.now(), version: last?.version ?? null, ...by });
    },
    async record(callId) {
      const record = toRecord(await pastOf(callId));
      if (record?.undoable === true) return record;
      throw new FilewrightError("UNSUPPORTED_OPERATION", `The call '${callId}' cannot be undone.`, {
        complete: true,
      });
    },
    async found(callId, wantsContent = () => false) {
      const { changes = [] } = await pastOf(callId);
      const contents = await contentsOf(
        changes.flatMap(({ path, before }) =>
          before?.type === "file" && wantsContent(path) ? [before] : [],
        ),
        readContents,
      );
      const moves = movedPaths(changes);
      const moved = new Set([...moves.keys(), ...moves.values()]);
      // What is below a directory that was moved goes back with it.
      const apart = changes.filter(({ path }) => !isBelowAny(path, moved));
      return apart.map(({ path, before, after }): StateBefore => {
        const movedTo = moves.get(path);
        return {
          path,
          image: withContent(toImage(before), contents.get(before?.hash ?? "")),
          after: toImage(after),
          // An undo moves the entry back from there.
          ...(movedTo === undefined ? {} : { from: movedTo }),
        };
      });
    },
    unreviewed,
    async keep(callIds) {
      for (const callId of callIds) await find(callId);
      const wanted = new Set(callIds);
      const kept = (await unreviewed()).records.filter(({ header }) => wanted.has(header.callId));
      for (const { header } of kept) await records?.remove(UNREVIEWED_KIND, header.callId);
      return kept;
    },
    // A change that was interrupted never happened.
    recover: async () => NO_RECOVERY,
    retry: async () => {},
    settled: async () => {},
  });
}

/** Returns the journal of a storage without a history: a call is one commit, and the history is that of `inner`. */
export function withOneCommit(inner: Journal, stage: CallStage): Journal {
  return Object.freeze<Journal>({
    ...inner,
    change: (fs, about, run) =>
      stage.draft(() =>
        inner.change(fs, about, async (own) => {
          const result = await run(own);
          await stage.commitDraft(commitOf(about));
          return result;
        }),
      ),
  });
}

function commitOf({
  callId,
  tool,
  agent,
  undoOf,
  signal,
  records,
}: ChangeFacts): Parameters<CallStage["commitDraft"]>[0] {
  return { key: callId, actor: { agent, tool, callId, undoOf }, signal, records: records?.() };
}

const LARGEST_UNDO: LargestUndo = Object.freeze({
  bytes: undefined,
  words: `at most ${MAX_UNDONE_PATHS.toLocaleString("en-US")} paths`,
});

const undoOf = (changedPaths: number): Undoability =>
  changedPaths <= MAX_UNDONE_PATHS ? "undoable" : "too_large";

/** Returns a past commit as a record of the history; undefined for one that no call made. */
function toRecord({ at, actor, changes = [], count }: Past): HistoryRecord | undefined {
  const { callId, tool = "", agent, undoOf } = actor ?? {};
  if (callId === undefined) return undefined;
  return {
    header: {
      callId,
      tool,
      time: at,
      cwd: "/",
      ...(agent === undefined ? {} : { agent }),
      ...(undoOf === undefined ? {} : { undoOf }),
    },
    at,
    paths: changedPaths(changes),
    undoable: count <= MAX_UNDONE_PATHS,
  };
}

/** Returns the paths that a commit changed, without the entries that were removed together with their directory. */
function changedPaths(changes: readonly PastChange[]): readonly string[] {
  const removed = new Set(changes.filter(({ after }) => after === null).map(({ path }) => path));
  return changes
    .filter(({ path, after }) => after !== null || !removed.has(parentOf(path)))
    .map(({ path }) => path);
}

/**
 * Returns the steps that make the changes of a commit. Contents are those of the storage, which are not read. A move is
 * a removal and a new entry here: both are the same content of the storage.
 */
function stepsOfCommit(changes: readonly PastChange[]): PastSteps {
  const steps: Step[] = [];
  const removals: Step[] = [];
  const byPath = [...changes].sort((a, b) => compareCodePoints(a.path, b.path));
  for (const [id, { path, before, after }] of byPath.entries()) {
    const kind = before === null ? "create" : after === null ? "delete" : "write";
    const step: Step = { id, kind, path, before: toRestorable(before), after: toImage(after) };
    // A directory is made before its entries, and removed or replaced after them.
    if (after === null || (before?.type === "dir" && after.type !== "dir")) removals.unshift(step);
    else steps.push(step);
  }
  const finals = byPath.map(({ path, after }) => {
    const image = toImage(after);
    return [path, image && withoutMode(image)] as const;
  });
  return { steps: [...steps, ...removals], given: new Map(), finals };
}

/** Returns the state of an entry, with a file's content as the storage has it. */
function toRestorable(entry: Entry | null): PreImage | null {
  const image = toImage(entry);
  if (image?.type !== "file" || entry?.hash === undefined) return image;
  return { ...image, bytes: storedContent(entry.hash, entry.size ?? 0) };
}

/** The maximum number of bytes of past contents that are fetched for one change. Later files have none. */
const MAX_FETCHED_BYTES = 64 * 1024 * 1024;

/** Reads the contents that a commit replaced, by their hashes. */
async function contentsOf(
  entries: readonly Entry[],
  readContents: Storage["readContents"],
): Promise<ReadonlyMap<string, Uint8Array>> {
  const names = new Map<string, number>();
  let bytes = 0;
  for (const { hash, size = 0 } of entries) {
    if (hash === undefined || names.has(hash) || bytes + size > MAX_FETCHED_BYTES) continue;
    bytes += size;
    names.set(hash, size);
  }
  const contents = new Map<string, Uint8Array>();
  if (names.size === 0 || readContents === undefined) return contents;
  const list = [...names].map(([hash, size]) => ({ hash, size }));
  for (const [index, body] of (await readContents(list)).entries())
    if (body !== null) contents.set(list[index]?.hash ?? "", body);
  return contents;
}

function withContent(image: PreImage | null, bytes: Uint8Array | undefined): PreImage | null {
  return image === null || bytes === undefined ? image : { ...image, bytes };
}

function toImage(entry: Entry | null): PreImage | null {
  if (entry === null) return null;
  const { type, size, mode, target, hash, version } = entry;
  return {
    type: type === "gone" ? "other" : type,
    ...(size === undefined ? {} : { size }),
    ...(mode === undefined || type === "symlink" ? {} : { mode }),
    ...(target === undefined ? {} : { target }),
    ...(hash === undefined ? {} : { hash }),
    ...(type === "file" ? { version } : {}),
  };
}

/**
 * Yields the states that an undo assumes instead of reading them: the paths of the commit are as it left them, their
 * parents are directories, and none of these is a git repository. The commit of the undo has these states as
 * conditions, so it fails with CONFLICT if one of them is wrong, and the undo begins again with a read.
 */
function* statesAfter(
  changes: readonly PastChange[],
): Generator<readonly [path: string, entry: Entry | null]> {
  const known = new Set<string>();
  for (const { path, after } of changes) {
    known.add(path);
    yield [path, after];
  }
  for (const { path } of changes) {
    for (let at = parentOf(path); !known.has(at); at = parentOf(at)) {
      known.add(at);
      yield [at, { path: at, type: "dir", version: "" }];
      if (at === "/") break;
    }
  }
  for (const { path } of changes) {
    for (let at = parentOf(path); at !== "/"; at = parentOf(at)) {
      const repository = `${at}/.git`;
      if (known.has(repository)) continue;
      known.add(repository);
      yield [repository, null];
    }
  }
}
