/** Turns of calls that walk, and the time that they are given. */
import { describe, expect, it } from "vitest";
import { MemoryBackend, openWorkspace } from "../../js/index.node.ts";
import { ScanQueue } from "../../js/pipeline/scheduling/scans.ts";

const never = (): AbortSignal => new AbortController().signal;

/** Asks for a turn, and notes when it comes. */
function ask(
  queue: ScanQueue,
  name: string,
  log: string[],
  signal = never(),
  tenant?: string,
): Promise<() => void> {
  return Promise.resolve(queue.admit({ name, tenant }, signal)).then((end) => {
    log.push(name);
    return end;
  });
}

describe("the queue of scans", () => {
  it("gives the clients their turns one after another when many calls of one wait", async () => {
    const queue = new ScanQueue();
    const log: string[] = [];
    const busy = [];
    for (const client of ["x", "y"]) {
      for (let call = 0; call < 4; call++) busy.push(await ask(queue, client, []));
    }
    const waiting = [];
    for (let call = 0; call < 3; call++) waiting.push(ask(queue, "a", log));
    for (const client of ["b", "c"]) waiting.push(ask(queue, client, log));
    for (const end of busy) end();
    for (const end of await Promise.all(waiting)) end();
    expect(log.slice(0, 3)).toEqual(["a", "b", "c"]);
  });

  it("leaves places for others when one client asks for all", async () => {
    const queue = new ScanQueue();
    const log: string[] = [];
    for (let call = 0; call < 100; call++) void ask(queue, "greedy", log);
    await ask(queue, "other", log);
    expect(log).toEqual(["greedy", "greedy", "greedy", "greedy", "other"]);
  });

  it("gives tenants their turns first, and then the clients of each", async () => {
    const queue = new ScanQueue();
    const log: string[] = [];
    const busy = [];
    for (const client of ["x", "y"]) {
      for (let call = 0; call < 4; call++) busy.push(await ask(queue, client, []));
    }
    const waiting = [];
    for (let client = 0; client < 20; client++)
      waiting.push(ask(queue, `many ${client}`, log, never(), "many"));
    waiting.push(ask(queue, "few 0", log, never(), "few"), ask(queue, "few 1", log, never(), "few"));
    for (const end of busy) {
      end();
      await new Promise((resolve) => setImmediate(resolve));
    }
    await expect.poll(() => log.length).toBe(8);
    expect(log.slice(0, 4)).toEqual(["many 0", "few 0", "many 1", "few 1"]);
    for (const end of await Promise.race([Promise.all(waiting.slice(0, 6))])) end();
    await expect.poll(() => log.length).toBeGreaterThan(8);
  });

  it("leaves places for other tenants when the clients of one ask for all", async () => {
    const queue = new ScanQueue();
    const log: string[] = [];
    for (let client = 0; client < 50; client++) void ask(queue, "one of many", log, never(), "many");
    for (let client = 0; client < 50; client++) void ask(queue, `${client}`, log, never(), "many");
    await ask(queue, "other", log, never(), "other");
    expect(log.filter((name) => name !== "other")).toHaveLength(6);
  });

  it("forgets a call that is cancelled while it waits", async () => {
    const queue = new ScanQueue();
    const ends = [];
    for (let call = 0; call < 4; call++) ends.push(await ask(queue, "a", []));
    const cancel = new AbortController();
    const call = ask(queue, "a", [], cancel.signal);
    cancel.abort();
    await expect(call).rejects.toMatchObject({ code: "CANCELLED" });
    for (const end of ends) end();
    (await ask(queue, "a", []))();
  });

  it("counts a turn that is ended twice once", async () => {
    const queue = new ScanQueue();
    const end = await ask(queue, "a", []);
    end();
    end();
    const log: string[] = [];
    for (let call = 0; call < 5; call++) void ask(queue, "a", log);
    await Promise.resolve();
    await Promise.resolve();
    expect(log.length).toBe(4);
  });
});

describe("a call that waited for its turn", () => {
  it("says how long in meta.queued_ms, and a read does not wait", async () => {
    const { backend, release } = slow();
    const ws = await openWorkspace({ root: "/ws", backend });
    const calls = Array.from({ length: 5 }, () => ws.call("glob", { pattern: "*" }));
    // The places of this client are taken; what reads one file is answered all the same.
    const read = await ws.call("read_file", { path: "a.txt" });
    expect(read.ok).toBe(true);
    expect(read.meta.queued_ms).toBeUndefined();
    release();
    const results = await Promise.all(calls);
    expect(results.map(({ ok }) => ok)).toEqual([true, true, true, true, true]);
    expect(results.map(({ meta }) => (meta.queued_ms ?? 0) > 0)).toEqual([false, false, false, false, true]);
    await ws.close();
  });
});

