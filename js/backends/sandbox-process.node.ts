/**
 * A command from its start to the end of its whole group of processes, for sandboxes
 * that are programs put before it. What keeps it in is theirs.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { constants } from "node:os";
import process from "node:process";
import { makeError } from "../engine/errors.ts";
import { checkSignal } from "./failure.ts";
import type { SandboxCommand, SandboxOutcome } from "./sandbox.ts";

/** Of the host's environment, what commands are given. */
const INHERITED = ["PATH", "HOME", "LANG", "LC_ALL", "TZ", "USER", "SHELL"];
/** How long output is waited for once the command has ended: who left its group may hold the pipe. */
const DRAIN_MS = 500;

/** What commands are given of the host's environment. */
export function inheritedEnv(): Readonly<Record<string, string>> {
  return Object.fromEntries(
    INHERITED.flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value] as const];
    }),
  );
}

/**
 * Runs `argv` in place of the command's own, which it contains.
 * @throws FilewrightError NOT_FOUND, PERMISSION_DENIED, IO_ERROR, CANCELLED
 */
export async function runProcess(argv: readonly string[], command: SandboxCommand): Promise<SandboxOutcome> {
  checkSignal(command.signal, command.cwd);
  const [program = "", ...rest] = argv;
  const child = spawn(program, rest, {
    cwd: command.cwd,
    env: { ...inheritedEnv(), ...command.env },
    stdio: ["ignore", "pipe", "pipe"],
    // A group of its own, which ends as one.
    detached: true,
  });
  const [out, err] = [keep(child.stdout, command.maxOutputBytes), keep(child.stderr, command.maxOutputBytes)];
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    end(child);
  }, command.timeoutMs);
  const abort = (): void => end(child);
  command.signal?.addEventListener("abort", abort, { once: true });
  try {
    const [code, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve, reject) => {
      child.once("error", (error: NodeJS.ErrnoException) => reject(refused(program, error)));
      child.once("exit", (exit, by) => resolve([exit, by]));
    });
    // Whatever it has left running ends with it.
    end(child);
    await Promise.race([
      Promise.all([out.ended, err.ended]),
      new Promise((resolve) => setTimeout(resolve, DRAIN_MS).unref()),
    ]);
    if (!timedOut) checkSignal(command.signal, command.cwd);
    return {
      exitCode: timedOut ? null : code,
      signal: signal === null || timedOut ? null : constants.signals[signal],
      timedOut,
      truncated: out.more() || err.more(),
      stdout: out.text(),
      stderr: err.text(),
    };
  } finally {
    clearTimeout(timer);
    command.signal?.removeEventListener("abort", abort);
  }
}

function end(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch {
    // Nobody left to end is what is hoped for.
  }
}

interface Kept {
  readonly ended: Promise<void>;
  more(): boolean;
  text(): string;
}

/** Keeps the beginning of a stream and reads the rest away. */
function keep(stream: NodeJS.ReadableStream, most: number): Kept {
  const chunks: Buffer[] = [];
  let [size, more] = [0, false];
  stream.on("data", (chunk: Buffer) => {
    const kept = chunk.subarray(0, most - size);
    if (kept.length > 0) chunks.push(kept);
    size += kept.length;
    more ||= kept.length < chunk.length;
  });
  const ended = new Promise<void>((resolve) => {
    stream.once("close", resolve);
  });
  return { ended, more: () => more, text: () => Buffer.concat(chunks).toString("utf8") };
}

function refused(program: string, error: NodeJS.ErrnoException): Error {
  const codes = { ENOENT: "NOT_FOUND", EACCES: "PERMISSION_DENIED" } as const;
  const code = codes[error.code as keyof typeof codes] ?? "IO_ERROR";
  return makeError(code, `${program} cannot be run: ${error.code ?? "it failed"}`, {});
}
