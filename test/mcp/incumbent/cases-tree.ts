/** Expectations of the filesystem server for a tree with exclusions (its `directory-tree.test.ts`). */
import type { Scratch, UnitCase, Units } from "./units.ts";

interface Node {
  readonly name: string;
  readonly type: string;
  readonly children?: readonly Node[];
}

const below = (nodes: readonly Node[], prefix = ""): readonly string[] =>
  nodes.flatMap(({ name, children }) => [
    prefix + name + (children === undefined ? "" : "/"),
    ...below(children ?? [], `${prefix}${name}/`),
  ]);

const tree = (name: string, excludes: readonly string[], gone: readonly string[]): UnitCase => {
  const files = [".env", ".env.local", ".git/HEAD", "package.json", "src/index.js"];
  const modules = ["node_modules/module.js", "nested/node_modules/deep.js"];
  const directories = [".git/", "nested/", "nested/node_modules/", "node_modules/", "src/"];
  const all = [...files, ...modules, ...directories];
  return {
    of: "directory-tree buildTree",
    name,
    async run(units: Units, at: Scratch) {
      for (const file of [...files, ...modules]) await at.file(file, "x");
      return [...below(JSON.parse(await units.directoryTree(at.allowed, excludes)))].sort();
    },
    gives: all.filter((path) => !gone.includes(path)).sort(),
  };
};

const MODULES = [
  "node_modules/",
  "node_modules/module.js",
  "nested/node_modules/",
  "nested/node_modules/deep.js",
];
const GIT = [".git/", ".git/HEAD"];

/** Cases with the same result on both servers. */
export const TREE_CASES: readonly UnitCase[] = [
  tree("one name", [".env"], [".env"]),
  tree("a directory, wherever it is", ["node_modules"], MODULES),
  tree("a glob", ["*.env"], [".env"]),
  tree("a name with a dot", [".git"], GIT),
  tree("several", ["node_modules", ".env", ".git"], [...MODULES, ".env", ...GIT]),
  tree("none", [], []),
];
