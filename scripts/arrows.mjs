// Checks the directions of imports: between the rooms of js/, of *.node.ts files, of the packages beside
// the main one, between crates, and that no files, folders or modules import one another, types included.
//
//   node scripts/arrows.mjs           checks this checkout
//   node scripts/arrows.mjs --write   writes the rules of the rooms to biome.json, with which an editor
//                                     shows a violation while one types
//
// A room is a folder of js/. The table `ROOMS` is the one place that says which room may import which;
// biome.json has a copy, which has to be fresh. What biome cannot express is checked here alone: imports
// in the form `import("…").Type` and imports of entries and of *.node.ts files.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { isDeepStrictEqual } from "node:util";
import { filesBelow, importCircles, withoutComments } from "./lib/circles.mjs";
import { npmProgram, runAndWait } from "./lib/run.mjs";

/**
 * The rooms, each with those that it may import. A room stands below all that may import it, and may
 * itself import only rooms above it in the table.
 * @typedef {Readonly<Record<string, readonly string[]>>} Rooms
 * @type {Rooms}
 */
const ROOMS = {
  wasm: [],
  engine: ["wasm"],
  schema: ["engine"],
  diff: ["engine"],
  http: ["schema"],
  rpc: ["schema"],
  backends: ["engine", "schema"],
  readers: ["backends", "engine", "schema"],
  records: ["backends", "engine", "schema"],
  storage: ["backends", "engine", "records", "schema"],
  files: ["backends", "engine", "records", "schema", "storage"],
  testing: ["backends", "engine", "records", "schema", "storage"],
  log: ["backends", "engine", "records", "schema", "storage"],
  policy: ["backends", "engine", "records", "schema"],
  tools: ["backends", "engine", "policy", "readers", "schema"],
  presets: ["backends", "engine", "schema", "tools"],
  hooks: ["backends", "diff", "engine", "http", "policy", "records", "schema", "storage", "tools"],
  pipeline: [
    ...["backends", "engine", "hooks", "log", "policy", "presets", "records", "schema"],
    ...["storage", "tools"],
  ],
  call: ["backends", "engine", "hooks", "log", "pipeline", "policy", "presets", "schema", "storage", "tools"],
  workspace: [
    ...[
      "backends",
      "call",
      "engine",
      "hooks",
      "log",
      "pipeline",
      "policy",
      "presets",
      "readers",
      "records",
      "schema",
    ],
    ...["storage", "tools"],
  ],
  adapters: ["backends", "engine", "hooks", "policy", "presets", "rpc", "schema", "tools", "workspace"],
  review: ["backends", "engine", "hooks", "http", "pipeline", "policy", "schema", "tools", "workspace"],
  mcp: [
    ...["adapters", "backends", "engine", "hooks", "http", "pipeline", "policy", "presets", "review"],
    ...["rpc", "schema", "storage", "tools", "workspace"],
  ],
  cli: [
    ...["backends", "diff", "engine", "hooks", "mcp", "pipeline", "policy", "presets", "review", "schema"],
    ...["tools", "workspace"],
  ],
};

/**
 * The packages beside the main one, by their sources, each with what it may import besides its own files: the entries of
 * the main package that are its contract, and the packages that it needs. Nothing in js/ imports them.
 */
const PACKAGES = {
  "packages/storage/src": ["filewright/files", "filewright/testing", "aws4fetch"],
};

/** The rooms that only run on Node: they may import `node:` modules, *.node.ts files and entries. */
const NODE_ROOMS = ["cli", "mcp"];

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
  core: { ours: ["matcher"], never: [...BINDING_CRATES, ...SYSTEM_CRATES] },
  fs: { ours: ["core"], never: [...BINDING_CRATES, "tokio"] },
  index: { ours: ["core", "fs"], never: [...BINDING_CRATES, "tokio"] },
  node: { ours: ["core", "fs", "index", "sandbox"], never: ["wasm-bindgen", "js-sys", "web-sys", "tokio"] },
  wasm: { ours: ["core"], never: ["napi", ...SYSTEM_CRATES] },
  sandbox: { ours: ["core", "fs"], never: BINDING_CRATES },
  matcher: { ours: [], never: [...BINDING_CRATES, ...SYSTEM_CRATES] },
};

/** Returns why an import of `specifier` in a file is not allowed; undefined if it is. */
function importFault(js, file, specifier) {
  const from = relative(js, file).split(sep);
  const to = relative(js, join(dirname(file), specifier)).split(sep);
  const [room, target] = [from, to].map((parts) => (parts.length > 1 ? parts[0] : undefined));
  const isOfNode = NODE_ROOMS.includes(room);
  if (specifier.endsWith(".node.ts") && !file.endsWith(".node.ts") && !isOfNode)
    return "only *.node.ts files, cli and mcp import a *.node.ts file";
  if (room === undefined || room === target) return undefined;
  if (target === undefined) return isOfNode ? undefined : "no room imports an entry";
  if (target === "..") return "js/ imports no file outside of it";
  const unknown = [room, target].find((name) => !Object.hasOwn(ROOMS, name));
  if (unknown !== undefined) return `the room ${unknown} has no place in scripts/arrows.mjs`;
  return ROOMS[room].includes(target) ? undefined : `${room} may not import ${target}`;
}

/** Returns the paths of the TypeScript modules in a folder of a checkout. */
const modulesOf = (root, folder) =>
  [".ts", ".tsx"].flatMap((ending) => filesBelow(root, folder, ending)).map((path) => join(root, path));

