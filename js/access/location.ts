/**
 * A path argument after it was judged: only this room can make one, so whoever
 * holds a `Location` knows that its path passed the policy.
 */
import type { Intent } from "../backends/policy.ts";

declare const judged: unique symbol;

/** A path that a policy allows for an intent. Frozen. */
export interface Location {
  readonly [judged]: true;
  /** As the caller wrote it. */
  readonly typed: string;
  /** Absolute and normalised: what a backend is given. */
  readonly path: string;
  readonly intent: Intent;
  /** The deepest root that holds the path; `/` where everything may be read. */
  readonly root: string;
  /** The typed path ended in `/`, `.` or `..`, so only a directory can be meant. */
  readonly directory: boolean;
}

/** Makes a location. For this room alone. */
export function makeLocation(facts: Omit<Location, typeof judged>): Location {
  return Object.freeze({ ...facts }) as Location;
}
