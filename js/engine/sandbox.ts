/** What the native addon offers for commands; `crates/node/src/sandbox.rs`. */
import type { CancelToken } from "./roots.ts";
import type { Packed } from "./unpack.ts";

/** Commands under restrictions. Specifications and commands cross as JSON. */
export interface SandboxBinding {
  /** Whether files, network, signals and forks are restricted, and the version of Landlock. */
  sandboxStatus(spec: string): readonly number[];
  /** The name of the error, or null. */
  sandboxProbe(spec: string, kind: string, path: string | undefined): Promise<string | null>;
  /** What commands may not see or change, as JSON; `crates/sandbox/src/scan.rs`. */
  sandboxScan(spec: string): Promise<string>;
  /** `status`, `signal`, `timedOut`, `truncated`; output, errors and the limit that was passed. */
  sandboxRun(spec: string, command: string, cancel: CancelToken | undefined): Promise<Packed>;
}
