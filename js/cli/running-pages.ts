/** Tries the addresses on this machine at which the questions of this person may wait. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { defaultStateDir } from "../backends/state-directory.node.ts";
import { FilewrightError } from "../engine/errors.ts";
import { DEFAULT_PORT } from "../mcp/command.ts";
import { DEFAULT_REVIEW_PORT } from "../schema/command-line.node.ts";

/** The sockets at which processes join a page are `PORT.sock` in this directory of the state directory. */
const SOCKET_DIRECTORY = "review";

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
    }
  }
  throw firstRefusal ?? new FilewrightError("NOT_FOUND", notFound, { complete: true });
}

/** Returns the default port of the page and the ports of the sockets. A socket may be left by a process that was killed. */
function pagePorts(): ReadonlySet<number> {
  let names: readonly string[] = [];
  try {
    names = readdirSync(join(defaultStateDir(), SOCKET_DIRECTORY));
  } catch {
    // Without sockets there may still be a page: where processes cannot share one, it has no socket.
  }
  const ports = names.map((name) => Number(/^(\d{1,5})\.sock$/u.exec(name)?.[1]));
  return new Set([DEFAULT_REVIEW_PORT, ...ports.filter((port) => port > 0 && port !== DEFAULT_PORT)]);
}
