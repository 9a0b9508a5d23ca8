/**
 * The middle of a changing call: plan, ask, lock, compare, apply.
 *
 * Nothing is locked while planning or asking. Under the lock the plan is applied
 * on the condition that what it was computed from is still there; if it is not,
 * the tool plans again, unless somebody approved the old plan: then it is a
 * CONFLICT, because what was approved is what is written.
 */
import type { Location } from "../access/index.ts";
import type { FsBackend } from "../backends/backend.ts";
import { childOf, nameOf, parentOf } from "../backends/paths.ts";
import { FilewrightError } from "../engine/errors.ts";
import { currentVersion } from "../tools/contents.ts";
import type { Answer, Call, ChangingTool, PathUse, Plan } from "../tools/tool.ts";
import { ask, denied, mustAsk } from "./confirm.ts";
import type { LockKey } from "./locks.ts";
import type { Decision } from "./rules.ts";
import type { Session } from "./session.ts";

/** How often a plan is made again because another writer was faster. */
const MAX_PLANS = 8;

/** An applied change, and whether the reviewer had a hand in it. */
export interface Changed<Data> {
  readonly answer: Answer<Data>;
  readonly modifiedByUser: boolean;
}

/** Takes one changing call from its plan to its answer. `ruled`: what the rules say of it. */
export async function change<Args extends object, Data, Todo>(
  session: Session,
  tool: ChangingTool<Args, Data, Todo>,
  args: Args,
  uses: readonly PathUse[],
  call: Call,
  ruled: Decision | undefined,
): Promise<Changed<Data>> {
  let plan = await tool.plan(args, call);
  if (plan.settled !== undefined) return { answer: plan.settled, modifiedByUser: false };

  const asked = mustAsk(
    ruled,
    session.byDefault,
    session.confirm,
    session.approvals,
    tool.name,
    call.locations,
  );
  let modifiedByUser = false;
  if (asked) ({ plan, modifiedByUser } = await review(session, tool, plan, args, call));

  const unlock = await lockAll(session, uses, call);
  try {
    if (asked) await compare(plan, call);
    for (let attempt = 1; ; attempt++) {
      stopIfCancelled(call.signal);
      try {
        return { answer: await tool.apply(plan, args, call), modifiedByUser };
      } catch (error) {
        if (
          asked ||
          attempt === MAX_PLANS ||
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

/** @throws FilewrightError CANCELLED */
export function stopIfCancelled(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw new FilewrightError("CANCELLED", "cancelled");
}

/** Shows the plan until it is approved as it is. @throws FilewrightError APPROVAL_DENIED, CANCELLED */
async function review<Args extends object, Data, Todo>(
  session: Session,
  tool: ChangingTool<Args, Data, Todo>,
  planned: Plan<Data, Todo>,
  args: Args,
  call: Call,
): Promise<{ readonly plan: Plan<Data, Todo>; readonly modifiedByUser: boolean }> {
  let plan = planned;
  let modifiedByUser = false;
  for (;;) {
    const preview = await tool.preview(plan, args, call);
    const at = call.locations[preview.location] as Location;
    const { outcome, payload } = await ask(
      session.confirm as NonNullable<Session["confirm"]>,
      {
        type: preview.newContent === null ? "info" : "edit",
        title: preview.title,
        tool: tool.name,
        fileName: nameOf(at.path),
        fileDiff: preview.diff,
        originalContent: preview.originalContent,
        newContent: preview.newContent,
        path: await realPath(call.fs, at.path),
        ...(modifiedByUser ? { isModifying: true } : {}),
      },
      call.signal,
    );
    if (outcome === "cancel") throw denied("The reviewer refused the change.");
    if (outcome !== "modify_with_editor") {
      session.approvals.remember(outcome, tool.name, at.root);
      return { plan, modifiedByUser };
    }
    if (tool.revise === undefined || typeof payload?.newContent !== "string") {
      throw denied("The reviewer's change of the content cannot be used.");
    }
    plan = await tool.revise(plan, args, payload.newContent, call);
    modifiedByUser = true;
    if (payload.final === true) return { plan, modifiedByUser };
  }
}

/** @throws FilewrightError CONFLICT where something changed while the reviewer decided */
async function compare(plan: Plan<unknown, unknown>, call: Call): Promise<void> {
  for (const { path, version, entry } of plan.base) {
    if ((await currentVersion(call.fs, path, entry === true)) === version) continue;
    throw new FilewrightError("CONFLICT", "changed while its approval was asked for", { path });
  }
}

/** Locks every path of the call, in this process and between processes; gives back the release. */
export async function lockAll(
  session: Session,
  uses: readonly PathUse[],
  call: Pick<Call, "fs" | "locations" | "signal">,
): Promise<() => void> {
  const byPath = new Map<string, LockKey & { readonly write: boolean }>();
  for (const [index, use] of uses.entries()) {
    const { path } = call.locations[index] as Location;
    const real =
      use.entry === true && path !== "/"
        ? childOf(await realPath(call.fs, parentOf(path)), nameOf(path))
        : await realPath(call.fs, path);
    const other = byPath.get(real);
    byPath.set(real, {
      path: real,
      tree: use.tree === true || other?.tree === true,
      write: use.intent === "write" || other?.write === true,
    });
  }
  const keys = [...byPath.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
  const wait = { timeoutMs: session.limits.lockTimeoutMs, signal: call.signal };
  const held: (() => void)[] = [await session.locker.acquire(keys, wait)];
  const release = (): void => {
    for (let free = held.pop(); free !== undefined; free = held.pop()) free();
  };
  try {
    if (call.fs.lock !== undefined) {
      for (const { path, write } of keys) {
        if (!write) continue; // What is only read is kept whole by those who write it.
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

async function realPath(fs: FsBackend, path: string): Promise<string> {
  return fs.realpath === undefined ? path : await fs.realpath(path);
}
