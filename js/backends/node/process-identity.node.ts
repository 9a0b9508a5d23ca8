/**
 * The identity of a process, by which another one sees that it has ended. It has the same form as in
 * `crates/fs/src/process.rs`, so that both clean up after each other.
 */
import { createHash } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import { isMainThread } from "node:worker_threads";

/** The identity of a process. */
export interface ProcessIdentity {
  /** A hash of the boot and the pid namespace, eight digits: pids can only be compared in one realm. */
  readonly realm: string;
  readonly pid: number;
  /** The time of its start in clock ticks since boot; 0 where the system does not report it. */
  readonly started: number;
}

let own: ProcessIdentity | undefined;

/** Returns the identity of this process. */
export function ownIdentity(): ProcessIdentity {
  own ??= Object.freeze({ realm: ownRealm(), pid: process.pid, started: startTimeOf(process.pid) ?? 0 });
  return own;
}

/**
 * Returns the identity of a thread of this process, under which it holds what nobody else may release: a worker can be
 * terminated while its process goes on. On Linux a thread has a pid and a start time of its own. Elsewhere nobody can
 * tell whether a worker has ended, so its realm is one that no process has, and only its silence counts.
 */
export function threadIdentity(isWorker: boolean, pid: number | undefined): ProcessIdentity {
  const identity = ownIdentity();
  if (!isWorker) return identity;
  const started = pid === undefined ? undefined : startTimeOf(pid);
  if (pid !== undefined && started !== undefined) return Object.freeze({ ...identity, pid, started });
  const realm = createHash("sha256").update(`worker ${identity.realm}`).digest("hex").slice(0, 8);
  return Object.freeze({ ...identity, realm });
}

let ownThread: ProcessIdentity | undefined;

/** Returns the identity of the thread that calls. */
export function ownThreadIdentity(): ProcessIdentity {
  ownThread ??= threadIdentity(!isMainThread, ownThreadId());
  return ownThread;
}

/** Returns the pid that Linux gives to the calling thread; undefined where it cannot be read. */
function ownThreadId(): number | undefined {
  try {
    const [, owner, thread] = /^(\d+)\/task\/(\d+)$/u.exec(readlinkSync("/proc/thread-self")) ?? [];
    // A procfs of another pid namespace has other numbers.
    return owner === String(process.pid) ? Number(thread) : undefined;
  } catch {
    return undefined;
  }
}

function ownRealm(): string {
  let boot = Buffer.alloc(0);
  let space = "";
  try {
    boot = readFileSync("/proc/sys/kernel/random/boot_id");
    space = readlinkSync("/proc/self/ns/pid");
  } catch {
    // Without procfs the pids of one machine are taken as comparable.
    if (boot.length === 0) boot = Buffer.from(`host ${hostname()}`);
  }
  return createHash("sha256").update(boot).update(space).digest("hex").slice(0, 8);
}

/** Returns the time of the start of a process; undefined where it cannot be read. */
const startTimeOf = (pid: number): number | undefined => statFieldOf(pid, 22);

/** Returns the pid of the parent of a process; undefined where it cannot be read. */
export const parentOfProcess = (pid: number): number | undefined => statFieldOf(pid, 4);

/** Returns a field of `/proc/PID/stat` by its number in proc_pid_stat(5); undefined outside Linux, or for no process. */
function statFieldOf(pid: number, field: number): number | undefined {
  try {
    const line = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The name of the program, field 2, is in parentheses and may contain any character.
    const value = Number(line.slice(line.lastIndexOf(")") + 2).split(" ")[field - 3]);
    return Number.isSafeInteger(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Returns false for a pid that no process has. */
export function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // EPERM: the process is another user's.
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}

/** Returns whether a process, or a thread of one, has ended; undefined when its pid is of another boot, machine or container. */
export function hasEnded({ realm, pid, started }: ProcessIdentity): boolean | undefined {
  if (realm !== ownIdentity().realm) return undefined;
  if (!isRunning(pid)) return true;
  const now = startTimeOf(pid);
  return started !== 0 && now !== undefined && now !== started;
}
