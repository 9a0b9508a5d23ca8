// No write may make git run a program. Random sequences of calls over the names that git obeys, in repositories of
// several kinds and outside of one; after each sequence the real git runs in every directory.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { loadPackage } from "./lib.mjs";

const KINDS = ["git", "none", "git+sub", "worktree", "bare inside", "gitfile"];
const FOLDERS = [
  ...["", "x", "y", "x/y", "sub", "wt", "b.git", "gd", "m", ".git", "x/.git", "sub/.git", ".GIT", ".git/x"],
  ...[".git/worktrees/wt", ".git/modules/s", "x.git", "X", ".git "],
];
const LEAVES = [
  ...["HEAD", "config", "objects", "refs", "commondir", ".git", "hooks", "pre-commit", "gitdir", "info"],
  ...[
    "attributes",
    "alternates",
    "config.worktree",
    "inc",
    "hp",
    "post-index-change",
    "index",
    "packed-refs",
  ],
  ...["z", "head", "Config", "HEAD.lock", "refs/heads", "objects/info"],
];
/** The entries that make a directory a repository. */
const REPOSITORY_PARTS = ["HEAD", "config", "objects", "refs"];
const CALLS_PER_SEQUENCE = 14;
const MAX_DIRECTORIES = 40;
const MAX_DEPTH = 4;

/** Runs sequences until the time is over. */
export default async function attackByGitNames(attack) {
  const { openWorkspace } = await loadPackage();
  const env = gitEnvironment(attack);
  const until = Date.now() + attack.seconds * 1000;
  let sequences = 0;
  let calls = 0;
  do {
    const kind = attack.random.pick(KINDS);
    const root = attack.temporary();
    const mark = join(attack.temporary("mark"), "ran");
    makeRepository(kind, root, env);
    const texts = textsFor(root, `touch ${mark}; true`);
    const stateDir = attack.temporary("state");
    const workspace = await openWorkspace({ root, stateDir, history: true, guard: "off", index: "off" });
    const made = [];
    for (const [tool, args] of sequenceOf(attack.random, texts)) {
      const isBatch = tool !== "undo" && attack.random.chance(0.1);
      const call = isBatch ? ["batch", { operations: [{ tool, args }] }] : [tool, args];
      const { ok } = await workspace.call(...call);
      calls += 1;
      if (ok) made.push([tool, args]);
    }
    await workspace.close();
    for (const place of placesWhereGitRan(root, mark, env)) {
      const log = JSON.stringify(made).replaceAll(root, "ROOT").slice(0, 900);
      attack.check(`git ran the agent's command in ${place} (${kind}): ${log}`, true);
    }
    sequences += 1;
    rmSync(root, { recursive: true, force: true });
  } while (Date.now() < until);
  attack.check(`${sequences} sequences of ${calls} calls in all`, false);
}

/** @returns the environment of a user who trusts every directory */
function gitEnvironment(attack) {
  const home = attack.temporary("home");
  const settings = [
    "[safe]\n\tdirectory = *",
    "[user]\n\tname=x\n\temail=x@x",
    '[filter "lfs"]\n\tclean = cat\n',
  ];
  writeFileSync(join(home, ".gitconfig"), settings.join("\n"));
  return { PATH: process.env.PATH, HOME: home, GIT_CONFIG_NOSYSTEM: "1" };
}

function makeRepository(kind, root, env) {
  const git = (...args) => spawnSync("git", args, { env });
  if (kind === "none") return;
  git("init", "-q", root);
  writeFileSync(join(root, "f"), "f\n");
  git("-C", root, "add", ".");
  git("-C", root, "commit", "-qm", "x");
  if (kind === "git+sub") git("init", "-q", join(root, "sub"));
  if (kind === "worktree") git("-C", root, "worktree", "add", "-q", "wt");
  if (kind === "bare inside") git("init", "-q", "--bare", join(root, "b.git"));
  if (kind === "gitfile") git("init", "-q", "--separate-git-dir", join(root, "gd"), join(root, "m"));
}

