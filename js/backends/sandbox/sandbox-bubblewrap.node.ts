/**
 * The strict tier on Linux: bubblewrap. A command has mounts, processes and a network of its own;
 * it sees only the mounted directories. Entries that a policy forbids are covered, or mounted
 * read-only.
 */
import { spawnSync } from "node:child_process";
import { FilewrightError, makeError } from "../../engine/errors.ts";
import type { NativeBinding } from "../../engine/load.node.ts";
import { isWithin } from "../paths.ts";
import { coverMounts, makeCoverFiles, sortedByPath } from "./sandbox-covers.node.ts";
import {
  callNative,
  type HiddenEntry,
  nativeLimits,
  type NativeSpec,
  runNative,
  sandboxAddon,
  type ScanResult,
  scanPlaces,
} from "./sandbox-native.node.ts";
import {
  hasHome,
  homeDirectories,
  commonDirectories,
  entryKind,
  linkTarget,
  privateFiles,
  realPathOrNone,
  readsWithin,
} from "./sandbox-places.node.ts";
import { runWithCleanup } from "./sandbox-running.node.ts";
import type {
  CommandLimits,
  CommandPolicy,
  SandboxCommand,
  SandboxOutcome,
  SandboxProvider,
  SandboxStatus,
} from "./sandbox.ts";

/** Options of {@link bubblewrapSandbox}. Paths are absolute. */
export interface BubblewrapOptions {
  readonly writableRoots: readonly string[];
  /**
   * The paths that commands may read; null for everything; `policy`: the directories of the system and those
   * that the policy allows to read.
   */
  readonly readRoots: readonly string[] | null | "policy";
  /** Further directories that commands may read, if `readRoots` is `policy`; null for everything. */
  readonly extraRead?: readonly string[] | null | undefined;
  /** The paths inside a writable root that commands must not change. */
  readonly readOnlyPaths: readonly string[];
  readonly network: boolean;
  /** The names of system calls that are refused in commands, in addition to those that always are. */
  readonly forbiddenSyscalls?: readonly string[] | undefined;
  readonly limits: CommandLimits | undefined;
  readonly degrade: "refuse" | "allow" | undefined;
  /** The name or path of the program bubblewrap. Default `bwrap`. */
  readonly bubblewrap: string | undefined;
  /** The policy of a workspace, which applies in addition. */
  readonly policy?: CommandPolicy | undefined;
}

/** The options with resolved directories. */
interface ResolvedOptions extends Omit<BubblewrapOptions, "readRoots"> {
  readonly readRoots: readonly string[] | null;
}

/** The descriptor through which the addon passes the system-call filter. */
const SECCOMP_FILTER_FD = "9";
/** The depth of the search for secrets in a home directory: `.config/gh` is two names deep. */
const HOME_SECRETS_DEPTH = 2;
/** The size of each temporary file system, in bytes. No limit of a process counts the files in it. */
const TMPFS_BYTES = String(256 * 1024 * 1024);
/** The environment of a command that does not see the home directory: both variables name a temporary file system. */
const PRIVATE_HOME = Object.freeze({ HOME: "/tmp", TMPDIR: "/tmp" });
/**
 * The file systems that are the kernel's own settings. Their files belong to the kernel's user 0, which a command is
 * where the host runs as root: without capabilities it still is the owner of `/proc/sys`.
 */
const KERNEL_FILE_SYSTEMS: ReadonlySet<string> = new Set([
  ...["proc", "sysfs", "cgroup", "cgroup2", "debugfs", "tracefs", "securityfs", "configfs", "efivarfs"],
  ...["bpf", "pstore", "binfmt_misc", "selinuxfs", "smackfs", "fusectl"],
]);
/**
 * The trial of the mounts: prints the files of the kernel that it can open for writing, then its mounts. It writes
 * nothing. `true` and not `:`, because a shell ends when the redirection of a special built-in command fails.
 */
const TRIAL_SCRIPT = [
  "for file in /proc/* /proc/sys/kernel/* /proc/sys/vm/* /proc/sys/fs/* /proc/irq/* /sys/kernel/* /sys/power/*; do",
  '[ -f "$file" ] && { true >> "$file"; } 2> /dev/null && echo "open $file"; done',
  'while read -r line; do echo "mount $line"; done < /proc/self/mountinfo',
].join("\n");
const EMPTY_SCAN: ScanResult = Object.freeze({
  hidden: [],
  protected: [],
  repositories: [],
  closed: [],
  pinned: [],
});

/**
 * A sandbox whose commands run in their own namespaces.
 * @throws FilewrightError SANDBOX_SETUP_FAILED when bubblewrap is missing or may not create
 * namespaces
 */
