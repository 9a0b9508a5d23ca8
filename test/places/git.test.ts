/**
 * Ways from ordinary writes to a command that git runs. Each is tried on a real repository: protected, git must run
 * nothing; without protection, the same steps must make git run the command, so that the way is known to be one.
 */
import { execFileSync, spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { MemoryBackend, openWorkspace, type Workspace } from "../../js/index.node.ts";

type Step = readonly [tool: string, args: Record<string, unknown>];

interface GitScenario {
  readonly title: string;
  /** Writes the person's files, by hand and by git, before the workspace opens. */
  readonly seed?: (at: Person) => void;
  readonly steps: (at: { readonly config: string; readonly marker: string }) => readonly Step[];
  /** The git command of the person afterwards. Default: `git status` at the top. */
  readonly git?: readonly string[];
  readonly cwd?: string;
}

interface Person {
  readonly root: string;
  readonly command: string;
  write(path: string, content: string, mode?: number): void;
  git(args: readonly string[], cwd?: string): void;
}

const write = (path: string, content: string): Step => ["write_file", { path, content, create_dirs: true }];
const mkdir = (path: string): Step => ["mkdir", { path }];
const move = (source: string, destination: string): Step => ["move", { source, destination }];
const copy = (source: string, destination: string, more = {}): Step => [
  "copy",
  { source, destination, ...more },
];
const HEAD = "ref: refs/heads/main\n";

/** A directory that lacks nothing but its mark of a repository. */
const prepared = (at: string, config: string): readonly Step[] => [
  write(`${at}/config`, config),
  mkdir(`${at}/objects`),
  mkdir(`${at}/refs`),
];

const WAYS: readonly GitScenario[] = [
  {
    title: "commondir of the repository",
    steps: ({ config }) => [...prepared("prep", config), write(".git/commondir", "../prep\n")],
  },
  {
    title: "commondir of a submodule",
    seed: (at) => {
      fs.mkdirSync(join(at.root, ".git/modules"));
      at.git(["init", "-q", "--separate-git-dir", ".git/modules/sub", "sub"]);
    },
    steps: ({ config }) => [
      ...prepared("prep", config),
      write(".git/modules/sub/commondir", "../../../prep\n"),
    ],
    cwd: "sub",
  },
  {
    title: "commondir of a worktree",
    seed: (at) => at.git(["worktree", "add", "-q", "wt"]),
    steps: ({ config }) => [
      ...prepared("prep", config),
      write(".git/worktrees/wt/commondir", "../../../prep\n"),
    ],
    cwd: "wt",
  },
  { title: "the configuration", steps: ({ config }) => [write(".git/config", config)] },
  {
    title: "the configuration, appended to",
    steps: ({ config }) => [["write_file", { path: ".git/config", content: config, append: true }]],
  },
  {
    title: "the configuration of a worktree",
    seed: (at) => at.git(["config", "extensions.worktreeConfig", "true"]),
    steps: ({ config }) => [write(".git/config.worktree", config)],
  },
  {
    title: "a hook",
    steps: () => [copy("evil.sh", ".git/hooks/pre-commit")],
    git: ["commit", "-q", "--allow-empty", "-m", "x"],
  },
  {
    title: "a hook through a link",
    seed: (at) => fs.symlinkSync(".git", join(at.root, "g")),
    steps: () => [copy("evil.sh", "g/hooks/pre-commit")],
    git: ["commit", "-q", "--allow-empty", "-m", "x"],
  },
  {
    title: "attributes that choose a filter",
    seed: (at) => at.git(["config", "filter.x.clean", `${at.command}; cat`]),
    steps: () => [write(".git/info/attributes", "* filter=x\n"), write("f", "g\n")],
  },
  {
    title: "a .git file that points to a directory of the agent",
    steps: ({ config }) => [
      ...prepared("prep", config),
      write("prep/HEAD", HEAD),
      write("sub/.git", "gitdir: ../prep\n"),
    ],
    cwd: "sub",
  },
  {
    title: "a .git directory, file by file",
    steps: ({ config }) => [...prepared("sub/.git", config), write("sub/.git/HEAD", HEAD)],
    cwd: "sub",
  },
  {
    title: "a .git directory, moved to its name",
    steps: ({ config }) => [
      ...prepared("sub/git", config),
      write("sub/git/HEAD", HEAD),
      move("sub/git", "sub/.git"),
    ],
    cwd: "sub",
  },
  {
    title: "the repository moved away and another in its place",
    steps: ({ config }) => [
      ...prepared("prep", config),
      write("prep/HEAD", HEAD),
      move(".git", "old"),
      move("prep", ".git"),
    ],
  },
  {
    title: "a bare repository, HEAD last",
    steps: ({ config }) => [...prepared("sub", config), write("sub/HEAD", HEAD)],
    cwd: "sub",
  },
  {
    title: "a bare repository, its configuration last",
    steps: ({ config }) => [
      mkdir("sub/objects"),
      mkdir("sub/refs"),
      write("sub/HEAD", HEAD),
      write("sub/config", config),
    ],
    cwd: "sub",
  },
  {
    title: "a bare repository, objects last",
    steps: ({ config }) => [
      write("sub/config", config),
      write("sub/HEAD", HEAD),
      mkdir("sub/refs"),
      mkdir("sub/objects"),
    ],
    cwd: "sub",
  },
  {
    title: "a bare repository, by a file in refs",
    steps: ({ config }) => [
      write("sub/config", config),
      write("sub/HEAD", HEAD),
      mkdir("sub/objects"),
      write("sub/refs/heads/x", "x\n"),
    ],
    cwd: "sub",
  },
  {
    title: "a bare repository, by a directory that is moved",
    steps: ({ config }) => [
      write("sub/config", config),
      write("sub/HEAD", HEAD),
      mkdir("sub/refs"),
      mkdir("plain"),
      move("plain", "sub/objects"),
    ],
    cwd: "sub",
  },
  {
    title: "a bare repository, by a file that is moved",
    steps: ({ config }) => [...prepared("sub", config), write("h", HEAD), move("h", "sub/HEAD")],
    cwd: "sub",
  },
  {
    title: "a bare repository, by a file that is copied",
    steps: ({ config }) => [...prepared("sub", config), write("h", HEAD), copy("h", "sub/HEAD")],
    cwd: "sub",
  },
  {
    title: "a bare repository, by a tree that is copied over it",
    steps: ({ config }) => [
      write("sub/config", config),
      write("sub/HEAD", HEAD),
      write("rest/objects/x", ""),
      write("rest/refs/x", ""),
      copy("rest", "sub", { overwrite: true }),
    ],
    cwd: "sub",
  },
  {
    title: "a bare repository, by a patch",
    steps: ({ config }) => [
      ...prepared("sub", config),
      ["apply_patch", { patch: `--- /dev/null\n+++ b/sub/HEAD\n@@ -0,0 +1 @@\n+${HEAD}` }],
    ],
    cwd: "sub",
  },
  {
    title: "a bare repository, by a batch",
    steps: ({ config }) => [
      [
        "batch",
        {
          operations: [...prepared("sub", config), write("sub/HEAD", HEAD)].map(([tool, args]) => ({
            tool,
            args,
          })),
        },
      ],
    ],
    cwd: "sub",
  },
  {
    title: "a bare repository by HEAD and commondir",
    steps: ({ config }) => [
      ...prepared("prep", config),
      write("sub/HEAD", HEAD),
      write("sub/commondir", "../prep\n"),
    ],
    git: ["fetch", "-q"],
    cwd: "sub",
  },
  {
    title: "the configuration of a bare repository of the person",
    seed: (at) => at.git(["init", "-q", "--bare", "store"]),
    steps: ({ config }) => [write("store/config", config)],
    cwd: "store",
  },
  {
    title: "commondir of a bare repository of the person",
    seed: (at) => at.git(["init", "-q", "--bare", "store"]),
    steps: ({ config }) => [...prepared("prep", config), write("store/commondir", "../prep\n")],
    git: ["fetch", "-q"],
    cwd: "store",
  },
  {
    title: "a hook of a bare repository",
    seed: (at) => at.git(["init", "-q", "--bare", "store.git"]),
    steps: () => [copy("evil.sh", "store.git/hooks/pre-receive")],
    git: ["push", "-q", "./store.git", "HEAD:refs/heads/x"],
  },
  {
    title: "a place that core.hooksPath names and that is not there",
    seed: (at) => at.git(["config", "core.hooksPath", "tools/Git-Hooks"]),
    steps: () => [copy("evil.sh", "tools/Git-Hooks/pre-commit", { create_dirs: true })],
    git: ["commit", "-q", "--allow-empty", "-m", "x"],
  },
  {
    title: "a file that include.path names",
    seed: (at) => at.git(["config", "include.path", "../git.inc"]),
    steps: ({ config }) => [write("git.inc", config)],
  },
  {
    title: "a file that includeIf names",
    seed: (at) => at.git(["config", "includeIf.gitdir:**/.path", "../conf/git.inc"]),
    steps: ({ config }) => [write("conf/git.inc", config)],
  },
  {
    title: "a file that an included file includes",
    seed: (at) => {
      at.git(["config", "include.path", "../one.inc"]);
      at.write("one.inc", "[include]\n\tpath = two.inc\n");
    },
    steps: ({ config }) => [write("two.inc", config)],
  },
  {
    title: "the program of core.fsmonitor",
    seed: (at) => {
      at.git(["config", "core.fsmonitor", "tools/monitor"]);
      at.write("tools/monitor", "#!/bin/sh\nexit 1\n", 0o755);
    },
    steps: () => [copy("evil.sh", "tools/monitor", { overwrite: true })],
  },
  {
    title: "the hooks of a repository below the root",
    seed: (at) => {
      at.git(["init", "-q", "nested"]);
      at.git(["config", "core.hooksPath", "tools/hooks"], "nested");
    },
    steps: () => [copy("evil.sh", "nested/tools/hooks/pre-commit", { create_dirs: true })],
    git: ["commit", "-q", "--allow-empty", "-m", "x"],
    cwd: "nested",
  },
  {
    title: "the included file of a repository below the root, in a batch",
    seed: (at) => {
      at.git(["init", "-q", "nested"]);
      at.git(["config", "include.path", "../inc"], "nested");
    },
    steps: ({ config }) => [
      ["batch", { operations: [{ tool: "write_file", args: { path: "nested/inc", content: config } }] }],
    ],
    cwd: "nested",
  },
  {
    title: "a link that core.hooksPath names",
    seed: (at) => {
      at.git(["config", "core.hooksPath", "hooks"]);
      at.write("scripts/hooks/README", "");
      fs.symlinkSync("scripts/hooks", join(at.root, "hooks"));
    },
    steps: () => [copy("evil.sh", "scripts/hooks/pre-commit")],
    git: ["commit", "-q", "--allow-empty", "-m", "x"],
  },
  {
    title: "a directory that a link stands for in the place of the hooks",
    seed: (at) => {
      at.write("team/README", "");
      fs.rmSync(join(at.root, ".git/hooks"), { recursive: true });
      fs.symlinkSync("../team", join(at.root, ".git/hooks"));
    },
    steps: () => [copy("evil.sh", "team/pre-commit")],
    git: ["commit", "-q", "--allow-empty", "-m", "x"],
  },
  {
    title: "a script that a link stands for in the place of a hook",
    seed: (at) => {
      at.write("scripts/check.sh", "#!/bin/sh\nexit 0\n", 0o755);
      fs.symlinkSync("../../scripts/check.sh", join(at.root, ".git/hooks/pre-commit"));
    },
    steps: () => [copy("evil.sh", "scripts/check.sh", { overwrite: true })],
    git: ["commit", "-q", "--allow-empty", "-m", "x"],
  },
  {
    title: "a script that a link stands for in a directory of hooks",
    seed: (at) => {
      at.git(["config", "core.hooksPath", "tools/hooks"]);
      at.write("scripts/check.sh", "#!/bin/sh\nexit 0\n", 0o755);
      at.write("tools/hooks/README", "");
      fs.symlinkSync("../../scripts/check.sh", join(at.root, "tools/hooks/pre-commit"));
    },
    steps: () => [copy("evil.sh", "scripts/check.sh", { overwrite: true })],
    git: ["commit", "-q", "--allow-empty", "-m", "x"],
  },
  {
    title: "a file that a link stands for in the place of the configuration",
    seed: (at) => {
      fs.renameSync(join(at.root, ".git/config"), join(at.root, "shared.config"));
      fs.symlinkSync("../shared.config", join(at.root, ".git/config"));
    },
    steps: ({ config }) => [write("shared.config", config)],
  },
  {
    title: "a file that a link stands for in the place of an included file",
    seed: (at) => {
      at.git(["config", "include.path", "../git.inc"]);
      at.write("conf/team", "");
      fs.symlinkSync("conf/team", join(at.root, "git.inc"));
    },
    steps: ({ config }) => [write("conf/team", config)],
  },
  {
    title: "the configuration in a directory that a link named .git stands for",
    seed: (at) => {
      fs.renameSync(join(at.root, ".git"), join(at.root, "store"));
      fs.symlinkSync("store", join(at.root, ".git"));
    },
    steps: ({ config }) => [write("store/config", config)],
  },
  {
    title: "hooks that come with a directory that is moved to above their place",
    seed: (at) => at.git(["config", "core.hooksPath", "tools/hooks"]),
    steps: () => [copy("evil.sh", "plain/hooks/pre-commit", { create_dirs: true }), move("plain", "tools")],
    git: ["commit", "-q", "--allow-empty", "-m", "x"],
  },
  {
    title: "hooks of a repository below the root, that come with a directory that is moved",
    seed: (at) => {
      at.git(["init", "-q", "nested"]);
      at.git(["config", "core.hooksPath", "tools/hooks"], "nested");
    },
    steps: () => [
      copy("evil.sh", "plain/hooks/pre-commit", { create_dirs: true }),
      move("plain", "nested/tools"),
    ],
    git: ["commit", "-q", "--allow-empty", "-m", "x"],
    cwd: "nested",
  },
  {
    title: "hooks of a repository below the root, by a tree that is copied over the repository",
    seed: (at) => {
      at.git(["init", "-q", "nested"]);
      at.git(["config", "core.hooksPath", "tools/hooks"], "nested");
    },
    steps: () => [
      copy("evil.sh", "plain/tools/hooks/pre-commit", { create_dirs: true }),
      copy("plain", "nested", { overwrite: true }),
    ],
    git: ["commit", "-q", "--allow-empty", "-m", "x"],
    cwd: "nested",
  },
  {
    title: "hooks of a repository below the root, by a tree that is copied over what holds it, in a batch",
    seed: (at) => {
      at.git(["init", "-q", "packages/nested"]);
      at.git(["config", "core.hooksPath", "tools/hooks"], "packages/nested");
    },
    steps: () => [
      copy("evil.sh", "plain/nested/tools/hooks/pre-commit", { create_dirs: true }),
      [
        "batch",
        {
          operations: [{ tool: "copy", args: { source: "plain", destination: "packages", overwrite: true } }],
        },
      ],
    ],
    git: ["commit", "-q", "--allow-empty", "-m", "x"],
    cwd: "packages/nested",
  },
  {
    title: "git's directory outside of .git",
    seed: (at) => {
      fs.renameSync(join(at.root, ".git"), join(at.root, "store"));
      at.write(".git", "gitdir: ./store\n");
    },
    steps: ({ config }) => [write("store/config", config)],
  },
  {
    title: "husky's directory",
    seed: (at) => at.git(["config", "core.hooksPath", ".husky/_"]),
    steps: () => [copy("evil.sh", ".husky/_/pre-commit", { create_dirs: true })],
    git: ["commit", "-q", "--allow-empty", "-m", "x"],
  },
];

const ENVIRONMENT = {
  PATH: process.env["PATH"],
  HOME: "/nonexistent",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_COUNT: "1",
  GIT_CONFIG_KEY_0: "safe.directory",
  GIT_CONFIG_VALUE_0: "*",
  GIT_AUTHOR_NAME: "a",
  GIT_AUTHOR_EMAIL: "a@b",
  GIT_COMMITTER_NAME: "a",
  GIT_COMMITTER_EMAIL: "a@b",
};
const base = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), "filewright-places-")));
const hasGit = spawnSync("git", ["--version"]).status === 0;

