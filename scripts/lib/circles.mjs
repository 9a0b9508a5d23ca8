// Finds circular imports: between files and folders of js/, and between the modules of a crate.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, posix, relative } from "node:path";

/**
 * Returns a line of text for each group of files, folders or modules in a checkout that import one
 * another.
 */
export function importCircles(root) {
  const files = typescriptGraph(root);
  const folders = groupedGraph(files, (file) => file.split("/").slice(0, 2).join("/"));
  const modules = groupedGraph(rustGraph(root), (file) => file.replace(/\/src\/([^/.]+).*$/, "/src/$1"));
  // lib.rs declares every module and re-exports items of them, which does not count as a circular
  // import.
  for (const targets of modules.values())
    for (const name of targets) if (name.endsWith("/src/lib")) targets.delete(name);
  return [
    ...stronglyConnectedComponents(files),
    ...stronglyConnectedComponents(folders),
    ...stronglyConnectedComponents(modules),
  ].map((circle) => `${circle.join(", ")} import one another`);
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

/** Returns TypeScript source without block comments and without lines that are only a comment. */
export function withoutComments(text) {
  return text.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "");
}

/**
 * Returns for each file of js/ the files that it imports, types included. `import()` is left out,
 * because it runs after the modules are loaded.
 */
function typescriptGraph(root) {
  return new Map(
    [...filesBelow(root, "js", ".ts"), ...filesBelow(root, "js", ".tsx")].map((file) => {
      const text = withoutComments(readFileSync(join(root, file), "utf8"));
      const imported = text.matchAll(/(?:^|\n)\s*(?:import|export)\s[^;'"]*?from\s+["'](\.[^"']+)["']/g);
      return [file, new Set(Array.from(imported, ([, path]) => posix.join(posix.dirname(file), path)))];
    }),
  );
}

/** Returns for each Rust file the files of its crate that it refers to. Tests are left out. */
function rustGraph(root) {
  const graph = new Map();
  const crates = existsSync(join(root, "crates")) ? readdirSync(join(root, "crates")) : [];
  for (const crate of crates) {
    const source = `crates/${crate}/src`;
    const files = filesBelow(root, source, ".rs").filter((file) => !/tests?\.rs$/.test(file));
    const byModule = new Map(files.map((file) => [modulePathOf(source, file).join("::"), file]));
    for (const file of files)
      graph.set(file, referredFiles(root, file, modulePathOf(source, file), byModule));
  }
  return graph;
}

/** Returns the module path of a Rust file as a list of names; empty for lib.rs. */
function modulePathOf(source, file) {
  const segments = relative(source, file).replaceAll("\\", "/").slice(0, -".rs".length).split("/");
  if (segments.at(-1) === "mod" || (segments.length === 1 && segments[0] === "lib")) segments.pop();
  return segments;
}

/** Returns the files of its crate that a Rust file refers to. */
function referredFiles(root, file, own, byModule) {
  const text = readFileSync(join(root, file), "utf8")
    .replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "")
    .replace(/#\[cfg\(test\)\]\s*mod\s+\w+\s*\{[\s\S]*$/, "");
  const uses = Array.from(text.matchAll(/(?:^|\n)\s*(?:pub(?:\([^)]*\))?\s+)?use\s+([^;]+);/g), ([, tree]) =>
    pathsOfUse(tree),
  ).flat();
  const inline = Array.from(text.matchAll(/\b((?:crate|super)(?:::[a-z_0-9]+)+)/g), ([, path]) => path);
  const found = new Set();
  for (const path of [...uses, ...inline]) {
    const full = segmentsFromCrate(path.split("::"), own, byModule);
    if (full === undefined) continue;
    // The last segments are items, `self` or `*`; the module is the part before them.
    while (full.length > 0 && !byModule.has(full.join("::"))) full.pop();
    const target = byModule.get(full.join("::"));
    if (target !== undefined && target !== file) found.add(target);
  }
  return found;
}

/**
 * Returns the segments of a `use` path relative to the root of the crate; undefined for a path into
 * another crate.
 */
function segmentsFromCrate(path, own, byModule) {
  const segments = path.map((segment) => segment.trim());
  const [first, ...rest] = segments;
  if (first === "crate") return rest;
  if (first === "self") return [...own, ...rest];
  if (first === "super") {
    const levels = segments.filter((segment) => segment === "super").length;
    return [...own.slice(0, own.length - levels), ...segments.slice(levels)];
  }
  const isChild = byModule.has([...own, first].join("::"));
  return isChild ? [...own, ...segments] : undefined;
}

/** Returns the paths of a `use` tree: for `a::{b, c::d}`, `a::b` and `a::c::d`. */
function pathsOfUse(tree) {
  const text = tree.replaceAll(/\s+/g, " ").trim();
  const open = text.indexOf("{");
  if (open < 0) return [text.replace(/ as .*/, "")];
  const parts = [""];
  let depth = 0;
  for (const character of text.slice(open + 1, text.lastIndexOf("}"))) {
    if (character === "{") depth += 1;
    if (character === "}") depth -= 1;
    if (character === "," && depth === 0) parts.push("");
    else parts[parts.length - 1] += character;
  }
  return parts
    .map((part) => part.trim())
    .filter(Boolean)
    .flatMap((part) => pathsOfUse(text.slice(0, open) + part));
}
