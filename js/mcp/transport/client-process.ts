/**
 * Watches the process that has started a server over standard input and output. A client that ends closes the pipe, and
 * so ends the server; but where another process holds the pipe open as well, such as a sibling that has inherited it,
 * the server would run for ever.
 *
 * The process that started the server may be a launcher: `npx`, or the shell between. A process with the same pipe as
 * its standard input passes it on and does not write to it, so the chain of these is watched up to the first one with
 * another input, which is the client.
 *
 * A launcher may also end by itself and leave the pipe to its own parent, as programs do that put a server in the
 * background. Such a launcher ends at once, and a client that lives on sends its first message. So a server whose chain
 * breaks before the first message waits for one, and from then on trusts the pipe alone. A server without a parent, as
 * the first process of a container, is not watched.
 */
import { execFile } from "node:child_process";
import { fstatSync, readFileSync, readlinkSync } from "node:fs";
import process from "node:process";
import { promisify } from "node:util";
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
  let hasSpoken = false;
  stdin.once("data", () => {
    hasSpoken = true;
  });
  let chain: readonly Link[] = [{ pid: process.pid, parent: process.ppid }];
  void chainToClient(chain[0] as Link).then((found) => {
    chain = found;
  });
  /** The time at which the chain broke before the first message. */
  let silentSince: number | undefined;
  const timer = setInterval(() => {
    if (silentSince === undefined) {
      if (chain.every(isIntact)) return;
      if (hasSpoken) return end();
      silentSince = performance.now();
    } else if (hasSpoken) clearInterval(timer);
    else if (performance.now() - silentSince >= MAX_SILENCE_MS) end();
  }, POLL_MS);
  const end = (): void => {
    clearInterval(timer);
    gone();
  };
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
  const now = process.platform === "linux" ? parentOnLinux(pid) : undefined;
  return now === undefined ? isRunning(parent) : now === parent;
}

/** Returns false for a pid that no process has. */
function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // EPERM: the process is another user's.
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
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
    return inputOnLinux(pid) === inputOnLinux(process.pid) ? parentOnLinux(pid) : undefined;
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

function parentOnLinux(pid: number): number | undefined {
  try {
    const line = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The name of the program is in parentheses and may contain any character.
    const parent = Number(line.slice(line.lastIndexOf(")") + 2).split(" ")[1]);
    return Number.isSafeInteger(parent) ? parent : undefined;
  } catch {
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
