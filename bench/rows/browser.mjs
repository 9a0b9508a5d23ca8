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
import { warmRow } from "./wasm.mjs";

export const title = "browser: the engine in Chromium, against jsdiff and against an idle page";

/** The maximum time until the module is ready, in milliseconds. */
const READY_MS = 100;
/** The maximum pause of the page, in milliseconds: one frame. */
const PAUSE_MS = 16;
const ROUNDS = 7;

const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

export async function* rows({ root }) {
  const executablePath = process.env.FILEWRIGHT_CHROMIUM || PLACES.find((place) => existsSync(place));
  if (executablePath === undefined) throw new Skip("no Chromium here");
  const wasm = join(root, "dist/wasm/filewright_bg.wasm");
  if (!existsSync(wasm)) throw new Skip("the module is not built (npm run build:wasm)");
  const server = await serve({ ...(await scripts(root)), "filewright_bg.wasm": readFileSync(wasm) });
  const args = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
  const browser = await chromium.launch({ executablePath, args });
  try {
    const url = `http://127.0.0.1:${server.address().port}/`;
    yield* readiness(browser, url);
    yield* pauses(browser, url);
    yield await memory(browser, url);
  } finally {
    await browser.close();
    server.close();
  }
}

/**
 * Measures the time until each is ready, in a new profile, so that nothing is cached. The module is
 * fetched at the same time as the script, as docs/guides/browsers.md recommends.
 */
async function* readiness(browser, url) {
  const one = async (script, module) => {
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(url);
    const took = await page.evaluate(
      async ({ script, module }) => {
        const begun = performance.now();
        const fetched = module && fetch(module);
        const { start } = await import(script);
        const read = performance.now();
        await start(fetched);
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
  for (let round = 0; round < ROUNDS; round++) {
    const peer = (await one("jsdiff")).all;
    alone.push({ ours: (await one("engine")).engine, peer });
    page.push({ ours: (await one("engine", wasm)).all, peer });
  }
  yield beside("the module: fetched, compiled and answering", "jsdiff", alone, READY_MS);
  yield beside("script and module: fetched, compiled and answering", "jsdiff", page, READY_MS);
}

/**
 * Returns the row of pairs of times in milliseconds, the first of which must stay below `limit_ms`.
 */
function beside(name, peer, samples, limit_ms) {
  const ours_ms = median(samples.map(({ ours }) => ours));
  return {
    name,
    peer,
    ours_ms,
    peer_ms: median(samples.map(({ peer: theirs }) => theirs)),
    faster: median(samples.map(({ ours, peer: theirs }) => theirs / ours)),
    rounds: ROUNDS,
    limit_ms,
    met: ours_ms < limit_ms,
  };
}

async function* pauses(browser, url) {
  const page = await browser.newPage();
  await page.goto(url);
  await page.evaluate(async () => Object.assign(globalThis, { lab: await import("/pauses.js") }));
  for (const what of ["search", "diff", "edit"]) {
    const samples = [];
    for (let round = 0; round < ROUNDS; round++)
      samples.push(await page.evaluate((name) => globalThis.lab.longest(name), what));
    yield {
      ...beside(`the page's longest wait during a long ${what}`, "an idle page", samples, PAUSE_MS),
      note: `work of ${median(samples.map(({ took }) => took)).toFixed(0)} ms`,
    };
  }
}

async function memory(browser, url) {
  const page = await browser.newPage();
  await page.goto(url);
  return warmRow(await page.evaluate(async () => (await import("/memory.js")).run()));
}

const ENGINE = `
import { diff, ready } from "./dist/engine/index.js";
export const start = async (module = new URL("/filewright_bg.wasm", location.href)) => {
  await ready(module);
  return diff("a\\n", "b\\n").text;
};`;

const MEMORY = `
import { MemoryBackend, openWorkspace } from "./dist/filewright.js";
import { grepBackend } from "./dist/backends/search/search.js";
import { ready } from "./dist/engine/index.js";
import { searches } from "./bench/lib/memory-tree.mjs";
export const run = async () => {
  await ready(new URL("/filewright_bg.wasm", location.href));
  return searches({ MemoryBackend, openWorkspace, grepBackend });
};`;

const JSDIFF = `
import { createTwoFilesPatch } from "diff";
export const start = async () => createTwoFilesPatch("a", "b", "a\\n", "b\\n");`;

const BUSY = `
onmessage = ({ data }) => {
  for (const end = performance.now() + data; performance.now() < end; );
  postMessage(0);
};`;

const PAUSES = `
import { diffAsync, grepTextAsync, planEditsBytesAsync } from "./dist/engine/index.js";
import { useWorkers } from "./dist/engine/workers/workers.js";

const text = (lines, salt) =>
  new TextEncoder().encode(
    Array.from({ length: lines }, (_, i) => \`some line \${(i * 7919 + salt) % 10007} of text with (words)\\n\`).join(""),
  );
const [before, after] = [text(20000, 0), text(20000, 5)];
const works = {
  search: () => grepTextAsync(before, { pattern: "(some|line|of|text|with)[^x]{1,60}zz" }),
  diff: () => diffAsync(before, after),
  edit: () =>
    planEditsBytesAsync(before, [{ oldText: "some lime 3 of text wiht words\\nand more\\n" }], { match: "fuzzy" }),
};
const workers = await useWorkers({
  worker: () => new Worker("/worker.js", { type: "module" }),
  wasm: new URL("/filewright_bg.wasm", location.href),
  size: 1,
});
// Waits until the worker is ready before anything is measured.
await grepTextAsync(before, { pattern: "nothing" });
const busy = new Worker("/busy.js");

/**
 * Returns the longest time between two turns of the page's event loop while some work runs, in
 * milliseconds.
 */
async function waits(work) {
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

export async function longest(what) {
  const ours = await waits(() => works[what]().catch(() => undefined));
  const idle = () =>
    new Promise((resolve) => {
      busy.onmessage = resolve;
      busy.postMessage(ours.took);
    });
  return { ours: ours.longest, peer: (await waits(idle)).longest, took: ours.took };
}`;

async function scripts(root) {
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
    "engine.js": await bundle(ENGINE),
    "jsdiff.js": await bundle(JSDIFF, join(root, "bench")),
    "pauses.js": await bundle(PAUSES),
    "memory.js": await bundle(MEMORY),
    "worker.js": await bundle('import "./dist/engine/workers/worker.js";'),
    "busy.js": BUSY,
  };
}

function serve(files) {
  const types = { js: "text/javascript", wasm: "application/wasm" };
  const server = createServer(({ url }, response) => {
    const name = url.slice(1);
    if (files[name] === undefined) return response.writeHead(404).end();
    response.writeHead(200, { "content-type": types[name.split(".").at(-1)] ?? "text/html" });
    response.end(files[name]);
  });
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server)));
}
