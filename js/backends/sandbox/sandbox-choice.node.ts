/**
 * Chooses the sandbox of commands: by the system, by name, or one that the host supplies. An
 * unavailable sandbox is refused, unless the host allows a weaker one; the status and every result
 * say what is enforced.
 */
import {
  choice,
  optionChecker,
  list,
  nullable,
  type Options,
  options as described,
  required,
  text,
  wrongOptionError,
} from "../../schema/option.ts";
import { FilewrightError } from "../../engine/errors.ts";
import type { CommandOptions } from "../option-schema.ts";
import { bubblewrapSandbox } from "./sandbox-bubblewrap.node.ts";
import { fastSandbox } from "./sandbox.node.ts";
import { EXTRA_SYSCALLS, FORBIDDEN_SYSCALLS } from "./sandbox-native.node.ts";
import { runProcess } from "./sandbox-process.node.ts";
import {
  COMMAND_LIMITS,
  COMMAND_REACH,
  type CommandLimits,
  type CommandPolicy,
  type CommandReach,
  SANDBOX_PROVIDER,
  type SandboxProvider,
  type SandboxStatus,
} from "./sandbox.ts";
import { seatbelt, unavailableProvider } from "./sandbox-seatbelt.node.ts";

/** How {@link sandboxFor} chooses and what it allows. Paths are absolute and exist. */
export interface SandboxOptions extends CommandReach {
  /**
   * The kind of sandbox for commands. `linux`: Landlock and seccomp, or bubblewrap. `seatbelt`: macOS.
   * `remote`: the provider given as `remote`. `auto`, the default: what this system has.
   */
  readonly provider?: "auto" | "linux" | "seatbelt" | "remote" | undefined;
  /**
   * The sandbox for commands on Linux. `fast`, the default, is Landlock and seccomp. `strict` is bubblewrap:
   * mounts, processes and network of its own, so that nothing outside can be changed in any way, not even
   * times and permission bits, and places inside can be read-only or hidden.
   */
  readonly tier?: "fast" | "strict" | undefined;
  /** Files and directories that commands may change. */
  readonly writableRoots: readonly string[];
  /**
   * The paths that commands may read and run; null, the default, for everything but processes of others and
   * devices.
   */
  readonly readRoots?: readonly string[] | null | undefined;
  /** Paths below a writable root that commands must not change. Only `strict` and `seatbelt` can enforce this. */
  readonly readOnlyPaths?: readonly string[] | undefined;
  /**
   * Names of further system calls that fail with EPERM in commands, such as `ptrace` or `mount`; some
   * always fail. If a system call has several names, list each: `rename`, `renameat`, `renameat2`. Names
   * of other processors are accepted. Linux alone. Default none.
   */
  readonly forbiddenSyscalls?: readonly string[] | undefined;
  /** The resource limits of a command. On macOS only time and output are bounded. */
  readonly limits?: CommandLimits | undefined;
  /**
   * The reaction to a requested sandbox that is not available: `allow` uses a weaker one, or none. Default
   * `refuse`.
   */
  readonly degrade?: "refuse" | "allow" | undefined;
  /**
   * The provider that runs commands on another machine or in a container, for `provider: "remote"` or
   * `fallback: "remote"`. Where neither is set, it is refused, because it would never be used.
   */
  readonly remote?: SandboxProvider | undefined;
  /**
   * The sandbox for a system without the requested one. `remote`: the provider given as `remote`, before a weaker
   * sandbox of this system that `degrade` allows. Default: none; it fails with SANDBOX_SETUP_FAILED.
   */
  readonly fallback?: "remote" | undefined;
  /** The name or path of the program bubblewrap. Default `bwrap`. */
  readonly bubblewrap?: string | undefined;
}

/**
 * The options of {@link sandboxFor}.
 *
 * @printed
 */
export const SANDBOX_OPTIONS: Options<SandboxOptions> = described(
  "SandboxOptions",
  {
    provider: choice("auto", "linux", "seatbelt", "remote"),
    tier: choice("fast", "strict"),
    writableRoots: required(list(text())),
    readRoots: nullable(list(text())),
    readOnlyPaths: list(text()),
    ...COMMAND_REACH,
    forbiddenSyscalls: FORBIDDEN_SYSCALLS,
    limits: COMMAND_LIMITS,
    degrade: choice("refuse", "allow"),
    remote: SANDBOX_PROVIDER,
    fallback: choice("remote"),
    bubblewrap: text(),
  },
  { instead: EXTRA_SYSCALLS },
);

const checkOptions = optionChecker("sandboxFor", SANDBOX_OPTIONS);

/**
 * Creates the sandbox for commands on this machine.
 *
 * @example
 * const ws = await openWorkspace({ root, commands: sandboxFor({ writableRoots: [root] }) });
 *
 * @throws FilewrightError SANDBOX_SETUP_FAILED where it is unavailable, INVALID_ARGUMENT for
 * options that contradict each other
 */
export function sandboxFor(given: SandboxOptions): SandboxProvider {
  const options = checkOptions(given);
  return (
    remoteByName("sandboxFor", options) ??
    orFallback(
      options,
      () => chooseSandbox(options),
      () => degradedSandbox(options),
    )
  );
}

/** The options that decide whether commands run on this system. */
type Placement = Pick<SandboxOptions, "provider" | "remote" | "fallback" | "degrade">;

