// One side of the comparison: a process that plays sessions through one package.
//
//   node side.mjs HOME SCRATCH     HOME resolves `filewright`; SCRATCH is an empty directory of this side
//
// A line of standard input is a session, a line of standard output is what happened in it.
import { mkdirSync, realpathSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { hostFunctions } from "./hosts.mjs";
import { inMemory, inStorage, onDisk, onOverlay } from "./places.mjs";
import { plainValues, withoutOrder } from "./plain.mjs";
import { lockMounts, MOUNTS, mountAll, unmountAll } from "./sites.mjs";
import { makeStep, outcomeOf } from "./steps.mjs";

const [home, scratch] = process.argv.slice(2);

/** The entries of the package that sessions use. A later package may have their exports at another entry. */
const ENTRIES = ["filewright", "filewright/backends", "filewright/storage", "filewright/presets"];

async function loadProduct() {
  const { resolve } = createRequire(join(home, "package.json"));
  const product = {};
  for (const entry of ENTRIES) {
    const file = resolve(entry);
    if (!file.startsWith(realpathSync(home)))
      throw new Error(`${entry} is ${file}, which is not below ${home}`);
    Object.assign(product, await import(pathToFileURL(file).href));
  }
  return product;
}

/** Returns the names and schemas of the tools of every preset. */
async function toolsOf(product, presets) {
  const ws = await product.openWorkspace({
    root: "/m",
    backend: new product.MemoryBackend({ "/m": { type: "dir" } }),
    knows: "names",
  });
  const found = {};
  for (const preset of presets) {
    found[preset] = product
      .toolsFor(ws, preset)
      .map(({ name, inputSchema, kind, description, annotations }) => ({
        name,
        inputSchema,
        kind,
        description,
        annotations,
      }));
  }
  // A side that has fallen back to another engine would compare something else.
  const { kind, name } = ws.capabilities().engine;
  await ws.close();
  return { tools: found, engine: kind ?? name };
}

/** The directory of sessions in memory, which must be part of no other name. */
const MEMORY_BASE = "/versus-memory";

const openers = { disk: onDisk, memory: inMemory, overlay: onOverlay, storage: inStorage };

/** Plays one session. @returns {Promise<{ opened: unknown, steps: object[] }>} */
async function play(product, text, base, { mounts, stateDir }) {
  const session = JSON.parse(text.replaceAll("@@", base));
  const { plain, forgetOrder } = plainValues([
    [stateDir, "@@state"],
    [base, "@@"],
    [process.env.HOME, "@@home"],
  ]);
  const { tree, tops, options, hosts } = session;
  const open = openers[session.place];
  const place = session.place === "disk" ? open(tree, tops) : await open(product, tree, tops);
  lockMounts(mounts, base);
  let heard = [];
  const note = (kind, value) => heard.push([kind, plain(value)]);
  let isTogether = false;
  const openWorkspace = () =>
    product.openWorkspace({
      ...options,
      ...place.options,
      ...hostFunctions(hosts, note, { place, isTogether: () => isTogether }),
      ...(session.place === "disk" ? { stateDir } : {}),
    });
  const context = { product, place, cwd: session.cwd, agents: new Map(), open: openWorkspace, ws: undefined };
  const opened = await outcomeOf(openWorkspace());
  if (opened.failure !== undefined) return { opened: plain(opened.failure), steps: [] };
  context.ws = opened.value;
  const steps = [];
  let before = await place.snapshot();
  for (const step of session.steps) {
    heard = [];
    isTogether = step.do === "together";
    if (isTogether) forgetOrder();
    const { value, failure } = await outcomeOf(makeStep(step, context));
    const after = await place.snapshot();
    // The order in which calls that begin together are noted is not promised.
    const ordered = step.byTime ? withoutOrder : (same) => same;
    steps.push({
      ...(failure === undefined ? { answer: ordered(plain(value)) } : { raised: plain(failure) }),
      heard: isTogether || step.byTime ? withoutOrder(heard) : heard,
      changed: changedPaths(before, after, base),
    });
    before = after;
  }
  await context.ws.close();
  return { opened: "opened", steps };
}

/** Returns the new state of each path that differs. */
function changedPaths(before, after, base) {
  const changed = {};
  const shown = (path) => path.replaceAll(base, "@@");
  for (const [path, facts] of after)
    if (before.get(path) !== facts) changed[shown(path)] = facts.replaceAll(base, "@@");
  for (const path of before.keys()) if (!after.has(path)) changed[shown(path)] = "gone";
  return changed;
}

/** Plays a session in a directory of its own, which it removes. */
async function playAt(product, { place, site, session }, number) {
  const stateDir = join(scratch, `state${number}`);
  // Memory has the same paths on both sides. On a disk both have names of one length.
  if (place !== "disk") return play(product, session, MEMORY_BASE, { mounts: [], stateDir }).catch(brokenBy);
  const base = join(site === "folding" ? join(scratch, "folding") : scratch, `s${number}`);
  const mounts = MOUNTS[site] ?? [];
  mkdirSync(base, { recursive: true });
  mountAll(mounts, base);
  try {
    return await play(product, session, base, { mounts, stateDir }).catch(brokenBy);
  } finally {
    unmountAll(mounts, base);
    // FUSE keeps a removed file under a hidden name as long as it is open.
    const force = { recursive: true, force: true, maxRetries: site === "folding" ? 3 : 0 };
    for (const directory of [base, stateDir]) rmSync(directory, force);
  }
}

/** The answer of a session in which something failed that is no answer of the product. */
const brokenBy = (error) => ({ broken: String(error.stack) });

const product = await loadProduct();
let count = 0;
for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line);
  let answer;
  if (message.presets !== undefined) answer = await toolsOf(product, message.presets);
  else {
    answer = await playAt(product, message, String(count++).padStart(6, "0"));
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
