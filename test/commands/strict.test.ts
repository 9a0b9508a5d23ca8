/** The strict tier separates a command from other processes, hidden files, protected places and paths without a grant. */
import * as fs from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { sandboxFor } from "../../js/index.node.ts";
import { MOUNT_KERNEL_FILES, OPEN_KERNEL_FILES } from "./rows.mjs";
import { type Ran, run, World } from "./world.ts";

let world: World;
beforeEach(() => {
  world = new World();
});
afterEach(() => world.close());

/** Opens the world with the strict tier. */
const openStrict = (options: Parameters<World["open"]>[0] = {}) =>
  world.open({ commands: { tier: "strict" }, ...options });

describe.skipIf(process.platform !== "linux")("a command of the strict tier", { timeout: 60_000 }, () => {
  test("sees no process but its own", async () => {
    const ws = await openStrict();
    const { stdout } = await run(ws, "cat /proc/[0-9]*/comm");
    expect(new Set(stdout.trim().split("\n"))).toEqual(new Set(["bwrap", "sh"]));
    expect((await run(ws, `ls -d /proc/${process.pid}`)).exit_code).not.toBe(0);
  });

  test("opens nothing of the kernel for writing, whatever it may read", async () => {
    const before = fs.readFileSync("/proc/sys/kernel/core_pattern", "utf8");
    for (const commands of [{}, { network: true }, { read: null }, { read: null, network: true }] as const) {
      const ws = await openStrict({ commands: { tier: "strict", ...commands } });
      expect((await run(ws, OPEN_KERNEL_FILES)).stdout).toBe("");
      expect(await run(ws, MOUNT_KERNEL_FILES)).toMatchObject({ stdout: "", stderr: "" });
      const set =
        "echo '|/x' > /proc/sys/kernel/core_pattern; echo x > /proc/sysrq-trigger; hostname x; echo set";
      expect((await run(ws, set)).stdout).toBe("set\n");
    }
    const commands = sandboxFor({ tier: "strict", writableRoots: [world.root] });
    expect((await run(await openStrict({ commands }), OPEN_KERNEL_FILES)).stdout).toBe("");
    expect(fs.readFileSync("/proc/sys/kernel/core_pattern", "utf8")).toBe(before);
  });

  test("is refused where a trial could open files of the kernel for writing", () => {
    const tries = (program: string, writableRoots: readonly string[]) =>
      sandboxFor({ tier: "strict", writableRoots, bubblewrap: program });
    const refused = expect.objectContaining({
      code: "SANDBOX_SETUP_FAILED",
      message: expect.stringMatching(/a trial command could write to \/(?:proc|sys)/u),
    });
    const wrapper = (name: string, script: string): string => {
      const path = join(world.base, name);
      fs.writeFileSync(path, `#!/bin/bash\n${script}\n`, { mode: 0o755 });
      return path;
    };
    // It mounts nothing, mounts all but makes nothing read-only, or does not even run the trial.
    const none = wrapper("none", 'while [ "$1" != "--" ]; do shift; done; shift; exec "$@"');
    const open = wrapper(
      "open",
      'n=$#; while [ $n -gt 0 ]; do n=$((n - 1)); if [ "$1" = --remount-ro ]; then shift 2; n=$((n - 1)); else set -- "$@" "$1"; shift; fi; done; exec bwrap "$@"',
    );
    const idle = wrapper("idle", "exit 0");
    for (const program of [none, open, idle]) expect(() => tries(program, [world.root])).toThrow(refused);
    expect(tries("bwrap", [world.root]).status.tier).toBe("bubblewrap");
    for (const root of ["/proc", "/sys"]) expect(() => tries("bwrap", [root])).toThrow(refused);
    expect(() => tries("bwrap", ["/"])).toThrow(expect.objectContaining({ code: "SANDBOX_SETUP_FAILED" }));
  });

  test("finds denied files and directories empty, and changes none", async () => {
    world.put("denied/hidden", "hidden content\n");
    world.put("notes.private", "hidden content\n");
    const ws = await openStrict({ access: { deny: ["denied", "*.private"] } });
    const ran = await run(
      ws,
      "ls denied; cat denied/hidden notes.private; grep -r 'hidden content' .; cp notes.private copied; cat copied",
    );
    expect(ran.stdout).toBe("");
    await run(
      ws,
      "echo x > notes.private; rm -f notes.private; echo x > denied/new; rm -rf denied; mv denied d",
    );
    expect([world.read("notes.private"), fs.readdirSync(join(world.root, "denied"))]).toEqual([
      "hidden content\n",
      ["hidden"],
    ]);
  });

  test("finds secrets empty, and changes none", async () => {
    world.put(".env", "TOKEN=s3cret\n");
    world.put("keys/secrets.yml", "token: s3cret\n");
    const ws = await openStrict();
    const ran = await run(
      ws,
      "cat .env keys/secrets.yml; grep -r s3cret .; ln .env linked; cat linked; head -c 1 .env | wc -c",
    );
    expect(ran.stdout).toBe("0\n");
    await run(ws, "echo x > .env; rm -f .env; mv keys/secrets.yml k");
    expect([world.read(".env"), world.read("keys/secrets.yml")]).toEqual([
      "TOKEN=s3cret\n",
      "token: s3cret\n",
    ]);
  });

  test("finds other names of denied files and secrets empty, and changes none", async () => {
    world.put(".env", "TOKEN=s3cret\n");
    world.put("denied/deep/hidden", "s3cret too\n");
    world.put("plain", "plain\n");
    for (const [from, to] of [
      [".env", "notes"],
      ["denied/deep/hidden", "src/readme"],
      ["plain", "plain2"],
    ] as const) {
      fs.mkdirSync(join(world.root, "src"), { recursive: true });
      fs.linkSync(join(world.root, from), join(world.root, to));
    }
    const ws = await openStrict({ access: { deny: ["denied"] } });
    const ran = await run(ws, "cat notes src/readme plain2; grep -r s3cret .; cp notes copied; cat copied");
    expect(ran.stdout).toBe("plain\n");
    await run(ws, "echo x > notes; rm -f notes; echo x > src/readme");
    expect([world.read("notes"), world.read("src/readme")]).toEqual(["TOKEN=s3cret\n", "s3cret too\n"]);
  });

  test("has git fail instead of recording a covered file as empty or deleted", async () => {
    world.put(".env", "TOKEN=s3cret\n");
    world.put("certs/dev.pem", "s3cret\n");
    world.put("denied/hidden", "hidden content\n");
    world.git("add", "-A");
    world.git("commit", "-qm", "secrets");
    const ws = await openStrict({ access: { deny: ["denied"] } });
    const as = "git -c user.name=A -c user.email=a@b";
    for (const command of ["commit -qam x", "add -A", "add .", "add -u", "add .env", "stash", "stash -u"]) {
      const { exit_code, stderr } = await run(ws, `echo z >> a; ${as} ${command}`);
      expect([command, exit_code]).not.toEqual([command, 0]);
      expect(stderr).toMatch(/\.env: (?:can only add regular files|unsupported file type)/u);
    }
    // The rest can be committed by name, and the status does not hide the covered files.
    expect(await run(ws, `${as} add a && ${as} commit -qm two`)).toMatchObject({ exit_code: 0 });
    expect(world.git("show", "--stat", "--format=%s", "HEAD")).toMatch(/^two\s+a \|/u);
    expect(world.git("status", "--porcelain")).toBe("");
    expect((await run(ws, "git status --porcelain")).stdout).toMatch(/\.env/u);
  });

  test("has programs that look for a covered file pass it over", async () => {
    world.put(".env", "TOKEN=s3cret\n");
    world.put("denied/hidden", "hidden content\n");
    const ws = await openStrict({ access: { deny: ["denied"] } });
    const node = `node -e 'const fs = require("fs"); console.log(fs.statSync(".env").isFile(), fs.readdirSync("denied").length)'`;
    expect((await run(ws, node)).stdout).toBe("false 0\n");
    expect(await run(ws, "find . > list && grep -rn s3cret . ; ls denied")).toMatchObject({ stdout: "" });
    expect(world.read("list")).toContain("./a\n");
  });

  test("reads protected places and changes none", async () => {
    world.put(".husky/pre-push", "husky\n");
    world.put(".vscode/tasks.json", "{}\n");
    const ws = await openStrict();
    const config = world.read(".git/config");
    const ran = await run(ws, "cat .husky/pre-push .vscode/tasks.json");
    expect(ran.stdout).toBe("husky\n{}\n");
    await run(
      ws,
      "echo x > .husky/pre-push; rm -rf .husky; echo x > .vscode/tasks.json; mv .vscode v; echo x >> .git/config; chmod 777 .git/config",
    );
    expect([
      world.read(".husky/pre-push"),
      world.read(".vscode/tasks.json"),
      world.read(".git/config"),
    ]).toEqual(["husky\n", "{}\n", config]);
  });

  test("loses the places that it makes and that other programs obey, and keeps what a person would be asked about", async () => {
    const ws = await openStrict();
    const made = ["sub/.claude/settings.json", ".mcp.json", ".husky/pre-push", ".envrc"];
    const make = made.map((path) => `mkdir -p "$(dirname ${path})"; echo x > ${path}`).join("; ");
    await run(ws, `${make}; echo x > .npmrc; echo x > plain`);
    expect(made.filter((path) => world.has(path))).toEqual([]);
    expect([world.read(".npmrc"), world.read("plain")]).toEqual(["x\n", "x\n"]);
  });

  test("has the places that were removed named in its answer", async () => {
    const ws = await openStrict();
    const answer = await ws.call("run_command", {
      command: "mkdir -p .vscode; echo '{}' > .vscode/tasks.json; echo x > .mcp.json",
      shell: true,
    });
    const { removed = [] } = answer.data as Ran;
    expect([...removed].sort()).toEqual([".mcp.json", ".vscode/tasks.json"]);
    expect(answer.text).toMatch(/\[removed, because other programs obey it: .*\.mcp\.json/u);
  });

  test("changes nothing that a narrower grant of writing leaves out", async () => {
    world.put("src/x", "x\n");
    const ws = await openStrict({ access: { write: ["src"] } });
    const ran = await run(ws, "cat ../a; echo y > x; echo y > ../a; echo y > ../new; rm -f ../a", {
      cwd: "src",
    });
    expect(ran.stdout).toBe("a\n");
    expect([world.read("src/x"), world.read("a"), world.has("new")]).toEqual(["y\n", "a\n", false]);
  });

  test("has no more of its output and its errors kept than was asked for", async () => {
    const ws = await openStrict();
    const script = "yes | head -c 500000; yes | head -c 500000 >&2";
    const ran = await run(ws, script, { max_output_bytes: 1000 });
    expect([ran.stdout.length, ran.stderr.length, ran.truncated, ran.exit_code]).toEqual([
      1000,
      1000,
      true,
      0,
    ]);
  });
});