/** Runs git as the person would; failures are the person's. */
function git(root: string, args: readonly string[], cwd = "."): string {
  const done = spawnSync("git", args, { cwd: join(root, cwd), env: ENVIRONMENT, encoding: "utf8" });
  return `${done.stdout}${done.stderr}`;
}

beforeAll(() => {
  if (!hasGit) return;
  fs.mkdirSync(join(base, "template"));
  const at = join(base, "template");
  execFileSync("git", ["init", "-q", "-b", "main"], { cwd: at, env: ENVIRONMENT });
  fs.writeFileSync(join(at, "f"), "f\n");
  execFileSync("git", ["add", "f"], { cwd: at, env: ENVIRONMENT });
  execFileSync("git", ["commit", "-q", "-m", "one"], { cwd: at, env: ENVIRONMENT });
});
afterAll(() => fs.rmSync(base, { recursive: true, force: true }));

/** Tries a way; whether git ran the command, and what the calls came to. */
async function tryOut(way: GitScenario, name: string, protect: boolean) {
  const dir = join(base, name);
  const root = join(dir, "ws");
  const marker = join(dir, "marker");
  fs.mkdirSync(dir);
  fs.cpSync(join(base, "template"), root, { recursive: true });
  const command = `touch ${marker}`;
  const person: Person = {
    root,
    command,
    write(path, content, mode = 0o644) {
      fs.mkdirSync(dirname(join(root, path)), { recursive: true });
      fs.writeFileSync(join(root, path), content, { mode });
    },
    git(args, cwd) {
      execFileSync("git", args, { cwd: join(root, cwd ?? "."), env: ENVIRONMENT, stdio: "pipe" });
    },
  };
  person.write("evil.sh", `#!/bin/sh\n${command}\nexit 0\n`, 0o755);
  way.seed?.(person);
  fs.rmSync(marker, { force: true });
  const work = way.cwd === undefined ? "" : "\tworktree = ..\n";
  const config = `[core]\n\trepositoryformatversion = 0\n\tbare = false\n${work}\tfsmonitor = "${command}; false"\n[remote "origin"]\n\turl = .\n\tuploadpack = "${command}; false"\n`;
  const ws = await openWorkspace({ root, stateDir: join(dir, "state"), access: { protect } });
  const codes = await run(ws, way.steps({ config, marker }));
  const said = git(root, way.git ?? ["status"], way.cwd);
  return { ran: fs.existsSync(marker), codes, said };
}

