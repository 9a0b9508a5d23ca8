// Measures in Chromium: the time until the engine is ready, by itself and with its script, against
// the import of jsdiff; the longest pause of the page while workers process large texts, against an
// idle page beside an equally busy worker; and the time of a search in memory.
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { build } from "esbuild";
import { chromium } from "playwright-core";
import { median } from "../lib/measure.mjs";
import { Skip } from "../lib/skip.mjs";
import { warmSearchRow } from "./wasm.mjs";

export const title = "browser: the engine in Chromium, against jsdiff and against an idle page";

/** The maximum time until the module is ready, in milliseconds. */
const MAX_READY_MS = 100;
/** The maximum pause of the page, in milliseconds: one frame. */
const MAX_PAUSE_MS = 16;
const ROUND_COUNT = 7;

const BROWSER_PATHS = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

export async function* rows({ root }) {
  const executablePath = process.env.FILEWRIGHT_CHROMIUM || BROWSER_PATHS.find((place) => existsSync(place));
  if (executablePath === undefined) throw new Skip("no Chromium here");
  const wasm = join(root, "dist/wasm/filewright_bg.wasm");
  if (!existsSync(wasm)) throw new Skip("the module is not built (npm run build:wasm)");
  const server = await serveFiles({
    ...(await bundleScripts(root)),
    "filewright_bg.wasm": readFileSync(wasm),
  });
  const args = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
  const browser = await chromium.launch({ executablePath, args });
  try {
    const url = `http://127.0.0.1:${server.address().port}/`;
    yield* readinessRows(browser, url);
    yield* pauseRows(browser, url);
    yield await memorySearchRow(browser, url);
  } finally {
    await browser.close();
    server.close();
  }
}

/**
 * Measures the time until each is ready, in a new profile, so that nothing is cached. The module is
 * fetched at the same time as the script, as docs/guides/browsers.md recommends.
 */
async function* readinessRows(browser, url) {
  const one = async (script, module) => {
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(url);
    const took = await page.evaluate(
      async ({ script, module }) => {
        const begun = performance.now();
        const fetched = module && fetch(module);
        const { startEngine } = await import(script);
        const read = performance.now();
        await startEngine(fetched);
        const ended = performance.now();
        return { all: ended - begun, engine: ended - read };
      },
      { script: `/${script}.js`, module },
    );
    await context.close();
    return took;
  };
  const wasm = "/filewright_bg.wasm";
  const [alone, page] = [[], []];
  for (let round = 0; round < ROUND_COUNT; round++) {
    const peer = (await one("jsdiff")).all;
    alone.push({ ours: (await one("engine")).engine, peer });
    page.push({ ours: (await one("engine", wasm)).all, peer });
  }
  yield comparisonRow("the module: fetched, compiled and answering", "jsdiff", alone, MAX_READY_MS);
  yield comparisonRow("script and module: fetched, compiled and answering", "jsdiff", page, MAX_READY_MS);
}

/**
 * Returns the row of pairs of times in milliseconds, the first of which must stay below `limit_ms`.
 */
function comparisonRow(name, peer, samples, limit_ms) {
  const ours_ms = median(samples.map(({ ours }) => ours));
  return {
    name,
    peer,
    ours_ms,
    peer_ms: median(samples.map(({ peer: theirs }) => theirs)),
    faster: median(samples.map(({ ours, peer: theirs }) => theirs / ours)),
    rounds: ROUND_COUNT,
    limit_ms,
    met: ours_ms < limit_ms,
  };
}

async function* pauseRows(browser, url) {
  const page = await browser.newPage();
  await page.goto(url);
  await page.evaluate(async () => Object.assign(globalThis, { lab: await import("/pauses.js") }));
  for (const what of ["search", "diff", "edit"]) {
    const samples = [];
    for (let round = 0; round < ROUND_COUNT; round++)
      samples.push(await page.evaluate((name) => globalThis.lab.compareLongestWaits(name), what));
    yield {
      ...comparisonRow(
        `the page's longest wait during a long ${what}`,
        "an idle page",
        samples,
        MAX_PAUSE_MS,
      ),
      note: `work of ${median(samples.map(({ took }) => took)).toFixed(0)} ms`,
    };
  }
}

async function memorySearchRow(browser, url) {
  const page = await browser.newPage();
  await page.goto(url);
  return warmSearchRow(await page.evaluate(async () => (await import("/memory.js")).measureMemorySearches()));
}

const ENGINE_SCRIPT = `
import { diff, ready } from "./dist/engine/index.js";
export const startEngine = async (module = new URL("/filewright_bg.wasm", location.href)) => {
  await ready(module);
  return diff("a\\n", "b\\n").text;
};`;

