// Checks the workflows with actionlint, and the shell scripts in them and beside them with
// shellcheck. actionlint is built from its source, once for a checkout, by Go. In CI a missing tool is
// a failure; elsewhere it is told, and the check is omitted.
import { spawnSync } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { BuildError, isInstalled, root, runAndWait, runScript } from "./lib/run.mjs";

/** The version of actionlint. It knows the names of GitHub's runners, so an old one refuses new names. */
const ACTIONLINT_VERSION = "1.7.12";
const TOOL_FOLDER = `.cache/tools/actionlint-${ACTIONLINT_VERSION}`;
const inCi = process.env.CI === "true";

/** Ends the check in CI, and tells elsewhere what is missing. */
function reportMissing(what) {
  if (inCi) throw new BuildError(`${what}; .ci/run has to install it`);
  console.error(`note: ${what}, so the workflows are not checked with it`);
}

/** Returns the path of actionlint, which is built if it is not there; undefined if there is no Go. */
function actionlintProgram() {
  const program = join(root, TOOL_FOLDER, process.platform === "win32" ? "actionlint.exe" : "actionlint");
  if (existsSync(program)) return program;
  // `go version` because `go --version` is an error.
  if (spawnSync("go", ["version"], { stdio: "ignore" }).status !== 0) {
    reportMissing("Go, which builds actionlint, is missing");
    return undefined;
  }
  console.log(`building actionlint ${ACTIONLINT_VERSION}`);
  // Without C and inlining it compiles in less time; it runs for a fraction of a second.
  const source = `github.com/rhysd/actionlint/cmd/actionlint@v${ACTIONLINT_VERSION}`;
  const { status, stderr } = runAndWait("go", ["install", "-ldflags=-s -w", "-gcflags=all=-l", source], {
    env: { CGO_ENABLED: "0", GOBIN: join(root, TOOL_FOLDER) },
    capture: true,
    check: false,
  });
  if (status === 0) return program;
  rmSync(join(root, TOOL_FOLDER), { recursive: true, force: true });
  reportMissing(`actionlint cannot be built: ${stderr.trim().split("\n").slice(-2).join(" ")}`);
  return undefined;
}

/** Returns the shell scripts that git knows. */
const shellScripts = () =>
  runAndWait("git", ["ls-files", ".ci/run", "*.sh"], { capture: true }).stdout.split("\n").filter(Boolean);

await runScript(() => {
  const hasShellcheck = isInstalled("shellcheck");
  if (hasShellcheck) runAndWait("shellcheck", shellScripts());
  else reportMissing("shellcheck is missing");
  const actionlint = actionlintProgram();
  if (actionlint !== undefined) runAndWait(actionlint, hasShellcheck ? [] : ["-shellcheck="]);
});
