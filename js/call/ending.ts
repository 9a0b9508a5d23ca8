/** The end of a call: early where it must, and what its answer waits for and says of the call. */
import { debug } from "../engine/debug.ts";
import type { Facts } from "../pipeline/facts.ts";
import type { ToolResult } from "../pipeline/result.ts";
import type { Stage } from "./call.ts";

/**
 * Ends a call early: when its caller aborts, or its workspace closes, which waits for its running calls and the hooks
 * after them. The time limit of a call ends it by the same signal (`steps.ts`).
 */
export const ending: Stage = {
  async run(request, next) {
    const { session, known, options, limited } = request;
    const ended = session.scheduling.running.begin(() => limited.cancel());
    // A read of one file ends before it can be cancelled, unless it waits for a hook, a grant or an approval.
    const isQuick =
      known.traits.includes("endsAtOnce") &&
      session.hooks.bound.length === 0 &&
      session.gates.permissions === undefined &&
      session.gates.rules.isEmpty;
    try {
      return await next(isQuick ? request : { ...request, options: { ...options, signal: limited.signal } });
    } finally {
      limited.end();
      ended();
    }
  },
};

/** Waits, where processes share the records of reads, until they have what the agent has seen; then the answer is given. */
export const noteReads: Stage = {
  isNeeded: ({ past }) => past.reads.areShared,
  run: (request, next) =>
    next(request).then((result) => {
      const noted = request.session.past.reads.settled();
      return noted === undefined ? result : noted.then(() => result);
    }),
};

/**
 * Adds to an answer how long the call waited for a slot or a walk, and the version that it saw; notes a change as one of
 * this workspace, by which a caller without a name finds its own.
 */
export const reporting: Stage = {
  async run(request, next) {
    const { session, known, facts } = request;
    let result = await next(request);
    if (result.ok && result.meta.call_id !== undefined)
      session.scheduling.running.changes.add(result.meta.call_id);
    const queuedMs = facts.waitedMs("slot", "scan");
    if (queuedMs !== undefined) result = { ...result, meta: { ...result.meta, queued_ms: queuedMs } };
    if (session.files.enterMoment !== undefined) {
      const version = facts.last("version")?.version;
      if (version !== undefined) result = { ...result, meta: { ...result.meta, version } };
    }
    debug.call?.(formatDebugLine(facts.last("meant")?.tool.name ?? known.name, facts, result));
    return result;
  },
};

function formatDebugLine(tool: string, facts: Facts, { error, meta }: ToolResult): string {
  const paths = (facts.last("located")?.locations ?? []).map(({ path }) => path).join(" ");
  const queued = meta.queued_ms === undefined ? "" : `, ${meta.queued_ms} ms of them queued`;
  return `${tool} ${paths}: ${error?.code ?? "OK"} in ${meta.duration_ms.toFixed(1)} ms${queued}`;
}
