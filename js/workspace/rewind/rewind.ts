/** Marks, and the rewind of a workspace to a place in its history. */
import type { Files } from "../../backends/files.ts";
import { entryPath } from "../../backends/fallback/fallback.ts";
import type { FsStat } from "../../backends/backend.ts";
import { type ErrorData, errorOfData } from "../../pipeline/result.ts";
import { engine } from "../../engine/current.ts";
import { escapeControls } from "../../engine/escape.ts";
import { FilewrightError } from "../../engine/errors.ts";
import { digestOfParts } from "../../hooks/question.ts";
import type { HistoryRecord, LeftReason, Log, Mark } from "../../log/index.ts";
import { addMark, changesAfter, type LeftPath, planRewind, undoableChange } from "../../log/past.ts";
import { callsOf } from "../../call/stages.ts";
import type { HistoryChange } from "../../pipeline/past/file-change.ts";
import { placeOf } from "../../pipeline/past/place.ts";
import { changesOfPlan } from "../../pipeline/past/put-back.ts";
import type { Session } from "../../pipeline/session.ts";
import { rootOf } from "../../policy/index.ts";
import { withStage } from "../../pipeline/staged.ts";
import { REWIND } from "../../tools/host-calls.ts";
import type { Call, Tool } from "../../tools/lib/tool.ts";
import type { HistoryMark } from "../../tools/lib/history-entry.ts";
import type { LeftByRewind, RewindOptions, UnrecordedCall } from "./options.ts";
import { otherRewindError, type PlannedRewind, type RewindOutcome, rewindTool } from "./tool.ts";

/** The result of a rewind, or of its preview. */
export interface Rewound {
  /** The id of the rewind itself; undo it to restore what it took back. Absent when nothing was changed. */
  readonly callId?: string;
  /** The undone calls, the newest first. A call of which a path was left is undone for its other paths. */
  readonly calls: readonly string[];
  /** The changed paths, sorted, with the contents before and after the rewind. */
  readonly changes: readonly HistoryChange[];
  /** The paths that the undone calls changed and the rewind leaves, sorted. */
  readonly left: readonly LeftByRewind[];
  /** The calls that cannot be undone, such as commands, the newest first: what they changed stays. */
  readonly unrecorded: readonly UnrecordedCall[];
  /** `sha256:` of the undone calls, the present states of the paths and the restored ones. */
  readonly digest: string;
}

/** The number of plans for one rewind; another one is needed when calls go on meanwhile. */
const MAX_PLANS = 8;
/** The maximum number of paths of a rewind: a change of more could not be undone. */
const MAX_REWOUND_PATHS = 5000;

/** Returns the marks, the newest first. */
export async function listMarks(session: Session): Promise<readonly HistoryMark[]> {
  const marks = await withStage(session).past.log.marks();
  return Object.freeze(marks.map(toHistoryMark));
}

/** Names the present place in the history. @throws ALREADY_EXISTS for a name in use */
export async function setMark(session: Session, name: string): Promise<HistoryMark> {
  return toHistoryMark(await addMark(withStage(session).past.log, name, session.caller.agent));
}

function toHistoryMark({ name, at, agent }: Mark): HistoryMark {
  const time = new Date(at).toISOString();
  return Object.freeze({ name, time, ...(agent === undefined ? {} : { agent }) });
}

/** Rewinds to a place in the history. `run` admits the call. */
export async function rewindTo(
  session: Session,
  run: <T>(call: () => Promise<T>) => Promise<T>,
  to: string | Date,
  options: RewindOptions,
): Promise<Rewound> {
  const { signal, digest, dryRun = false, by } = options;
  const { display } = session.files.resolver;
  const source = await readRewind(withStage(session, false), to, options);
  const plan = (fs: Files, by: AbortSignal | undefined): Promise<PlannedRewind> =>
    planOf(source, fs, by, display);
  for (let attempt = 1; ; attempt++) {
    // A plan for each attempt has a stage of its own, and so the present state.
    const { files, staging } = withStage(session, false);
    staging.stage?.name(source.records.flatMap(({ paths }) => paths.map((path) => ({ path, body: false }))));
    const planned = await plan(files.fs, signal);
    assertShown(planned, digest);
    const result = toRewound(planned, display);
    if (dryRun || planned.changes.length === 0) return result;
    const outcome: RewindOutcome = { planned };
    const replan = (call: Pick<Call, "fs" | "signal">) => plan(call.fs, call.signal);
    const asked = { to: nameOfPlace(to), outcome, replan, mayDiffer: digest === undefined };
    const { tool, args } = rewindTool(asked, display);
    const call = callsOf({ ...session, caller: { ...session.caller, by } });
    const made = await run(() => call(tool as unknown as Tool, args, { signal }));
    if (made.ok) {
      const { planned: done } = outcome;
      return toRewound(done, display, done.changes.length > 0 ? made.meta.call_id : undefined);
    }
    // What a person approved is not planned again.
    const isApproved = digest !== undefined || session.gates.confirmFor(REWIND.name) !== undefined;
    if (attempt === MAX_PLANS || isApproved || !isLate(made.error)) throw errorOfData(made.error);
  }
}

