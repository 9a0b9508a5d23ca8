// The steps of a session as one side makes them: calls, undo and rewind, changes of other programs, forks.
//
// A step is plain data. Values that depend on the state are found by each side: `$` in arguments of calls names lines, a
// hash, an anchor or a patch, `nth` counts in the history, and a digest is that of a preview.
import { createHash } from "node:crypto";
import { isAbsolute, join } from "node:path";

/** Resolves the references in arguments of a call. `context` is that of `play` in side.mjs. */
export async function resolved(value, context) {
  if (typeof value !== "object" || value === null) return value;
  if (value.$ !== undefined) return reference(value, context);
  const result = Array.isArray(value) ? [] : {};
  // In sequence, because an anchor is found by a call, which observers record.
  for (const [key, item] of Object.entries(value)) result[key] = await resolved(item, context);
  return result;
}

const linesOf = (bytes) => bytes.toString("utf8").split(/\r?\n/u);

/**
 * Returns the value of a reference: a patch, an anchor, the hash of a file or some of its lines. Files are read at the
 * place, also within a fork. A missing file gives a hash or a text that no file has.
 */
async function reference({ $: kind, path, at = 0, count = 1, ...rest }, context) {
  const { place, cwd } = context;
  const file = (name) => place.read(isAbsolute(name) ? name : join(cwd, name));
  if (kind === "patch") return patchText(rest, file);
  if (kind === "anchor") return anchorOf(path, at, context);
  let bytes;
  try {
    bytes = await file(path);
  } catch {
    return kind === "hash" ? `sha256:${"0".repeat(64)}` : "a line that is nowhere";
  }
  if (kind === "hash") return `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
  const lines = linesOf(bytes);
  const first = Math.floor(at * lines.length);
  return lines.slice(first, first + count).join("\n") || "a line that is nowhere";
}

/** The name of a line in an answer that names lines, as `from` of an edit takes it. */
async function anchorOf(path, at, { product, ws }) {
  const reader = product.toolsFor(ws, "canonical").find(({ name }) => name === "read_file");
  const { value } = await outcomeOf(Promise.resolve(reader.execute({ path, anchors: true })));
  const anchors = value?.text.match(/^ *\d+#\w+/gmu) ?? [];
  return anchors[Math.floor(at * anchors.length)]?.trim() ?? "1#nowhere";
}

/** A patch over several files, in one of the three forms that models write. */
async function patchText({ style, files }, read) {
  const parts = [];
  for (const { path, op, at, text, to } of files) {
    let lines = [];
    try {
      lines = linesOf(await read(path));
    } catch {
      // The patch is made for a file that is not there.
    }
    const first = Math.floor(at * lines.length);
    const make = style === "begin" ? beginPatch : unifiedPatch;
    parts.push(make({ path, op, text, to, lines, first, git: style === "git" }));
  }
  return style === "begin" ? `*** Begin Patch\n${parts.join("")}*** End Patch\n` : parts.join("");
}

function beginPatch({ path, op, text, to, lines, first }) {
  if (op === "add") return `*** Add File: ${path}\n+${text}\n`;
  if (op === "delete") return `*** Delete File: ${path}\n`;
  const move = op === "move" ? `*** Move to: ${to}\n` : "";
  const before = first > 0 ? ` ${lines[first - 1]}\n` : "";
  return `*** Update File: ${path}\n${move}@@\n${before}-${lines[first] ?? "nothing"}\n+${text}\n`;
}

function unifiedPatch({ path, op, text, to, lines, first, git }) {
  const command = git ? `diff --git a/${path} b/${to ?? path}\n` : "";
  const head = (a, b) => `${command}--- ${a}\n+++ ${b}\n`;
  if (op === "add") return `${head("/dev/null", `b/${path}`)}@@ -0,0 +1 @@\n+${text}\n`;
  if (op === "delete") {
    const all = lines.at(-1) === "" ? lines.slice(0, -1) : lines;
    return `${head(`a/${path}`, "/dev/null")}@@ -1,${all.length} +0,0 @@\n${all.map((line) => `-${line}\n`).join("")}`;
  }
  const start = first + 1;
  const rename =
    op === "move" && git
      ? `diff --git a/${path} b/${to}\nrename from ${path}\nrename to ${to}\n--- a/${path}\n+++ b/${to}\n`
      : head(`a/${path}`, `b/${path}`);
  return `${rename}@@ -${start} +${start} @@\n-${lines[first] ?? "nothing"}\n+${text}\n`;
}

/**
 * Returns the id of the n-th change of the history, the newest first, counted in a circle; for an empty history an id
 * that does not exist.
 */
async function nthCall(ws, nth) {
  const history = await ws.history();
  return history[nth % history.length]?.callId ?? "000000000-000000000000";
}

/**
 * Chooses parts of the first change or two: all hunks, or every second one. With `rows`, of the first chosen hunk only
 * every second changed line. `at`, from 0 to 1, decides.
 */
export function chosenParts(changes, { at, rows }) {
  return changes.slice(0, 1 + Math.floor(at * 2)).flatMap(({ path, hunks = [] }) => {
    const chosen = [...hunks.keys()].filter((index) => (index + at * 10) % 2 < 1.2);
    const [first, ...others] = chosen;
    const changed = [...(hunks[first]?.rows.entries() ?? [])].filter(([, { kind }]) => kind !== "same");
    if (!rows || changed.length < 2) return [{ path, hunks: chosen }];
    const kept = changed.filter((_, index) => index % 2 === 0).map(([index]) => index);
    return [{ path, hunks: others, lines: [{ hunk: first, rows: kept }] }];
  });
}

/** Undoes a call, or parts of it. With `shown`, parts are undone by the digest of a dry run before. */
async function undo({ nth, parts, shown, dryRun }, { ws }) {
  const callId = await nthCall(ws, nth);
  if (parts === undefined) return ws.undo(callId, { by: "ana" });
  const chosen = chosenParts(await ws.changes(callId), parts);
  if (!shown) return ws.undo(callId, { parts: chosen, ...(dryRun ? { dryRun } : {}) });
  const preview = await ws.undo(callId, { parts: chosen, dryRun: true });
  return { preview, made: await outcomeOf(ws.undo(callId, { parts: chosen, digest: preview.digest })) };
}

/** Rewinds to a mark or a call. With `shown`, a dry run and then `shown.acts` of another program come first. */
async function rewind({ mark, nth, paths, agent, shown, dryRun }, context) {
  const { ws } = context;
  const to = mark ?? (await nthCall(ws, nth));
  const only = { ...(paths === undefined ? {} : { paths }), ...(agent === undefined ? {} : { agent }) };
  if (!shown) return ws.rewind(to, { ...only, ...(dryRun ? { dryRun } : {}) });
  const preview = await ws.rewind(to, { ...only, dryRun: true });
  for (const act of shown.acts ?? []) await context.place.foreign(act);
  return { preview, made: await outcomeOf(ws.rewind(to, { ...only, digest: preview.digest })) };
}

/** The value of a promise, or its failure as a value. */
export const outcomeOf = (promise) =>
  promise.then(
    (value) => ({ value }),
    (failure) => ({ failure }),
  );

/** Makes a call, by the handle of the agent if a step opened one. Rejects where the product or a host does. */
async function call({ tool, args, preset, agent, turn, aborted }, context) {
  const { ws, product, agents } = context;
  const given = await resolved(args, context);
  const options = {
    ...(agent === undefined || agents.has(agent) ? {} : { agent }),
    ...(turn === undefined ? {} : { turn }),
    ...(aborted ? { signal: AbortSignal.abort() } : {}),
  };
  const target = agents.get(agent) ?? ws;
  if (preset === undefined) return target.call(tool, given, options);
  const definition = product.toolsFor(target, preset).find(({ name }) => name === tool);
  return definition === undefined ? { missing: tool } : definition.execute(given, options);
}

/** Makes calls that begin at the same time; their answers are in the order of the calls. */
const together = ({ calls }, context) => Promise.all(calls.map((step) => outcomeOf(call(step, context))));

/** The functions that make the steps, by `do`. */
const STEPS = {
  call,
  together,
  undo,
  rewind,
  mark: ({ name }, { ws }) => ws.mark(name),
  marks: (_, { ws }) => ws.marks(),
  history: (_, { ws }) => ws.history({ unrecorded: true }),
  changes: async ({ nth }, { ws }) => ws.changes(await nthCall(ws, nth)),
  blame: ({ path }, { ws }) => ws.blame(path),
  unreviewed: (_, { ws }) => ws.unreviewed(),
  keep: async ({ nth }, { ws }) => ws.keep(await nthCall(ws, nth), { by: "ana" }),
  why: ({ question }, { ws }) => ws.why(question),
  policy: (_, { ws }) => ws.policy(),
  approvals: async (_, { ws }) => ws.approvals.list(),
  async revoke(_, { ws }) {
    const [first] = await ws.approvals.list();
    return first === undefined ? "none" : ws.approvals.revoke(first.id);
  },
  grants: (_, { ws }) => ws.grants.list(),
  grant: ({ grant }, { ws }) => ws.grants.add(grant),
  async foreign({ acts }, { place }) {
    const made = [];
    for (const act of acts) made.push(await place.foreign(act));
    return made;
  },
  async fork({ name, steps, end, text }, context) {
    const fork = await context.ws.fork(name);
    const answers = [];
    const within = { ...context, ws: fork, agents: new Map() };
    for (const step of steps) answers.push(await outcomeOf(makeStep(step, within)));
    for (const act of end.acts ?? []) await context.place.foreign(act);
    const diff = await outcomeOf(fork.diff({ text }));
    const merged = end.merge === undefined ? undefined : await outcomeOf(fork.merge(end.merge));
    await fork.drop();
    return { answers, diff, merged };
  },
  async agent({ name, options }, context) {
    context.agents.set(name, await context.ws.agent(name, options));
    return "opened";
  },
  spent: ({ agent }, { agents }) => agents.get(agent)?.spent(),
  async reopen(_, context) {
    await context.ws.close();
    context.agents.clear();
    context.ws = await context.open();
    return "opened";
  },
  async close(_, { ws }) {
    await ws.close();
    return "closed";
  },
};

/** Makes one step. @returns what it answers; rejects where the product does */
export async function makeStep(step, context) {
  return STEPS[step.do](step, context);
}
