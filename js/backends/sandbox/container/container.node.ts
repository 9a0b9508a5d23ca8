/**
 * A sandbox in containers: each command runs in a container of its own, which docker or podman makes from a local
 * image. It sees the roots of the workspace at their own paths, and covers what the policy hides or protects by mounts.
 */
import { randomUUID } from "node:crypto";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isWithin } from "../../paths.ts";
import { checkSignal } from "../../failure.ts";
import { coverMounts, type CoverMount, makeCoverFiles, sortedByPath } from "../sandbox-covers.node.ts";
import { nativeLimits, sandboxAddon, scanPlaces, type ScanResult } from "../sandbox-native.node.ts";
import { entryKind, realPathOrNone } from "../sandbox-places.node.ts";
import { runWithCleanup } from "../sandbox-running.node.ts";
import {
  COMMAND_LIMITS,
  type CommandLimits,
  type CommandPolicy,
  type SandboxCommand,
  type SandboxOutcome,
  type SandboxProvider,
  type SandboxStatus,
} from "../sandbox.ts";
import { FilewrightError, makeError } from "../../../engine/errors.ts";
import {
  choice,
  flag,
  optionChecker,
  type Options,
  options as described,
  required,
  text,
} from "../../../schema/option.ts";
import {
  type ContainerEngine,
  type ContainerState,
  findEngine,
  firstLine,
  readState,
  removeContainer,
  removeEndedContainer,
} from "./engine.node.ts";

/** How {@link containerSandbox} is made. */
export interface ContainerSandboxOptions {
  /** The engine. Default `auto`: docker, or podman where docker does not answer. */
  readonly engine?: "auto" | "docker" | "podman" | undefined;
  /** The name or path of the engine's program. Default: the name of the engine. */
  readonly program?: string | undefined;
  /** The image, with `/bin/sh`. It must be on this machine: nothing is pulled. */
  readonly image: string;
  /** With true, commands may use the network, as the engine's default network allows. Default false. */
  readonly network?: boolean | undefined;
  /** The user and group of commands, as numbers. Default: those of this process. */
  readonly user?: string | undefined;
  /** The resource limits of a command. */
  readonly limits?: CommandLimits | undefined;
  /**
   * The decision about parts of a policy that this sandbox cannot enforce: `allow` or `refuse`. Default `refuse`.
   */
  readonly degrade?: "refuse" | "allow" | undefined;
}

/**
 * The options of {@link containerSandbox}.
 *
 * @printed
 */
export const CONTAINER_SANDBOX_OPTIONS: Options<ContainerSandboxOptions> = described(
  "ContainerSandboxOptions",
  {
    engine: choice("auto", "docker", "podman"),
    program: text(),
    image: required(
      text({ test: (name) => (/^[\w]/u.test(name) ? undefined : "must begin with a letter or a digit") }),
    ),
    network: flag(),
    user: text({
      test: (user) => (/^\d+(:\d+)?$/u.test(user) ? undefined : "must be numbers: 1000 or 1000:1000"),
    }),
    limits: COMMAND_LIMITS,
    degrade: choice("refuse", "allow"),
  },
);

const checkOptions = optionChecker("containerSandbox", CONTAINER_SANDBOX_OPTIONS);

/** The size of `/tmp` in a container, in bytes. */
const TMPFS_BYTES = 256 * 1024 * 1024;
/** The time limit of the command that tries whether the engine can do all that is asked of it, in milliseconds. */
const TRIAL_MS = 60_000;
/** The variables by which an engine would pass on the proxies of the host; a proxy can contain a password. */
const PROXY_VARIABLES = ["HTTP_PROXY", "HTTPS_PROXY", "FTP_PROXY", "ALL_PROXY", "NO_PROXY"].flatMap(
  (name) => [name, name.toLowerCase()],
);

