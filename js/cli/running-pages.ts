/** Finds the review pages of this person on this machine. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { defaultStateDir } from "../backends/state-directory.node.ts";
import { FilewrightError } from "../engine/errors.ts";
import { DEFAULT_PORT } from "../mcp/command.ts";
import { DEFAULT_REVIEW_PORT } from "../schema/command-line.node.ts";

/** The sockets at which processes join a page are `PORT.sock` in this directory of the state directory. */
const SOCKET_DIRECTORY = "review";

/**
 * Tries the addresses at which pages of this person may run, the one of the default port first, and then that of
 * `filewright serve`. Returns the first success. @throws FilewrightError PERMISSION_DENIED when one refused the token,
 * otherwise NOT_FOUND with `nothing`
 */
export async function tryRunningPages<T>(
  attempt: (base: string, isPage: boolean) => Promise<T>,
  nothing: string,
): Promise<T> {
  let refused: FilewrightError | undefined;
  for (const port of [...pagePorts(), DEFAULT_PORT]) {
    try {
      return await attempt(`http://127.0.0.1:${port}`, port !== DEFAULT_PORT);
    } catch (error) {
      if (!(error instanceof FilewrightError)) throw error;
      if (error.code === "PERMISSION_DENIED") refused ??= error;
    }
  }
  throw refused ?? new FilewrightError("NOT_FOUND", nothing, { complete: true });
}

/** Returns the default port and those of the sockets. A socket may be left by a process that was killed. */
function pagePorts(): ReadonlySet<number> {
  let names: readonly string[] = [];
  try {
    names = readdirSync(join(defaultStateDir(), SOCKET_DIRECTORY));
  } catch {
    // Without sockets there may still be a page: on some systems processes do not share one.
  }
  const ports = names.map((name) => Number(/^(\d{1,5})\.sock$/u.exec(name)?.[1]));
  return new Set([DEFAULT_REVIEW_PORT, ...ports.filter((port) => port > 0 && port !== DEFAULT_PORT)]);
}
