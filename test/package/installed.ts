/** Packages from npm that only a slow test needs, installed when it runs. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * Installs what the manifest (a `package.json`) names into the directory `home`, unless that
 * is what it holds. Gives what went wrong, or nothing. No two tests that run at once may share a home.
 */
export function installed(manifest: string, home: string): string | undefined {
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
