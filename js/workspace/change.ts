/**
 * The middle of a changing call: plan, ask, lock, compare, apply.
 *
 * Nothing is locked while planning or asking. Under the lock the plan is applied
 * on the condition that what it was computed from is still there; if it is not,
 * the tool plans again, unless somebody approved the old plan: then it is a
 * CONFLICT, because what was approved is what is written.
 */
import type { Decision, Location } from "../access/index.ts";
import type { FsBackend } from "../backends/backend.ts";
import { entryPathVia, realpathVia } from "../backends/fallback.ts";
import { nameOf } from "../backends/paths.ts";
import { FilewrightError } from "../engine/errors.ts";
import { mustAsk, scopesOf } from "../hooks/approvals.ts";
import { askConfirm, type Confirm, denied, refusedBy } from "../hooks/confirm.ts";
import { tell } from "../hooks/events.ts";
import type { CallEffect } from "../hooks/observer.ts";
import type { About } from "../journal/index.ts";
import { currentVersion } from "../tools/contents.ts";
import { escapeControls } from "../tools/text.ts";
import type { Answer, BaseVersion, Call, ChangingTool, PathUse, Plan } from "../tools/tool.ts";
import { isUnseen, noteWritten, wantSeen } from "./guard.ts";
import type { LockKey } from "./locks.ts";
import { effectsOf, hashesOf } from "./observe.ts";
import type { MetaApproval } from "./result.ts";
import type { Session } from "./session.ts";

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

