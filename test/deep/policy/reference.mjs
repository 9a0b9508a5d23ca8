// What may be seen and changed, worked out from the tree and the policy alone, without any of our code.
//
// Globs here are a restricted dialect: whole names, `*` within a name, and `**` as a whole name.

/** @param {string} pattern one name, with `*` and escapes */
function nameMatches(pattern, name) {
  if (pattern === "**") throw new Error("** is no name");
  let source = "";
  for (let at = 0; at < pattern.length; at++) {
    const char = pattern[at];
    if (char === "\\") source += literalChar(pattern[++at]);
    else source += char === "*" ? "[^/]*" : literalChar(char);
  }
  return new RegExp(`^${source}$`, "s").test(name);
}

const literalChar = (char) => char.replace(/[\\^$.*+?()[\]{}|]/, "\\$&");

function namesMatch(pattern, names) {
  if (pattern.length === 0) return names.length === 0;
  const [first, ...rest] = pattern;
  if (first === "**") {
    if (rest.length === 0) return names.length > 0;
    return names.some((_, at) => namesMatch(rest, names.slice(at)));
  }
  return names.length > 0 && nameMatches(first, names[0]) && namesMatch(rest, names.slice(1));
}

const namesOf = (path) => path.split("/").filter((name) => name !== "");
const isWithin = (path, base) => base === "/" || path === base || path.startsWith(`${base}/`);
const below = (path, base) =>
  isWithin(path, base) && path !== base ? namesOf(path.slice(base.length)) : undefined;

/**
 * Returns true when a glob covers a path: it matches the path or a directory above it.
 *
 * @param {{ cwd: string, roots: readonly string[] }} at real paths
 * @param {boolean} self true when `x/**` covers `x` as well, as it does in a rule
 */
export function covers(glob, path, { cwd, roots }, self) {
  const names = namesOf(glob);
  const floating = !glob.startsWith("/") && (names.length === 1 || names[0] === "**");
  const bases = glob.startsWith("/") ? ["/"] : floating ? [...new Set([cwd, ...roots])] : [cwd];
  const pattern = floating && names.length === 1 && names[0] !== "**" ? ["**", ...names] : names;
  const directory = pattern.at(-1) === "**" ? pattern.slice(0, -1) : undefined;
  return bases.some((base) => {
    if (self && directory?.length === 0 && isWithin(path, base)) return true;
    const own = below(path, base);
    if (own === undefined) return false;
    return own.some((_, at) => {
      const part = own.slice(0, at + 1);
      return namesMatch(pattern, part) || (self && directory !== undefined && namesMatch(directory, part));
    });
  });
}

/** The decision of the rules for a tool about a real path: the first that matches. */
export function decisionOf(rules, tool, path, at) {
  for (const rule of rules) {
    if (rule.tool !== undefined && rule.tool !== "*" && rule.tool !== tool) continue;
    if (rule.path === undefined || covers(rule.path, path, at, true)) return rule.decision;
  }
  return undefined;
}

const isSecret = (path) =>
  namesOf(path).some((name) => /^\.env(?:\.|$)/u.test(name) && !name.endsWith(".example"));
const isProtected = (path) => /(?:^|\/)\.git\/(?:hooks|config)(?:\/|$)|(?:^|\/)\.bashrc(?:\/|$)/u.test(path);

/**
 * @typedef {{ path: string, type: "dir" | "file" | "symlink", marker: string, content?: string }} Entry
 * @typedef {{ cwd: string, roots: readonly string[], deny: readonly string[], rules: readonly object[] }} Policy
 */

/** Answers for one tree and one policy. @param {readonly Entry[]} tree @param {Policy} policy */
export function reference(tree, policy) {
  const outside = (path) => !policy.roots.some((root) => isWithin(path, root));
  const denied = (path) => policy.deny.some((glob) => covers(glob, path, policy, false));
  const decision = (tool, path) => decisionOf(policy.rules, tool, path, policy);
  const forbidden = (tool, path) => outside(path) || denied(path) || decision(tool, path) === "deny";
  const below = (path) => tree.filter((entry) => entry.path !== path && isWithin(entry.path, path));

  /** Entries that a tool may reveal: a visible entry, or a directory that contains one. */
  const seen = new Map();
  const isSeen = (tool, entry) => {
    const key = `${tool} ${entry.path}`;
    let known = seen.get(key);
    if (known === undefined) {
      known =
        !outside(entry.path) &&
        !denied(entry.path) &&
        (!["deny", "ask"].includes(decision(tool, entry.path)) ||
          (entry.type === "dir" && below(entry.path).some((other) => isSeen(tool, other))));
      seen.set(key, known);
    }
    return known;
  };
  return {
    isSeen,
    /** Entries that a changing tool may reveal: its refusal names an entry that a rule asks about. */
    isTold: (tool, entry) =>
      isSeen(tool, entry) ||
      (decision(tool, entry.path) === "ask" && !outside(entry.path) && !denied(entry.path)),
    mayReadContent: (tool, entry) => isSeen(tool, entry) && !isSecret(entry.path),
    /** Paths that a tool must not change. */
    isFixed: (tool, path) => forbidden(tool, path) || isProtected(path) || decision(tool, path) === "ask",
    /** Paths that a rule protects from deletion, by any tool. */
    isKept: (path) => ["deny", "ask"].includes(decision("delete", path)),
    /** Paths that a call may name where no reviewer is set. */
    isOpen: (tool, path) => !forbidden(tool, path) && decision(tool, path) !== "ask",
    /** Moves of content that a tool may make: a secret only to a path that is secret too. */
    mayTake: (tool, path, to) =>
      !forbidden(tool, path) && decision(tool, path) !== "ask" && (!isSecret(path) || isSecret(to)),
    isSecret,
    /** Paths inside the roots that some part of the policy restricts. */
    isRestricted: (path) =>
      !outside(path) &&
      (denied(path) ||
        isSecret(path) ||
        isProtected(path) ||
        policy.rules.some((rule) => rule.path !== undefined && covers(rule.path, path, policy, true))),
  };
}