describe("a batch that walks", () => {
  it("waits for its turn like any call, and gives its place back before its next operation", async () => {
    const files = Array.from({ length: 10 }, (_, n) => [`/ws/d${n}/a.txt`, "x"]);
    const backend = new MemoryBackend(Object.fromEntries(files));
    const listDir = backend.listDir.bind(backend);
    let [running, most] = [0, 0];
    Object.defineProperty(backend, "listDir", {
      async value(path: string) {
        most = Math.max(most, ++running);
        await new Promise(setImmediate);
        running--;
        return listDir(path);
      },
    });
    const ws = await openWorkspace({ root: "/ws", backend });
    const walk = { tool: "glob", args: { pattern: "*" } };
    const batches = Array.from({ length: 12 }, () => ws.call("batch", { operations: [walk, walk] }));
    expect(
      (await Promise.all(batches)).map(({ text }) => text).filter((text) => /^Error/.test(text)),
    ).toEqual([]);
    // A walk lists one directory at a time, and a client has four walks at once.
    expect(most).toBe(4);
    await ws.close();
  });
});

describe("timeout_ms", () => {
  it.each([
    ["glob", { pattern: "*" }],
    ["list_directory", { depth: 2, respect_ignore: true }],
    ["find_files", { query: "a" }],
  ])("ends %s with TIMEOUT when its time is over", async (tool, args) => {
    const { backend } = slow();
    const ws = await openWorkspace({ root: "/ws", backend, knows: "names" });
    const result = await ws.call(tool, { ...args, timeout_ms: 20 });
    expect(result.error?.code).toBe("TIMEOUT");
    expect(result.error?.details).toEqual({ timeout_ms: 20 });
    expect(result.text).toContain("timeout_ms");
    await ws.close();
  });

  it("gives the files read so far when the time of read_many_files is over", async () => {
    const backend = new MemoryBackend(
      Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`/ws/f${n + 10}.txt`, "text\n"])),
    );
    const ws = await openWorkspace({ root: "/ws", backend });
    const paths = Array.from({ length: 40 }, (_, n) => `f${n + 10}.txt`);
    const result = await ws.call(
      "read_many_files",
      { paths, timeout_ms: 1000 },
      { onProgress: () => block(1100) },
    );
    expect(result.ok).toBe(true);
    expect(result.data?.truncated).toBe(true);
    expect(result.data?.files.length).toBe(8);
    expect(result.data?.skipped.length).toBe(32);
    expect(result.data?.skipped[0]).toMatchObject({ path: "f18.txt", code: "TIMEOUT" });
    expect(result.text).toContain("1000 ms were over");
    await ws.close();
  });

  it("does not count during a question", async () => {
    const backend = new MemoryBackend({ "/ws/d/a.txt": "x" });
    const ws = await openWorkspace({
      root: "/ws",
      backend,
      confirm: async () => {
        await new Promise((resolve) => setTimeout(resolve, 1_100));
        return { outcome: "proceed_once" };
      },
    });
    const result = await ws.call("delete", { path: "d", recursive: true, timeout_ms: 1_000 });
    expect(result.ok).toBe(true);
    await ws.close();
  });
});

/** Storage of thirty directories, each of which takes ten milliseconds to be listed until `release`. */
function slow(): { readonly backend: MemoryBackend; release(): void } {
  const files = Array.from({ length: 30 }, (_, n) => [`/ws/d${n}/a.txt`, "x"]);
  const backend = new MemoryBackend(Object.fromEntries([["/ws/a.txt", "x"], ...files]));
  let released = false;
  const listDir = backend.listDir.bind(backend);
  Object.defineProperty(backend, "listDir", {
    async value(path: string) {
      if (!released) await new Promise((resolve) => setTimeout(resolve, 10));
      return listDir(path);
    },
  });
  const release = (): void => {
    released = true;
  };
  return { backend, release };
}

function block(ms: number): void {
  for (const end = performance.now() + ms; performance.now() < end; );
}
