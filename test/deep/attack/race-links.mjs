// A program exchanges a directory with a link at two levels as fast as it can, while tools run on paths through it. The
// link leads outside, to a denied directory, or to one that holds secrets. No answer may contain what lies there, no
// call may write or remove there, and no copy or move may bring it in.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { loadPackage } from "./lib.mjs";

/** The text of every file that must not be reached. */
const HIDDEN = "zqxhidden";
const GOALS = [
  { name: "outside", options: {} },
  { name: "denied", options: { access: { deny: ["vault"] } }, folder: "vault" },
  { name: "secret", options: {}, folder: ".ssh" },
];
const FILES = ["k.txt", "b/k.txt", "e.txt", "b/e.txt"];
const TARGETS = ["copy0", "copy1", "copy2", "copyb", "moved0", "moved1", "moved2"];
const CALLS_AT_ONCE = 3;
const CALLS_BETWEEN_LOOKS = 60;
const EXCHANGER = `#define _GNU_SOURCE
#include <fcntl.h>
#include <unistd.h>
#include <sys/syscall.h>
int main(int n, char **a) {
  for (;;)
    for (int i = 1; i + 1 < n; i += 2) syscall(SYS_renameat2, AT_FDCWD, a[i], AT_FDCWD, a[i + 1], 2);
}`;

/** Attacks each goal for a third of the time. */
export default async function attackByRaces(attack) {
  const exchanger = compileExchanger(attack);
  for (const goal of GOALS) await raceOver(attack, goal, exchanger);
}

function compileExchanger(attack) {
  const folder = attack.temporary("exchanger");
  const [source, program] = [join(folder, "exchange.c"), join(folder, "exchange")];
  writeFileSync(source, EXCHANGER);
  const { status, stderr } = spawnSync("cc", ["-O2", "-o", program, source], { encoding: "utf8" });
  if (status !== 0) throw new Error(`the exchanger was not compiled: ${stderr}`);
  return program;
}

/** Makes the tree of one goal. @returns the root, the goal, and the pairs of paths to exchange */
function makeArena(attack, { folder }) {
  const root = attack.temporary();
  const goal = folder === undefined ? attack.temporary("outside") : join(root, folder);
  for (const path of ["a/b", "c/b", "z", "z0"]) mkdirSync(join(root, path), { recursive: true });
  mkdirSync(join(goal, "b"), { recursive: true });
  for (const file of FILES) {
    writeFileSync(join(goal, file), `${HIDDEN} ${file}\n`);
    writeFileSync(join(root, "a", file), `open ${file}\n`);
    if (file.startsWith("b/")) writeFileSync(join(root, "c", file), `open ${file}\n`);
  }
  writeFileSync(join(root, "z0/agentfile"), "agent tree\n");
  symlinkSync(goal, join(root, "z/l"));
  symlinkSync(join(goal, "b"), join(root, "z/lb"));
  const pairs = ["a", "z/l", "c/b", "z/lb"].map((path) => join(root, path));
  return { root, goal, pairs };
}

