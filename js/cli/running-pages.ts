/** Tries the addresses on this machine at which the questions of this person may wait. */
import { FilewrightError } from "../engine/errors.ts";
import { DEFAULT_PORT } from "../mcp/command.ts";
import { isNothingThere } from "./approver-requests.ts";
import { forgetPagePort, notedPagePorts } from "../review/shared/owner-key.node.ts";
import { DEFAULT_REVIEW_PORT } from "../schema/command-line.node.ts";

/**
 * Tries the addresses at which review pages of this person may run, that of the default port of the page first, and then
 * the default port of `filewright serve`. Returns the first success.
 * @param attempt asks at an address; `isPage` is false for the port of `filewright serve`, which has a queue
 * @param notFound the message when no address succeeds
 * @throws FilewrightError PERMISSION_DENIED when one refused the request, otherwise NOT_FOUND
 */
export async function tryRunningPages<T>(
  attempt: (base: string, isPage: boolean) => Promise<T>,
  notFound: string,
): Promise<T> {
  let firstRefusal: FilewrightError | undefined;
  for (const port of [...pagePorts(), DEFAULT_PORT]) {
    try {
      return await attempt(`http://127.0.0.1:${port}`, port !== DEFAULT_PORT);
    } catch (error) {
      if (!(error instanceof FilewrightError)) throw error;
      if (error.code === "PERMISSION_DENIED") firstRefusal ??= error;
      // A process that was killed has left its note.
      else if (isNothingThere(error)) forgetPagePort(port);
    }
  }
  throw firstRefusal ?? new FilewrightError("NOT_FOUND", notFound, { complete: true });
}

/** Returns the default port of the page, and the noted ports of others. */
function pagePorts(): ReadonlySet<number> {
  return new Set([DEFAULT_REVIEW_PORT, ...notedPagePorts().filter((port) => port !== DEFAULT_PORT)]);
}
