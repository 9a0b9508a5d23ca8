// Measures the review page in Chromium: what a page that is open costs the agent, and how quickly the page shows what
// waits and what runs. Each row has the fixed target of the design; the peers of the page are those targets.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { collectGarbage, median, medianInterval } from "../lib/measure.mjs";
import { openPageCost } from "../lib/page-cost.mjs";
import { Skip } from "../lib/skip.mjs";

export const title = "review: the review page in Chromium, against its targets";

const BROWSER_PATHS = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const ALTERNATIONS = 31;
const REQUEST_ROUNDS = 15;
const EVENTS_PER_SECOND = 1000;

export async function* rows({ load }) {
  const executablePath = process.env.FILEWRIGHT_CHROMIUM || BROWSER_PATHS.find((place) => existsSync(place));
  if (executablePath === undefined) throw new Skip("no Chromium here");
  const args = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
  const browser = await chromium.launch({ executablePath, args });
  const modules = { ...(await load("index.node.js")), ...(await load("review/index.node.js")) };
  try {
    yield* costRows(executablePath, modules);
    yield* eventRows(browser, modules);
    yield* waitingRows(browser, modules);
    yield* timelineRows(browser, modules);
    yield* diffRows(browser, modules);
    yield* firstPaintRows(browser, modules);
  } finally {
    await browser.close();
  }
}

/** Opens a workspace in memory with a page, which may be looked at. */
async function openPlace(
  { MemoryBackend, openWorkspace, reviewHub, serveReviewPage },
  files,
  isAsked = true,
) {
  const hub = reviewHub();
  const backend = new MemoryBackend(files);
  const ws = await openWorkspace({
    ...{ backend, root: "/w", guard: "off", observers: [hub.observer] },
    ...(isAsked ? { confirm: hub.confirm } : {}),
  });
  const served = await serveReviewPage(hub);
  return {
    ...{ hub, backend, ws, served },
    async close() {
      hub.close();
      await served.close();
      await ws.close();
    },
  };
}

/** Opens the page of a place, which counts the events that arrive. */
async function openPage(browser, { served }) {
  const context = await browser.newContext();
  await context.addInitScript(() => {
    globalThis.seen = { count: 0, last: 0 };
    globalThis.EventSource = class extends EventSource {
      constructor(address) {
        super(address);
        this.addEventListener("message", ({ lastEventId, data }) => {
          for (const seq of data.matchAll(/"seq":(\d+)/gu)) {
            globalThis.seen.count += 1;
            globalThis.seen.last = Number(seq[1]);
          }
          void lastEventId;
        });
      }
    };
  });
  const page = await context.newPage();
  await page.goto(served.link());
  await page.getByText("live", { exact: true }).first().waitFor();
  return page;
}

