/** Git in each tier: commits work, and no hook or configuration that a command wrote for git to run remains. */
import * as fs from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { reduceGitConfig } from "../../js/backends/confined/git-config.ts";
import { run, TIERS, World } from "./world.ts";

let world: World;
beforeEach(() => {
  world = new World();
});
afterEach(() => world.close());

/** Waits until a command has made a file. */
async function appears(name: string): Promise<void> {
  while (!world.has(name)) await sleep(10);
}

const WHO = "-c user.name=A -c user.email=a@b";

describe.skipIf(process.platform !== "linux").each(TIERS)("git in the %s tier", (_tier, commands) => {
  test("adds and commits, and the person's git sees the commit", async () => {
    const ws = await world.open({ commands });
    const ran = await run(ws, `echo b > b && git add . && git ${WHO} commit -qm two`);
    expect(ran).toMatchObject({ exit_code: 0, stderr: "" });
    expect(ran.removed).toBeUndefined();
    expect(world.git("log", "--format=%s")).toBe("two\none\n");
    expect(world.git("status", "--porcelain")).toBe("");
  });

  test("makes repositories that are kept without hooks and with git's own keys", async () => {
    const ws = await world.open({ commands });
    const script = `git init -q new && cd new && mkdir -p .git/hooks .git/info && git config core.fsmonitor ./evil &&
      git config filter.x.clean ./evil && git config remote.origin.url https://example.org/r.git &&
      git config remote.evil.url 'ext::sh -c ./evil' && echo x > .git/hooks/pre-commit && chmod +x .git/hooks/pre-commit &&
      echo '* filter=x' > .git/info/attributes && echo f > f && git add f && git ${WHO} commit -qm first --no-verify`;
    const ran = await run(ws, script);
    expect(ran).toMatchObject({ repositories: ["new/.git"] });
    expect(world.has("new/.git/hooks/pre-commit")).toBe(false);
    expect(world.has("new/.git/info/attributes")).toBe(false);
    const config = world.read("new/.git/config");
    expect(config).toContain("repositoryformatversion");
    expect(config).toContain("https://example.org/r.git");
    expect(config).not.toMatch(/evil|fsmonitor|filter/u);
    expect(world.git("-C", "new", "status", "--porcelain")).toBe("");
    expect(world.git("-C", "new", "log", "--format=%s")).toBe("first\n");
  });

  test("clones, also without a work tree, and the clone stays", async () => {
    const ws = await world.open({ commands });
    const ran = await run(
      ws,
      "git clone -q . copy && git clone -q --bare . bare.git && git -C bare.git config core.fsmonitor x",
    );
    expect(ran.exit_code, ran.stderr).toBe(0);
    expect([...(ran.repositories ?? [])].sort()).toEqual(["bare.git", "copy/.git"]);
    expect(world.git("-C", "copy", "log", "--format=%s")).toBe("one\n");
    expect(world.read("copy/.git/config")).toMatch(/\[remote "origin"\]\n\turl = .*\n\tfetch = \+refs/u);
    expect(world.read("bare.git/config")).not.toContain("fsmonitor");
    expect(world.git("-C", "bare.git", "log", "--format=%s")).toBe("one\n");
  });

  test("adds a worktree, which stays", async () => {
    const ws = await world.open({ commands });
    const ran = await run(ws, "git worktree add -q tree -b side");
    expect(ran.exit_code, ran.stderr).toBe(0);
    expect([...(ran.repositories ?? [])].sort()).toEqual([".git/worktrees/tree", "tree/.git"]);
    expect(world.git("-C", "tree", "branch", "--show-current")).toBe("side\n");
    const changed = await run(
      ws,
      `echo x > tree/x && git -C tree add x && git -C tree ${WHO} commit -qm side`,
    );
    expect(changed.exit_code, changed.stderr).toBe(0);
  });

  test("takes no commondir, attributes or other repository from a command", async () => {
    world.put("evil/config", '[core]\n\tfsmonitor = "touch ran"\n');
    const ws = await world.open({ commands });
    const ran = await run(
      ws,
      "mkdir sub && echo ../evil > .git/commondir; echo 'gitdir: ../evil' > sub/.git; mkdir -p .git/info && echo '* filter=x' > .git/info/attributes",
    );
    expect([...(ran.removed ?? [])].sort()).toEqual([".git/commondir", ".git/info/attributes", "sub/.git"]);
    expect(world.git("status", "--porcelain", "--untracked-files=no")).toBe("");
    const told = await ws.call("run_command", { command: "echo ../evil > .git/commondir", shell: true });
    expect(told.text).toContain("[removed, because other programs obey it: .git/commondir]");
  });

  test("removes protected places whose names are not text or that lie in a closed directory", async () => {
    const ws = await world.open({ commands });
    const ran = await run(
      ws,
      `d=$(printf 'x\\377'); mkdir -p "$d/.vscode" && echo '{}' > "$d/.vscode/tasks.json"; mkdir -p .vscode; echo '{}' > .vscode/tasks.json`,
    );
    expect(ran.removed).toHaveLength(2);
    const left = fs.readdirSync(Buffer.from(world.root), { encoding: "buffer" });
    const odd = left.find((name) => name.includes(0xff)) as Buffer;
    expect(
      fs.readdirSync(Buffer.concat([Buffer.from(`${world.root}/`), odd, Buffer.from("/.vscode")])),
    ).toEqual([]);
  });

  test("removes what one of two commands makes and the other makes again", async () => {
    fs.mkdirSync(join(world.root, "sub"));
    const ws = await world.open({ commands });
    const make = "echo ../evil > .git/commondir";
    const wait = (name: string) => `while ! test -e ${name}; do sleep 0.02; done`;
    const first = run(ws, `${make} && touch first && ${wait("end-first")}`);
    await appears("first");
    // Commands of one working directory wait for each other.
    const script = `cd .. && touch second && ${wait("end-second")}; rm -f .git/commondir; ${make}`;
    const second = run(ws, script, { cwd: "sub" });
    await appears("second");
    world.put("end-first", "");
    await first;
    world.put("end-second", "");
    await second;
    expect(world.has(".git/commondir")).toBe(false);
  });

  test("leaves a protected file that a person saves by a rename while a command runs", async () => {
    world.put(".vscode/tasks.json", "{}\n");
    const ws = await world.open({ commands });
    const ran = run(ws, "touch began; while ! test -e end; do sleep 0.02; done");
    await appears("began");
    world.put(".vscode/new", '{"mine": 1}\n');
    fs.renameSync(join(world.root, ".vscode/new"), join(world.root, ".vscode/tasks.json"));
    world.put("end", "");
    expect((await ran).removed).toBeUndefined();
    expect(world.read(".vscode/tasks.json")).toContain("mine");
  });

  test("leaves what was there before, changed, moved or not", async () => {
    world.put("old/.git/HEAD", "ref: refs/heads/main\n");
    world.put("old/.git/config", "[alias]\n\tx = status\n");
    world.put("old/.git/hooks/x", "mine\n");
    const ws = await world.open({ commands });
    const ran = await run(ws, "mv old new || true; git config user.name B || true; rm -f .git/config.lock");
    expect(ran.removed).toBeUndefined();
    const place = world.has("new/.git") ? "new" : "old";
    expect(world.read(join(place, ".git/config"))).toContain("alias");
    expect(world.read(join(place, ".git/hooks/x"))).toBe("mine\n");
    expect(world.has(".git/config")).toBe(true);
  });
});