/** @returns the contents that the calls write: settings that run a command, and what points to a repository */
function textsFor(root, command) {
  const config = [
    "[core]\n\trepositoryformatversion = 0\n\tbare = false",
    `\tfsmonitor = "${command}"\n\thooksPath = hp\n\tpager = "${command}"\n\tworktree = ..`,
    `[include]\n\tpath = inc\n[diff]\n\texternal = "${command}"\n`,
  ].join("\n");
  const head = "ref: refs/heads/main\n";
  const all = [
    ...[config, config, head, "ref: refs/heads/master\n", "../x\n", "x\n", `gitdir: ${root}/x\n`],
    ...["gitdir: ../x\n", "gitdir: x\n", `${root}/y\n`, `#!/bin/sh\n${command}\n`],
    ...["* filter=evil diff=evil\n", ".\n", `${"0".repeat(40)}\n`],
  ];
  return { config, head, all };
}

/** @returns the calls of one sequence; more than half of them try to build a repository in parts */
function sequenceOf(random, texts) {
  const calls = random.chance(0.6) ? repositoryInParts(random, texts) : [];
  for (let n = 0; n < CALLS_PER_SEQUENCE; n += 1)
    calls.splice(random.below(calls.length + 1), 0, randomCall(random, texts));
  return calls;
}

function repositoryInParts(random, { config, head }) {
  const folder = random.pick(["x", "y", "x/y", "q", "sub/k", "X"]);
  const place = () => random.pick([folder, folder, folder, "t1"]);
  const parts = REPOSITORY_PARTS.map((part) =>
    ["objects", "refs"].includes(part)
      ? ["mkdir", { path: `${place()}/${part}` }]
      : ["write_file", { path: `${place()}/${part}`, content: part === "HEAD" ? head : config }],
  );
  const [from, to] = [random.pick(REPOSITORY_PARTS), random.pick(REPOSITORY_PARTS)];
  return [
    ...random.shuffle(parts),
    ["move", { source: `t1/${from}`, destination: `${folder}/${to}` }],
    [random.pick(["copy", "move"]), { source: "t1", destination: folder, overwrite: true }],
  ];
}

function randomCall(random, { all }) {
  const path = () => {
    const folder = random.pick(FOLDERS);
    if (random.chance(0.25)) return folder || "x";
    return `${folder === "" ? "" : `${folder}/`}${random.pick(LEAVES)}`;
  };
  const overwrite = random.chance(0.4) ? { overwrite: true } : {};
  const two = () => ({ source: path(), destination: path(), ...overwrite });
  const write = () => ["write_file", { path: path(), content: random.pick(all) }];
  const added = () =>
    `*** Begin Patch\n*** Add File: ${path()}\n${random.pick(all).replaceAll(/^/gmu, "+")}\n*** End Patch`;
  const renamed = () =>
    `diff --git a/${path()} b/${path()}\nsimilarity index 100%\nrename from ${path()}\nrename to ${path()}\n`;
  const makers = [
    ...[write, write, write, write, write, write],
    ...Array.from({ length: 3 }, () => () => ["mkdir", { path: path() }]),
    ...Array.from({ length: 3 }, () => () => ["move", two()]),
    ...Array.from({ length: 3 }, () => () => ["copy", two()]),
    () => ["delete", { path: path(), recursive: true }],
    () => ["apply_patch", { patch: random.chance(0.5) ? added() : renamed() }],
    () => ["undo", {}],
  ];
  return random.pick(makers)();
}

/** Runs git where a directory may be a repository. @returns the directories in which the command has run */
function placesWhereGitRan(root, mark, env) {
  const found = [];
  for (const directory of directoriesBelow(root).slice(0, MAX_DIRECTORIES)) {
    const isCandidate = ["refs", ".git", "HEAD"].some((name) => existsSync(join(directory, name)));
    if (!isCandidate && directory !== root) continue;
    for (const args of [["status"], ["diff", "--stat"]])
      spawnSync("git", args, { cwd: directory, env, timeout: 5000 });
    if (!existsSync(mark)) continue;
    found.push(directory.replace(root, "ROOT"));
    rmSync(mark);
  }
  return found;
}

function directoriesBelow(directory, depth = 0) {
  if (depth > MAX_DEPTH) return [directory];
  const below = readdirSync(directory, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return [directory, ...below.flatMap(({ name }) => directoriesBelow(join(directory, name), depth + 1))];
}
