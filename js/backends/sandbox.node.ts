/** Commands on Linux: Landlock for files, seccomp for the network, by the native addon. */
import { FilewrightError, fromEngine, makeError } from "../engine/errors.ts";
import { loadNative, type NativeBinding } from "../engine/native.node.ts";
import { unpack } from "../engine/unpack.ts";
import { checkSignal } from "./failure.ts";
import { inheritedEnv } from "./sandbox-process.node.ts";
import type { SandboxProvider, SandboxStatus } from "./sandbox.ts";

/** How {@link linuxSandbox} is made. Paths are absolute and exist. */
export interface LinuxSandboxOptions {
  /** What commands may change. */
  readonly writableRoots: readonly string[];
  /** What they may read and run; null, the default, for everything. */
  readonly readRoots?: readonly string[] | null | undefined;
  /** Whether they may use the network. Default false. */
  readonly network?: boolean | undefined;
  /** `allow`: run commands also where the kernel cannot restrict them. The status tells. Default `refuse`. */
  readonly degrade?: "refuse" | "allow" | undefined;
  /** `ignore`: behave as on a kernel without Landlock, for tests. */
  readonly landlock?: "use" | "ignore" | undefined;
}

/**
 * Commands that the kernel keeps inside their roots and off the network.
 *
 * @example
 * const sandbox = linuxSandbox({ writableRoots: ["/repo"] });
 * const ws = await openWorkspace({ root: "/repo", commands: sandbox });
 *
 * @throws FilewrightError SANDBOX_SETUP_FAILED where the kernel cannot do it
 */
export function linuxSandbox(options: LinuxSandboxOptions): SandboxProvider {
  const native = addon();
  const spec = JSON.stringify({
    read: options.readRoots ?? null,
    write: options.writableRoots,
    network: options.network === true,
    degrade: options.degrade === "allow",
    withoutLandlock: options.landlock === "ignore",
  });
  const [files = 0, network = 0] = guarded(() => native.sandboxStatus(spec));
  const parts = [files === 1 ? "landlock" : [], network === 1 ? "seccomp" : []].flat();
  const status: SandboxStatus = Object.freeze({
    tier: parts.join("+") || "none",
    files: files === 1 ? "enforced" : "none",
    network: network === 1 ? "enforced" : "none",
  });
  return Object.freeze<SandboxProvider>({
    status,
    async run({ argv, cwd, env, timeoutMs, maxOutputBytes, signal }) {
      checkSignal(signal, cwd);
      const command = JSON.stringify({
        argv,
        cwd,
        env: { ...inheritedEnv(), ...env },
        timeoutMs,
        maxOutput: maxOutputBytes,
      });
      const token = signal === undefined ? undefined : new native.Cancel();
      const cancel = (): void => token?.cancel();
      signal?.addEventListener("abort", cancel, { once: true });
      try {
        const packed = unpack(await native.sandboxRun(spec, command, token).catch(refused));
        const [exitCode, ended] = [packed.num(), packed.num()];
        return {
          exitCode: exitCode < 0 ? null : exitCode,
          signal: ended === 0 ? null : ended,
          timedOut: packed.flag(),
          truncated: packed.flag(),
          stdout: packed.str(),
          stderr: packed.str(),
        };
      } finally {
        signal?.removeEventListener("abort", cancel);
      }
    },
    async probe(kind, { path } = {}) {
      const errno = await native.sandboxProbe(spec, kind, path).catch(refused);
      return errno === null ? { ok: true } : { ok: false, errno };
    },
  });
}

function addon(): NativeBinding {
  const loaded = loadNative();
  if ("binding" in loaded) return loaded.binding;
  throw new FilewrightError("SANDBOX_SETUP_FAILED", loaded.reason, { hint: "run: npm run build" });
}

function guarded<T>(run: () => T): T {
  try {
    return run();
  } catch (error) {
    return refused(error);
  }
}

/** What the engine refused, in whole sentences: there is no path for it to be about. */
function refused(thrown: unknown): never {
  const { code, message, hint, details } = fromEngine(thrown);
  throw makeError(code, message, { hint, details });
}
