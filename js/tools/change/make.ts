/**
 * Makes a list of changes: all or none. A file is written, removed or moved only with the version that the plan found, and
 * a directory is removed only where one still is.
 */
import type { CommitList } from "../../backends/transaction/recorded-list.ts";
import type { Files } from "../../backends/files.ts";
import type { FsStat, WriteOptions, WriteResult } from "../../backends/backend.ts";
import { hashOf, lstatOrNull, missingParents } from "../../backends/fallback/fallback.ts";
import { copyEntry, moveEntry } from "../../backends/fallback/fallback-tree.ts";
import { transact } from "../../backends/transaction/transaction.ts";
import { FilewrightError } from "../../engine/errors.ts";
import { Yielder } from "../../engine/yielder.ts";
import { withoutUndefined } from "../../schema/without-undefined.ts";
import { currentVersion, toConflict } from "../lib/contents.ts";
import { lineHashesOf } from "../lib/line-hashes.ts";
import { plural } from "../../engine/escape.ts";
import type { Answer, Call, Plan } from "../lib/tool.ts";
import type { Change, MakeDirectory, Outcome, Put, Remove, Transfer } from "./change.ts";

/** A plan that changes something. */
export type ChangingPlan = Exclude<Plan<unknown>, { readonly kind: "settled" }>;

/**
 * Makes the change of a plan. Of a list all changes or none are made, in their order, and what was written is noted as
 * seen. The caller holds the locks of the paths.
 * @throws FilewrightError CONFLICT when a path is not as the plan found it; any error of a change, after the rollback
 */
export async function carryOut(plan: ChangingPlan, call: Call): Promise<Answer<unknown>> {
  if (plan.kind === "act") return plan.make(call);
  const { changes } = plan;
  const { commit } = call;
  const outcomes =
    commit === undefined ? await makeBySteps(changes, call) : await makeAsList(changes, commit, call);
  // Once all is written, nothing stops the notes about it.
  const unstopped = changes.length > 1 ? new Yielder({}) : undefined;
  for (const [index, change] of changes.entries()) {
    await unstopped?.yieldIfDue();
    await noteAsSeen(change, outcomes[index] as Outcome, call);
  }
  return plan.answer(outcomes, plan);
}

/** Lets the disk make the list in one job. */
async function makeAsList(
  changes: readonly Change[],
  commit: CommitList,
  { settings, signal }: Call,
): Promise<readonly Outcome[]> {
  const made = await commit({ durability: settings.durability, signal });
  if ("error" in made) throw failureOf(changes[made.at] as Change, made.error);
  return made.results.map((written, at) => outcomeOf(changes[at] as Change, written));
}

async function makeBySteps(changes: readonly Change[], call: Call): Promise<readonly Outcome[]> {
  const [only] = changes;
  if (changes.length === 1 && only !== undefined) return [await makeOne(only, call.fs, call)];
  const yielder = new Yielder({ signal: call.signal });
  const linked = new LinkedFiles(call.fs);
  for (const change of changes) {
    await yielder.yieldIfDue();
    await assertAsFound(change, call.fs, linked);
  }
  return transact(call.fs, async (own) => {
    const outcomes: Outcome[] = [];
    for (const change of changes) {
      await yielder.yieldIfDue();
      outcomes.push(await makeOne(await linked.asNow(change, own), own, call));
    }
    return outcomes;
  });
}

/** Compares the version of a file with that of the plan, before the first change of several is made. @throws CONFLICT */
async function assertAsFound(change: Change, fs: Files, linked: LinkedFiles): Promise<void> {
  if (change.do === "mkdir") return;
  const { path } = change;
  const stat = await lstatOrNull(fs, path);
  if (change.do !== "put" && change.do !== "remove") {
    if (stat?.isFile === true) await linked.note(change, stat);
    return;
  }
  const { was } = change;
  const version = stat === null ? null : await currentVersion(fs, path, false);
  if (version !== (was?.version ?? null)) throw changedSinceReadError(path);
  if (stat?.isFile === true) await linked.note(change, stat);
}

/**
 * The files that a list names a second time, by another hard link. The change before gives the file another version, so its
 * content is compared.
 */
class LinkedFiles {
  readonly #fs: Files;
  readonly #ids = new Set<string>();
  /** The hash of the content that a change was planned on. */
  readonly #hashes = new Map<Change, string>();

  constructor(fs: Files) {
    this.#fs = fs;
  }

