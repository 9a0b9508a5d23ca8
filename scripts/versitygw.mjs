// Builds versitygw, the S3 server of the tests, from its source, once for a checkout, by Go. Prints its
// path. Without Go the tests that need it fail in CI, and are skipped elsewhere.
import { spawnSync } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { BuildError, root, runAndWait, runScript } from "./lib/run.mjs";

const VERSITYGW_VERSION = "1.8.0";
const TOOL_FOLDER = `.cache/tools/versitygw-${VERSITYGW_VERSION}`;

/** The path of versitygw once it is built. */
export const VERSITYGW_PROGRAM = join(root, TOOL_FOLDER, "versitygw");

/** Builds versitygw if it is not there. */
function buildVersitygw() {
  if (existsSync(VERSITYGW_PROGRAM)) return;
  // `go version` because `go --version` is an error.
  if (spawnSync("go", ["version"], { stdio: "ignore" }).status !== 0)
    throw new BuildError("Go 1.26, which builds versitygw, is missing; .ci/run has to install it");
  const source = `github.com/versity/versitygw/cmd/versitygw@v${VERSITYGW_VERSION}`;
  // Without C and inlining it compiles in less time.
  const { status, stderr } = runAndWait("go", ["install", "-ldflags=-s -w", "-gcflags=all=-l", source], {
    env: { CGO_ENABLED: "0", GOBIN: join(root, TOOL_FOLDER) },
    capture: true,
    check: false,
  });
  if (status === 0) return;
  rmSync(join(root, TOOL_FOLDER), { recursive: true, force: true });
  throw new BuildError(`versitygw cannot be built: ${stderr.trim().split("\n").slice(-2).join(" ")}`);
}

if (process.argv[1] === join(root, "scripts/versitygw.mjs")) {
  await runScript(() => {
    try {
      buildVersitygw();
      console.log(VERSITYGW_PROGRAM);
    } catch (error) {
      if (process.env.CI === "true" || !(error instanceof BuildError)) throw error;
      console.error(`note: ${error.message}; the tests with it are skipped`);
    }
  });
}
