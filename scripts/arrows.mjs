// The arrows between rooms that biome.json cannot express.
//
// biome.json holds "no room imports a higher one" and "no node: module outside
// *.node.ts". Here: who may import a *.node.ts file, arrows hidden in
// `import("…").Type`, the arrows between the crates, and circles of files, folders and
// modules, types included.
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { filesBelow, importCircles, withoutComments } from "./lib/circles.mjs";

/** TypeScript rooms from the lowest up; rooms on one line may know each other. */
const levels = [
  ["engine"],
  ["diff", "http", "readers", "backends", "journal", "rpc", "schema", "wasm"],
  ["hooks", "policy", "presets", "testing", "tools"],
  ["pipeline"],
  ["workspace"],
  ["adapters"],
  ["cli", "mcp", "web"],
];

/** What each crate may depend on among our own, and which foreign families it must not know. */
const bindings = ["napi", "wasm-bindgen", "js-sys", "web-sys"];
const system = ["rustix", "libc", "nix", "tokio", "rayon", "walkdir"];
const crates = {
  core: { ours: [], never: [...bindings, ...system] },
  fs: { ours: ["core"], never: [...bindings, "tokio"] },
  index: { ours: ["core", "fs"], never: [...bindings, "tokio"] },
  node: { ours: ["core", "fs", "index", "sandbox"], never: ["wasm-bindgen", "js-sys", "web-sys", "tokio"] },
  wasm: { ours: ["core"], never: ["napi", ...system] },
  sandbox: { ours: ["core", "fs"], never: bindings },
};

const level = (room) => levels.findIndex((rooms) => rooms.includes(room));

function broken(js, file, specifier) {
  const from = relative(js, file).split(sep);
  const to = relative(js, join(dirname(file), specifier)).split(sep);
  const [room, target] = [from.length > 1 ? from[0] : undefined, to.length > 1 ? to[0] : undefined];
  const onNode = file.endsWith(".node.ts") || ["cli", "mcp"].includes(room ?? "");
  if (specifier.endsWith(".node.ts") && !onNode)
    return "only *.node.ts files, cli and mcp import a *.node.ts file";
  if (room === undefined || room === target) return undefined;
  if (target === undefined) return level(room) < level("cli") ? "no room imports an entry" : undefined;
  if (level(room) < 0 || level(target) < 0)
    return `the room ${level(room) < 0 ? room : target} has no place in scripts/arrows.mjs`;
  return level(target) > level(room) ? `${room} stands below ${target}` : undefined;
}

/** Every broken arrow under a checkout, as lines of text. */
export function brokenArrows(root) {
  const found = [];
  const js = join(root, "js");
  for (const file of filesBelow(root, "js", ".ts").map((path) => join(root, path))) {
    const text = withoutComments(readFileSync(file, "utf8"));
    for (const [, specifier] of text.matchAll(/(?:\bfrom\s*|\bimport\s*\(?\s*)["'](\.[^"']*\.ts)["']/g)) {
      const why = broken(js, file, specifier);
      if (why) found.push(`${relative(root, file)} imports ${specifier}: ${why}`);
    }
  }
  for (const [crate, { ours, never }] of Object.entries(crates)) {
    const manifest = join(root, "crates", crate, "Cargo.toml");
    if (!existsSync(manifest)) continue;
    const sections = readFileSync(manifest, "utf8").split(/^(?=\[)/m);
    // Tests may use what the library must not.
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
  const found = [...brokenArrows(root), ...importCircles(root)];
  for (const line of found) console.error(`arrow: ${line}`);
  process.exitCode = found.length === 0 ? 0 : 1;
}
