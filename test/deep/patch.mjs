// Compares patches and diffs with git, GNU diff and GNU patch, over random pairs of trees.
//
// Both ways: what git and GNU diff make of a pair is applied by apply_patch, forwards and in reverse,
// and has to give the other tree byte for byte; what our diffs say is applied by git and GNU patch.
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { openWorkspace } from "../../dist/cli/library.js";
import { seededRandom } from "../../scripts/lib/deep-kind.mjs";

const MAX_FAILURES = 20;
/** Lines that look like parts of a patch are among them. */
const LINES = [
  ...[
    "a",
    "b",
    "c",
    "x",
    "y",
    "}",
    "  return x;",
    "\tif (x) {",
    "",
    "",
    " ",
    "trailing  ",
    "é漢",
    "a\tb",
    "lone\rCR",
  ],
  ...["-- a/f", "++ b/f", "--- a/f", "+++ b/f", "@@ -1 +1 @@", "- x", "+ x", "\\ No newline at end of file"],
  ...["diff --git a/f b/f", "*** End Patch", "*** Begin Patch", "*** End of File", "```", "rename from f"],
];
const DIRECTORIES = ["", "", "a/", "b/", "src/", "x b/", "two words/", "src/deep/"];
const NAMES = [
  ...[
    "f",
    "g",
    "h.txt",
    "a",
    "b",
    "two words",
    "end ",
    " start",
    'quo"te',
    "tab\there",
    "back\\slash",
    "é",
    "漢 字",
  ],
  ...["-", "#x", "it's", "new\nline", "$x", "a,b", "{x}", "x b"],
];

/** A tree: what is in each file, and whether it can be run. */
/** @typedef {Map<string, { text: string, executable: boolean }>} Tree */

function makeText(random) {
  const eol = random.pick(["\n", "\n", "\r\n", "mixed"]);
  const count = random.chance(0.1) ? random.below(3) : random.below(30);
  // Lines that are there once make renames of long files plain; the others stand in many places.
  const line = () => (random.chance(0.5) ? random.pick(LINES) : `line ${random.below(1_000)}`);
  let text = random.chance(0.03) ? "\ufeff" : "";
  for (let left = count; left > 0; left--) text += line() + endOf(random, eol);
  return random.chance(0.2) ? text.replace(/\r?\n$/u, "") : text;
}

const endOf = (random, eol) => (eol === "mixed" ? random.pick(["\n", "\r\n"]) : eol);

/** @returns {string} the text with some lines changed */
function changeText(random, text) {
  const roll = random.below(20);
  if (roll === 0)
    return text.includes("\r\n") ? text.replaceAll("\r\n", "\n") : text.replaceAll("\n", "\r\n");
  if (roll === 1) return text.endsWith("\n") ? text.replace(/\r?\n$/u, "") : `${text}\n`;
  if (roll === 2) return makeText(random);
  if (roll === 3) return "";
  const lines = text.split(/(?<=\n)/u);
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  for (let left = 1 + random.below(4); left > 0; left--) {
    const at = random.below(lines.length + 1);
    const made = Array.from({ length: random.below(3) }, () => random.pick(LINES) + eol);
    // Behind a line without an end nothing can be inserted.
    if (at === lines.length && at > 0 && !/\n$/u.test(lines[at - 1])) lines[at - 1] += eol;
    lines.splice(at, random.below(3), ...made);
  }
  const changed = lines.join("");
  return random.chance(0.15) ? changed.replace(/\r?\n$/u, "") : changed;
}

/** Returns true when a file can be made at `path`: no file has that path or is one of its directories. */
function isFree(tree, path) {
  for (const taken of tree.keys()) {
    if (taken === path || taken.startsWith(`${path}/`) || path.startsWith(`${taken}/`)) return false;
  }
  return true;
}

function freePath(random, ...trees) {
  for (let tries = 0; tries < 20; tries++) {
    const path = random.pick(DIRECTORIES) + random.pick(NAMES);
    if (trees.every((tree) => isFree(tree, path))) return path;
  }
  return undefined;
}

