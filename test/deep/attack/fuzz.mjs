// Random calls through the public API over random trees. A failure is a crash, an uncaught error, the code INTERNAL, a call
// that does not end, content from outside, of a denied path or of a secret in any answer, a change there, an event loop
// that is blocked for more than 100 ms of processor time, and descriptors that stay open.
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { spawnSync } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { CANARIES, makeTree, randomValues } from "./fuzz-values.mjs";
import { loadPackage } from "./lib.mjs";

const CALL_LIMIT_MS = 60_000;
const CLOSE_LIMIT_MS = 12_000;
const BLOCK_LIMIT_MS = 300;
/** Handles that a runtime keeps once it has used workers, sockets and watches. */
const KEPT_DESCRIPTORS = 12;
const CANARY = /zqx(?:canary|denied|secret)/u;
/** Controls that no name of a file may bring into an answer: escape, and right-to-left override. */
const CONTROLS = ["\u001b", "\u202e"];
/** Tools whose answers contain text of files, which may contain control characters. */
const TEXT_TOOLS = /read_file|diff|grep|read_many|edit|patch|batch|write|undo/u;
const WRITE_TOOLS = [
  "write_file",
  "edit_file",
  "move",
  "copy",
  "delete",
  "mkdir",
  "apply_patch",
  "read_file",
  "batch",
];

/** Returns `{ [name]: value() }` with a probability, or an empty object. */
const optional = (random, probability, name, value) =>
  random.chance(probability) ? { [name]: value() } : {};
const listOf = (count, value) => Array.from({ length: count }, value);

/** The arguments of each tool, made from random numbers and values. */
const ARGUMENTS = {
  read_file: (random, { path, number }) => ({
    path: path(),
    ...optional(random, 0.3, "start_line", number),
    ...optional(random, 0.3, "max_lines", number),
    ...optional(random, 0.1, "format", () => random.pick(["text", "base64", "hex", "json", "x"])),
    ...optional(random, 0.1, "encoding", () =>
      random.pick(["utf-8", "latin1", "utf-16le", "shift_jis", "x"]),
    ),
  }),
  read_many_files: (random, { path, glob }) => ({
    paths: listOf(random.below(6), () => (random.chance(0.3) ? glob() : path())),
  }),
  write_file: (random, { path, text, flag }) => ({
    path: path(),
    content: text(),
    ...optional(random, 0.2, "create_dirs", flag),
  }),
  edit_file: (random, { path, text, flag }) => ({
    path: path(),
    edits: listOf(1 + random.below(3), () => ({
      old_text: random.pick(["x", "foo", "line one", text().slice(0, 40)]),
      new_text: text().slice(0, 200),
    })),
    ...optional(random, 0.2, "dry_run", flag),
  }),
  apply_patch: (random, { patch }) => ({ patch: patch(), ...optional(random, 0.2, "dry_run", () => true) }),
  diff: (random, { path, number }) => ({
    a: path(),
    b: path(),
    ...optional(random, 0.3, "format", () => random.pick(["unified", "html", "json", "x"])),
    ...optional(random, 0.2, "context", number),
  }),
  list_directory: (random, { path, flag, number }) => ({
    path: path(),
    ...optional(random, 0.5, "recursive", flag),
    ...optional(random, 0.3, "depth", number),
  }),
  glob: (random, { glob, path }) => ({ pattern: glob(), ...optional(random, 0.3, "path", path) }),
  find_files: (random, { number }) => ({
    query: random.pick(["a", "txt", "", "zqx", "\0", "x".repeat(5000), "vault"]),
    ...optional(random, 0.3, "limit", number),
  }),
  grep: (random, { regex, path, glob, flag, number }) => ({
    pattern: regex(),
    ...optional(random, 0.4, "path", path),
    ...optional(random, 0.3, "glob", glob),
    ...optional(random, 0.5, "regex", flag),
    ...optional(random, 0.2, "multiline", flag),
    ...optional(random, 0.2, "max_results", number),
    ...optional(random, 0.2, "context", number),
    ...optional(random, 0.2, "mode", () => random.pick(["files", "count", "content", "x"])),
  }),
  stat: (_, { path }) => ({ path: path() }),
  copy: (random, { path, flag }) => ({
    source: path(),
    destination: path(),
    ...optional(random, 0.4, "overwrite", flag),
    ...optional(random, 0.3, "recursive", flag),
  }),
  move: (random, { path, flag }) => ({
    source: path(),
    destination: path(),
    ...optional(random, 0.4, "overwrite", flag),
  }),
  delete: (random, { path, flag }) => ({
    path: path(),
    ...optional(random, 0.5, "recursive", flag),
    ...optional(random, 0.2, "missing_ok", () => true),
  }),
  mkdir: (_, { path }) => ({ path: path() }),
  batch: (random, values) => ({
    operations: listOf(random.below(5), () => {
      const tool = random.pick(WRITE_TOOLS);
      return { tool, args: ARGUMENTS[tool](random, values) };
    }),
    ...optional(random, 0.2, "dry_run", () => true),
  }),
  access_info: () => ({}),
  undo: () => ({}),
  history: () => ({}),
  nothing_like_this: () => ({ x: 1 }),
};

