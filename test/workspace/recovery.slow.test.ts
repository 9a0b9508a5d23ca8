/** Batches that are cut: by SIGKILL at any moment and at every n-th system call that writes. */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openWorkspace } from "../../js/index.node.ts";

const ENTRY = resolve(import.meta.dirname, "../../dist/index.node.js");
let base: string;
let root: string;
let stateDir: string;
beforeEach(() => {
  base = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), "filewright-cut-")));
  [root, stateDir] = [join(base, "ws"), join(base, "state")];
  fs.mkdirSync(root);
});
afterEach(() => fs.rmSync(base, { recursive: true, force: true }));

/** Every kind of change, so that each must be taken back. */
const MIXED = [
  { tool: "write_file", args: { path: "kept", content: "new\n".repeat(5000) } },
  { tool: "write_file", args: { path: "made/deep/file", content: "made" } },
  { tool: "move", args: { source: "from", destination: "made/to" } },
  { tool: "copy", args: { source: "tree", destination: "copied" } },
  { tool: "delete", args: { path: "tree", recursive: true } },
  { tool: "edit_file", args: { path: "edited", old_text: "one", new_text: "two" } },
  { tool: "mkdir", args: { path: "empty/directory" } },
];

function seed(): void {
  fs.rmSync(root, { recursive: true, force: true });
  fs.mkdirSync(join(root, "tree/below"), { recursive: true });
  fs.writeFileSync(join(root, "kept"), "old\n");
  fs.writeFileSync(join(root, "from"), "from");
  fs.writeFileSync(join(root, "edited"), "one\n", { mode: 0o600 });
  fs.writeFileSync(join(root, "tree/a"), "a", { mode: 0o755 });
  fs.writeFileSync(join(root, "tree/below/b"), "b");
  fs.symlinkSync("below/b", join(root, "tree/link"));
}

/** Everything in the workspace, hidden files included. */
function tree(): string {
  const lines: string[] = [];
  const walk = (directory: string): void => {
    for (const entry of fs.readdirSync(join(root, directory), { withFileTypes: true })) {
      const path = join(directory, entry.name);
      const mode = (fs.lstatSync(join(root, path)).mode & 0o777).toString(8);
      if (entry.isDirectory()) lines.push(`${path}/ ${mode}`);
      else if (entry.isSymbolicLink()) lines.push(`${path} -> ${fs.readlinkSync(join(root, path))}`);
      else lines.push(`${path} ${mode} ${fs.readFileSync(join(root, path), "utf8").slice(0, 20)}`);
      if (entry.isDirectory()) walk(path);
    }
  };
  walk("");
  return lines.sort().join("\n");
}

/** A program that makes the batch, once or for ever. */
function program(loop: boolean): string {
  return `
    import { openWorkspace } from ${JSON.stringify(ENTRY)};
    const ws = await openWorkspace({ root: ${JSON.stringify(root)}, stateDir: ${JSON.stringify(stateDir)} });
    console.log("ready");
    const operations = (i) => ${loop} ? [0, 1, 2, 3, 4].map((n) => ({ tool: "write_file", args: { path: "f" + n, content: "v" + i } })) : ${JSON.stringify(MIXED)};
    for (let i = 0; i < (${loop} ? Infinity : 1); i++) {
      const { ok, text } = await ws.call("batch", { operations: operations(i) });
      if (!ok) { console.error(text); process.exit(3); }
    }`;
}

async function reopen(): Promise<{ readonly rolledBack: number; readonly conflicts: readonly string[] }> {
  const ws = await openWorkspace({ root, stateDir });
  await ws.close();
  return ws.capabilities().recovery;
}

test("kill -9 at random moments: five files always have one version, and nothing lies about", async () => {
  const names = ["f0", "f1", "f2", "f3", "f4"];
  for (const name of names) fs.writeFileSync(join(root, name), "v");
  let rolledBack = 0;
  for (let round = 0; round < 25; round++) {
    const child = spawn(process.execPath, ["--input-type=module", "-e", program(true)], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    await once(child.stdout as NodeJS.ReadableStream, "data");
    await sleep(5 + Math.random() * 60);
    child.kill("SIGKILL");
    await once(child, "exit");
    const found = await reopen();
    rolledBack += found.rolledBack;
    expect(found.conflicts).toEqual([]);
    const contents = names.map((name) => fs.readFileSync(join(root, name), "utf8"));
    expect(new Set(contents).size, contents.join()).toBe(1);
    expect(fs.readdirSync(root).sort()).toEqual(names);
    expect((await reopen()).rolledBack, "a second recovery has nothing to do").toBe(0);
  }
  expect(rolledBack, "no round cut a batch: the test proved nothing").toBeGreaterThan(0);
});

const strace = spawnSync("strace", ["-V"]).status === 0;
describe.skipIf(!strace)("kill -9 at every n-th system call", () => {
  test.each([
    "write,pwrite64,writev",
    "renameat2,renameat,rename",
    "unlinkat,unlink,rmdir",
    "mkdirat,mkdir,symlinkat",
  ])("%s: everything as before or as after", async (calls) => {
    seed();
    const before = tree();
    execFileSync(process.execPath, ["--input-type=module", "-e", program(false)]);
    const after = tree();
    expect(after).not.toBe(before);
    let cut = 0;
    for (let n = 1, over = false; !over; n++) {
      seed();
      const ended = spawnSync(
        "strace",
        [
          "-f",
          "-qq",
          "-o",
          "/dev/null",
          "-e",
          `trace=${calls}`,
          "-e",
          `inject=${calls}:signal=KILL:when=${n}`,
        ].concat([process.execPath, "--input-type=module", "-e", program(false)]),
        { timeout: 60_000 },
      );
      over = ended.status === 0;
      const found = await reopen();
      cut += found.rolledBack;
      expect(found.conflicts, `call ${n}`).toEqual([]);
      const now = tree();
      if (now !== after) expect(now, `call ${n}`).toBe(before);
    }
    expect(cut, "nothing was cut").toBeGreaterThan(0);
  });
});
