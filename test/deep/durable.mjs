// Power cuts during changes with `durability: "durable"`: an answered change is complete afterwards, and an unanswered
// one complete or absent.
//
// A program makes some calls under strace. Its operations are replayed on a model of a disk (crash/disk.mjs), which
// gives the states that a power cut at any moment can leave. Each state is written to the place of the workspace, the
// workspace is opened again, and its files are compared with those after the answered calls up to those after the begun
// ones. The operand chooses the rule by which names reach the disk: `journal` (the default, as ext4 and XFS do) or `posix`.
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { seededRandom } from "../../scripts/lib/deep-kind.mjs";
import { CHANGING_CALLS } from "./crash/calls.mjs";
import { Disk, everyChoice, treeOf } from "./crash/disk.mjs";
import { boundEntries, rebindJournal } from "./crash/journal.mjs";
import { readOperations } from "./crash/trace.mjs";

const ENTRY = pathToFileURL(resolve(import.meta.dirname, "../../dist/cli/library.js")).href;
/** The maximum number of ordered choices at a moment; if there are more, as many random ones follow. */
const MAX_RUNS_PER_POINT = 200;
/** From this number of cases on, all scripts are traced; below, one script and one state for each moment. */
const MIN_WHOLE_CASES = 1_000;
/** The number of bytes of a written file that spans several blocks of the disk. */
const LARGE_BYTES = 10_000;

const SEED = {
  f1: "one\n",
  gone: "gone\n",
  from: "from\n",
  over: "over\n",
  "tree/a": "a in tree\n",
  "tree/below/b": "b in tree\n",
  "dir/x": "x in dir\n",
};
const write = (path, content) => ({ tool: "write_file", args: { path, content } });
const move = (source, destination) => ({ tool: "move", args: { source, destination, overwrite: true } });

/** Short lists of calls. Each is traced by itself, so that every state of it can be made. */
const SCRIPTS = {
  replace: [
    write("f1", "ONE\n"),
    { tool: "edit_file", args: { path: "f1", old_text: "ONE", new_text: "Two" } },
  ],
  create: [write("f2", "made\n"), write("f3", "x".repeat(LARGE_BYTES))],
  "create below": [write("new/deep/file", "made\n"), write("new/other", "made too\n")],
  move: [move("from", "over"), move("dir", "made/deep/dir"), move("f1", "f2")],
  copy: [
    { tool: "copy", args: { source: "f1", destination: "made/copy" } },
    { tool: "copy", args: { source: "tree", destination: "copied" } },
  ],
  mkdir: [{ tool: "mkdir", args: { path: "empty/directory" } }],
  delete: [
    { tool: "delete", args: { path: "gone" } },
    { tool: "delete", args: { path: "tree", recursive: true } },
  ],
  batch: [
    {
      tool: "batch",
      args: {
        operations: [
          write("f1", "new\n"),
          write("new/deep/file", "made\n"),
          move("from", "over"),
          { tool: "copy", args: { source: "tree", destination: "copied" } },
          { tool: "delete", args: { path: "tree", recursive: true } },
          { tool: "mkdir", args: { path: "empty/directory" } },
        ],
      },
    },
    write("f1", "after\n"),
  ],
};

/** Scripts of workspaces without a history: changes of one step each, which no record completes or takes back. */
const UNRECORDED_SCRIPTS = {
  "mkdir without a history": [{ tool: "mkdir", args: { path: "empty/directory" } }],
  "delete without a history": [
    { tool: "delete", args: { path: "gone" } },
    { tool: "delete", args: { path: "dir/x" } },
    { tool: "delete", args: { path: "dir" } },
    { tool: "mkdir", args: { path: "tree/made" } },
  ],
  "move without a history": [move("from", "over"), move("f1", "made/f2")],
};
const ALL_SCRIPTS = { ...SCRIPTS, ...UNRECORDED_SCRIPTS };

/** Writes the directory of a model to the disk of this machine. */
function materialise(inode, path) {
  fs.mkdirSync(path, { mode: inode.mode & 0o755 });
  for (const [name, child] of inode.names) {
    const below = join(path, name);
    if (child.type === "directory") materialise(child, below);
    else if (child.type === "link") fs.symlinkSync(child.target, below);
    else fs.writeFileSync(below, child.content, { mode: child.mode & 0o755 });
  }
}

