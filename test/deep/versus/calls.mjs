// Calls of the tools of every preset, made from the schemas of the tools: a tool or parameter that is added is called
// without a change here. The names of parameters say what a value is about.
import { makeText } from "./trees.mjs";

const REGEXES = [
  "alpha",
  "^\\w+$",
  "const|let",
  "ret(?:urn|ries)",
  "\\bend\\b",
  "größe",
  "(",
  "a.*b",
  "^$",
  "TODO",
  "x{3,}",
];
const GLOBS = [
  "*.txt",
  "**/*.ts",
  "src/**",
  "*",
  "**",
  "*.{js,ts}",
  "[ab].txt",
  "lib/*.js",
  ".*",
  "**/deep/*",
  "!a.txt",
  "A*",
  "{",
];
const ENCODINGS = ["auto", "keep", "utf-8", "utf-16le", "latin1", "windows-1252", "nonsense"];
const POINTERS = ["/name", "/list/1", "", "/nowhere", "name"];

/** Parameters that are never given, because what they do depends on the clock. */
const LEFT_OUT = /^(?:timeout_ms|recency_ms|modified_by_user|cursor)$/u;

/** The subject of a parameter of type string, by its name: the first that fits. */
const TEXTS = [
  [/^(?:destination|destination_path|new_path)$/u, ({ paths }) => paths.fresh()],
  [/^(?:dir_path|directory)$/u, ({ paths }) => paths.directory()],
  [/^(?:source|source_path|old_path)$/u, ({ paths }) => paths.any()],
  [/(?:^|_)path$|^file_[ab]$|^[ab]$/u, pathFor],
  [/^old_|^oldText$/u, oldText],
  [/^(?:from|to)$/u, ({ random, path }) => ({ $: "anchor", path, at: random.next() })],
  [/^new_|^newText$|^content_b$|^insert_text$|^insert_content$/u, newText],
  [/^(?:content|file_text)$/u, ({ random }) => makeText(random)],
  [/^(?:patch|input)$/u, patch],
  [
    /^expected_hash$/u,
    ({ path, random }) => (random.chance(0.8) ? { $: "hash", path } : `sha256:${"0".repeat(64)}`),
  ],
  [/pattern$|^query$|^glob$|^include$/u, pattern],
  [/^encoding$/u, ({ random }) => random.pick(ENCODINGS)],
  [/^json_pointer$/u, ({ random }) => random.pick(POINTERS)],
  [/^mode$/u, ({ random }) => random.pick(["644", "0755", "600", "8", "4755"])],
  [/^pages$/u, ({ random }) => random.pick(["1", "1-2", "0"])],
  [/^type$/u, ({ random }) => random.pick(["ts", "js", "md", "nonsense"])],
  [/^separator$/u, ({ random }) => random.pick(["--- {path}", "==", ""])],
  [/^instruction$/u, () => "change it"],
  [/^tool$/u, ({ random }) => random.pick(["read_file", "write_file"])],
];

/** The parameters of a schema that belong together get values that fit: what is edited is in the file. */
function pathFor(context) {
  const { paths, tool } = context;
  if (/list|dir|tree|glob|grep|search|find/iu.test(tool)) return paths.directory();
  if (/mkdir|create_directory/u.test(tool)) return paths.fresh();
  if (/delete|stat|info/u.test(tool)) return paths.any();
  if (/^(?:write|Write|fs_write)/u.test(tool))
    return context.random.chance(0.5) ? paths.fresh() : paths.text();
  if (tool === "memory") return `/memories/${context.random.pick(["note.md", "new.md", "", "../a.txt"])}`;
  return context.random.chance(0.85) ? paths.text() : paths.file();
}

function oldText({ random, path }) {
  if (random.chance(0.1)) return random.pick(["alpha", "nowhere in it", "end", "", "}"]);
  return { $: "lines", path, at: random.next(), count: 1 + random.below(3) };
}

