/** What the native addon offers for commands; `crates/node/src/sandbox.rs`. */
import type { CancelToken } from "./roots.ts";
import type { Packed } from "./unpack.ts";

/** Commands under restrictions. Specifications and commands cross as JSON. */
export interface SandboxBinding {
  /** Whether files, network, signals and forks are restricted, and the version of Landlock. */
  sandboxStatus(spec: string): readonly number[];
  /** The names of the system calls that a specification may forbid. */
  sandboxSyscalls(): readonly string[];
  /** The name of the error, or null. */
  sandboxProbe(spec: string, kind: string, path: string | undefined): Promise<string | null>;
  /** What commands may not see or change, as JSON; `crates/sandbox/src/scan.rs`. */
  sandboxScan(spec: string): Promise<string>;
  /** Removes a place below a root. Paths are in hexadecimal here and below; links are not followed. */
  sandboxRemove(root: string, path: string): Promise<void>;
  /** The text of a file of at most `most` bytes; "" for anything else that is there, null for nothing. */
  sandboxRead(root: string, path: string, most: number): Promise<string | null>;
  /** Puts a file with this text in the place of whatever is there. */
  sandboxReplace(root: string, path: string, text: string): Promise<void>;
  /** `status`, `signal`, `timedOut`, `truncated`; output, errors and the limit that was passed. */
  sandboxRun(spec: string, command: string, cancel: CancelToken | undefined): Promise<Packed>;
}
