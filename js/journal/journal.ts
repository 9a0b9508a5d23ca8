/**
 * Changes that are whole or not at all, and can be undone.
 *
 * A change runs on a backend that records every step before it is made. When it
 * fails, the steps are taken back; when the process dies, the next one that
 * opens the same store does it; when it succeeds, the record stays for `undo`.
 * Whoever calls holds the locks of the paths.
 */
import type { FsBackend } from "../backends/backend.ts";
import { lstatOrNull } from "../backends/fallback.ts";
import { failure } from "../backends/failure.ts";
import { parentOf } from "../backends/paths.ts";
import { engine } from "../engine/current.ts";
import { FilewrightError, fromEngine, makeError } from "../engine/errors.ts";
import { type Budget, type Image, standsAt, tooMuch } from "./image.ts";
import { recorded } from "./recorder.ts";
import { takeBack } from "./rollback.ts";
import { type Entry, type Finals, type Header, pathsOf, type Step } from "./step.ts";
import type { JournalStore, Log, StoredLog } from "./store.ts";

/** How a journal is made. */
export interface JournalOptions {
  readonly store: JournalStore;
  /** Whose history it is: the working directory. */
  readonly cwd: string;
  /** Whether finished changes are kept for `undo`. */
  readonly keep: boolean;
  /** Whether every record waits for the disk. */
  readonly durable: boolean;
}

/** What a change is known by. */
export interface About {
  readonly callId: string;
  readonly tool: string;
  /** Who makes it, where that has a name. */
  readonly agent?: string | undefined;
  readonly undoOf?: string;
  /**
   * `always`: what cannot be taken back is refused, since the change is several
   * operations. `try`: one operation, done even where it cannot be taken back.
   */
  readonly takeBack: "always" | "try";
}

/** One change of the past. */
export interface HistoryRecord {
  readonly header: Header;
  readonly paths: readonly string[];
  readonly undoable: boolean;
}

/** What was found when a store was opened. */
export interface Recovery {
  /** Changes that were cut and have been taken back. */
  readonly rolledBack: number;
  /** Records that were not made by us, and were left alone. */
  readonly ignored: number;
  /** Paths that somebody changed after the cut, and that were left to them. */
  readonly conflicts: readonly string[];
}

/** The journal of a workspace. */
export interface Journal {
  /** Runs a change on a backend that records it. */
  change<T>(fs: FsBackend, about: About, run: (fs: FsBackend) => Promise<T>): Promise<T>;
  /** The changes that are kept, the newest first. */
  history(): Promise<readonly HistoryRecord[]>;
  /** The record of one change. @throws NOT_FOUND, UNSUPPORTED_OPERATION */
  record(callId: string): Promise<HistoryRecord>;
  /** Puts back what a change found. @throws CONFLICT where something changed since */
  undo(fs: FsBackend, undone: string, as: Pick<About, "callId" | "agent">): Promise<void>;
  /**
   * Takes back what dead processes left half done, as far as `mine` says that a
   * path is ours to change; `locked` runs its action with the paths locked.
   */
  recover(
    fs: FsBackend,
    mine: (path: string) => boolean,
    locked: <T>(paths: readonly string[], action: () => Promise<T>) => Promise<T>,
  ): Promise<Recovery>;
}

const MIB = 1024 * 1024;
/** What is kept of one operation, and of a change that must be whole. */
const LIMITS = Object.freeze({
  try: { bytes: 64 * MIB, entries: 2000 },
  always: { bytes: 256 * MIB, entries: 20_000 },
});
/** Beyond this many paths a change is not compared, and so not undone. */
const MAX_FINALS = 5000;

