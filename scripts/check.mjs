// Everything that must hold before a commit: format, lint, arrows, types, clippy.
import { spawnSync } from "node:child_process";

const cargoCrates = ["-p", "filewright-core", "-p", "filewright-fs", "-p", "filewright-node"];
const steps = [
  ["format and lint", "npx", "biome", "check", "--error-on-warnings", "."],
  ["types", "npx", "tsc", "--noEmit", "-p", "."],
  ["rust format", "cargo", "fmt", "--all", "--check"],
  ["clippy", "cargo", "clippy", "--quiet", ...cargoCrates, "--all-targets", "--", "-D", "warnings"],
];

let failed = 0;
for (const [name, command, ...args] of steps) {
  const started = performance.now();
  const { status } = spawnSync(command, args, { stdio: "inherit", shell: process.platform === "win32" });
  if (status !== 0) failed += 1;
  console.log(
    `${status === 0 ? "ok  " : "FAIL"} ${name} (${((performance.now() - started) / 1000).toFixed(1)} s)`,
  );
}
process.exit(failed === 0 ? 0 : 1);
