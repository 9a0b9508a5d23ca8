/** How many calls of a workspace run at once. */
import { expect, test } from "vitest";
import { MemoryBackend, openWorkspace } from "../../js/index.node.ts";

/** Storage whose reads wait until they are let go, and how many waited at most. */
function slowStorage(files: number) {
  const seed = Object.fromEntries(Array.from({ length: files }, (_, at) => [`/w/f${at}`, `${at}\n`]));
  const backend = new MemoryBackend(seed);
  const state = { waiting: 0, most: 0, order: [] as string[] };
  const read = backend.read.bind(backend);
  backend.read = async (path, options) => {
    state.waiting += 1;
    state.order.push(path);
    state.most = Math.max(state.most, state.waiting);
    await new Promise((done) => setTimeout(done, 10));
    state.waiting -= 1;
    return read(path, options);
  };
  return { backend, state };
}

async function readAll(concurrency: number | undefined) {
  const { backend, state } = slowStorage(12);
  await using ws = await openWorkspace({
    backend,
    root: "/w",
    ...(concurrency === undefined ? {} : { concurrency }),
  });
  const calls = Array.from({ length: 12 }, (_, at) => ws.call("read_file", { path: `f${at}` }));
  return { state, results: await Promise.all(calls) };
}

test("as many calls run at once as the host says; the others wait in their order", async () => {
  const { state, results } = await readAll(3);
  expect(results.every(({ ok }) => ok)).toBe(true);
  expect(state.most).toBe(3);
  expect([...new Set(state.order)]).toEqual(Array.from({ length: 12 }, (_, at) => `/w/f${at}`));
  expect(results.map(({ meta }) => meta.queued_ms !== undefined)).toEqual([
    ...Array.from({ length: 3 }, () => false),
    ...Array.from({ length: 9 }, () => true),
  ]);
});

test("without a word of the host all of them run at once", async () => {
  const { state, results } = await readAll(undefined);
  expect(state.most).toBe(12);
  expect(results.some(({ meta }) => meta.queued_ms !== undefined)).toBe(false);
});

test("a call that is cancelled while it waits gives up its turn, and failures give theirs back", async () => {
  const { backend } = slowStorage(3);
  await using ws = await openWorkspace({ backend, root: "/w", concurrency: 1 });
  const stop = new AbortController();
  const first = ws.call("read_file", { path: "f0" });
  const second = ws.call("glob", { pattern: "*" }, { signal: stop.signal });
  const third = ws.call("read_file", { path: "gone" });
  const last = ws.call("read_file", { path: "f2" });
  stop.abort();
  expect((await second).error?.code).toBe("CANCELLED");
  expect((await third).error?.code).toBe("NOT_FOUND");
  expect([(await first).ok, (await last).ok]).toEqual([true, true]);
});

test("a batch and the calls of an agent count, and a batch does not wait for itself", async () => {
  const { backend, state } = slowStorage(4);
  await using ws = await openWorkspace({ backend, root: "/w", concurrency: 1 });
  const agent = await ws.agent("helper");
  const read = (path: string) => ({ tool: "read_file", args: { path } });
  const results = await Promise.all([
    ws.call("batch", { operations: [read("f0"), { tool: "write_file", args: { path: "n", content: "x" } }] }),
    agent.call("read_file", { path: "f1" }),
    ws.call("read_file", { path: "f2" }),
  ]);
  expect(results.map(({ ok, text }) => ok || text)).toEqual([true, true, true]);
  expect(state.most).toBe(1);
});
