// kill -9 at each system call of a change that changes a file system, while another process writes neighbouring files.
//
// A round: a program opens a workspace and makes one call; strace ends it at the n-th call of one name. Meanwhile this
// process writes neighbouring files, and once the program is gone it saves other text of the same size over some of the
// files of the call, as a person does. Then the workspace is opened again. Nothing that this process has written may be
// lost or moved; what it did not touch is as before the call or as after it, and as after it when the call was answered;
// a change in the history can be undone; and no temporary file stays. Which system calls a change makes is read from
// a trace of all calls with a path or a descriptor: one that crash/calls.mjs does not list fails the run.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { seededRandom } from "../../scripts/lib/deep-kind.mjs";
import { CHANGING_CALLS, unlistedCalls } from "./crash/calls.mjs";

const ENTRY = pathToFileURL(resolve(import.meta.dirname, "../../dist/cli/library.js")).href;
const SEED = {
  f1: "one\n",
  f2: "two\n",
  gone: "gone\n",
  from: "from\n",
  over: "over\n",
  source: "source\n",
  "tree/a": "a in tree\n",
  "tree/below/b": "b in tree\n",
  "dir/x": "x in dir\n",
};
/** Files of another program, which no change touches. */
const NEIGHBOURS = ["n1", "n2", "near/n3", "made-by-others/n4"];

const update = (name, from, to) => `--- a/${name}\n+++ b/${name}\n@@ -1 +1 @@\n-${from}\n+${to}\n`;
/** Each change, and the files that it is about. */
const CHANGES = {
  write: { tool: "write_file", args: { path: "f1", content: "new\n" }, files: ["f1"] },
  create: {
    tool: "write_file",
    args: { path: "made/deep/file", content: "x".repeat(60_000) },
    files: ["made/deep/file"],
  },
  edit: { tool: "edit_file", args: { path: "f1", old_text: "one", new_text: "ONE" }, files: ["f1"] },
  mkdir: { tool: "mkdir", args: { path: "made/deep/directory" }, files: [] },
  patch: {
    tool: "apply_patch",
    args: {
      patch:
        update("f1", "one", "ONE") +
        update("f2", "two", "TWO") +
        "--- /dev/null\n+++ b/new/file\n@@ -0,0 +1 @@\n+made\n--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n",
    },
    files: ["f1", "f2", "new/file", "gone"],
  },
  batch: {
    tool: "batch",
    args: {
      operations: [
        { tool: "write_file", args: { path: "f1", content: "new\n" } },
        { tool: "write_file", args: { path: "new/deep/file", content: "made\n" } },
        { tool: "move", args: { source: "from", destination: "over", overwrite: true } },
        { tool: "copy", args: { source: "source", destination: "f2", overwrite: true } },
        { tool: "copy", args: { source: "tree", destination: "copied" } },
        { tool: "delete", args: { path: "tree", recursive: true } },
        { tool: "delete", args: { path: "gone" } },
        { tool: "move", args: { source: "dir", destination: "moved" } },
        { tool: "mkdir", args: { path: "empty/directory" } },
      ],
    },
    files: ["f1", "f2", "new/deep/file", "over", "copied/a", "copied/below/b", "moved/x"],
  },
  move: {
    tool: "move",
    args: { source: "dir", destination: "made/deep/dir" },
    files: ["made/deep/dir/x", "dir/x"],
  },
  moveFile: {
    tool: "move",
    args: { source: "from", destination: "over", overwrite: true },
    files: ["from", "over"],
  },
  copyOver: {
    tool: "copy",
    args: { source: "source", destination: "over", overwrite: true },
    files: ["over", "source"],
  },
  batchOfOneList: {
    tool: "batch",
    args: {
      operations: [
        { tool: "write_file", args: { path: "f1", content: "new\n" } },
        { tool: "move", args: { source: "from", destination: "over", overwrite: true } },
        { tool: "copy", args: { source: "source", destination: "f2", overwrite: true } },
        { tool: "move", args: { source: "dir/x", destination: "new/deep/x" } },
        { tool: "delete", args: { path: "gone" } },
      ],
    },
    files: ["f1", "f2", "from", "over", "dir/x", "new/deep/x"],
  },
  delete: { tool: "delete", args: { path: "tree", recursive: true }, files: ["tree/a", "tree/below/b"] },
  copy: {
    tool: "copy",
    args: { source: "source", destination: "made/copy" },
    files: ["made/copy", "source"],
  },
  copyTree: {
    tool: "copy",
    args: { source: "tree", destination: "copied" },
    files: ["copied/a", "copied/below/b"],
  },
};

