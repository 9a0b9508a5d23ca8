// Builds an output only if it is stale, that is, if its inputs have changed since it was built.
//
// A file next to the output, the stamp, contains a hash of the name, size and modification time of
// every input. Comparing it takes milliseconds, and also detects inputs that were deleted.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { root } from "./run.mjs";

function* filesBelowPath(path) {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return;
  if (!stat.isDirectory()) return void (yield [path, stat]);
  for (const name of readdirSync(path).sort()) yield* filesBelowPath(join(path, name));
}

/** Returns a line of text that changes if an input or a setting does. */
export function inputsFingerprint(inputs, ...settings) {
  const hash = createHash("sha256").update(JSON.stringify(settings));
  for (const input of inputs) {
    for (const [path, stat] of filesBelowPath(join(root, input)))
      hash.update(`${path}\0${stat.size}\0${stat.mtimeMs}\n`);
  }
  return hash.digest("hex");
}

/**
 * Runs `make`, unless the outputs exist and the inputs have not changed since its last run.
 *
 * @param {{ stamp: string, outputs: string[], inputs: string[], settings?: unknown[], force?: boolean }} what
 * @returns {Promise<boolean>} whether anything was built
 */
export async function buildWhenStale({ stamp, outputs, inputs, settings = [], force = false }, make) {
  const file = join(root, stamp);
  const before = inputsFingerprint(inputs, ...settings);
  const fresh =
    !force &&
    outputs.every((output) => existsSync(join(root, output))) &&
    existsSync(file) &&
    readFileSync(file, "utf8") === before;
  if (fresh) return false;
  await make();
  mkdirSync(dirname(file), { recursive: true });
  // The fingerprint from before the build, so that an input that changed during it makes the output
  // stale.
  writeFileSync(file, before);
  return true;
}