/** Attacks one tree after another until the time is over. */
export default async function attackByRandomCalls(attack) {
  const { openWorkspace } = await loadPackage();
  const problems = new Set();
  const running = new Set();
  for (const event of ["uncaughtException", "unhandledRejection"])
    process.on(event, (error) => problems.add(`${event}: ${String(error?.stack ?? error).slice(0, 300)}`));
  const blocks = watchEventLoop(attack, running);
  const until = performance.now() + attack.seconds * 1000;
  // One for all, as a server has: the log of a state directory stays open as long as its process.
  const stateDir = attack.temporary("state");
  let calls = 0;
  let openAtFirst;
  do {
    const tree = makeTree(attack);
    const options = {
      guard: attack.random.pick(["off", "warn"]),
      index: attack.random.pick(["auto", "off", "strict"]),
    };
    const workspace = await openWorkspace({
      root: tree.root,
      stateDir,
      access: { deny: ["vault"] },
      ...options,
    });
    const values = randomValues(attack.random, tree);
    const one = () => oneCall(attack, { workspace, values, running, problems });
    const rounds = 40 + attack.random.below(60);
    for (let n = 0; n < rounds && performance.now() < until; n += 1) {
      const count = attack.random.chance(0.2) ? 4 : 1;
      await Promise.all(Array.from({ length: count }, one));
      calls += count;
    }
    await closeAndLook(tree, workspace, problems);
    openAtFirst ??= openDescriptors();
  } while (performance.now() < until);
  await sleep(200);
  const left = openDescriptors() - openAtFirst;
  for (const problem of problems) attack.check(problem, true);
  for (const block of blocks) attack.check(`the event loop was blocked: ${block}`, true);
  attack.check(`${left} descriptors more than after the first workspace`, left > KEPT_DESCRIPTORS);
  attack.check(`${calls} calls`, calls === 0);
}

/** Makes one random call and looks at its answer. */
async function oneCall({ random }, { workspace, values, running, problems }) {
  const tool = random.pick(Object.keys(ARGUMENTS));
  const args = ARGUMENTS[tool](random, values);
  if (random.chance(0.03))
    args[random.pick(["zz", "__proto__", "constructor", "path"])] = random.pick([null, {}, "x", 1]);
  const sent = JSON.stringify(args) ?? "";
  const label = `${tool} ${sent.slice(0, 300)}`;
  const controller = new AbortController();
  const abort = random.chance(0.05) ? setTimeout(() => controller.abort(), random.below(50)) : undefined;
  const limit = sleep(CALL_LIMIT_MS, undefined, { ref: false });
  running.add(label);
  try {
    const result = await Promise.race([workspace.call(tool, args, { signal: controller.signal }), limit]);
    const problem = result === undefined ? "HANG" : problemOf(tool, sent, result);
    if (problem !== undefined) problems.add(`${problem}: ${label}`);
  } catch (error) {
    problems.add(`THROWN ${String(error?.stack ?? error).slice(0, 200)}: ${label}`);
  } finally {
    clearTimeout(abort);
    running.delete(label);
  }
}

/** @returns what is wrong with an answer, or undefined */
function problemOf(tool, sent, result) {
  const answered = JSON.stringify(result, (_, value) => (typeof value === "bigint" ? String(value) : value));
  const leak = /.{0,60}zqx(?:canary|denied|secret).{0,40}/u.exec(answered)?.[0];
  if (leak !== undefined && !CANARY.test(sent)) return `LEAK ${leak}`;
  if (!result.ok && (result.error?.code ?? "INTERNAL") === "INTERNAL")
    return `INTERNAL ${result.text?.slice(0, 200)}`;
  const hasControls = CONTROLS.some((control) => (result.text ?? "").includes(control));
  return hasControls && !TEXT_TOOLS.test(tool) ? "CONTROL CHARACTERS" : undefined;
}

/** Closes a workspace and compares what its calls must not have changed. */
async function closeAndLook({ root, outside }, workspace, problems) {
  const started = performance.now();
  await workspace.close();
  const elapsed = Math.round(performance.now() - started);
  if (elapsed > CLOSE_LIMIT_MS) problems.add(`SLOW CLOSE: ${elapsed} ms`);
  const kept = [
    [join(outside, "canary.txt"), CANARIES.outside],
    [join(outside, "sub/k"), CANARIES.outsideBelow],
    [join(root, "vault/k.txt"), CANARIES.denied],
  ];
  for (const [path, content] of kept) {
    const now = contentOf(path);
    if (now !== content)
      problems.add(`CHANGED ${path.replace(root, "ROOT").replace(outside, "OUTSIDE")}: ${now}`);
  }
  if (readdirSync(outside).length !== 2) problems.add(`ADDED OUTSIDE: ${readdirSync(outside)}`);
  spawnSync("chmod", ["-R", "u+rwx", root]);
  rmSync(root, { recursive: true, force: true });
}

function contentOf(path) {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    return error.code;
  }
}

const openDescriptors = () => readdirSync("/proc/self/fd").length;

/** @returns the processor time of the main thread in milliseconds (Linux), which other programs do not lengthen */
const threadTime = () =>
  Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, "utf8").split(" ")[0]) / 1e6;

/** Watches how long the event loop is blocked. @returns a set of lines, which grows */
function watchEventLoop(attack, running) {
  const blocks = new Set();
  let last = threadTime();
  let lastTick = performance.now();
  const timer = setInterval(() => {
    const [now, tick] = [threadTime(), performance.now()];
    const isLate = tick - lastTick > BLOCK_LIMIT_MS && now - last > BLOCK_LIMIT_MS;
    if (isLate && running.size > 0)
      blocks.add(`${Math.round(now - last)} ms during ${[...running].join(" || ").slice(0, 400)}`);
    [last, lastTick] = [now, tick];
  }, 5);
  attack.atEnd(() => clearInterval(timer));
  return blocks;
}
