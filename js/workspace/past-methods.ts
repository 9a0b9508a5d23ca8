/** The methods of a workspace about earlier changes: its history, undo, marks and rewind, and what is unreviewed. */
import type { Called } from "../call/call.ts";
import { callOfHost } from "../call/stages.ts";
import { CONFIRMED_PART } from "../hooks/confirm.ts";
import { lazilyEarly } from "../engine/lazy.ts";
import type { HistoryOptions, HostWork, Undone } from "../pipeline/past/history.ts";
import { BY, KEEP_OPTIONS, KEPT_CALLS } from "../pipeline/past/keep-options.ts";
import type { UndoneParts } from "../pipeline/past/undo-parts.ts";
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
import type { UndoOptions, Workspace } from "./types.ts";

const past = lazilyEarly("the history", () => import("./past.ts"));

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
      const { unrecorded } = checkHistoryOptions(given);
      return (await past()).listHistory(session, unrecorded);
    },
    undo: (callId: string, given: UndoOptions = {}) =>
      undo(session, entrance, callId, given) as Promise<never>,
    async unreviewed() {
      assertOpen();
      return (await past()).listUnreviewed(session);
    },
    async keep(callIds, given = {}) {
      assertOpen();
      const kept = checkKeepOptions(given);
      const ids = checkKeptCalls(callIds);
      const all = typeof ids === "string" ? [ids] : ids;
      const asked = { known: KEEP, by: undefined, signal: undefined };
      return callOfHost(session, { ...asked, work: async (on) => (await past()).keepCalls(on, all, kept) });
    },
    async changes(callId) {
      assertOpen();
      const checked = checkChangesCallId(callId);
      return (await past()).changesOfCall(session, checked);
    },
    async blame(path) {
      assertOpen();
      const checked = checkBlamedPath(path);
      return (await past()).blameFile(session, checked);
    },
    async mark(name) {
      assertOpen();
      const checked = checkMarkName(name);
      return (await past()).setMark(session, checked);
    },
    async marks() {
      assertOpen();
      return (await past()).listMarks(session);
    },
    async rewind(to, given = {}) {
      assertOpen();
      const rewound = checkRewindOptions(given);
      const place = checkRewindPlace(to);
      assertAdmitted();
      return (await past()).rewindTo(session, gate.run, place, rewound);
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
  const work = async (on: HostWork): Promise<Undone | UndoneParts> => {
    const { undoCall, undoParts } = await past();
    return parts === undefined
      ? undoCall(on, undone, signal)
      : undoParts(on, undone, { parts, digest, dryRun, signal });
  };
  // Observers do not see a preview.
  const observed = dryRun ? { ...session, observers: { all: [], hashes: false } } : session;
  return gate.run(() => callOfHost(observed, { known: UNDO, by, signal, work }));
}

const UNDO: Called = { name: "undo", title: "Undo", kind: "change", traits: [] };
const KEEP: Called = { name: "keep", title: "Keep", kind: "review", traits: [] };
