/**
 * Runs the program of a sandbox, such as bubblewrap, which confines a command and then runs it. Waits until its
 * whole process group has ended.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { constants } from "node:os";
import { makeError } from "../../engine/errors.ts";
import { checkSignal } from "../failure.ts";
import type { SandboxCommand, SandboxOutcome } from "./sandbox.ts";

/** The variables of the host's environment that commands inherit. */
const INHERITED_VARIABLES = ["PATH", "HOME", "LANG", "LC_ALL", "TZ", "USER", "SHELL"];
/**
 * How long to wait for more output after the command has ended, in milliseconds: a process that left its group may
 * hold the pipe open.
 */
const MAX_OUTPUT_DRAIN_MS = 500;

/** Returns the part of the host's environment that commands inherit. */
export function inheritedEnv(): Readonly<Record<string, string>> {
  return Object.fromEntries(
    INHERITED_VARIABLES.flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value] as const];
    }),
  );
}

/**
 * Runs `argv` instead of the command's own, which it contains.
 * @throws FilewrightError NOT_FOUND, PERMISSION_DENIED, IO_ERROR, CANCELLED
 */
export async function runProcess(argv: readonly string[], command: SandboxCommand): Promise<SandboxOutcome> {
  checkSignal(command.signal, command.cwd);
  const [program = "", ...rest] = argv;
  const child = spawn(program, rest, {
    cwd: command.cwd,
    env: { ...inheritedEnv(), ...command.env },
    stdio: ["ignore", "pipe", "pipe"],
    // The command gets its own process group, which is ended as one.
    detached: true,
  });
  const [out, err] = [
    captureOutput(child.stdout, command.maxOutputBytes),
    captureOutput(child.stderr, command.maxOutputBytes),
  ];
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    killGroup(child);
  }, command.timeoutMs);
  const abort = (): void => killGroup(child);
  command.signal?.addEventListener("abort", abort, { once: true });
  try {
    const [code, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve, reject) => {
      child.once("error", (error: NodeJS.ErrnoException) => reject(startError(program, error)));
      child.once("exit", (exit, by) => resolve([exit, by]));
    });
    // Kills the process group, because the command may have left background processes running.
    killGroup(child);
    await Promise.race([
      Promise.all([out.ended, err.ended]),
      new Promise((resolve) => setTimeout(resolve, MAX_OUTPUT_DRAIN_MS).unref()),
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

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch {
    // The process group has no process left, which is the goal.
  }
}

interface CappedOutput {
  readonly ended: Promise<void>;
  more(): boolean;
  text(): string;
}

/** Keeps the first `most` bytes of a stream and discards the rest. */
function captureOutput(stream: NodeJS.ReadableStream, most: number): CappedOutput {
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

function startError(program: string, error: NodeJS.ErrnoException): Error {
  const codes = { ENOENT: "NOT_FOUND", EACCES: "PERMISSION_DENIED" } as const;
  const code = codes[error.code as keyof typeof codes] ?? "IO_ERROR";
  return makeError(code, `${program} cannot be run: ${error.code ?? "it failed"}`, {});
}
