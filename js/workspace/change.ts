/**
 * The middle of a changing call: plan, ask, lock, compare, apply.
 *
 * Nothing is locked while planning or asking. Under the lock the plan is applied
 * on the condition that what it was computed from is still there; if it is not,
 * the tool plans again, unless somebody approved the old plan: then it is a
 * CONFLICT, because what was approved is what is written. See `review.ts`.
 */
import type { Location } from "../access/index.ts";
import { entryPathVia, realpathVia } from "../backends/fallback.ts";
import { repositoriesOn } from "../backends/repository.ts";
import { Pace } from "../backends/pace.ts";
import { FilewrightError } from "../engine/errors.ts";
import { mustAsk } from "../hooks/approvals.ts";
import type { Confirm } from "../hooks/confirm.ts";
import type { CallEffect } from "../hooks/observer.ts";
import type { About } from "../journal/index.ts";
import type { Answer, Call, ChangingTool, PathUse, Plan } from "../tools/tool.ts";
import { applyGuarded, assertSeen, isUnseen } from "./guard.ts";
import { effectsOf, hashesOf } from "./observe.ts";
import type { MetaApproval } from "./result.ts";
import { planTold, type Ruled } from "./permit.ts";
import { compare, type Evidence, type Reviewable, type Reviewed, review, rootsOf } from "./review.ts";
import type { Session } from "./session.ts";
import { isDryRun, judgeWritten, warningsOf, withPlaces, type WrittenKey } from "./written-places.ts";

/** How often a plan is made again because another writer was faster. */
export const MAX_PLANS: number = 8;

/** An applied change, and whether the reviewer had a hand in it. */
export interface Changed<Data> {
  readonly answer: Answer<Data>;
  readonly modifiedByUser: boolean;
  readonly approval?: MetaApproval | undefined;
  /** Contents before and after, where an observer wants to know. */
  readonly effects?: readonly CallEffect[] | undefined;
}

/** Takes one changing call from its plan to its answer. `ruled`, `isKept`: what the rules say of it. */
export async function change<Args extends object, Data, Todo>(
  session: Session,
  tool: ChangingTool<Args, Data, Todo>,
  args: Args,
  uses: readonly PathUse[],
  call: Call,
  { ruled, isKept }: Ruled,
): Promise<Changed<Data>> {
  // Both at once: most plans begin with a read.
  const keys = lockKeys(uses, call);
  keys.catch(() => {}); // Told where it is wanted: a plan that fails says more.
  const judged = keys.then((all) => judgeWritten(session, all, call));
  judged.catch(() => {});
  let plan = await planTold(session, { tool, args, call, isKept });
  if (plan.settled !== undefined) return { answer: plan.settled, modifiedByUser: false };

  const confirm = session.confirmFor(tool.name);
  const byDefault = session.requireApproval || confirm !== undefined ? "ask" : "allow";
  const places = await judged;
  const decision = withPlaces(ruled ?? byDefault, places, confirm);
  const asked = mustAsk(decision, confirm, session.approvals, tool.name, rootsOf(call.locations));
  let reviewed: Reviewed<Plan<Data, Todo>> | undefined;
  if (asked) {
    // Nobody is asked about what would be refused.
    if (session.guard === "refuse") await assertSeen({ tool, args, uses, call }, plan);
    call.untimed?.();
    reviewed = await review(session, { tool, args, uses, call }, plan, confirm as Confirm);
    plan = reviewed.plan;
  }
  const { approval, revisions = [] } = reviewed ?? {};
  const modifiedByUser = revisions.length > 0;

  // While somebody decided, links may have come to lead elsewhere.
  const held = asked ? await lockKeys(uses, call) : await keys;
  if (asked) await judgeWritten(session, held, call);
  const unlock = await lock(session, held, call);
  try {
    for (let attempt = 1; ; attempt++) {
      stopIfCancelled(call.signal);
      try {
        const hashes = session.hashes ? await hashesOf(uses, call) : undefined;
        call.untimed?.();
        const answer = await applied(session, { tool, args, uses, call }, plan, reviewed);
        const effects = hashes === undefined ? undefined : effectsOf(hashes, await hashesOf(uses, call));
        const warnings = confirm === undefined && !isDryRun(args) ? warningsOf(places) : [];
        const all = [...(answer.warnings ?? []), ...warnings];
        return { answer: { ...answer, warnings: all }, modifiedByUser, approval, effects };
      } catch (error) {
        if (
          asked ||
          attempt === MAX_PLANS ||
          (session.guard === "refuse" && isUnseen(error)) ||
          !(error instanceof FilewrightError) ||
          error.code !== "CONFLICT"
        )
          throw error;
      }
      plan = await tool.plan(args, call);
      if (plan.settled !== undefined) return { answer: plan.settled, modifiedByUser };
    }
  } finally {
    unlock();
  }
}