/**
 * Returns the remote sandbox if it is the requested one.
 * @throws FilewrightError INVALID_ARGUMENT for options that contradict each other, SANDBOX_SETUP_FAILED where no remote
 * sandbox is given
 */
function remoteByName(entry: string, { provider, remote, fallback }: Placement): SandboxProvider | undefined {
  if (remote !== undefined && provider !== "remote" && fallback === undefined) {
    const remedy =
      'set provider: "remote" to use it, or fallback: "remote" to use it where this system has no sandbox';
    throw wrongOptionError(entry, "remote", `is never used; ${remedy}`);
  }
  if (provider === "remote" && fallback !== undefined)
    throw wrongOptionError(entry, "fallback", 'is never used with provider: "remote"');
  if (provider !== "remote" && fallback === undefined) return undefined;
  if (remote === undefined) throw unavailableProvider("no remote sandbox was given");
  return provider === "remote" ? remote : undefined;
}

/** Returns the sandbox of this system; where it is missing, the fallback, or a weaker one if that is allowed. */
function orFallback(
  { remote, fallback, degrade }: Placement,
  local: () => SandboxProvider,
  weaker: () => SandboxProvider,
): SandboxProvider {
  try {
    return local();
  } catch (error) {
    const isMissing = error instanceof FilewrightError && error.code === "SANDBOX_SETUP_FAILED";
    if (isMissing && fallback === "remote" && remote !== undefined) return remote;
    if (!isMissing || degrade !== "allow") throw error;
    return weaker();
  }
}

function chooseSandbox(options: SandboxOptions): SandboxProvider {
  const system = systemOf(options.provider);
  if (system === "darwin") {
    if ((options.forbiddenSyscalls ?? []).length > 0)
      throw unavailableProvider("this system cannot forbid commands single system calls");
    return seatbelt(options);
  }
  const { writableRoots, readRoots = null, readOnlyPaths = [], network = false } = options;
  const { sockets, forbiddenSyscalls, limits, degrade, bubblewrap } = options;
  if (options.tier === "strict") {
    const places = { writableRoots, readRoots, readOnlyPaths };
    return bubblewrapSandbox({ ...places, network, forbiddenSyscalls, limits, degrade, bubblewrap });
  }
  if (readOnlyPaths.length > 0) {
    throw unavailableProvider("read-only places inside a writable root take the strict tier");
  }
  return fastSandbox({ writableRoots, readRoots, network, sockets, forbiddenSyscalls, limits, degrade });
}

/** Returns the next weaker sandbox. Called when the requested one is missing and the host allows a weaker one. */
function degradedSandbox(options: SandboxOptions): SandboxProvider {
  const { writableRoots, readRoots, readOnlyPaths = [], network, sockets } = options;
  const { forbiddenSyscalls, limits } = options;
  if (process.platform === "linux") {
    const incomplete = options.tier === "strict" || readOnlyPaths.length > 0;
    const allowed = { writableRoots, readRoots, network, sockets, forbiddenSyscalls, limits };
    return fastSandbox({ ...allowed, degrade: "allow", incomplete });
  }
  return unconfinedProvider();
}

/** Returns a provider that runs commands without any restriction. */
function unconfinedProvider(): SandboxProvider {
  const status: SandboxStatus = Object.freeze({ tier: "none", files: "none", network: "none" });
  return Object.freeze<SandboxProvider>({
    status,
    degrade: "allow",
    run: (command) => runProcess(command.argv, command),
  });
}

/**
 * Returns the sandbox for the option `commands` of a workspace: the strictest that this system
 * has.
 * @throws FilewrightError SANDBOX_SETUP_FAILED where it is unavailable
 */
export function openCommands(options: CommandOptions, policy: CommandPolicy): SandboxProvider {
  const { network = false, sockets, limits, degrade, bubblewrap } = options;
  const { read: extraRead } = options;
  const common = { writableRoots: policy.write, network, limits, degrade, extraRead, policy };
  const fast = (incomplete: boolean): SandboxProvider =>
    fastSandbox({ ...common, sockets, readRoots: "policy", incomplete });
  const local = (): SandboxProvider => {
    if (systemOf(options.provider) === "darwin") {
      const readRoots =
        extraRead === null || policy.read === null ? null : [...policy.read, ...(extraRead ?? [])];
      return seatbelt({ writableRoots: policy.write, readRoots, network, degrade });
    }
    if (options.tier === "fast") return fast(false);
    return bubblewrapSandbox({ ...common, readRoots: "policy", readOnlyPaths: [], bubblewrap });
  };
  const weaker = (): SandboxProvider => (process.platform === "linux" ? fast(true) : unconfinedProvider());
  return remoteByName("commands", options) ?? orFallback(options, local, weaker);
}

/**
 * Returns the system whose sandbox is requested. @throws FilewrightError SANDBOX_SETUP_FAILED where it is another one
 * than this system, or this one has none
 */
function systemOf(provider: "auto" | "linux" | "seatbelt" | "remote" = "auto"): "linux" | "darwin" {
  const { platform } = process;
  const isPresent = platform === "linux" || platform === "darwin";
  const wanted = { auto: platform, linux: "linux", seatbelt: "darwin", remote: platform }[provider];
  if (!isPresent || wanted !== platform)
    throw unavailableProvider(`this system (${platform}) has no sandbox of that kind`);
  return platform;
}
