/**
 * The session of a fork. It takes over the settings of the parent's session, and replaces every part that works on
 * files: a fork has its own files, journal, reads, approvals and locks.
 */
import type { FsBackend } from "../../backends/backend.ts";
import { sandboxFork } from "../../backends/confined/sandboxed.ts";
import { FilewrightError } from "../../engine/errors.ts";
import { makeApprovals } from "../../hooks/approvals.ts";
import { makeJournal, MemoryJournal } from "../../journal/index.ts";
import type { SandboxPolicy } from "../../policy/index.ts";
import { makeReads } from "../../pipeline/past/reads.ts";
import { makeRepositories, type Repositories } from "../../pipeline/paths/repositories.ts";
import type { BudgetStore } from "../../pipeline/scheduling/budget.ts";
import { RunningCalls } from "../../pipeline/scheduling/running.ts";
import type { CommandSandboxFor, Session } from "../../pipeline/session.ts";
import { makeMoments } from "../../pipeline/moments.ts";
import { makeViews, type Views } from "../../pipeline/views.ts";
import { refusingCommands } from "../../tools/run_command.ts";
import { type ConfineParts, makeConfine } from "../confine.ts";
import { lockerOfBackend } from "../host.ts";
import { stagesOf } from "../storage.ts";
import { isForking, type ForkFiles } from "./files.ts";

/** Creates the session of a fork. `workspace` is the number of the fork's workspace, and `close` closes its files. */
export function makeForkSession(
  parent: Session,
  files: ForkFiles,
  workspace: number,
  close: () => Promise<void>,
): Session {
  const inner = files.fs;
  const { policy } = parent.resolver;
  /** The backends to close when the fork is released. */
  const made = new Set<FsBackend>();
  const confine = (within: SandboxPolicy): FsBackend => sandboxFork(parent.fs, inner, within);
  const fs = confine(policy);
  made.add(fs);
  const own = makeViews(fs, (globs) => confine({ ...policy, deny: [...policy.deny, ...globs] }));
  // A fork that is a layer in memory reads unchanged files through the parent, so a secret that is granted to the fork
  // has to be granted there as well.
  const views: Views = {
    of: own.of,
    over: own.over,
    get granted() {
      return own.granted;
    },
    grantSecrets(paths) {
      if (!files.isCommit) parent.views.grantSecrets(paths);
      own.grantSecrets(paths);
    },
    on: own.on,
    close: own.close,
  };
  const { searches } = files;
  const momentsFor: ConfineParts["momentsFor"] = (within, its) =>
    searches && makeMoments(searches, within, its);
  const commandsFor = forkCommandsOf(parent.commandsFor);
  const reads = makeReads(undefined);
  const access = Object.freeze({ ...parent.access, confinement: "checked" as const });
  const journal = makeJournal({
    store: new MemoryJournal(),
    cwd: policy.cwd,
    keep: true,
    durable: false,
  });
  const { storage } = files;
  const isMine = parent.resolver.mayWrite;
  return Object.freeze({
    ...parent,
    workspace,
    running: new RunningCalls(parent.running),
    async release() {
      await views.close();
      for (const backend of made) await backend.close?.();
      made.clear();
      await reads.close();
      await close();
    },
    fs,
    views,
    enterMoment: momentsFor(policy, views),
    repositories: repositoriesOf(parent, inner, policy),
    reads,
    access,
    confine: makeConfine({
      files: inner,
      made,
      rules: parent.rules,
      commandsFor,
      confine,
      momentsFor,
      summarize: (both, wanted) =>
        Object.freeze({
          ...access,
          cwd: both.policy.cwd,
          readRoots: both.policy.read,
          writeRoots: both.policy.write,
          deny: Object.freeze([...new Set([...access.deny, ...wanted.deny])]),
          readOnly: both.policy.readOnly,
        }),
    }),
    approvals: makeApprovals(() => Date.now(), { bases: policy }),
    // Lasting approvals are given for the files of the parent, so those of a fork are in memory. Calls of a fork are
    // counted in the budget records of the parent.
    stores: Object.freeze({
      approvals: undefined,
      kept: undefined,
      budgets: beforeCalls(parent.stores.budgets),
    }),
    budget: parent.budget && { ...parent.budget, inCommit: () => undefined },
    locker: lockerOfBackend(inner, false),
    commands: commandsFor(policy, parent.rules),
    commandsFor,
    stages: storage && stagesOf(storage, inner, { journal, isMine, keepsOwn: false }),
    stage: undefined,
    unstaged: undefined,
    journal,
    storage: isForking(storage) ? storage : undefined,
    forkDepth: parent.forkDepth + 1,
  });
}

/**
 * Returns a store without `inCommit`, so that calls are counted before they run: a commit of the fork cannot change the
 * records of the parent.
 */
function beforeCalls(store: BudgetStore | undefined): BudgetStore | undefined {
  return (
    store && {
      begin: (...args) => store.begin(...args),
      end: (...args) => store.end(...args),
      spent: (...args) => store.spent(...args),
    }
  );
}

/**
 * Returns the protected places of the repositories in the parent together with those in the fork. The parent's include
 * those of the user's git configuration, and the fork may have changed or added repositories.
 */
function repositoriesOf(
  { repositories: above }: Session,
  inner: FsBackend,
  policy: SandboxPolicy,
): Repositories | undefined {
  if (above === undefined) return undefined;
  const own = makeRepositories(inner, policy.write, undefined);
  const both = async (
    one: Promise<readonly string[]>,
    other: Promise<readonly string[]>,
  ): Promise<readonly string[]> => [...new Set((await Promise.all([one, other])).flat())];
  const withOwn = (of: Repositories): Repositories => ({
    placesFor: (real, looked) => both(above.placesFor(real), of.placesFor(real, looked)),
    placesOf: (directory) => both(above.placesOf(directory), of.placesOf(directory)),
    on: (fs) => withOwn(of.on(fs)),
  });
  return withOwn(own);
}

/** Returns sandboxes that refuse every command, because a command would see the files of the parent. */
function forkCommandsOf(commandsFor: CommandSandboxFor): CommandSandboxFor {
  return (policy, rules) => {
    const provider = commandsFor(policy, rules);
    return provider === undefined ? undefined : refusingCommands(provider, forkCommandError);
  };
}

function forkCommandError(): FilewrightError {
  return new FilewrightError(
    "UNSUPPORTED_OPERATION",
    "Commands do not run in a fork: they would see the files without its changes.",
    { complete: true, hint: "merge the fork first, and run the command in the workspace" },
  );
}
