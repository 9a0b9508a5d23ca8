// Packages from npm that only a slow test or a release needs. They are installed when they are first needed,
// in a folder of their own, so that `npm install` in the checkout stays small.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";

/**
 * Installs what the manifest (a `package.json`) names into the folder `home`, unless that is what the folder
 * holds. No two processes may install in one home at the same time.
 *
 * @param {string} manifest
 * @param {string} home
 * @returns {string | undefined} the reason of a failure
 */
export function installNpmHome(manifest, home) {
  const wanted = readFileSync(manifest, "utf8");
  const stamp = join(home, ".installed");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) return undefined;
  mkdirSync(home, { recursive: true });
  rmSync(stamp, { force: true });
  rmSync(join(home, "package-lock.json"), { force: true });
  writeFileSync(join(home, "package.json"), wanted);
  const args = ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  const { status, stderr } = spawnSync("npm", args, {
    cwd: home,
    encoding: "utf8",
    shell: process.platform === "win32",
  });
  if (status !== 0) return `npm install failed: ${stderr.trim().split("\n").slice(0, 3).join(" ")}`;
  writeFileSync(stamp, wanted);
  return undefined;
}
