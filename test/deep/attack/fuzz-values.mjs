// Random trees, paths, patterns and arguments for the attack `fuzz`: names that a shell, Windows, Unicode or a glob
// treats specially, links that lead out, contents of many formats, and values of wrong types.
import { spawnSync } from "node:child_process";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

const NAMES = [
  ...["a", "b.txt", "c.js", "d", "e e.md", "ünï", "é", "e\u0301", "x\ny", "-rf", "--", "a.ipynb", "p.json"],
  ...["q.yaml", "t.toml", "z.csv", "x.xml", "A", "B.TXT", "NUL", "con.txt", "a:b", "ENV~1", "a.", " lead"],
  ...["trail ", "\u202eevil", "[x]", "{a,b}", "*", "?", "$HOME", "~", "%2e%2e", "..%2f", "a\\b", ".hidden"],
  ...[".gitignore", "node_modules", "z".repeat(200), "\u{1F600}", "..."],
];
const NOTEBOOK = JSON.stringify({
  cells: [{ cell_type: "code", source: ["x"], outputs: [], metadata: {}, execution_count: null }],
  metadata: {},
  nbformat: 4,
  nbformat_minor: 5,
});
const TEXTS = [
  ...["", "x", "line one\nline two\n", "a\r\nb\r\nc\r\n", "\ufeffbom\n", "no end", "\0\0binary"],
  ...["é\u0301ñ\n".repeat(50), `${"x".repeat(5000)}\n`, '{"a":[1,2,{"b":null}]}', "a: &x [1,2]\nb: *x\n"],
  Array.from({ length: 2000 }, (_, n) => `line ${n} foo(bar) ${n % 7}`).join("\n"),
  ...["[t]\nx = 1\n", 'a,b\n1,"2\n3"\n', "<a><b c='d'/></a>", "\ud800lone", "foo\nfoo\nfoo\nfoo\n", NOTEBOOK],
  ...["function f() {\n  return 1;\n}\n".repeat(30), "\x1b[31mred\x1b]0;t\x07\n"],
];
const GLOBS = [
  ...["**", "*", "**/*", "*.txt", "{a,b}*", "!(a)", "[a-z]*", "[", "{", "**/**/**/**/*.js", "a".repeat(2000)],
  ...["{".repeat(40) + "}".repeat(40), "\\", "/**", "../**", "**/vault/**", "?(x|y)", "@(a|b|c)", "+(a)*(b)"],
  ...[`${"*".repeat(60)}x`, "**/.env", "**/*.key", "{1..100000}", "[!a]", ""],
];
const REGEXES = [
  ...["foo", "(a+)+$", "(?:x?){1000}", "zqx", "^$", "\\bline\\b", ".*", "[", "(", "a{1000000}", "(?i)FOO"],
  ...["(?<n>x)\\k<n>", "\\p{L}+", "x".repeat(3000), `foo|bar|${"baz|".repeat(500)}`, "", "\n"],
  ...["line.*\\n.*foo", "\\x00", "(?=a)b", "\u0301", "((((((((((a?)*)*)*)*)*)*)*)*)*)*"],
];
const NUMBERS = [
  0,
  1,
  2,
  10,
  100,
  -1,
  1e9,
  1.5,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  "5",
  null,
  2 ** 53,
  50,
];
const WRONG_TYPES = [null, 5, {}, [], true, undefined];
/** Sparse, so that it takes no room on the disk. */
const LARGE_FILE_BYTES = 3e8;
const ENTRIES_PER_TREE = 60;

/** Contents that no answer may contain; each begins with `zqx`. */
export const CANARIES = {
  outside: "zqxcanary\n",
  outsideBelow: "zqxcanary2\n",
  denied: "zqxdenied content here\n",
};

/** Makes a tree with hostile names beside a folder outside. @returns its paths */
export function makeTree(attack) {
  const { random } = attack;
  const [root, outside] = [attack.temporary(), attack.temporary("outside")];
  for (const folder of [join(outside, "sub"), join(root, "vault"), join(root, "deep")]) mkdirSync(folder);
  writeFileSync(join(outside, "canary.txt"), CANARIES.outside);
  writeFileSync(join(outside, "sub/k"), CANARIES.outsideBelow);
  writeFileSync(join(root, "vault/k.txt"), CANARIES.denied);
  writeFileSync(join(root, ".env"), "KEY=zqxsecret12345\n");
  writeFileSync(join(root, "deep/server.key"), "zqxsecret77\n");
  const folders = [root, join(root, "deep")];
  for (let n = 0; n < ENTRIES_PER_TREE; n += 1) {
    const path = join(random.pick(folders), random.pick(NAMES));
    try {
      if (!existsSync(path)) makeEntry({ random, root, outside, folders }, path);
    } catch {
      // Below a file, or too long together: another one is tried.
    }
  }
  if (random.chance(0.3)) spawnSync("git", ["init", "-q", root]);
  return { root, outside, folders };
}