/** Returns what a TypeScript module imports. */
const importsOf = (file) =>
  Array.from(
    withoutComments(readFileSync(file, "utf8")).matchAll(
      /(?:\bfrom\s*|\bimport\s*\(?\s*)["']([^"'\s]+)["']/g,
    ),
    ([, specifier]) => specifier,
  );

/** Calls a function with each relative import of the main package's TypeScript modules in a checkout. */
function forEachImport(root, visit) {
  for (const file of modulesOf(root, "js"))
    for (const specifier of importsOf(file)) if (specifier.startsWith(".")) visit(file, specifier);
}

/** Returns a line of text for each import of a package beside the main one that is not allowed. */
function packageFaults(root) {
  return Object.entries(PACKAGES).flatMap(([folder, allowed]) =>
    modulesOf(root, folder).flatMap((file) =>
      importsOf(file)
        .filter((specifier) =>
          specifier.startsWith(".")
            ? relative(join(root, folder), join(dirname(file), specifier)).startsWith("..")
            : !allowed.includes(specifier),
        )
        .map(
          (specifier) =>
            `${relative(root, file)} imports ${specifier}: ${folder} imports only its own files, ${allowed.join(", ")}`,
        ),
    ),
  );
}

/** Returns the folders of js/ in a checkout. */
const roomsOf = (root) =>
  readdirSync(join(root, "js"), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);

/**
 * Returns a line of text for each room without a row in the table, and for each row of the table that
 * names a room that does not exist, one below it, or one that it does not import.
 * @param {Rooms} table
 */
export function roomFaults(root, table = ROOMS) {
  const names = Object.keys(table);
  const existing = roomsOf(root);
  const used = new Set();
  forEachImport(root, (file, specifier) => {
    const [from, to] = [file, join(dirname(file), specifier)].map((path) => relative(join(root, "js"), path));
    used.add(`${from.split(sep)[0]} ${to.split(sep)[0]}`);
  });
  const rows = names.flatMap((room, index) =>
    table[room].flatMap((target) => {
      if (!names.slice(0, index).includes(target))
        return [`the row of ${room} names ${target}, which does not stand above it`];
      return used.has(`${room} ${target}`)
        ? []
        : [`the row of ${room} names ${target}, which it does not import`];
    }),
  );
  return [
    ...existing.filter((room) => !names.includes(room)).map((room) => `the room ${room} has no row`),
    ...names.filter((room) => !existing.includes(room)).map((room) => `there is no room ${room}`),
    ...rows,
  ].map((fault) => `scripts/arrows.mjs: ${fault}`);
}

/** Returns the names of the folders at any depth in a room. */
const foldersIn = (root, room) =>
  readdirSync(join(root, "js", room), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);

/**
 * Returns the overrides of biome.json that forbid imports between rooms. A pattern of biome cannot tell a
 * room from a folder of the same name inside the importing one, so that such rooms are left out there.
 */
function roomOverrides(root) {
  const names = Object.keys(ROOMS);
  return names.map((room) => {
    const own = [room, ...foldersIn(root, room)];
    const forbidden = names.filter((name) => !own.includes(name) && !ROOMS[room].includes(name));
    const allowed = ROOMS[room].length === 0 ? "no other room" : `only ${ROOMS[room].join(", ")}`;
    const pattern = {
      group: [`**/../{${forbidden.join(",")}}/**`],
      message: `${room} imports ${allowed} (scripts/arrows.mjs).`,
    };
    const rule = { level: "error", options: { patterns: [pattern] } };
    return { includes: [`js/${room}/**`], linter: { rules: { style: { noRestrictedImports: rule } } } };
  });
}

/** Returns the overrides of a configuration that are not about imports between rooms. */
const otherOverrides = ({ overrides }) =>
  overrides.filter(({ linter }) => linter?.rules?.style?.noRestrictedImports === undefined);

/** Returns whether a configuration of biome has the rules of the rooms of a checkout as in the table. */
export const hasFreshRooms = (root, configuration) =>
  isDeepStrictEqual(configuration.overrides, [...otherOverrides(configuration), ...roomOverrides(root)]);

/** Writes the rules of the rooms to biome.json of a checkout. */
function writeRooms(root) {
  const file = join(root, "biome.json");
  const configuration = JSON.parse(readFileSync(file, "utf8"));
  configuration.overrides = [...otherOverrides(configuration), ...roomOverrides(root)];
  // Biome breaks the lines that are too long.
  writeFileSync(file, JSON.stringify(configuration));
  runAndWait(npmProgram("biome"), ["format", "--write", file]);
}

/** Returns a line of text for each dependency of a crate in a checkout that is not allowed. */
function crateFaults(root) {
  const found = [];
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

/** Returns a line of text for each import or dependency in a checkout that is not allowed. */
export function findForbiddenDependencies(root) {
  const found = [];
  forEachImport(root, (file, specifier) => {
    const why = importFault(join(root, "js"), file, specifier);
    if (why) found.push(`${relative(root, file)} imports ${specifier}: ${why}`);
  });
  return [...found, ...packageFaults(root), ...crateFaults(root)];
}

/** Returns a line of text if biome.json of a checkout has other rules of the rooms than the table. */
function staleRooms(root) {
  const configuration = JSON.parse(readFileSync(join(root, "biome.json"), "utf8"));
  return hasFreshRooms(root, configuration)
    ? []
    : ["biome.json is stale; run: node scripts/arrows.mjs --write"];
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const root = fileURLToPath(new URL("..", import.meta.url));
  if (process.argv.includes("--write")) writeRooms(root);
  const found = [
    ...findForbiddenDependencies(root),
    ...roomFaults(root),
    ...staleRooms(root),
    ...importCircles(root),
  ];
  for (const line of found) console.error(`arrow: ${line}`);
  process.exitCode = found.length === 0 ? 0 : 1;
}
