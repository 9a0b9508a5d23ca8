/**
 * Watches the process that has started a server over standard input and output. A client that ends closes the pipe, and
 * so ends the server; but where another process holds the pipe open as well, such as a sibling that has inherited it,
 * the server would run for ever.
 *
 * The process that started the server may be a launcher: `npx`, or the shell between. A launcher passes its input on and
 * does not write to it, so the chain of launchers is watched up to the client. On Linux a launcher is a process with the
 * same pipe as its standard input; elsewhere it is known by its command line, and on Windows there is none.
 *
 * A launcher may also end by itself and leave the pipe to its own parent, as programs do that put a server in the
 * background. Such a launcher ends at once, and a client that lives on sends its first message. So a server whose chain
 * breaks before the first message waits for one, and from then on trusts the pipe alone. A server without a parent, as
 * the first process of a container, is not watched.
 */
import { execFile } from "node:child_process";
import { fstatSync, readlinkSync } from "node:fs";
import { promisify } from "node:util";
import { isRunning, parentOfProcess } from "../../backends/node/process-identity.node.ts";
import type { Program } from "../program.ts";

/** The time in milliseconds between two looks at the processes. */
const POLL_MS = 1000;
/** The time in milliseconds for which a server whose launcher has ended waits for the first message. */
const MAX_SILENCE_MS = 5000;
/** The descriptor of standard input. */
const STDIN = 0;
/** The maximum number of processes between a server and its client. */
const MAX_LAUNCHERS = 8;

/** A process and the one that has started it. */
interface Link {
  readonly pid: number;
  readonly parent: number;
}

/** Calls `gone` once, when the client that writes to `stdin` has ended. Returns a function that stops watching. */
export function watchClientProcess({ stdin }: Program, gone: () => void): () => void {
  // A terminal, a file or nothing is no pipe that could stay open.
  if (process.ppid <= 1 || !isPipe(STDIN)) return () => undefined;
  let chain: readonly Link[] = [{ pid: process.pid, parent: process.ppid }];
  void chainToClient(chain[0] as Link).then((found) => {
    chain = found;
  });
  const isBroken = (): boolean => !chain.every(isIntact);
  /** The time at which the chain broke before the first message. */
  let silentSince: number | undefined;
  let hasSpoken = false;
  const timer = setInterval(() => {
    if (!isBroken()) return;
    silentSince ??= performance.now();
    if (hasSpoken || performance.now() - silentSince >= MAX_SILENCE_MS) end();
  }, POLL_MS);
  const end = (): void => {
    clearInterval(timer);
    gone();
  };
  stdin.once("data", () => {
    hasSpoken = true;
    // Whoever speaks now is not behind the launcher that has ended, so the pipe alone tells when it ends.
    if (isBroken()) clearInterval(timer);
  });
  timer.unref();
  return () => clearInterval(timer);
}

function isPipe(fd: number): boolean {
  try {
    const facts = fstatSync(fd);
    return facts.isFIFO() || facts.isSocket();
  } catch {
    return false;
  }
}

/** Returns true while a process has the parent that it had. */
function isIntact({ pid, parent }: Link): boolean {
  if (pid === process.pid && process.platform !== "win32") return process.ppid === parent;
  const now = process.platform === "linux" ? parentOfProcess(pid) : undefined;
  return now === undefined ? isRunning(parent) : now === parent;
}

/** Returns the links from this process to its client. */
async function chainToClient(first: Link): Promise<readonly Link[]> {
  const chain = [first];
  for (let last = first; chain.length <= MAX_LAUNCHERS; ) {
    const parent = await parentOfLauncher(last.parent);
    if (parent === undefined || parent <= 1) break;
    last = { pid: last.parent, parent };
    chain.push(last);
  }
  return chain;
}

/** Returns the parent of a process that passes its input on; undefined for one that does not. */
async function parentOfLauncher(pid: number): Promise<number | undefined> {
  if (process.platform === "linux")
    return inputOnLinux(pid) === inputOnLinux(process.pid) ? parentOfProcess(pid) : undefined;
  return process.platform === "win32" ? undefined : parentByName(pid);
}

function inputOnLinux(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/fd/0`);
  } catch {
    // The process has ended, or it is another user's, and so no launcher of ours.
    return undefined;
  }
}

/** A line of `ps` about a shell that runs one command, or about a package manager that runs a program. */
const LAUNCHER =
  /^\s*(\d+)\s+(?:\S*\/)?(?:(?:ba|da|z)?sh\s+-c\s|(?:npm|npx|pnpm|pnpx|yarn|bunx)\b|node\s+\S*\/(?:npm|npx|pnpm|yarn)\S*\s)/u;

/** Returns the parent of a launcher where the system does not show the files of a process, such as macOS. */
async function parentByName(pid: number): Promise<number | undefined> {
  try {
    const { stdout } = await promisify(execFile)("ps", ["-o", "ppid=,args=", "-p", String(pid)]);
    const [, parent] = LAUNCHER.exec(stdout) ?? [];
    return parent === undefined ? undefined : Number(parent);
  } catch {
    return undefined;
  }
}
