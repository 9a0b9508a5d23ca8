/**
 * Keeps the memory of an idle server small.
 *
 * V8 lets its young generation grow to eight megabytes while modules are loaded, and never returns them to
 * the system. A client starts a server early and mostly leaves it idle, so the young generation must stay
 * small until the first call.
 */
import { setFlagsFromString } from "node:v8";

/** The default value of V8. */
const USUAL_GROWTH = 2;

/** Stops the growth of the young generation. The caller must run this before it loads a large module. */
export function limitHeapGrowth(): void {
  setFlagsFromString("--semi-space-growth-factor=1");
}

/** Restores the default growth, because calls need the space. */
export function restoreHeapGrowth(): void {
  setFlagsFromString(`--semi-space-growth-factor=${USUAL_GROWTH}`);
}