export function bubblewrapSandbox(options: BubblewrapOptions): SandboxProvider {
  const program = options.bubblewrap ?? "bwrap";
  const resolved = resolveReads(options);
  const command = ["sh", "-c", TRIAL_SCRIPT];
  const trial = [...mountArguments(resolved), ...namespaceArguments(options.network), "--", ...command];
  const tried = spawnSync(program, trial, { encoding: "utf8" });
  if (tried.status !== 0) {
    const missing = tried.error !== undefined;
    const why = missing ? "it is not installed" : tried.stderr.trim().split("\n", 1)[0];
    throw new FilewrightError("SANDBOX_SETUP_FAILED", `bubblewrap cannot be used: ${why}.`, {
      complete: true,
      hint: missing
        ? 'install the package bubblewrap, or accept less with degrade: "allow"'
        : 'allow unprivileged user namespaces on this machine, or accept less with degrade: "allow"',
    });
  }
  const open = kernelFileOpenIn(tried.stdout);
  if (open !== undefined) {
    throw new FilewrightError(
      "SANDBOX_SETUP_FAILED",
      `bubblewrap cannot be used: a trial command could write to ${open}.`,
      {
        complete: true,
        hint: 'name write roots without file systems of the kernel, such as /proc and /sys, or accept less with degrade: "allow"',
      },
    );
  }
  return bubblewrapProvider(options, program);
}

/**
 * Returns a file or mount of the kernel that the trial command could have changed, by its output; undefined if there
 * is none. An output that does not show a read-only `/proc` proves nothing, and counts as one that shows it open.
 */
function kernelFileOpenIn(output: string): string | undefined {
  const lines = output.split("\n");
  const opened = lines.find((line) => line.startsWith("open "));
  if (opened !== undefined) return opened.slice(5);
  const mounts = lines.flatMap((line) => {
    // man 5 proc: id, parent, device, root, mount point, options, optional fields, "-", type
    const [, point, options, type] =
      /^mount \S+ \S+ \S+ \S+ (\S+) (\S+) (?:\S+ )*?- (\S+) /u.exec(line) ?? [];
    if (point === undefined || options === undefined || type === undefined) return [];
    const isKernel =
      KERNEL_FILE_SYSTEMS.has(type) || ["/proc", "/sys"].some((place) => isWithin(point, place));
    return isKernel ? [{ point, isReadOnly: options.split(",").includes("ro") }] : [];
  });
  if (!mounts.some(({ point }) => point === "/proc")) return "/proc";
  return mounts.find(({ isReadOnly }) => !isReadOnly)?.point;
}

function resolveReads(options: BubblewrapOptions): ResolvedOptions {
  const { readRoots, policy, extraRead } = options;
  return { ...options, readRoots: readRoots === "policy" ? readsWithin(policy, extraRead) : readRoots };
}

function bubblewrapProvider(given: BubblewrapOptions, program: string): SandboxProvider {
  const native = sandboxAddon();
  const options = resolveReads(given);
  const { network, policy, forbiddenSyscalls: forbid = [] } = options;
  const limits = nativeLimits(options.limits);
  const bare: NativeSpec = { read: null, write: [], network, sockets: true, bare: true, forbid, limits };
  const forks = callNative(() => native.sandboxStatus(JSON.stringify({ ...bare, degrade: true })))[3];
  const status: SandboxStatus = Object.freeze({
    tier: "bubblewrap",
    files: "enforced",
    network: network ? "none" : "enforced",
    policy: policy === undefined ? "none" : "enforced",
    processes: "enforced",
    limits: forks === 1 ? "enforced" : "partial",
  });
  return Object.freeze<SandboxProvider>({
    status,
    degrade: options.degrade,
    within: (next) =>
      bubblewrapProvider(
        {
          ...given,
          policy: next,
          writableRoots: commonDirectories(
            options.writableRoots.flatMap((root) => realPathOrNone(root) ?? []),
            next.write,
          ),
        },
        program,
      ),
    async run(command) {
      const { writableRoots } = options;
      const look = async (): Promise<ScanResult> =>
        policy === undefined ? EMPTY_SCAN : scanPlaces(native, policy, writableRoots);
      const covered = (before: ScanResult) => runCovered({ native, program, options, bare }, before, command);
      return policy?.protect === true
        ? runWithCleanup({ native, policy, roots: writableRoots, look }, covered)
        : covered(await look());
    },
  });
}

/** The program of a sandbox, and how it is started. */
interface Bubblewrap {
  readonly native: NativeBinding;
  /** The path of bwrap. */
  readonly program: string;
  readonly options: ResolvedOptions;
  /** The specification of the addon for bwrap itself. */
  readonly bare: NativeSpec;
}

