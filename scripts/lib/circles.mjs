// Finds circular imports: between files and folders of js/ and of the packages beside it, and between the files and the modules of
// a crate.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, posix, relative } from "node:path";
import { ancestorFiles, modulesOfCrate, referredFiles } from "./rust-modules.mjs";

/**
 * Returns a line of text for each group of files, folders or modules in a checkout that import one another.
 */
export function importCircles(root) {
  const files = typescriptGraph(root);
  const folders = groupedGraph(files, (file) =>
    file
      .replace(/^packages\/[^/]+\//u, "")
      .split("/")
      .slice(0, 2)
      .join("/"),
  );
  const rustFiles = rustGraph(root);
  const modules = groupedGraph(rustFiles, (file) => file.replace(/\/src\/([^/.]+).*$/, "/src/$1"));
  // lib.rs declares every module and re-exports items of them, which does not count as a circular
  // import.
  for (const targets of modules.values())
    for (const name of targets) if (name.endsWith("/src/lib")) targets.delete(name);
  return [files, folders, rustFiles, modules]
    .flatMap(stronglyConnectedComponents)
    .map((circle) => `${circle.join(", ")} import one another`);
}

/**
 * Returns the strongly connected components of more than one node (Tarjan 1972), sorted.
 * @param {Map<string, Iterable<string>>} graph each node with those that it names; others than
 *   nodes are passed over
 */
export function stronglyConnectedComponents(graph) {
  const index = new Map();
  const low = new Map();
  const stack = [];
  const found = [];
  const visit = (node) => {
    index.set(node, index.size);
    low.set(node, index.get(node));
    stack.push(node);
    for (const next of graph.get(node)) {
      if (!graph.has(next)) continue;
      if (!index.has(next)) {
        visit(next);
        low.set(node, Math.min(low.get(node), low.get(next)));
      } else if (stack.includes(next)) low.set(node, Math.min(low.get(node), index.get(next)));
    }
    if (low.get(node) !== index.get(node)) return;
    const component = stack.splice(stack.indexOf(node));
    if (component.length > 1) found.push(component.sort());
  };
  for (const node of graph.keys()) if (!index.has(node)) visit(node);
  return found.sort();
}

/**
 * Returns the graph of the groups that `groupOf` puts the nodes in, without edges from a group to
 * itself.
 */
function groupedGraph(graph, groupOf) {
  const groups = new Map();
  for (const [file, targets] of graph) {
    const own = groupOf(file);
    if (!groups.has(own)) groups.set(own, new Set());
    for (const target of targets) if (groupOf(target) !== own) groups.get(own).add(groupOf(target));
  }
  return groups;
}

/**
 * Returns the files below a folder, at any depth, whose names end in `ending`, as paths relative to
 * the root.
 */
export function filesBelow(root, folder, ending) {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(ending))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).replaceAll("\\", "/"));
}

/** The folders with the TypeScript of the packages. */
const SOURCE_FOLDERS = ["js", "packages/storage/src"];

/** Returns the paths of the TypeScript modules of all packages, relative to the root, by folder and ending. */
export function sourcesBelow(root) {
  return SOURCE_FOLDERS.flatMap((folder) =>
    [".ts", ".tsx"].flatMap((ending) => filesBelow(root, folder, ending)),
  );
}

/** Returns TypeScript source without block comments and without lines that are only a comment. */
export function withoutComments(text) {
  return text.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "");
}

/**
 * Returns for each file of the packages the files that it imports, types included. `import()` is left out,
 * because it runs after the modules are loaded.
 */
function typescriptGraph(root) {
  return new Map(
    sourcesBelow(root).map((file) => {
      const text = withoutComments(readFileSync(join(root, file), "utf8"));
      const imported = text.matchAll(/(?:^|\n)\s*(?:import|export)\s[^;'"]*?from\s+["'](\.[^"']+)["']/g);
      return [file, new Set(Array.from(imported, ([, path]) => posix.join(posix.dirname(file), path)))];
    }),
  );
}

/**
 * Returns for each Rust file the files of its crate that define what it refers to. Tests are left
 * out, and so are the files of the modules around it: that a module uses what its parent defines is
 * the usual form in Rust.
 */
function rustGraph(root) {
  const graph = new Map();
  const crates = existsSync(join(root, "crates")) ? readdirSync(join(root, "crates")) : [];
  const crateRoots = crates.map((crate) => `crates/${crate}/src/lib.rs`);
  for (const file of crateRoots.filter((path) => existsSync(join(root, path)))) {
    for (const module of modulesOfCrate(root, file)) {
      if (!graph.has(module.file)) graph.set(module.file, new Set());
      const around = ancestorFiles(module);
      for (const target of referredFiles(module)) if (!around.has(target)) graph.get(module.file).add(target);
    }
  }
  return graph;
}
