/**
 * Rolls steps back, the last one first: those of a transaction that failed, those of a dead process (`js/log/recovery.ts`),
 * and those that an undo or a rewind has planned (`js/log/rewind/steps.ts`), whose files record what is put back. A planned
 * step has no file that was set aside, so an undo never writes past its record.
 *
 * A path is restored only if it still has the version that the step gave it. Any other state belongs to another
 * process and is left as a conflict. If the process ended before that version was recorded, the path is compared
 * with the expected state of the step. Every restoring operation has the compared version as its condition.
 * Permission bits that another process has set since are kept; where the step itself had set bits, they are a conflict.
 */
import type { Files } from "../files.ts";
import { shortcutsOf } from "../abilities.ts";
import type { FsStat } from "../backend.ts";
import { entryPath, lstatOrNull } from "../fallback/fallback.ts";
import { isWithin, parentOf } from "../paths.ts";
import { walkTree } from "../fallback/walk-tree.ts";
import { Yielder } from "../../engine/yielder.ts";
import { FilewrightError, fromEngine } from "../../engine/errors.ts";
import { backendError, ignoreCodes, isUncertain, isUnconfirmed } from "../failure.ts";
import {
  hasContentOf,
  isModeLost,
  isPreImage,
  isSameEntry,
  keptNameOf,
  type PreImage,
  stateToRestore,
  withoutMode,
  FLUSHED_BY_RECORD,
} from "./pre-image.ts";
import { restoreByContent } from "./restore.ts";
import { type MoveStep, type PathStep, type Step, type StepResult, toStepResult } from "./step.ts";

/** The result of a rollback. */
export interface RollbackOutcome {
  /** The ids of steps that need no further attempt: restored, never made, or left to another process. */
  readonly settled: readonly number[];
  /** Paths that another process has changed since, and that were left unchanged. */
  readonly conflicts: readonly string[];
  /** Paths that could not be restored this time, such as on a full disk. */
  readonly failed: readonly string[];
  /** The error of the first of `failed`, or of a content that is not kept; null when there is none. */
  readonly failure: FilewrightError | null;
  /**
   * Paths that were restored by content and mode: owner, times, attributes and other names are not
   * the old ones.
   */
  readonly remade: readonly string[];
  /** The restored states, for another attempt. */
  readonly restored: Restored;
}

/** The state that a rollback has restored at each path. */
type Restored = ReadonlyMap<string, RestoredNote>;

/** How steps are rolled back. */
interface RollbackOptions {
  /** The states that an earlier attempt has restored. Default: there was none. */
  readonly restored?: Restored | undefined;
  /** Given for an undo, which is a change of its own: it can be cancelled, and fails where the disk does not confirm it. */
  readonly undo?: { readonly signal: AbortSignal | undefined } | undefined;
  /**
   * The outcome of a step whose directory another process has removed: it is tried again, since that process may make it
   * again, or it is left as a conflict. Default `retry`.
   */
  readonly gone?: "retry" | "conflict" | undefined;
}

/** The result of one step. */
type StepOutcome = "settled" | "conflict" | "failed";

/** Error codes after which another attempt is useless, such as that another entry is at the path. */
const FINAL_FAILURE_CODES: ReadonlySet<string> = new Set([
  "CONFLICT",
  "ALREADY_EXISTS",
  "NOT_EMPTY",
  "NOT_DIRECTORY",
  "IS_DIRECTORY",
  "UNSUPPORTED_OPERATION",
]);

/** Rolls steps back. `given` contains the results of the steps that are known to be done. @throws CANCELLED */
export async function rollBack(
  fs: Files,
  steps: readonly Step[],
  given: ReadonlyMap<number, StepResult>,
  { restored, undo, gone }: RollbackOptions = {},
): Promise<RollbackOutcome> {
  const run = new Rollback(fs, given, { restored, undo, gone });
  const yielder = new Yielder({ signal: undo?.signal });
  for (const step of steps.toReversed()) {
    await yielder.yieldIfDue();
    await run.step(step);
  }
  return run.outcome();
}

/**
 * Where the path of an entry leads: into the recorded directory, into one that was `made again` under its path,
 * nowhere, or elsewhere, by a link.
 */
type ParentMatch = "same" | "made again" | "gone" | "other";

/** The result of a rollback at a path: the state that its step had recorded, the present one, and its size and time. */
interface RestoredNote {
  readonly found: StepResult;
  readonly now: StepResult;
  readonly facts: string;
}

