// Measures what the review page costs the process of an agent.
//
// The cost is a few hundredths of a call, and other load on the machine changes the time of a call by more than that. So
// it is not the difference of two long runs. The same small call is made with and without a page, each time after a real
// call on a disk, which leaves the caches as an agent does, and the processor time of each is taken by itself: all
// threads of the process, user and system. The order is random. What a call leaves to be done later, the message to the
// page, is made due at once by an event that is sent at once, and counted, too.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { meanOfMiddle, shuffled } from "./measure.mjs";

/** The calls of each side in an alternation. Their events are one message, as those of about 100 ms of calls are. */
const CALLS = 24;
/** The calls of an alternation whose events are a message each. */
const SINGLE_CALLS = 8;
const WARM_UP_CALLS = 2000;
/** The turns of the event loop in which a message is written. */
const TURNS = 5;
/** The milliseconds after which the page has asked for what it shows about a change. */
const SETTLED_MS = 500;

/** Opens the workspaces of the measurement. `open` opens a page at a link and resolves with its `close`. */
export async function openPageCost(modules, open) {
  const { MemoryBackend, openWorkspace, reviewHub, serveReviewPage } = modules;
  const folder = mkdtempSync(join(tmpdir(), "filewright-bench-review-"));
  const root = join(folder, "root");
  mkdirSync(root);
  const lines = Array.from({ length: 400 }, (_, index) => `line ${index} of a file that is read\n`);
  for (let at = 0; at < 20; at++) writeFileSync(join(root, `file${at}.txt`), lines.join(""));
  const disk = await openWorkspace({ root, guard: "off", stateDir: join(folder, "state") });
  const [unseenHub, hub] = [reviewHub(), reviewHub()];
  const small = (observers) => {
    const backend = new MemoryBackend({ "/w/a.txt": "one\n" });
    return openWorkspace({ backend, root: "/w", guard: "off", observers });
  };
  const sides = {
    plain: await small([]),
    again: await small([]),
    unseen: await small([unseenHub.observer]),
    seen: await small([hub.observer]),
  };
  const served = [await serveReviewPage(unseenHub), await serveReviewPage(hub)];
  const page = await open(served[1].link());
  const realCall = makeRealCalls(disk);
  const smallCall = (side) => sides[side].call("stat", { path: "a.txt" });
  for (let count = 0; count < WARM_UP_CALLS; count++) {
    for (const side of Object.keys(sides)) await smallCall(side);
    if (count % CALLS === 0) await sendNow(hub);
    if (count % 4 === 0) await realCall();
  }
  return {
    /**
     * Returns in microseconds the time of a real call (`call`), and the times added to a small one: by nothing
     * (`control`), an unopened page (`unseen`), an open one (`seen`), or one with a message per call (`alone`).
     */
    async alternation() {
      const real = [];
      const times = { plain: [], again: [], unseen: [], seen: [] };
      const order = Object.keys(times).flatMap((side) => Array.from({ length: CALLS }, () => side));
      for (const side of shuffled(order)) {
        real.push(await processorTime(realCall));
        times[side].push(await processorTime(() => smallCall(side)));
      }
      const message = (await processorTime(() => sendNow(hub))) - (await processorTime(() => turns()));
      const single = { sent: [], none: [] };
      for (let count = 0; count < 2 * SINGLE_CALLS; count++) {
        const isSent = count % 2 === 0;
        await smallCall("seen");
        await realCall();
        const run = isSent ? () => sendNow(hub) : () => turns();
        single[isSent ? "sent" : "none"].push(await processorTime(run));
        await sendNow(hub);
      }
      const call = meanOfMiddle(real);
      const plain = meanOfMiddle(times.plain);
      const seen = meanOfMiddle(times.seen) - plain;
      const one = meanOfMiddle(single.sent) - meanOfMiddle(single.none);
      return {
        call,
        control: meanOfMiddle(times.again) - plain,
        unseen: meanOfMiddle(times.unseen) - plain,
        seen: seen + message / CALLS,
        alone: seen + one,
      };
    },
    /**
     * Returns the processor times in microseconds that an undo, a mark or an unreviewed change costs later, because the
     * page then asks for the list of unreviewed calls. The history is as long as it can be.
     */
    async requests(rounds) {
      hub.attach(disk);
      await delay(SETTLED_MS);
      const times = [];
      for (let round = 0; round < rounds; round++) {
        const asked = await processorTime(() => {
          hub.noteHistory();
          return delay(SETTLED_MS);
        });
        times.push(asked - (await processorTime(() => delay(SETTLED_MS))));
      }
      return times;
    },
    async close() {
      await page.close();
      for (const one of [unseenHub, hub, ...served, disk, ...Object.values(sides)]) await one.close();
      rmSync(folder, { recursive: true });
    },
  };
}

/** Returns a function that makes the next call of an agent that reads, searches and edits files. */
function makeRealCalls(disk) {
  let count = 0;
  let line = "line 7 of";
  return () => {
    const step = count % 6;
    count += 1;
    if (step < 3) return disk.call("read_file", { path: `file${step}.txt` });
    if (step === 3) return disk.call("grep", { pattern: "line 399" });
    const [before, after] = [line, step === 4 ? `line 7 (${count}) of` : "line 7 of"];
    line = after;
    return disk.call("edit_file", { path: "file0.txt", old_text: before, new_text: after });
  };
}

async function processorTime(run) {
  const before = process.cpuUsage();
  await run();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

/** Has all gathered events sent at once, and waits until they are written. */
function sendNow(hub) {
  hub.noteHistory();
  return turns();
}

async function turns() {
  for (let turn = 0; turn < TURNS; turn++) await new Promise((done) => setImmediate(done));
}

const delay = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));
