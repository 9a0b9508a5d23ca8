// What is denied, secret, protected or outside is neither told, changed nor counted by any call.
//
// Each case is a tree, a policy (roots, deny globs, rules) and a call. The reference in policy/reference.mjs
// says from tree and policy alone what may be seen and changed.
import { seededRandom } from "../../scripts/lib/deep-kind.mjs";
import { reference } from "./policy/reference.mjs";
import { inMemory, onCommandLine, onDisk, overMcp, scratch } from "./policy/storage.mjs";
import { makeCall, makePolicy, makeTree } from "./policy/worlds.mjs";

const READING = [
  "grep",
  "glob",
  "find_files",
  "list_directory",
  "read_many_files",
  "read_file",
  "stat",
  "diff",
];
const CHANGING = ["write_file", "edit_file", "mkdir", "delete", "copy", "move", "apply_patch"];
const TOOLS = [...READING, ...READING, ...CHANGING, "copy", "move", "delete", "batch", "batch", "batch"];

/** The storages: of ten thousand cases how many each is for, the share of a limited time, and the calls of one world. */
const PARTS = [
  { name: "memory", per10k: 9000, time: 0.6, calls: 12, open: inMemory, base: "/t" },
  { name: "disk", per10k: 900, time: 0.6, calls: 12, open: onDisk },
  { name: "mcp", per10k: 80, time: 0.7, calls: 12, open: overMcp, plain: true },
  { name: "command line", per10k: 20, time: 1, calls: 4, open: onCommandLine, plain: true, oneRoot: true },
];

/** @type {import("../../scripts/lib/deep-kind.mjs").DeepKind} */
export default {
  description:
    "what a policy keeps is neither told, changed nor counted, against a reference without our code",
  count: 100_000,
  share: 2_000,
  async run({ seed, count, isOver, secondsLeft }) {
    const failures = [];
    let cases = 0;
    for (const part of PARTS) {
      const wanted = Math.round((count * part.per10k) / 10_000);
      // Each gets its share of what is left and at least one world, so that a run with little time reaches all of them.
      const end = performance.now() + secondsLeft() * 1000 * part.time;
      const place = part.base === undefined ? scratch() : { base: part.base, remove() {} };
      try {
        // Every world has a seed of its own, so that one world can be made again.
        for (
          let made = 0, world = 1;
          made < wanted && (world === 1 || (!isOver() && performance.now() < end)) && failures.length < 20;
          world++
        ) {
          const calls = Math.min(part.calls, wanted - made);
          made += calls;
          cases += calls;
          const found = await runWorld(part, place, seededRandom(seed * 1_000_003 + world), calls);
          failures.push(...found.map((what) => `${part.name}, world ${world}: ${what}`));
        }
      } finally {
        place.remove();
      }
    }
    return { cases, failures };
  },
};

/** Makes one world and some calls in it. @returns {Promise<string[]>} what was wrong */
async function runWorld(part, place, random, calls) {
  const tree = makeTree(random, place.base);
  const made = makePolicy(random, tree, place.base, part.plain);
  const policy = { ...(part.oneRoot === true ? withOneRoot(made) : made), hot: [] };
  const tools = part.plain === true ? TOOLS.filter((tool) => tool !== "find_files") : TOOLS;
  const may = reference(tree, policy);
  policy.hot.push(...tree.filter(({ path }) => may.isRestricted(path)).map(({ path }) => path));
  const world = await part.open(tree, policy, place);
  const failures = [];
  try {
    let before = world.snapshot();
    const shown = `policy ${JSON.stringify({ roots: policy.roots, deny: policy.deny, rules: policy.rules })}`;
    const listed = await everythingListed(world, tree, policy, may, part);
    if (listed !== undefined) failures.push(`${listed}; ${shown}`);
    for (let left = calls; left > 0 && failures.length === 0; left--) {
      const { tool, args } = makeCall(random, tree, policy, tools);
      const result = await world.call(tool, args);
      const after = world.snapshot();
      const wrong = [
        ...told(tool, args, result, tree, may),
        ...changed(tool, args, before, after, tree, may),
      ];
      if (wrong.length > 0) failures.push(`${wrong[0]}; ${tool} ${JSON.stringify(args)}; ${shown}`);
      if (isSame(before, after)) continue;
      await world.reset();
      before = world.snapshot();
    }
  } finally {
    await world.close();
  }
  return failures;
}

/** Returns a policy without its further roots, and without what it says of these by absolute paths. */
function withOneRoot({ cwd, deny, rules }) {
  const isReached = (glob) => glob?.startsWith("/") !== true || glob.startsWith(`${cwd}/`);
  return {
    cwd,
    roots: [cwd],
    deny: deny.filter(isReached),
    rules: rules.filter(({ path }) => isReached(path)),
  };
}