/**
 * Creates a sandbox whose commands run in containers of docker or podman, for the option `commands` of a workspace on
 * this machine's disk. One container is run at once, to try whether the engine sees the same files and can do what is
 * asked of it.
 *
 * @example
 * const commands = await containerSandbox({ image: "node:22-slim" });
 * const ws = await openWorkspace({ root: "/repo", commands });
 *
 * @throws FilewrightError SANDBOX_SETUP_FAILED where no engine answers, the image is missing, or the engine runs on
 * another machine; INVALID_ARGUMENT for invalid options
 */
export async function containerSandbox(given: ContainerSandboxOptions): Promise<SandboxProvider> {
  const options = checkOptions(given);
  const engine = await findEngine(options.engine ?? "auto", options.program);
  await tryEngine(engine, options);
  return containerProvider(engine, options, undefined);
}

function containerProvider(
  engine: ContainerEngine,
  options: ContainerSandboxOptions,
  policy: CommandPolicy | undefined,
): SandboxProvider {
  const status: SandboxStatus = Object.freeze({
    tier: engine.name,
    files: "enforced",
    network: options.network === true ? "none" : "enforced",
    policy: policy === undefined ? "none" : "enforced",
    processes: "enforced",
    limits: "enforced",
  });
  return Object.freeze<SandboxProvider>({
    status,
    degrade: options.degrade,
    within: (next) => containerProvider(engine, options, next),
    async run(command) {
      if (policy === undefined) {
        throw new FilewrightError(
          "SANDBOX_SETUP_FAILED",
          "A container sees the roots of a workspace alone.",
          {
            complete: true,
            hint: "give it to openWorkspace as the option commands",
          },
        );
      }
      const native = sandboxAddon();
      const roots = policy.write.flatMap((root) => realPathOrNone(root) ?? []);
      const look = (): Promise<ScanResult> => scanPlaces(native, policy, roots);
      const covered = async (before: ScanResult): Promise<SandboxOutcome> => {
        const covers = makeCoverFiles();
        try {
          const hidden = await hiddenBesides(policy, roots);
          const mounts = [
            ...rootMounts(policy, roots),
            ...coverMounts({ readOnlyPaths: [], policy }, hidden, before, covers),
          ];
          return await runInContainer(engine, options, mounts, command);
        } finally {
          covers.remove();
        }
      };
      return policy.protect
        ? runWithCleanup({ native, policy, roots, look }, covered)
        : covered(await look());
    },
  });
}

/** Returns the state directory, and what is denied or secret in directories that commands only read. */
async function hiddenBesides(
  policy: CommandPolicy,
  writable: readonly string[],
): Promise<ScanResult["hidden"]> {
  const read = readableRoots(policy, writable);
  const { hidden } = await scanPlaces(sandboxAddon(), { ...policy, protect: false }, read);
  const isMounted = (path: string): boolean => [...read, ...writable].some((root) => isWithin(path, root));
  const states = policy.stateDirs.filter((path) => isMounted(path) && entryKind(path) === "directory");
  return [...hidden, ...states.map((path) => ({ path, directory: true }))];
}

/** Returns the directories that commands read and do not change. A policy that allows everything mounts none. */
function readableRoots({ read }: CommandPolicy, writable: readonly string[]): readonly string[] {
  return (read ?? [])
    .flatMap((root) => realPathOrNone(root) ?? [])
    .filter((root) => root !== "/" && !writable.some((other) => isWithin(root, other)));
}

function rootMounts(policy: CommandPolicy, writable: readonly string[]): readonly CoverMount[] {
  const mount = (readOnly: boolean) => (path: string) => ({ source: path, target: path, readOnly });
  return [
    ...sortedByPath(readableRoots(policy, writable)).map(mount(true)),
    ...sortedByPath(writable).map(mount(false)),
  ];
}

