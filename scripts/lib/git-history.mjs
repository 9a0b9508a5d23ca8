// Reads the history of a checkout for checks that compare it with earlier commits.
import { spawnSync } from "node:child_process";

/** Runs git in a checkout. Returns its output; undefined if it fails. */
export function git(checkout, ...args) {
  const { status, stdout } = spawnSync("git", args, { cwd: checkout, encoding: "utf8", maxBuffer: 64 << 20 });
  return status === 0 ? stdout.trimEnd() : undefined;
}

/**
 * Returns how much history a checkout has: `none` without git or a commit, `shallow` if earlier commits
 * are cut off, `full` otherwise.
 */
export function historyDepth(checkout) {
  if (git(checkout, "rev-parse", "--verify", "--quiet", "HEAD") === undefined) return "none";
  return git(checkout, "rev-parse", "--is-shallow-repository") === "true" ? "shallow" : "full";
}

/**
 * Returns the texts that a file has had in HEAD and in the commits before it, each with its commit: at
 * most `limit` of those that changed it, the latest.
 * @returns {{ commit: string, text: string }[]}
 */
export function earlierTexts(checkout, path, limit) {
  const log = ["log", "--format=%h", "--full-history", `--max-count=${limit}`, "HEAD", "--", path];
  const commits = git(checkout, ...log) ?? "";
  return ["HEAD", ...commits.split("\n").filter(Boolean)].flatMap((commit) => {
    const text = git(checkout, "show", `${commit}:${path}`);
    return text === undefined ? [] : [{ commit, text }];
  });
}
