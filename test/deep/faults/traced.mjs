// A program, and strace, which injects errors into its system calls.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

/** A command without an answer after this time hangs. */
const MAX_ANSWER_SECONDS = 20;
const MAX_TRACE_BYTES = 4_000_000;

/** The program that makes changes. It is used again until a case leaves something behind in it. */
export class Program {
  #child;
  #lines;
  #answers = [];
  #waiting;
  #end;
  /** The kinds of changes that it has made already, so that their modules are loaded. */
  warm = new Set();

  constructor() {
    this.#child = spawn(process.execPath, [join(import.meta.dirname, "program.mjs")], {
      stdio: ["pipe", "pipe", "pipe"],
      // One thread makes the calls of `node:fs`: strace counts the calls of each thread.
      env: { ...process.env, UV_THREADPOOL_SIZE: "1" },
    });
    this.#child.stdin.on("error", () => {});
    let errors = "";
    this.#child.stderr.on("data", (data) => {
      errors += data;
    });
    this.#lines = createInterface({ input: this.#child.stdout });
    this.#lines.on("line", (line) => {
      this.#answers.push(JSON.parse(line));
      this.#waiting?.();
    });
    this.#end = once(this.#child, "close").then(([code, signal]) => {
      this.ended = { ended: `${signal ?? code}: ${errors.slice(-2000)}` };
      this.#waiting?.();
    });
  }

  get pid() {
    return this.#child.pid;
  }

  /** Sends a command and returns its answer; `{ended}` when the program ended, `{hangs}` when there is none in time. */
  async ask(command) {
    this.#child.stdin.write(`${JSON.stringify(command)}\n`);
    const deadline = performance.now() + MAX_ANSWER_SECONDS * 1000;
    while (this.#answers.length === 0 && this.ended === undefined) {
      const left = deadline - performance.now();
      if (left <= 0) return { hangs: true };
      let timer;
      await new Promise((resume) => {
        this.#waiting = resume;
        timer = setTimeout(resume, left);
      });
      clearTimeout(timer);
    }
    return this.#answers.shift() ?? this.ended;
  }

  async kill() {
    this.#child.kill("SIGKILL");
    await this.#end;
  }
}

/** Traces a program while an action runs. Returns the lines of the trace. */
export async function traced(program, file, filters, action) {
  const options = ["-f", "-y", "-o", file, ...filters.flatMap((filter) => ["-e", filter])];
  const tracer = spawn("strace", [...options, "-p", `${program.pid}`], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  const end = once(tracer, "exit");
  await attached(tracer);
  try {
    await action();
  } finally {
    tracer.kill("SIGINT");
    await end;
  }
  return headOf(file).split("\n");
}

/** Waits until strace says that it is attached. Without that no error would be injected. */
async function attached(tracer) {
  const [said] = await once(tracer.stderr, "data");
  if (!`${said}`.includes("attached")) throw new Error(`strace: ${said}`);
}

/** Returns the beginning of a trace. That of a program in an endless loop has gigabytes. */
function headOf(file) {
  const buffer = Buffer.alloc(MAX_TRACE_BYTES);
  const descriptor = openSync(file, "r");
  try {
    return buffer.toString("utf8", 0, readSync(descriptor, buffer, 0, MAX_TRACE_BYTES, 0));
  } finally {
    closeSync(descriptor);
  }
}

/** Returns for each system call the largest number that any one thread made: strace counts by thread. */
export function countsOf(lines) {
  const byThread = new Map();
  for (const line of lines) {
    const [, thread, call] = /^(\d+) +([a-z]\w*)\(/u.exec(line) ?? [];
    if (call === undefined) continue;
    const counts = byThread.get(thread) ?? new Map();
    byThread.set(thread, counts.set(call, (counts.get(call) ?? 0) + 1));
  }
  const most = new Map();
  for (const counts of byThread.values())
    for (const [call, count] of counts) most.set(call, Math.max(most.get(call) ?? 0, count));
  return most;
}