async function run(ws: Workspace, steps: readonly Step[]): Promise<readonly string[]> {
  const codes: string[] = [];
  for (const [tool, args] of steps) {
    const result = await ws.call(tool, args);
    codes.push(result.ok ? "OK" : result.error.code);
  }
  await ws.close();
  return codes;
}

describe.skipIf(!hasGit)("git runs nothing of an agent's", () => {
  test.each(WAYS.map((way, index) => [way.title, way, index] as const))("%s", async (_, way, index) => {
    const open = await tryOut(way, `open-${index}`, false);
    expect(
      open.codes.every((code) => code === "OK"),
      `${open.codes}`,
    ).toBe(true);
    expect(open.ran, `the way is one: ${open.said}`).toBe(true);
    const closed = await tryOut(way, `closed-${index}`, true);
    expect(closed.codes).toContain("PROTECTED_PATH");
    expect(closed.ran, closed.said).toBe(false);
  });

  test("a bare repository is not completed by calls at the same time", async () => {
    for (let round = 0; round < 10; round++) {
      const root = join(base, `together-${round}`);
      fs.mkdirSync(root);
      const ws = await openWorkspace({ root });
      await Promise.all(
        [write("sub/HEAD", HEAD), mkdir("sub/objects"), mkdir("sub/refs")].map(([tool, args]) =>
          ws.call(tool, args),
        ),
      );
      await ws.close();
      expect(fs.readdirSync(join(root, "sub")).length).toBeLessThan(3);
    }
  });
});

