// The trees of sessions, and the paths, texts and changes of other programs that their calls use.
//
// `@@` stands for the directory of the session, which each side replaces by its own. The working directory is `@@/w`;
// `@@/x` is a second root in some sessions and outside in the others.

const WORDS = [
  "alpha",
  "beta",
  "gamma",
  "delta",
  "return value;",
  "const retries = 3;",
  "if (ready) {",
  "}",
  "",
  "\tindented",
  "  two",
  "end",
  "TODO: later",
  "größe = 1",
];
/** 2001-09-09: files without a change have this time, or a few seconds more. */
const TIME = 1_000_000_000;
const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** A text of some lines, some of which repeat. */
export function makeText(random, { lines = random.below(12), eol = "\n", final = random.chance(0.85) } = {}) {
  const rows = Array.from({ length: lines }, () =>
    random.chance(0.25) ? random.pick(WORDS) : `${random.pick(WORDS)} ${random.below(40)}`,
  );
  return rows.join(eol) + (final && lines > 0 ? eol : "");
}

const utf16 = (text) => Buffer.from(`\ufeff${text}`, "utf16le").toString("base64");

/** The entries that most trees have. Each is a function, so that every tree has other contents. */
const ENTRIES = {
  "a.txt": (random) => ({ content: makeText(random, { lines: 8 }) }),
  "b.txt": (random) => ({ content: makeText(random) }),
  "crlf.txt": (random) => ({ content: makeText(random, { lines: 6, eol: "\r\n" }) }),
  "mixed.txt": () => ({ content: "alpha\r\nbeta\ngamma\r\n" }),
  "noend.txt": (random) => ({ content: makeText(random, { lines: 4, final: false }) }),
  "empty.txt": () => ({ content: "" }),
  "bom.txt": (random) => ({ content: `\ufeff${makeText(random, { lines: 5 })}` }),
  "utf16.txt": (random) => ({ base64: utf16(makeText(random, { lines: 5 })) }),
  "latin1.txt": () => ({ base64: Buffer.from("größe\nalpha\nüber\n", "latin1").toString("base64") }),
  "long.txt": (random) => ({ content: makeText(random, { lines: 400 }) }),
  "wide.txt": () => ({ content: `${"x".repeat(5000)}\nalpha\n` }),
  "bin.dat": () => ({ base64: Buffer.from([0, 1, 2, 255, 254, 0, 10, 13]).toString("base64") }),
  "dot.png": () => ({ base64: PNG }),
  "data.json": (random) => ({
    content: `{\n  "name": "x",\n  "count": ${random.below(9)},\n  "list": [1, 2]\n}\n`,
  }),
  "note.ipynb": () => ({
    content: JSON.stringify({
      cells: [
        { cell_type: "code", source: ["alpha\n", "beta"], outputs: [], metadata: {}, execution_count: 1 },
      ],
      metadata: {},
      nbformat: 4,
      nbformat_minor: 5,
    }),
  }),
  "page.svg": () => ({ content: "<svg><text>alpha</text></svg>\n" }),
  "run.sh": () => ({ content: "#!/bin/sh\necho alpha\n", mode: 0o755 }),
  "locked.txt": (random) => ({ content: makeText(random, { lines: 3 }), mode: 0o444 }),
  "private.txt": (random) => ({ content: makeText(random, { lines: 3 }), mode: 0o600 }),
  "src/a.ts": (random) => ({ content: `export function one() {\n${makeText(random, { lines: 9 })}}\n` }),
  "src/b.ts": (random) => ({ content: makeText(random, { lines: 20 }) }),
  "src/deep/c.ts": (random) => ({ content: makeText(random, { lines: 5 }) }),
  "src/deep/d.md": (random) => ({ content: `# Title\n${makeText(random, { lines: 4 })}` }),
  "lib/util.js": (random) => ({ content: makeText(random, { lines: 7 }) }),
  "build/out.js": () => ({ content: "alpha();\n" }),
  "a b.txt": (random) => ({ content: makeText(random, { lines: 3 }) }),
  "ü.txt": (random) => ({ content: makeText(random, { lines: 3 }) }),
  "[x].md": () => ({ content: "alpha\n[x]\n" }),
  ".hidden": () => ({ content: "alpha\n" }),
  ".env": () => ({ content: "TOKEN=alpha\n" }),
  ".gitignore": () => ({ content: "build/\n*.log\n" }),
  "trace.log": () => ({ content: "alpha\n" }),
  ".git/config": () => ({ content: "[core]\n\tbare = false\n" }),
  ".git/HEAD": () => ({ content: "ref: refs/heads/main\n" }),
  ".github/workflows/ci.yml": () => ({ content: "on: push\n" }),
  "memories/note.md": (random) => ({ content: makeText(random, { lines: 5 }) }),
  "package.json": () => ({ content: '{ "name": "x", "scripts": {} }\n' }),
};

const SYMLINKS = [
  ["link.txt", "a.txt"],
  ["linkdir", "src"],
  ["dangling", "nowhere.txt"],
  ["out.txt", "../x/outside.txt"],
  ["outdir", "@@/x"],
  ["loop", "loop"],
  ["src/up", ".."],
];

