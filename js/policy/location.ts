/**
 * A path argument that passed the policy. The key `checkedBrand` is private to this folder, so no other code can make a
 * `Location`: having one proves that the path was checked.
 */
import type { Intent } from "../backends/policy.ts";

declare const checkedBrand: unique symbol;

/** A path that the policy allows to be read or written, as `intent` says. Frozen. */
export interface Location {
  readonly [checkedBrand]: true;
  /** The path as the caller wrote it. */
  readonly typed: string;
  /** The absolute, normalised path for a backend. */
  readonly path: string;
  readonly intent: Intent;
  /** The deepest root that contains the path; `/` where everything may be read. */
  readonly root: string;
  /** True when the typed path ended in `/`, `.` or `..`, so that it can only be a directory. */
  readonly directory: boolean;
}

/** Creates a location. Only code of this folder may call it, after it has checked the path. */
export function makeLocation(facts: Omit<Location, typeof checkedBrand>): Location {
  return Object.freeze({ ...facts }) as Location;
}
