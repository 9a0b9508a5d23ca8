/** What an agent has seen is kept before its next call begins. */
import type { Stage } from "./call.ts";

export const noteReads: Stage = {
  isNeeded: ({ past }) => past.reads.areShared,
  run: (request, next) =>
    next(request).then((result) => {
      const noted = request.session.past.reads.settled();
      return noted === undefined ? result : noted.then(() => result);
    }),
};