/** A place for one round: files, a state directory, and what is in it. */
class Workdir {
  constructor() {
    this.base = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), "filewright-crash-")));
    this.root = join(this.base, "ws");
    this.state = join(this.base, "state");
    for (const [path, content] of Object.entries(SEED)) this.write(path, content);
    for (const path of NEIGHBOURS) this.write(path, `first of ${path}\n`);
  }
  at(path) {
    return join(this.root, path);
  }
  write(path, content) {
    fs.mkdirSync(dirname(this.at(path)), { recursive: true });
    fs.writeFileSync(this.at(path), content);
  }
  text(path) {
    try {
      return fs.readFileSync(this.at(path), "utf8");
    } catch {
      return undefined;
    }
  }
  /** Every entry by its path from the root. */
  #entries() {
    return fs.readdirSync(this.root, { recursive: true, withFileTypes: true }).map((entry) => ({
      entry,
      path: join(entry.parentPath ?? entry.path, entry.name).slice(this.root.length + 1),
    }));
  }
  /** Every file by its path, hidden ones included. */
  files() {
    const found = {};
    for (const { entry, path } of this.#entries()) {
      if (entry.isFile()) found[path] = this.text(path);
      else if (entry.name.startsWith(".filewright")) found[path] = "directory";
    }
    return found;
  }
  folders() {
    return this.#entries().flatMap(({ entry, path }) => (entry.isDirectory() ? [path] : []));
  }
  remove() {
    fs.rmSync(this.base, { recursive: true, force: true });
  }
}

/** Starts the program of a round; it makes its call when its standard input ends, and says when it was answered. */
async function start(place, { tool, args }, durability) {
  const options = { root: place.root, stateDir: place.state, durability };
  const program = `
    import { writeSync } from "node:fs";
    const { openWorkspace } = await import(${JSON.stringify(ENTRY)});
    const ws = await openWorkspace(${JSON.stringify(options)});
    writeSync(1, "ready");
    for await (const _ of process.stdin);
    const { ok, text } = await ws.call(${JSON.stringify(tool)}, ${JSON.stringify(args)});
    if (!ok) { console.error(text); process.exit(3); }
    writeSync(1, " answered");
    await ws.close();`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", program], {
    stdio: ["pipe", "pipe", "pipe"],
  });
  await once(child.stdout, "data");
  return child;
}

/**
 * Makes a call under strace; gives the lines of its record.
 * @param {{ change: object, durability: string, calls: string, inject?: { call: string, n: number } }} what
 */
async function traced(place, { change, durability, calls, inject }, meanwhile) {
  const child = await start(place, change, durability);
  let isAnswered = false;
  child.stdout.on("data", () => {
    isAnswered = true;
  });
  const record = join(place.base, "trace");
  const how = inject === undefined ? [] : ["-e", `inject=${inject.call}:signal=KILL:when=${inject.n}`];
  const options = ["-f", "-o", record, "-e", `trace=${calls}`, ...how, "-p", `${child.pid}`];
  const tracer = spawn("strace", options, { stdio: ["ignore", "ignore", "pipe"] });
  const traceEnd = once(tracer, "exit");
  await once(tracer.stderr, "data");
  const end = once(child, "close");
  child.stdin.end();
  const isOver = { now: false };
  const others = meanwhile?.(isOver);
  const [code] = await end;
  isOver.now = true;
  await others;
  await traceEnd;
  return { code, isAnswered, record: fs.readFileSync(record, "utf8").split("\n") };
}

