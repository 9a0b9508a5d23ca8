/**
 * The session of a fork. It takes over the settings of the parent's session, and replaces every part that works on
 * files: a fork has its own files, journal, reads, approvals and locks.
 */
import type { Files } from "../../backends/files.ts";
import { sandboxFork } from "../../backends/confined/sandboxed.ts";
import { FilewrightError } from "../../engine/errors.ts";
import { makeApprovals } from "../../hooks/approvals.ts";
import { makeRecordLog, MemoryJournal } from "../../log/index.ts";
import type { SandboxPolicy } from "../../policy/index.ts";
import { makeReads, type Reads } from "../../pipeline/past/reads.ts";
import { makeRepositories, type Repositories } from "../../pipeline/paths/repositories.ts";
import { makeGates } from "../../pipeline/sources.ts";
import { RunningCalls } from "../../pipeline/scheduling/running.ts";
import type { CommandSandboxFor, Session, SessionFiles } from "../../pipeline/session.ts";
import { makeMoments } from "../../pipeline/moments.ts";
import { makeViews, type Views } from "../../pipeline/views.ts";
import type { AccessSummary } from "../../tools/lib/tool.ts";
import { RefusingSandbox } from "../../tools/run_command.ts";
import { type ConfineParts, makeConfine } from "../confine.ts";
import { MadeParts } from "../made.ts";
import { lockerOfBackend } from "../host.ts";
import { isForking, stagesOf } from "../storage.ts";
import type { ForkFiles } from "./files.ts";

/** A fork whose session is made. */
export interface NewFork {
  readonly files: ForkFiles;
  /** The number of its workspace. */
  readonly workspace: number;
  /** Closes the files. */
  close(): Promise<void>;
}

/** Creates the session of a fork. */
export function makeForkSession(parent: Session, fork: NewFork): Session {
  const { fs: inner, storage, beginStage } = fork.files;
  const { resolver } = parent.files;
  const { policy } = resolver;
  const { rules } = parent.gates;
  const { budget, running } = parent.scheduling;
  const sandboxFor = forkCommandsOf(parent.commands.sandboxFor);
  const reads = makeReads(undefined);
  const log = makeRecordLog({ store: new MemoryJournal(), cwd: policy.cwd, keep: true, durable: false });
  const logs = { log, isMine: resolver.mayWrite, keepsOwn: false };
  return Object.freeze({
    ...parent,
    caller: { ...parent.caller, workspace: fork.workspace },
    files: makeFilesOfFork(parent, fork, sandboxFor, reads),
    gates: makeGates(
      { ...parent.gates, approvals: makeApprovals(() => Date.now(), { bases: policy }) },
      { hooks: parent.hooks.bound, resolver },
    ),
    past: { log, rollbacks: log.rollbacks, reads },
    commands: { ...parent.commands, sandbox: sandboxFor(policy, rules), sandboxFor },
    scheduling: {
      ...parent.scheduling,
      running: new RunningCalls(running),
      locker: lockerOfBackend(inner, false),
      budget: budget && { ...budget, inCommit: () => undefined },
    },
    staging: {
      stages: storage && beginStage && stagesOf(storage, { backend: inner, beginStage }, logs),
      stage: undefined,
      charge: undefined,
      unstaged: undefined,
    },
    forks: { storage: isForking(storage) ? storage : undefined, depth: parent.forks.depth + 1 },
    // Lasting approvals are given for the files of the parent, so those of a fork are in memory. Calls of a fork are
    // counted in the budget records of the parent, before they run: a commit of the fork cannot change those records.
    stores: Object.freeze({
      approvals: {},
      budgets: parent.stores.budgets && { ...parent.stores.budgets, inCommit: () => undefined },
      grants: undefined,
    }),
  });
}

function makeFilesOfFork(
  parent: Session,
  { files, close }: NewFork,
  commandsFor: CommandSandboxFor,
  reads: Reads,
): SessionFiles {
  const inner = files.fs;
  const { resolver } = parent.files;
  const { policy } = resolver;
  const made = new MadeParts();
  made.add(close);
  made.add(() => reads.close());
  const confine = (within: SandboxPolicy): Files => sandboxFork(parent.files.fs, inner, within);
  const fs = confine(policy);
  made.add(() => fs.close());
  const own = makeViews(fs, (globs) => confine({ ...policy, deny: [...policy.deny, ...globs] }));
  // A fork that is a layer in memory reads unchanged files through the parent.
  const views = files.isCommit ? own : grantingTo(parent.files.views, own);
  made.add(() => views.close());
  const { searches } = files;
  const momentsFor: ConfineParts["momentsFor"] = (within, its) =>
    searches && makeMoments(searches, within, its);
  const access = Object.freeze({ ...parent.files.access, confinement: "checked" as const });
  return {
    fs,
    resolver,
    views,
    enterMoment: momentsFor(policy, views),
    repositories: repositoriesOf(parent, inner, policy),
    access,
    confine: makeConfine({
      files: inner,
      made,
      rules: parent.gates.rules,
      commandsFor,
      confine,
      momentsFor,
      summarize: (both, wanted) => accessWithin(access, both.policy, wanted),
    }),
    release: () => made.end(),
  };
}

/** Returns views of which a granted secret is granted by others as well. */
function grantingTo(others: Views, own: Views): Views {
  return {
    of: own.of,
    without: own.without,
    over: own.over,
    get granted() {
      return own.granted;
    },
    grantSecrets(paths) {
      others.grantSecrets(paths);
      own.grantSecrets(paths);
    },
    on: own.on,
    close: own.close,
  };
}

/** Returns the summary of a policy within that of the fork. */
function accessWithin(
  access: AccessSummary,
  { cwd, read, write, readOnly }: SandboxPolicy,
  { deny }: SandboxPolicy,
): AccessSummary {
  return Object.freeze({
    ...access,
    cwd,
    readRoots: read,
    writeRoots: write,
    deny: Object.freeze([...new Set([...access.deny, ...deny])]),
    readOnly,
  });
}

/**
 * Returns the protected places of the repositories in the parent together with those in the fork. The parent's include
 * those of the user's git configuration, and the fork may have changed or added repositories.
 */
function repositoriesOf(parent: Session, inner: Files, policy: SandboxPolicy): Repositories | undefined {
  const above = parent.files.repositories;
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
    return provider === undefined ? undefined : new RefusingSandbox(provider, forkCommandError);
  };
}

function forkCommandError(): FilewrightError {
  return new FilewrightError(
    "UNSUPPORTED_OPERATION",
    "Commands do not run in a fork: they would see the files without its changes.",
    { complete: true, hint: "merge the fork first, and run the command in the workspace" },
  );
}
