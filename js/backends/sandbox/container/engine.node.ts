/**
 * The programs of container engines, docker and podman. They are called as programs and not over the HTTP interface of
 * a daemon: podman has none by default, and a program knows the contexts and sockets that its user has set up.
 */
import { runProcess } from "../sandbox-process.node.ts";
import type { SandboxCommand, SandboxOutcome } from "../sandbox.ts";
import { FilewrightError, makeError } from "../../../engine/errors.ts";

/** The engines whose programs are known. */
export type EngineName = "docker" | "podman";

/** An engine that answers. */
export interface ContainerEngine {
  readonly name: EngineName;
  /** True when the engine runs without root: the user of the host is root inside its containers. */
  readonly rootless: boolean;
  /** Runs the program with these arguments. */
  call(args: readonly string[]): Promise<SandboxOutcome>;
  /** Starts a container and returns its output. The exit code is that of the program, not of the container. */
  attach(container: string, command: SandboxCommand): Promise<SandboxOutcome>;
}

/** The state of a container. */
export interface ContainerState {
  /** The stage of its life, such as `created`, `running` or `exited`. */
  readonly status: string;
  readonly exitCode: number;
  readonly ranOutOfMemory: boolean;
  /** The message of the engine where it could not start the container; else empty. */
  readonly error: string;
}

/** How long one call of an engine may take, in milliseconds; an image may have to be unpacked. */
const MAX_CALL_MS = 60_000;
/** How much output of one call is kept, in bytes. */
const MAX_CALL_BYTES = 1024 * 1024;

/**
 * Returns the engine that the options name, or the first one that answers.
 * @throws FilewrightError SANDBOX_SETUP_FAILED where none answers
 */
export async function findEngine(
  wanted: "auto" | EngineName,
  program: string | undefined,
): Promise<ContainerEngine> {
  const names: readonly EngineName[] = wanted === "auto" ? ["docker", "podman"] : [wanted];
  const reasons: string[] = [];
  for (const name of names) {
    const found = await askEngine(name, program ?? name);
    if (typeof found !== "string") return found;
    reasons.push(`${name}: ${found}`);
  }
  throw new FilewrightError(
    "SANDBOX_SETUP_FAILED",
    `No container engine can be used: ${reasons.join("; ")}.`,
    {
      complete: true,
      hint: "install and start docker or podman, or name its program with the option program",
    },
  );
}

/** Returns the engine behind a program, or the reason why it cannot be used. */
async function askEngine(name: EngineName, program: string): Promise<ContainerEngine | string> {
  const call = (args: readonly string[], more: Partial<SandboxCommand> = {}): Promise<SandboxOutcome> =>
    runProcess([program, ...args], {
      argv: [],
      cwd: "/",
      env: ownEnv(),
      timeoutMs: MAX_CALL_MS,
      maxOutputBytes: MAX_CALL_BYTES,
      ...more,
    });
  // Podman has `.host`, and a program `docker` that is podman's own has it, too.
  const asked = await call(["info", "--format", "{{json .}}"]).catch((error: unknown) => error);
  if (asked instanceof FilewrightError) return asked.message;
  const { exitCode, stdout, stderr } = asked as SandboxOutcome;
  if (exitCode !== 0) return firstLine(stderr) || `it exited with ${exitCode}`;
  const info = parseObject(stdout);
  const host = Object(info?.["host"]) as Readonly<Record<string, unknown>>;
  const security = Object(host["security"]) as Readonly<Record<string, unknown>>;
  const isPodman = typeof security["rootless"] === "boolean";
  const system = isPodman ? host["os"] : info?.["OSType"];
  if (system !== "linux") return "it does not answer as a container engine for Linux";
  const options = Array.isArray(info?.["SecurityOptions"]) ? info["SecurityOptions"] : [];
  return Object.freeze<ContainerEngine>({
    name: isPodman ? "podman" : name,
    rootless: isPodman ? security["rootless"] === true : options.includes("name=rootless"),
    call,
    attach: (container, { timeoutMs, maxOutputBytes, signal }) =>
      call(["start", "--attach", container], { timeoutMs, maxOutputBytes, signal }),
  });
}

/** @throws FilewrightError IO_ERROR where the engine does not tell it */
export async function readState(engine: ContainerEngine, container: string): Promise<ContainerState> {
  const args = ["container", "inspect", "--format", "{{json .State}}", container];
  const { exitCode, stdout, stderr } = await engine.call(args);
  const state = exitCode === 0 ? parseObject(stdout) : undefined;
  const { Status: status, ExitCode: code, OOMKilled: oom, Error: error } = state ?? {};
  if (typeof status !== "string" || !Number.isSafeInteger(code)) {
    const why = exitCode === 0 ? "its answer is not the state of a container" : firstLine(stderr);
    throw makeError("IO_ERROR", `${engine.name} does not tell how the command ended: ${why}`, {
      hint: "the command was ended; look at what it changed before you run it again",
    });
  }
  return {
    status,
    exitCode: code as number,
    ranOutOfMemory: oom === true,
    error: typeof error === "string" ? error : "",
  };
}

/** Ends a container at once and removes it. Returns false if it may be left running. */
export async function removeContainer(engine: ContainerEngine, container: string): Promise<boolean> {
  // Podman's removal alone would first ask the command to end, and wait ten seconds for it.
  await engine.call(["kill", "--signal", "KILL", container]).catch(() => {});
  const { exitCode, stderr } = await engine
    .call(["rm", "--force", "--volumes", container])
    .catch(() => ({ exitCode: null, stderr: "" }));
  return exitCode === 0 || /no such container/iu.test(stderr);
}

/** Removes a container whose command has ended. */
export async function removeEndedContainer(engine: ContainerEngine, container: string): Promise<void> {
  // A container that is left behind runs nothing, so this is no failure of the command.
  await engine.call(["rm", "--force", "--volumes", container]).catch(() => {});
}

/** Returns the first line of a text of an engine, bounded, for a message. */
export function firstLine(text: string): string {
  return (text.trim().split("\n", 1)[0] ?? "").slice(0, 300);
}

/** Returns the environment of the engine's own program, which finds its socket and its settings by it. */
function ownEnv(): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null
      ? (value as Readonly<Record<string, unknown>>)
      : undefined;
  } catch {
    return undefined;
  }
}
