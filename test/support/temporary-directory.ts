/** A directory of a test. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterThisTest } from "./cleanups.ts";

/** Makes a directory that is removed after the test. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "filewright-test-"));
  afterThisTest(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}
