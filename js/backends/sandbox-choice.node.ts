/**
 * Which sandbox commands run in: by the system, by name, or somewhere else. One
 * that is not to be had is refused, unless the host says that less will do; what
 * holds is told by the status, and by every result.
 */
import { spawnSync } from "node:child_process";
import process from "node:process";
import { FilewrightError } from "../engine/errors.ts";
import { linuxSandbox } from "./sandbox.node.ts";
import { runProcess } from "./sandbox-process.node.ts";
import type { SandboxCommand, SandboxProvider, SandboxStatus } from "./sandbox.ts";
import { seatbeltProfile } from "./seatbelt.ts";

/** How {@link sandboxFor} chooses and what it allows. Paths are absolute and exist. */
export interface SandboxOptions {
  /**
   * `linux`: Landlock and seccomp, or bubblewrap. `seatbelt`: macOS. `remote`: the one
   * given as `remote`. `auto`, the default: what this system has, else `remote` where
   * there is one.
   */
  readonly provider?: "auto" | "linux" | "seatbelt" | "remote" | undefined;
  /**
   * On Linux: `fast`, the default, costs a tenth of a start. `strict` is bubblewrap: mounts,
   * processes and network of its own, so that nothing outside can be changed in any way, not
   * even times and permission bits, and places inside can be read-only; five starts.
   */
  readonly tier?: "fast" | "strict" | undefined;
  /** What commands may change. */
  readonly writableRoots: readonly string[];
  /** What they may read and run; null, the default, for everything. */
  readonly readRoots?: readonly string[] | null | undefined;
  /** Below a writable root, and not to be changed. Only `strict` and `seatbelt` can. */
  readonly readOnlyPaths?: readonly string[] | undefined;
  /** Whether they may use the network. Default false. */
  readonly network?: boolean | undefined;
  /** `allow`: less, down to nothing, where what was asked for is not to be had. Default `refuse`. */
  readonly degrade?: "refuse" | "allow" | undefined;
  /** Runs commands on another machine or in a container. */
  readonly remote?: SandboxProvider | undefined;
  /** The bubblewrap program. Default `bwrap`. */
  readonly bubblewrap?: string | undefined;
}

/**
 * The sandbox for commands on this machine.
 *
 * @example
 * const ws = await openWorkspace({ root, commands: sandboxFor({ writableRoots: [root] }) });
 *
 * @throws FilewrightError SANDBOX_SETUP_FAILED where it is not to be had
 */
export function sandboxFor(options: SandboxOptions): SandboxProvider {
  try {
    return chosen(options);
  } catch (error) {
    const missing = error instanceof FilewrightError && error.code === "SANDBOX_SETUP_FAILED";
    if (!missing || options.degrade !== "allow") throw error;
    return less(options);
  }
}

function chosen(options: SandboxOptions): SandboxProvider {
  const { provider = "auto", remote } = options;
  if (provider === "remote" || (provider === "auto" && !isHere() && remote !== undefined)) {
    if (remote === undefined) throw unavailable("no remote sandbox was given");
    return remote;
  }
  const system = provider === "auto" ? process.platform : provider === "linux" ? "linux" : "darwin";
  if (system !== process.platform || !isHere()) {
    throw unavailable(`this system (${process.platform}) has no sandbox of that kind`);
  }
  if (system === "darwin") return seatbelt(options);
  if (options.tier === "strict") return bubblewrap(options);
  if ((options.readOnlyPaths ?? []).length > 0) {
    throw unavailable("read-only places inside a writable root take the strict tier");
  }
  return linuxSandbox({ ...options, degrade: "refuse" });
}

/** What is left where what was asked for is missing, and less will do. */
function less(options: SandboxOptions): SandboxProvider {
  if (process.platform === "linux" && (options.provider ?? "auto") !== "remote") {
    return linuxSandbox({ ...options, degrade: "allow" });
  }
  const status: SandboxStatus = Object.freeze({ tier: "none", files: "none", network: "none" });
  return Object.freeze<SandboxProvider>({ status, run: (command) => runProcess(command.argv, command) });
}

const isHere = (): boolean => process.platform === "linux" || process.platform === "darwin";

function bubblewrap(options: SandboxOptions): SandboxProvider {
  const program = options.bubblewrap ?? "bwrap";
  const { writableRoots, readRoots, readOnlyPaths = [], network = false } = options;
  const bound = (how: string, paths: readonly string[]): string[] =>
    paths.flatMap((path) => [how, path, path]);
  const prefix = [
    program,
    ...bound("--ro-bind", readRoots ?? ["/"]),
    ...["--dev", "/dev", "--proc", "/proc"],
    ...bound("--bind", writableRoots),
    ...bound("--ro-bind-try", readOnlyPaths),
    ...["--unshare-user-try", "--unshare-pid", "--unshare-ipc", "--unshare-uts"],
    ...(network ? [] : ["--unshare-net"]),
    ...["--die-with-parent", "--cap-drop", "ALL"],
  ];
  // Whether namespaces may be made shows only by making them.
  const tried = spawnSync(prefix[0] as string, [...prefix.slice(1), "--", "true"], { encoding: "utf8" });
  if (tried.status !== 0) {
    const why = tried.error === undefined ? tried.stderr.trim().split("\n", 1)[0] : "it is not installed";
    throw unavailable(`bubblewrap cannot be used: ${why}`);
  }
  return behind("bubblewrap", network, (command) => [
    ...prefix,
    "--chdir",
    command.cwd,
    "--",
    ...command.argv,
  ]);
}

function seatbelt(options: SandboxOptions): SandboxProvider {
  const { writableRoots, readRoots = null, readOnlyPaths = [], network = false } = options;
  const profile = seatbeltProfile({ writableRoots, readRoots, readOnlyPaths, network });
  const prefix = ["/usr/bin/sandbox-exec", "-p", profile];
  const tried = spawnSync(prefix[0] as string, [...prefix.slice(1), "/usr/bin/true"]);
  if (tried.status !== 0) throw unavailable("sandbox-exec cannot be used");
  return behind("seatbelt", network, ({ argv }) => [...prefix, ...argv]);
}

/** A sandbox that is a program put before the command's own. */
function behind(
  tier: SandboxStatus["tier"],
  network: boolean,
  argvOf: (command: SandboxCommand) => readonly string[],
): SandboxProvider {
  const status: SandboxStatus = Object.freeze({
    tier,
    files: "enforced",
    network: network ? "none" : "enforced",
  });
  return Object.freeze<SandboxProvider>({
    status,
    run: (command) => runProcess(argvOf(command), command),
  });
}

function unavailable(why: string): FilewrightError {
  return new FilewrightError("SANDBOX_SETUP_FAILED", `No sandbox for commands: ${why}.`, {
    complete: true,
    hint: 'install it, or say that less will do with degrade: "allow"',
  });
}