function makeEntry({ random, root, outside, folders }, path) {
  const links = [
    ...[outside, join(outside, "canary.txt"), "vault/k.txt", "../vault", "..", ".", path, root, "missing"],
    ...["/proc/self/environ", "/etc/passwd", "deep", ".env", "/dev/zero", "/proc/self/root"],
  ];
  const makers = [
    [0.2, () => addFolder(path, folders)],
    [0.75, () => writeFileSync(path, random.chance(0.1) ? randomBytes(random, 400) : randomText(random))],
    [0.9, () => symlinkSync(random.pick(links), path)],
    [0.93, () => spawnSync("mkfifo", [path])],
    [0.96, () => addLargeFile(path)],
    [1, () => writeFileSync(path, "ro\n", { mode: 0o000 })],
  ];
  const drawn = random.next();
  makers.find(([limit]) => drawn < limit)?.[1]();
}

function addFolder(path, folders) {
  mkdirSync(path);
  folders.push(path);
}

function addLargeFile(path) {
  writeFileSync(path, "s");
  truncateSync(path, LARGE_FILE_BYTES);
}

const randomBytes = (random, count) => Buffer.from(Array.from({ length: count }, () => random.below(256)));

function randomText(random) {
  if (random.chance(0.1)) return randomBytes(random, random.below(300)).toString("latin1");
  if (!random.chance(0.05)) return random.pick(TEXTS);
  const parts = ["foo", "bar", "\n", " ", "x".repeat(random.below(30)), "\t", "é"];
  return Array.from({ length: random.below(20_000) }, () => random.pick(parts)).join("");
}

/** @returns functions that make random values for arguments of calls in a tree */
export function randomValues(random, { root, outside, folders }) {
  const foreignPaths = [
    ...[".", "", "/", "..", "../x", root, outside, join(outside, "canary.txt"), "vault", "vault/k.txt"],
    ...["./vault/../vault/k.txt", ".env", "~", "~/x", "file:///etc/passwd", "/etc/passwd"],
    ...["/proc/self/environ", "/dev/stdin", "C:\\x", "\\\\host\\x", "a\0b", "x".repeat(5000), "%2e%2e/x"],
    ...["．．/x", "vault\u200b", "VAULT/k.txt", "deep/server.key", ".git/config", ".git/hooks/pre-commit"],
  ];
  const ownPath = () => {
    const folder = random.pick(folders);
    // An earlier call may have removed the folder, or put a file in its place.
    const isFolder = lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() === true;
    const names = isFolder ? readdirSync(folder) : [];
    const path = names.length === 0 ? "x" : join(folder, random.pick(names)).slice(root.length + 1);
    if (random.chance(0.1)) return `${path}/`;
    return random.chance(0.1) ? `${path}/../${random.pick(NAMES)}` : path;
  };
  const path = () => {
    if (random.chance(0.6)) return ownPath();
    if (random.chance(0.01)) return random.pick(WRONG_TYPES);
    return random.pick([...foreignPaths, `new/dir/${random.pick(NAMES)}`, random.pick(NAMES)]);
  };
  return {
    path,
    text: () => randomText(random),
    glob: () => random.pick(GLOBS),
    regex: () => random.pick(REGEXES),
    number: () => random.pick(NUMBERS),
    flag: () => random.pick([true, false, true, false, "yes", null]),
    patch: () => randomPatch(random, path, outside),
  };
}

function randomPatch(random, path, outside) {
  const envelope = (body) => `*** Begin Patch\n${body}\n*** End Patch`;
  return random.pick([
    () =>
      `--- a/${path()}\n+++ b/${path()}\n@@ -1,1 +1,1 @@\n-${random.pick(["x", "line one", "foo"])}\n+new\n`,
    () => envelope(`*** Update File: ${path()}\n@@\n-foo\n+bar`),
    () => envelope(`*** Add File: ${path()}\n+x`),
    () => envelope(`*** Delete File: ${path()}`),
    // Not to an empty path, which is answered with INTERNAL: a known defect.
    () => `diff --git a/${path()} b/${path()}\nrename from ${path()}\nrename to ${path() || "x"}\n`,
    () =>
      `diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+${outside}\n\\ No newline at end of file\n`,
    () => `--- a/x\n+++ b/x\n${"@@ -1,1 +1,1 @@\n-a\n+b\n".repeat(random.below(3000))}`,
    () => `GIT binary patch\nliteral 5\n${randomText(random)}`,
    () => randomText(random),
    () => "@@ -1 +1 @@",
    () => "",
  ])();
}
