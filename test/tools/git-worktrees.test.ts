/**
 * The ignore rules of a repository hold where `.git` is a file: in linked worktrees and in submodules, on a disk with
 * the addon and without it. A `.git` file that an agent wrote leads nowhere.
 */
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { LocalBackend, NodeBackend, openWorkspace, type Workspace } from "../../js/index.node.ts";

let base: string;
const opened: Workspace[] = [];
const at = (path: string): string => join(base, path);
const put = (path: string, text: string): void => {
  fs.mkdirSync(dirname(at(path)), { recursive: true });
  fs.writeFileSync(at(path), text);
};
const git = (directory: string, ...args: string[]): string =>
  execFileSync("git", ["-C", at(directory), "-c", "user.name=A", "-c", "user.email=a@b", ...args], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  });

beforeEach(() => {
  base = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), "filewright-worktrees-")));
  vi.stubEnv("HOME", at("home"));
  vi.stubEnv("XDG_CONFIG_HOME", undefined);
  vi.stubEnv("GIT_CONFIG_GLOBAL", undefined);
  vi.stubEnv("GIT_CONFIG_NOSYSTEM", "1");
  fs.mkdirSync(at("home"));
  put("repo/tracked.md", "word\n");
  git("repo", "init", "-q");
  git("repo", "add", "-A");
  git("repo", "commit", "-qm", "one");
});
afterEach(async () => {
  for (const ws of opened.splice(0)) await ws.close();
  vi.unstubAllEnvs();
  fs.rmSync(base, { recursive: true, force: true });
});

/** Writes what the rules below hide, and what they do not. */
function fill(directory: string): void {
  for (const name of ["a.txt", "common.log", "d/deep.log", "d/b.txt", "out/c.txt"])
    put(join(directory, name), "word\n");
}
const EXCLUDE = "*.log\n/out/\n";

const DISKS = {
  "the addon": () => undefined,
  "the addon and no confinement by the kernel": () => new LocalBackend({ kernel: "off" }),
  "no addon": () => new NodeBackend(),
} as const;
type Disk = keyof typeof DISKS;

async function open(disk: Disk, root: string): Promise<Workspace> {
  const backend = DISKS[disk]();
  const place = { root: at(root), stateDir: at("state") };
  const ws = await openWorkspace(backend === undefined ? place : { ...place, backend });
  opened.push(ws);
  return ws;
}

/** The files that every kind of search and listing sees, which must agree. */
async function seenIn(ws: Workspace, path = "."): Promise<readonly string[]> {
  const { matches } = await ws.glob({ pattern: "**", path });
  const { files } = await ws.grep({ pattern: ".", path, output: "files" });
  const { entries } = await ws.listDirectory({ path, depth: 9, respect_ignore: true });
  const listed = entries.filter(({ type }) => type === "file").map((entry) => entry.path);
  const isGit = (name: string) => name === ".git" || name.startsWith(".git/") || name.includes("/.git");
  expect([...(files ?? [])].sort()).toEqual([...matches].sort());
  expect(listed.filter((name) => !isGit(name)).sort()).toEqual([...matches].sort());
  return [...matches].sort();
}

/** The files that git does not ignore. */
function byGit(directory: string): readonly string[] {
  const names = git(directory, "ls-files", "-co", "--exclude-standard", "-z").split("\0");
  return names.filter((name) => name !== "").sort();
}