/** @returns {{ before: Tree, after: Tree }} two trees that differ */
function makePair(random) {
  const before = new Map();
  const executable = () => random.chance(0.2);
  for (let left = 1 + random.below(4); left > 0; left--) {
    const path = freePath(random, before);
    if (path !== undefined) before.set(path, { text: makeText(random), executable: executable() });
  }
  const after = new Map(before);
  for (const [path, file] of before) {
    const other = freePath(random, before, after);
    switch (random.below(10)) {
      case 0:
        after.delete(path);
        break;
      case 1:
        after.set(path, { ...file, executable: !file.executable });
        break;
      case 2:
        after.set(path, { text: changeText(random, file.text), executable: !file.executable });
        break;
      case 3:
      case 4:
        if (other === undefined) break;
        after.delete(path);
        after.set(other, random.chance(0.4) ? file : { ...file, text: changeText(random, file.text) });
        break;
      case 5:
        if (other !== undefined) after.set(other, { ...file, text: changeText(random, file.text) });
        break;
      case 6:
        break;
      default:
        after.set(path, { ...file, text: changeText(random, file.text) });
    }
  }
  if (random.chance(0.3)) {
    const path = freePath(random, before, after);
    if (path !== undefined) after.set(path, { text: makeText(random), executable: executable() });
  }
  return { before, after };
}

/** @param {Tree} tree */
function write(root, tree) {
  mkdirSync(root, { recursive: true });
  for (const [path, { text, executable }] of tree) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
    chmodSync(join(root, path), executable ? 0o755 : 0o644);
  }
}

/** @returns {Tree} the files below a directory */
function read(root, below = "", tree = new Map()) {
  for (const entry of readdirSync(join(root, below), { withFileTypes: true })) {
    const path = below + entry.name;
    if (entry.isDirectory()) read(root, `${path}/`, tree);
    else {
      const executable = (lstatSync(join(root, path)).mode & 0o100) !== 0;
      tree.set(path, { text: readFileSync(join(root, path), "utf8"), executable });
    }
  }
  return tree;
}

/** @returns {string | undefined} the first difference of two trees */
function differ(wanted, got, { modes }) {
  for (const path of [...new Set([...wanted.keys(), ...got.keys()])].sort()) {
    const [one, other] = [wanted.get(path), got.get(path)];
    const name = JSON.stringify(path);
    if (one === undefined) return `${name} is there`;
    if (other === undefined) return `${name} is not there`;
    if (one.text !== other.text)
      return `${name} is ${JSON.stringify(other.text).slice(0, 300)}, not ${JSON.stringify(one.text).slice(0, 300)}`;
    if (modes && one.executable !== other.executable) return `${name} has the other mode`;
  }
  return undefined;
}

/** Runs a program; bytes in, text out. */
function run(program, args, { cwd, input, env } = {}) {
  const options = { cwd, input, encoding: "utf8", maxBuffer: 1 << 28, env: { ...process.env, ...env } };
  const { status, stdout, stderr } = spawnSync(program, args, options);
  return { status, stdout, told: `${stdout}${stderr}`.trim().slice(0, 300) };
}

/** Returns true when a text begins with a byte order mark, or some of its lines end in LF and some in CRLF. */
const needsContext = ({ text }) =>
  text.startsWith("\ufeff") || (text.includes("\r\n") && /(?<!\r)\n/u.test(text));

/**
 * The numbers of context lines that the patch of a pair may have. A hunk without context or CR does not
 * say how lines of a mixed file end: apply_patch lets new lines end as adjacent ones do. Nor does it
 * show a byte order mark, which apply_patch keeps at the beginning.
 */
const contextsFor = ({ before, after }) =>
  [...before.values(), ...after.values()].some(needsContext) ? [1, 3, 3, 3] : [0, 1, 3, 3, 3];

/** git's patch of a pair, with the options that it was made with. */
function gitPatch(random, base, pair) {
  const store = join(base, ".store");
  const index = join(store, "index");
  const git = (args, tree) => {
    const env = { GIT_CONFIG_NOSYSTEM: "1", HOME: store };
    if (tree !== undefined) Object.assign(env, { GIT_DIR: join(store, ".git"), GIT_INDEX_FILE: index });
    const { status, stdout, told } = run("git", args, { cwd: join(base, tree ?? ".store"), env });
    if (status !== 0) throw new Error(`git ${args[0]}: ${told}`);
    return stdout;
  };
  if (!existsSync(store)) {
    mkdirSync(store);
    git(["init", "-q"]);
    git(["config", "core.autocrlf", "false"]);
  }
  const ids = ["before", "after"].map((tree) => {
    rmSync(index, { force: true });
    git(["add", "-A", "--force", "."], tree);
    return git(["write-tree"], tree).trim();
  });
  const context = random.pick([...contextsFor(pair), 10]);
  const noPrefix = random.chance(0.15);
  const flags = [`-U${context}`, ...(noPrefix ? ["--no-prefix"] : [])];
  flags.push(
    ...random.pick([
      ["-M"],
      ["-M"],
      ["-M30%"],
      ["-C", "--find-copies-harder"],
      ["--no-renames"],
      ["-B", "-M"],
    ]),
  );
  flags.push(...random.pick([[], ["--full-index"], ["--patience"], ["--function-context"]]));
  const quotes = `core.quotePath=${random.chance(0.7)}`;
  const text = git([
    "-c",
    quotes,
    "-c",
    "diff.noprefix=false",
    "diff",
    "--no-color",
    "--no-ext-diff",
    ...flags,
    ...ids,
  ]);
  return { text, flags, context, noPrefix };
}

