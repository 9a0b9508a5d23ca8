/**
 * A transaction: several changes, all or none.
 *
 * It records the steps made through its backend, in memory and, with a sink, on disk before each
 * step. On a failure exactly the steps that were made are rolled back.
 */
import type { Files } from "../files.ts";
import type { MaybePromise } from "../backend.ts";
import { FilewrightError } from "../../engine/errors.ts";
import { isUncertain } from "../failure.ts";
import { forEachYielding, STEPS_PER_YIELD_CHECK, Yielder } from "../../engine/yielder.ts";
import { FLUSHED_BY_RECORD, keptNameOf, tooMuchError } from "./pre-image.ts";
import { withOutcome } from "./outcome.ts";
import { recordingBackend } from "./recorder.ts";
import { shortcutsOf } from "../abilities.ts";
import type { FilesFound, Recording } from "./step-maker.ts";
import { discardAsides, rollBack, type RollbackOutcome } from "./rollback.ts";
import { type NewStep, pathsOfAsides, type Step, type StepNotes, type StepResult } from "./step.ts";

/** The maximum size in bytes of a file whose content is copied where it can be kept in another way. */
const MAX_COPIED_BYTES: number = 64 * 1024 * 1024;

/** Options of a transaction. */
export interface TransactionOptions {
  /** True to refuse a change that could not be rolled back; false to make it anyway. */
  readonly required: boolean;
  /** True when old contents are kept for an undo, even for set-aside entries. */
  readonly contents: boolean;
  /** The maximum size of all old contents that are kept, in bytes. */
  readonly maxBytes: number;
  /** The maximum number of steps of a transaction. */
  readonly maxSteps: number;
  /** The files that the change was planned on. Default: none is known. */
  readonly found?: FilesFound | undefined;
  /**
   * Stores steps before they are made, and the results of earlier ones; an exception prevents the
   * step.
   */
  readonly sink?: (steps: readonly Step[], notes: StepNotes) => MaybePromise<void>;
  /** The outcome of a step that cannot be rolled back because its directory is gone: see `rollBack`. Default `retry`. */
  readonly gone?: "retry" | "conflict" | undefined;
  /** True to refuse a step that the sink cannot store. A step beyond the limits is made all the same. Default: false. */
  readonly mustStore?: boolean | undefined;
}

/** Steps that are rolled back together. */
export class Transaction {
  /** The backend that records each change as a step. */
  readonly backend: Files;
  /** False when a state that an undo would need was not kept. */
  undoable = true;
  readonly #fs: Files;
  readonly #options: TransactionOptions;
  #steps: Step[] = [];
  #nextId = 0;
  readonly #given = new Map<number, StepResult>();
  /** The states that the attempts to roll back have restored. */
  #restored: RollbackOutcome["restored"] = new Map();
  #done: (readonly [id: number, given: StepResult])[] = [];
  #dropped: number[] = [];
  /** One for all steps, so that those of a batch pause. */
  readonly #yielder = new Yielder({});
  /** The last error of the sink. */
  #sinkError: unknown;

  constructor(fs: Files, options: TransactionOptions) {
    this.#fs = fs;
    this.#options = options;
    const recording: Recording = {
      required: options.required,
      hasSteps: () => this.#steps.length > 0,
      contents: options.contents,
      maxEntries: options.maxSteps,
      budget: {
        ...{ bytes: options.maxBytes, keptBytes: 0 },
        mostCopied: Math.min(options.maxBytes, MAX_COPIED_BYTES),
      },
      found: options.found ?? new Map(),
      flushed: options.sink === undefined ? {} : FLUSHED_BY_RECORD,
      giveUp: () => {
        this.undoable = false;
      },
      step: (plan, act, gave) => this.#step(plan, act, gave),
      appear: (steps, act) => this.#appear(steps, act),
      nested: (run) => this.nested(run),
    };
    this.backend = recordingBackend(fs, recording);
  }

  /** Returns the current steps, in order. */
  get steps(): readonly Step[] {
    return this.#steps;
  }

  /** Returns the result of a step's operation, when it is done. */
  given(step: Step): StepResult | undefined {
    return this.#given.get(step.id);
  }

