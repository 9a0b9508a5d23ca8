/**
 * Running commands where an operating system keeps them inside their roots: what
 * a provider offers. The one for Linux is in `sandbox.node.ts`; others may run
 * commands in a container, or on another machine.
 */

/** What a provider enforces. */
export interface SandboxStatus {
  /** How: such as `landlock+seccomp`, or `none`. */
  readonly tier: string;
  readonly files: "enforced" | "partial" | "none";
  readonly network: "enforced" | "partial" | "none";
}

/** A command. No shell is involved unless it is one. */
export interface SandboxCommand {
  /** The program and its arguments. */
  readonly argv: readonly string[];
  /** The directory it runs in: absolute. */
  readonly cwd: string;
  /** Beside what the provider gives every command. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** After this long it is killed, with everything it started. */
  readonly timeoutMs: number;
  /** Kept of its output and of its errors, each. */
  readonly maxOutputBytes: number;
  readonly signal?: AbortSignal | undefined;
}

/** What came of a command. */
export interface SandboxOutcome {
  /** Null where it was ended from outside. */
  readonly exitCode: number | null;
  /** The number of the signal that ended it. */
  readonly signal: number | null;
  readonly timedOut: boolean;
  /** Whether more was written than was kept. */
  readonly truncated: boolean;
  readonly stdout: string;
  readonly stderr: string;
}

/** What can be tried inside a sandbox. */
export type SandboxProbe = "write" | "tcp_connect" | "unix_socket";

/** Runs commands under restrictions. */
export interface SandboxProvider {
  /** What holds for every command. */
  readonly status: SandboxStatus;
  /** @throws FilewrightError SANDBOX_SETUP_FAILED, NOT_FOUND, PERMISSION_DENIED, CANCELLED */
  run(command: SandboxCommand): Promise<SandboxOutcome>;
  /** Tries something; tells the system's word for what prevented it. */
  probe?(
    kind: SandboxProbe,
    options?: { readonly path?: string | undefined },
  ): Promise<{ readonly ok: boolean; readonly errno?: string }>;
}