/** Adds the directory at `path` to a model. */
function adopt(disk, path) {
  for (const entry of fs.readdirSync(path, { withFileTypes: true })) {
    const below = join(path, entry.name);
    if (entry.isDirectory()) {
      disk.apply({ kind: "mkdir", path: below, mode: fs.lstatSync(below).mode });
      adopt(disk, below);
    } else {
      disk.apply({ kind: "create", path: below, truncate: false, mode: fs.lstatSync(below).mode });
      disk.apply({ kind: "write", path: below, data: fs.readFileSync(below), offset: 0 });
    }
  }
}

/** Returns the part of a tree below `ws`. */
const workspaceOf = (tree) =>
  Object.fromEntries(Object.entries(tree).filter(([path]) => path.startsWith("ws/") && path !== "ws/"));
const isTemporary = (path) => path.includes("/.filewright-");
const withoutTemporaries = (tree) =>
  Object.fromEntries(Object.entries(tree).filter(([path]) => !isTemporary(path)));
/** Returns the files and links of a tree, as one comparable text. */
const filesOf = (tree) => JSON.stringify(Object.entries(tree).filter(([path]) => !path.endsWith("/")));
const foldersOf = (tree) => Object.keys(tree).filter((path) => path.endsWith("/"));

/**
 * Returns whether a tree has the files of one of `wholes`. An unanswered change can leave empty parents, so a directory
 * must be there only if all of `wholes` have it, and may be there if one of them has it.
 */
function isOneOf(found, wholes) {
  const all = foldersOf(found);
  return (
    wholes.some((whole) => filesOf(whole) === filesOf(found)) &&
    foldersOf(wholes[0]).every(
      (path) => all.includes(path) || wholes.some((whole) => whole[path] === undefined),
    ) &&
    all.every((path) => wholes.some((whole) => whole[path] !== undefined))
  );
}

/** Makes the calls of a script under strace; gives its operations. */
function trace({ base, root, state, history }, calls) {
  const program = `
    import { existsSync } from "node:fs";
    const { openWorkspace } = await import(${JSON.stringify(ENTRY)});
    const ws = await openWorkspace({ root: ${JSON.stringify(root)}, stateDir: ${JSON.stringify(state)}, history: ${history}, durability: "durable" });
    for (const [index, { tool, args }] of ${JSON.stringify(calls)}.entries()) {
      existsSync(${JSON.stringify(`${base}/mark/`)} + "begin-" + index);
      const { ok, text } = await ws.call(tool, args);
      if (!ok) { console.error(text); process.exit(3); }
      existsSync(${JSON.stringify(`${base}/mark/`)} + "end-" + index);
    }
    await ws.close();`;
  const record = `${base}.trace`;
  const options = ["-f", "-y", "-xx", "-v", "-s", "1048576", "-o", record];
  const names = [...CHANGING_CALLS, "access", "statx"].map((name) => `?${name}`).join(",");
  try {
    const { status, stderr } = spawnSync(
      "strace",
      [...options, "-e", `trace=${names}`, process.execPath, "--input-type=module", "-e", program],
      { encoding: "utf8" },
    );
    if (status !== 0) throw new Error(`the calls by themselves failed: ${stderr}`);
    return readOperations(fs.readFileSync(record, "utf8"), { base, marks: `${base}/mark` });
  } finally {
    fs.rmSync(record, { force: true });
  }
}

