/** The methods of a workspace about earlier changes: its history, undo, marks and rewind, and what is unreviewed. */
import type { Called } from "../call/call.ts";
import { callOfHost } from "../call/stages.ts";
import { CONFIRMED_PART } from "../hooks/confirm.ts";
import { blameFile } from "../pipeline/past/blame.ts";
import { changesOfCall } from "../pipeline/past/changes.ts";
import {
  type HistoryOptions,
  type HostWork,
  listHistory,
  undoCall,
  type Undone,
} from "../pipeline/past/history.ts";
import { undoParts, type UndoneParts } from "../pipeline/past/undo-parts.ts";
import { BY, KEEP_OPTIONS, KEPT_CALLS, keepCalls, listUnreviewed } from "../pipeline/past/unreviewed.ts";
import type { Session } from "../pipeline/session.ts";
import {
  either,
  flag,
  list,
  optionChecker,
  type Options,
  options,
  required,
  signalOption,
  text,
  wrongOptionError,
} from "../schema/option.ts";
import type { Entrance } from "./entrance.ts";
import { MARK_NAME, REWIND_OPTIONS, REWIND_PLACE } from "./rewind/options.ts";
import { listMarks, rewindTo, setMark } from "./rewind/rewind.ts";
import type { UndoOptions, Workspace } from "./types.ts";

/**
 * The options of `ws.undo`.
 *
 * @printed
 */
export const UNDO_OPTIONS: Options<UndoOptions> = options("UndoOptions", {
  parts: list(CONFIRMED_PART, { minItems: 1 }),
  dryRun: flag(),
  digest: text({ pattern: "^sha256:[0-9a-f]{64}$" }),
  by: BY,
  signal: signalOption,
});

/**
 * The options of `ws.history`.
 *
 * @printed
 */
export const HISTORY_OPTIONS: Options<HistoryOptions> = options("HistoryOptions", { unrecorded: flag() });

const checkHistoryOptions = optionChecker("history", HISTORY_OPTIONS);
const checkUndoOptions = optionChecker("undo", UNDO_OPTIONS);
const checkCallId = optionChecker("undo", text());
const checkChangesCallId = optionChecker("changes", text());
const checkBlamedPath = optionChecker("blame", text());
const checkKeepOptions = optionChecker("keep", KEEP_OPTIONS);
const checkKeptCalls = optionChecker("keep", required(either(text(), KEPT_CALLS)));
const checkMarkName = optionChecker("mark", MARK_NAME);
const checkRewindOptions = optionChecker("rewind", REWIND_OPTIONS);
const checkRewindPlace = optionChecker("rewind", REWIND_PLACE);

/** The methods of a workspace about earlier changes. */
export type PastMethods = Pick<
  Workspace,
  "history" | "undo" | "unreviewed" | "keep" | "changes" | "blame" | "mark" | "marks" | "rewind"
>;

/** Makes the methods about earlier changes. */
export function makePastMethods(session: Session, entrance: Entrance): PastMethods {
  const { gate, assertOpen, assertAdmitted } = entrance;
  return {
    async history(given = {}) {
      return listHistory(session, checkHistoryOptions(given).unrecorded);
    },
    undo: (callId: string, given: UndoOptions = {}) =>
      undo(session, entrance, callId, given) as Promise<never>,
    async unreviewed() {
      assertOpen();
      return listUnreviewed(session);
    },
    async keep(callIds, given = {}) {
      assertOpen();
      const kept = checkKeepOptions(given);
      const ids = checkKeptCalls(callIds);
      const all = typeof ids === "string" ? [ids] : ids;
      const asked = { known: KEEP, by: undefined, signal: undefined };
      return callOfHost(session, { ...asked, work: (work) => keepCalls(work, all, kept) });
    },
    async changes(callId) {
      assertOpen();
      return changesOfCall(session, checkChangesCallId(callId));
    },
    async blame(path) {
      assertOpen();
      return blameFile(session, checkBlamedPath(path));
    },
    async mark(name) {
      assertOpen();
      return setMark(session, checkMarkName(name));
    },
    async marks() {
      assertOpen();
      return listMarks(session);
    },
    async rewind(to, given = {}) {
      assertOpen();
      const rewound = checkRewindOptions(given);
      const place = checkRewindPlace(to);
      assertAdmitted();
      return rewindTo(session, gate.run, place, rewound);
    },
  };
}

async function undo(
  session: Session,
  { gate, assertOpen, assertAdmitted }: Entrance,
  callId: string,
  given: UndoOptions,
): Promise<Undone | UndoneParts> {
  assertOpen();
  const { signal, parts, by, ...more } = checkUndoOptions(given);
  for (const name of ["dryRun", "digest"] as const)
    if (parts === undefined && more[name] !== undefined)
      throw wrongOptionError("undo", name, "concerns an undo of parts, and none are given");
  const undone = checkCallId(callId);
  assertAdmitted();
  const { dryRun = false, digest } = more;
  const work = (on: HostWork): Promise<Undone | UndoneParts> =>
    parts === undefined
      ? undoCall(on, undone, signal)
      : undoParts(on, undone, { parts, digest, dryRun, signal });
  // Observers do not see a preview.
  const observed = dryRun ? { ...session, observers: { all: [], hashes: false } } : session;
  return gate.run(() => callOfHost(observed, { known: UNDO, by, signal, work }));
}

const UNDO: Called = { name: "undo", title: "Undo", kind: "change", traits: [] };
const KEEP: Called = { name: "keep", title: "Keep", kind: "review", traits: [] };
