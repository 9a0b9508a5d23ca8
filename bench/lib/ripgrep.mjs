// Runs ripgrep like an agent: as a process whose output is collected.
import { spawn } from "node:child_process";
import { rgPath } from "@vscode/ripgrep";

// The options with which ripgrep searches the same files as ours: with dot files, without `.git`.
const COMMON_OPTIONS = ["--no-config", "--color=never", "--no-messages", "--hidden", "--glob=!.git"];

/** Runs ripgrep in a folder and returns what it printed. After `lines` lines it is killed. */
export function runRipgrep(folder, args, { lines = Number.POSITIVE_INFINITY } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(rgPath, [...COMMON_OPTIONS, ...args], {
      cwd: folder,
      stdio: ["ignore", "pipe", "inherit"],
    });
    const parts = [];
    let seen = 0;
    child.stdout.on("data", (part) => {
      parts.push(part);
      if (lines === Number.POSITIVE_INFINITY) return;
      for (let at = part.indexOf(10); at >= 0; at = part.indexOf(10, at + 1)) seen += 1;
      if (seen >= lines) child.kill();
    });
    child.on("error", reject);
    child.on("close", (status, signal) => {
      if (status === 2) reject(new Error("ripgrep failed"));
      else resolve(signal ? parts : Buffer.concat(parts).toString());
    });
  });
}
