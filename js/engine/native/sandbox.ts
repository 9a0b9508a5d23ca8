/** The native addon's functions for commands; `crates/node/src/sandbox.rs`. */
import type { CancelToken } from "./roots.ts";
import type { Packed } from "../wire/unpack.ts";

/** Runs commands under restrictions. Specifications and commands are passed as JSON. */
export interface SandboxBinding {
  /** Returns 1 or 0 for restricted files, network, signals and forks, and the version of Landlock. */
  sandboxStatus(spec: string): readonly number[];
  /** Returns the names of the system calls that a specification may forbid. */
  sandboxSyscalls(): readonly string[];
  /** Returns the name of the errno, or null. */
  sandboxProbe(spec: string, kind: string, path: string | undefined): Promise<string | null>;
  /** Returns the entries that commands may not see or change, as JSON; `crates/sandbox/src/scan.rs`. */
  sandboxScan(spec: string): Promise<string>;
  /** Removes an entry below a root. Paths are in hexadecimal here and below; links are not followed. */
  sandboxRemove(root: string, path: string): Promise<void>;
  /**
   * Returns the text of a file of at most `most` bytes; "" for any other entry, null where none
   * exists.
   */
  sandboxRead(root: string, path: string, most: number): Promise<string | null>;
  /** Writes a file with this text, replacing any entry. */
  sandboxReplace(root: string, path: string, text: string): Promise<void>;
  /** Returns `status`, `signal`, `timedOut`, `truncated`; output, errors and the exceeded limit. */
  sandboxRun(spec: string, command: string, cancel: CancelToken | undefined): Promise<Packed>;
}
