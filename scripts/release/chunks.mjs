// Decides which modules of the package share a file.
//
// A chunk holds modules that are there with the same users: an entry, or a part that an entry of the library imports on
// demand. So an entry loads only what it needs. Parts are users because a chunk for browsers must not hold code for Node.
// What the command alone imports on demand is none: a start would read twice as many files.
//
// Users that need one of two chunks load both where that makes few bytes more: a file and its imports cost 0.5 to 0.9 ms of
// processor time.

/**
 * The static imports of the modules and those on demand, their minified sizes in bytes, and those that import from Node: all
 * by relative path.
 *
 * @typedef {ReadonlyMap<string, readonly string[]>} Imports
 * @typedef {{ fixed: Imports, onDemand: Imports, sizes: ReadonlyMap<string, number>, onNode: ReadonlySet<string> }} Modules
 */

/**
 * Returns the modules of each chunk; a module that one user alone has is in none.
 *
 * @param {readonly string[]} library the entries whose parts are users
 * @param {readonly string[]} programs other entries
 * @param {Modules} modules
 * @returns {readonly ReadonlySet<string>[]}
 */
export function chunksOf(library, programs, modules) {
  const entries = [...library, ...programs];
  const parts = importedOnDemand(library, modules).filter((path) => !entries.includes(path));
  const usersOf = new Map();
  for (const [user, paths] of loadedWith(entries, parts, modules)) {
    for (const path of paths) {
      if (!usersOf.has(path)) usersOf.set(path, new Set());
      usersOf.get(path).add(user);
    }
  }
  // A program waits for modules that it imports on demand, so these cannot share its file.
  for (const [path, users] of usersOf) if (users.size === 1 || programs.includes(path)) usersOf.delete(path);
  return grouped(withJoined(usersOf, modules))
    .sort((a, b) => b.users.size - a.users.size)
    .map(({ paths }) => paths);
}

/** Returns the modules that some entries import on demand, also indirectly. */
function importedOnDemand(entries, { fixed, onDemand }) {
  const found = new Set();
  const waiting = [...entries];
  for (let entry = waiting.pop(); entry !== undefined; entry = waiting.pop()) {
    for (const path of reachedFrom([entry], fixed)) {
      for (const next of onDemand.get(path) ?? []) {
        if (found.has(next)) continue;
        found.add(next);
        waiting.push(next);
      }
    }
  }
  return [...found];
}

/** Returns everything that modules import, also indirectly, and the modules themselves. */
function reachedFrom(paths, imports) {
  const found = new Set(paths);
  for (const path of found) for (const next of imports.get(path) ?? []) found.add(next);
  return found;
}

/**
 * Returns the modules that are there once each user is loaded: those that it imports, also indirectly, and for a part those
 * that each of its importers has loaded before. The largest solution, as of dominators in a graph: a part starts with all
 * modules and loses what an importer lacks.
 *
 * @param {readonly string[]} entries
 * @param {readonly string[]} parts what is imported on demand and is no entry
 * @param {Modules} modules
 * @returns {ReadonlyMap<string, ReadonlySet<string>>} by user
 */
function loadedWith(entries, parts, { fixed, onDemand }) {
  const own = new Map([...entries, ...parts].map((user) => [user, reachedFrom([user], fixed)]));
  const everything = new Set([...own.values()].flatMap((paths) => [...paths]));
  const loaded = new Map([...own].map(([user, paths]) => [user, parts.includes(user) ? everything : paths]));
  const importers = [...own].map(([user, paths]) => [
    user,
    new Set([...paths].flatMap((path) => onDemand.get(path) ?? []).filter((path) => parts.includes(path))),
  ]);
  for (let isStable = false; !isStable; ) {
    isStable = true;
    for (const [user, imported] of importers) {
      const there = loaded.get(user);
      for (const part of imported) {
        const known = loaded.get(part);
        const still = new Set([...known].filter((path) => own.get(part).has(path) || there.has(path)));
        if (still.size === known.size) continue;
        loaded.set(part, still);
        isStable = false;
      }
    }
  }
  return loaded;
}

/** Returns the groups of modules with the same users. */
function grouped(usersOf) {
  const groups = new Map();
  for (const [path, users] of usersOf) {
    const key = [...users].sort().join();
    if (!groups.has(key)) groups.set(key, { users, paths: new Set() });
    groups.get(key).paths.add(path);
  }
  return [...groups.values()];
}

