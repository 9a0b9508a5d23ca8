/**
 * The calls of the native addon about commands: running one, and scanning for entries it may not
 * access.
 */
import { totalmem } from "node:os";
import { FilewrightError, fromEngine, makeError } from "../../engine/errors.ts";
import { loadNative, type NativeBinding } from "../../engine/load.node.ts";
import { decodeSandboxedCommand } from "../../engine/generated/records.ts";
import { Unpacker } from "../../engine/wire/unpack.ts";
import { nearest } from "../../schema/nearest.ts";
import { list, type OptionalOption, text } from "../../schema/option.ts";
import { checkSignal } from "../failure.ts";
import { inheritedEnv } from "./sandbox-process.node.ts";
import type { CommandLimits, CommandPolicy, SandboxCommand, SandboxOutcome } from "./sandbox.ts";

/** The restrictions of a command in the form the addon takes; `crates/sandbox/src/spec.rs`. */
export interface NativeSpec {
  /** The paths that may be read; null: all of them except devices and `/proc` of other processes. */
  readonly read: readonly string[] | null;
  readonly write: readonly string[];
  /** Paths outside `write` that commands must not read. */
  readonly exclude?: readonly string[];
  /** As `exclude`; the directories above these cannot be listed either. */
  readonly unlisted?: readonly string[];
  readonly network: boolean;
  /** True if commands may make Unix sockets that are no connected pair. */
  readonly sockets: boolean;
  readonly degrade?: boolean;
  readonly withoutLandlock?: boolean;
  /**
   * True for a program that restricts commands itself: it runs without restrictions, and gets the filter at
   * descriptor 9.
   */
  readonly bare?: boolean;
  /** The names of further system calls that are refused in the command. */
  readonly forbid?: readonly string[];
  readonly limits: Readonly<Record<string, number>>;
}

/** An entry that commands may not see. */
export interface HiddenEntry {
  readonly path: string;
  readonly directory: boolean;
}

/** An entry that a scan found. */
export interface ScannedEntry {
  readonly path: string;
  /** The bytes of a path that is not UTF-8, in hexadecimal. Only in scans after a command. */
  readonly bytes?: string;
  /** The identity of the entry: equal ids denote the same entry. */
  readonly id: string;
}

/** An entry that commands may not change. */
export interface ProtectedEntry extends ScannedEntry {
  readonly type: "file" | "directory" | "link" | "other";
  /** The id of the directory that contains the entry. */
  readonly parent: string;
}

/** A repository that a scan found. The kind `file` is a `.git` file that names the directory of a repository. */
export interface RepositoryEntry extends ScannedEntry {
  readonly kind: "git" | "bare" | "module" | "worktree" | "file";
}

/** The result of a scan. */
export interface ScanResult {
  readonly hidden: readonly HiddenEntry[];
  readonly protected: readonly ProtectedEntry[];
  readonly repositories: readonly RepositoryEntry[];
  /** The directories that the scan could not list. */
  readonly closed: readonly ScannedEntry[];
  /** Directories that must keep their names, because rules about their content depend on the names. */
  readonly pinned: readonly string[];
}

const DEFAULT_MAX_PROCESSES = 2_048;
const DEFAULT_MAX_FILE_BYTES = 4 * 1024 ** 3;

/** Returns the limits with their defaults, in the form the addon takes: 0 is unlimited. */
export function nativeLimits(limits: CommandLimits = {}): NativeSpec["limits"] {
  const available = process.constrainedMemory?.() ?? 0;
  const memory = available > 0 ? Math.min(available, totalmem()) : totalmem();
  return Object.freeze({
    processes: limits.processes ?? DEFAULT_MAX_PROCESSES,
    memory: limits.memoryBytes ?? Math.floor(memory / 2),
    fileBytes: limits.fileBytes ?? DEFAULT_MAX_FILE_BYTES,
    cpuSeconds: limits.cpuSeconds ?? 0,
  });
}

/** Names of {@link FORBIDDEN_SYSCALLS} in other systems, mapped to ours. */
export const EXTRA_SYSCALLS: Readonly<Record<string, string>> = Object.freeze({
  extraSyscalls: "forbiddenSyscalls",
  extra_syscalls: "forbiddenSyscalls",
});

