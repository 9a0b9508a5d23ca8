/** What an agent has seen is kept before its next call begins. */
import type { Stage } from "./call.ts";

export const noteReads: Stage = {
  needs: undefined,
  async run(request, next) {
    const result = await next(request);
    const noted = request.session.reads.settled();
    // Avoids waiting where the notes are in memory.
    if (noted !== undefined) await noted;
    return result;
  },
};