/** Opens the page in Chromium, both in processes of their own. Resolves when the page is live. */
async function openPageElsewhere(link, executablePath) {
  const script = fileURLToPath(new URL("../lib/open-page.mjs", import.meta.url));
  const child = spawn(process.execPath, [script, link, executablePath], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const ended = once(child, "exit");
  const [first] = await Promise.race([once(child.stdout, "data"), ended]);
  if (String(first) !== "open\n") throw new Error(`the page did not open: ${String(first)}`);
  return {
    async close() {
      child.stdin.end();
      await ended;
    },
  };
}

/** Measures the processor time that a page costs the process of an agent, as a share of the time of a call. */
async function* costRows(executablePath, modules) {
  const cost = await openPageCost(modules, (link) => openPageElsewhere(link, executablePath));
  const samples = [];
  for (let round = 0; round < ALTERNATIONS; round++) samples.push(await cost.alternation());
  const requests = await cost.requests(REQUEST_ROUNDS);
  await cost.close();
  const call = median(samples.map((sample) => sample.call));
  const row = (name, added, shares) => {
    const [low, high] = medianInterval(shares).map((share) => (100 * share).toFixed(1));
    return targetRow(name, added / 1000, (call * 0.03) / 1000, {
      peer: `3 % of a call on a disk (${call.toFixed(0)} µs)`,
      note: `${(100 * median(shares)).toFixed(1)} % (${low} to ${high} %)`,
    });
  };
  for (const [side, name] of [
    ["control", "added to a call by nothing (the control)"],
    ["unseen", "added to a call by a page that nobody looks at"],
    ["seen", "added to a call by a page open, with calls in a row"],
    ["alone", "added to a call by a page open, a message for each call"],
  ]) {
    const added = median(samples.map((sample) => sample[side]));
    yield row(
      name,
      added,
      samples.map((sample) => sample[side] / sample.call),
    );
  }
  yield row(
    "the list that a page reads after an undo, a mark or an unreviewed change",
    median(requests),
    requests.map((one) => one / call),
  );
}

async function* eventRows(browser, modules) {
  const place = await openPlace(modules, { "/w/a.txt": "one\n" });
  const { hub, ws } = place;
  const page = await openPage(browser, place);
  const shown = [];
  for (let round = 0; round < 15; round++) {
    const stop = new AbortController();
    const text = `round-${round}.txt`;
    const drawn = page.evaluate(
      (wanted) =>
        new Promise((done) => {
          const look = () => {
            if (!document.body.textContent.includes(wanted)) return;
            observer.disconnect();
            done(performance.timeOrigin + performance.now());
          };
          const observer = new MutationObserver(look);
          observer.observe(document.body, { subtree: true, childList: true, characterData: true });
          look();
        }),
      text,
    );
    await page.evaluate(() => 0);
    const started = performance.timeOrigin + performance.now();
    const call = ws.call("write_file", { path: text, content: "one\n" }, { signal: stop.signal });
    shown.push((await drawn) - started);
    stop.abort();
    await call;
  }
  yield targetRow("a question: asked to visible", median(shown), 100);

  const before = await page.evaluate(() => globalThis.seen);
  const started = performance.now();
  const seconds = 5;
  // Each call is two events.
  for (let sent = 0; sent < EVENTS_PER_SECOND * seconds; sent += 2) {
    const due = started + (1000 * sent) / EVENTS_PER_SECOND;
    if (performance.now() < due) await new Promise((done) => setTimeout(done, due - performance.now()));
    await ws.call("read_file", { path: "a.txt" });
  }
  const sent = performance.now() - started;
  const { seq } = hub.snapshot({ role: "watch", by: "" }).state;
  await page.waitForFunction((last) => globalThis.seen.last >= last, seq);
  const late = performance.now() - started - sent;
  const after = await page.evaluate(() => globalThis.seen);
  yield targetRow(
    `the last of ${EVENTS_PER_SECOND * seconds} events at ${EVENTS_PER_SECOND}/s: sent to arrived`,
    late,
    500,
    {
      note: `${after.count - before.count} arrived, ${Math.round((1000 * EVENTS_PER_SECOND * seconds) / sent)}/s sent`,
    },
  );

  const session = await page.context().newCDPSession(page);
  const pageHeap = async () => {
    await session.send("HeapProfiler.collectGarbage");
    return (await session.send("Runtime.getHeapUsage")).usedSize;
  };
  const heaps = [];
  for (let round = 0; round < 5; round++) {
    for (let count = 0; count < 10_000; count++) {
      await ws.call("stat", { path: "a.txt" });
      if (count % 50 === 49) await new Promise((done) => setTimeout(done, 1));
    }
    const { seq: last } = hub.snapshot({ role: "watch", by: "" }).state;
    await page.waitForFunction((number) => globalThis.seen.last >= number, last);
    collectGarbage();
    heaps.push({ server: process.memoryUsage().heapUsed, page: await pageHeap() });
  }
  for (const side of ["server", "page"]) {
    const [first, last] = [heaps[1][side], heaps.at(-1)[side]];
    yield {
      ...targetRow(
        `memory of the ${side} after 100,000 events, in MiB`,
        last / 2 ** 20,
        (first * 1.1) / 2 ** 20,
        {
          peer: "110 % of that after 40,000",
        },
      ),
      unit: "MiB",
    };
  }
  await page.context().close();
  await place.close();
}

async function* waitingRows(browser, modules) {
  const count = 1000;
  const files = Object.fromEntries(
    Array.from({ length: count }, (_, at) => [`/w/src/dir${at % 20}/file${at}.ts`, "one\n"]),
  );
  const place = await openPlace(modules, files);
  const calls = Object.keys(files).map((path, at) =>
    place.ws.call("write_file", { path: path.slice(3), content: `two ${at}\n` }, { agent: `agent${at % 5}` }),
  );
  while (place.hub.queue.pending().length < count) await new Promise((done) => setTimeout(done, 10));
  const page = await openPage(browser, place);
  await page.getByRole("grid").getByText("two 0").waitFor();
  const nodes = await page.evaluate(() => document.querySelectorAll("*").length);
  yield targetRow(`elements of the page with ${count} questions`, nodes, 1500, { unit: "elements" });
  const times = await page.evaluate(async () => {
    const painted = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    const found = [];
    for (let step = 0; step < 30; step++) {
      await painted();
      const start = performance.now();
      document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "j", bubbles: true }));
      await painted();
      found.push(performance.now() - start);
    }
    return found;
  });
  yield targetRow(`the next of ${count} questions: key to painted`, median(times), 50);
  const list = await scrollTimes(page, "ul");
  yield targetRow(`scroll through ${count} questions: p99 of a frame`, list.p99, 25);
  place.hub.close();
  await Promise.all(calls);
  await page.context().close();
  await place.close();
}

