/** The fast tier on Linux: Landlock for files, seccomp for the network, by the native addon. */
import {
  choice,
  flag,
  optionChecker,
  list,
  nullable,
  type Options,
  options as described,
  required,
  text,
} from "../../schema/option.ts";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, isAbsolute, resolve } from "node:path";
import {
  callNative,
  EXTRA_SYSCALLS,
  FORBIDDEN_SYSCALLS,
  nativeLimits,
  type NativeSpec,
  rethrowNativeError,
  runNative,
  sandboxAddon,
  scanPlaces,
  scanProtected,
} from "./sandbox-native.node.ts";
import {
  hasHome,
  homeDirectories,
  commonDirectories,
  privateFiles,
  readsWithin,
  realPathOrNone,
  systemDirectories,
} from "./sandbox-places.node.ts";
import { isWithin } from "../paths.ts";
import { runWithCleanup } from "./sandbox-running.node.ts";
import {
  COMMAND_LIMITS,
  COMMAND_REACH,
  type CommandLimits,
  type CommandPolicy,
  type CommandReach,
  deniesInRoots,
  type SandboxCommand,
  type SandboxOutcome,
  type SandboxProvider,
  type SandboxStatus,
} from "./sandbox.ts";
import { FilewrightError } from "../../engine/errors.ts";

/** How {@link linuxSandbox} is made. Paths are absolute and exist. */
export interface LinuxSandboxOptions extends CommandReach {
  /** Files and directories that commands may change. */
  readonly writableRoots: readonly string[];
  /**
   * The paths that commands may read and run; null, the default, for everything but the processes of others
   * (`/proc`), devices, and the private files of the system.
   */
  readonly readRoots?: readonly string[] | null | undefined;
  /**
   * Names of further system calls that fail with EPERM in commands, such as `ptrace` or `mount`; some
   * always fail. If a system call has several names, list each: `rename`, `renameat`, `renameat2`. Names
   * of other processors are accepted. Default none.
   */
  readonly forbiddenSyscalls?: readonly string[] | undefined;
  /** The resource limits of a command. */
  readonly limits?: CommandLimits | undefined;
  /**
   * `allow`: run commands even if the kernel cannot restrict them, and in workspaces whose denied,
   * protected and secret paths this tier cannot enforce. The status reports it. Default `refuse`.
   */
  readonly degrade?: "refuse" | "allow" | undefined;
  /**
   * How the sandbox uses Landlock. `ignore`, for tests, behaves as on a kernel without Landlock. Default
   * `use`.
   */
  readonly landlock?: "use" | "ignore" | undefined;
}

/**
 * The options of {@link linuxSandbox}.
 *
 * @printed
 */
export const LINUX_SANDBOX_OPTIONS: Options<LinuxSandboxOptions> = described(
  "LinuxSandboxOptions",
  {
    writableRoots: required(list(text())),
    readRoots: nullable(list(text())),
    ...COMMAND_REACH,
    forbiddenSyscalls: FORBIDDEN_SYSCALLS,
    limits: COMMAND_LIMITS,
    degrade: choice("refuse", "allow"),
    landlock: choice("use", "ignore"),
  },
  { instead: EXTRA_SYSCALLS },
);

const checkOptions = optionChecker("linuxSandbox", LINUX_SANDBOX_OPTIONS);

/** The public options, and those that {@link sandboxFor} and a workspace add. */
export interface FastOptions extends Omit<LinuxSandboxOptions, "readRoots"> {
  /**
   * The paths that commands may read; `policy`: the directories of the system and those that the policy allows
   * to read.
   */
  readonly readRoots?: readonly string[] | null | "policy" | undefined;
  /** The directories that commands may also read if `readRoots` is `policy`; null for everything. */
  readonly extraRead?: readonly string[] | null | undefined;
  /** True when the caller asked for something that this tier cannot do. */
  readonly incomplete?: boolean | undefined;
  readonly policy?: CommandPolicy | undefined;
}

/** The depth of the search for secrets in a home directory: `.config/gh` is two names deep. */
const HOME_SECRETS_DEPTH = 2;

/**
 * Commands that the kernel keeps inside their roots and off the network.
 *
 * Landlock can only allow whole directories, so what a workspace denies, protects and keeps
 * secret inside its writable roots is open to these commands: such a workspace takes this
 * provider only with `degrade: "allow"`.
 *
 * @example
 * const commands = linuxSandbox({ writableRoots: ["/repo"], degrade: "allow" });
 * const ws = await openWorkspace({ root: "/repo", commands });
 *
 * @throws FilewrightError SANDBOX_SETUP_FAILED where the kernel cannot do it
 */
export function linuxSandbox(options: LinuxSandboxOptions): SandboxProvider {
  return fastSandbox(checkOptions(options));
}

