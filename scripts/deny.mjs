// What the crates bring with them: licences, crates that are banned or there twice,
// and where they come from, by cargo-deny and `deny.toml`. Advisories are left to
// whoever has the list of them: it changes without a change of ours. No part of CI.
// Says so where the tool cannot be had.
//
//   node scripts/deny.mjs
//
// Needs: cargo install --locked cargo-deny
import { join } from "node:path";
import { main, root, run } from "./lib/run.mjs";

/** Runs the checks. @returns counts as of tests */
export function deny() {
  const checks = ["licenses", "bans", "sources"];
  const found = run("cargo", ["deny", "--version"], { capture: true, check: false });
  if (found.status !== 0) {
    console.log("cargo deny: skipped, it is not installed (cargo install --locked cargo-deny)");
    return { passed: 0, failed: 0, skipped: checks.length };
  }
  const { status } = run("cargo", ["deny", "--offline", "check", ...checks], { check: false });
  return { passed: status === 0 ? checks.length : 0, failed: status === 0 ? 0 : 1, skipped: 0 };
}

if (process.argv[1] === join(root, "scripts/deny.mjs")) {
  await main(() => {
    if (deny().failed > 0) process.exitCode = 1;
  });
}
