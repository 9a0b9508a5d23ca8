/** The states that a change leaves, by which a later undo sees whether others have changed its paths since. */
import type { Files } from "../backends/files.ts";
import { hashOf, lstatOrNull } from "../backends/fallback/fallback.ts";
import { isWithin } from "../backends/paths.ts";
import { type PreImage, preImageOf, withoutMode } from "../backends/transaction/pre-image.ts";
import { type FinalStates, type MoveStep, pathsOfSteps } from "../backends/transaction/step.ts";
import type { Transaction } from "../backends/transaction/transaction.ts";
import { Yielder } from "../engine/yielder.ts";

/** Returns the state of every touched path after the change; null for more paths than `maxPaths`, too many to compare later. */
export async function readFinalStates(
  fs: Files,
  transaction: Transaction,
  maxPaths: number,
): Promise<FinalStates | null> {
  const yielder = new Yielder({});
  await yielder.yieldIfDue();
  const paths = pathsOfSteps(transaction.steps, maxPaths + 1);
  if (paths.length > maxPaths) return null;
  const written = await writtenStates(transaction, yielder);
  const finals: (readonly [string, PreImage | null])[] = [];
  for (const path of paths) {
    await yielder.yieldIfDue();
    finals.push([path, written.get(path) ?? (await readFinalState(fs, path))]);
  }
  return finals;
}

/** Returns the states that are known from the writes themselves, so that another read is unnecessary. */
async function writtenStates(
  transaction: Transaction,
  yielder: Yielder,
): Promise<ReadonlyMap<string, PreImage>> {
  const known = new Map<string, PreImage>();
  for (const step of transaction.steps) {
    await yielder.yieldIfDue();
    if (step.kind === "move") {
      forgetMoved(known, step);
      continue;
    }
    known.delete(step.path);
    const given = transaction.given(step);
    if (step.after?.hash !== undefined && given !== undefined)
      known.set(step.path, { ...step.after, ...given });
  }
  return known;
}

/** Forgets what is at and below both ends of a move: it is elsewhere now. */
function forgetMoved(known: Map<string, PreImage>, { from, to }: MoveStep): void {
  for (const path of known.keys()) if (isWithin(path, from) || isWithin(path, to)) known.delete(path);
}

/** Returns the state of a path. Without an id, a moved and restored file is known by its content alone. */
async function readFinalState(fs: Files, path: string): Promise<PreImage | null> {
  const stat = await lstatOrNull(fs, path);
  if (stat === null) return null;
  const image = withoutMode(preImageOf(stat));
  if (!stat.isFile || (stat.version !== undefined && stat.fileId !== undefined)) return image;
  // The change is made, and one that cannot be read stays known by its version.
  const hash = await hashOf(fs.trusted(), path).catch(() => undefined);
  return hash === undefined ? image : { ...image, hash };
}