/** The operations of one script on a model of a disk, and what its calls leave. */
class Run {
  constructor(name) {
    this.name = name;
    this.base = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), "filewright-durable-")));
    this.root = join(this.base, "ws");
    this.state = join(this.base, "state");
    for (const [path, content] of Object.entries(SEED)) {
      fs.mkdirSync(join(this.root, path, ".."), { recursive: true });
      fs.writeFileSync(join(this.root, path), content);
    }
    this.history = Object.hasOwn(SCRIPTS, name);
    this.checked = 0;
    this.disk = new Disk(this.base);
    adopt(this.disk, this.base);
    this.disk.settle();
    this.operations = trace(this, ALL_SCRIPTS[name]);
    /** The files before the first call and after each. */
    this.wholes = [workspaceOf(this.disk.tree())];
    /** The numbers of calls that had begun and were answered after each operation. */
    this.progress = [{ begun: 0, answered: 0 }];
    let [begun, answered] = [0, 0];
    for (const operation of this.operations) {
      this.disk.apply(operation);
      if (operation.kind === "mark" && operation.name.startsWith("begin")) begun++;
      if (operation.kind === "mark" && operation.name.startsWith("end")) {
        answered++;
        this.wholes.push(workspaceOf(this.disk.tree()));
      }
      this.progress.push({ begun, answered });
    }
  }

  /** Recovers the workspace from a state that a power cut left. Returns a message for each fault. */
  async check(state, point, openWorkspace) {
    fs.rmSync(this.base, { recursive: true, force: true });
    materialise(state, this.base);
    await rebindJournal(join(this.state, "journal"), boundEntries(state, this.base));
    // A new name each time, because a process keeps the journal of a state directory that it has opened.
    const stateDir = join(this.base, `state-${this.checked++}`);
    if (fs.existsSync(this.state)) fs.renameSync(this.state, stateDir);
    const { begun, answered } = this.progress[point];
    let recovery;
    let history;
    try {
      const ws = await openWorkspace({ root: this.root, stateDir });
      ({ recovery } = ws);
      history = await ws.history();
      await ws.close();
    } catch (error) {
      return [`the recovery failed: ${error}`];
    }
    const disk = new Disk(this.base);
    adopt(disk, this.base);
    const tree = workspaceOf(disk.tree());
    // A deletion without a record can leave its file under a hidden name, which a later sweep removes.
    const found = this.history ? tree : withoutTemporaries(tree);
    const wrong = [];
    if (!isOneOf(found, this.wholes.slice(answered, begun + 1)))
      wrong.push(`after ${answered} answers and ${begun} calls the files are ${JSON.stringify(found)}`);
    if (Object.keys(found).some(isTemporary)) wrong.push("a temporary file lies about");
    if (recovery.conflicts.length > 0) wrong.push(`conflicts without a cause: ${recovery.conflicts}`);
    if (this.history && (history.length < answered || history.length > begun))
      wrong.push(`after ${answered} answers and ${begun} calls the history has ${history.length}`);
    return wrong;
  }

  remove() {
    fs.rmSync(this.base, { recursive: true, force: true });
  }
}

/** Yields the choices for a moment: one random one, or with `isWhole` all up to a limit, then random ones. */
function* choicesOf(random, isWhole) {
  if (!isWhole) {
    yield random.below;
    return;
  }
  let left = MAX_RUNS_PER_POINT;
  for (const choose of everyChoice()) {
    if (left-- === 0) break;
    yield choose;
  }
  // Not all were made: those that the odometer reached differ only in the last choices.
  if (left < 0) for (let drawn = 0; drawn < MAX_RUNS_PER_POINT; drawn++) yield random.below;
}

/** Checks states of a run until `limit` are checked; gives their number. Equal states are checked once. */
async function replay(run, { rule, random, limit, isWhole, isOver, openWorkspace }, failures) {
  const seen = new Set();
  let checked = 0;
  const points = [
    0,
    ...run.operations.flatMap(({ kind }, index) => (kind === "identify" ? [] : [index + 1])),
  ];
  for (const point of random.shuffle(points)) {
    for (const choose of choicesOf(random, isWhole)) {
      if (checked >= limit || isOver()) return checked;
      const state = run.disk.stateAfter(point, rule, choose);
      const { begun, answered } = run.progress[point];
      const key = JSON.stringify([begun, answered, treeOf(state)]);
      if (seen.has(key)) continue;
      seen.add(key);
      checked++;
      for (const what of await run.check(state, point, openWorkspace))
        failures.push(
          `${run.name}, after operation ${point} (${describe(run.operations[point - 1])}): ${what}`,
        );
    }
  }
  return checked;
}

const describe = (operation) =>
  operation === undefined ? "none" : `${operation.kind} ${operation.path ?? operation.name}`;

/** @type {import("../../scripts/lib/deep-kind.mjs").DeepKind} */
export default {
  description:
    "power cuts during changes that are durable: what was answered is there, the rest wholly or not",
  count: 10_000,
  share: 30,
  takes: "journal|posix",
  async run({ seed, count, operand: rule = "journal", isOver }) {
    if (!["journal", "posix"].includes(rule)) return { cases: 0, failures: [`there is no rule '${rule}'`] };
    if (spawnSync("strace", ["-V"]).status !== 0) return { cases: 0, failures: ["strace is not installed"] };
    const { openWorkspace } = await import(ENTRY);
    const random = seededRandom(seed);
    const names = random.shuffle(Object.keys(ALL_SCRIPTS));
    const isWhole = count >= MIN_WHOLE_CASES;
    // A share traces one of the scripts, because a trace costs more than many states.
    const drawn = isWhole ? names : names.slice(0, 1);
    const failures = [];
    let cases = 0;
    for (const name of drawn) {
      const run = new Run(name);
      try {
        const limit = count - cases;
        cases += await replay(run, { rule, random, limit, isWhole, isOver, openWorkspace }, failures);
      } finally {
        run.remove();
      }
    }
    console.log(`${cases} different states by the rule '${rule}' of ${drawn.join(", ")}`);
    return { cases, failures };
  },
};
