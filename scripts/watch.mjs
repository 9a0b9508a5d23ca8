// Watches the sources. After a change it builds the native addon or the TypeScript, whichever the
// change concerns, and runs the tests that depend on the changed files. Ctrl+C ends it.
//
//   npm run watch
import { watch } from "node:fs";
import { join } from "node:path";
import { buildNative, buildTypeScript } from "./build.mjs";
import { npmProgram, BuildError, runScript, root, runAndWait } from "./lib/run.mjs";

/**
 * The time without a further change after which a change counts as complete, because editors write
 * a file in several steps.
 */
const QUIET_MS = 200;

/** Builds and tests once for a set of changed paths, relative to the checkout. */
async function buildAndTest(paths) {
  const crates = new Set(paths.map((path) => /^crates\/([^/]+)\//.exec(path)?.[1]).filter(Boolean));
  const scripts = paths.filter((path) => /^(js|packages|test)\/.*\.ts$/.test(path));
  if (crates.size > 0) {
    await buildNative();
    for (const crate of crates) {
      if (["core", "fs", "index", "sandbox"].includes(crate))
        runAndWait("cargo", ["test", "-p", `filewright-${crate}`], { check: false });
    }
  }
  if (scripts.length > 0) {
    await buildTypeScript();
    runAndWait(npmProgram("vitest"), ["related", "--run", "--project", "fast", ...scripts], { check: false });
  }
  console.log(`\nwatching: ${new Date().toLocaleTimeString()}`);
}

await runScript(async () => {
  await buildNative();
  await buildTypeScript();
  const changed = new Set();
  let wake = () => {};
  for (const folder of ["js", "packages/storage/src", "crates", "test"]) {
    watch(join(root, folder), { recursive: true }, (_, name) => {
      if (name === null) return;
      changed.add(`${folder}/${name}`);
      wake();
    });
  }
  console.log("watching js, crates and test");
  while (true) {
    await new Promise((resolve) => {
      wake = resolve;
    });
    await new Promise((resolve) => setTimeout(resolve, QUIET_MS));
    const paths = [...changed];
    changed.clear();
    try {
      await buildAndTest(paths);
    } catch (error) {
      if (!(error instanceof BuildError)) throw error;
      console.error(`error: ${error.message}`);
    }
  }
});
