/** The forks of a workspace: how they are named and made, and what they can do besides the calls of a workspace. */
import { checkAborted, FilewrightError } from "../../engine/errors.ts";
import { callsOf } from "../../call/stages.ts";
import { errorOfData } from "../../pipeline/result.ts";
import type { Session } from "../../pipeline/session.ts";
import {
  choice,
  flag,
  integer,
  optionChecker,
  type Options,
  options,
  signalOption,
  text,
} from "../../schema/option.ts";
import type { Tool } from "../../tools/lib/tool.ts";
import { nextWorkspaceNumber } from "../number.ts";
import { openForkStorage } from "../storage.ts";
import {
  diffOf,
  type ForkConflict,
  type ForkDiff,
  type MergedChange,
  mergedChangesOf,
  toForkConflict,
} from "./changes.ts";
import { type ForkFiles, layerFiles, storageFiles } from "./files.ts";
import { type AskedMerge, mergeTool, type MergeOutcome } from "./merge-tool.ts";
import { makeForkSession } from "./session.ts";

/** The options of `ws.fork`. */
export interface ForkWorkspaceOptions {
  /** Ends the making of the fork, with CANCELLED. */
  readonly signal?: AbortSignal | undefined;
}

/** The options of `fork.diff`. */
export interface ForkDiffOptions {
  /** True to get the changes as one diff in the format of git, too. Default false. */
  readonly text?: boolean | undefined;
  /** The number of unchanged lines around each change. Default 3. */
  readonly context?: number | undefined;
  /** Ends the comparison, with CANCELLED. */
  readonly signal?: AbortSignal | undefined;
}

/** The options of `fork.merge`. */
export interface ForkMergeOptions {
  /**
   * The side whose state a path in conflict gets: `ours` is the parent, `theirs` the fork. Texts are merged first; the
   * side counts for what is in conflict after that, but for `tree` conflicts, which remain. Default: conflicts are returned, and nothing is changed.
   */
  readonly favour?: "ours" | "theirs" | undefined;
  /** True to return what the merge would do, without doing it. Default false. */
  readonly dryRun?: boolean | undefined;
  /** Ends the wait for locks and reviewers, with CANCELLED. What has begun to write is rolled back or finished. */
  readonly signal?: AbortSignal | undefined;
}

/** The result of `fork.merge`. */
export interface ForkMerge {
  /** True when the parent was changed. False for a dry run, with conflicts, and when there was nothing to merge. */
  readonly merged: boolean;
  /** The id by which the parent can undo the merge. Present when the parent was changed. */
  readonly callId?: string;
  /** The changes that the merge made in the parent, or would make. */
  readonly changes: readonly MergedChange[];
  /** The paths in conflict, sorted. When there are any, the parent is as it was. */
  readonly conflicts: readonly ForkConflict[];
}

/**
 * The options of `ws.fork`.
 *
 * @printed
 */
export const FORK_WORKSPACE_OPTIONS: Options<ForkWorkspaceOptions> = options("ForkWorkspaceOptions", {
  signal: signalOption,
});

/**
 * The options of `fork.diff`.
 *
 * @printed
 */
export const FORK_DIFF_OPTIONS: Options<ForkDiffOptions> = options("ForkDiffOptions", {
  text: flag(),
  context: integer(0),
  signal: signalOption,
});

/**
 * The options of `fork.merge`.
 *
 * @printed
 */
export const FORK_MERGE_OPTIONS: Options<ForkMergeOptions> = options("ForkMergeOptions", {
  favour: choice("ours", "theirs"),
  dryRun: flag(),
  signal: signalOption,
});

const NAME_FORM = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/u;
/** The largest number of forks above each other. Reads go through all of them. */
const MAX_FORK_DEPTH = 8;
/** The largest number of open forks of one workspace. */
const MAX_OPEN_FORKS = 10_000;

const NAME_RULE = "a name of 1 to 64 letters, digits and . _ -, beginning with a letter or digit";
const checkName = optionChecker(
  "fork",
  text({
    noun: NAME_RULE,
    test: (name) => (NAME_FORM.test(name) ? undefined : `must be ${NAME_RULE}`),
  }),
);
const checkForkOptions = optionChecker("fork", FORK_WORKSPACE_OPTIONS);
const checkDiffOptions = optionChecker("diff", FORK_DIFF_OPTIONS);
const checkMergeOptions = optionChecker("merge", FORK_MERGE_OPTIONS);

/** A fork, without the methods of a workspace. */
export interface OpenedFork {
  readonly name: string;
  readonly session: Session;
  diff(options?: ForkDiffOptions): Promise<ForkDiff>;
  merge(options?: ForkMergeOptions): Promise<ForkMerge>;
  /** Called when the fork is to be removed, before it is closed. */
  markDropped(): void;
}

/** The forks of one workspace. */
export interface Forks {
  open(name: string | undefined, options: ForkWorkspaceOptions | undefined): Promise<OpenedFork>;
}

/** The parts of a workspace that its forks use. */
interface ForkParent {
  readonly session: Session;
  /** Throws when the workspace accepts no more calls. */
  assertOpen(): void;
  /** Counts a call of the workspace while it runs. */
  run<T>(call: () => Promise<T>): Promise<T>;
}

