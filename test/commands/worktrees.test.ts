/** A root that is a linked worktree of git: commands reach the repository that git made it from, and no other. */
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { linuxSandbox } from "../../js/index.node.ts";
import { run, TIERS, World } from "./world.ts";

let world: World;
/** The linked worktree, and the git directory that it shares with the repository of the world. */
let tree: string;
let common: string;
beforeEach(() => {
  world = new World();
  tree = join(world.base, "tree");
  common = join(world.root, ".git");
  world.git("worktree", "add", "-q", tree, "-b", "side");
});
afterEach(() => world.close());

const WHO = "-c user.name=A -c user.email=a@b";
const put = (path: string, text: string): void => {
  fs.mkdirSync(dirname(path), { recursive: true });
  fs.writeFileSync(path, text);
};

describe.skipIf(process.platform !== "linux").each(TIERS)(
  "git in a linked worktree, in the %s tier",
  (tier, commands) => {
    test("works as in any other repository, and the person's git sees it", async () => {
      const ws = await world.open({ root: tree, commands });
      const script = `set -e; git status --porcelain; git log --oneline; echo b > b; git add b; git ${WHO} commit -qm two
        echo c >> b; git ${WHO} stash -q; git ${WHO} stash pop -q; git checkout -q b; git branch more; git tag v1; git pack-refs --all
        git checkout -qb topic; echo d > d; git add -A; git ${WHO} commit -qm three; git checkout -q side; git ${WHO} merge -q --no-ff -m merge topic; git worktree list`;
      const ran = await run(ws, script);
      expect([ran.exit_code, ran.stderr, ran.removed]).toEqual([0, "", undefined]);
      expect(world.git("log", "--format=%s", "side").trim().split("\n").sort()).toEqual(
        ["merge", "one", "three", "two"].sort(),
      );
      expect(world.git("-C", tree, "status", "--porcelain")).toBe("");
      expect(world.git("status", "--porcelain")).toBe("");
    });

    test("follows relative links in both directions", async () => {
      const own = join(common, "worktrees/tree");
      put(join(tree, ".git"), "gitdir: ../ws/.git/worktrees/tree\n");
      put(join(own, "gitdir"), "../../../../tree/.git\n");
      const ws = await world.open({ root: tree, commands });
      expect((await run(ws, `echo b > b; git add b; git ${WHO} commit -qm two`)).exit_code).toBe(0);
    });

    test("changes no hook or configuration of the repository, and leaves none behind", async () => {
      put(join(common, "hooks/pre-push"), "mine\n");
      const before = fs.readFileSync(join(common, "config"), "utf8");
      const ws = await world.open({ root: tree, commands });
      const made = ["config.worktree", "commondir", "info/attributes", "worktrees/tree/config.worktree"];
      const writes = made.map(
        (name) => `mkdir -p $(dirname ${common}/${name}); echo evil > ${common}/${name}`,
      );
      const ran = await run(ws, `${writes.join("; ")}; echo evil > ${common}/hooks/pre-commit; echo made`);
      expect(ran.stdout).toBe("made\n");
      expect(made.filter((name) => fs.existsSync(join(common, name)))).toEqual([]);
      // As in a root, the fast tier keeps a command from nothing that is there, such as the directory of hooks.
      if (tier !== "strict") return;
      expect(fs.existsSync(join(common, "hooks/pre-commit"))).toBe(false);
      await run(
        ws,
        `echo evil >> ${common}/config; git config core.fsmonitor evil; echo evil > ${common}/hooks/pre-push; mv ${common}/hooks ${common}/h; echo evil > ${common}/worktrees/tree/commondir; echo 'gitdir: evil' > .git; rm -f .git`,
      );
      expect(fs.readFileSync(join(common, "config"), "utf8")).toBe(before);
      expect(fs.readFileSync(join(common, "hooks/pre-push"), "utf8")).toBe("mine\n");
      expect(fs.readFileSync(join(common, "worktrees/tree/commondir"), "utf8")).toBe("../..\n");
      expect(fs.readFileSync(join(tree, ".git"), "utf8")).toContain("worktrees/tree");
    });

    test("reaches nothing else of the other worktrees, and tools reach nothing of the repository", async () => {
      const ws = await world.open({ root: tree, commands });
      const ran = await run(
        ws,
        `cat ${world.root}/a; echo evil > ${world.root}/a; echo evil > ${world.root}/new`,
      );
      expect([ran.stdout, world.read("a"), world.has("new")]).toEqual(["", "a\n", false]);
      for (const name of ["config", "HEAD", "worktrees/tree/HEAD"])
        expect(await ws.call("read_file", { path: join(common, name) })).toMatchObject({
          ok: false,
          error: { code: "OUTSIDE_ALLOWED" },
        });
    });

    test("reads and does not write where the workspace may not write the root", async () => {
      fs.mkdirSync(join(tree, "src"));
      const ws = await world.open({ root: tree, commands, access: { write: ["src"] } });
      const inside = { cwd: "src" };
      expect((await run(ws, "git log --format=%s", inside)).stdout).toBe("one\n");
      const script = `echo evil > ${common}/objects/evil; git branch evil; git ${WHO} commit --allow-empty -qm evil`;
      await run(ws, script, inside);
      expect(fs.existsSync(join(common, "objects/evil"))).toBe(false);
      expect(world.git("branch", "--format=%(refname:short)")).not.toContain("evil");
    });

    /** What an agent, or a checkout, could have left in a root before it is opened. */
    const forgeries: readonly (readonly [name: string, forge: (root: string) => void])[] = [
      [
        "names the worktree of another root",
        (root) => put(join(root, ".git"), `gitdir: ${common}/worktrees/tree\n`),
      ],
      ["names a repository itself", (root) => put(join(root, ".git"), `gitdir: ${common}\n`)],
      [
        "names a directory in the root whose commondir leads out",
        (root) => {
          put(join(root, ".git"), "gitdir: fake/worktrees/x\n");
          put(join(root, "fake/worktrees/x/gitdir"), `${root}/.git\n`);
          put(join(root, "fake/worktrees/x/commondir"), `${common}\n`);
          put(join(root, "fake/worktrees/x/HEAD"), "ref: refs/heads/side\n");
        },
      ],
      [
        "names a directory in the root that is a link to a repository",
        (root) => {
          put(join(root, ".git"), "gitdir: fake/worktrees/x\n");
          fs.mkdirSync(join(root, "fake/worktrees/x"), { recursive: true });
          put(join(root, "fake/worktrees/x/gitdir"), `${root}/.git\n`);
          put(join(root, "fake/worktrees/x/commondir"), "../..\n");
          put(join(root, "fake/HEAD"), "ref: refs/heads/side\n");
          for (const name of ["objects", "refs"])
            fs.symlinkSync(join(common, name), join(root, "fake", name));
        },
      ],
      [
        "reaches the worktree of another root through a link",
        (root) => {
          fs.symlinkSync(common, join(root, "link"));
          put(join(root, ".git"), "gitdir: link/worktrees/tree\n");
        },
      ],
      [
        "is a link to the file of another worktree",
        (root) => fs.symlinkSync(join(tree, ".git"), join(root, ".git")),
      ],
      [
        "is followed by more text",
        (root) => put(join(root, ".git"), `gitdir: ${common}/worktrees/tree\nx\n`),
      ],
    ];
    test.each(forgeries)("follows no .git file that %s", async (_, forge) => {
      const root = join(world.base, "forged");
      fs.mkdirSync(root);
      forge(root);
      const ws = await world.open({ root, commands });
      const { stdout } = await run(
        ws,
        `cat ${common}/config ${common}/HEAD; for name in objects refs/heads worktrees/tree .; do echo evil > ${common}/$name/evil; done; git ${WHO} commit --allow-empty -qm evil; git branch evil; echo end`,
      );
      expect(stdout).toBe("end\n");
      for (const name of ["objects/evil", "refs/heads/evil", "worktrees/tree/evil", "evil"])
        expect(fs.existsSync(join(common, name))).toBe(false);
    });

    const broken: readonly (readonly [name: string, breakIt: (own: string) => void])[] = [
      ["names another file", (own) => put(join(own, "gitdir"), `${world.base}/other/.git\n`)],
      ["names another file of the root", (own) => put(join(own, "gitdir"), `${tree}/sub/.git\n`)],
      ["is missing", (own) => fs.rmSync(join(own, "gitdir"))],
      [
        "is a link",
        (own) => {
          fs.renameSync(join(own, "gitdir"), join(own, "real"));
          fs.symlinkSync("real", join(own, "gitdir"));
        },
      ],
      ["has a commondir that leads elsewhere", (own) => put(join(own, "commondir"), `${common}\n`)],
    ];
    test.each(broken)("follows none where the link back %s", async (_, breakIt) => {
      breakIt(join(common, "worktrees/tree"));
      const ws = await world.open({ root: tree, commands });
      await run(ws, `echo evil > ${common}/objects/evil; cat ${common}/config`);
      expect(fs.existsSync(join(common, "objects/evil"))).toBe(false);
    });

    test("follows none whose repository contains the root or the state directory", async () => {
      const bare = join(world.base, "bare.git");
      world.git("clone", "-q", "--bare", ".", bare);
      const inside = join(bare, "tree");
      execFileSync("git", ["-C", bare, "worktree", "add", "-q", inside, "-b", "inside"]);
      const ws = await world.open({ root: inside, commands });
      await run(ws, `echo evil > ${bare}/objects/evil`);
      expect(fs.existsSync(join(bare, "objects/evil"))).toBe(false);
      const other = await world.open({ root: tree, stateDir: join(common, "state"), commands });
      await run(other, `echo evil > ${common}/objects/evil`);
      expect(fs.existsSync(join(common, "objects/evil"))).toBe(false);
    });
  },
);

test.skipIf(process.platform !== "linux")(
  "a sandbox made by hand allows no more than it was made for",
  async () => {
    const commands = linuxSandbox({ writableRoots: [tree], readRoots: null, degrade: "allow" });
    const ws = await world.open({ root: tree, commands });
    await run(ws, `echo evil > ${common}/objects/evil`);
    expect(fs.existsSync(join(common, "objects/evil"))).toBe(false);
  },
);
