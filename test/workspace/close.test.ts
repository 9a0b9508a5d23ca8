/** Closing a workspace: it releases its resources, and later calls fail. */
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { LocalBackend, MemoryBackend, openWorkspace, SandboxPolicy } from "../../js/index.node.ts";

let root: string;
let stateDir: string;
beforeEach(() => {
  root = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), "filewright-close-")));
  stateDir = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), "filewright-state-")));
  for (let number = 0; number < 50; number++) fs.writeFileSync(join(root, `f${number}.txt`), "one\ntwo\n");
});
afterEach(() => {
  for (const dir of [root, stateDir]) fs.rmSync(dir, { recursive: true, force: true });
});

const linux = process.platform === "linux";
const descriptors = (): number => fs.readdirSync("/proc/self/fd").length;
const threads = (): number => fs.readdirSync("/proc/self/task").length;

it.runIf(linux)("close gives back descriptors and threads when no garbage was collected", async () => {
  const before = [descriptors(), threads()] as const;
  for (let round = 0; round < 60; round++) {
    const ws = await openWorkspace({ root, stateDir });
    const reviewer = await ws.agent("reviewer", { access: { readOnly: true } });
    expect((await ws.call("grep", { pattern: "two" })).ok).toBe(true);
    expect((await reviewer.call("read_file", { path: "f1.txt" })).ok).toBe(true);
    await ws.close();
  }
  // Before, each round left some four descriptors and two threads.
  expect(descriptors() - before[0]).toBeLessThan(30);
  expect(threads() - before[1]).toBeLessThan(30);
});

it.runIf(linux)("workspaces of one policy share their threads", async () => {
  const open = [];
  for (let number = 0; number < 30; number++) {
    const ws = await openWorkspace({ root, stateDir });
    await ws.call("read_file", { path: "f1.txt" });
    open.push(ws);
  }
  const started = threads();
  for (let number = 0; number < 30; number++) {
    const ws = await openWorkspace({ root, stateDir });
    await ws.call("read_file", { path: "f1.txt" });
    open.push(ws);
  }
  expect(threads() - started).toBeLessThan(15);
  for (const ws of open) await ws.close();
});

it("close ends a read that waits for the approval that a rule wants", async () => {
  let asked: AbortSignal | undefined;
  const ws = await openWorkspace({
    root,
    stateDir,
    rules: [{ tool: "read_file", decision: "ask" }],
    confirm: (request) => {
      asked = request.signal;
      return new Promise<never>(() => {});
    },
  });
  const reading = ws.call("read_file", { path: "f1.txt" });
  await expect.poll(() => asked).toBeDefined();
  const closing = ws.close();
  await expect.poll(() => asked?.aborted).toBe(true);
  expect((await reading).error).toMatchObject({ code: "CANCELLED" });
  await closing;
});

describe("a call after close", () => {
  it("is refused with UNSUPPORTED_OPERATION", async () => {
    const ws = await openWorkspace({ root, stateDir });
    const agent = await ws.agent("one");
    await ws.close();
    for (const of of [ws, agent]) {
      const { error } = await of.call("read_file", { path: "f1.txt" });
      expect(error).toMatchObject({ code: "UNSUPPORTED_OPERATION", message: "The workspace is closed." });
    }
    await expect(ws.agent("two")).rejects.toMatchObject({ code: "UNSUPPORTED_OPERATION" });
    await expect(ws.lock("f1.txt")).rejects.toMatchObject({ code: "UNSUPPORTED_OPERATION" });
    await expect(ws.undo("x")).rejects.toMatchObject({ code: "UNSUPPORTED_OPERATION" });
    await expect(async () => ws.fs.readText(join(root, "f1.txt"))).rejects.toMatchObject({
      code: "UNSUPPORTED_OPERATION",
    });
    await ws.close();
  });

  it("goes on in the workspace when only an agent of it was closed", async () => {
    const ws = await openWorkspace({ root, stateDir });
    const agent = await ws.agent("one", { access: { readOnly: true } });
    await agent.close();
    expect((await agent.call("read_file", { path: "f1.txt" })).ok).toBe(false);
    expect((await ws.call("read_file", { path: "f1.txt" })).ok).toBe(true);
    await ws.close();
  });

  it("goes on in storage that the host gave", async () => {
    const backend = new LocalBackend({ stateDir });
    const ws = await openWorkspace({ root, backend });
    await ws.close();
    expect(await backend.readText(join(root, "f1.txt"))).toBe("one\ntwo\n");
    backend.close();
    await expect(backend.readText(join(root, "f1.txt"))).rejects.toMatchObject({
      code: "UNSUPPORTED_OPERATION",
    });
  });
});

describe("a call under way when the workspace is closed", () => {
  it("is cancelled when it only reads", async () => {
    const files = Array.from({ length: 1000 }, (_, number) => [`/ws/d${number}/a.txt`, "x"]);
    const backend = slow(new MemoryBackend(Object.fromEntries(files)));
    const ws = await openWorkspace({ root: "/ws", backend });
    const call = ws.call("glob", { pattern: "*" });
    await ws.close();
    expect((await call).error?.code).toBe("CANCELLED");
  });

  it("is cancelled during a question", async () => {
    const backend = new MemoryBackend({ "/ws/a.txt": "x" });
    const ws = await openWorkspace({ root: "/ws", backend, confirm: () => new Promise(() => {}) });
    const call = ws.call("write_file", { path: "a.txt", content: "y" });
    await ws.close();
    expect((await call).error?.code).toBe("CANCELLED");
    expect(await backend.readText("/ws/a.txt")).toBe("x");
  });

  it("finishes when it has begun to write", async () => {
    const ws = await openWorkspace({ root, stateDir });
    const operations = Array.from({ length: 20 }, (_, number) => ({
      tool: "write_file",
      args: { path: `new${number}.txt`, content: "new\n" },
    }));
    const call = ws.call("batch", { operations } as never);
    await ws.close();
    const { ok } = await call;
    const made = fs.readdirSync(root).filter((name) => name.startsWith("new")).length;
    // Cancelled before its first write, or whole.
    expect(made).toBe(ok ? 20 : 0);
  });
});

it("one policy closed does not close another of the same backend", async () => {
  const disk = new LocalBackend({ stateDir });
  const [one, two] = [1, 2].map(() => disk.confine?.(SandboxPolicy.workspaceOnly(root)) as LocalBackend);
  one?.close();
  expect(await two?.readText(join(root, "f1.txt"))).toBe("one\ntwo\n");
  two?.close();
  disk.close();
});

/** Storage of which each directory takes ten milliseconds to be listed. */
function slow(inner: MemoryBackend): MemoryBackend {
  const listDir = inner.listDir.bind(inner);
  const value = async (path: string): Promise<unknown> => {
    await new Promise((resolve) => setTimeout(resolve, 10));
    return listDir(path);
  };
  Object.defineProperty(inner, "listDir", { value });
  return inner;
}