class Rollback {
  readonly #fs: Files;
  /**
   * The backend that moves set-aside entries back. It does not filter secrets, which it could not recognise by the
   * temporary names.
   */
  readonly #trusted: Files;
  readonly #given: ReadonlyMap<number, StepResult>;
  readonly #gone: "retry" | "conflict";
  readonly #isUndo: boolean;
  /** The results of this rollback at each path, with the state that the rolled-back step had recorded. */
  readonly #restored: Map<string, RestoredNote>;
  readonly #settled: number[] = [];
  readonly #conflicts = new Set<string>();
  readonly #failed = new Set<string>();
  /** The paths of the steps that failed, of a move both. */
  readonly #blocked = new Set<string>();
  #failure: FilewrightError | null = null;
  readonly #remade = new Set<string>();

  constructor(
    fs: Files,
    given: ReadonlyMap<number, StepResult>,
    { restored, undo, gone = "retry" }: RollbackOptions,
  ) {
    this.#isUndo = undo !== undefined;
    this.#restored = new Map(restored);
    this.#gone = gone;
    this.#fs = fs;
    this.#trusted = fs.trusted();
    this.#given = given;
  }

  outcome(): RollbackOutcome {
    return {
      settled: this.#settled,
      conflicts: [...this.#conflicts],
      failed: [...this.#failed],
      failure: this.#failure,
      remade: [...this.#remade],
      restored: this.#restored,
    };
  }

  async step(step: Step): Promise<void> {
    // What is left of a move stands at its new place.
    const paths = step.kind === "move" ? [step.to, step.from] : [step.path];
    const ending = await this.#end(step, paths);
    if (ending !== "failed") this.#settled.push(step.id);
    else for (const path of paths) this.#blocked.add(path);
    if (ending === "settled") return;
    for (const path of paths) (ending === "failed" ? this.#failed : this.#conflicts).add(path);
  }

  async #end(step: Step, paths: readonly string[]): Promise<StepOutcome> {
    // After a later step that could not be rolled back, the path does not have this step's state.
    if (paths.some((path) => this.#isBlocked(path))) return "failed";
    try {
      return (await (step.kind === "move" ? this.#move(step) : this.#path(step))) ? "settled" : "conflict";
    } catch (thrown) {
      // A host's files may throw anything.
      const error = fromEngine(thrown);
      // The remedy of a conflict, to read again, does not help where a content is not kept: the error itself is told.
      if (error.code === "UNSUPPORTED_OPERATION") this.#failure ??= error;
      if (FINAL_FAILURE_CODES.has(error.code)) return "conflict";
      if (error.code === "NOT_FOUND" && this.#gone === "conflict") return "conflict";
      this.#failure ??= error;
      return "failed";
    }
  }

  /** Waits until a path is restored. One that the disk did not confirm is restored all the same. */
  async #confirmed(restored: Promise<unknown>): Promise<void> {
    try {
      await restored;
    } catch (error) {
      if (this.#isUndo || !isUnconfirmed(error)) throw error;
    }
  }

  /** Waits until an entry has its former name again. It was renamed before, so that a refusal of renames is not final. */
  async #renameBack(renamed: Promise<unknown>): Promise<void> {
    try {
      await this.#confirmed(renamed);
    } catch (error) {
      if (this.#isUndo || !(error instanceof FilewrightError) || error.code !== "UNSUPPORTED_OPERATION")
        throw error;
      throw new FilewrightError("IO_ERROR", error.message, { path: error.path, cause: error });
    }
  }

  #isBlocked(path: string): boolean {
    for (const failed of this.#blocked) if (isWithin(failed, path) || isWithin(path, failed)) return true;
    return false;
  }

  /** Restores the path of a step. Returns false when the path is left to another process. */
  async #path(step: PathStep): Promise<boolean> {
    const { path } = step;
    const fs = this.#fs;
    if (step.scratch === true) {
      // A link is on the way by now: the scratch path is elsewhere, and hidden there.
      await discardAsides(fs, path).catch(ignoreCodes("OUTSIDE_ALLOWED"));
      return true;
    }
    if (!(await this.#mayRestore(step))) return false;
    const stat = await lstatOrNull(fs, path);
    const before = stateToRestore(step, stat?.mode);
    const given = this.#given.get(step.id);
    const isOurs = await this.#isOurs(step, stat, given);
    const old = await this.#asideOf(step.aside, before, given !== undefined, isOurs);
    // Without a set-aside entry the step was not made: the path contains a half-written new file. A large file was
    // moved on to where it is kept.
    const isKept =
      keptNameOf(before) !== undefined && !(stat !== null && isSameEntry(stat, before as PreImage));
    if (step.aside !== undefined && given === undefined && old === undefined && !isKept) return true;
    // An earlier rollback may have put a file away that had come back, and ended before the old one was there again.
    const isHalfBack = stat === null && old !== undefined && keptNameOf(step.after) !== undefined;
    if (!isOurs && !isHalfBack) return this.#isAsBefore(path, stat, before);
    if (given === undefined && old === undefined && (await isPreImage(fs, path, stat, before))) return true;
    try {
      await this.#restore(step, stat, before, old);
    } catch (error) {
      if (!(await this.#isRestored(path, before, error))) throw error;
    }
    await this.#note(path, before);
    return true;
  }

  /** Returns true when a restoring operation was made, and its error does not say so: a later attempt would not know it. */
  async #isRestored(path: string, before: PreImage | null, error: unknown): Promise<boolean> {
    if (this.#isUndo || !isUncertain(error)) return false;
    return isPreImage(this.#fs, path, await lstatOrNull(this.#fs, path), before);
  }

  /** Returns true for the state before a step. An earlier attempt may have restored it by content and not said so. */
  async #isAsBefore(path: string, stat: FsStat | null, before: PreImage | null): Promise<boolean> {
    if (!(await isPreImage(this.#fs, path, stat, before))) return false;
    if (stat?.fileId === undefined) await this.#note(path, before);
    return true;
  }

  /** Restores the state before a step: from the entry that was set aside, or by content. */
  async #restore(
    step: PathStep,
    found: FsStat | null,
    before: PreImage | null,
    old: FsStat | undefined,
  ): Promise<void> {
    const { path } = step;
    const kept = keptNameOf(step.after);
    if (kept !== undefined && found !== null) await this.#putAway(path, found, kept);
    const stat = kept === undefined ? found : null;
    if (old !== undefined) {
      const target = stat === null ? {} : { overwrite: true, ifTargetVersion: stat.version };
      // Before the move, so that the old content never has bits that the other process has taken away.
      if (before !== step.before) await this.#trusted.chmod(step.aside as string, before?.mode as number);
      await this.#renameBack(this.#trusted.rename(step.aside as string, path, target));
    } else if (step.kind === "chmod" && before !== null) {
      await this.#fs.chmod(path, before.mode as number);
    } else {
      await this.#confirmed(restoreByContent(this.#fs, path, stat, before));
      this.#noteRemade(path, before);
    }
  }

  /** Moves a file that had come back to where it was kept. */
  async #putAway(path: string, { version }: FsStat, kept: string): Promise<void> {
    const aside = this.#fs.asidePath(path);
    await this.#fs.delete(path, { ...FLUSHED_BY_RECORD, aside, ifVersion: version });
    try {
      await shortcutsOf(this.#fs).keeper.putAway(aside, kept);
    } catch (error) {
      await this.#trusted.rename(aside, path, { overwrite: false });
      throw error;
    }
  }

  /**
   * Returns true if the path of a step leads where it did. Into a directory that another process has made again, only
   * what was removed comes back, where its name is free.
   */
  async #mayRestore({ path, parent, before, after }: PathStep): Promise<boolean> {
    const place = await this.#place(path, parent);
    if (place === "gone" && before !== null) throw backendError("NOT_FOUND", path, "its directory is gone");
    if (place === "gone") return true;
    if (place !== "made again") return place === "same";
    return after === null && (await lstatOrNull(this.#fs, path)) === null;
  }

  /**
   * Returns the set-aside entry of a step. When it is unknown whether the step was made, only the
   * exact old entry counts: until the exchange the half-written new file has the temporary name,
   * and if new and old content are equal, `isAfter` does not tell which of them is at the path.
   */
  async #asideOf(
    aside: string | undefined,
    before: PreImage | null,
    isMade: boolean,
    isAfter = false,
  ): Promise<FsStat | undefined> {
    if (aside === undefined || before === null) return undefined;
    const stat = await lstatOrNull(this.#trusted, aside);
    if (stat === null || isMade) return stat ?? undefined;
    const isOld = before.fileId === undefined ? isAfter : stat.fileId === before.fileId;
    return isOld ? stat : undefined;
  }

  async #isOurs(step: PathStep, stat: FsStat | null, given: StepResult | undefined): Promise<boolean> {
    const { path, after, before, kind } = step;
    if (isModeLost(step, stat?.mode)) return false;
    // The content of a file that only gets other bits is that of before.
    const made = kind === "chmod" ? before : after;
    const expected = this.#expected(path, given);
    if (expected === undefined) return isPreImage(this.#fs, path, stat, made && withoutMode(made));
    if (stat === null || after === null) return stat === after;
    return stat.type === after.type && this.#isResult(path, stat, after, expected);
  }

  /** Returns true when an entry is the result of a step, whatever permission bits it has since. */
  async #isResult(path: string, stat: FsStat, after: PreImage, expected: StepResult): Promise<boolean> {
    const sameId =
      expected.fileId === undefined || stat.fileId === undefined || expected.fileId === stat.fileId;
    if (!sameId) return false;
    if (stat.type === "dir") return true;
    if (stat.type === "symlink") return stat.target === after.target;
    if (expected.version !== undefined && stat.version !== undefined) {
      if (stat.version === expected.version) return true;
      // If the file is the same and has the same bytes, only its attributes changed.
      if (expected.fileId === undefined) return false;
    }
    return hasContentOf(this.#fs, path, stat, after);
  }

  /** Takes a move back. Returns false when one of its ends is left to another process. */
  async #move(step: MoveStep): Promise<boolean> {
    const { from, to, parents, over } = step;
    const fs = this.#fs;
    if ((await this.#place(from, parents?.[0] ?? undefined)) !== "same") return false;
    const source = await lstatOrNull(fs, from);
    const isLeft = source !== null && this.#isMoved(source, step, false);
    const place = await this.#place(to, parents?.[1] ?? undefined);
    // An earlier attempt has removed the directory of the target again.
    if (place === "gone") return isLeft && over === null;
    if (place !== "same") return false;
    const target = await lstatOrNull(fs, to);
    if (target !== null && this.#isMoved(target, step, source !== null))
      return (await this.#moveBack(step, source, target)) && this.#bringBack(step);
    if (source !== null && !this.#given.has(step.id)) {
      await this.#dropLink(step.aside, to);
      return true; // It was not made.
    }
    // An earlier attempt has moved it back, and ended before or after what it had replaced was there again.
    if (target !== null) return isLeft && isPreImage(fs, to, target, over);
    return isLeft && this.#bringBack(step);
  }

  /** Moves an entry back from `target` to its source. Returns false when another process has changed one of them. */
  async #moveBack(step: MoveStep, source: FsStat | null, target: FsStat): Promise<boolean> {
    const { from, to, moved } = step;
    const fs = this.#fs;
    const ifVersion = target.type === "file" ? target.version : undefined;
    if (source === null) {
      if (!(await this.#isUntouchedBelow(step))) return false;
      await this.#renameBack(fs.rename(to, from, { overwrite: false, ifVersion }));
      await this.#moveNotes(to, from);
    } else {
      // A disk that cannot rename without replacing gives a file a second name, and then removes the first one.
      const isBoth = target.type === "file" && target.fileId !== undefined && target.fileId === source.fileId;
      if (!isBoth) return false;
      await fs.delete(to, { ...FLUSHED_BY_RECORD, ifVersion });
    }
    await this.#note(from, moved);
    return true;
  }

  /** Restores the entry that a move has replaced, if any. */
  async #bringBack({ to, aside, over }: MoveStep): Promise<true> {
    if (over === null) return true;
    if ((await this.#asideOf(aside, over, true)) !== undefined) {
      await this.#renameBack(this.#trusted.rename(aside as string, to, { overwrite: false }));
    } else {
      await this.#confirmed(restoreByContent(this.#fs, to, null, over));
      this.#noteRemade(to, over);
    }
    await this.#note(to, over);
    return true;
  }

  /** Notes a path that was restored by content. A file that was kept is the old one. */
  #noteRemade(path: string, image: PreImage | null): void {
    if (image !== null && keptNameOf(image) === undefined) this.#remade.add(path);
  }

  /** Removes the set-aside name of a file that was to be replaced, while the file still has its own name. */
  async #dropLink(aside: string | undefined, path: string): Promise<void> {
    if (aside === undefined) return;
    const [one, other] = [await lstatOrNull(this.#trusted, aside), await lstatOrNull(this.#fs, path)];
    if (one !== null && other !== null && one.fileId === other.fileId) await discardAsides(this.#fs, aside);
    else if (one !== null && other === null) await this.#trusted.rename(aside, path, { overwrite: false });
  }

  /** Returns true when a move has brought an entry to its target. `isLeft` is true while an entry is at its source. */
  #isMoved(target: FsStat, { id, to, moved }: MoveStep, isLeft: boolean): boolean {
    if (target.type !== moved.type) return false;
    const known = this.#given.get(id);
    const given = this.#expected(to, known);
    if (given?.version !== undefined && given.version === target.version) return true;
    // Some file systems give an entry another id with its name, so that of the moved entry counts, where it is known.
    const fileId = given?.fileId ?? moved.fileId;
    if (fileId !== undefined) return isSameEntry(target, { ...moved, fileId });
    // Where there are no ids, the move may have given another version.
    if (known === undefined && !isLeft) return target.size === (moved.size ?? target.size);
    if (moved.version !== undefined) return moved.version === target.version;
    return given !== undefined && target.type !== "file";
  }

  /**
   * Returns true when a moved directory has its recorded content; one with newer changes is not
   * moved back.
   */
  async #isUntouchedBelow({ to, below }: MoveStep): Promise<boolean> {
    if (below === undefined) return true;
    const held = new Map(below);
    for await (const entry of walkTree(this.#fs, to)) {
      const path = entry.path.slice(to.length + 1);
      if (held.get(path) !== changeDetectingFacts(entry) && !this.#restored.has(entry.path)) return false;
      held.delete(path);
    }
    return [...held.keys()].every((path) => this.#restored.has(`${to}/${path}`));
  }

  /** Compares the directory of a path with the recorded one. */
  async #place(path: string, parent: string | undefined): Promise<ParentMatch> {
    const directory = parentOf(path);
    if ((await entryPath(this.#fs, path)) !== path) return "other";
    const expected = this.#restored.get(directory)?.now.fileId ?? parent;
    if (expected === undefined) return "same";
    const stat = await lstatOrNull(this.#fs, directory);
    if (stat?.type !== "dir") return "gone";
    return stat.fileId === undefined || stat.fileId === expected ? "same" : "made again";
  }

  /** Returns the state that a path must have: the result of the step, or what this rollback restored there. */
  #expected(path: string, given: StepResult | undefined): StepResult | undefined {
    const restored = this.#restored.get(path);
    if (restored === undefined || given === undefined) return given;
    const { found, now } = restored;
    const isSame =
      given.version === undefined || found.version === undefined
        ? given.fileId !== undefined && given.fileId === found.fileId
        : given.version === found.version;
    return isSame ? now : given;
  }

  /**
   * What this rollback restored in a directory is found at its former path once the directory is moved back. A storage
   * without ids may give it another version there. Where its size and time are others too, its content has to tell.
   */
  async #moveNotes(to: string, from: string): Promise<void> {
    for (const [path, note] of [...this.#restored]) {
      if (!path.startsWith(`${to}/`)) continue;
      this.#restored.delete(path);
      const moved = from + path.slice(to.length);
      const stat = note.now.fileId === undefined ? await lstatOrNull(this.#fs, moved) : null;
      const isSame = stat !== null && changeDetectingFacts(stat) === note.facts;
      const now = note.now.fileId !== undefined ? note.now : isSame ? toStepResult(stat) : {};
      this.#restored.set(moved, { ...note, now });
    }
  }

  async #note(path: string, found: PreImage | null): Promise<void> {
    const stat = await lstatOrNull(this.#fs, path);
    if (stat === null) this.#restored.delete(path);
    else
      this.#restored.set(path, {
        found: found === null ? {} : toStepResult(found),
        now: toStepResult(stat),
        facts: changeDetectingFacts(stat),
      });
  }
}

/** Returns a text of the facts by which a changed entry of a moved directory is detected. */
export function changeDetectingFacts(entry: {
  readonly type: string;
  readonly size?: number;
  readonly mtime?: number;
  readonly target?: string;
}): string {
  if (entry.type === "file") return `${entry.size} ${entry.mtime}`;
  return entry.type === "symlink" ? `-> ${entry.target}` : entry.type;
}

/** Removes a set-aside entry, if it exists. */
export async function discardAsides(fs: Files, path: string): Promise<void> {
  const trusted = fs.trusted();
  const stat = await lstatOrNull(trusted, path);
  if (stat === null) return;
  if (stat.type === "dir") await trusted.removeTree(path, FLUSHED_BY_RECORD);
  else await trusted.delete(path, FLUSHED_BY_RECORD);
}