/** The calls: each makes its arguments by random choices; `turn` grows with every call. */
const CALLS = [
  ["read_file", ({ path }) => ({ path: path() })],
  ["read_many_files", ({ pick, path }) => ({ paths: [pick(["a/**", "c/**"]), path()] })],
  ["grep", ({ pick }) => ({ pattern: "hidden", path: pick(["a", "c/b", "."]) })],
  ["glob", () => ({ pattern: "a/**" })],
  ["list_directory", ({ pick }) => ({ path: pick(["a", "c/b"]), recursive: true })],
  ["stat", ({ path }) => ({ path: path() })],
  ["find_files", () => ({ query: "k.txt" })],
  [
    "write_file",
    ({ pick, turn }) => ({
      path: pick(["a/", "c/b/"]) + pick(["k.txt", `new${turn % 5}.txt`]),
      content: "agent wrote\n",
    }),
  ],
  [
    "edit_file",
    ({ pick }) => ({
      path: pick(["a/e.txt", "c/b/e.txt"]),
      edits: [{ old_text: pick(["open", HIDDEN, "agent"]), new_text: "agent" }],
    }),
  ],
  [
    "apply_patch",
    ({ pick }) => ({
      patch: `*** Begin Patch\n*** Update File: ${pick(["a/e.txt", "c/b/e.txt"])}\n@@\n-${pick([
        "open e.txt",
        `${HIDDEN} e.txt`,
        `${HIDDEN} b/e.txt`,
      ])}\n+agent\n*** End Patch`,
    }),
  ],
  [
    "copy",
    ({ pick, turn }) => ({
      source: pick(["a", "c/b", "a/k.txt"]),
      destination: `copy${turn % 3}`,
      overwrite: true,
      recursive: true,
    }),
  ],
  [
    "copy",
    ({ pick }) => ({ source: "z0", destination: pick(["a/in", "c/b/in"]), overwrite: true, recursive: true }),
  ],
  [
    "move",
    ({ pick, turn }) => ({
      source: pick(["a/k.txt", "c/b/k.txt"]),
      destination: `moved${turn % 3}`,
      overwrite: true,
    }),
  ],
  [
    "move",
    ({ pick, turn }) => ({
      source: `moved${turn % 3}`,
      destination: pick(["a/k.txt", "c/b/k.txt"]),
      overwrite: true,
    }),
  ],
  [
    "delete",
    ({ pick }) => ({
      path: pick(["a/new1.txt", "c/b/new2.txt", "c/b/k.txt", "a/in", "copy1"]),
      recursive: true,
    }),
  ],
  ["mkdir", ({ pick }) => ({ path: pick(["a/d1", "c/b/d2"]) })],
  [
    "batch",
    () => ({
      operations: [
        { tool: "write_file", args: { path: "c/b/batch.txt", content: "agent batch\n" } },
        { tool: "copy", args: { source: "a/k.txt", destination: "copyb", overwrite: true } },
      ],
    }),
  ],
];
const PATHS = ["a/k.txt", "c/b/k.txt", "c/b", "a", "a/e.txt", "c/b/e.txt", "a/b/k.txt"];

/** Runs calls while the exchanger runs, then looks at the goal. */
async function raceOver(attack, { name, options, folder }, exchanger) {
  const { openWorkspace } = await loadPackage();
  const { root, goal, pairs } = makeArena(attack, { folder });
  const child = spawn(exchanger, pairs, { stdio: "ignore" });
  attack.atEnd(() => child.kill("SIGKILL"));
  const stateDir = attack.temporary("state");
  const workspace = await openWorkspace({ root, stateDir, guard: "off", ...options });
  const leaks = new Set();
  const until = Date.now() + (attack.seconds * 1000) / GOALS.length;
  let calls = 0;
  while (Date.now() < until) {
    const turns = Array.from({ length: CALLS_AT_ONCE }, () => calls++);
    await Promise.all(turns.map((turn) => oneCall(attack, workspace, turn, leaks)));
    if (calls % CALLS_BETWEEN_LOOKS === 0) removeLeakedTargets(root, leaks);
  }
  child.kill("SIGKILL");
  await workspace.close();
  removeLeakedTargets(root, leaks);
  for (const path of matchingFiles("agent", goal)) leaks.add(`written: ${path.replace(goal, "GOAL")}`);
  for (const file of ["k.txt", "e.txt"])
    if (!existsSync(join(goal, file))) leaks.add(`removed: ${file}`);
    else if (!readFileSync(join(goal, file), "utf8").includes(HIDDEN)) leaks.add(`replaced: ${file}`);
  attack.check(`${name}: ${calls} calls; ${[...leaks].join("; ") || "nothing reached"}`, leaks.size > 0);
}

/** Makes one random call, and at times takes the last one back. */
async function oneCall({ random }, workspace, turn, leaks) {
  const [tool, argumentsOf] = random.pick(CALLS);
  const args = argumentsOf({ turn, pick: random.pick, path: () => random.pick(PATHS) });
  const isUndone = random.chance(0.02);
  const result = await workspace.call(tool, args);
  // A call that sends the hidden text itself may have it repeated in its answer.
  if (!JSON.stringify(args).includes(HIDDEN) && JSON.stringify(result).includes(HIDDEN))
    leaks.add(`shown by ${tool}`);
  if (!isUndone) return;
  const [last] = await workspace.history();
  // The undo of a call that another one overlaps is refused.
  if (last !== undefined) await workspace.undo(last.callId).catch(() => {});
}

function removeLeakedTargets(root, leaks) {
  for (const target of TARGETS) {
    if (matchingFiles(HIDDEN, join(root, target)).length === 0) continue;
    leaks.add(`copied or moved in: ${target}`);
    rmSync(join(root, target), { recursive: true, force: true });
  }
}

const matchingFiles = (text, folder) =>
  spawnSync("grep", ["-rl", text, folder], { encoding: "utf8" }).stdout.split("\n").filter(Boolean);