describe("the config of a repository", () => {
  test.each([
    ["[core]\n\tbare = false\n\tfsmonitor = x\n", "[core]\n\tbare = false\n"],
    ["[core]\n\tbare = false\\\nfsmonitor = x\n", ""],
    ["[core] fsmonitor = x\n\tbare = true\n", ""],
    ["[CORE]\n\tBARE = true # no\n\tBare = true\n", "[CORE]\n\tBare = true\n"],
    [
      '[remote "o"]\n\turl = ext::sh -c x\n\turl = -x\n\tfetch = +a:b\n\tuploadpack = x\n',
      '[remote "o"]\n\tfetch = +a:b\n',
    ],
    ['[remote "a\\"b"]\n\turl = h\n', '[remote "a\\"b"]\n\turl = h\n'],
    ['[include]\n\tpath = x\n[includeIf "gitdir:x"]\n\tpath = x\n[core]\n\tpager = x\n', ""],
    ['[filter "x"]\n\tclean = x\n[alias]\n\tst = !x\n[credential]\n\thelper = x\n', ""],
    ["[core.x]\n\tbare = true\n[ core ]\n\tsymlinks\n", "[ core ]\n\tsymlinks\n"],
    [
      '[branch "m"]\r\n\tremote = o\r\n\tmerge = refs/heads/m\r\n',
      '[branch "m"]\n\tremote = o\n\tmerge = refs/heads/m\n',
    ],
    ["bare = true\n", ""],
  ])("%j becomes %j", (text, reduced) => {
    expect(reduceGitConfig(text)).toBe(reduced);
  });
});
