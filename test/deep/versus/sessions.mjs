// Sessions: a tree, the options of a workspace, the functions of its host, and the steps that are made in it.
import { seededRandom } from "../../../scripts/lib/deep-kind.mjs";
import { argumentsOf, pickTool } from "./calls.mjs";
import { makeForeign, makeText, makeTree, pathsOf } from "./trees.mjs";

/** The presets of the package, as the sessions name them. */
export const PRESETS = [
  "canonical",
  "adk",
  "fluent",
  "tinyagent",
  "gemini",
  "go",
  "amplifier",
  "mcp",
  "gemini-cli",
  "claude",
  "anthropic",
  "codex",
];

const TOOL_NAMES = [
  "write_file",
  "edit_file",
  "apply_patch",
  "copy",
  "move",
  "delete",
  "mkdir",
  "batch",
  "read_file",
  "grep",
  "glob",
  "*",
];
const RULE_PATHS = [
  "src/**",
  "*.txt",
  "a.txt",
  "**/deep/**",
  "lib",
  "new*",
  "**",
  "@@/x/**",
  "*.md",
  "vacant/**",
];
const DENY = ["src/deep/**", "*.log", "private.txt", "lib/**", "**/c.ts", ".hidden"];
const OUTCOMES = [
  "proceed_once",
  "proceed_once",
  "proceed_once",
  "proceed_always",
  "proceed_always_tool",
  "proceed_always_server",
  "proceed_parts",
  "proceed_parts",
  "modify_with_editor",
  "look_again",
  "cancel",
];

/** Gives a member to an object in a share of cases. */
const maybe = (random, share, make) => (random.chance(share) ? make() : {});

const many = (random, least, most, make) =>
  Array.from({ length: least + random.below(most - least + 1) }, make);

function makeRule(random, decisions) {
  return {
    ...maybe(random, 0.5, () => ({ tool: random.pick(TOOL_NAMES) })),
    ...maybe(random, 0.75, () => ({ path: random.pick(RULE_PATHS) })),
    ...maybe(random, 0.1, () => ({ args: { overwrite: true } })),
    decision: random.pick(decisions),
  };
}

function makeAccess(random) {
  return {
    ...maybe(random, 0.5, () => ({ deny: many(random, 1, 2, () => random.pick(DENY)) })),
    ...maybe(random, 0.2, () => ({ protect: random.chance(0.5) })),
    ...maybe(random, 0.3, () => ({ secrets: random.pick(["allow", "grant"]) })),
    ...maybe(random, 0.4, () => ({ followSymlinks: random.pick(["inside", "never", "any"]) })),
    ...maybe(random, 0.15, () => ({
      places: {
        [random.pick(["allow", "ask", "refuse"])]: [
          random.pick([".github/**", ".git/config", "package.json"]),
        ],
      },
    })),
  };
}

function makeReply(random, paths) {
  const outcome = random.pick(OUTCOMES);
  return {
    outcome,
    parts: { at: random.next(), rows: random.chance(0.3) },
    text: makeText(random, { lines: 3 }),
    final: random.chance(0.5),
    ...maybe(random, 0.12, () => ({ acts: [makeForeign(random, paths)], stale: true })),
    ...maybe(random, 0.03, () => ({ throws: true })),
    ...maybe(random, 0.03, () => ({ silent: true })),
    ...maybe(random, 0.03, () => ({ foreignDigest: true })),
    ...maybe(random, 0.2, () => ({ reason: "not now" })),
    ...(outcome.startsWith("proceed_always") && random.chance(0.3)
      ? {
          scope: {
            tool: random.pick(["write_file", "edit_file", "*"]),
            path: random.pick(["src/**", "**", "*.txt"]),
            until: random.pick(["turn", "session"]),
          },
        }
      : {}),
  };
}

function makeHook(random) {
  const stage = random.pick(["before", "after"]);
  const replies = {
    before: [
      undefined,
      undefined,
      { proceed: false },
      { proceed: false, alternative_response: "use another tool" },
      { modified_args: { path: "b.txt" } },
      { modified_args: { content: "by the hook\n" } },
      { raise_exception: "raised" },
      { nonsense: 1 },
    ],
    after: [
      undefined,
      { text: "text of the hook" },
      { data: { by: "hook" } },
      { display: "shown" },
      { nonsense: 1 },
    ],
  };
  return {
    stage,
    tool: random.pick(TOOL_NAMES),
    reply: random.pick(replies[stage]),
    every: 1 + random.below(3),
    ...maybe(random, 0.1, () => ({ throws: true })),
    ...maybe(random, 0.3, () => ({ previews: stage === "before" })),
  };
}

