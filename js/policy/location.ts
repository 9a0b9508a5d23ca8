/**
 * A path argument that passed the policy. The brand is private to this folder, so a `Location` is
 * proof of the check.
 */
import type { Intent } from "../backends/policy.ts";

declare const checked: unique symbol;

/** A path that a policy allows for an intent. Frozen. */
export interface Location {
  readonly [checked]: true;
  /** As the caller wrote it. */
  readonly typed: string;
  /** The absolute, normalised path for a backend. */
  readonly path: string;
  readonly intent: Intent;
  /** The deepest root that contains the path; `/` where everything may be read. */
  readonly root: string;
  /** True when the typed path ended in `/`, `.` or `..`, so that it can only be a directory. */
  readonly directory: boolean;
}

/** Creates a location. Only for this folder. */
export function makeLocation(facts: Omit<Location, typeof checked>): Location {
  return Object.freeze({ ...facts }) as Location;
}
