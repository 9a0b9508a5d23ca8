/**
 * The backends whose searches already answer only what a policy allows, so that their answers are not judged path by
 * path again: a layer over a confined backend is one, as long as its own changes are allowed.
 */
import type { FsBackend } from "../backend.ts";
import type { SandboxPolicy } from "../policy.ts";

const judges = new WeakMap<FsBackend, (policy: SandboxPolicy) => boolean>();

/** Records when the `grep` and `find` of a backend answer only what a policy allows. It is asked before each search. */
export function provideAllowedAnswers(backend: FsBackend, judge: (policy: SandboxPolicy) => boolean): void {
  judges.set(backend, judge);
}

/** Returns true when the `grep` and `find` of a backend answer only what a policy allows. */
export function answersOnlyAllowed(backend: FsBackend, policy: SandboxPolicy): boolean {
  return judges.get(backend)?.(policy) === true;
}
