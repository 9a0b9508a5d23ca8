/**
 * Determines the paths that a call reaches: the paths that it names and their real paths, everything
 * below a directory that it deletes, moves or copies, and the destinations of those entries.
 */
import type { Files } from "../backends/files.ts";
import {
  type CallFacts,
  type Effect,
  type Location,
  type PathForms,
  placeOf,
  type Rules,
} from "../policy/index.ts";
import { lstatOrNull, otherNamesOf } from "../backends/fallback/fallback.ts";
import { walkTree } from "../backends/fallback/walk-tree.ts";
import { FilewrightError } from "../engine/errors.ts";
import type { PathEffect, PathUse } from "../tools/lib/tool.ts";

/** The parts of a path use that determine what is reached. */
type PathUseFacts = Pick<PathUse, "entry" | "tree" | "writesThrough" | "effects">;

/** A call that needs a decision. */
export interface ReachInput {
  readonly fs: Files;
  /** The storage of the workspace, whose files can have several names; `fs` may be an overlay of it. */
  readonly disk: Files;
  readonly rules: Rules;
  readonly tool: string;
  readonly args: object;
  readonly uses: readonly PathUseFacts[];
  readonly locations: readonly Location[];
  readonly signal: AbortSignal | undefined;
}

/** Returns the facts of a call for the decision. It accesses the storage only when a rule may depend on it. */
export async function factsOfReachedPaths(call: ReachInput): Promise<CallFacts> {
  const { fs, disk, rules, tool, args, uses, locations } = call;
  const own = rules.forCall(tool, args);
  const places: PathForms[] = [];
  const effects: Effect[] = [];
  const facts: CallFacts = { tool, args, places, effects };
  const wanted = uses.flatMap((use) => use.effects ?? []);
  const restricted = wanted.filter((one) => rules.forCall(one.tool, one.args).restricts);
  if (!own.byPath && restricted.length === 0) return facts;

  for (const [index, at] of locations.entries()) {
    const { entry = false, writesThrough = false } = uses[index] ?? {};
    const place = await placeOf(fs, at, entry);
    places.push(writesThrough ? [...(await placeOf(fs, at, false)).slice(1), ...place] : place);
    // A rule about another name of the file can restrict the call, and none about it can allow the call.
    if (entry || !own.restricts) continue;
    for (const name of await otherNamesOf(disk, at.path)) effects.push({ tool, args, place: [name] });
  }
  const trees = places.filter((_, index) => uses[index]?.tree === true).map(realPathOfForms);
  const [top, target] = trees;
  await addNamedEffects(call, places, (effect) => restricted.includes(effect), effects);
  if (top === undefined) return facts;
  const replacing = restricted.find(({ ifThere }) => ifThere !== undefined);
  const matters =
    replacing !== undefined ||
    [top, target].some(
      (path) => path !== undefined && own.mayReach(path, ["allow", "review", "ask", "deny"]),
    );
  if (matters) await addReachedTree(call, { top, target, replacing }, { places, effects });
  return facts;
}

/**
 * Returns everything that a call does besides its own work, each as the work of another tool on one path. `places` are
 * the paths of the call.
 */
export async function effectsOfCall(
  call: Omit<ReachInput, "disk" | "rules" | "tool" | "args">,
  places: readonly PathForms[],
): Promise<readonly Effect[]> {
  const { uses } = call;
  const effects: Effect[] = [];
  await addNamedEffects(call, places, () => true, effects);
  const [top, target] = places.filter((_, index) => uses[index]?.tree === true).map(realPathOfForms);
  const replacing = uses.flatMap((use) => use.effects ?? []).find(({ ifThere }) => ifThere !== undefined);
  if (top !== undefined && replacing !== undefined)
    await addReachedTree(call, { top, target, replacing }, { places: [], effects });
  return effects;
}

/** Adds the effects of a call on the paths that it names. */
async function addNamedEffects(
  { fs, uses }: Pick<ReachInput, "fs" | "uses">,
  places: readonly PathForms[],
  isWanted: (effect: PathEffect) => boolean,
  effects: Effect[],
): Promise<void> {
  for (const [index, place] of places.entries()) {
    for (const effect of uses[index]?.effects ?? []) {
      if (!isWanted(effect)) continue;
      if (await happens(effect, fs, realPathOfForms(place))) effects.push({ ...effect, place });
    }
  }
}

interface ReachedPaths {
  readonly places: PathForms[];
  readonly effects: Effect[];
}

/** A tree that a call reaches. */
interface ReachedTree {
  readonly top: string;
  /** Where its entries go; undefined for a call that makes none. */
  readonly target: string | undefined;
  /** What replaces an entry at the target. */
  readonly replacing: Pick<Effect, "tool" | "args"> | undefined;
}

/** Adds everything below a directory, and the destination of each entry. */
async function addReachedTree(
  { fs, signal }: Pick<ReachInput, "fs" | "signal">,
  { top, target, replacing }: ReachedTree,
  { places, effects }: ReachedPaths,
): Promise<void> {
  if ((await entryTypeOf(fs, top)) !== "dir") return;
  for await (const { path, type } of walkTree(fs, top, signal)) {
    places.push([path]);
    if (target === undefined) continue;
    const there = target + path.slice(top.length);
    places.push([there]);
    if (replacing === undefined || type === "dir") continue;
    const replaced = await entryTypeOf(fs, there);
    if (replaced !== undefined && replaced !== "dir") effects.push({ ...replacing, place: [there] });
  }
}

/** Returns true for an effect that happens: one that replaces something does so only where something is. */
async function happens({ ifThere }: PathEffect, fs: Files, path: string): Promise<boolean> {
  if (ifThere === undefined) return true;
  const type = await entryTypeOf(fs, path);
  return type !== undefined && (type !== "dir" || ifThere === "entry");
}

/** Returns the type of an entry; undefined when it does not exist or cannot be accessed. */
async function entryTypeOf(fs: Files, path: string): Promise<string | undefined> {
  try {
    return (await lstatOrNull(fs, path))?.type;
  } catch (error) {
    if (error instanceof FilewrightError) return undefined; // The operation itself reports the reason.
    throw error;
  }
}

function realPathOfForms(place: PathForms): string {
  return place.at(-1) as string;
}