const MEMORY_SEARCH_SCRIPT = `
import { MemoryBackend, openWorkspace } from "./dist/filewright.js";
import { grepBackend } from "./dist/backends/search/search.js";
import { ready } from "./dist/engine/index.js";
import { measureSearches } from "./bench/lib/memory-tree.mjs";
export const measureMemorySearches = async () => {
  await ready(new URL("/filewright_bg.wasm", location.href));
  return measureSearches({ MemoryBackend, openWorkspace, grepBackend });
};`;

const JSDIFF_SCRIPT = `
import { createTwoFilesPatch } from "diff";
export const startEngine = async () => createTwoFilesPatch("a", "b", "a\\n", "b\\n");`;

const BUSY_WORKER_SCRIPT = `
onmessage = ({ data }) => {
  for (const end = performance.now() + data; performance.now() < end; );
  postMessage(0);
};`;

const PAUSE_SCRIPT = `
import { diffAsync, grepTextAsync, planEditsBytesAsync } from "./dist/engine/index.js";
import { useWorkers } from "./dist/engine/workers/workers.js";

const textBytes = (lines, salt) =>
  new TextEncoder().encode(
    Array.from({ length: lines }, (_, i) => \`some line \${(i * 7919 + salt) % 10007} of text with (words)\\n\`).join(""),
  );
const [before, after] = [textBytes(20000, 0), textBytes(20000, 5)];
const WORK_BY_NAME = {
  search: () => grepTextAsync(before, { pattern: "(some|line|of|text|with)[^x]{1,60}zz" }),
  diff: () => diffAsync(before, after),
  edit: () =>
    planEditsBytesAsync(before, [{ oldText: "some lime 3 of text wiht words\\nand more\\n" }], { match: "fuzzy" }),
};
const engineWorkers = await useWorkers({
  worker: () => new Worker("/worker.js", { type: "module" }),
  wasm: new URL("/filewright_bg.wasm", location.href),
  size: 1,
});
// Waits until the worker is ready before anything is measured.
await grepTextAsync(before, { pattern: "nothing" });
const busyWorker = new Worker("/busy.js");

/**
 * Returns the longest time between two turns of the page's event loop while some work runs, in
 * milliseconds.
 */
async function longestWaitDuring(work) {
  let longest = 0;
  let last = performance.now();
  const { port1, port2 } = new MessageChannel();
  const turn = () => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
    port2.postMessage(0);
  };
  port1.onmessage = turn;
  port2.postMessage(0);
  const begun = last;
  await work();
  const ended = performance.now();
  port1.close();
  return { longest: Math.max(longest, ended - last), took: ended - begun };
}

export async function compareLongestWaits(what) {
  const ours = await longestWaitDuring(() => WORK_BY_NAME[what]().catch(() => undefined));
  const idle = () =>
    new Promise((resolve) => {
      busyWorker.onmessage = resolve;
      busyWorker.postMessage(ours.took);
    });
  return { ours: ours.longest, peer: (await longestWaitDuring(idle)).longest, took: ours.took };
}`;

async function bundleScripts(root) {
  const bundle = async (contents, resolveDir = root) => {
    const { outputFiles } = await build({
      stdin: { contents, resolveDir },
      ...{ bundle: true, minify: true, write: false, format: "esm", platform: "browser", target: "es2023" },
      logLevel: "error",
      // Optional packages, which are loaded at run time if they are installed.
      external: ["sharp", "unpdf", "yaml", "@opentelemetry/api"],
    });
    return outputFiles[0].contents;
  };
  return {
    "": "<!doctype html><title>bench</title>",
    "engine.js": await bundle(ENGINE_SCRIPT),
    "jsdiff.js": await bundle(JSDIFF_SCRIPT, join(root, "bench")),
    "pauses.js": await bundle(PAUSE_SCRIPT),
    "memory.js": await bundle(MEMORY_SEARCH_SCRIPT),
    "worker.js": await bundle('import "./dist/engine/workers/worker.js";'),
    "busy.js": BUSY_WORKER_SCRIPT,
  };
}

function serveFiles(files) {
  const types = { js: "text/javascript", wasm: "application/wasm" };
  const server = createServer(({ url }, response) => {
    const name = url.slice(1);
    if (files[name] === undefined) return response.writeHead(404).end();
    response.writeHead(200, { "content-type": types[name.split(".").at(-1)] ?? "text/html" });
    response.end(files[name]);
  });
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server)));
}