/** Runs a command in a container of its own, which is removed in any case. */
async function runInContainer(
  engine: ContainerEngine,
  options: ContainerSandboxOptions,
  mounts: readonly CoverMount[],
  command: SandboxCommand,
): Promise<SandboxOutcome> {
  checkSignal(command.signal, command.cwd);
  const container = `filewright-${randomUUID()}`;
  const progress = { hasEnded: false };
  const create = [
    ...["create", "--name", container],
    ...containerArguments(engine, options, command),
    ...mounts.flatMap((one) => ["--mount", mountArgument(one)]),
    options.image,
    ...command.argv,
  ];
  const started = startContainer(engine, create, command, { container, progress });
  const [settled] = await Promise.allSettled([started]);
  if (progress.hasEnded) await removeEndedContainer(engine, container);
  // A command that may still run is worse than any other failure.
  else if (!(await removeContainer(engine, container))) {
    throw makeError("IO_ERROR", `the container ${container} could not be ended and may still run`, {
      hint: `end it with ${engine.name} rm --force ${container}`,
    });
  }
  if (settled.status === "rejected") throw settled.reason;
  return settled.value;
}

/** Creates a container by these arguments of the engine, and runs a command in it. */
async function startContainer(
  engine: ContainerEngine,
  create: readonly string[],
  command: SandboxCommand,
  { container, progress }: { readonly container: string; readonly progress: { hasEnded: boolean } },
): Promise<SandboxOutcome> {
  const created = await engine.call(create);
  if (created.exitCode !== 0) {
    progress.hasEnded = true;
    throw makeError("SANDBOX_SETUP_FAILED", `the command was not started: ${firstLine(created.stderr)}`, {});
  }
  const ran = await engine.attach(container, command);
  if (ran.timedOut) return ran;
  const state = await readState(engine, container);
  progress.hasEnded = state.status === "exited" || isUnstarted(state);
  return outcomeOf(state, ran, command.argv[0] ?? "");
}

const isUnstarted = ({ status }: ContainerState): boolean =>
  ["created", "configured", "initialized"].includes(status);

/** Returns the result of a command by the state of its container. @throws where it did not run to its end */
function outcomeOf(state: ContainerState, ran: SandboxOutcome, program: string): SandboxOutcome {
  if (isUnstarted(state) || (state.error !== "" && [126, 127].includes(state.exitCode))) {
    const why = firstLine(state.error === "" ? ran.stderr : state.error);
    if (/permission denied/iu.test(why))
      throw makeError("PERMISSION_DENIED", `${program} cannot be run: permission denied`, {});
    if (/no such file or directory|not found/iu.test(why))
      throw makeError("NOT_FOUND", `${program} cannot be run: it was not found`, {});
    throw makeError("SANDBOX_SETUP_FAILED", `the command was not started: ${why}`, {});
  }
  if (state.status !== "exited") {
    throw makeError(
      "IO_ERROR",
      "the container engine was lost while the command ran, so its end is unknown",
      {
        hint: "the command was ended; look at what it changed before you run it again",
      },
    );
  }
  if (state.ranOutOfMemory && state.exitCode === 128 + SIGKILL)
    return { ...ran, exitCode: null, signal: SIGKILL, exceeded: "memory" };
  return { ...ran, exitCode: state.exitCode, signal: null };
}

/** The number of the signal by which the kernel ends a command that has too much memory. */
const SIGKILL = 9;

