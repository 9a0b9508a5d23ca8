/** Makes an answer of an error, in the words and names of the caller. */
import { answerOfRefusal } from "../hooks/confirm.ts";
import { HookException } from "../hooks/run.ts";
import { failureResult } from "../pipeline/answer.ts";
import type { Failure } from "../pipeline/result.ts";
import type { CallRequest, Stage } from "./call.ts";

export const words: Stage = {
  run: (request, next) => next(request).catch((thrown: unknown) => answerOf(request, thrown)),
};

/** Returns the answer of a call that failed, also outside this stage. @throws what a hook raised */
export async function answerOf(
  { session, known, facts, limited }: CallRequest,
  error: unknown,
): Promise<Failure> {
  if (error instanceof HookException) throw error.what;
  const thrown = limited.told(error);
  facts.tell({ what: "failed", by: answerOfRefusal(thrown) });
  const { tool = known, meant, callId = "" } = facts.last("meant") ?? {};
  const { uses = [], locations = [] } = facts.last("located") ?? {};
  const fs = facts.last("sees")?.fs;
  const { started } = facts;
  return failureResult(session, { tool, thrown, uses, locations, started, meant, fs, callId });
}