  /** Notes the file of a change, before the first change is made. */
  async note(change: Exclude<Change, MakeDirectory>, { fileId, nlink = 1 }: FsStat): Promise<void> {
    if (fileId === undefined || nlink < 2) return;
    const isCompared = change.do === "put" || change.do === "remove";
    if (isCompared && this.#ids.has(fileId)) this.#hashes.set(change, await hashOf(this.#fs, change.path));
    this.#ids.add(fileId);
  }

  /** Returns a change with the present version of its file. @throws CONFLICT when the content is another one */
  async asNow(change: Change, fs: Files): Promise<Change> {
    const planned = this.#hashes.get(change);
    if (planned === undefined || (change.do !== "put" && change.do !== "remove")) return change;
    const { path } = change;
    const version = (await currentVersion(fs, path, false)) ?? undefined;
    if ((await hashOf(fs, path)) !== planned) throw changedSinceReadError(path);
    if (change.do === "remove") return { ...change, was: { ...change.was, version } };
    return { ...change, was: change.was && { ...change.was, version } };
  }
}

const changedSinceReadError = (path: string): FilewrightError =>
  new FilewrightError("CONFLICT", "changed since it was read", { path });

function makeOne(change: Change, fs: Files, call: Call): Promise<Outcome> {
  switch (change.do) {
    case "put":
      return put(change, fs, call);
    case "remove":
      return remove(change, fs, call);
    case "mkdir":
      return mkdir(change, fs);
    default:
      return withCreatedParents(fs, change, () => transfer(change, fs, call));
  }
}

/** The outcome of a change that says nothing. */
const DONE: Outcome = Object.freeze({ written: Object.freeze({}), files: 0, directories: 0, bytes: 0 });

/** Returns what a made change of one entry answers. `written` is what the disk tells of it. */
function outcomeOf(change: Change, written: WriteResult): Outcome {
  if (change.do === "copy") return { ...DONE, files: 1, bytes: change.size };
  if (change.do !== "remove") return { written, files: 0, directories: 0, bytes: 0 };
  return change.type === "dir" ? { ...DONE, directories: 1 } : { ...DONE, files: 1 };
}

/** Returns the error of a change for its caller: what is gone or has appeared is planned again. */
function failureOf(change: Change, error: unknown): unknown {
  if (change.do === "put") return toConflict(error, conditionOf(change), change.mayReplace);
  return change.do === "remove" && isGone(error) ? changedError(change.path, error) : error;
}

function conditionOf({ was }: Put): Pick<WriteOptions, "ifVersion" | "ifAbsent"> {
  return withoutUndefined({ ifVersion: was?.version, ifAbsent: was === null ? true : undefined });
}

async function put(change: Put, fs: Files, { settings, signal }: Call): Promise<Outcome> {
  const { target, was, now } = change;
  const options: WriteOptions = withoutUndefined({
    // The directory of a file that is there exists.
    createDirs: change.parents && was === null ? true : undefined,
    durability: settings.durability,
    signal,
    ...conditionOf(change),
    mode: now.mode === undefined ? undefined : Number.parseInt(now.mode, 8),
    hash: typeof now.hash === "string" ? now.hash : undefined,
  });
  try {
    return { ...DONE, written: await fs.writeBytes(target, now.bytes, options) };
  } catch (error) {
    throw failureOf(change, error);
  }
}

async function remove(change: Remove, fs: Files, { signal }: Call): Promise<Outcome> {
  const { path, was } = change;
  const condition = { ifVersion: was.version };
  try {
    // A directory has no version, so that only its type tells what took its place.
    if (was.version === undefined) await assertType(change, fs);
    if (change.tree) return { ...DONE, ...(await fs.removeTree(path, { signal })) };
    await fs.delete(path, condition);
  } catch (error) {
    throw failureOf(change, error);
  }
  return outcomeOf(change, {});
}

/** Checks that the entry to remove is still one of the planned type. @throws CONFLICT; NOT_FOUND when there is none */
async function assertType({ path, type }: Remove, fs: Files): Promise<void> {
  const now = await fs.lstat(path);
  if (now.type !== type) throw changedError(path);
}

const isGone = (error: unknown): boolean => error instanceof FilewrightError && error.code === "NOT_FOUND";

const changedError = (path: string, cause?: unknown): FilewrightError =>
  new FilewrightError("CONFLICT", "changed while it was removed", { path, cause });

async function mkdir(change: MakeDirectory, fs: Files): Promise<Outcome> {
  await fs.mkdir(change.path, { parents: change.parents, existOk: change.existOk });
  return DONE;
}

async function transfer(change: Transfer, fs: Files, { signal }: Call): Promise<Outcome> {
  const { from, path, overwrite, version } = change;
  const options = { overwrite, ifVersion: version, signal };
  if (change.do === "copy") return { ...DONE, ...(await copyEntry(fs, from, path, options)) };
  return { ...DONE, written: await moveEntry(fs, from, path, options) };
}

/**
 * Creates the missing parents of a path, then makes its change; the parents are removed again if it fails.
 * @throws FilewrightError NOT_FOUND when parents are missing and are not to be made
 */
async function withCreatedParents(
  fs: Files,
  { path, parents }: Transfer,
  action: () => Promise<Outcome>,
): Promise<Outcome> {
  const [parent] = await missingParents(fs, path);
  if (parent === undefined) return action();
  if (!parents) throw new FilewrightError("NOT_FOUND", "the parent directory does not exist", { path });
  return transact(fs, async (own) => {
    await own.mkdir(parent, { parents: true, existOk: true });
    return action();
  });
}

/** Notes the content that the caller knows from now on. The guard notes what follows from other changes. */
async function noteAsSeen(change: Change, { written: { version } }: Outcome, call: Call): Promise<void> {
  const { seen } = call;
  if (change.do === "remove" && change.was.bytes !== null) seen.note(change.path, undefined);
  if (change.do !== "put") return;
  const { path, needs, now } = change;
  if (needs === "nothing") return seen.note(path, undefined);
  const hash = await now.hash;
  seen.note(path, version, hash);
  // By these a later answer tells what another program changed in the file. Without the signal of the call: the change
  // is made, and a cancellation would take it back.
  if (call.settings.knows) seen.lineHashes.keep(hash, await lineHashesOf(now.bytes, undefined));
}

/**
 * Returns warnings about side effects of a write, such as hard links that keep the old content. `name` is the
 * file, if the call writes several.
 */
export function writeWarnings({ inPlace, otherNames }: WriteResult, name?: string): readonly string[] {
  const prefix = name === undefined ? "" : `${name}: `;
  const warnings: string[] = [];
  if (inPlace === true)
    warnings.push(
      `${prefix}written in place, which is not atomic: no new file could take its place in the directory`,
    );
  if (otherNames !== undefined && otherNames > 0)
    warnings.push(
      `${prefix}the file had ${plural(otherNames, "other name")} (hard links), which ${
        otherNames === 1 ? "keeps" : "keep"
      } the old content`,
    );
  return warnings;
}