function containerArguments(
  engine: ContainerEngine,
  { network, user, limits }: ContainerSandboxOptions,
  { cwd, env }: SandboxCommand,
): readonly string[] {
  const { processes, memory, fileBytes, cpuSeconds } = nativeLimits(limits);
  const isPodman = engine.name === "podman";
  const own = `${process.getuid?.() ?? 0}:${process.getgid?.() ?? 0}`;
  // Without root, docker maps the user of the host to root of the container; podman is told to keep the numbers.
  const mapped = engine.rootless && !isPodman ? "0:0" : own;
  const variables = {
    ...Object.fromEntries(PROXY_VARIABLES.map((name) => [name, ""])),
    ...{ HOME: "/tmp", TMPDIR: "/tmp" },
    ...env,
  };
  return [
    ...["--pull", "never", "--entrypoint", "", "--no-healthcheck", "--log-driver", "none"],
    ...["--workdir", cwd, "--user", user ?? mapped],
    ...(isPodman ? ["--http-proxy=false", "--env-host=false"] : []),
    ...(isPodman && engine.rootless && user === undefined ? ["--userns", "keep-id"] : []),
    ...(network === true ? [] : ["--network", "none"]),
    ...["--cap-drop", "ALL", "--security-opt", "no-new-privileges"],
    // A system with SELinux would refuse the files of the host, and another label would change them.
    ...["--security-opt", "label=disable"],
    ...["--read-only", "--tmpfs", `/tmp:rw,nosuid,nodev,mode=1777,size=${TMPFS_BYTES}`],
    ...["--pids-limit", String(processes), "--memory", `${memory}b`, "--memory-swap", `${memory}b`],
    ...["--ulimit", `fsize=${fileBytes}:${fileBytes}`, "--ulimit", "core=0:0"],
    ...(isPodman ? inheritedUlimits() : []),
    ...(cpuSeconds === 0 ? [] : ["--ulimit", `cpu=${cpuSeconds}:${cpuSeconds}`]),
    ...Object.entries(variables).flatMap(([name, value]) => ["--env", `${name}=${value}`]),
  ];
}

/**
 * Returns the limits of this process for podman, which would otherwise raise them. That takes a capability which root in
 * a container or a small virtual machine does not have.
 */
function inheritedUlimits(): readonly string[] {
  try {
    const limits = readFileSync("/proc/self/limits", "utf8");
    const hard = (name: string): number => {
      const value = new RegExp(`^Max ${name} +\\S+ +(\\d+)`, "mu").exec(limits)?.[1];
      return value === undefined ? Number.POSITIVE_INFINITY : Number(value);
    };
    const processes = Math.min(hard("processes"), Number(readFileSync("/proc/sys/kernel/pid_max", "utf8")));
    const values = { nofile: hard("open files"), nproc: processes };
    return Object.entries(values).flatMap(([name, value]) =>
      Number.isFinite(value) ? ["--ulimit", `${name}=${value}:${value}`] : [],
    );
  } catch {
    // There is no such file on other systems, where the engine runs in a virtual machine of its own.
    return [];
  }
}

/** Returns a mount as one record of comma-separated values, which is how engines read it. */
function mountArgument({ source, target, readOnly }: CoverMount): string {
  const fields = ["type=bind", `source=${source}`, `target=${target}`, ...(readOnly ? ["readonly"] : [])];
  return fields
    .map((field) => (/[",\n\r]/u.test(field) ? `"${field.replaceAll('"', '""')}"` : field))
    .join(",");
}

/**
 * Runs a container that reads a file under a name that nobody can guess, so an engine on another machine, whose files
 * under the same paths are others, is found out.
 */
async function tryEngine(engine: ContainerEngine, options: ContainerSandboxOptions): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "filewright-trial-"));
  const secret = randomUUID();
  try {
    // The user of commands may be another one than that of this process.
    chmodSync(directory, 0o755);
    writeFileSync(join(directory, "trial"), `${secret}\n`);
    chmodSync(join(directory, "trial"), 0o444);
    const { exitCode, stdout, stderr } = await runInContainer(
      engine,
      options,
      [{ source: directory, target: directory, readOnly: true }],
      {
        argv: ["/bin/sh", "-c", 'read -r line < trial && echo "$line"'],
        cwd: directory,
        timeoutMs: TRIAL_MS,
        maxOutputBytes: 4_096,
      },
    );
    if (exitCode !== 0 || stdout.trim() !== secret)
      throw makeError(
        "SANDBOX_SETUP_FAILED",
        firstLine(stderr) || "it does not see the files of this machine",
        {},
      );
  } catch (error) {
    const why = error instanceof FilewrightError ? error.message : String(error);
    throw new FilewrightError(
      "SANDBOX_SETUP_FAILED",
      `${engine.name} cannot run commands in ${options.image}: ${why}.`,
      {
        complete: true,
        hint: `the image must be here (${engine.name} pull ${options.image}) with /bin/sh, and the engine on this machine`,
      },
    );
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
