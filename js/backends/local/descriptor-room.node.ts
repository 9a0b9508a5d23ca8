/**
 * Lets fewer changes run at once where a process may have few descriptors: each holds a lock, a record of the journal
 * and files, and a change that finds no descriptor in its middle fails, and so does its rollback.
 */
import { readdirSync, readFileSync } from "node:fs";
import { MAX_TIMER_MS } from "../path-locker.ts";

/** The limit of descriptors from which changes are not counted: calls never need as many. */
const AMPLE_DESCRIPTORS = 8192;
/** The descriptors that a change may need. */
const DESCRIPTORS_PER_CHANGE = 8;
/** The descriptors that are left for reads and for the host. */
const SPARE_DESCRIPTORS = 24;

/**
 * Returns the number of descriptors that this process may have; infinity where it is not known, or ample. Only Linux
 * tells it; Node has raised it as far as it may.
 */
function descriptorLimit(): number {
  try {
    const found = /^Max open files\s+(\d+)/mu.exec(readFileSync("/proc/self/limits", "utf8"));
    const limit = found === null ? Number.POSITIVE_INFINITY : Number(found[1]);
    return limit >= AMPLE_DESCRIPTORS ? Number.POSITIVE_INFINITY : limit;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** Read once, before any disk can fail: Node ends the process when it cannot close a file that it reads at once. */
const limit = descriptorLimit();
let running = 0;
const waiting: (() => void)[] = [];

function hasRoom(): boolean {
  if (running === 0) return true;
  try {
    const open = readdirSync("/proc/self/fd").length;
    return limit - open - running * DESCRIPTORS_PER_CHANGE >= SPARE_DESCRIPTORS;
  } catch {
    return false; // There was not even one for the directory.
  }
}

function start(): () => void {
  running += 1;
  let isOver = false;
  return () => {
    if (isOver) return;
    isOver = true;
    running -= 1;
    while (waiting.length > 0 && hasRoom()) (waiting[0] as () => void)();
  };
}

/**
 * Waits until there are descriptors for one more change, but at most `timeoutMs`, and counts the change. Returns the
 * function that ends it. The wait also ends when the signal aborts.
 */
function takeRoom(wait: {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}): (() => void) | Promise<() => void> {
  if (waiting.length === 0 && hasRoom()) return start();
  return new Promise((resolve) => {
    const begin = (): void => {
      clearTimeout(timer);
      wait.signal?.removeEventListener("abort", begin);
      waiting.splice(waiting.indexOf(begin), 1);
      resolve(start());
    };
    const timer = setTimeout(begin, Math.min(wait.timeoutMs, MAX_TIMER_MS));
    wait.signal?.addEventListener("abort", begin, { once: true });
    waiting.push(begin);
  });
}

/** The room of a change where descriptors may be few; undefined where they are not, or where their number is not known. */
export const takeDescriptorRoom: typeof takeRoom | undefined = Number.isFinite(limit) ? takeRoom : undefined;