/** Each arrangement of a repository and a directory whose `.git` is a file. Returns that directory and its root. */
const ARRANGEMENTS: Record<string, () => { root: string; top: string }> = {
  "a linked worktree as root": () => {
    git("repo", "worktree", "add", "-q", at("tree"), "-b", "side");
    put("repo/.git/info/exclude", EXCLUDE);
    return { root: "tree", top: "tree" };
  },
  "a linked worktree with relative links": () => {
    git("repo", "worktree", "add", "-q", at("tree"), "-b", "side");
    put("tree/.git", "gitdir: ../repo/.git/worktrees/tree\n");
    put("repo/.git/worktrees/tree/gitdir", "../../../../tree/.git\n");
    put("repo/.git/info/exclude", EXCLUDE);
    return { root: "tree", top: "tree" };
  },
  "a linked worktree below the root of its repository": () => {
    git("repo", "worktree", "add", "-q", at("repo/trees/one"), "-b", "side");
    put("repo/.git/info/exclude", EXCLUDE);
    return { root: "repo", top: "repo/trees/one" };
  },
  "a linked worktree below a root, its repository elsewhere": () => {
    fs.mkdirSync(at("project"));
    git("repo", "worktree", "add", "-q", at("project/tree"), "-b", "side");
    put("repo/.git/info/exclude", EXCLUDE);
    return { root: "project", top: "project/tree" };
  },
  "a worktree of a bare repository": () => {
    git("repo", "clone", "-q", "--bare", at("repo"), at("project/.bare"));
    git("project/.bare", "worktree", "add", "-q", at("project/tree"), "-b", "side");
    put("project/.bare/info/exclude", EXCLUDE);
    return { root: "project/tree", top: "project/tree" };
  },
  "a submodule": () => {
    git("repo", "init", "-q", at("super"));
    git("super", "-c", "protocol.file.allow=always", "submodule", "add", "-q", at("repo"), "sub");
    expect(fs.readFileSync(at("super/sub/.git"), "utf8")).toBe("gitdir: ../.git/modules/sub\n");
    put("super/.git/modules/sub/info/exclude", EXCLUDE);
    return { root: "super", top: "super/sub" };
  },
};

describe.each(Object.keys(DISKS) as Disk[])("with %s", (disk) => {
  test.each(Object.entries(ARRANGEMENTS))("the exclude file holds in %s", async (_, arrange) => {
    const { root, top } = arrange();
    fill(top);
    const ws = await open(disk, root);
    const below = top === root ? "." : top.slice(root.length + 1);
    const expected = byGit(top);
    expect(expected).toEqual(["a.txt", "d/b.txt", "tracked.md"]);
    const prefix = below === "." ? "" : `${below}/`;
    expect(await seenIn(ws, below)).toEqual(expected.map((name) => prefix + name));
    expect(await seenIn(ws, `${prefix}d`)).toEqual([`${prefix}d/b.txt`]);
    const whole = (await seenIn(ws)).filter((name) => name.startsWith(prefix));
    expect(whole).toEqual(expected.map((name) => prefix + name));
    expect((await ws.glob({ pattern: "**", path: below, respect_ignore: false })).matches).toContain(
      `${prefix}common.log`,
    );
  });

  test.each(Object.entries(ARRANGEMENTS))("a change of it is noticed in %s", async (_, arrange) => {
    const { root, top } = arrange();
    fill(top);
    const file = git(top, "rev-parse", "--path-format=absolute", "--git-path", "info/exclude").trim();
    const ws = await open(disk, root);
    const below = top === root ? "." : top.slice(root.length + 1);
    const prefix = below === "." ? "" : `${below}/`;
    await seenIn(ws, below);
    for (const rules of ["*.txt\n", "", "/d\n"]) {
      fs.writeFileSync(file, rules);
      expect(await seenIn(ws, below)).toEqual(byGit(top).map((name) => prefix + name));
    }
  });

  test("core.excludesFile of the repository holds in its linked worktrees, below the root", async () => {
    const { root } = ARRANGEMENTS["a linked worktree as root"]!();
    fill(root);
    put("tree/.rules", "/d\n");
    git("repo", "config", "core.excludesFile", ".rules");
    expect(byGit(root)).toEqual([".rules", "a.txt", "tracked.md"]);
    // The configuration is read by a workspace that chose its disk itself.
    if (DISKS[disk]() === undefined) expect(await seenIn(await open(disk, root))).toEqual(byGit(root));
    put("elsewhere/rules", "a.txt\n");
    git("repo", "config", "core.excludesFile", at("elsewhere/rules"));
    expect(await seenIn(await open(disk, root))).toContain("a.txt");
  });

  test("the exclude file holds for an agent, and its directory is out of reach", async () => {
    const { root } = ARRANGEMENTS["a linked worktree as root"]!();
    fill(root);
    const ws = await open(disk, root);
    const agent = await ws.agent("reviewer", { access: { readOnly: true } });
    const found = await agent.call("glob", { pattern: "**" });
    expect(found).toMatchObject({ data: { matches: ["a.txt", "d/b.txt", "tracked.md"] } });
    for (const name of ["info/exclude", "config", "HEAD"])
      expect(await ws.call("read_file", { path: at(`repo/.git/${name}`) })).toMatchObject({
        ok: false,
        error: { code: "OUTSIDE_ALLOWED" },
      });
  });
});