/** The ways that need nothing that git made. */
const WITHOUT_GIT = WAYS.filter(({ seed }) => seed === undefined);

describe("storage in memory", () => {
  test.each(WITHOUT_GIT.map((way) => [way.title, way] as const))("refuses %s", async (_, way) => {
    const backend = new MemoryBackend({
      "/w/evil.sh": "x",
      "/w/f": "f\n",
      "/w/.git/HEAD": HEAD,
      "/w/.git/config": "[core]\n",
      "/w/.git/hooks/x": "",
    });
    const ws = await openWorkspace({ root: "/w", backend });
    const before = Object.keys(backend.dump()).filter((path) => path.startsWith("/w/.git"));
    expect(await run(ws, way.steps({ config: "x", marker: "m" }))).toContain("PROTECTED_PATH");
    expect(Object.keys(backend.dump()).filter((path) => path.startsWith("/w/.git"))).toEqual(before);
  });

  test("protects what the repository's configuration names", async () => {
    const backend = new MemoryBackend({
      "/w/.git/config": "[core]\n\thooksPath = tools/hooks\n[include]\n\tpath = ../inc\n",
      "/w/sub/.git/config": '[includeIf "gitdir:/w/"]\n\tpath = "../a;b"\n',
    });
    const ws = await openWorkspace({ root: "/w", backend });
    for (const path of ["tools/hooks/pre-commit", "TOOLS/hooks/x", "inc", "sub/a;b"]) {
      const result = await ws.call("write_file", { path, content: "x", create_dirs: true });
      expect(result.ok ? "OK" : result.error.code, path).toBe("PROTECTED_PATH");
    }
    for (const path of ["tools/other", "sub/a", "sub/inc"]) {
      const result = await ws.call("write_file", { path, content: "x", create_dirs: true });
      expect(result.ok, path).toBe(true);
    }
    await ws.close();
  });
});