/** The host of a session: whether a person is asked, and by what rules. */
function makeHosts(random, paths) {
  return {
    ...maybe(random, 0.4, () => ({ replies: many(random, 3, 8, () => makeReply(random, paths)) })),
    ...maybe(random, 0.08, () => ({
      grants: many(random, 1, 3, () => ({
        answer: random.pick(["yes", "yes", "no"]),
        ...maybe(random, 0.4, () => ({ access: random.pick(["read", "write"]) })),
      })),
    })),
    ...maybe(random, 0.3, () => ({ hooks: many(random, 1, 2, () => makeHook(random)), onHookError: true })),
    ...maybe(random, 0.5, () => ({ observe: { hashes: random.chance(0.6) } })),
    ...maybe(random, 0.3, () => ({ notify: true })),
  };
}

function makeOptions(random, hosts) {
  const isAsking = hosts.replies !== undefined;
  const decisions = isAsking ? ["allow", "deny", "ask", "review"] : ["allow", "allow", "review", "deny"];
  const second = { path: "@@/x", ...maybe(random, 0.5, () => ({ access: random.pick(["read", "write"]) })) };
  return {
    ...(random.chance(0.3) ? { roots: ["@@/w", second], cwd: "@@/w" } : { root: "@@/w" }),
    knows: "names",
    ...maybe(random, 0.35, () => ({ access: makeAccess(random) })),
    ...maybe(random, 0.04, () => ({ readOnly: true })),
    ...maybe(random, 0.28, () => ({ rules: many(random, 1, 3, () => makeRule(random, decisions)) })),
    ...maybe(random, isAsking ? 0.12 : 0.01, () => ({ requireApproval: true })),
    ...maybe(random, 0.15, () => ({ review: random.pick(["before", "after"]) })),
    ...maybe(random, 0.5, () => ({ guard: random.pick(["refuse", "warn", "off"]) })),
    ...maybe(random, 0.15, () => ({
      limits: {
        [random.pick(["pageBytes", "outputBytes", "wholeFileBytes", "grepFileBytes"])]: random.pick([
          400, 2000,
        ]),
      },
    })),
    ...maybe(random, 0.1, () => ({ edit: { match: random.pick(["exact", "whitespace", "fuzzy"]) } })),
    ...maybe(random, 0.12, () => ({ preserve: "strict" })),
    ...maybe(random, 0.1, () => ({ durability: random.pick(["none", "durable"]) })),
    ...maybe(random, 0.1, () => ({ history: false })),
    ...maybe(random, 0.3, () => ({ agent: "helper" })),
    ...maybe(random, 0.1, () => ({ ignoreFiles: random.pick([[], [".gitignore"], [".ignore"]]) })),
    ...maybe(random, 0.1, () => ({ concurrency: 1 + random.below(2) })),
  };
}

/** The steps besides calls, each with its weight. */
const OTHERS = [
  [
    14,
    "undo",
    (random) => ({
      nth: random.below(1 + random.below(4)),
      ...maybe(random, 0.45, () => ({
        parts: { at: random.next(), rows: random.chance(0.4) },
        shown: random.chance(0.5),
        dryRun: random.chance(0.3),
      })),
    }),
  ],
  [
    8,
    "rewind",
    (random, paths) => ({
      ...(random.chance(0.5)
        ? { mark: random.pick(["one", "one", "one", "two"]) }
        : { nth: random.below(8) }),
      ...maybe(random, 0.25, () => ({ paths: [random.pick(["src", "a.txt", paths.real()])] })),
      ...maybe(random, 0.2, () => ({ agent: random.pick(["helper", "second"]) })),
      ...maybe(random, 0.5, () => ({
        shown: maybe(random, 0.2, () => ({ acts: [makeForeign(random, paths)] })),
      })),
      dryRun: random.chance(0.3),
    }),
  ],
  [12, "foreign", (random, paths) => ({ acts: many(random, 1, 2, () => makeForeign(random, paths)) })],
  [3, "mark", (random) => ({ name: random.pick(["one", "two"]) })],
  [1, "marks", () => ({})],
  [5, "history", () => ({})],
  [6, "changes", (random) => ({ nth: random.below(3) })],
  [2, "blame", (_, paths) => ({ path: paths.text() })],
  [3, "unreviewed", () => ({})],
  [2, "keep", (random) => ({ nth: random.below(3) })],
  [
    3,
    "why",
    (random, paths) => ({ question: { tool: random.pick(TOOL_NAMES.slice(0, -1)), path: paths.file() } }),
  ],
  [1, "policy", () => ({})],
  [2, "approvals", () => ({})],
  [1, "revoke", () => ({})],
  [1, "grants", () => ({})],
  [
    1,
    "grant",
    (random) => ({
      grant: { dir: random.pick(["@@/w/src", "@@/w", "@@/x"]), access: random.pick(["read", "write"]) },
    }),
  ],
  [1, "reopen", () => ({})],
];
const WEIGHTS = OTHERS.reduce((sum, [weight]) => sum + weight, 0);

