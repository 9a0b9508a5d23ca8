/** A directory of a test. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterThisTest } from "./cleanups.ts";

/** Makes a directory that is removed after the test. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "filewright-test-"));
  // A workspace that the test has left open may still put a record away in it.
  afterThisTest(() => rmSync(directory, { recursive: true, force: true, maxRetries: 5 }));
  return directory;
}