/** The list of a journal holds 200 calls; a storage that others keep can hold more, so its answer is made longer here. */
async function* timelineRows(browser, modules) {
  const [recorded, copies] = [200, 50];
  const place = await openPlace(modules, {}, false);
  place.hub.attach(place.ws);
  for (let at = 0; at < recorded; at++)
    await place.ws.call("write_file", { path: `src/dir${at % 20}/file${at}.ts`, content: `${at}\n` });
  const page = await openPage(browser, place);
  await page.route(/\/review\/history(?:\?|$)/u, async (route) => {
    const response = await route.fetch();
    const answer = await response.json();
    const entries = Array.from({ length: copies }, (_, copy) =>
      answer.entries.map((entry) => ({
        ...entry,
        callId: copy === 0 ? entry.callId : `${entry.callId}-${copy}`,
      })),
    ).flat();
    await route.fulfill({ response, json: { ...answer, entries } });
  });
  await page.getByRole("button", { name: "Timeline" }).click();
  await page.locator(".tl-row").first().waitFor();
  const shown = await page.evaluate(() => ({
    nodes: document.querySelectorAll("*").length,
    rows: Number(document.querySelector(".tl-row").getAttribute("aria-setsize")),
  }));
  yield targetRow(`elements of the page with ${shown.rows} calls on the timeline`, shown.nodes, 300, {
    unit: "elements",
  });
  const list = await scrollTimes(page, ".tl-row");
  yield targetRow(`scroll through ${shown.rows} calls of the timeline: p99 of a frame`, list.p99, 25);
  await page.context().close();
  await place.close();
}

/** Scrolls the first scrolling element around, or above, one that a selector finds. Returns the times of frames. */
function scrollTimes(page, selector) {
  return page.evaluate(async (wanted) => {
    let element = document.querySelector(wanted);
    while (element !== null && element.scrollHeight <= element.clientHeight + 1)
      element = element.parentElement;
    const found = [];
    const frame = () => new Promise((done) => requestAnimationFrame(done));
    let last = await frame();
    for (let step = 0; step < 120; step++) {
      if (element !== null) element.scrollTop = (element.scrollTop + 2000) % element.scrollHeight;
      const now = await frame();
      found.push(now - last);
      last = now;
    }
    found.sort((a, b) => a - b);
    return { p50: found[60], p99: found[118], isScrolled: element !== null };
  }, selector);
}

async function* diffRows(browser, modules) {
  const lines = Array.from({ length: 20_000 }, (_, index) => `${index} ${"abcdefghij ".repeat(4)}\n`);
  const after = lines.map((line, index) => (index % 10 === 5 ? `changed ${line}` : line)).join("");
  const place = await openPlace(modules, { "/w/small.txt": "one\n", "/w/big.txt": lines.join("") });
  const page = await openPage(browser, place);
  const calls = [place.ws.call("write_file", { path: "small.txt", content: "two\n" })];
  await page.getByRole("grid").getByText("two").waitFor();
  calls.push(place.ws.call("write_file", { path: "big.txt", content: after }));
  await page.getByRole("button", { name: "big.txt" }).click();
  await page.getByText("2000 of 2000 hunks chosen").waitFor();
  const times = await page.evaluate(async () => {
    const painted = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    const card = (name) =>
      [...document.querySelectorAll("button")].find((one) => one.textContent.includes(name));
    const found = [];
    for (let round = 0; round < 5; round++) {
      card("small.txt").click();
      while (document.querySelectorAll("[role=row]").length > 19) await painted();
      const start = performance.now();
      card("big.txt").click();
      while (document.querySelectorAll("[role=row]").length < 20) await painted();
      found.push(performance.now() - start);
    }
    return found;
  });
  yield targetRow("a diff of 1 MB with 2,000 changes: click to painted", median(times), 100);
  place.hub.close();
  await Promise.all(calls);
  await page.context().close();
  await place.close();
}

async function* firstPaintRows(browser, modules) {
  const place = await openPlace(modules, {});
  const times = [];
  for (let round = 0; round < 7; round++) {
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(place.served.link());
    await page.getByText("live", { exact: true }).first().waitFor();
    times.push(
      await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0].startTime),
    );
    await context.close();
  }
  yield targetRow("first paint without a cache", median(times), 1000);
  await place.close();
}

/** Returns the row of a figure that must stay below a target. */
function targetRow(name, ours_ms, limit_ms, { peer = "the target", note, unit } = {}) {
  return {
    ...{
      name,
      peer,
      ours_ms,
      peer_ms: limit_ms,
      faster: limit_ms / ours_ms,
      limit_ms,
      met: ours_ms < limit_ms,
    },
    ...(note === undefined ? {} : { note }),
    ...(unit === undefined ? {} : { unit }),
  };
}
