// Reads the modules of a Rust crate: which items each file defines, and which files it refers to.
//
// It resolves names as the compiler does, as far as circles of imports need that: through `use` and
// `pub use`, also with `as`, `{…}` and `*`, and in paths inside of code (`super::b::run()`). A name
// that a macro defines counts as defined by the file in which the look-up ends. Tests are left out.
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/**
 * `items` are the names that the module defines, `mentions` all words of its code outside of `use`,
 * and `paths` those of them that contain `::`.
 * @typedef {{ segments: string[], name: string, isGlob: boolean, isPublic: boolean }} Use
 * @typedef {{
 *   file: string, parent: Module | undefined, root: Module, children: Map<string, Module>,
 *   items: Set<string>, uses: Use[], mentions: Set<string>, paths: string[][],
 * }} Module
 */

const TOKEN = new RegExp(
  [
    /\/\/[^\n]*|\/\*[\s\S]*?\*\//, // a comment
    /[bc]?r(?<hashes>#*)"[\s\S]*?"\k<hashes>/, // a raw string
    /[bc]?"(?:\\[\s\S]|[^"\\])*"/, // a string
    /b?'(?:\\u\{[^}]*\}|\\[^u][^']*|[^\\'])'/, // a character
    /'[A-Za-z_]\w*/, // a lifetime
    /(?:r#)?[A-Za-z_]\w*|\d\w*/, // a word or a number
    /::|\S/,
  ]
    .map(({ source }) => source)
    .join("|"),
  "gu",
);
const WORD = /^(?:r#)?[A-Za-z_]\w*$/u;
const CLOSING = { "(": ")", "[": "]", "{": "}" };
const DEFINING_KEYWORDS = new Set(["fn", "struct", "enum", "union", "trait", "type", "const", "static"]);
/** The items that end with a semicolon, although they may contain braces. */
const ENDED_BY_SEMICOLON = new Set(["const", "static", "type", "use"]);

/** Returns the tokens of Rust source without comments. */
function tokensOf(text) {
  return (text.match(TOKEN) ?? []).filter((token) => !token.startsWith("//") && !token.startsWith("/*"));
}

/** Returns the index after the bracket that closes the one at `open`. */
function afterBrackets(tokens, open) {
  const closers = [];
  for (let at = open; at < tokens.length; at += 1) {
    if (CLOSING[tokens[at]] !== undefined) closers.push(CLOSING[tokens[at]]);
    else if (tokens[at] === closers.at(-1)) closers.pop();
    if (closers.length === 0) return at + 1;
  }
  return tokens.length;
}

/**
 * Reads the attributes before an item.
 * @returns {{ next: number, isTest: boolean, path: string | undefined }} `path` is that of `#[path]`
 */
function readAttributes(tokens, start) {
  let next = start;
  let isTest = false;
  let path;
  while (tokens[next] === "#") {
    const open = tokens[next + 1] === "!" ? next + 2 : next + 1;
    const end = afterBrackets(tokens, open);
    const text = tokens.slice(open, end).join("");
    isTest ||= /^\[(?:test\]|cfg\((?:all\()?test\b)/u.test(text);
    path ??= /^\[path="(.*)"\]$/u.exec(text)?.[1];
    next = end;
  }
  return { next, isTest, path };
}

/**
 * Reads the beginning of an item.
 * @returns {{ keyword: string, name: string | undefined, isPublic: boolean, at: number }} `at` is
 *   the index of the token after the keyword; for a macro call the keyword is its name
 */
function readHead(tokens, start) {
  let at = start;
  const isPublic = tokens[at] === "pub";
  if (isPublic) at = tokens[at + 1] === "(" ? afterBrackets(tokens, at + 1) : at + 1;
  while (["unsafe", "async", "extern", "default"].includes(tokens[at]) || tokens[at]?.startsWith('"'))
    at += 1;
  if (tokens[at] === "const" && ["fn", "unsafe", "async", "extern"].includes(tokens[at + 1]))
    return { ...readHead(tokens, at + 1), isPublic };
  const keyword = tokens[at];
  const name = keyword === "macro_rules" ? tokens[at + 2] : tokens[at + 1];
  const defines = DEFINING_KEYWORDS.has(keyword) || keyword === "macro_rules" || keyword === "mod";
  return { keyword, name: defines ? name : undefined, isPublic, at: at + 1 };
}

/** Returns the index after the item whose keyword is before `at`. */
function endOfItem(tokens, at, keyword) {
  let next = at;
  while (next < tokens.length && tokens[next] !== ";") {
    const isBraced = tokens[next] === "{";
    next = CLOSING[tokens[next]] === undefined ? next + 1 : afterBrackets(tokens, next);
    if (isBraced && !ENDED_BY_SEMICOLON.has(keyword)) return next;
  }
  return next + 1;
}

/** Returns the uses of the tree of a `use`, for `a::{b, c as d}` those of `a::b` and of `a::c`. */
function usesOfTree(tokens, isPublic, prefix = []) {
  const open = tokens.indexOf("{");
  if (open >= 0) {
    const own = [...prefix, ...tokens.slice(0, open).filter((token) => token !== "::")];
    return branchesOf(tokens.slice(open + 1, -1)).flatMap((branch) => usesOfTree(branch, isPublic, own));
  }
  const renamed = tokens.indexOf("as");
  const path = tokens.slice(0, renamed < 0 ? undefined : renamed).filter((token) => token !== "::");
  const isGlob = path.at(-1) === "*";
  const isSelf = path.at(-1) === "self" && prefix.length + path.length > 1;
  const segments = [...prefix, ...(isGlob || isSelf ? path.slice(0, -1) : path)];
  return [{ segments, name: renamed < 0 ? segments.at(-1) : tokens[renamed + 1], isGlob, isPublic }];
}

/** Returns the branches of a `use` tree, which commas outside of braces separate. */
function branchesOf(tokens) {
  const branches = [[]];
  for (let at = 0; at < tokens.length; ) {
    const next = tokens[at] === "{" ? afterBrackets(tokens, at) : at + 1;
    if (tokens[at] === ",") branches.push([]);
    else branches.at(-1).push(...tokens.slice(at, next));
    at = next;
  }
  return branches.filter((branch) => branch.length > 0);
}

/** Returns the index after the attributes at `start`, and after their item if it belongs to the tests. */
function afterAttributes(tokens, start) {
  const { next, isTest } = readAttributes(tokens, start);
  const { at, keyword } = readHead(tokens, next);
  return isTest ? endOfItem(tokens, at, keyword) : next;
}

/** Adds the word at `start`, or the path that begins with it, to a module. Returns the index after it. */
function readPath(tokens, start, module) {
  const path = [tokens[start]];
  let at = start;
  while (tokens[at + 1] === "::" && WORD.test(tokens[at + 2] ?? "")) {
    at += 2;
    path.push(tokens[at]);
  }
  if (path.length > 1) module.paths.push(path);
  module.mentions.add(path[0]);
  return at + 1;
}

/** Adds the words and paths of an item's code to its module, and the uses inside of it. */
function readCode(tokens, module) {
  for (let at = 0; at < tokens.length; ) {
    if (tokens[at] === "#") at = afterAttributes(tokens, at);
    else if (tokens[at] === "use") {
      const end = endOfItem(tokens, at, "use");
      module.uses.push(...usesOfTree(tokens.slice(at + 1, end - 1), false));
      at = end;
    } else if (WORD.test(tokens[at]) && tokens[at - 1] !== ".") at = readPath(tokens, at, module);
    else at += 1;
  }
}

/** Adds the items of a module to it, and its modules with theirs. */
function readItems(tokens, module, folder, readModule) {
  for (let start = 0; start < tokens.length; ) {
    const { next, isTest, path } = readAttributes(tokens, start);
    if (next >= tokens.length) return;
    const head = readHead(tokens, next);
    const end = endOfItem(tokens, head.at, head.keyword);
    const body = tokens.slice(head.at, end);
    if (!isTest && head.keyword === "mod")
      readModule(module, { name: head.name, folder, path, body: body.slice(1) });
    else if (!isTest) addItem(module, head, body, tokens.slice(next, end));
    start = end;
  }
}

/** Adds an item that is no module: what it defines or uses, and the words of its code. */
function addItem(module, { keyword, name, isPublic }, body, code) {
  if (keyword === "use") {
    module.uses.push(...usesOfTree(body.slice(0, -1), isPublic));
    return;
  }
  if (name !== undefined) module.items.add(name);
  if (body[0] === "!") for (const made of definedNames(body)) module.items.add(made);
  readCode(code, module);
}

/** Returns the names that follow a defining keyword in the arguments of a macro. */
function definedNames(tokens) {
  return tokens.filter((token, at) => WORD.test(token) && DEFINING_KEYWORDS.has(tokens[at - 1]));
}

/** @returns {Module} an empty module */
function newModule(file, parent) {
  const module = {
    file,
    parent,
    children: new Map(),
    items: new Set(),
    uses: [],
    mentions: new Set(),
    paths: [],
  };
  return Object.assign(module, { root: parent?.root ?? module });
}

/**
 * Reads the modules of a crate that its root declares, at any depth.
 * @param {string} root the checkout
 * @param {string} file the root of the crate, relative to the checkout
 * @returns {Module[]}
 */
export function modulesOfCrate(root, file) {
  const modules = [];
  const read = (module, tokens, folder) => {
    modules.push(module);
    readItems(tokens, module, folder, readModule);
  };
  const readFile = (module, folder) =>
    read(module, tokensOf(readFileSync(join(root, module.file), "utf8")), folder);
  const readModule = (parent, { name, folder, path, body }) => {
    const inner = `${folder}/${name}`;
    const places =
      path === undefined ? [`${inner}.rs`, `${inner}/mod.rs`] : [`${dirname(parent.file)}/${path}`];
    const isInline = body[0] === "{";
    const found = isInline ? parent.file : places.find((place) => existsSync(join(root, place)));
    if (found === undefined) return;
    const module = newModule(found, parent);
    // A module that the platform chooses is declared twice.
    if (!parent.children.has(name)) parent.children.set(name, module);
    if (isInline) read(module, body.slice(1, -1), inner);
    else readFile(module, inner);
  };
  readFile(newModule(file, undefined), dirname(file));
  return modules;
}

/**
 * Returns what a name means in a module: a module, or the file that defines the item.
 * @returns {Module | string | undefined} undefined for a name from elsewhere
 */
function lookUp(module, name, visited) {
  const key = `${modulePath(module)} ${name}`;
  if (visited.has(key)) return undefined;
  visited.add(key);
  const own = module.children.get(name) ?? (module.items.has(name) ? module.file : undefined);
  if (own !== undefined) return own;
  for (const use of module.uses) {
    if (use.isGlob || use.name !== name) continue;
    const found = resolve(module, use.segments, visited);
    if (found !== undefined) return found;
  }
  for (const use of module.uses.filter(({ isGlob }) => isGlob)) {
    const target = resolve(module, use.segments, visited);
    const found = typeof target === "object" ? lookUp(target, name, visited) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Returns the path of a module, such as `crate::diff::newlines`. */
export function modulePath(module) {
  const name = module.parent && [...module.parent.children].find(([, child]) => child === module)?.[0];
  return module.parent ? `${modulePath(module.parent)}::${name ?? module.file}` : "crate";
}

/**
 * Returns what a path means in a module.
 * @returns {Module | string | undefined} a module, the file that defines the item, or undefined for
 *   a path into another crate
 */
function resolve(module, segments, visited = new Set()) {
  const starts = { crate: module.root, self: module };
  let current = starts[segments[0]] ?? module;
  let rest = starts[segments[0]] === undefined ? segments : segments.slice(1);
  while (rest[0] === "super" && current.parent !== undefined) {
    current = current.parent;
    rest = rest.slice(1);
  }
  const isRelative = rest.length === segments.length;
  for (const [depth, name] of rest.entries()) {
    const found = lookUp(current, name, visited);
    if (typeof found === "string") return found;
    if (found === undefined) return isRelative && depth === 0 ? undefined : current.file;
    current = found;
  }
  return current;
}

/**
 * Returns the files that define what a module refers to. A re-export refers to nothing, unless the
 * module uses the name itself.
 * @param {Module} module
 * @returns {Set<string>}
 */
export function referredFiles(module) {
  const named = module.uses.filter(
    ({ name, isGlob, isPublic }) => !isGlob && (!isPublic || module.mentions.has(name)),
  );
  const globs = module.uses.filter(({ isGlob, isPublic }) => isGlob && !isPublic);
  const targets = [
    ...named.map(({ segments }) => resolve(module, segments)),
    ...module.paths.map((path) => resolve(module, path)),
  ];
  for (const { segments } of globs) {
    const target = resolve(module, segments);
    if (typeof target === "object")
      for (const name of module.mentions) targets.push(lookUp(target, name, new Set()));
  }
  return new Set(targets.filter((target) => typeof target === "string" && target !== module.file));
}

/** Returns the files of the modules that contain a module. */
export function ancestorFiles(module) {
  const files = new Set();
  for (let at = module.parent; at !== undefined; at = at.parent)
    if (at.file !== module.file) files.add(at.file);
  return files;
}
