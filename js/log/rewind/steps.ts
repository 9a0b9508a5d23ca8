/** Joins the steps of several changes that are undone at once, so that each path is restored once. */
import { isWithin } from "../../backends/paths.ts";
import { withoutUndefined } from "../../schema/without-undefined.ts";
import type { PreImage } from "../../backends/transaction/pre-image.ts";
import type { MoveStep, PathStep, Step, StepResult } from "../../backends/transaction/step.ts";

/** A step that is undone, with the result that its path has at that point. */
interface Reversal {
  /** The order in which the steps were made, counted from the newest. */
  age: number;
  step: Step;
  readonly given: StepResult;
}

/** Steps with their results, as a rollback takes them. */
export interface JoinedSteps {
  /** The steps, the oldest first. */
  readonly steps: readonly Step[];
  readonly given: ReadonlyMap<number, StepResult>;
}

/**
 * Collects steps, the newest first. Steps of one path become one step from the state before the oldest of them to the
 * state after the newest, unless a move of the path, or of what is above or below it, is between them. The joined step
 * has the place of the oldest: what was made later is gone by then, and what was removed later is there again. Only
 * a step from directory to directory keeps the later place: what older steps restore below needs the directory first.
 */
export class StepJoiner {
  readonly #taken: Reversal[] = [];
  readonly #open = new Map<string, Reversal>();

  /** Adds a step of one path. `found` is the state that its path has when the step is undone. */
  add(step: PathStep, found: PreImage | null, given: StepResult): void {
    const age = this.#nextAge++;
    const later = this.#open.get(step.path);
    if (later === undefined) {
      const { aside: _aside, parent: _parent, ...bare } = step;
      // A file that is kept when it goes is kept by the change that this undo is itself.
      const after = found === null ? null : withoutSource(found);
      const taken = { age, step: { ...bare, after }, given };
      this.#taken.push(taken);
      this.#open.set(step.path, taken);
      return;
    }
    const joined = later.step as PathStep;
    if (step.before?.type !== "dir" || step.after?.type !== "dir") later.age = age;
    later.step = {
      ...joined,
      kind: joined.kind === "chmod" && step.kind === "chmod" ? "chmod" : "write",
      before: joinedBefore(step, joined),
    };
  }

  /** Adds a move. */
  addMove(step: MoveStep, given: StepResult): void {
    const { aside: _aside, parents: _parents, below: _below, ...bare } = step;
    this.#taken.push({ age: this.#nextAge++, step: bare, given });
    for (const path of [...this.#open.keys()])
      if ([step.from, step.to].some((end) => isWithin(path, end) || isWithin(end, path)))
        this.#open.delete(path);
  }

  /** Returns the steps. Those of the paths for which `isNeeded` returns false are left out where nothing was moved. */
  join(isNeeded: (path: string) => boolean): JoinedSteps {
    const hasMoves = this.#taken.some(({ step }) => step.kind === "move");
    const needed = this.#taken.filter(({ step }) => {
      if (step.kind === "move") return true;
      // A path that was made and removed again needs nothing, and need not have a directory any more.
      return (step.before !== null || step.after !== null) && (hasMoves || isNeeded(step.path));
    });
    needed.sort((a, b) => b.age - a.age);
    const given = new Map<number, StepResult>();
    const steps = needed.map((taken, id): Step => {
      given.set(id, taken.given);
      return { ...taken.step, id };
    });
    return { steps, given };
  }

  #nextAge = 0;
}

/** Returns the state before two steps of one path, of which the first may have kept no content. */
function joinedBefore({ kind, before }: PathStep, later: PathStep): PreImage | null {
  // A change of the permission bits leaves the content, so that of the later step was there before it, too.
  const isContentLater = kind === "chmod" && before?.type === "file" && later.before?.type === "file";
  if (before === null || !isContentLater) return before;
  const { bytes, size, hash, source } = later.before as PreImage;
  return { ...before, ...withoutUndefined({ bytes, size, hash, source }) };
}

function withoutSource({ source: _source, ...image }: PreImage): PreImage {
  return image;
}