/** Takes one changing call from its plan to its answer. `ruled`: what the rules say of it. */
export async function change<Args extends object, Data, Todo>(
  session: Session,
  tool: ChangingTool<Args, Data, Todo>,
  args: Args,
  uses: readonly PathUse[],
  call: Call,
  ruled: Decision | undefined,
): Promise<Changed<Data>> {
  // Both at once: most plans begin with a read.
  const keys = lockKeys(uses, call);
  keys.catch(() => {}); // Told where it is wanted: a plan that fails says more.
  let plan = await tool.plan(args, call);
  if (plan.settled !== undefined) return { answer: plan.settled, modifiedByUser: false };
  if (session.guard) await wantSeen(tool.name, args, uses, call);

  const confirm = session.confirmFor(tool.name);
  const byDefault = session.requireApproval || confirm !== undefined ? "ask" : "allow";
  const asked = mustAsk(ruled ?? byDefault, confirm, session.approvals, tool.name, rootsOf(call.locations));
  let reviewed: Reviewed<Plan<Data, Todo>> | undefined;
  if (asked) {
    reviewed = await review(session, tool, plan, args, call, confirm as Confirm);
    plan = reviewed.plan;
  }
  const { approval, revisions = [] } = reviewed ?? {};
  const modifiedByUser = revisions.length > 0;

  // While somebody decided, links may have come to lead elsewhere.
  const unlock = await lock(session, asked ? await lockKeys(uses, call) : await keys, call);
  try {
    if (reviewed !== undefined) await compare([...plan.base, ...reviewed.base], call.fs);
    for (let attempt = 1; ; attempt++) {
      stopIfCancelled(call.signal);
      try {
        if (session.guard && attempt > 1) await wantSeen(tool.name, args, uses, call);
        const hashes = session.hashes ? await hashesOf(uses, call) : undefined;
        const answer = await applied(session, tool, plan, args, call);
        if (session.guard) await noteWritten(tool.name, args, uses, call);
        const effects = hashes === undefined ? undefined : effectsOf(hashes, await hashesOf(uses, call));
        return { answer, modifiedByUser, approval, effects };
      } catch (error) {
        if (
          asked ||
          attempt === MAX_PLANS ||
          (session.guard && isUnseen(error)) ||
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

/** The roots that a call's paths lie below: what an approval that lasts is bound to. */
export function rootsOf(locations: readonly Location[]): readonly string[] {
  return [...new Set(locations.map(({ root }) => root))];
}

/** Applies a plan in a way that can be taken back. */
function applied<Args extends object, Data, Todo>(
  session: Session,
  tool: ChangingTool<Args, Data, Todo>,
  plan: Plan<Data, Todo>,
  args: Args,
  call: Call,
): Promise<Answer<Data>> {
  const about: About = {
    callId: call.callId,
    tool: tool.name,
    agent: call.agent,
    takeBack: tool.several === true ? "always" : "try",
  };
  return session.journal.change(call.fs, about, async (fs) => tool.apply(plan, args, { ...call, fs }));
}

/** @throws FilewrightError CANCELLED */
export function stopIfCancelled(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw new FilewrightError("CANCELLED", "cancelled");
}

/** What a reviewer agreed to. */
export interface Reviewed<P> {
  readonly plan: P;
  /** The contents that the reviewer put in place of the planned ones on the way. */
  readonly revisions: readonly string[];
  /** Versions that the approval rests upon, besides the plan's own. */
  readonly base: readonly BaseVersion[];
  readonly approval: MetaApproval;
}

/** Shows the plan until it is approved as it is. @throws FilewrightError APPROVAL_DENIED, CANCELLED */
export async function review<Args extends object, Data, Todo>(
  session: Session,
  tool: ChangingTool<Args, Data, Todo>,
  planned: Plan<Data, Todo>,
  args: Args,
  call: Call,
  confirm: Confirm,
): Promise<Reviewed<Plan<Data, Todo>>> {
  const { approvals, notify } = session;
  const paths: string[] = [];
  for (const at of call.locations) paths.push(await realpathVia(call.fs, at.path));
  const roots = rootsOf(call.locations);
  let plan = planned;
  const revisions: string[] = [];
  for (;;) {
    const preview = await tool.preview(plan, args, call);
    const { diff, originalContent, newContent, risk, hash, base = [] } = preview;
    const path = paths[preview.location] as string;
    const title = escapeControls(preview.title);
    tell(notify, { type: "approval_asked", tool: tool.name, path, title });
    const reply = await askConfirm(
      confirm,
      {
        type: hash === undefined ? "info" : "edit",
        title,
        tool: tool.name,
        fileName: nameOf((call.locations[preview.location] as Location).path),
        fileDiff: diff,
        originalContent,
        newContent,
        path,
        paths,
        risk,
        ...(call.agent === undefined ? {} : { agent: call.agent }),
        scopes: scopesOf(tool.name, roots, tool.revise !== undefined && newContent !== null),
        ...(hash === undefined ? {} : { hash }),
        ...(revisions.length > 0 ? { isModifying: true } : {}),
      },
      call.signal,
    );
    const { outcome, payload } = reply;
    const approval = approvals.remember(reply, tool.name, roots);
    const by = payload?.by === undefined ? {} : { by: payload.by };
    tell(notify, {
      type: "approval_answered",
      tool: tool.name,
      path,
      outcome,
      ...(hash === undefined ? {} : { hash }),
      ...(approval === undefined ? {} : { approval }),
      ...by,
    });
    if (outcome === "cancel") throw refusedBy(reply);
    if (outcome !== "modify_with_editor") {
      const approved = { outcome, ...(hash === undefined ? {} : { hash }), ...by };
      return { plan, revisions, base, approval: approved };
    }
    if (tool.revise === undefined || newContent === null || typeof payload?.newContent !== "string") {
      throw denied("The reviewer's change of the content cannot be used.");
    }
    plan = await tool.revise(plan, args, payload.newContent, call);
    revisions.push(payload.newContent);
    if (payload.final === true) {
      const final = (await tool.preview(plan, args, call)).hash;
      const approved = { outcome, ...(final === undefined ? {} : { hash: final }), ...by };
      return { plan, revisions, base, approval: approved };
    }
  }
}

/** @throws FilewrightError CONFLICT where something changed while the reviewer decided */
export async function compare(base: readonly BaseVersion[], fs: FsBackend): Promise<void> {
  for (const { path, version, entry } of base) {
    if ((await currentVersion(fs, path, entry === true)) === version) continue;
    throw new FilewrightError("CONFLICT", "changed while its approval was asked for", { path });
  }
}

/** Locks every path of the call, in this process and between processes; gives back the release. */
export async function lockAll(
  session: Session,
  uses: readonly PathUse[],
  call: Pick<Call, "fs" | "locations" | "signal">,
): Promise<() => void> {
  return lock(session, await lockKeys(uses, call), call);
}

/** What is locked of one path. */
type Key = LockKey & { readonly write: boolean };

/** The real paths of a call in the order in which they are locked. */
async function lockKeys(
  uses: readonly PathUse[],
  call: Pick<Call, "fs" | "locations">,
): Promise<readonly Key[]> {
  const byPath = new Map<string, Key>();
  for (const [index, use] of uses.entries()) {
    const { path } = call.locations[index] as Location;
    const real = await (use.entry === true ? entryPathVia : realpathVia)(call.fs, path);
    const other = byPath.get(real);
    byPath.set(real, {
      path: real,
      tree: use.tree === true || other?.tree === true,
      write: use.intent === "write" || other?.write === true,
    });
  }
  return [...byPath.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
}

async function lock(
  session: Session,
  keys: readonly Key[],
  call: Pick<Call, "fs" | "signal">,
): Promise<() => void> {
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