function makeOther(random, paths) {
  let left = random.below(WEIGHTS);
  for (const [weight, kind, make] of OTHERS) {
    if (left < weight) return { do: kind, ...make(random, paths) };
    left -= weight;
  }
  throw new Error("the weights are wrong");
}

/** The presets whose search for names gives the newest first. */
const NEWEST_FIRST = ["gemini", "gemini-cli", "claude"];

/**
 * Returns whether the order of an answer depends on times of this run. The tree has times of its own as long as nothing
 * was changed; after that, arguments that sort by time are removed.
 */
function sortsByTime(preset, { name }, args, untouched) {
  if (untouched) return false;
  // The operations of a spoiled call may be anything.
  const operations = Array.isArray(args.operations) ? args.operations : [];
  for (const one of [args, ...operations.map((operation) => operation.args ?? {})]) {
    if (one.sort === "mtime" || one.sort === "recent") delete one.sort;
    if (one.rank === "recent") delete one.rank;
  }
  return NEWEST_FIRST.includes(preset) && /^glob$/iu.test(name);
}

function makeCall(random, context) {
  const { tools, preset, paths, agents } = context;
  const own = random.chance(0.12) ? random.pick(PRESETS) : preset;
  const tool = pickTool(random, tools[own]);
  const args = argumentsOf(tool, { random, paths, tools: tools[own] });
  const byTime = sortsByTime(own, tool, args, context.untouched);
  if (tool.kind !== "read") context.untouched = false;
  return {
    do: "call",
    tool: random.chance(0.01) ? "no_such_tool" : tool.name,
    args,
    ...(byTime ? { byTime } : {}),
    ...(own === preset ? {} : { preset: own }),
    ...maybe(random, agents.length > 0 ? 0.25 : 0, () => ({ agent: random.pick(agents) })),
    ...maybe(random, 0.1, () => ({ turn: random.pick(["first", "second"]) })),
    ...maybe(random, 0.02, () => ({ aborted: true })),
  };
}

/** Calls that begin at once: each in a directory of its own, or only reading, so that their order does not count. */
function makeTogether(random, { preset }) {
  const calls = [
    { tool: "write_file", args: { path: `together/${random.below(3)}.txt`, content: makeText(random) } },
    {
      tool: "edit_file",
      args: {
        path: "src/b.ts",
        old_text: { $: "lines", path: "src/b.ts", at: 0.3, count: 2 },
        new_text: "together",
      },
    },
    { tool: "read_file", args: { path: "b.txt" } },
    { tool: "stat", args: { path: "crlf.txt" } },
    { tool: "copy", args: { source: "lib", destination: "lib2", overwrite: true } },
    { tool: "mkdir", args: { path: "fresh/one" } },
    { tool: "delete", args: { path: "noend.txt" } },
  ];
  const chosen = random.shuffle(calls).slice(0, 2 + random.below(4));
  // Under another preset these names may be of other tools.
  return {
    do: "together",
    calls: chosen.map((call) => (preset === "canonical" ? call : { ...call, preset: "canonical" })),
  };
}

function makeFork(random, context) {
  const steps = many(random, 1, 5, () => makeCall(random, { ...context, agents: [] }));
  return {
    do: "fork",
    name: `fork-${random.below(1000)}`,
    steps,
    ...(steps.some(({ byTime }) => byTime) ? { byTime: true } : {}),
    text: random.chance(0.5),
    end: {
      ...maybe(random, 0.4, () => ({ acts: [makeForeign(random, context.paths)] })),
      ...maybe(random, 0.8, () => ({
        merge: {
          ...maybe(random, 0.4, () => ({ favour: random.pick(["ours", "theirs"]) })),
          dryRun: random.chance(0.2),
        },
      })),
    },
  };
}

/**
 * A call that usually succeeds and changes files: without these the history would often be empty, and undo and rewind
 * would have nothing to do.
 */
function makeSolid(random, { paths, preset, agents }) {
  const path = paths.real();
  const other = random.pick(["new.txt", "new/deep/n.txt", "src/moved.ts", "vacant/n.txt"]);
  const directory = random.pick(["src", "src/deep", "lib", "vacant"]);
  const overwrite = random.chance(0.5);
  const line = { $: "lines", path, at: random.next(), count: 2 };
  const calls = [
    {
      tool: "write_file",
      args: { path: random.pick([path, other]), content: makeText(random, { lines: 5 }) },
    },
    { tool: "write_file", args: { path: random.pick([path, other]), content: "more\n", append: true } },
    { tool: "edit_file", args: { path, old_text: line, new_text: `solid ${random.below(100)}` } },
    { tool: "mkdir", args: { path: random.pick(["new", "new/deep", "vacant", "src/deep/e"]) } },
    { tool: "delete", args: { path: random.pick([path, directory]), recursive: true } },
    {
      tool: "move",
      args: {
        source: random.pick([path, directory]),
        destination: random.pick([other, "new/deep"]),
        overwrite,
      },
    },
    {
      tool: "copy",
      args: {
        source: random.pick([path, directory]),
        destination: random.pick([other, "lib", "new"]),
        overwrite,
      },
    },
  ];
  const chosen = random.chance(0.15)
    ? { tool: "batch", args: { operations: many(random, 2, 3, () => random.pick(calls)) } }
    : random.pick(calls);
  const agent = agents.length > 0 && random.chance(0.25) ? { agent: random.pick(agents) } : {};
  return { do: "call", ...(preset === "canonical" ? {} : { preset: "canonical" }), ...agent, ...chosen };
}

