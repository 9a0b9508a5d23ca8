/**
 * Over a storage, a call works on a stage of its own: it reads what it names in one round trip and changes everything
 * by one commit. Where it was decided on states that it had assumed and not read, it is made once more without that.
 */
import type { ToolResult } from "../pipeline/result.ts";
import { isWrongAssumption, withStage } from "../pipeline/staged.ts";
import type { CallRequest, Next, Stage } from "./call.ts";

export const optimism: Stage = {
  isNeeded: ({ staging }) => staging.stages !== undefined,
  run: (request, next) => runStaged(request, next, true),
};

async function runStaged(request: CallRequest, next: Next, mayAssume: boolean): Promise<ToolResult> {
  const session = withStage(request.session, mayAssume);
  try {
    return await next({ ...request, session });
  } catch (thrown) {
    if (!isWrongAssumption(session, thrown)) throw thrown;
  } finally {
    session.staging.stage?.end();
  }
  return runStaged(request, next, false);
}
