/** Batches that are cut: by SIGKILL at any moment and at every system call that changes a file. */
import { type ChildProcessByStdio, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { Readable, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openWorkspace } from "../../../js/index.node.ts";
import { isNight, share } from "../../support/share.ts";

const ENTRY = resolve(import.meta.dirname, "../../../dist/cli/library.js");
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
  // The old content again: the content alone does not show that it was written.
  { tool: "write_file", args: { path: "same", content: "same\n" } },
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
  fs.writeFileSync(join(root, "same"), "same\n");
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

/**
 * When the program makes the batch: for ever; once, when its standard input ends; or so after another change, with which
 * the directories of the journal are made already.
 */
type Manner = "for ever" | "first" | "second";

function program(manner: Manner): string {
  const loop = manner === "for ever";
  return `
    import { openWorkspace } from ${JSON.stringify(ENTRY)};
    const ws = await openWorkspace({ root: ${JSON.stringify(root)}, stateDir: ${JSON.stringify(stateDir)} });
    if (${manner === "second"})
      for (const tool of ["mkdir", "delete"]) {
        const { ok, text } = await ws.call(tool, { path: "other" });
        if (!ok) throw new Error(text);
      }
    const isReady = () => console.log("ready");
    if (!${loop}) {
      isReady();
      for await (const _ of process.stdin);
    }
    // The last operation writes what the first one has written, so that they are made in turn, and not in one job.
    const operations = (i) => ${loop} ? [0, 1, 2, 3, 4, 0].map((n) => ({ tool: "write_file", args: { path: "f" + n, content: "v" + i } })) : ${JSON.stringify(MIXED)};
    for (let i = 0; i < (${loop} ? Infinity : 1); i++) {
      const { ok, text } = await ws.call("batch", { operations: operations(i) });
      if (!ok) { console.error(text); process.exit(3); }
      // On a busy machine it would be killed before it has begun.
      if (${loop} && i === 0) isReady();
    }`;
}

function start(manner: Manner): ChildProcessByStdio<Writable, Readable, null> {
  return spawn(process.execPath, ["--input-type=module", "-e", program(manner)], {
    stdio: ["pipe", "pipe", "inherit"],
  });
}

/**
 * Makes the batch once and kills it at the n-th of `calls`. The tracer joins when the workspace
 * is open: it counts for each thread and name, and a program's own start would hide the first calls of the rest.
 */
async function killAt(
  calls: string,
  n: number,
  manner: Manner = "first",
  record = "/dev/null",
): Promise<boolean> {
  const child = start(manner);
  await once(child.stdout, "data");
  const inject = ["-e", `trace=${calls}`, "-e", `inject=${calls}:signal=KILL:when=${n}`];
  const tracer = spawn("strace", ["-f", "-o", record, ...inject, "-p", `${child.pid}`], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  const [said] = await once(tracer.stderr, "data");
  expect(String(said)).toContain("attached");
  child.stdin.end();
  const [code, signal] = await once(child, "exit");
  if (tracer.exitCode === null && tracer.signalCode === null) await once(tracer, "exit");
  expect([code, signal]).toEqual(code === null ? [null, "SIGKILL"] : [0, null]);
  return code === 0;
}

/** The most that a trace counts to. */
const NEVER = 60_000;

/** The n at which some thread's n-th of `calls` was, and one to each side: no two runs share the work alike. */
async function moments(calls: string): Promise<readonly number[]> {
  const record = join(base, "trace");
  expect(await killAt(calls, NEVER, "first", record), "the batch as it is").toBe(true);
  const counts = new Map<string, number>();
  const found = new Set<number>();
  for (const line of fs.readFileSync(record, "utf8").split("\n")) {
    const call = /^(\d+ +[a-z]\w*)\(/.exec(line)?.[1];
    if (call === undefined) continue;
    const n = (counts.get(call) ?? 0) + 1;
    counts.set(call, n);
    for (const near of [-1, 0, 1]) if (n + near > 0) found.add(n + near);
  }
  return [...found].sort((a, b) => a - b);
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
  const least = isNight ? 25 : 8;
  // Any round may kill the child between two batches: then there are more rounds.
  for (let round = 0; round < least || (rolledBack === 0 && round < 100); round++) {
    const child = start("for ever");
    await once(child.stdout, "data");
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
describe.skipIf(!strace)("kill -9 at every system call that changes a file", () => {
  test.each([
    // What is written, and the journal's records. Each alone: whoever wakes a thread writes too,
    // to no file and never as often.
    "pwrite64",
    "writev",
    "copy_file_range",
    "renameat2,renameat,rename",
    // Deletions rename aside; these calls come when the change is whole already.
    "unlinkat,unlink,rmdir",
    "mkdirat,mkdir,symlinkat",
  ])("%s: everything as before or as after", { timeout: 300_000 }, async (calls) => {
    seed();
    const before = tree();
    const all = await moments(calls);
    const after = tree();
    expect(after).not.toBe(before);
    let cut = 0;
    let killed = 0;
    const cuts = !calls.startsWith("unlinkat");
    // A call is counted for each thread, and which thread makes it differs from run to run. Where no round met the middle
    // of the batch, all calls are tried again, after another change: the main thread made the directories of the journal
    // before it, and always was the first to make so many.
    const tried = share(all, 5, 1);
    const rounds = [tried, ...Array.from({ length: 40 }, () => all)].flat();
    for (const [round, n] of rounds.entries()) {
      if (round >= tried.length && (cut > 0 || !cuts)) break;
      seed();
      if (!(await killAt(calls, n, round < tried.length ? "first" : "second"))) killed++;
      const found = await reopen();
      cut += found.rolledBack;
      expect(found.conflicts, `call ${n}`).toEqual([]);
      const now = tree();
      if (now !== after) expect(now, `call ${n}`).toBe(before);
    }
    expect(killed, "nothing was killed").toBeGreaterThan(0);
    if (cuts) expect(cut, "nothing was cut").toBeGreaterThan(0);
  });
});