/** A call that fills a small device. */
function makeLargeCall(random) {
  const content = `${"large ".repeat(10)}\n`.repeat(500 + random.below(2500));
  const path = random.pick(["large.txt", "a.txt", "src/large.txt", "new/large.txt"]);
  const write = { tool: "write_file", args: { path, content, append: random.chance(0.3) } };
  const copy = {
    tool: "copy",
    args: { source: "large.txt", destination: `copy${random.below(3)}.txt`, overwrite: true },
  };
  const batch = {
    tool: "batch",
    args: { operations: [{ tool: "write_file", args: { path: "b.txt", content: "first\n" } }, write, copy] },
  };
  return { do: "call", preset: "canonical", ...random.pick([write, write, copy, batch]) };
}

/** Opens an agent beside the workspace. */
function makeAgent(random) {
  const options = {
    ...maybe(random, 0.4, () => ({ budget: { calls: 3 + random.below(8) } })),
    ...maybe(random, 0.3, () => ({ access: { readOnly: true } })),
  };
  return { do: "agent", name: "second", options };
}

/** Makes one step. Calls tell themselves whether the times of the tree still count. */
function makeStep(random, context) {
  if (random.chance(0.6)) return makeCall(random, context);
  context.untouched = false;
  if (random.chance(0.42)) return makeSolid(random, context);
  if (context.site === "full" && random.chance(0.4)) return makeLargeCall(random);
  return random.chance(0.06) ? makeFork(random, context) : makeOther(random, context.paths);
}

/** The steps of a session: most are calls. */
function makeSteps(random, context) {
  const steps = [];
  if (random.chance(0.25)) {
    steps.push(makeAgent(random));
    context.agents.push("second");
  }
  if (random.chance(0.7)) steps.push({ do: "mark", name: "one" });
  const length = 8 + random.below(28);
  while (steps.length < length) steps.push(makeStep(random, context));
  if (random.chance(0.15)) {
    // The history has these calls in an order that is not promised, so nothing after them may count on it.
    steps.push({ do: "mark", name: "before" }, makeTogether(random, context));
    steps.push({ do: "history", byTime: true }, { do: "rewind", mark: "before", byTime: true });
    return steps;
  }
  if (random.chance(0.1)) steps.push({ do: "close" }, makeCall(random, context), { do: "history" });
  return steps;
}

/** Of twenty sessions on a disk, so many are on another file system than the plain one. */
const SITES = ["devices", "devices", "full", "readonly", "folding", "folding"];

function pickSite(random, sites) {
  const site = random.chance(0.3) ? random.pick(SITES) : "disk";
  return sites.includes(site) ? site : "disk";
}

const PLACES = ["disk", "disk", "disk", "disk", "disk", "disk", "disk", "memory", "overlay", "storage"];

/**
 * Makes the session of a seed.
 *
 * @param {number} seed
 * @param {Record<string, object[]>} tools the tools of each preset, with their schemas
 * @param {readonly string[]} sites the file systems that this machine has
 */
export function makeSession(seed, tools, sites) {
  const random = seededRandom(seed);
  const place = random.pick(PLACES);
  const site = place === "disk" ? pickSite(random, sites) : undefined;
  const hardLinks = place === "disk" && site !== "devices" && site !== "full" && random.chance(0.4);
  const tree = makeTree(random, { links: random.chance(0.7), hardLinks });
  const paths = pathsOf(random, tree);
  const hosts = makeHosts(random, paths);
  const options = makeOptions(random, hosts);
  const preset = random.chance(0.5) ? "canonical" : random.pick(PRESETS);
  if (preset !== "canonical" || random.chance(0.1)) options.preset = preset;
  // Only a disk has the times of the tree.
  const context = { tools, preset, paths, agents: [], site, untouched: place === "disk" };
  return {
    place,
    ...(site === undefined ? {} : { site }),
    tree,
    tops: ["@@/w", "@@/x"],
    cwd: "@@/w",
    options,
    hosts,
    steps: makeSteps(random, context),
  };
}
