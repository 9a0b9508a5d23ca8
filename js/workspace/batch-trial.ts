/**
 * What the trial of a batch found, and the operations made again as they were shown.
 *
 * An operation of a batch may rest upon what an earlier one makes: there its versions
 * exist in the trial alone. What no earlier operation changes is compared by version
 * right before the operation is made; of the rest, the operation planned on storage
 * must be the one that was shown, to the byte.
 */
import { entryPathVia, realpathVia } from "../backends/fallback.ts";
import { isWithin } from "../backends/paths.ts";
import { FilewrightError } from "../engine/errors.ts";
import type { GuardLevel } from "../presets/index.ts";
import type { Answer, BaseVersion, Call } from "../tools/tool.ts";
import type { Operation, Trial } from "./batch-operations.ts";
import type { AnyChanging } from "./enter.ts";
import { applyGuarded } from "./guard.ts";
import { compare, placesOf, questionOf, type Reviewed } from "./review.ts";

/** Notes, operation by operation, what the trial of a batch finds. */
export class Trials {
  /** Where the operations so far write. */
  readonly #written: string[] = [];

  /** Notes an operation that has nothing to do. */
  async settled({ uses }: Operation, call: Call): Promise<Trial> {
    const places = await placesOf(uses, call);
    return { places, own: [], settled: true, outline: undefined };
  }

  /** Notes an operation that is about to be made on the overlay. */
  async note(
    { uses }: Operation,
    call: Call,
    planned: readonly BaseVersion[],
    reviewed: Reviewed<unknown> | undefined,
  ): Promise<Trial> {
    const places = reviewed?.places ?? (await placesOf(uses, call));
    const own: BaseVersion[] = [];
    for (const one of reviewed?.base ?? planned) {
      const real = await (one.entry === true ? entryPathVia : realpathVia)(call.fs, one.path);
      if (!this.#written.some((path) => isWithin(path, real) || isWithin(real, path))) own.push(one);
    }
    for (const [index, { intent }] of uses.entries())
      if (intent === "write") this.#written.push(places[index] as string);
    return { places, own, settled: false, outline: reviewed?.outline };
  }
}

/** The versions that must still be there when the first operation of a batch is made. */
export function ownVersionsOf(operations: readonly Operation[]): readonly BaseVersion[] {
  return operations.flatMap(({ trial }) => trial?.own ?? []);
}

/**
 * Makes an operation as it was shown, planned once and never again.
 * @throws FilewrightError CONFLICT where it would be another one by now
 */
export async function asShown(
  { tool, args, uses, revisions, trial }: Operation,
  call: Call,
  guard: GuardLevel,
): Promise<Answer<unknown>> {
  if (tool.kind === "read") return tool.run(args, call);
  const { places, own, settled, outline } = trial as Trial;
  await compare({ places, base: own }, { uses, call });
  let plan = await (tool as AnyChanging).plan(args, call);
  if ((plan.settled !== undefined) !== settled) throw another(call);
  if (plan.settled !== undefined) return plan.settled;
  for (const content of revisions) plan = (await tool.revise?.(plan, args, content, call)) ?? plan;
  if (outline !== undefined) {
    const question = await questionOf({ tool, args, uses, call }, plan);
    if (question.outline !== outline) throw another(call);
  }
  return applyGuarded(guard, { tool, args, uses, call }, plan);
}

function another({ locations }: Call): FilewrightError {
  return new FilewrightError("CONFLICT", "changed while its approval was asked for", {
    path: locations[0]?.path,
  });
}
