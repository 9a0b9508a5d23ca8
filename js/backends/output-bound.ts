/** The bound on answers that a policy names, carried by the backend that enforces the policy. */
import type { FsBackend } from "./backend.ts";
import type { SandboxPolicy } from "./policy.ts";

const bounds = new WeakMap<FsBackend, number>();

/** Notes the bound of a backend's policy; one below it (`inner`) keeps its own where that is lower. */
export function boundOutput(backend: FsBackend, policy: SandboxPolicy | undefined, inner?: FsBackend): void {
  const own = [policy?.maxOutputBytes, inner === undefined ? undefined : bounds.get(inner)];
  const known = own.filter((bound) => bound !== undefined);
  if (known.length > 0) bounds.set(backend, Math.min(...known));
}

/** The most bytes of text that an answer over this backend may have; undefined where no policy says. */
export function outputBoundOf(backend: FsBackend): number | undefined {
  return bounds.get(backend);
}
