// Compares what searches and listings leave out with git: random trees with every source of excludes.
//
// The sources: .gitignore in any directory, .git/info/exclude, core.excludesFile of the person and of the
// repository, $XDG_CONFIG_HOME/git/ignore and ~/.config/git/ignore, and repositories in the repository.
// The reference is `git ls-files --others --cached --exclude-standard`.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { MemoryBackend, openWorkspace } from "../../dist/cli/library.js";
import { seededRandom } from "../../scripts/lib/deep-kind.mjs";

const MAX_FAILURES = 20;
const DIRECTORIES = ["a", "b", "build", "src", "x y", "ab", "d.d", "[c]"];
const FILES = [
  ...["a", "b", "ab", "a.log", "b.log", "keep.log", "a.b.c", "build", "x1", "x2", "aXb", "-d", "Ab.LOG"],
  ...[
    "x y",
    "end ",
    " start",
    "#h",
    "!n",
    "[c]",
    "q?",
    "st*r",
    "back\\slash",
    "é",
    "~",
    "a]b",
    ".hid",
    ".a.log",
  ],
];
const CLASSES = [
  "[ab]",
  "[a-c]",
  "[!a]",
  "[^b]",
  "[[:alpha:]]",
  "[[:digit:]x]",
  "[a-]",
  "[]a]",
  "[\\]a]",
  "[!]]",
];
const BROKEN = ["[a", "a\\", "[[:nope:]]", "[", "!", "/", "//", "***", "!#", "\\", "[b-a]"];

