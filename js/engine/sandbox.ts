/** What the native addon offers for commands; `crates/node/src/sandbox.rs`. */
import type { CancelToken } from "./roots.ts";
import type { Packed } from "./unpack.ts";

/** Commands under restrictions. Specifications and commands cross as JSON. */
export interface SandboxBinding {
  /** Whether files and network are restricted, and the version of Landlock. */
  sandboxStatus(spec: string): readonly number[];
  /** The name of the error, or null. */
  sandboxProbe(spec: string, kind: string, path: string | undefined): Promise<string | null>;
  /** `status`, `signal`, `timedOut`, `truncated`; output and errors. */
  sandboxRun(spec: string, command: string, cancel: CancelToken | undefined): Promise<Packed>;
}