/** What most programs import. Only its chunks are joined, as far as other entries allow it. */
const MAIN_ENTRY = "dist/filewright.node.js";

/**
 * The share of its own size that an entry may load more because chunks of the main entry were joined. A page with a bundler
 * gets less more, because a bundler leaves out statements.
 */
const MAX_EXTRA_SHARE = 0.5;

/** How much code takes as long to read and compile as finding and opening a file for each of its importers, in bytes. */
const BYTES_PER_FILE = 12_000;

/**
 * Joins the chunks of the main entry, the smallest first, where that makes nothing load much more. What has one of two
 * joined chunks then has both, and what they need.
 *
 * @param {ReadonlyMap<string, ReadonlySet<string>>} usersOf the users of each module in a chunk
 * @param {Modules} modules
 * @returns {ReadonlyMap<string, ReadonlySet<string>>} the users of each module afterwards
 */
function withJoined(usersOf, modules) {
  const left = budgets(usersOf, modules);
  let now = usersOf;
  const settled = new Set();
  for (;;) {
    const chunks = measured(grouped(now), modules).filter(({ users }) => users.has(MAIN_ENTRY));
    const open = chunks.filter(({ paths }) => ![...paths].every((path) => settled.has(path)));
    if (open.length === 0) return now;
    const smallest = open.reduce((a, b) => (b.bytes < a.bytes ? b : a));
    const best = bestPartner(smallest, chunks, left);
    if (best === undefined) {
      for (const path of smallest.paths) settled.add(path);
      continue;
    }
    for (const [user, bytes] of best.extra) left.set(user, left.get(user) - bytes);
    now = withBoth(now, smallest, best.partner);
  }
}

/** Returns how many bytes each user may load more. */
function budgets(usersOf, { sizes }) {
  const left = new Map();
  for (const [path, users] of usersOf)
    for (const user of users) left.set(user, (left.get(user) ?? 0) + sizes.get(path) * MAX_EXTRA_SHARE);
  return left;
}

/** Returns the users of each module once the users of one of two chunks have both. */
function withBoth(usersOf, one, other) {
  const now = new Map(usersOf);
  for (const needed of [...one.needs, ...other.needs])
    for (const path of needed.paths) now.set(path, new Set([...now.get(path), ...one.users, ...other.users]));
  return now;
}

/** Adds to groups their sizes, the groups that they need, themselves included, and whether one of these needs Node. */
function measured(groups, { fixed, sizes, onNode }) {
  const groupOf = new Map(groups.flatMap((group) => [...group.paths].map((path) => [path, group])));
  for (const group of groups) {
    const { paths } = group;
    const reached = [...reachedFrom(paths, fixed)];
    group.bytes = [...paths].reduce((sum, path) => sum + sizes.get(path), 0);
    group.needs = new Set(reached.map((path) => groupOf.get(path)));
    group.needs.delete(undefined);
    group.isOnNode = reached.some((path) => onNode.has(path));
  }
  return groups;
}

/**
 * Returns the chunk with which one is best joined, and how many bytes each user then loads more; undefined where that
 * gains nothing. Code for Node is never joined with other code.
 */
function bestPartner(chunk, chunks, left) {
  let best;
  for (const partner of chunks) {
    if (partner === chunk || partner.isOnNode !== chunk.isOnNode) continue;
    const extra = new Map([...bytesMore(chunk, partner.users), ...bytesMore(partner, chunk.users)]);
    const shared = [...chunk.users].filter((user) => partner.users.has(user)).length;
    const gain = shared * BYTES_PER_FILE - [...extra.values()].reduce((sum, bytes) => sum + bytes, 0);
    if (gain <= (best?.gain ?? 0) || [...extra].some(([user, bytes]) => bytes > left.get(user))) continue;
    best = { partner, extra, gain };
  }
  return best;
}

/** Returns how many bytes each of the users that lack a chunk loads with it. */
function bytesMore({ users: own, needs }, users) {
  return [...users]
    .filter((user) => !own.has(user))
    .map((user) => [user, [...needs].reduce((sum, one) => sum + (one.users.has(user) ? 0 : one.bytes), 0)]);
}
