/** Makes an answer of an error, in the words and names of the caller. */
import { answerOfRefusal } from "../hooks/confirm.ts";
import { HookException } from "../hooks/run.ts";
import { failureResult } from "../pipeline/answer.ts";
import type { Stage } from "./call.ts";

export const words: Stage = {
  needs: undefined,
  async run(request, next) {
    try {
      return await next(request);
    } catch (thrown) {
      if (thrown instanceof HookException) throw thrown.what;
      const { session, known, facts } = request;
      facts.tell({ what: "failed", by: answerOfRefusal(thrown) });
      const { tool = known, meant, callId = "" } = facts.last("meant") ?? {};
      const { uses = [], locations = [] } = facts.last("located") ?? {};
      const fs = facts.last("sees")?.fs;
      const { started } = facts;
      return failureResult(session, { tool, thrown, uses, locations, started, meant, fs, callId });
    }
  },
};