function newText({ random, path }) {
  if (random.chance(0.1)) return { $: "lines", path, at: random.next(), count: 1 };
  return random.pick([
    "",
    "changed\n",
    "changed",
    `new ${random.below(100)}\nalpha`,
    "größer",
    makeText(random, { lines: 3 }),
  ]);
}

function pattern({ random, tool }) {
  const isRegex = /grep|search_file_content|Grep/iu.test(tool) && random.chance(0.9);
  return random.pick(isRegex || tool === "search_files" ? REGEXES : [...GLOBS, "ats", "utl"]);
}

function patch({ random, paths }) {
  const op = () => random.pick(["update", "update", "update", "add", "delete", "move"]);
  const files = Array.from({ length: 1 + random.below(3) }, () => ({
    op: op(),
    path: random.chance(0.9) ? paths.real() : paths.fresh(),
    to: random.pick(["moved.txt", "src/moved.ts", "new/deep/m.txt"]),
    at: random.next(),
    text: random.pick(["changed", `new ${random.below(100)}`, "alpha"]),
  }));
  for (const file of files) if (file.op === "add") file.path = paths.fresh();
  if (random.chance(0.04)) return "no patch at all";
  return { $: "patch", style: random.pick(["begin", "unified", "git"]), files };
}

function makeInteger({ random, schema }) {
  const { minimum = -3, maximum = 1e6 } = schema;
  const value = random.pick([1, 1, 2, 2, 3, 5, 8, 20, 100, minimum, minimum - 1]);
  return random.chance(0.97) ? Math.min(Math.max(value, minimum), maximum) : value;
}

function makeString(context) {
  const { name, random } = context;
  const [, make] = TEXTS.find(([form]) => form.test(name)) ?? [
    undefined,
    () => random.pick(["alpha", "", "x"]),
  ];
  return make(context);
}

function makeArray(context) {
  const { name, random, paths, schema } = context;
  const count = (schema.minItems ?? 0) + random.below(3);
  const items = (make) => Array.from({ length: Math.min(count, schema.maxItems ?? count) }, make);
  if (name === "view_range") return [1 + random.below(4), random.pick([-1, 3, 9])];
  if (name === "paths") return items(() => (random.chance(0.3) ? random.pick(GLOBS) : paths.any()));
  if (name === "include") return items(() => (random.chance(0.5) ? random.pick(GLOBS) : paths.any()));
  if (name === "file_types") return items(() => random.pick(["ts", "js", "md", "txt"]));
  if (/^(?:exclude|ignore|excludePatterns|exclude_patterns|glob|pattern)$/u.test(name))
    return items(() => random.pick(GLOBS));
  return items(() => makeValue({ ...context, schema: schema.items, name: "item" }));
}

/** Makes a value of a schema. */
function makeValue(context) {
  const { schema, random } = context;
  if (schema.enum !== undefined) return random.pick(schema.enum);
  const type = Array.isArray(schema.type) ? random.pick(schema.type) : schema.type;
  const makers = {
    string: () => makeString(context),
    integer: () => makeInteger(context),
    number: () => (schema.maximum === 1 ? random.next() : makeInteger(context)),
    boolean: () => random.chance(0.5),
    null: () => null,
    array: () => makeArray(context),
    object: () => makeObject(context),
  };
  return makers[type]?.();
}

/** One edit of a list: its parameters exclude each other. */
function makeEdit(context) {
  const { random, schema } = context;
  const names = random.pick(GROUPS.edit_file.filter(([first]) => first !== "edits"));
  return Object.fromEntries(
    names.map((name) => [name, makeValue({ ...context, schema: schema.properties[name], name })]),
  );
}

/** The share of calls that give an optional parameter. */
const optionalChance = (name) => (/^(?:overwrite|recursive|create_dirs|parents)$/u.test(name) ? 0.45 : 0.1);