/** Everything that may be seen below each root is listed and counted, and nothing else. */
async function everythingListed(world, tree, policy, may, part) {
  const tops = policy.roots.filter(
    (root) => !policy.roots.some((other) => other !== root && root.startsWith(`${other}/`)),
  );
  for (const root of tops) {
    const wrong = await rootListed(root, world, tree, policy, may, part);
    if (wrong !== undefined) return `below ${root}: ${wrong}`;
  }
  return undefined;
}

async function rootListed(root, world, tree, { cwd }, may, { plain }) {
  const within = tree.filter(({ path }) => path.startsWith(`${root}/`));
  const shown = ({ path }) => (path.startsWith(`${cwd}/`) ? path.slice(cwd.length + 1) : path);
  for (const tool of ["list_directory", "grep"]) {
    const open = may.isOpen(tool, root);
    const args =
      tool === "grep"
        ? { pattern: "MARK|line|x", path: root, output: "count", respect_ignore: false }
        : { path: root, depth: 32, limit: 10_000 };
    const { ok, data } = await world.call(tool, args);
    if (ok !== open) return `${tool} of everything is ${ok ? "answered" : "refused"}`;
    if (!open || data === undefined) continue;
    const wanted = within.filter((entry) =>
      tool === "grep"
        ? entry.type === "file" && may.mayReadContent(tool, entry) && !/\/\.git\//u.test(entry.path)
        : may.isSeen(tool, entry),
    );
    const found = (tool === "grep" ? data.counts : data.entries).map(({ path }) => path).sort();
    const missing = wanted.map(shown).filter((path) => !found.includes(path));
    const extra = found.filter((path) => !wanted.some((entry) => shown(entry) === path));
    if (missing.length + extra.length > 0)
      return `${tool} shows ${JSON.stringify(extra)} and not ${JSON.stringify(missing)}`;
    const counted = tool === "grep" ? data.files_searched : data.total;
    if (counted !== wanted.length) return `${tool} counts ${counted} instead of ${wanted.length}`;
    if (plain !== true && tool === "grep" && data.files_with_matches !== wanted.length)
      return "grep counts other files";
  }
  return undefined;
}

/** The tools that a call uses: of a batch those of its operations. */
function toolsOf(tool, args) {
  return tool === "batch" ? args.operations.flatMap((one) => toolsOf(one.tool, one.args)) : [tool];
}

/** Yields each fact of an answer that it must not reveal. */
function* told(tool, args, result, tree, may) {
  const answer = JSON.stringify(result);
  const typed = JSON.stringify(args);
  const tools = toolsOf(tool, args);
  for (const entry of tree) {
    const seen = tools.some((one) =>
      READING.includes(one) ? may.isSeen(one, entry) : may.isTold(one, entry),
    );
    if (!seen && entry.marker !== undefined && answer.includes(entry.marker) && !typed.includes(entry.marker))
      yield `tells the name of ${entry.path}`;
    const mark = entry.content?.match(/q\w+j/u)?.[0];
    const readable = tools.some((one) =>
      READING.includes(one) ? may.mayReadContent(one, entry) : seen && !may.isSecret(entry.path),
    );
    if (mark !== undefined && !readable && answer.includes(mark)) yield `tells what is in ${entry.path}`;
  }
}

/** Yields each change of a call that the policy forbids. */
function* changed(tool, args, before, after, tree, may) {
  const tools = toolsOf(tool, args).filter((one) => CHANGING.includes(one));
  for (const path of new Set([...before.keys(), ...after.keys()])) {
    if (before.get(path) === after.get(path)) continue;
    if (tools.every((one) => may.isFixed(one, path))) yield `changes ${path}`;
    if (isDeletion(tool, args, before.get(path), after.get(path)) && may.isKept(path))
      yield `deletes ${path}`;
  }
  for (const { path, content } of tree) {
    const mark = content?.match(/q\w+j/u)?.[0];
    if (mark === undefined) continue;
    for (const [at, what] of after)
      if (at !== path && what.includes(mark) && !tools.some((one) => may.mayTake(one, path, at)))
        yield `takes what is in ${path} to ${at}`;
  }
}

/** Returns true when a call replaced or removed a file in a way that a rule on \`delete\` covers. */
function isDeletion(tool, args, was, is) {
  if (was === undefined || was.startsWith("dir")) return false;
  if (tool === "delete") return true;
  if (tool === "copy" || tool === "move") return is !== undefined;
  return tool === "apply_patch" && is === undefined && args.patch.includes("*** Delete File");
}

function isSame(a, b) {
  return a.size === b.size && [...a].every(([path, what]) => b.get(path) === what);
}
