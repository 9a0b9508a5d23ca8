/**
 * Adds to an answer how long the call waited for a slot or a walk, and the version that it saw; notes a change as one of
 * this workspace, by which a caller without a name finds its own.
 */
import { debug } from "../engine/debug.ts";
import type { Facts } from "../pipeline/facts.ts";
import type { ToolResult } from "../pipeline/result.ts";
import type { Stage } from "./call.ts";

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
