/** The bound on the text of an answer, from the policy that a backend enforces. */
import type { FsBackend } from "../backend.ts";
import type { SandboxPolicy } from "../policy.ts";

const bounds = new WeakMap<FsBackend, number>();

/** Sets a backend's bound from its policy; a lower bound of the `inner` backend wins. */
export function boundOutput(backend: FsBackend, policy: SandboxPolicy | undefined, inner?: FsBackend): void {
  const own = [policy?.maxOutputBytes, inner === undefined ? undefined : bounds.get(inner)];
  const known = own.filter((bound) => bound !== undefined);
  if (known.length > 0) bounds.set(backend, Math.min(...known));
}

/**
 * Returns the maximum bytes of text in an answer over this backend, or undefined where no policy
 * limits it.
 */
export function outputBoundOf(backend: FsBackend): number | undefined {
  return bounds.get(backend);
}
