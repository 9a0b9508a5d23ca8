/**
 * Plans a rewind: which steps of later changes are undone, and which paths are left. Nothing is changed.
 *
 * The changes are undone in a tree in memory, the newest first. Each path is compared with the state in which the
 * change left it. If they differ, a person or another program has changed the path since: this change and all older
 * ones of the path stay. What depends on a path that is left is left as well.
 */
import type { Files } from "../../backends/files.ts";
import { entryPath, lstatOrNull, hashOf } from "../../backends/fallback/fallback.ts";
import type { FsStat } from "../../backends/backend.ts";
import { isWithin, parentOf } from "../../backends/paths.ts";
import {
  isModeLost,
  isPreImage,
  preImageOf,
  type PastState,
  type PreImage,
  stateToRestore,
} from "../../backends/transaction/pre-image.ts";
import {
  type FinalStates,
  type MoveStep,
  type PathStep,
  type Step,
  toStepResult,
} from "../../backends/transaction/step.ts";
import { engine } from "../../engine/current.ts";
import { Yielder } from "../../engine/yielder.ts";
import type { HistoryRecord, PastSteps } from "../log.ts";
import { type JoinedSteps, StepJoiner } from "./steps.ts";
import { type RewoundNode, RewoundTree } from "./tree.ts";

/**
 * The reason why a path is left. `changed`: a person or another program changed it since. `other_call`: a call that is
 * not undone changed it. `unrecorded`: a call changed it whose steps were too large to be recorded. `in_use`: the
 * directory holds entries that no undone call made. `directory`: its directory is gone, or is a link now. `moved`: a
 * move that is not undone moved it, its directory or its content. `outside`: the workspace may not write it, as where
 * a server of several directories made the change.
 */
export type LeftReason =
  | "outside"
  | "changed"
  | "other_call"
  | "unrecorded"
  | "in_use"
  | "directory"
  | "moved";

/** A path that a rewind leaves as it is. */
export interface LeftPath {
  readonly path: string;
  readonly reason: LeftReason;
  /** The call that stands in the way: for `other_call`, `unrecorded`, `moved`, and a move that stays with `changed`. */
  readonly callId?: string;
}

/** The effect of a rewind on one path. */
export interface RewoundPath extends PastState {
  /** The entry now; null when there is none. */
  readonly now: FsStat | null;
  /** The path at which the files have the content, unless `image` has it. */
  readonly contentAt?: string;
}

/** A rewind that can be made. */
export interface RewindPlan extends JoinedSteps {
  /** The changes of which something is undone, the newest first. */
  readonly calls: readonly HistoryRecord[];
  /** The ids of those of which nothing is left. */
  readonly whole: readonly string[];
  readonly paths: readonly RewoundPath[];
  readonly left: readonly LeftPath[];
  /** The calls that cannot be undone, the newest first. */
  readonly unrecorded: readonly HistoryRecord[];
}

/** The request for a rewind. */
export interface RewindRequest {
  readonly fs: Files;
  /** Every change since that point of the history, the newest first. */
  readonly records: readonly HistoryRecord[];
  /** Returns the steps of a change. */
  steps(callId: string): Promise<PastSteps>;
  /** Returns true for a change that is undone. */
  isUndone(record: HistoryRecord): boolean;
  /** Returns true for a path within the directories that may be changed. Default: every path is. */
  readonly isReachable?: ((path: string) => boolean) | undefined;
  /** The paths to which the rewind is limited, with what is below them; undefined for every path. */
  readonly within?: readonly string[] | undefined;
  /**
   * True where the change is one commit of a storage: it makes missing directories, and finds out whether a removed one
   * holds something else, which takes no listing.
   */
  readonly isOneCommit?: boolean;
  readonly signal?: AbortSignal | undefined;
}

/** The maximum number of passes. A pass leaves the paths that lost their directory in the pass before. */
const MAX_PASSES = 20;

/** Plans a rewind. */
export async function planRewind(request: RewindRequest): Promise<RewindPlan> {
  const stats = new Map<string, FsStat | null>();
  const blocked = new Map<string, LeftPath>();
  for (let pass = 1; ; pass++) {
    const planning = new Planning(request, stats, new Map(blocked));
    for (const record of request.records) await planning.undo(record);
    const paths = await planning.changedPaths();
    const further = await planning.pathsWithoutDirectory(paths);
    if (further.length === 0 || pass === MAX_PASSES) return planning.plan(paths);
    for (const one of further) blocked.set(one.path, one);
  }
}