/** Applies a plan in a way that can be taken back; what was shown of it is compared right before. */
function applied<Args extends object, Data, Todo>(
  session: Session,
  { tool, args, uses, call }: Reviewable<Args, Data, Todo>,
  plan: Plan<Data, Todo>,
  shown: Evidence | undefined,
): Promise<Answer<Data>> {
  const about: About = {
    callId: call.callId,
    tool: tool.name,
    agent: call.agent,
    takeBack: tool.several === true ? "always" : "try",
  };
  if (tool.recordsItself === true) {
    const compared = shown === undefined ? Promise.resolve() : compare(shown, { uses, call });
    return compared.then(() => tool.apply(plan, args, call));
  }
  return session.journal.change(call.fs, about, async (fs) => {
    const own: Call = { ...call, fs };
    if (shown !== undefined) await compare(shown, { uses, call: own });
    return applyGuarded(session.guard, { tool, args, uses, call: own }, plan);
  });
}

/** @throws FilewrightError CANCELLED */
export function stopIfCancelled(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw new FilewrightError("CANCELLED", "cancelled");
}

/** Locks every path of the call, in this process and between processes; gives back the release. */
export async function lockAll(
  session: Session,
  uses: readonly PathUse[],
  call: Pick<Call, "fs" | "locations" | "signal">,
): Promise<() => void> {
  const keys = await lockKeys(uses, call);
  await judgeWritten(session, keys, call);
  return lock(session, keys, call);
}

/** What is locked of one path. */
type Key = WrittenKey;

/** The real paths of a call in the order in which they are locked. */
export async function lockKeys(
  uses: readonly PathUse[],
  call: Pick<Call, "fs" | "locations">,
): Promise<readonly Key[]> {
  const byPath = new Map<string, Key>();
  for (const [index, use] of uses.entries()) {
    const { path } = call.locations[index] as Location;
    const real = await (use.entry === true ? entryPathVia : realpathVia)(call.fs, path);
    const other = byPath.get(real);
    // A tool that transfers a tree names its source first.
    const from = use.argument === "destination" && uses.length === 2 ? [...byPath.keys()][0] : undefined;
    byPath.set(real, {
      ...(from === undefined ? {} : { from }),
      path: real,
      tree: use.tree === true || other?.tree === true,
      write: use.intent === "write" || other?.write === true,
    });
    if (use.intent !== "write") continue;
    // Two calls must not complete a repository together, each by one half.
    for (const directory of repositoriesOn(real)) {
      if (!byPath.has(directory)) byPath.set(directory, { path: directory, tree: false, write: false });
    }
  }
  return [...byPath.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** Runs an action with whole paths locked. */
async function lockedWhile<T>(
  session: Session,
  paths: readonly string[],
  action: () => Promise<T>,
): Promise<T> {
  const keys = [...paths].sort().map((path) => ({ path, tree: true, write: true }));
  const unlock = await lock(session, keys, { fs: session.fs, signal: undefined });
  try {
    return await action();
  } finally {
    unlock();
  }
}

async function lock(
  session: Session,
  keys: readonly Key[],
  call: Pick<Call, "fs" | "signal">,
): Promise<() => void> {
  // What an earlier call could not roll back comes first: this one may rest upon it.
  await session.journal.retry(session.fs, keys, (paths, action) => lockedWhile(session, paths, action));
  const wait = { timeoutMs: session.limits.lockTimeoutMs, signal: call.signal };
  const held: (() => void)[] = [await session.locker.acquire(keys, wait)];
  const release = (): void => {
    for (let free = held.pop(); free !== undefined; free = held.pop()) free();
  };
  try {
    if (call.fs.lock !== undefined) {
      // A lock that nobody holds is taken at once: a thousand of them must not hold the event loop.
      const pace = new Pace({ signal: call.signal });
      for (const { path, write } of keys) {
        if (!write) continue; // What is only read is kept whole by those who write it.
        await pace.isOver();
        const handle = await call.fs.lock(path, { ...wait, resolved: true });
        held.push(() => handle.release());
      }
    }
    return release;
  } catch (error) {
    release();
    throw error;
  }
}
