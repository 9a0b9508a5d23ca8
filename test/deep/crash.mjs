// kill -9 at write-side system calls of a change, while another process writes the same and neighbouring files.
//
// A round: a program opens a workspace and makes one call; strace ends it at the n-th call of one name. Meanwhile this
// process writes neighbouring files, and once the program is gone it saves other text of the same size over some of the
// files of the call, as a person does. Then the workspace is opened again. Nothing that this process has written may be
// lost or moved; what it did not touch is as before the call or as after it; and nothing lies about.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { seededRandom } from "../../scripts/lib/deep-kind.mjs";

const ENTRY = pathToFileURL(resolve(import.meta.dirname, "../../dist/index.node.js")).href;
/** The system calls that change a file or a name; each is counted alone, by thread. */
const CALLS = [
  "pwrite64",
  "writev",
  "copy_file_range",
  "renameat2",
  "renameat",
  "rename",
  "linkat",
  "unlinkat",
  "unlink",
  "mkdirat",
  "mkdir",
  "symlinkat",
  "fchmod",
];
/** How often each system call of each change is met. */
const ROUNDS_PER_CALL = 10;

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
  /** Every file by its path, hidden ones included. */
  files() {
    const found = {};
    for (const entry of fs.readdirSync(this.root, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath ?? entry.path, entry.name).slice(this.root.length + 1);
      if (entry.isFile()) found[path] = this.text(path);
      else if (entry.name.startsWith(".filewright")) found[path] = "directory";
    }
    return found;
  }
  remove() {
    fs.rmSync(this.base, { recursive: true, force: true });
  }
}

/** Starts the program of a round; it makes its call when its standard input ends. */
async function start(place, { tool, args }) {
  const program = `
    const { openWorkspace } = await import(${JSON.stringify(ENTRY)});
    const ws = await openWorkspace({ root: ${JSON.stringify(place.root)}, stateDir: ${JSON.stringify(place.state)} });
    console.log("ready");
    for await (const _ of process.stdin);
    const { ok, text } = await ws.call(${JSON.stringify(tool)}, ${JSON.stringify(args)});
    if (!ok) { console.error(text); process.exit(3); }`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", program], {
    stdio: ["pipe", "pipe", "pipe"],
  });
  await once(child.stdout, "data");
  return child;
}

/** Makes a call under strace; gives the lines of its record. `inject`: where the program ends. */
async function traced(place, change, calls, inject, meanwhile) {
  const child = await start(place, change);
  const record = join(place.base, "trace");
  const how = inject === undefined ? [] : ["-e", `inject=${inject.call}:signal=KILL:when=${inject.n}`];
  const options = ["-f", "-o", record, "-e", `trace=${calls.join(",")}`, ...how, "-p", `${child.pid}`];
  const tracer = spawn("strace", options, { stdio: ["ignore", "ignore", "pipe"] });
  const traceEnd = once(tracer, "exit");
  await once(tracer.stderr, "data");
  const end = once(child, "exit");
  child.stdin.end();
  const isOver = { now: false };
  const others = meanwhile?.(isOver);
  const [code, signal] = await end;
  isOver.now = true;
  await others;
  await traceEnd;
  return { code, signal, record: fs.readFileSync(record, "utf8").split("\n") };
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

/** One round. Gives what was wrong. */
async function round(kind, inject, seed, openWorkspace, after) {
  const random = seededRandom(seed);
  const change = CHANGES[kind];
  const place = new Workdir();
  try {
    const last = new Map(NEIGHBOURS.map((path) => [path, `first of ${path}\n`]));
    const { code } = await traced(place, change, [inject.call], inject, (isOver) =>
      disturb(place, random, isOver, last),
    );
    // A person saves text of the same size in some of the files that are there.
    const saved = new Map();
    for (const path of change.files) {
      const content = place.text(path);
      if (content === undefined || !random.chance(0.3)) continue;
      const other = content.replace(/[a-z]/giu, "#");
      place.write(path, other);
      saved.set(path, other);
    }
    const ws = await openWorkspace({ root: place.root, stateDir: place.state });
    const { conflicts } = ws.recovery;
    await ws.close();
    const found = place.files();
    const wrong = [];
    for (const [path, content] of [...last, ...saved])
      if (found[path] !== content) wrong.push(`${path} of somebody else is ${JSON.stringify(found[path])}`);
    for (const path of Object.keys(found)) if (path.includes(".filewright")) wrong.push(`${path} lies about`);
    const own = (files) => Object.entries(files).filter(([path]) => !last.has(path) && !saved.has(path));
    const now = JSON.stringify(own(found).sort());
    const matches = [SEED, after].some((files) => JSON.stringify(own(files).sort()) === now);
    if (saved.size === 0 && !matches) wrong.push(`neither before nor after: ${now}`);
    if (saved.size === 0 && conflicts.length > 0) wrong.push(`conflicts without a cause: ${conflicts}`);
    for (const [path, content] of own(found)) {
      if (path.includes(".filewright") || content === SEED[path] || content === after[path]) continue;
      wrong.push(`${path} is ${JSON.stringify(content)}`);
    }
    for (const [path, content] of own(SEED)) {
      // With files of the call in other hands the rest is rolled back all the same, or stays as the call left it.
      if (found[path] === undefined && after[path] !== undefined) wrong.push(`${path} is gone: ${content}`);
    }
    return { wrong, isCut: code === null };
  } finally {
    place.remove();
  }
}

/** @type {import("../../scripts/lib/deep-kind.mjs").DeepKind} */
export default {
  description: "kill -9 at the system calls of a change: nothing of anybody else is lost or moved",
  count: 2_000,
  share: 12,
  async run({ seed, count, isOver }) {
    if (spawnSync("strace", ["-V"]).status !== 0) return { cases: 0, failures: ["strace is not installed"] };
    const { openWorkspace } = await import(ENTRY);
    const random = seededRandom(seed);
    const moments = [];
    const afters = {};
    for (const [kind, change] of Object.entries(CHANGES)) {
      const place = new Workdir();
      try {
        const { code, record } = await traced(place, change, CALLS);
        if (code !== 0) return { cases: 0, failures: [`the ${kind} by itself failed`] };
        const own = Object.entries(place.files()).filter(([path]) => !NEIGHBOURS.includes(path));
        afters[kind] = Object.fromEntries(own);
        for (const [call, most] of counted(record))
          for (let n = 1; n <= most; n++) moments.push({ kind, inject: { call, n } });
      } finally {
        place.remove();
      }
    }
    const all = Array.from({ length: ROUNDS_PER_CALL }, () => random.shuffle(moments)).flat();
    const failures = [];
    let [cases, cuts] = [0, 0];
    for (; cases < count && !isOver(); cases++) {
      const { kind, inject } = all[cases % all.length];
      const own = random.below(2 ** 31);
      const { wrong, isCut } = await round(kind, inject, own, openWorkspace, afters[kind]);
      if (isCut) cuts++;
      for (const what of wrong) failures.push(`case ${cases}, ${kind}, ${inject.call} ${inject.n}: ${what}`);
    }
    console.log(
      `${moments.length} system calls of ${Object.keys(CHANGES).length} changes, ${cuts} of ${cases} rounds cut`,
    );
    if (cases > 20 && cuts === 0) failures.push("no round was cut");
    return { cases, failures };
  },
};
