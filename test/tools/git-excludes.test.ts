/** The person's git excludes: what git hides in every repository, searches and listings hide too. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { openWorkspace } from "../../js/index.node.ts";

let base: string;
const write = (path: string, text: string): void => {
  mkdirSync(dirname(join(base, path)), { recursive: true });
  writeFileSync(join(base, path), text);
};
const git = (...args: string[]): string =>
  execFileSync("git", ["-C", join(base, "repo"), ...args], { encoding: "utf8" });

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "filewright-excludes-")));
  vi.stubEnv("HOME", join(base, "home"));
  vi.stubEnv("XDG_CONFIG_HOME", undefined);
  vi.stubEnv("GIT_CONFIG_GLOBAL", undefined);
  vi.stubEnv("GIT_CONFIG_NOSYSTEM", "1");
  for (const name of ["a.txt", "b.log", "s/c.log", "s/d.tmp", "keep.log"]) write(`repo/${name}`, "word\n");
  mkdirSync(join(base, "home"));
  git("init", "-q");
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(base, { recursive: true, force: true });
});

/** The files that git does not ignore, by `git status`. */
const byGit = (): string[] =>
  git("status", "--porcelain", "-uall")
    .split("\n")
    .map((line) => line.slice(3))
    .filter((path) => path !== "")
    .sort();

/** The files that glob and grep see. */
async function seen(): Promise<string[]> {
  const ws = await openWorkspace({ root: join(base, "repo"), stateDir: join(base, "state") });
  try {
    const { matches } = await ws.glob({ pattern: "**" });
    const { files } = await ws.grep({ pattern: "word", output: "files" });
    expect([...(files ?? [])].sort()).toEqual([...matches].sort());
    const listed = (await ws.listDirectory({ path: ".", depth: 3, respect_ignore: true })).entries;
    expect(listed.filter(({ type }) => type === "file").length).toBe(matches.length);
    return [...matches].sort();
  } finally {
    await ws.close();
  }
}

it("are read from ~/.config/git/ignore", async () => {
  write("home/.config/git/ignore", "*.log\n!keep.log\n");
  expect(byGit()).toEqual(["a.txt", "keep.log", "s/d.tmp"]);
  expect(await seen()).toEqual(byGit());
});

it("are read from XDG_CONFIG_HOME", async () => {
  vi.stubEnv("XDG_CONFIG_HOME", join(base, "xdg"));
  write("xdg/git/ignore", "*.tmp\n");
  write("home/.config/git/ignore", "*.log\n");
  expect(byGit()).toEqual(["a.txt", "b.log", "keep.log", "s/c.log"]);
  expect(await seen()).toEqual(byGit());
});

it.each([
  ["~/.gitconfig", "home/.gitconfig"],
  ["an included file", "home/more.inc"],
])("are read from core.excludesFile in %s", async (_, file) => {
  write("home/.config/git/ignore", "*.txt\n");
  write("home/rules", "*.tmp\n");
  write("home/.gitconfig", "[include]\n\tpath = more.inc\n");
  write(file, "[core]\n\texcludesFile = ~/rules\n");
  expect(byGit()).toEqual(["a.txt", "b.log", "keep.log", "s/c.log"]);
  expect(await seen()).toEqual(byGit());
});

it("are read from the repository's core.excludesFile below the root", async () => {
  write("repo/.rules", "*.log\n# a word\n");
  git("config", "core.excludesFile", ".rules");
  expect(byGit()).toEqual([".rules", "a.txt", "s/d.tmp"]);
  expect(await seen()).toEqual(byGit());
});

it("are not read from a file outside that the repository names: what is hidden would tell of it", async () => {
  write("elsewhere/secret", "*.log\n");
  git("config", "core.excludesFile", join(base, "elsewhere/secret"));
  expect(await seen()).toEqual(["a.txt", "b.log", "keep.log", "s/c.log", "s/d.tmp"]);
});

it("hold in a repository in the repository, from its own top", async () => {
  write("home/.config/git/ignore", "/a.txt\n");
  write("repo/in/a.txt", "word\n");
  write("repo/in/d/a.txt", "word\n");
  git("init", "-q", "in");
  expect(byGit()).toEqual(["b.log", "in/", "keep.log", "s/c.log", "s/d.tmp"]);
  expect(await seen()).toEqual(["b.log", "in/d/a.txt", "keep.log", "s/c.log", "s/d.tmp"]);
});

it("rank below the repository's own rules, and count without them too", async () => {
  write("home/.config/git/ignore", "*.log\n");
  write("repo/.gitignore", "!b.log\n# a word\n");
  expect(byGit()).toEqual([".gitignore", "a.txt", "b.log", "s/d.tmp"]);
  expect(await seen()).toEqual(byGit());
});

it("hold for an agent with narrower access", async () => {
  write("home/.config/git/ignore", "*.log\n");
  const ws = await openWorkspace({ root: join(base, "repo"), stateDir: join(base, "state") });
  const agent = await ws.agent("reviewer", { access: { readOnly: true } });
  const matches = (await agent.call("glob", { pattern: "**" })).data?.matches ?? [];
  expect([...matches].sort()).toEqual(["a.txt", "s/d.tmp"]);
  await ws.close();
});
