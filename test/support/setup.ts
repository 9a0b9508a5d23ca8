/**
 * Vitest runs this file before every test file, also where the files of a process share their modules. A
 * hook in a module that several files import would be registered for the first of them alone.
 */
import { afterEach } from "vitest";
import { nextTimestamp } from "../../js/journal/call-id.ts";
import { cleanUp } from "./cleanups.ts";

/** The milliseconds by which the timestamps of changes are ahead of the clock. Many changes at once make it a few. */
const aheadMs = (): number => nextTimestamp() - Date.now();
const before = aheadMs();

// The files of a process share its timestamps, which never go back: later tests would record their changes after those
// of other processes. Registered first, so it runs when a test has put the clock back.
afterEach(() => {
  if (aheadMs() > Math.max(before, 0) + 1000)
    throw new Error("a test of this file recorded a change in the future: begin its clock in the past");
});
afterEach(cleanUp);