/** Makes the journal of a workspace. */
export function makeJournal({ store, cwd, keep, durable }: JournalOptions): Journal {
  const logOf = async (callId: string): Promise<StoredLog> => {
    const log = CALL_ID.test(callId) ? await store.find(cwd, callId) : null;
    if (log === null || !log.authentic) {
      throw new FilewrightError("NOT_FOUND", `There is no call '${callId.slice(0, 80)}' in the history.`, {
        complete: true,
        hint: "history lists the calls that can be undone",
      });
    }
    return log;
  };

  const change = async <T>(fs: FsBackend, about: About, run: (fs: FsBackend) => Promise<T>): Promise<T> => {
    // One operation that nobody will undo needs no record: it is whole by itself.
    if (!keep && about.takeBack === "try") return run(fs);
    const limits = LIMITS[about.takeBack];
    const budget: Budget = { bytes: limits.bytes };
    const steps: Step[] = [];
    const versions = new Map<string, Image>();
    let log: Log | undefined;
    let undoable = true;
    const intend = async (make: () => Promise<readonly Step[]>): Promise<void> => {
      if (!undoable) return;
      try {
        const next = await make();
        if (next.length === 0) return;
        if (steps.length + next.length > limits.entries) throw tooMuch(cwd);
        if (log === undefined) {
          const { callId, tool, agent, undoOf } = about;
          const header: Header = {
            callId,
            tool,
            time: Date.now(),
            cwd,
            ...(agent === undefined ? {} : { agent }),
            ...(undoOf === undefined ? {} : { undoOf }),
          };
          log = await store.begin(callId);
          await log.append({ entry: "begin", header }, false);
        }
        await log.append({ entry: "steps", steps: next }, durable);
        steps.push(...next);
        for (const path of pathsOf(next)) versions.delete(path);
      } catch (error) {
        if (about.takeBack === "always") throw error;
        // One operation is whole by itself: it happens all the same, and cannot be undone.
        undoable = false;
      }
    };
    const made = (path: string, image: Image): void => {
      if (undoable) versions.set(path, image);
    };
    const failed = async (error: unknown): Promise<unknown> => {
      if (log === undefined) return error;
      const left = await takeBack(fs, steps);
      // The record stays as it is: once this process has ended, the next one tries again.
      if (left.length > 0) return withDetails(error, { rolled_back: false, not_restored: left });
      await log.close(null);
      return error;
    };
    let result: T;
    try {
      result = await run(recorded(fs, { intend, made, budget, maxEntries: limits.entries }));
    } catch (error) {
      throw await failed(error);
    }
    if (log === undefined) return result;
    const finals = undoable && keep ? await finalsOf(fs, steps, versions) : null;
    const commit: Entry = { entry: "commit", finals: finals ?? [], undoable: finals !== null };
    try {
      await (log as Log).append(commit, durable);
    } catch (error) {
      if (about.takeBack === "always") throw await failed(error);
      await (log as Log).close(null);
      return result;
    }
    await (log as Log).close(finals === null ? null : cwd);
    return result;
  };

  const undo: Journal["undo"] = async (fs, undone, as) => {
    const { steps, finals } = readLog((await logOf(undone)).entries);
    for (const [path, image] of finals) {
      if (await standsAt(fs, path, image)) continue;
      throw failure("CONFLICT", path, "has changed since that call", {
        hint: "undo the later changes first",
      });
    }
    const about: About = { ...as, tool: "undo", undoOf: undone, takeBack: "always" };
    await change(fs, about, async (recording) => {
      const left = await takeBack(recording, steps);
      if (left[0] !== undefined) throw failure("CONFLICT", left[0], "could not be put back");
    });
  };

  return Object.freeze<Journal>({
    change,
    undo,
    async history() {
      const logs = await store.history(cwd);
      return logs.flatMap((log) => (log.authentic ? recordOf(log.entries) : []));
    },
    async record(callId) {
      const record = recordOf((await logOf(callId)).entries)[0];
      if (record?.undoable === true) return record;
      throw new FilewrightError("UNSUPPORTED_OPERATION", `The call '${callId}' cannot be undone.`, {
        complete: true,
      });
    },
    async recover(fs, mine, locked) {
      let rolledBack = 0;
      let ignored = 0;
      const conflicts: string[] = [];
      for (const log of await store.unfinished()) {
        if (!log.authentic) {
          ignored += 1;
          log.leave();
          continue;
        }
        const { steps, committed } = readLog(log.entries);
        const paths = pathsOf(steps);
        if (paths.length === 0) {
          await log.close(null); // Cut before anything was to happen.
          continue;
        }
        if (!paths.every(mine)) {
          log.leave(); // Another workspace's.
          continue;
        }
        try {
          if (!committed) {
            await locked(paths, async () => {
              conflicts.push(...(await takeBack(fs, steps)));
            });
            rolledBack += 1;
          }
          // What a write left lying about when it was cut.
          for (const directory of new Set(paths.map(parentOf))) await fs.sweep?.(directory);
          await log.close(committed ? (recordOf(log.entries)[0]?.header.cwd ?? null) : null);
        } catch {
          log.leave(); // Somebody holds a lock: the next to open tries again.
        }
      }
      return Object.freeze({ rolledBack, ignored, conflicts: Object.freeze(conflicts) });
    },
  });
}

