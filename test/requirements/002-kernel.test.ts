/** Refusals by the kernel in a process that a sandbox restricts: errors name that layer. */
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import process from "node:process";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  LocalBackend,
  linuxSandbox,
  SandboxPolicy,
  sandboxFor,
  sandboxOptionsOf,
} from "../../js/index.node.ts";
import { ENTRY } from "./node.ts";

const PROJECT = resolve(import.meta.dirname, "../..");
const LANDLOCK =
  process.platform === "linux" &&
  new LocalBackend({ policy: SandboxPolicy.workspaceOnly(tmpdir()) }).capabilities().kernel.landlock > 0;

let root: string;
beforeEach(() => {
  root = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), "filewright-kernel-")));
  for (const name of ["open", "seen", "closed"]) {
    fs.mkdirSync(join(root, name));
    fs.writeFileSync(join(root, name, "a"), "a\n");
  }
  fs.writeFileSync(join(root, "open/unreadable"), "a\n", { mode: 0o000 });
});
afterEach(() => fs.rmSync(root, { recursive: true, force: true }));

const outcomeOf = (argv: readonly string[], options: object) =>
  linuxSandbox({ writableRoots: [join(root, "open")], ...options }).run({
    argv,
    cwd: join(root, "open"),
    env: {},
    timeoutMs: 60_000,
    maxOutputBytes: 1 << 20,
  });

describe.skipIf(!LANDLOCK)("a process under Landlock", () => {
  /** Answers of a workspace over `root` in a process that may change only `open` and not read `closed`. */
  async function answersOf(preset: string, calls: readonly (readonly [string, object])[]): Promise<unknown> {
    const script = `import { openWorkspace } from ${JSON.stringify(ENTRY)};
      const ws = await openWorkspace({ root: ${JSON.stringify(root)}, preset: ${JSON.stringify(preset)}, stateDir: ${JSON.stringify(join(root, "open/state"))} });
      const answers = [];
      for (const [tool, args] of ${JSON.stringify(calls)}) {
        const { ok, text, error } = await ws.call(tool, args);
        answers.push({ ok, text, code: error?.code, layer: error?.details?.layer });
      }
      console.log(JSON.stringify(answers));
      await ws.close();`;
    const { readRoots } = sandboxOptionsOf({ fullDiskReadAccess: false }, join(root, "open"));
    const node = resolve(dirname(process.execPath), "..");
    const { stdout, stderr } = await outcomeOf([process.execPath, "--input-type=module", "-e", script], {
      readRoots: [...(readRoots ?? []), PROJECT, node, join(root, "seen")],
    });
    expect(stderr).toBe("");
    return JSON.parse(stdout);
  }

  test("tells refusals of the kernel as such, with the layer, in the words of preset tinyagent", async () => {
    expect(
      await answersOf("tinyagent", [
        ["read_file", { file_path: "open/a" }],
        ["read_file", { file_path: "closed/a" }],
        ["write_file", { file_path: "seen/a", content: "b\n" }],
        ["write_file", { file_path: "seen/new/b", content: "b\n" }],
        ["update_file", { file_path: "seen/a", old_content: "a", new_content: "b" }],
        ["search_files", { pattern: "a", directory: "closed" }],
        ["read_file", { file_path: "open/unreadable" }],
      ]),
    ).toEqual([
      { ok: true, text: "a\n" },
      kernel("closed/a"),
      kernel("seen/a"),
      kernel("seen/new/b"),
      kernel("seen/a"),
      kernel("closed"),
      {
        ok: false,
        text: expect.not.stringContaining("Landlock"),
        code: "PERMISSION_DENIED",
        layer: "permissions",
      },
    ]);
    expect(fs.readFileSync(join(root, "seen/a"), "utf8")).toBe("a\n");
  });

  test("names the layer in our own words too, with what to do", async () => {
    const answers = await answersOf("canonical", [
      ["delete", { path: "seen/a" }],
      ["mkdir", { path: "seen/new" }],
      ["move", { source: "open/a", destination: "seen/b" }],
      ["list_directory", { path: "closed" }],
    ]);
    const words = expect.stringMatching(/Landlock, which restricts this process, .*; work elsewhere/u);
    const refused = { ok: false, text: words, code: "PERMISSION_DENIED", layer: "landlock" };
    expect(answers).toEqual([refused, refused, refused, refused]);
  });
});