/** GNU diff's patch of a pair; undefined where it has no words for the pair. */
function gnuPatch(random, base, pair) {
  const context = random.pick(contextsFor(pair));
  const args = ["-r", "-N", "-a", `-U${context}`, "before", "after"];
  const { stdout } = run("diff", args, { cwd: base, env: { LC_ALL: "C.UTF-8", TZ: "UTC" } });
  return stdout === "" || /^File .* is a /mu.test(stdout) ? undefined : { text: stdout, context };
}

const asGit = (patch, args) => (dir) =>
  run("git", ["apply", "--whitespace=nowarn", ...args, "-"], {
    cwd: dir,
    input: patch,
    env: { GIT_CEILING_DIRECTORIES: dirname(dir), GIT_CONFIG_NOSYSTEM: "1" },
  });
const asPatch = (patch, args) => (dir) =>
  run("patch", ["--binary", "--batch", "--no-backup-if-mismatch", "-r", "-", ...args], {
    cwd: dir,
    input: patch,
  });

/** Puts a tree where another one is. */
function replace(root, tree) {
  mkdirSync(root, { recursive: true });
  for (const name of readdirSync(root)) rmSync(join(root, name), { recursive: true });
  write(root, tree);
}

/** Applies a patch of theirs with apply_patch. @returns {Promise<{ failure?: string, diff?: string }>} */
async function applyTheirs(ws, root, patch, args, [from, to], modes) {
  replace(root, from);
  const { ok, text, data } = await ws.call("apply_patch", { patch, ...args });
  const failure = ok ? differ(to, read(root), { modes }) : text;
  return failure === undefined ? { diff: data.diff } : { failure };
}

/** Applies a patch of ours, or of theirs, with one of their programs. @returns {string | undefined} what went wrong */
function applyBy(program, root, [from, to], modes) {
  replace(root, from);
  const { status, told } = program(root);
  return status === 0 ? differ(to, read(root), { modes }) : told;
}

/** @returns {Promise<string[]>} what went wrong with a pair */
async function checkPair(random, base, pair) {
  const { before, after } = pair;
  for (const [name, tree] of [
    ["before", before],
    ["after", after],
    ["work", before],
  ])
    replace(join(base, name), tree);
  const options = { stateDir: join(base, ".state"), guard: "off", history: false };
  options.limits = { outputBytes: 1 << 28, pageBytes: 1 << 28 };
  const ws = await openWorkspace({ root: join(base, "work"), ...options });
  const both = await openWorkspace({ root: base, ...options });
  try {
    return [
      ...(await checkGit(random, base, pair, ws)),
      ...(await checkGnu(random, base, pair, ws)),
      ...(await checkDiffs(random, base, pair, both)),
    ];
  } finally {
    await ws.close();
    await both.close();
  }
}