/** What an agent, or a checkout, can leave in a root. Nothing of it reveals or blocks anything. */
const FORGERIES: Record<string, () => void> = {
  "names a directory outside": () => {
    put("elsewhere/info/exclude", "*.txt\n");
    put("tree/.git", `gitdir: ${at("elsewhere")}\n`);
  },
  "names a repository outside": () => put("tree/.git", `gitdir: ${at("repo/.git")}\n`),
  "names the worktree of another directory": () => {
    git("repo", "worktree", "add", "-q", at("other"), "-b", "side");
    put("tree/.git", `gitdir: ${at("repo/.git/worktrees/other")}\n`);
  },
  "names a directory in the root whose commondir leads out": () => {
    put("tree/fake/worktrees/x/gitdir", at("tree/.git\n"));
    put("tree/fake/worktrees/x/commondir", at("repo/.git\n"));
    put("tree/.git", "gitdir: fake/worktrees/x\n");
  },
  "names a link in the root that leads out": () => {
    git("repo", "worktree", "add", "-q", at("other"), "-b", "side");
    fs.symlinkSync(at("repo/.git"), at("tree/link"));
    put("tree/.git", "gitdir: link\n");
  },
  "names a worktree whose repository was taken away": () => {
    git("repo", "worktree", "add", "-q", at("made"), "-b", "side");
    fs.copyFileSync(at("made/.git"), at("tree/.git"));
    put("repo/.git/worktrees/made/gitdir", at("tree/.git\n"));
    fs.rmSync(at("repo/.git/refs"), { recursive: true });
  },
  "names itself": () => put("tree/.git", "gitdir: .git\n"),
  "leads to a loop of links": () => {
    fs.symlinkSync("b", at("tree/a"));
    fs.symlinkSync("a", at("tree/b"));
    put("tree/.git", "gitdir: a\n");
  },
  "names a system directory": () => put("tree/.git", "gitdir: /etc\n"),
  "is huge": () => put("tree/.git", `gitdir: ${at("repo/.git")}\n${"\n".repeat(1 << 20)}`),
  "has several lines": () => put("tree/.git", `gitdir: fake\ngitdir: ${at("repo/.git")}\n`),
  "is not text": () => fs.writeFileSync(at("tree/.git"), Buffer.from([0xff, 0, 10])),
  "is empty": () => put("tree/.git", ""),
  "is a link to a repository": () => fs.symlinkSync(at("repo/.git"), at("tree/.git")),
  "is a FIFO": () => execFileSync("mkfifo", [at("tree/.git")]),
  "names a directory whose files are FIFOs": () => {
    fs.mkdirSync(at("tree/fake/info"), { recursive: true });
    execFileSync("mkfifo", [at("tree/fake/commondir"), at("tree/fake/info/exclude")]);
    put("tree/.git", "gitdir: fake\n");
  },
  "names a worktree outside whose files are FIFOs": () => {
    fs.mkdirSync(at("elsewhere/worktrees/x"), { recursive: true });
    execFileSync("mkfifo", [at("elsewhere/worktrees/x/commondir"), at("elsewhere/worktrees/x/gitdir")]);
    put("tree/.git", `gitdir: ${at("elsewhere/worktrees/x")}\n`);
  },
  "names a FIFO": () => {
    execFileSync("mkfifo", [at("tree/pipe")]);
    put("tree/.git", "gitdir: pipe\n");
  },
};

describe.each(Object.keys(DISKS) as Disk[])("with %s, a `.git` file hides nothing if it", (disk) => {
  test.each(Object.entries(FORGERIES))("%s", async (_, forge) => {
    put("repo/.git/info/exclude", "*.txt\n");
    put("tree/a.txt", "word\n");
    forge();
    const ws = await open(disk, "tree");
    const { matches } = await ws.glob({ pattern: "*.txt" });
    const { files } = await ws.grep({ pattern: "word", output: "files" });
    const { entries } = await ws.listDirectory({ respect_ignore: true });
    expect([matches, files]).toEqual([["a.txt"], ["a.txt"]]);
    expect(entries.map(({ path }) => path)).toContain("a.txt");
  });
});