/** Makes the tree of a session. */
export function makeTree(random, { links, hardLinks }) {
  const tree = [
    { path: "@@/w", type: "dir" },
    { path: "@@/x", type: "dir" },
    { path: "@@/w/vacant", type: "dir", mode: random.pick([0o755, 0o700]) },
    { path: "@@/x/outside.txt", type: "file", content: "alpha outside\n", time: TIME },
    { path: "@@/x/sub/more.txt", type: "file", content: makeText(random, { lines: 4 }), time: TIME },
  ];
  let time = TIME;
  for (const [name, make] of Object.entries(ENTRIES)) {
    if (!random.chance(0.8)) continue;
    time += 7;
    tree.push({ path: `@@/w/${name}`, type: "file", time, ...make(random) });
  }
  if (links)
    for (const [name, target] of SYMLINKS)
      if (random.chance(0.6)) tree.push({ path: `@@/w/${name}`, type: "symlink", target });
  if (hardLinks && tree.some(({ path }) => path === "@@/w/b.txt"))
    tree.push({ path: "@@/w/hard.txt", type: "link", target: "@@/w/b.txt" });
  if (hardLinks && random.chance(0.5))
    tree.push({ path: "@@/w/far.txt", type: "link", target: "@@/x/outside.txt" });
  // Parents that only the paths of files name are entries too, for places that need them.
  return tree;
}

const FRESH = [
  "new.txt",
  "new/deep/n.txt",
  "src/new.ts",
  "vacant/n.txt",
  "a.txt/below.txt",
  "copy of a.txt",
  "linkdir/n.ts",
  "NEW.md",
  "x y/z.txt",
];
const ODD = [
  "",
  ".",
  "..",
  "../x/outside.txt",
  "@@/x/outside.txt",
  "@@/x/sub",
  "/etc/hostname",
  "~/n.txt",
  "src/../a.txt",
  "./a.txt",
  "src//a.ts",
  "a.txt/",
  "src/",
  "A.TXT",
  "Src/a.ts",
  "nowhere.txt",
  "a.tx",
  "srx/a.ts",
  "file:///etc/passwd",
  "C:\\a.txt",
  "a\u0000b",
  "\u202ea.txt",
  "n".repeat(300),
  "con",
  ".git/hooks/pre-commit",
  ".git/config",
  ".bashrc",
  ".vscode/settings.json",
  "u\u0308.txt",
];

/** Names paths of a tree as a caller would. */
export function pathsOf(random, tree) {
  const inside = (path) => path.startsWith("@@/w/");
  const names = tree
    .map(({ path }) => path)
    .filter(inside)
    .map((path) => path.slice("@@/w/".length));
  const directories = ["src", "src/deep", "lib", "vacant", "build", "linkdir", "memories"];
  const texts = names.filter(
    (name) => !/\.(?:dat|png)$|^\.|^(?:loop|dangling|linkdir|outdir|src\/up)$/u.test(name),
  );
  const odd = () => random.pick(ODD);
  const spelt = (name) => (random.chance(0.12) ? `@@/w/${name}` : name);
  return {
    file: () => (random.chance(0.06) ? odd() : spelt(random.pick(names))),
    text: () =>
      random.chance(0.05) ? odd() : spelt(random.pick(random.chance(0.6) ? texts.slice(0, 6) : texts)),
    directory: () =>
      random.chance(0.06) ? odd() : random.chance(0.35) ? "." : spelt(random.pick(directories)),
    any: () => (random.chance(0.08) ? odd() : spelt(random.pick(random.chance(0.3) ? directories : names))),
    fresh: () =>
      random.chance(0.1) ? odd() : random.chance(0.35) ? spelt(random.pick(names)) : random.pick(FRESH),
    real: () => random.pick(texts),
  };
}

/** One change of another program, somewhere in the tree. */
export function makeForeign(random, paths) {
  const path = `@@/w/${paths.real()}`;
  const content = `foreign ${random.below(1e6)}\n${makeText(random)}`;
  return random.pick([
    () => ({ op: "write", path, content }),
    () => ({ op: "write", path, content }),
    () => ({ op: "append", path, content: "more\n" }),
    () => ({ op: "replace", path, content }),
    () => ({ op: "remove", path }),
    () => ({ op: "chmod", path, mode: random.pick([0o600, 0o755, 0o444]) }),
    () => ({ op: "rename", path, to: `@@/w/${random.pick(["moved.txt", "src/moved.ts", "a.txt"])}` }),
    () => ({ op: "symlink", path, target: random.pick(["b.txt", "../x/outside.txt", "src"]) }),
    () => ({
      op: "symlink",
      path: `@@/w/${random.pick(["src/deep", "vacant", "new"])}`,
      target: random.pick(["../lib", "@@/x"]),
    }),
    () => ({
      op: "write",
      path: `@@/w/${random.pick(["new.txt", "new/foreign.txt", "vacant/foreign.txt", "src/deep/foreign.txt", "new/deep/foreign.txt"])}`,
      content,
    }),
    () => ({ op: "mkdir", path: `@@/w/${random.pick(["new", "vacant/inner", "new/deep"])}` }),
    () => ({ op: "remove", path: `@@/w/${random.pick(["src/deep", "new", "vacant", "lib"])}` }),
    () => ({ op: "link", path, to: `@@/w/second.txt` }),
    () => ({ op: "touch", path }),
  ])();
}