/** The names of further system calls that a host forbids. */
export const FORBIDDEN_SYSCALLS: OptionalOption<readonly string[]> = list(
  text({
    test: (name) => {
      if (name === "execve") return "must not be execve, by which every command is started";
      const known = new Set(sandboxAddon().sandboxSyscalls());
      if (known.has(name)) return undefined;
      const close = nearest(name, known);
      const remedy =
        close === undefined ? "the names are those of man 2 syscalls" : `did you mean '${close}'?`;
      return `names no system call: ${JSON.stringify(name)}; ${remedy}`;
    },
  }),
);

/** @throws FilewrightError SANDBOX_SETUP_FAILED where the addon does not load */
export function sandboxAddon(): NativeBinding {
  const loaded = loadNative();
  if ("binding" in loaded) return loaded.binding;
  throw new FilewrightError("SANDBOX_SETUP_FAILED", loaded.failure.message, { hint: loaded.failure.remedy });
}

/** Runs `argv` instead of the command's own. @throws as {@link SandboxProvider.run} */
export async function runNative(
  native: NativeBinding,
  spec: NativeSpec,
  argv: readonly string[],
  { cwd, env, timeoutMs, maxOutputBytes, signal }: SandboxCommand,
): Promise<SandboxOutcome> {
  checkSignal(signal, cwd);
  const command = JSON.stringify({
    argv,
    cwd,
    env: { ...inheritedEnv(), ...env },
    timeoutMs,
    maxOutput: maxOutputBytes,
  });
  const token = signal === undefined ? undefined : new native.CancelToken();
  const cancel = (): void => token?.cancel();
  signal?.addEventListener("abort", cancel, { once: true });
  try {
    const packed = await native.sandboxRun(JSON.stringify(spec), command, token).catch(rethrowNativeError);
    const { exceeded, ...outcome } = decodeSandboxedCommand(new Unpacker(packed));
    return exceeded === null ? outcome : { ...outcome, exceeded };
  } finally {
    signal?.removeEventListener("abort", cancel);
  }
}

/**
 * Finds the entries that a policy hides from or protects against commands, in `directories` and
 * below, at most `depth` names deep.
 * @throws FilewrightError SANDBOX_SETUP_FAILED for an entry that cannot be examined or masked
 */
export async function scanPlaces(
  native: NativeBinding,
  policy: CommandPolicy,
  directories: readonly string[],
  { depth }: { readonly depth?: number } = {},
): Promise<ScanResult> {
  return scanTree(native, policy, directories, { depth: depth ?? null });
}

/**
 * Finds protected places and repositories before a command, to compare with {@link scanMade}.
 * Continues after entries that cannot be examined.
 */
export async function scanProtected(
  native: NativeBinding,
  policy: CommandPolicy,
  directories: readonly string[],
): Promise<ScanResult> {
  return scanTree(native, { ...policy, deny: [], secrets: false }, directories, { lenient: true });
}

/**
 * Finds protected places and repositories after a command. Continues after entries that cannot be
 * examined, and makes directories accessible to their owner that cannot be listed and could be
 * `before`: a command must not be able to hide a place.
 */
export async function scanMade(
  native: NativeBinding,
  policy: CommandPolicy,
  directories: readonly string[],
  before: ScanResult,
): Promise<ScanResult> {
  const opensBut = before.closed.map(({ id }) => id);
  const rules = { ...policy, deny: [], secrets: false };
  return scanTree(native, rules, directories, { lenient: true, opensBut });
}

async function scanTree(
  native: NativeBinding,
  policy: CommandPolicy,
  directories: readonly string[],
  more: object,
): Promise<ScanResult> {
  const { cwd, deny, protect, secrets, repositories, places = [] } = policy;
  const roots = [...new Set([...(policy.read ?? []), ...policy.write])];
  const rules = { deny, protect, secrets, places };
  const spec = JSON.stringify({ cwd, roots, scan: directories, repositories, ...rules, ...more });
  return JSON.parse(await native.sandboxScan(spec).catch(rethrowNativeError)) as ScanResult;
}

/** Runs a synchronous call of the addon and converts its errors. */
export function callNative<T>(run: () => T): T {
  try {
    return run();
  } catch (error) {
    return rethrowNativeError(error);
  }
}

/** Throws the addon's error with a complete message, because it concerns no path. */
export function rethrowNativeError(thrown: unknown): never {
  const { code, message, hint, details } = fromEngine(thrown);
  throw makeError(code, message, { hint, details });
}
