/** Runs the hooks after a call. They may add to its answer, and change the files that it wrote. */
import { FilewrightError } from "../engine/errors.ts";
import { hooksFor, runAfterHooksOnResult } from "../hooks/run.ts";
import { withHookChanges } from "../pipeline/after-hooks.ts";
import type { ToolResult } from "../pipeline/result.ts";
import { hookCallFactsOf } from "./before-hooks.ts";
import type { CallRequest, Stage } from "./call.ts";
import { answerOf } from "./failures.ts";

export const afterHooks: Stage = {
  isNeeded: ({ hooks }) => hooks.bound.length > 0,
  async run(request, next) {
    const result = await next(request);
    try {
      return await runAfterHooks(request, result);
    } catch (error) {
      return answerOfEnded(request, result, error);
    }
  },
};

/** Runs the hooks after a call, or after an operation of a batch, and returns its result as they leave it. */
export async function runAfterHooks(request: CallRequest, result: ToolResult): Promise<ToolResult> {
  const { session, known, presetCall, facts, options, limited } = request;
  const meant = facts.last("meant");
  const tool = meant?.tool.name ?? known.name;
  const calledAs = presetCall?.tool.name;
  const hooks = hooksFor(session.hooks.bound, "after", tool, calledAs);
  if (hooks.length === 0) return result;
  const subject = hookCallFactsOf(tool, calledAs, { ...options, signal: limited.signal });
  const { duration_ms: durationMs } = result.meta;
  const { onError } = session.hooks;
  const run = (): Promise<ToolResult> =>
    runAfterHooksOnResult(hooks, { subject, args: meant?.raw ?? {}, durationMs, onError }, result);
  const ran = facts.last("ran");
  return ran === undefined ? run() : withHookChanges(ran.call, result, run);
}

/** Returns the answer of a call whose hooks broke off. A change of it stands, and keeps the id by which it is undone. */
async function answerOfEnded(request: CallRequest, result: ToolResult, cause: unknown): Promise<ToolResult> {
  const { meta } = result;
  const isMade = result.ok && (request.facts.last("meant")?.tool ?? request.known).kind !== "read";
  const thrown = isMade
    ? new FilewrightError(
        "INTERNAL",
        "The call was made and stands, and its hooks failed unexpectedly. Please report it.",
        { complete: true, cause },
      )
    : cause;
  return { ...(await answerOf(request, thrown)), meta };
}