function makeObject(context) {
  const { schema, random } = context;
  const required = new Set(schema.required ?? []);
  const args = {};
  let { path } = context;
  if (/^(?:edits|item)$/u.test(context.name) && schema.properties.from !== undefined)
    return makeEdit(context);
  for (const [name, member] of Object.entries(schema.properties ?? {})) {
    if (LEFT_OUT.test(name)) continue;
    if (!required.has(name) && !random.chance(optionalChance(name))) continue;
    args[name] = makeValue({ ...context, schema: member, name, path });
    if (typeof args[name] === "string" && path === undefined && /path$|^[ab]$|^file_a$/u.test(name))
      path = args[name];
  }
  return args;
}

/** The parameters of which one group is needed though the schema requires neither. */
const GROUPS = {
  edit_file: [
    ["old_text", "new_text"],
    ["old_text", "new_text"],
    ["old_text", "new_text", "replace_all"],
    ["old_text", "new_text", "near_line"],
    ["edits"],
    ["edits"],
    ["from", "to", "new_text"],
    ["from", "insert", "new_text"],
  ],
  diff: [["b"], ["content_b"]],
  str_replace_based_edit_tool: {
    view: ["path"],
    create: ["path", "file_text"],
    str_replace: ["path", "old_str", "new_str"],
    insert: ["path", "insert_line", "insert_text"],
  },
  memory: {
    view: ["path"],
    create: ["path", "file_text"],
    str_replace: ["path", "old_str", "new_str"],
    insert: ["path", "insert_line", "insert_text"],
    delete: ["path"],
    rename: ["old_path", "new_path"],
  },
};

/** Adds the parameters without which the call of a tool makes no sense. */
function completeGroup(args, { random, schema, ...context }) {
  const groups = GROUPS[context.tool];
  if (groups === undefined) return;
  const wanted = Array.isArray(groups) ? random.pick(groups) : (groups[args.command] ?? []);
  const others = Array.isArray(groups)
    ? groups.flat().filter((name) => !wanted.includes(name))
    : Object.keys(schema.properties).filter(
        (name) => name !== "command" && name !== "view_range" && !wanted.includes(name),
      );
  for (const name of others) if (!random.chance(0.03)) delete args[name];
  for (const name of wanted) {
    const member = schema.properties[name];
    if (member === undefined || args[name] !== undefined) continue;
    args[name] = makeValue({ ...context, random, schema: member, name, path: args.path ?? args.a });
  }
}

/** Spoils the arguments of a call in one way. */
function spoil(args, random) {
  const names = Object.keys(args);
  const name = random.pick(names.length > 0 ? names : ["path"]);
  random.pick([
    () => delete args[name],
    () => Object.assign(args, { [name]: 7 }),
    () => Object.assign(args, { [name]: null }),
    () => Object.assign(args, { [name]: ["a.txt"] }),
    () => Object.assign(args, { unknown_one: true }),
    () => Object.assign(args, { [`${name}s`]: args[name] }),
  ])();
}

/** Operations of a batch: canonical calls, some of which depend on those before. */
function operations(context) {
  const inner = context.tools.filter(({ name }) => name !== "batch");
  return Array.from({ length: 1 + context.random.below(4) }, () => {
    const tool = pickTool(context.random, inner);
    return { tool: tool.name, args: argumentsOf(tool, context) };
  });
}

/** Makes the arguments of a call of a tool. */
export function argumentsOf(tool, { random, paths, tools }) {
  const context = { random, paths, tools, tool: tool.name, schema: tool.inputSchema };
  const args = makeObject(context);
  completeGroup(args, context);
  if (tool.name === "batch") args.operations = operations(context);
  if (random.chance(0.03)) spoil(args, random);
  return args;
}

/** Tools that change files are called more often than those that read. */
export function pickTool(random, tools) {
  const changing = tools.filter(({ kind }) => kind !== "read");
  return random.pick(changing.length > 0 && random.chance(0.62) ? changing : tools);
}
