/**
 * A server that waits takes little memory.
 *
 * While modules are loaded V8 lets the space for young objects grow to eight
 * megabytes, and never gives them back to the system. A server is started with
 * every client and mostly waits, so the space stays small until the first call.
 */
import { setFlagsFromString } from "node:v8";

/** V8's own value. */
const USUAL_GROWTH = 2;

/** Keeps the young space from growing. Called before anything large is loaded. */
export function stayLean(): void {
  setFlagsFromString("--semi-space-growth-factor=1");
}

/** Lets it grow again: from now on there is work to do. */
export function growAsUsual(): void {
  setFlagsFromString(`--semi-space-growth-factor=${USUAL_GROWTH}`);
}
