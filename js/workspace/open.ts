/**
 * Opens a workspace: options become a policy, a confined backend and the shared state of calls;
 * tools become methods.
 */
import { debug } from "../engine/debug.ts";
import { FilewrightError, makeError } from "../engine/errors.ts";
import { loadEarly } from "../engine/lazy.ts";
import { notifySafely } from "../hooks/events.ts";
import type { Recovery } from "../log/index.ts";
import { recoverSession } from "../pipeline/past/recover.ts";
import { type GuardLevel, type Preset, presetOf } from "../presets/index.ts";
import { withoutUndefined } from "../schema/without-undefined.ts";
import { openAccess } from "./access.ts";
import { journalKindOf, openFiles } from "./backend.ts";
import { assertNoSecondArgument, boundHooksOf, type CheckedOptions, checkOptions } from "./check.ts";
import { MadeParts } from "./made.ts";
import type { WorkspaceOptions } from "./options.ts";
import { makeSession } from "./session.ts";
import { sharedStoresOf } from "./shared/stores.ts";
import type { Capabilities, Workspace } from "./types.ts";
import { makeWorkspace } from "./workspace.ts";

/**
 * Opens a workspace: everything a model may do with files below the roots.
 *
 * @example
 * const ws = await openWorkspace({ root: "/repo", guard: "refuse" });
 * const { text } = await ws.call("grep", { pattern: "TODO" });
 * await ws.close();
 *
 * @throws FilewrightError INVALID_ARGUMENT for invalid options, NOT_FOUND for a missing root
 */
export function openWorkspace(options: WorkspaceOptions): Promise<Workspace>;
/**
 * Opens a workspace on one directory: a path, or a `file:` URL. Every option has its default.
 *
 * @example
 * const ws = await openWorkspace("/repo");
 *
 * @throws FilewrightError INVALID_ARGUMENT for a value that names no directory, NOT_FOUND for a missing one
 */
// `Root` keeps the members of URL out of the completion of half-typed options: for a call that fits no overload, an
// editor offers the members of all of them, but those of the first where one is generic.
export function openWorkspace<Root extends string | URL>(root: Root): Promise<Workspace>;
/** Opens a workspace on a directory or with options. The compiler takes its messages from here. */
export function openWorkspace(options: string | URL | WorkspaceOptions): Promise<Workspace>;
// A second argument is no part of the type: it exists so that a call from JavaScript that has one is refused.
export async function openWorkspace(
  options: string | URL | WorkspaceOptions,
  ...others: readonly unknown[]
): Promise<Workspace> {
  assertNoSecondArgument(others[0]);
  const made = new MadeParts();
  try {
    const opened = await openParts(checkOptions(options), made);
    const loaded = loadEarly();
    made.add(() => loaded);
    return opened;
  } catch (error) {
    // The error of the opening is the one to tell, whatever the end of its parts says.
    await made.end().catch(() => undefined);
    throw hasNoDescriptor(error) ? noDescriptorError(error) : error;
  }
}

/** EMFILE and ENFILE, which have these numbers on Linux and macOS. */
const NO_DESCRIPTOR_ERRNOS: ReadonlySet<unknown> = new Set([24, 23]);

/** Returns true for an opening that found as many files open as the process, or the system, may have. */
function hasNoDescriptor(error: unknown): boolean {
  return error instanceof FilewrightError && NO_DESCRIPTOR_ERRNOS.has(error.details?.["errno"]);
}

/** Returns the error of an opening without descriptors: the paths of a call, of which other errors speak, are no cause. */
function noDescriptorError(cause: unknown): FilewrightError {
  return makeError(
    "IO_ERROR",
    "openWorkspace: no more files can be opened, and each open workspace holds its root open; close workspaces that are no longer used, or raise the limit of open files (ulimit -n)",
    { complete: true, cause, details: (cause as FilewrightError).details },
  );
}

/** Opens a workspace. Each part that has an end is noted as it is made, for an opening that fails. */
async function openParts(options: CheckedOptions, made: MadeParts): Promise<Workspace> {
  const opened = await openFiles(options, made);
  const { given, shared, state } = opened;
  const preset = presetOf(given.preset);
  const hooks = boundHooksOf(given);
  const access = await openAccess(opened, preset);
  const guard = guardLevelOf(given.guard, preset);
  const chosen = sharedStoresOf(given, access.resolver.policy, { ...opened, guard });
  const { session, facts } = await makeSession({ opened, preset, hooks, access, guard, chosen, made });
  const recovery = await recoverSession(session);
  const journal = journalKindOf(opened);
  notifyRecovery(given, recovery, journal);
  const { engine, confinement, sandbox } = session.files.access;
  return makeWorkspace(session, preset, {
    engine,
    backend: session.files.fs.abilities,
    confinement,
    ...withoutUndefined({ resolver: facts, storage: shared?.facts, state }),
    recovery,
    journal,
    shared: chosen.places,
    sandbox,
  });
}

/**
 * Notifies the host of recovered changes, and of a journal in memory, with which the end of the process
 * leaves a change half made.
 */
function notifyRecovery(
  { notify, stateDir, storage }: WorkspaceOptions,
  recovery: Recovery,
  journal: Capabilities["journal"],
): void {
  const { rolledBack, ignored, damaged, conflicts, problem } = recovery;
  debug.recovery?.(
    `journal ${journal}: ${rolledBack} rolled back, ${ignored} ignored, ${damaged} damaged, ${conflicts.length} conflicts${problem === undefined ? "" : `, ${problem.code}`}`,
  );
  if (rolledBack + ignored + damaged + conflicts.length > 0 || problem !== undefined)
    notifySafely(notify, { type: "recovered", recovery });
  if (journal === "memory" && stateDir !== undefined && storage === undefined) {
    notifySafely(notify, {
      type: "journal_in_memory",
      message: "the journal of this storage is in memory: give a backendId to keep it in stateDir",
    });
  }
}

/** Returns the guard level of the host, or that of the preset. */
function guardLevelOf(given: WorkspaceOptions["guard"], preset: Preset | undefined): GuardLevel {
  if (given === undefined) return preset?.guard ?? "warn";
  if (typeof given === "boolean") return given ? "refuse" : "off";
  return given;
}
