/** Waits, where processes share the records of reads, until they have what the agent has seen; then the answer is given. */
import type { Stage } from "./call.ts";

export const noteReads: Stage = {
  isNeeded: ({ past }) => past.reads.areShared,
  run: (request, next) =>
    next(request).then((result) => {
      const noted = request.session.past.reads.settled();
      return noted === undefined ? result : noted.then(() => result);
    }),
};
