/**
 * The sandbox of macOS: `sandbox-exec` with a profile that confines a command to its roots. Only the text of the
 * profile can be tested on other systems.
 */
import { spawnSync } from "node:child_process";
import { FilewrightError } from "../../engine/errors.ts";
import { commonDirectories, realPathOrNone } from "./sandbox-places.node.ts";
import { runProcess } from "./sandbox-process.node.ts";
import type { CommandPolicy, SandboxProvider, SandboxStatus } from "./sandbox.ts";

/** The limits of a command. Paths are absolute and real. */
export interface SeatbeltOptions extends Pick<SandboxProvider, "degrade"> {
  readonly writableRoots: readonly string[];
  /** Paths that commands may read; null, the default, for everything. */
  readonly readRoots?: readonly string[] | null | undefined;
  /** With true, commands may use the network. Default false. */
  readonly network?: boolean | undefined;
  /** Paths below a writable root that commands must not change. */
  readonly readOnlyPaths?: readonly string[] | undefined;
  /** Paths that commands can neither read nor change. */
  readonly hidden?: readonly string[] | undefined;
}

/** The directories that a program on macOS must read to start at all. */
const SYSTEM_DIRECTORIES = [
  "/usr",
  "/bin",
  "/sbin",
  "/System",
  "/Library",
  "/private/var/db/dyld",
  "/dev",
  "/opt",
];

/** Returns the profile's text. Later rules win. */
export function seatbeltProfile(options: SeatbeltOptions): string {
  const { writableRoots, readRoots = null, network = false, readOnlyPaths = [], hidden = [] } = options;
  const below = (paths: readonly string[]): string =>
    paths.map((path) => `(subpath ${quotedForProfile(path)})`).join(" ");
  return [
    "(version 1)",
    "(deny default)",
    "(allow process-exec process-fork)",
    "(allow signal (target same-sandbox))",
    "(allow sysctl-read)",
    "(allow file-read-metadata)",
    readRoots === null
      ? "(allow file-read*)"
      : `(allow file-read* ${below([...SYSTEM_DIRECTORIES, ...readRoots, ...writableRoots])})`,
    '(allow file-write-data (literal "/dev/null"))',
    writableRoots.length > 0 ? `(allow file-write* ${below(writableRoots)})` : [],
    readOnlyPaths.length > 0 ? `(deny file-write* ${below(readOnlyPaths)})` : [],
    hidden.length > 0 ? `(deny file-read* file-write* ${below(hidden)})` : [],
    "(deny file-write-setugid)",
    network ? "(allow network*)" : "(allow network* (local unix-socket) (remote unix-socket))",
  ]
    .flat()
    .join("\n");
}

/** Returns a string literal of the profile's language. */
function quotedForProfile(text: string): string {
  return `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}

/** Returns the macOS sandbox. A profile names paths, not globs, so a policy is enforced only in part. */
export function seatbelt(options: SeatbeltOptions, policy?: CommandPolicy): SandboxProvider {
  const { writableRoots, network } = options;
  const hidden = policy?.stateDirs ?? [];
  const profile = seatbeltProfile({ ...options, hidden });
  const prefix = ["/usr/bin/sandbox-exec", "-p", profile];
  const tried = spawnSync(prefix[0] as string, [...prefix.slice(1), "/usr/bin/true"]);
  if (tried.status !== 0) throw unavailableProvider("sandbox-exec cannot be used");
  const status: SandboxStatus = Object.freeze({
    tier: "seatbelt",
    files: policy === undefined ? "enforced" : "partial",
    network: network ? "none" : "enforced",
    policy: policy === undefined ? "none" : "partial",
    processes: "partial",
    limits: "none",
  });
  return Object.freeze<SandboxProvider>({
    status,
    degrade: options.degrade,
    within: (next) => {
      const roots = writableRoots.flatMap((root) => realPathOrNone(root) ?? []);
      return seatbelt({ ...options, writableRoots: commonDirectories(roots, next.write) }, next);
    },
    run: (command) => runProcess([...prefix, ...command.argv], command),
  });
}

/** Creates the error for a sandbox that this machine does not have. */
export function unavailableProvider(why: string): FilewrightError {
  return new FilewrightError("SANDBOX_SETUP_FAILED", `No sandbox for commands: ${why}.`, {
    complete: true,
    hint: 'install it, or say that less will do with degrade: "allow"',
  });
}