/** The form of a call's id: what may be part of a file's name. */
const CALL_ID = /^[0-9a-z]{1,20}-[0-9a-z]{1,40}$/u;

/** Random bytes for ids, drawn for many at once: every call has an id, and few are ever looked at. */
const pool = new Uint8Array(6 * 128);
let drawn = pool.length;

/** A new id of a call; later ones sort behind earlier ones. */
export function newCallId(): string {
  if (drawn === pool.length) {
    crypto.getRandomValues(pool);
    drawn = 0;
  }
  let tail = "";
  for (const end = drawn + 6; drawn < end; drawn++) tail += HEX[pool[drawn] as number];
  return `${Date.now().toString(36).padStart(9, "0")}-${tail}`;
}

const HEX: readonly string[] = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

function readLog(entries: readonly Entry[]): {
  readonly steps: readonly Step[];
  readonly finals: Finals;
  readonly committed: boolean;
} {
  const steps = entries.flatMap((entry) => (entry.entry === "steps" ? entry.steps : []));
  const commit = entries.find((entry) => entry.entry === "commit");
  return { steps, finals: commit?.finals ?? [], committed: commit !== undefined };
}

function recordOf(entries: readonly Entry[]): readonly HistoryRecord[] {
  const begin = entries.find((entry) => entry.entry === "begin");
  const commit = entries.find((entry) => entry.entry === "commit");
  if (begin === undefined || commit === undefined) return [];
  const { steps } = readLog(entries);
  return [{ header: begin.header, paths: pathsOf(steps), undoable: commit.undoable }];
}

/** What stands at every touched path now; null where that is too much to compare later. */
async function finalsOf(
  fs: FsBackend,
  steps: readonly Step[],
  known: ReadonlyMap<string, Image>,
): Promise<Finals | null> {
  const paths = pathsOf(steps);
  if (paths.length > MAX_FINALS) return null;
  const finals: (readonly [string, Image | null])[] = [];
  for (const path of paths) {
    const image = known.get(path);
    if (image !== undefined) {
      finals.push([path, image]);
      continue;
    }
    const stat = await lstatOrNull(fs, path);
    const hash =
      stat?.isFile === true && stat.version === undefined
        ? { hash: engine().sha256(await fs.readBytes(path)) }
        : {};
    finals.push([path, stat === null ? null : { ...imageOf(stat), ...hash }]);
  }
  return finals;
}

function imageOf(stat: NonNullable<Awaited<ReturnType<typeof lstatOrNull>>>): Image {
  const { type, size, target, version } = stat;
  if (type === "dir") return { type };
  return {
    type,
    ...(type === "file" ? { size } : {}),
    ...(target === undefined ? {} : { target }),
    ...(version === undefined ? {} : { version }),
  };
}

function withDetails(thrown: unknown, more: Readonly<Record<string, unknown>>): FilewrightError {
  const { code, message, path, hint, details, cause, complete } = fromEngine(thrown);
  return makeError(code, message, { path, hint, cause, complete, details: { ...details, ...more } });
}
