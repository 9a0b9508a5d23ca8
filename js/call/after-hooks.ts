/** Runs the hooks after a call. They may add to its answer, and change the files that it wrote. */
import { hooksFor, runAfterHooksOnResult } from "../hooks/run.ts";
import { withHookChanges } from "../pipeline/after-hooks.ts";
import { hookCallFactsOf } from "../pipeline/before-hooks.ts";
import type { ToolResult } from "../pipeline/result.ts";
import type { Stage } from "./call.ts";

export const afterHooks: Stage = {
  isNeeded: ({ hooks }) => hooks.bound.length > 0,
  async run(request, next) {
    const { session, known, presetCall, facts, options, limited } = request;
    const result = await next(request);
    const meant = facts.last("meant");
    const tool = meant?.tool.name ?? known.name;
    const calledAs = presetCall?.tool.name;
    const hooks = hooksFor(session.hooks.bound, "after", tool, calledAs);
    const subject = hookCallFactsOf(tool, calledAs, { ...options, signal: limited.signal });
    const { duration_ms: durationMs } = result.meta;
    const { onError } = session.hooks;
    const run = (): Promise<ToolResult> =>
      runAfterHooksOnResult(hooks, { subject, args: meant?.raw ?? {}, durationMs, onError }, result);
    const ran = facts.last("ran");
    return hooks.length === 0 || ran === undefined ? run() : withHookChanges(ran.call, result, run);
  },
};