/** {@link linuxSandbox} with internal options. @throws FilewrightError SANDBOX_SETUP_FAILED */
export function fastSandbox(options: FastOptions): SandboxProvider {
  const native = sandboxAddon();
  const { policy, degrade } = options;
  const spec: NativeSpec = {
    read: readPathsOf(options),
    write: options.writableRoots,
    network: options.network === true,
    sockets: options.sockets === true,
    degrade: degrade === "allow",
    withoutLandlock: options.landlock === "ignore",
    forbid: options.forbiddenSyscalls ?? [],
    limits: nativeLimits(options.limits),
  };
  const [files, network, signals, forks] = callNative(() => native.sandboxStatus(JSON.stringify(spec)));
  const wanted = policy !== undefined && restrictsRoots(policy);
  const status: SandboxStatus = Object.freeze({
    tier: files === 1 ? "landlock+seccomp" : "seccomp",
    files: files !== 1 ? "none" : wanted || options.incomplete === true ? "partial" : "enforced",
    network: network === 1 ? "enforced" : "none",
    policy: policy === undefined || files !== 1 ? "none" : wanted ? "partial" : "enforced",
    // Older kernels let a command kill the process that would end it.
    processes: signals === 1 ? "enforced" : "partial",
    limits: signals === 1 && forks === 1 ? "enforced" : "partial",
  });
  const outside = (path: string): boolean => !options.writableRoots.some((root) => isWithin(path, root));
  const unlisted = (): readonly string[] =>
    (policy?.stateDirs ?? []).flatMap((path) => realPathOrNone(path) ?? []).filter(outside);
  const excluded = async (): Promise<readonly string[]> => {
    const named = privateFiles();
    if (policy === undefined) return named.filter(outside);
    const rules = { ...policy, protect: false };
    const found = [
      await scanPlaces(native, rules, (policy.read ?? []).filter(outside)),
      await scanPlaces(native, rules, homeDirectories().filter(outside), { depth: HOME_SECRETS_DEPTH }),
    ];
    return [...named, ...found.flatMap(({ hidden }) => hidden.map(({ path }) => path))].filter(outside);
  };
  const run = async (command: SandboxCommand): Promise<SandboxOutcome> => {
    const closed = { exclude: await excluded(), unlisted: unlisted() };
    if (
      options.readRoots !== "policy" ||
      spec.read === null ||
      hasHome([...(policy?.read ?? []), ...(options.extraRead ?? [])])
    )
      return runNative(native, { ...spec, ...closed }, command.argv, command);
    const home = realpathSync(mkdtempSync(join(tmpdir(), "filewright-home-")));
    try {
      const own = { ...spec, ...closed, write: [...spec.write, home] };
      const env = { HOME: home, TMPDIR: home, ...command.env };
      return await runNative(native, own, command.argv, { ...command, env });
    } finally {
      rmSync(home, { recursive: true, force: true });
    }
  };
  return Object.freeze<SandboxProvider>({
    status,
    degrade,
    within: (next) => {
      const roots = options.writableRoots.flatMap((root) => realPathOrNone(root) ?? []);
      return fastSandbox({ ...options, policy: next, writableRoots: commonDirectories(roots, next.write) });
    },
    async run(command) {
      if (policy?.protect !== true) return run(command);
      const look = () => scanProtected(native, policy, spec.write);
      return runWithCleanup({ native, policy, roots: spec.write, look }, () => run(command));
    },
    async probe(kind, { path } = {}) {
      const errno = await native.sandboxProbe(JSON.stringify(spec), kind, path).catch(rethrowNativeError);
      return errno === null ? { ok: true } : { ok: false, errno };
    },
  });
}

/** Returns true when a policy denies, protects or hides anything inside its roots. */
function restrictsRoots(policy: CommandPolicy): boolean {
  return deniesInRoots(policy) || policy.protect || policy.secrets;
}

/** Returns the paths that commands may read; null for everything. */
function readPathsOf({ readRoots = null, policy, extraRead }: FastOptions): readonly string[] | null {
  return readRoots === "policy" ? readsWithin(policy, extraRead) : readRoots;
}

/** The permissions of commands, as flags in the form of other systems. */
export interface SandboxFlags {
  /** With true, commands may use the network. Default false. */
  readonly fullNetworkAccess?: boolean | undefined;
  /**
   * With true, commands may read everything; with false, the directories of the system and the writable roots.
   * Default true.
   */
  readonly fullDiskReadAccess?: boolean | undefined;
  /** With true, commands may change everything. Default false. */
  readonly fullDiskWriteAccess?: boolean | undefined;
  /** The paths that commands may change in addition to the working directory; relative to it. Default: none. */
  readonly writableRoots?: readonly string[] | undefined;
}

/**
 * The options of {@link sandboxOptionsOf}.
 *
 * @printed
 */
export const SANDBOX_FLAGS: Options<SandboxFlags> = described("SandboxFlags", {
  fullNetworkAccess: flag(),
  fullDiskReadAccess: flag(),
  fullDiskWriteAccess: flag(),
  writableRoots: list(text()),
});

const checkFlags = optionChecker("sandboxOptionsOf", SANDBOX_FLAGS);

/**
 * Returns the options of `linuxSandbox` for a policy of flags. The working directory is writable
 * too.
 *
 * @example
 * const options = sandboxOptionsOf({ writableRoots: ["../cache"] }, "/repo");
 * console.log(options.writableRoots); // [ "/cache", "/repo" ]
 *
 * @param cwd the working directory of the commands, absolute
 * @throws FilewrightError INVALID_ARGUMENT naming the option
 */
export function sandboxOptionsOf(flags: SandboxFlags, cwd: string): LinuxSandboxOptions {
  const {
    fullNetworkAccess,
    fullDiskReadAccess,
    fullDiskWriteAccess,
    writableRoots = [],
  } = checkFlags(flags);
  if (typeof cwd !== "string" || !isAbsolute(cwd)) {
    throw new FilewrightError("INVALID_ARGUMENT", "sandboxOptionsOf: 'cwd' must be an absolute path", {
      complete: true,
    });
  }
  const roots = [...new Set([...writableRoots.map((root) => resolve(cwd, root)), resolve(cwd)])];
  return {
    writableRoots: fullDiskWriteAccess === true ? ["/"] : roots,
    readRoots: fullDiskReadAccess === false ? [...systemDirectories(), ...roots] : null,
    network: fullNetworkAccess === true,
  };
}