const escapeGlob = (text) => text.replace(/[*?[\\]/gu, "\\$&");

/** @returns {string} a name of a pattern, made of one that exists */
function makeName(random, name) {
  const at = random.below(name.length);
  switch (random.below(10)) {
    case 0:
      return "*";
    case 1:
      return `${escapeGlob(name.slice(0, at))}*`;
    case 2:
      return `*${escapeGlob(name.slice(at))}`;
    case 3:
      return `${escapeGlob(name.slice(0, at))}?${escapeGlob(name.slice(at + 1))}`;
    case 4:
      return `${escapeGlob(name.slice(0, at))}${random.pick(CLASSES)}${escapeGlob(name.slice(at + 1))}`;
    case 5:
      return `${escapeGlob(name.slice(0, at))}*${escapeGlob(name.slice(random.below(name.length)))}`;
    case 6:
      // As written: `[c]` and `q?` are then patterns.
      return name;
    case 7:
      return name.replace(/./u, "\\$&");
    default:
      return escapeGlob(name);
  }
}

/** @returns {string} one line of an ignore file in `directory` */
function makeLine(random, directory, paths) {
  if (random.chance(0.06)) return random.pick(["", "# a comment", "  ", "\t"]);
  if (random.chance(0.05)) return random.pick(BROKEN);
  const below = paths
    .filter((path) => path.startsWith(directory))
    .map((path) => path.slice(directory.length));
  const names = random.pick(below.length === 0 ? ["a"] : below).split("/");
  const parts = names.slice(0, 1 + random.below(names.length)).map((name) => makeName(random, name));
  if (random.chance(0.2)) parts[random.below(parts.length)] = "**";
  if (random.chance(0.1)) parts.splice(random.below(parts.length + 1), 0, random.pick(["**", "*"]));
  // Two stars next to other characters are not `**`.
  if (random.chance(0.04)) parts[0] = random.pick([`${parts[0]}**`, `**${parts[0]}`, `${parts[0]}***`]);
  let line = random.chance(0.5) ? parts.join("/") : parts[parts.length - 1];
  if (random.chance(0.25)) line = `/${line}`;
  else if (random.chance(0.1)) line = `**/${line}`;
  if (random.chance(0.25)) line += "/";
  else if (random.chance(0.08)) line += random.pick(["/*", "/**"]);
  if (random.chance(0.3)) line = `!${line}`;
  else if (/^[#!]/u.test(line) && random.chance(0.7)) line = `\\${line}`;
  if (random.chance(0.12)) line += random.pick([" ", "  ", "\\ ", "\\  ", "\\\\ ", "\t", " \t", " a "]);
  return line;
}

function makeRules(random, directory, paths) {
  const lines = Array.from({ length: 1 + random.below(5) }, () => makeLine(random, directory, paths));
  const eol = random.chance(0.12) ? "\r\n" : "\n";
  const mark = random.chance(0.05) ? "\ufeff" : "";
  // No file is empty: grep has to find a line in each.
  const text = lines.join(eol);
  return mark + text + (text === "" || random.chance(0.8) ? eol : "");
}

/** The directories of a tree, each with a slash behind it; "" is the top. */
function makeDirectories(random) {
  const directories = [""];
  for (let left = random.below(9); left > 0; left--) {
    const parent = random.pick(directories);
    if (parent.split("/").length < 5) directories.push(`${parent}${random.pick(DIRECTORIES)}/`);
  }
  return [...new Set(directories)];
}

/**
 * A tree in memory: contents by path, the repositories in it, and what lies in the home directory.
 * @returns {{ files: Map<string, string>, repositories: string[], home: Map<string, string>, xdg: boolean }}
 */
function makeTree(random) {
  const directories = makeDirectories(random);
  const taken = new Set(directories.map((directory) => directory.slice(0, -1)));
  const files = new Map();
  for (const directory of directories) {
    for (let left = 1 + random.below(6); left > 0; left--) {
      const path = directory + random.pick(FILES);
      if (!taken.has(path)) files.set(path, "needle\n");
    }
  }
  const paths = [...files.keys()];
  for (const directory of directories) {
    if (random.chance(directory === "" ? 0.7 : 0.3))
      files.set(`${directory}.gitignore`, makeRules(random, directory, paths));
  }
  const repositories = [""];
  if (random.chance(0.1) && directories.length > 1) repositories.push(random.pick(directories.slice(1)));
  const [home, xdg] = [new Map(), random.chance(0.5)];
  const configs = new Map(repositories.map((repository) => [repository, "[core]\n\tbare = false\n"]));
  for (const repository of repositories) {
    if (random.chance(0.4)) files.set(`${repository}.git/info/exclude`, makeRules(random, repository, paths));
  }
  if (random.chance(0.3))
    home.set(xdg ? "xdg/git/ignore" : ".config/git/ignore", makeRules(random, "", paths));
  if (random.chance(0.25)) {
    home.set("rules", makeRules(random, "", paths));
    const config = random.pick([".gitconfig", xdg ? "xdg/git/config" : ".config/git/config", "more"]);
    if (config === "more") home.set(".gitconfig", "[include]\n\tpath = more\n");
    home.set(config, `[core]\n\texcludesFile = ${random.pick(["~/rules", '"~/rules"'])} ; theirs\n`);
  }
  // One list of excludes holds for a workspace: what a repository names itself holds in those within it too.
  if (random.chance(0.1) && repositories.length === 1) {
    files.set(".rules", makeRules(random, "", paths));
    configs.set("", `${configs.get("")}\tExcludesFile = .rules\n`);
  }
  for (const [repository, config] of configs) {
    files.set(`${repository}.git/HEAD`, "ref: refs/heads/main\n");
    files.set(`${repository}.git/config`, config);
    files.set(`${repository}.git/objects/info/packs`, "");
    files.set(`${repository}.git/refs/heads/.keep`, "");
  }
  return { files, repositories, home, xdg };
}

function write(base, contents) {
  for (const [path, text] of contents) {
    mkdirSync(dirname(join(base, path)), { recursive: true });
    writeFileSync(join(base, path), text);
  }
}

/** @returns {string[]} the files that git does not ignore, in the repository and those in it */
function askGit(root, repositories) {
  const files = [];
  const list = (repository) => {
    const args = ["ls-files", "-z", "--others", "--cached", "--exclude-standard"];
    const { status, stdout, stderr } = spawnSync("git", args, {
      cwd: join(root, repository),
      encoding: "utf8",
    });
    if (status !== 0) throw new Error(`git: ${stderr}`);
    for (const path of stdout.split("\0").slice(0, -1)) {
      // A repository in a repository is one entry, without what is in it.
      if (!path.endsWith("/")) files.push(repository + path);
      else if (repositories.includes(repository + path)) list(repository + path);
    }
  };
  list("");
  return files.sort();
}

/** @returns {Promise<Record<string, string[]>>} the files that each tool shows */
async function askWorkspace(ws, path) {
  const call = async (tool, args) => {
    const result = await ws.call(tool, { path, ...args });
    if (!result.ok) throw new Error(`${tool}: ${result.text}`);
    return result.data;
  };
  const { matches } = await call("glob", { pattern: "**", type: "file", limit: 100_000 });
  const { files } = await call("grep", { pattern: "^|$", output: "files", max_results: 100_000 });
  const listing = { depth: 32, respect_ignore: true, limit: 100_000 };
  const { entries } = await call("list_directory", listing);
  const listed = entries.filter(({ type, path: at }) => type === "file" && !`/${at}`.includes("/.git/"));
  return {
    glob: [...matches].sort(),
    grep: [...files].sort(),
    list: listed.map((entry) => entry.path).sort(),
  };
}

/** @returns {string[]} a line for each tool whose files differ */
function differ(theirs, ours) {
  return Object.entries(ours).flatMap(([tool, files]) => {
    const missing = theirs.filter((path) => !files.includes(path));
    const extra = files.filter((path) => !theirs.includes(path));
    if (missing.length === 0 && extra.length === 0) return [];
    return [`${tool} lacks ${JSON.stringify(missing)} and has ${JSON.stringify(extra)} besides`];
  });
}

/** Removes a directory in which an index may still be written. */
async function remove(path) {
  for (let left = 100; ; left--) {
    try {
      rmSync(path, { recursive: true, force: true });
      return;
    } catch (error) {
      if (error.code !== "ENOTEMPTY" || left === 0) throw error;
      await setTimeout(20);
    }
  }
}

/** Runs `work` with a home directory of its own for git and for workspaces. */
async function withHome(home, xdg, work) {
  const variables = {
    HOME: home,
    XDG_CONFIG_HOME: xdg ? join(home, "xdg") : undefined,
    GIT_CONFIG_GLOBAL: undefined,
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_DIR: undefined,
  };
  const before = Object.fromEntries(Object.keys(variables).map((name) => [name, process.env[name]]));
  const set = (values) => {
    for (const [name, value] of Object.entries(values)) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  };
  set(variables);
  try {
    return await work();
  } finally {
    set(before);
  }
}

/** @returns {Promise<string[]>} what differs on the disk, and in memory where git's other sources are empty */
async function checkTree(random, base, { files, repositories, home, xdg }) {
  const root = join(base, "repo");
  write(root, files);
  mkdirSync(join(base, "home"));
  write(join(base, "home"), home);
  return withHome(join(base, "home"), xdg, async () => {
    const theirs = askGit(root, repositories);
    const failures = [];
    const options = { history: false, limits: { outputBytes: 1 << 28, pageBytes: 1 << 28 } };
    const stateDir = join(base, "state");
    const index = random.pick(["auto", "off"]);
    const ws = await openWorkspace({ root, stateDir, index, ...options });
    // Small trees get no index of themselves.
    if (index === "auto" && random.chance(0.5)) await ws.fs.warm(root);
    failures.push(...differ(theirs, await askWorkspace(ws, ".")));
    // The rules above the directory that a search begins in hold there too.
    const below = theirs.filter((path) => path.includes("/")).map((path) => dirname(path));
    if (below.length > 0) {
      const start = random.pick(below);
      const there = theirs.filter((path) => path.startsWith(`${start}/`));
      failures.push(...differ(there, await askWorkspace(ws, start)).map((line) => `in ${start}: ${line}`));
    }
    await ws.close();
    const isPlain =
      home.size === 0 &&
      !files.has(".rules") &&
      repositories.every((at) => !files.has(`${at}.git/info/exclude`));
    if (isPlain) {
      const backend = new MemoryBackend(
        Object.fromEntries([...files].map(([path, text]) => [`/w/${path}`, text])),
      );
      const inMemory = await openWorkspace({ root: "/w", backend, ...options });
      failures.push(...differ(theirs, await askWorkspace(inMemory, ".")).map((line) => `memory: ${line}`));
      await inMemory.close();
    }
    return failures;
  });
}

/** The sources of excludes, to be read in a report. */
function sources(base, { files, home }) {
  const show = (folder, path) =>
    `${folder}/${path}: ${JSON.stringify(readFileSync(join(base, folder, path), "utf8"))}`;
  const rules = [...files.keys()].filter((path) => /(?:\.gitignore|exclude|\.rules)$/u.test(path));
  return [
    ...rules.map((path) => show("repo", path)),
    ...[...home.keys()].map((path) => show("home", path)),
  ].join("; ");
}

/** @type {import("../../scripts/lib/deep-kind.mjs").DeepKind} */
export default {
  description:
    "glob, grep and list_directory against git's ignore rules, in random trees with all exclude sources",
  count: 2_000,
  share: 400,
  async run({ seed, count, isOver }) {
    const random = seededRandom(seed);
    if (spawnSync("git", ["--version"]).status !== 0) return { cases: 0, failures: ["git is not installed"] };
    const failures = [];
    let cases = 0;
    while (cases < count && !isOver() && failures.length < MAX_FAILURES) {
      const base = realpathSync(mkdtempSync(join(tmpdir(), "filewright-git-")));
      const tree = makeTree(random);
      const lines = await checkTree(random, base, tree);
      cases += 1;
      if (lines.length === 0) await remove(base);
      else failures.push(`${base}: ${lines.join("; ")}\n  ${sources(base, tree)}`);
    }
    return { cases, failures };
  },
};
