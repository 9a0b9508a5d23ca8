/**
 * The identity of a process, by which another one sees that it has ended. It has the same form as in
 * `crates/fs/src/process.rs`, so that both clean up after each other.
 */
import { createHash } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import process from "node:process";

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
function startTimeOf(pid: number): number | undefined {
  try {
    const line = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The name of the program is in parentheses and may contain any character.
    const started = Number(line.slice(line.lastIndexOf(")") + 2).split(" ")[19]);
    return Number.isSafeInteger(started) ? started : undefined;
  } catch {
    return undefined;
  }
}

/** Returns whether a process has ended; undefined when its pid is of another boot, machine or container. */
export function hasEnded({ realm, pid, started }: ProcessIdentity): boolean | undefined {
  if (realm !== ownIdentity().realm) return undefined;
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as { readonly code?: unknown }).code === "ESRCH") return true;
  }
  const now = startTimeOf(pid);
  return started !== 0 && now !== undefined && now !== started;
}
