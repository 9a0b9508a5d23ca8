/**
 * Keeps an idle server small in memory.
 *
 * V8 lets the part of its heap for new objects (the young generation) grow to 8 MiB while modules are loaded,
 * and never gives the memory back. Clients start servers early and leave most of them idle, so this growth is
 * prevented until the first call.
 */
import { setFlagsFromString } from "node:v8";

/** The growth factor that V8 uses by default. */
const DEFAULT_GROWTH_FACTOR = 2;

/** Prevents the young generation from growing. Must be called before a large module is loaded. */
export function limitHeapGrowth(): void {
  setFlagsFromString("--semi-space-growth-factor=1");
}

/** Allows the growth again, because calls create many short-lived objects. */
export function restoreHeapGrowth(): void {
  setFlagsFromString(`--semi-space-growth-factor=${DEFAULT_GROWTH_FACTOR}`);
}