/** git's patch of a pair, and the diff that apply_patch answers with. */
async function checkGit(random, base, pair, ws) {
  const { before, after } = pair;
  const failures = [];
  const [work, theirs] = [join(base, "work"), join(base, "theirs")];
  const fuzz = random.pick([{}, { fuzz: 0 }]);

  const git = gitPatch(random, base, pair);
  const gitArgs = [...(git.noPrefix ? ["-p0"] : []), ...(git.context === 0 ? ["--unidiff-zero"] : [])];
  const ways = [
    ["forwards", [before, after], [], {}],
    ["in reverse", [after, before], ["-R"], { reverse: true }],
  ];
  for (const [way, trees, theirArgs, ourArgs] of git.text === "" ? [] : ways) {
    // What git itself cannot do with its patch is not asked of us.
    const byGit = applyBy(asGit(git.text, [...gitArgs, ...theirArgs]), theirs, trees, true);
    const args = { ...fuzz, ...ourArgs, ...(git.noPrefix ? { strip: 0 } : {}) };
    const { failure, diff } = await applyTheirs(ws, work, git.text, args, trees, true);
    const about = `git diff ${git.flags.join(" ")} ${way}`;
    if (failure !== undefined && byGit === undefined) failures.push(`${about}: ${failure}\n${git.text}`);
    if (diff === undefined) continue;
    for (const [program, apply] of [
      ["git apply", asGit(diff, [])],
      ["patch", asPatch(diff, ["-p1"])],
    ]) {
      const told = applyBy(apply, theirs, trees, program === "git apply");
      if (told !== undefined) failures.push(`${program} of apply_patch's diff (${about}): ${told}\n${diff}`);
    }
  }
  return failures;
}

/** GNU diff's patch of a pair: apply_patch makes the tree that GNU patch makes. */
async function checkGnu(random, base, pair, ws) {
  const { before, after } = pair;
  const gnu = gnuPatch(random, base, pair);
  if (gnu === undefined) return [];
  const failures = [];
  const [work, theirs] = [join(base, "work"), join(base, "theirs")];
  for (const [from, back] of [
    [before, []],
    [after, ["-R"]],
  ]) {
    replace(theirs, from);
    const { status, told } = asPatch(gnu.text, ["-p1", ...back])(theirs);
    const about = `diff -U${gnu.context}${back.length > 0 ? " in reverse" : ""}`;
    if (status !== 0) {
      failures.push(`GNU patch refuses ${about}: ${told}\n${gnu.text}`);
      continue;
    }
    const args = { ...random.pick([{}, { fuzz: 0 }]), strip: 1, reverse: back.length > 0 };
    const { failure } = await applyTheirs(ws, work, gnu.text, args, [from, read(theirs)], false);
    if (failure !== undefined) failures.push(`${about}: ${failure}\n${gnu.text}`);
  }
  return failures;
}

/** The tool `diff` over each changed file: git and GNU patch apply its output. */
async function checkDiffs(random, base, { before, after }, ws) {
  const failures = [];
  const theirs = join(base, "theirs");
  for (const [path, { text }] of after) {
    const old = before.get(path);
    if (old === undefined || old.text === text) continue;
    const context = random.pick([0, 1, 3, 3, 3]);
    const result = await ws.call("diff", { a: `before/${path}`, b: `after/${path}`, context });
    if (!result.ok) {
      failures.push(`diff: ${result.text}`);
      continue;
    }
    const trees = [old, { ...old, text }].map((file) => new Map([[path, file]]));
    for (const [program, apply] of [
      ["git apply", asGit(result.data.diff, ["-p2", ...(context === 0 ? ["--unidiff-zero"] : [])])],
      ["patch", asPatch(result.data.diff, ["-p2"])],
    ]) {
      const told = applyBy(apply, theirs, trees, false);
      if (told !== undefined) failures.push(`${program} of our diff: ${told}\n${result.data.diff}`);
    }
  }
  return failures;
}

/** @type {import("../../scripts/lib/deep-kind.mjs").DeepKind} */
export default {
  description: "apply_patch and diff against git, GNU diff and GNU patch, over random pairs of trees",
  count: 2_000,
  share: 150,
  async run({ seed, count, isOver }) {
    const random = seededRandom(seed);
    for (const program of ["git", "diff", "patch"]) {
      if (run(program, ["--version"]).status !== 0)
        return { cases: 0, failures: [`${program} is not installed`] };
    }
    const base = realpathSync(mkdtempSync(join(tmpdir(), "filewright-patch-")));
    const failures = [];
    let cases = 0;
    while (cases < count && !isOver() && failures.length < MAX_FAILURES) {
      const pair = makePair(random);
      const told = await checkPair(random, base, pair);
      cases += 1;
      if (told.length === 0) continue;
      const kept = `${base}-${cases}`;
      for (const tree of ["before", "after"]) cpSync(join(base, tree), join(kept, tree), { recursive: true });
      failures.push(...told.map((line) => `case ${cases} (${kept}): ${line}`));
    }
    rmSync(base, { recursive: true, maxRetries: 10 });
    return { cases, failures };
  },
};