/** A refusal by Landlock as preset `tinyagent` words it. */
const kernel = (path: string) => ({
  ok: false,
  text: expect.stringContaining(`Permission denied by Landlock restrictions: ${path}\n`),
  code: "PERMISSION_DENIED",
  layer: "landlock",
});

describe.skipIf(!LANDLOCK)("system calls that a host forbids", () => {
  const make = ["sh", "-c", "mkdir made; mv a b; cat b a 2>/dev/null; ls"];
  const forbiddenSyscalls = ["mkdir", "mkdirat", "rename", "renameat", "renameat2"];

  test("fail in commands with EPERM, and all others go on", async () => {
    const free = await outcomeOf(make, {});
    expect(free).toMatchObject({ exitCode: 0, stdout: "a\nb\nmade\nunreadable\n", stderr: "" });
    fs.renameSync(join(root, "open/b"), join(root, "open/a"));
    fs.rmdirSync(join(root, "open/made"));
    const { stdout, stderr } = await outcomeOf(make, { forbiddenSyscalls });
    expect(stdout).toBe("a\na\nunreadable\n");
    expect(stderr).toMatch(/mkdir: .*Operation not permitted[\s\S]*mv: .*Operation not permitted/u);
  });

  test("stay forbidden where the network is allowed, and the status tells the filter", async () => {
    const options = { writableRoots: [join(root, "open")], network: true };
    expect(linuxSandbox(options).status).toMatchObject({ tier: "landlock+seccomp", network: "none" });
    expect(linuxSandbox({ ...options, forbiddenSyscalls }).status).toMatchObject({
      tier: "landlock+seccomp",
      network: "none",
    });
    const { stderr } = await outcomeOf(["mkdir", "made"], { network: true, forbiddenSyscalls });
    expect(stderr).toContain("Operation not permitted");
  });

  test("are known by name: others are refused with the nearest one", () => {
    const refusals = [["unlink_at"], ["mkdirs"], ["execve"], ["mkdir", "?"], "mkdir", [0]].map((names) =>
      [linuxSandbox, sandboxFor].map((make) => {
        try {
          make({ writableRoots: [root], forbiddenSyscalls: names as never });
          return "accepted";
        } catch (error) {
          const { code, message } = error as { readonly code: string; readonly message: string };
          return `${code} ${message}`;
        }
      }),
    );
    expect(refusals).toMatchObject([
      Array(2).fill(
        expect.stringMatching(/^INVALID_ARGUMENT .*forbiddenSyscalls\[0\].*did you mean 'unlinkat'/u),
      ),
      Array(2).fill(expect.stringMatching(/^INVALID_ARGUMENT .*did you mean 'mkdir'/u)),
      Array(2).fill(expect.stringMatching(/^INVALID_ARGUMENT .*by which every command is started/u)),
      Array(2).fill(expect.stringMatching(/^INVALID_ARGUMENT .*forbiddenSyscalls\[1\]/u)),
      Array(2).fill(expect.stringMatching(/^INVALID_ARGUMENT .*forbiddenSyscalls/u)),
      Array(2).fill(expect.stringMatching(/^INVALID_ARGUMENT .*forbiddenSyscalls\[0\]/u)),
    ]);
    const extra = { writableRoots: [root], extraSyscalls: ["mkdir"] };
    expect(() => linuxSandbox(extra as never)).toThrow(/use forbiddenSyscalls/u);
  });

  test("names that only another processor has are accepted", () => {
    const options = { writableRoots: [root], forbiddenSyscalls: ["open", "fork", "renameat"] };
    expect(linuxSandbox(options).status.files).toBe("enforced");
  });
});

const BUBBLEWRAP = spawnSync("bwrap", ["--ro-bind", "/", "/", "--unshare-all", "true"]).status === 0;

test.skipIf(!LANDLOCK || !BUBBLEWRAP)("the strict tier forbids them too", async () => {
  for (const network of [false, true]) {
    const forbiddenSyscalls = ["mkdir", "mkdirat"];
    const sandbox = sandboxFor({
      tier: "strict",
      writableRoots: [join(root, "open")],
      network,
      forbiddenSyscalls,
    });
    const command = { argv: ["mkdir", "made"], cwd: join(root, "open"), env: {} };
    const { stderr } = await sandbox.run({ ...command, timeoutMs: 60_000, maxOutputBytes: 1 << 20 });
    expect(stderr).toContain("Operation not permitted");
    expect(fs.existsSync(join(root, "open/made"))).toBe(false);
  }
});
