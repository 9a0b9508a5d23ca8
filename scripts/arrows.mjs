// Checks the directions of imports that biome.json cannot express.
//
// biome.json forbids that a folder of js/ imports one to the left of it in ARCHITECTURE.md, and
// that files other than *.node.ts import `node:` modules. This script checks which files import a
// *.node.ts file, imports in the form `import("…").Type`, the dependencies of the crates, and
// circular imports of files, folders and modules, types included.
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { filesBelow, importCircles, withoutComments } from "./lib/circles.mjs";

/** The folders of js/. A folder may import those of the same line and of the lines above it. */
const FOLDER_LEVELS = [
  ["engine"],
  ["diff", "http", "readers", "backends", "journal", "rpc", "schema", "storage", "wasm"],
  ["hooks", "policy", "presets", "sandbox", "testing", "tools"],
  ["pipeline"],
  ["workspace"],
  ["adapters", "review"],
  ["cli", "mcp", "web"],
];

/**
 * The external crates that only the bindings, and only the crates with access to the system, may
 * depend on. A name stands for all crates whose names begin with it.
 */
const BINDING_CRATES = ["napi", "wasm-bindgen", "js-sys", "web-sys"];
const SYSTEM_CRATES = ["rustix", "libc", "nix", "tokio", "rayon", "walkdir"];
/**
 * For each of our crates, which of our own it may depend on (`ours`), and which external ones it
 * must not (`never`).
 */
const RULES_BY_CRATE = {
  core: { ours: [], never: [...BINDING_CRATES, ...SYSTEM_CRATES] },
  fs: { ours: ["core"], never: [...BINDING_CRATES, "tokio"] },
  index: { ours: ["core", "fs"], never: [...BINDING_CRATES, "tokio"] },
  node: { ours: ["core", "fs", "index", "sandbox"], never: ["wasm-bindgen", "js-sys", "web-sys", "tokio"] },
  wasm: { ours: ["core"], never: ["napi", ...SYSTEM_CRATES] },
  sandbox: { ours: ["core", "fs"], never: BINDING_CRATES },
};

/** Returns the index of the line in `FOLDER_LEVELS` that contains a folder; -1 for an unknown one. */
const levelOfFolder = (room) => FOLDER_LEVELS.findIndex((rooms) => rooms.includes(room));

/** Returns why an import of `specifier` in a file is not allowed; undefined if it is. */
function importFault(js, file, specifier) {
  const from = relative(js, file).split(sep);
  const to = relative(js, join(dirname(file), specifier)).split(sep);
  const [room, target] = [from.length > 1 ? from[0] : undefined, to.length > 1 ? to[0] : undefined];
  const onNode = file.endsWith(".node.ts") || ["cli", "mcp"].includes(room ?? "");
  if (specifier.endsWith(".node.ts") && !onNode)
    return "only *.node.ts files, cli and mcp import a *.node.ts file";
  if (room === undefined || room === target) return undefined;
  if (target === undefined)
    return levelOfFolder(room) < levelOfFolder("cli") ? "no room imports an entry" : undefined;
  if (levelOfFolder(room) < 0 || levelOfFolder(target) < 0)
    return `the room ${levelOfFolder(room) < 0 ? room : target} has no place in scripts/arrows.mjs`;
  return levelOfFolder(target) > levelOfFolder(room) ? `${room} stands below ${target}` : undefined;
}

/** Returns the paths of the TypeScript modules of a checkout. */
const modulesOf = (root) =>
  [".ts", ".tsx"].flatMap((ending) => filesBelow(root, "js", ending)).map((path) => join(root, path));

/** Returns a line of text for each import or dependency in a checkout that is not allowed. */
export function findForbiddenDependencies(root) {
  const found = [];
  const js = join(root, "js");
  for (const file of modulesOf(root)) {
    const text = withoutComments(readFileSync(file, "utf8"));
    for (const [, specifier] of text.matchAll(/(?:\bfrom\s*|\bimport\s*\(?\s*)["'](\.[^"']*\.tsx?)["']/g)) {
      const why = importFault(js, file, specifier);
      if (why) found.push(`${relative(root, file)} imports ${specifier}: ${why}`);
    }
  }
  for (const [crate, { ours, never }] of Object.entries(RULES_BY_CRATE)) {
    const manifest = join(root, "crates", crate, "Cargo.toml");
    if (!existsSync(manifest)) continue;
    const sections = readFileSync(manifest, "utf8").split(/^(?=\[)/m);
    // Dependencies of tests may be any.
    const used = sections.filter((section) => /^\[(target\..*\.)?dependencies/.test(section)).join("\n");
    for (const [, name] of used.matchAll(
      /^(?:\[.*dependencies\.)?([a-z0-9_-]+)(?:\.workspace)?\s*(?:=|\])/gm,
    )) {
      const own = /^filewright-(.*)$/.exec(name)?.[1];
      if (own !== undefined && !ours.includes(own)) found.push(`crates/${crate} depends on crates/${own}`);
      if (never.some((family) => name === family || name.startsWith(`${family}-`))) {
        found.push(`crates/${crate} depends on ${name}`);
      }
    }
  }
  return found;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const root = fileURLToPath(new URL("..", import.meta.url));
  const found = [...findForbiddenDependencies(root), ...importCircles(root)];
  for (const line of found) console.error(`arrow: ${line}`);
  process.exitCode = found.length === 0 ? 0 : 1;
}