/** Makes the forks of a workspace. */
export function makeForks(parent: ForkParent): Forks {
  const { session } = parent;
  const names = new Set<string>();
  return {
    async open(given, options = {}) {
      parent.assertOpen();
      const name = given === undefined ? `fork-${crypto.randomUUID()}` : checkName(given);
      const { signal } = checkForkOptions(options);
      if (session.forks.depth >= MAX_FORK_DEPTH)
        throw new FilewrightError("LIMIT_EXCEEDED", `There are ${MAX_FORK_DEPTH} forks above each other.`, {
          complete: true,
          hint: "merge one of them first",
        });
      if (names.size >= MAX_OPEN_FORKS)
        throw new FilewrightError("LIMIT_EXCEEDED", `${MAX_OPEN_FORKS} forks are open.`, {
          complete: true,
          hint: "drop or close some of them",
        });
      if (names.has(name)) throw existsError(name);
      names.add(name);
      try {
        const files = await makeFiles(session, name, signal);
        const forget = (): boolean => names.delete(name);
        return openFork(parent, { name, files, isUnnamed: given === undefined, forget });
      } catch (error) {
        names.delete(name);
        throw error;
      }
    },
  };
}

function existsError(name: string): FilewrightError {
  return new FilewrightError("ALREADY_EXISTS", `There is a fork '${name}'.`, {
    complete: true,
    hint: "give another name, or none",
  });
}

async function makeFiles(
  { forks: { storage }, files }: Session,
  name: string,
  signal: AbortSignal | undefined,
): Promise<ForkFiles> {
  checkAborted(signal);
  if (storage === undefined) return layerFiles(files);
  try {
    const fork = await storage.fork(name, { signal });
    return storageFiles(storage, fork, await openForkStorage(storage, fork));
  } catch (error) {
    if (error instanceof FilewrightError && error.code === "ALREADY_EXISTS") throw existsError(name);
    throw error;
  }
}

/** The parts of a fork that is opened. */
interface ForkParts {
  readonly name: string;
  readonly files: ForkFiles;
  /** True where its name was made up, so that no later call can open it. */
  readonly isUnnamed: boolean;
  /** Makes its name free. */
  readonly forget: () => void;
}

function openFork(parent: ForkParent, { name, files, isUnnamed, forget }: ForkParts): OpenedFork {
  const { resolver } = parent.session.files;
  let isDropped = isUnnamed;
  const session = makeForkSession(parent.session, {
    files,
    workspace: nextWorkspaceNumber(),
    close: async () => {
      forget();
      await files.close(isDropped);
    },
  });
  const assertOpen = (): void => {
    if (session.scheduling.running.closed)
      throw new FilewrightError("UNSUPPORTED_OPERATION", "The workspace is closed.", { complete: true });
  };
  /** Merges run one after the other. */
  let turn: Promise<unknown> = Promise.resolve();
  const merge = async (options: ForkMergeOptions): Promise<ForkMerge> => {
    const { dryRun, favour, signal } = checkMergeOptions(options);
    assertOpen();
    parent.assertOpen();
    if (parent.session.files.access.readOnly)
      throw new FilewrightError("READ_ONLY", "The workspace of this fork is read-only.", { complete: true });
    const planning = { favour, signal };
    const outcome: MergeOutcome = { plan: await files.plan(planning) };
    let callId: string | undefined;
    if (dryRun !== true && outcome.plan.merge.conflicts.length === 0 && outcome.plan.merge.ops.length > 0)
      callId = await runMerge(parent, { name, files, planning, outcome });
    const { merge: made } = outcome.plan;
    const conflicts = made.conflicts.map((one) => toForkConflict(one, resolver.display));
    return Object.freeze({
      merged: callId !== undefined,
      ...(callId === undefined ? {} : { callId }),
      changes: conflicts.length > 0 ? [] : mergedChangesOf(made, resolver.display),
      conflicts: Object.freeze(conflicts),
    });
  };
  return {
    name,
    session,
    async diff(options = {}) {
      const { signal, ...wanted } = checkDiffOptions(options);
      assertOpen();
      const { merge: planned } = await files.plan({ signal });
      return diffOf(planned, resolver.display, wanted);
    },
    merge(options = {}) {
      const mine = turn.then(() => merge(options));
      turn = mine.catch(() => undefined);
      return mine;
    },
    markDropped: () => {
      isDropped = true;
    },
  };
}

/** Makes a planned merge as a call of the parent. Returns the id of the call; undefined when nothing was changed. */
async function runMerge({ session, run }: ForkParent, asked: AskedMerge): Promise<string | undefined> {
  const { tool, args } = mergeTool(asked, session.files.resolver.display);
  const { planning, outcome } = asked;
  const { signal } = planning;
  const result = await run(() => callsOf(session)(tool as unknown as Tool, args, { signal }));
  if (!result.ok) throw errorOfData(result.error);
  const { merge, merged } = outcome.plan;
  if (merge.conflicts.length > 0 || merge.ops.length === 0) return undefined;
  await merged();
  return result.meta.call_id;
}