/** Refuses a plan that is not the one that was shown. @throws FilewrightError CONFLICT */
function assertShown(planned: PlannedRewind, digest: string | undefined): void {
  if (digest !== undefined && digest !== planned.digest) throw otherRewindError();
}

function nameOfPlace(to: string | Date): string {
  return to instanceof Date ? to.toISOString() : escapeControls(to);
}

/** Returns true for a rewind whose plan was overtaken by another call. */
function isLate({ code, details }: ErrorData): boolean {
  return code === "CONFLICT" && details?.["reason"] === "planned_before";
}

/** The part of the history that a rewind undoes. */
interface RewindSource {
  readonly log: Log;
  /** Returns true for a path within the directories that may be changed. */
  readonly isReachable: (path: string) => boolean;
  readonly records: readonly HistoryRecord[];
  readonly agent: string | undefined;
  /** Absolute. */
  readonly within: readonly string[] | undefined;
}

async function readRewind(
  session: Session,
  to: string | Date,
  { paths, agent }: Pick<RewindOptions, "paths" | "agent">,
): Promise<RewindSource> {
  const { log } = session.past;
  const { resolver, fs } = session.files;
  const { write } = resolver.policy;
  const isReachable = (path: string): boolean => resolver.mayWrite(path) || rootOf(path, write) !== null;
  const records = await changesAfter(log, await placeOf(log, to));
  if (paths === undefined) return { log, isReachable, records, agent, within: undefined };
  const within: string[] = [];
  for (const typed of paths) {
    const { path } = resolver.resolve(typed, "write");
    // The history has real paths. That of an entry whose directory is gone is as it was written.
    within.push(await entryPath(fs, path).catch(() => path));
  }
  return { log, isReachable, records, agent, within };
}

/** Plans a rewind of the files of a backend, with the contents that it changes. */
async function planOf(
  { log, isReachable, records, agent, within }: RewindSource,
  fs: Files,
  signal: AbortSignal | undefined,
  display: (path: string) => string,
): Promise<PlannedRewind> {
  const plan = await planRewind({
    fs,
    records,
    steps: async (callId) => (await undoableChange(log, callId)).made,
    isUndone: ({ header }) => agent === undefined || header.agent === agent,
    isReachable,
    within,
    signal,
  });
  if (plan.paths.length > MAX_REWOUND_PATHS)
    throw new FilewrightError(
      "LIMIT_EXCEEDED",
      `The rewind would change more than ${MAX_REWOUND_PATHS} paths.`,
      {
        complete: true,
        hint: "rewind to a later place, or some of the paths",
      },
    );
  const changes = await changesOfPlan(fs, plan, display);
  const digest = digestOfParts([
    "filewright rewind 1",
    plan.calls.map(({ header }) => header.callId),
    plan.paths.map(({ path, now, image, from }) => [
      path,
      now === null ? null : [now.type, now.mode ?? null, presentContentOf(now)],
      image === null ? null : [image.type, image.mode ?? null, image.target ?? null, contentHashOf(image)],
      from ?? null,
    ]),
  ]);
  return { plan, changes, digest };
}

/** Returns what the present entry of a path is known by. The version of a directory changes with what is in it. */
function presentContentOf({ type, version, target, size }: FsStat): string | number | null {
  if (type === "symlink") return target ?? null;
  return type === "file" ? (version ?? size) : null;
}

function contentHashOf({
  hash,
  bytes,
  version,
}: {
  readonly hash?: string;
  readonly bytes?: Uint8Array;
  readonly version?: string;
}): string | null {
  return hash ?? (bytes === undefined ? (version ?? null) : engine().sha256(bytes));
}

function toRewound(
  { plan, changes, digest }: PlannedRewind,
  display: (path: string) => string,
  callId?: string,
): Rewound {
  return Object.freeze({
    ...(callId === undefined ? {} : { callId }),
    calls: Object.freeze(plan.calls.map(({ header }) => header.callId)),
    changes: Object.freeze(changes),
    left: Object.freeze(plan.left.map((one) => toLeft(one, display))),
    unrecorded: Object.freeze(plan.unrecorded.map((record) => toUnrecorded(record, display))),
    digest,
  });
}

function toLeft({ path, reason, callId }: LeftPath, display: (path: string) => string): LeftByRewind {
  const by = callId === undefined ? {} : { callId };
  return Object.freeze({ path: display(path), reason, why: WHY_LEFT[reason], ...by });
}

const WHY_LEFT: Readonly<Record<LeftReason, string>> = {
  outside: "it is outside the directories that may be changed here",
  changed: "a person or another program has changed it since",
  other_call: "a call that is not undone has changed it since",
  unrecorded: "a call that cannot be undone has changed it since",
  in_use: "it holds what no undone call has made",
  directory: "its directory is gone, or is a link now",
  moved: "it belongs to a move that is not undone",
};

function toUnrecorded({ header, paths }: HistoryRecord, display: (path: string) => string): UnrecordedCall {
  const { callId, tool, time, agent } = header;
  return Object.freeze({
    callId,
    tool,
    time: new Date(time).toISOString(),
    ...(agent === undefined ? {} : { agent }),
    paths: Object.freeze(paths.map(display)),
  });
}