/** How often each system call was made by the thread that made most of them. */
function counted(record) {
  const byThread = new Map();
  for (const line of record) {
    const call = /^(\d+ +[a-z]\w*)\(/.exec(line)?.[1];
    if (call !== undefined) byThread.set(call, (byThread.get(call) ?? 0) + 1);
  }
  const most = new Map();
  for (const [thread, count] of byThread) {
    const call = thread.split(/ +/)[1];
    most.set(call, Math.max(most.get(call) ?? 0, count));
  }
  return most;
}

/** Writes neighbouring files until the program is over; gives what was written last to each. */
async function disturb(place, random, isOver, last) {
  for (let turn = 0; !isOver.now; turn++) {
    const path = random.pick(NEIGHBOURS);
    const content = `turn ${turn} of ${path}\n`;
    if (random.chance(0.5)) {
      fs.writeFileSync(join(place.base, "others"), content);
      fs.mkdirSync(dirname(place.at(path)), { recursive: true });
      fs.renameSync(join(place.base, "others"), place.at(path));
    } else place.write(path, content);
    last.set(path, content);
    await new Promise((resume) => setTimeout(resume, 1 + random.below(4)));
  }
}

/** Saves other text of the same size in some of the files that are there, as a person does. */
function saveOver(place, files, random) {
  const saved = new Map();
  for (const path of files) {
    const content = place.text(path);
    if (content === undefined || !random.chance(0.3)) continue;
    const other = content.replace(/[a-z]/giu, "#");
    place.write(path, other);
    saved.set(path, other);
  }
  return saved;
}

/** The faults that a round left, compared with the states before and after its call. */
class Outcome {
  constructor(place, { last, saved, after, isAnswered }) {
    Object.assign(this, { place, last, saved, after, isAnswered });
    this.found = place.files();
  }

  #own(files) {
    return Object.entries(files).filter(([path]) => !this.last.has(path) && !this.saved.has(path));
  }
  is(files) {
    return JSON.stringify(this.#own(sorted(files))) === JSON.stringify(this.#own(sorted(this.found)));
  }
  /** The faults of files of other programs and of temporary ones. */
  foreign() {
    const wrong = [];
    for (const [path, content] of [...this.last, ...this.saved])
      if (this.found[path] !== content)
        wrong.push(`${path} of somebody else is ${JSON.stringify(this.found[path])}`);
    for (const path of Object.keys(this.found))
      if (path.includes(".filewright")) wrong.push(`${path} lies about`);
    return wrong;
  }
  /** The faults of the files of the call when no other program has changed them. */
  whole(conflicts) {
    const wrong = [];
    const now = JSON.stringify(this.#own(this.found)).slice(0, 2000);
    if (!this.is(SEED) && !this.is(this.after.files)) wrong.push(`neither before nor after: ${now}`);
    if (this.isAnswered && !this.is(this.after.files)) wrong.push(`answered, and not there: ${now}`);
    const folders = new Set(this.place.folders());
    const missing = this.after.folders.filter((path) => this.isAnswered && !folders.has(path));
    if (missing.length > 0) wrong.push(`answered, and these directories are not there: ${missing}`);
    if (conflicts.length > 0) wrong.push(`conflicts without a cause: ${conflicts}`);
    return wrong;
  }
  /** The faults of single files of the call. */
  single() {
    const { found, after } = this;
    const wrong = [];
    for (const [path, content] of this.#own(found)) {
      if (path.includes(".filewright") || content === SEED[path] || content === after.files[path]) continue;
      wrong.push(`${path} is ${JSON.stringify(content.slice(0, 200))}`);
    }
    for (const [path, content] of this.#own(SEED)) {
      // With files of the call in other hands the rest is rolled back all the same, or stays as the call left it.
      if (found[path] === undefined && after.files[path] !== undefined)
        wrong.push(`${path} is gone: ${content}`);
    }
    return wrong;
  }
}

/** Returns files in the order of their paths. */
const sorted = (files) => Object.fromEntries(Object.entries(files).sort());

/** Returns what is wrong with the history, and with the undo of the call that it has. */
async function checkHistory(ws, outcome) {
  const history = await ws.history();
  const wrong = [];
  if (outcome.isAnswered && history.length !== 1)
    wrong.push(`answered, and the history has ${history.length}`);
  if (history.length === 0 || outcome.saved.size > 0) return wrong;
  if (!outcome.is(outcome.after.files)) wrong.push("the history has a change that is not there");
  await ws.undo(history[0].callId);
  outcome.found = outcome.place.files();
  return outcome.is(SEED)
    ? wrong
    : [...wrong, `an undo left ${JSON.stringify(outcome.found).slice(0, 2000)}`];
}

/** One round. Gives what was wrong. */
async function round({ kind, durability, inject, after }, seed, openWorkspace) {
  const random = seededRandom(seed);
  const change = CHANGES[kind];
  const place = new Workdir();
  try {
    const last = new Map(NEIGHBOURS.map((path) => [path, `first of ${path}\n`]));
    const what = { change, durability, calls: inject.call, inject };
    const { code, isAnswered } = await traced(place, what, (isOver) => disturb(place, random, isOver, last));
    const saved = saveOver(place, change.files, random);
    const ws = await openWorkspace({ root: place.root, stateDir: place.state });
    const outcome = new Outcome(place, { last, saved, after, isAnswered });
    const wrong = [...outcome.foreign(), ...outcome.single()];
    if (saved.size === 0) wrong.push(...outcome.whole(ws.recovery.conflicts));
    wrong.push(...(await checkHistory(ws, outcome)));
    await ws.close();
    return { wrong, isCut: code === null };
  } finally {
    place.remove();
  }
}

/** Makes a change by itself; gives where it can be stopped, by system call, and what it leaves. */
async function survey(kind, durability) {
  const place = new Workdir();
  try {
    const calls = "%file,%desc";
    const { code, record } = await traced(place, { change: CHANGES[kind], durability, calls });
    if (code !== 0) throw new Error(`the ${kind} by itself failed`);
    const counts = counted(record);
    const unlisted = unlistedCalls(counts.keys());
    if (unlisted.length > 0) throw new Error(`the lists of calls lack ${unlisted.join(", ")} of the ${kind}`);
    const own = Object.entries(place.files()).filter(([path]) => !NEIGHBOURS.includes(path));
    const after = { files: Object.fromEntries(own), folders: place.folders() };
    return { kind, durability, after, counts };
  } finally {
    place.remove();
  }
}

/** Returns the rounds in their order: each system call of each change in turn, every time at another of its moments. */
function roundsOf(surveys, random, count) {
  const calls = surveys.flatMap(({ counts, ...rest }) =>
    CHANGING_CALLS.filter((call) => counts.has(call)).map((call) => ({
      ...rest,
      call,
      moments: random.shuffle(Array.from({ length: counts.get(call) }, (_, n) => n + 1)),
    })),
  );
  const order = random.shuffle(calls);
  return Array.from({ length: count }, (_, index) => {
    const { moments, call, ...rest } = order[index % order.length];
    return { ...rest, inject: { call, n: moments[Math.floor(index / order.length) % moments.length] } };
  });
}

/** Returns the number of moments at which changes can be stopped, by system call. */
function momentsOf(surveys) {
  const all = new Map();
  for (const { counts } of surveys)
    for (const call of CHANGING_CALLS)
      if (counts.has(call)) all.set(call, (all.get(call) ?? 0) + counts.get(call));
  return all;
}

/** Returns a table such as `openat 12, write 3`. */
const tableOf = (counts) =>
  [...counts]
    .sort()
    .map(([name, count]) => `${name} ${count}`)
    .join(", ");

/** @type {import("../../scripts/lib/deep-kind.mjs").DeepKind} */
export default {
  description: "kill -9 at the system calls of a change: nothing of anybody else is lost or moved",
  count: 2_000,
  share: 6,
  async run({ seed, count, isOver }) {
    if (spawnSync("strace", ["-V"]).status !== 0) return { cases: 0, failures: ["strace is not installed"] };
    const { openWorkspace } = await import(ENTRY);
    const random = seededRandom(seed);
    const all = Object.keys(CHANGES).flatMap((kind) =>
      ["atomic", "durable"].map((durability) => ({ kind, durability })),
    );
    // A share looks at one change, because a trace of all calls costs as much as a round.
    const drawn = random.shuffle(all).slice(0, count < all.length ? 1 : all.length);
    const surveys = [];
    for (const { kind, durability } of drawn) surveys.push(await survey(kind, durability));
    console.log(`moments of ${drawn.length} changes, by system call: ${tableOf(momentsOf(surveys))}`);
    const failures = [];
    const cuts = new Map();
    let cases = 0;
    for (const one of roundsOf(surveys, random, count)) {
      if (isOver()) break;
      const { kind, durability, inject } = one;
      const { wrong, isCut } = await round(one, random.below(2 ** 31), openWorkspace);
      if (isCut) cuts.set(inject.call, (cuts.get(inject.call) ?? 0) + 1);
      for (const what of wrong)
        failures.push(`case ${cases}, ${kind}, ${durability}, ${inject.call} ${inject.n}: ${what}`);
      cases++;
    }
    console.log(`rounds that were cut, by system call: ${tableOf(cuts)}; of ${cases}`);
    if (cases > 20 && cuts.size === 0) failures.push("no round was cut");
    return { cases, failures };
  },
};