/** One pass over the changes. */
class Planning {
  readonly #request: RewindRequest;
  readonly #stats: Map<string, FsStat | null>;
  readonly #tree = new RewoundTree();
  readonly #joiner = new StepJoiner();
  readonly #yielder: Yielder;
  /** The paths that no older change may touch. */
  readonly #blocked: Map<string, LeftPath>;
  /** The roots of trees that no older change may touch. */
  readonly #blockedTrees = new Map<string, LeftPath>();
  readonly #left = new Map<string, LeftPath>();
  readonly #calls: HistoryRecord[] = [];
  readonly #whole: string[] = [];
  readonly #unrecorded: HistoryRecord[] = [];
  /** The present paths of the entries that are removed. */
  readonly #removed = new Set<string>();
  /** The paths that the caller names. They are restored even if they have changed since. */
  readonly #forced: ReadonlySet<string>;

  constructor(request: RewindRequest, stats: Map<string, FsStat | null>, blocked: Map<string, LeftPath>) {
    this.#request = request;
    this.#stats = stats;
    this.#blocked = blocked;
    this.#forced = new Set(request.within);
    this.#yielder = new Yielder({ signal: request.signal });
  }

  plan(paths: readonly RewoundPath[]): RewindPlan {
    const changed = new Set(paths.map(({ path }) => path));
    return {
      ...this.#joiner.join((path) => changed.has(path)),
      calls: this.#calls,
      whole: this.#whole,
      paths,
      left: [...this.#left.values()].sort((a, b) => (a.path < b.path ? -1 : 1)),
      unrecorded: this.#unrecorded,
    };
  }

  /** Plans the undo of a change, as far as it is part of the rewind and its paths are as it left them. */
  async undo(record: HistoryRecord): Promise<void> {
    const { callId } = record.header;
    const isUndone = this.#request.isUndone(record);
    if (!record.undoable) {
      if (isUndone) this.#unrecorded.push(record);
      for (const path of record.paths) this.#block(path, "unrecorded", callId);
      return;
    }
    const past = await this.#request.steps(callId);
    const moves = past.steps.filter((step): step is MoveStep => step.kind === "move");
    this.#blockUnreachable(record);
    await this.#blockChanged(record, past.finals, moves);
    this.#blockMoves(moves, callId);
    const { isTouched, isWhole } = await this.#undoSteps(past, isUndone);
    if (isTouched) this.#calls.push(record);
    if (isTouched && isWhole) this.#whole.push(callId);
  }

  /** Leaves the paths that others have changed since, and those of a change that is no part of the rewind. */
  async #blockChanged(record: HistoryRecord, finals: FinalStates, moves: readonly MoveStep[]): Promise<void> {
    const isUndone = this.#request.isUndone(record);
    const movedEnds = new Set(moves.flatMap(({ from, to }) => [from, to]));
    for (const [path, image] of finals) {
      await this.#yielder.yieldIfDue();
      if (this.#blockOf(path) !== undefined) continue;
      const isForced = this.#forced.has(path) && !movedEnds.has(path);
      if (!isUndone || !this.#isMeant(path)) this.#block(path, "other_call", record.header.callId);
      else if (!(await this.#isAsLeft(path, image)) && !isForced) this.#block(path, "changed");
    }
  }

  /** Leaves both ends of a move if one is left: the other one may be the end of another move. */
  #blockMoves(moves: readonly MoveStep[], callId: string): void {
    for (let isStable = false; !isStable; ) {
      isStable = true;
      for (const move of moves) {
        const { from, to } = move;
        const block = this.#blockAround(from) ?? this.#blockAround(to);
        const isDone = this.#blockedTrees.has(from) && this.#blockedTrees.has(to);
        if (block === undefined || isDone) continue;
        isStable = false;
        this.#blockMove(move, { ...block, reason: reasonOfMove(block), callId });
      }
    }
  }

  /** Undoes the steps of a change whose paths are not left: `isTouched` for one of them, `isWhole` for all. */
  async #undoSteps(
    { steps, given }: PastSteps,
    isUndone: boolean,
  ): Promise<{ readonly isTouched: boolean; readonly isWhole: boolean }> {
    let isTouched = false;
    let isWhole = true;
    for (const step of steps.toReversed()) {
      await this.#yielder.yieldIfDue();
      if (step.kind !== "move" && step.scratch === true) continue;
      if (await this.#undoStep(step, given.get(step.id) ?? {})) isTouched = true;
      else {
        isWhole = false;
        if (isUndone) this.#leave(step);
      }
    }
    return { isTouched, isWhole };
  }

  /** Leaves the paths that are not within the directories that may be changed. */
  #blockUnreachable({ paths, header }: HistoryRecord): void {
    const { isReachable } = this.#request;
    if (isReachable === undefined) return;
    for (const path of paths) if (!isReachable(path)) this.#block(path, "outside", header.callId);
  }

  async #undoStep(
    step: Step,
    given: { readonly version?: string; readonly fileId?: string },
  ): Promise<boolean> {
    const path = step.kind === "move" ? step.to : step.path;
    const block = this.#blockOf(path) ?? (step.kind === "move" ? this.#blockOf(step.from) : undefined);
    if (block !== undefined) {
      if (step.kind === "move") this.#blockMove(step, block);
      return false;
    }
    const node = this.#tree.at(path);
    const found = await this.#imageOf(node);
    const result = node.known ?? toStepResult(found ?? {});
    if (step.kind === "move") {
      const move = node.image === undefined ? step : withoutIdentity(step);
      this.#joiner.addMove(move, found === null ? given : result);
      this.#tree.undo(move);
      return true;
    }
    const reason = await this.#reasonToLeave(step, found, node);
    if (reason !== undefined) {
      this.#block(path, reason);
      return false;
    }
    const undone = { ...step, before: stateToRestore(step, found?.mode) };
    this.#joiner.add(undone, found, result);
    this.#tree.undo(undone);
    if (node.disk !== undefined && this.#tree.at(path).image === null) this.#removed.add(node.disk);
    return true;
  }

  /** Returns the reason why the present entry of a step's path is left; undefined when the step can be undone. */
  async #reasonToLeave(
    step: PathStep,
    found: PreImage | null,
    node: RewoundNode,
  ): Promise<LeftReason | undefined> {
    const isDirectoryMade = found?.type === "dir" && step.before?.type !== "dir";
    if (isDirectoryMade && !(await this.#isEmptied(step.path, node))) return "in_use";
    return isModeLost(step, found?.mode) ? "changed" : undefined;
  }

  /** Returns true when a directory is empty after the steps that were undone so far. */
  async #isEmptied(path: string, { disk }: RewoundNode): Promise<boolean> {
    // A directory that the rewind restores is not there yet: what it will contain is what the rewind restores in it.
    if (disk === undefined) {
      for (const [below, { image }] of this.#tree.nodes)
        if (image !== null && parentOf(below) === path) return false;
      return true;
    }
    const { fs, isOneCommit } = this.#request;
    if (isOneCommit === true) return true;
    // A directory with hidden entries is not empty, either.
    const entries = await fs.trusted().listDir(disk, { facts: false });
    return entries.every(({ name }) => this.#tree.nodes.get(`${path}/${name}`)?.image === null);
  }

  #blockMove({ from, to }: MoveStep, { path: _path, ...block }: LeftPath): void {
    for (const path of [from, to])
      if (!this.#blockedTrees.has(path)) this.#blockedTrees.set(path, { ...block, path });
  }

  /** Notes the paths of a step that is not undone. */
  #leave(step: Step): void {
    for (const path of step.kind === "move" ? [step.from, step.to] : [step.path]) {
      const block = this.#blockOf(path);
      if (block === undefined || !this.#isMeant(path) || this.#left.has(path)) continue;
      this.#left.set(path, { ...block, path });
    }
  }

  #isMeant(path: string): boolean {
    const { within } = this.#request;
    return within === undefined || within.some((one) => isWithin(path, one));
  }

  #block(path: string, reason: LeftReason, callId?: string): void {
    this.#blocked.set(path, { path, reason, ...(callId === undefined ? {} : { callId }) });
  }

  /** Returns the reason why a path may not be touched. */
  #blockOf(path: string): LeftPath | undefined {
    const own = this.#blocked.get(path);
    if (own !== undefined || this.#blockedTrees.size === 0) return own;
    for (let at = path; ; at = parentOf(at)) {
      const block = this.#blockedTrees.get(at);
      if (block !== undefined || at === "/") return block;
    }
  }

  /** Returns the reason why a path, or one below it, may not be touched. */
  #blockAround(path: string): LeftPath | undefined {
    const own = this.#blockOf(path);
    if (own !== undefined) return own;
    for (const blocks of [this.#blocked, this.#blockedTrees])
      for (const [at, block] of blocks) if (isWithin(at, path)) return block;
    return undefined;
  }

  async #stat(path: string): Promise<FsStat | null> {
    const known = this.#stats.get(path);
    if (known !== undefined) return known;
    const stat = await lstatOrNull(this.#request.fs, path);
    this.#stats.set(path, stat);
    return stat;
  }

  async #imageOf({ image, disk }: RewoundNode): Promise<PreImage | null> {
    if (image !== undefined) return image;
    const stat = await this.#stat(disk as string);
    if (stat === null) return null;
    const found = preImageOf(stat);
    if (stat.type !== "file" || stat.version !== undefined) return found;
    // Where files have no versions, the hash tells whether the file changes before it is restored.
    const { fs } = this.#request;
    return { ...found, hash: await hashOf(fs.trusted(), disk as string) };
  }

  /** Returns true when a path is now, or after the undone steps, as a change left it. */
  async #isAsLeft(path: string, left: PreImage | null): Promise<boolean> {
    const { image, disk } = this.#tree.at(path);
    if (image === undefined)
      return isPreImage(this.#request.fs, disk as string, await this.#stat(disk as string), left);
    if (image === null || left === null) return image === left;
    if (image.type !== left.type) return false;
    if (image.mode !== undefined && left.mode !== undefined && image.mode !== left.mode) return false;
    if (image.type === "symlink") return image.target === left.target;
    if (image.type !== "file" || (left.version !== undefined && left.version === image.version)) return true;
    if (left.hash === undefined)
      return left.fileId !== undefined && left.fileId === image.fileId && left.mtime === image.mtime;
    if (image.hash !== undefined) return image.hash === left.hash;
    return image.bytes !== undefined && engine().sha256(image.bytes) === left.hash;
  }

  /** Returns the paths that are different after the rewind, sorted. */
  async changedPaths(): Promise<readonly RewoundPath[]> {
    const moved = new Set<string>();
    for (const [path, { disk }] of this.#tree.nodes) if (disk !== undefined && disk !== path) moved.add(disk);
    const changes: RewoundPath[] = [];
    for (const [path, node] of this.#tree.nodes) {
      await this.#yielder.yieldIfDue();
      const change = await this.#changeAt(path, node);
      const isMovedAway = node.image === null && moved.has(path);
      if (change !== undefined && !isMovedAway) changes.push(change);
    }
    const listed = new Set([...moved, ...changes.map(({ path }) => path)]);
    for (const path of this.#removed) {
      const now = listed.has(path) ? null : await this.#stat(path);
      if (now !== null && !(await this.#isReplaced(path))) changes.push({ path, now, image: null });
    }
    return changes.sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  /**
   * Returns true for a removed path at which there will be an entry: an older change restores it, or another one comes
   * there with its directory. What is removed below a directory that is moved back has its former path in the tree.
   */
  async #isReplaced(path: string): Promise<boolean> {
    const { image, disk } = this.#tree.at(path);
    if (image || disk === undefined || disk === path) return Boolean(image);
    return (await this.#stat(disk)) !== null;
  }

  /** Returns the effect of the rewind on a path of the tree; undefined for none. */
  async #changeAt(path: string, { image, disk }: RewoundNode): Promise<RewoundPath | undefined> {
    const now = await this.#stat(path);
    if (image === null) return now === null ? undefined : { path, now, image };
    if (disk !== undefined && disk !== path) {
      const entry = image === undefined ? await this.#stat(disk) : null;
      return {
        path,
        now,
        image: image ?? (entry === null ? null : preImageOf(entry)),
        from: disk,
        contentAt: disk,
      };
    }
    if (image === undefined || (await this.#isRestored(path, now, image, disk))) return undefined;
    return { path, now, image, ...(disk === undefined ? {} : { contentAt: disk }) };
  }

  async #isRestored(
    path: string,
    now: FsStat | null,
    image: PreImage,
    disk: string | undefined,
  ): Promise<boolean> {
    if (disk === path && now?.type === image.type) return image.mode === undefined || image.mode === now.mode;
    // A content of a storage is known by its hash, and what stands for its bytes is not the content.
    const { bytes: _bytes, ...facts } = image;
    return isPreImage(this.#request.fs, path, now, image.hash === undefined ? image : facts);
  }

  /** Returns the paths that cannot be restored because they have no directory. */
  async pathsWithoutDirectory(paths: readonly RewoundPath[]): Promise<readonly LeftPath[]> {
    const found: LeftPath[] = [];
    for (const { path, image } of paths) {
      await this.#yielder.yieldIfDue();
      if (image === null) continue;
      const parent = this.#tree.at(parentOf(path));
      const above = await this.#imageOf(parent);
      if (above === null && this.#request.isOneCommit === true) continue;
      const isDirectory = above?.type === "dir";
      const isThere = parent.disk !== parentOf(path) || !isDirectory || (await this.#isPlain(path));
      if (!isDirectory || !isThere) found.push({ path, reason: "directory" });
    }
    return found.filter(({ path }) => !this.#blocked.has(path));
  }

  /** Returns true when no link leads to the directory of a path. */
  async #isPlain(path: string): Promise<boolean> {
    return (await entryPath(this.#request.fs, path)) === path;
  }
}

/** Returns a move of an entry that is created again before it is moved back, so that it has another id and version. */
function withoutIdentity(step: MoveStep): MoveStep {
  if (step.moved.type === "file") return step;
  const { fileId: _fileId, version: _version, ...moved } = step.moved;
  return { ...step, moved };
}

/** Returns the reason of a path whose move stays because of another path. */
function reasonOfMove({ reason }: LeftPath): LeftReason {
  return reason === "changed" || reason === "outside" ? reason : "moved";
}