  /** Returns what became known about the steps since the last call, for the sink. */
  takeNotes(): StepNotes {
    const notes = { done: this.#done, dropped: this.#dropped };
    this.#done = [];
    this.#dropped = [];
    return notes;
  }

  /** Takes over a step that was recorded and made elsewhere. `given` is its result; undefined while it is unknown. */
  adopt(step: Step, given: StepResult | undefined): void {
    this.#steps.push(step);
    this.#nextId = step.id + 1;
    if (given !== undefined) this.#noteDone(step, given);
  }

  /** Runs several steps; when one fails, those of this run are rolled back. */
  async nested<T>(run: () => Promise<T>): Promise<T> {
    const mark = this.#nextId;
    try {
      return await run();
    } catch (error) {
      throw withOutcome(error, await this.rollBack(mark));
    }
  }

  /** Rolls back the steps from `mark` on. A step that failed remains and can be rolled back again. */
  async rollBack(mark = 0, fs: Files = this.#fs): Promise<RollbackOutcome> {
    const steps = this.#steps.filter(({ id }) => id >= mark);
    if (steps.length === 0)
      return { settled: [], conflicts: [], failed: [], failure: null, remade: [], restored: new Map() };
    // Without these notes, a process that takes over would assume that refused steps may have been made.
    await this.#tell([]).catch(() => undefined);
    const { gone } = this.#options;
    const outcome = await rollBack(fs, steps, this.#given, { restored: this.#restored, gone });
    // What was restored for steps that are settled says nothing about later ones.
    this.#restored = outcome.failed.length > 0 ? outcome.restored : new Map();
    const settled = new Set(outcome.settled);
    // After the rollback these are where they were set aside; those below moved directories have moved
    // along.
    const done: Step[] = [];
    const asides = new Set<string>();
    const yielder = new Yielder({});
    // The last step may have ended in the middle of a turn.
    if (steps.length > STEPS_PER_YIELD_CHECK) await yielder.yieldNow();
    await forEachYielding(steps, yielder, (step) => {
      if (!settled.has(step.id)) return;
      done.push(step);
      if (step.aside !== undefined) asides.add(step.aside);
    });
    await forEachYielding(pathsOfAsides(done), yielder, (path) => asides.add(path));
    for (const path of asides) {
      await removeAside(fs, path);
      await yielder.yieldIfDue();
    }
    // The next work of the caller, such as the release of its locks, goes over all paths again.
    if (steps.length > STEPS_PER_YIELD_CHECK) await yielder.yieldNow();
    this.#steps = this.#steps.filter(({ id }) => !settled.has(id));
    this.#dropped.push(...outcome.settled);
    return outcome;
  }

  /** Ends a successful transaction and removes the set-aside entries. */
  async finish(): Promise<void> {
    const yielder = new Yielder({});
    await yielder.yieldIfDue();
    for (const path of pathsOfAsides(this.#steps)) {
      await removeAside(this.#fs, path);
      await yielder.yieldIfDue();
    }
  }

  async #step<T>(
    plan: () => Promise<readonly NewStep[]>,
    act: (steps: readonly Step[]) => Promise<T>,
    gave: (result: T, step: Step) => StepResult | Promise<StepResult>,
  ): Promise<T> {
    let steps: readonly Step[] = [];
    let planned: readonly NewStep[] = [];
    try {
      planned = await plan();
      steps = await this.#intend(planned);
    } catch (error) {
      if (this.#options.required || this.#isNotStored(error)) throw error;
      // An operation that was cancelled before it happened, or met another state than it expects, does not happen.
      if (error instanceof FilewrightError && (error.code === "CANCELLED" || error.code === "CONFLICT"))
        throw error;
      // A single operation is atomic by itself: it is made anyway, and cannot be undone.
      this.undoable = false;
      // This process still knows the steps to roll back when the operation fails.
      if (this.#steps.length + planned.length <= this.#options.maxSteps) steps = this.#remember(planned);
    }
    let result: T;
    try {
      result = await act(steps);
    } catch (error) {
      if (!isUncertain(error) && !isGradual(steps)) this.#drop(steps);
      throw error;
    }
    for (const step of steps) {
      this.#noteDone(step, await gave(result, step));
      await this.#keepFile(step);
      await this.#yielder.yieldIfDue();
    }
    return result;
  }

  /** Moves a large file that a step has set aside to where it is kept. Where that is not possible, there is no undo. */
  async #keepFile(step: Step): Promise<void> {
    const kept = keptNameOf(step.kind === "move" ? step.over : step.before);
    if (kept === undefined || step.aside === undefined || !this.undoable) return;
    try {
      await shortcutsOf(this.#fs).keeper.putAway(step.aside, kept);
    } catch {
      this.undoable = false;
    }
  }

  /** Records steps with their expected results, and makes them all at once. */
  async #appear<T>(
    planned: readonly (readonly [step: NewStep, given: StepResult])[],
    act: () => Promise<T>,
  ): Promise<T> {
    const steps = await this.#intend(planned.map(([step]) => step));
    for (const [at, step] of steps.entries()) this.#noteDone(step, planned[at]?.[1] ?? {});
    // The steps are recorded before they are visible: if the process ends right after, their versions must be
    // known.
    await this.#tell([]);
    try {
      return await act();
    } catch (error) {
      if (!isUncertain(error)) this.#drop(steps);
      throw error;
    }
  }

  async #intend(planned: readonly NewStep[]): Promise<readonly Step[]> {
    if (planned.length === 0) return [];
    if (this.#steps.length + planned.length > this.#options.maxSteps) throw tooMuchError("/");
    const steps = planned.map((step) => ({ ...step, id: this.#nextId++ }) as Step);
    await this.#tell(steps);
    this.#steps.push(...steps);
    return steps;
  }

  /** Records steps in memory only. */
  #remember(planned: readonly NewStep[]): readonly Step[] {
    const steps = planned.map((step) => ({ ...step, id: this.#nextId++ }) as Step);
    this.#steps.push(...steps);
    return steps;
  }

  async #tell(steps: readonly Step[]): Promise<void> {
    const { sink } = this.#options;
    if (sink === undefined || (steps.length === 0 && this.#done.length + this.#dropped.length === 0)) return;
    try {
      await sink(steps, this.takeNotes());
    } catch (error) {
      this.#sinkError = error;
      throw error;
    }
  }

  /** Returns true for an error of the sink that refuses the step. */
  #isNotStored(error: unknown): boolean {
    return this.#options.mustStore === true && error !== undefined && error === this.#sinkError;
  }

  #drop(steps: readonly Step[]): void {
    const refused = new Set(steps);
    this.#steps = this.#steps.filter((step) => !refused.has(step));
    this.#dropped.push(...steps.map(({ id }) => id));
  }

  #noteDone(step: Step, given: StepResult): void {
    this.#given.set(step.id, given);
    this.#done.push([step.id, given]);
  }
}

/** Removes a set-aside entry. One that cannot be removed now is removed later by a sweep. */
async function removeAside(fs: Files, path: string): Promise<void> {
  await discardAsides(fs, path).catch(() => undefined);
}

/**
 * Returns true when an operation makes or deletes several entries one after another, so that it may fail
 * half-way: the copy of a tree to its hidden path, or a deletion.
 */
function isGradual(steps: readonly Step[]): boolean {
  const [first] = steps;
  if (first === undefined || first.kind === "move") return false;
  return first.scratch === true || (steps.length > 1 && first.kind === "delete");
}

/** The options of a transaction without a journal, for the few steps of one operation. */
const IN_MEMORY_OPTIONS: TransactionOptions = {
  required: false,
  contents: false,
  maxBytes: 256 * 1024 * 1024,
  maxSteps: 100_000,
};

/**
 * Runs changes on a backend, all or none. Within a transaction or a stage they become part of it, and are
 * taken back alone when they fail; otherwise they are a transaction in memory.
 * @throws FilewrightError any error of `run`; with `rolled_back: false` in its details when a path
 * could not be restored
 */
export async function transact<T>(fs: Files, run: (fs: Files) => Promise<T>): Promise<T> {
  const { stage } = shortcutsOf(fs);
  if (stage !== undefined) return stage.nested(() => run(fs));
  const own = new Transaction(fs, IN_MEMORY_OPTIONS);
  const result = await own.nested(() => run(own.backend));
  await own.finish();
  return result;
}
