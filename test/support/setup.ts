/**
 * Vitest runs this file before every test file, also where the files of a process share their modules. A
 * hook in a module that several files import would be registered for the first of them alone.
 */
import { afterEach } from "vitest";
import { nextTimestamp } from "../../js/log/call-id.ts";
import { cleanUp } from "./cleanups.ts";

/** The milliseconds by which the timestamps of changes are ahead of the clock. Many changes at once make it a few. */
const aheadMs = (): number => nextTimestamp() - Date.now();
const before = aheadMs();

// Timestamps never go back, and the files of a process share them: after a test that records a change in the future, the
// changes of all later tests would sort after those of other processes. Hooks run in reverse order, so this one, which is
// registered first, runs last, when the test has put its clock back.
afterEach(() => {
  if (aheadMs() > Math.max(before, 0) + 1000)
    throw new Error("a test of this file recorded a change in the future: begin its clock in the past");
});
afterEach(cleanUp);