/** Runs a command while the hidden entries of a scan are covered by mounts. */
async function runCovered(
  { native, program, options, bare }: Bubblewrap,
  before: ScanResult,
  command: SandboxCommand,
): Promise<SandboxOutcome> {
  const { network, policy } = options;
  const elsewhere = policy === undefined ? [] : await hiddenOutsideRoots(native, options, policy);
  const covers = makeCoverFiles();
  try {
    const argv = [
      program,
      ...mountArguments(options),
      ...coverMounts(options, elsewhere, before, covers).flatMap(({ source, target, readOnly }) => [
        readOnly ? "--ro-bind" : "--bind",
        source,
        target,
      ]),
      ...namespaceArguments(network),
      ...["--seccomp", SECCOMP_FILTER_FD, "--chdir", command.cwd, "--"],
      ...command.argv,
    ];
    const env = options.readRoots === null || hasHome(policy?.read ?? []) ? {} : PRIVATE_HOME;
    const outside = { ...command, cwd: "/", env: { ...env, ...command.env } };
    const outcome = await runNative(native, bare, argv, outside);
    assertStarted(outcome.exitCode, outcome.stderr, command.argv[0] ?? "");
    return outcome;
  } finally {
    covers.remove();
  }
}

/**
 * Returns the arguments for the mounts of every command. Later mounts lie over earlier ones; covers come after all
 * of these.
 */
function mountArguments({ readRoots, writableRoots, network }: ResolvedOptions): readonly string[] {
  const bound = (path: string): readonly string[] => {
    const target = linkTarget(path);
    return target === undefined ? ["--ro-bind-try", path, path] : ["--symlink", target, path];
  };
  const temporary = (path: string): readonly string[] => ["--size", TMPFS_BYTES, "--tmpfs", path];
  return [
    ...(readRoots === null ? ["--ro-bind", "/", "/"] : temporary("/tmp")),
    // Hides the sockets of services: one of them could run a program outside the sandbox.
    ...temporary("/run"),
    ...(network ? ["--ro-bind-try", "/run/systemd/resolve", "/run/systemd/resolve"] : []),
    ...sortedByPath(readRoots ?? []).flatMap(bound),
    ...["--dev", "/dev", ...temporary("/dev/shm"), "--proc", "/proc"],
    ...sortedByPath(writableRoots).flatMap((path) => ["--bind", path, path]),
    ...["/proc", "/dev", "/run", "/"].flatMap((path) => ["--remount-ro", path]),
  ];
}

function namespaceArguments(network: boolean): readonly string[] {
  return [
    ...["--unshare-user-try", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"],
    ...(network ? [] : ["--unshare-net"]),
    ...["--die-with-parent", "--cap-drop", "ALL"],
  ];
}

/** Returns the state directories, and secrets outside the roots. */
async function hiddenOutsideRoots(
  native: ReturnType<typeof sandboxAddon>,
  { readRoots, writableRoots }: ResolvedOptions,
  policy: CommandPolicy,
): Promise<readonly HiddenEntry[]> {
  const places = readRoots ?? ["/"];
  const isSeen = (path: string): boolean =>
    places.some((place) => isWithin(path, place)) || writableRoots.some((root) => isWithin(path, root));
  const named = [...privateFiles(), ...policy.stateDirs];
  const entries = named
    .filter((path) => isSeen(path) && entryKind(path) !== "missing")
    .map((path) => ({ path, directory: entryKind(path) === "directory" }));
  const outside = (path: string): boolean => !writableRoots.some((root) => isWithin(path, root));
  const rules = { ...policy, protect: false };
  const found = [
    await scanPlaces(native, rules, (policy.read ?? []).filter(outside)),
    await scanPlaces(native, rules, homeDirectories().filter(outside), { depth: HOME_SECRETS_DEPTH }),
  ];
  const hidden = found.flatMap((one) => one.hidden).filter(({ path }) => isSeen(path) && outside(path));
  return [...entries, ...hidden];
}

/** Throws an error of bubblewrap itself, which otherwise would look like an error of the command. */
function assertStarted(exitCode: number | null, stderr: string, program: string): void {
  if (exitCode !== 1 || !stderr.startsWith("bwrap: ")) return;
  const line = stderr.split("\n", 1)[0] ?? "";
  const missing = /^bwrap: execvp .*: (No such file or directory|Permission denied)$/u.exec(line);
  if (missing?.[1] === "Permission denied")
    throw makeError("PERMISSION_DENIED", `${program} cannot be run: permission denied`, {});
  if (missing !== null) throw makeError("NOT_FOUND", `${program} cannot be run: it was not found`, {});
  throw makeError("SANDBOX_SETUP_FAILED", `the command was not started: ${line.slice(7)}`, {});
}
