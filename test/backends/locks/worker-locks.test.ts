/** Locks that a worker thread held when it was terminated, while its process goes on. */
import { once } from "node:events";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import process from "node:process";
import { Worker } from "node:worker_threads";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { hasEnded, ownIdentity, threadIdentity } from "../../../js/backends/node/process-identity.node.ts";
import { openLockDirectory, tryLockByName } from "../../../js/backends/node/lock-directory.node.ts";
import { tryLock } from "../../../js/backends/local/lock.node.ts";

const DIST = resolve(import.meta.dirname, "../../../dist/backends");

let stateDir: string;
beforeEach(() => {
  stateDir = fs.mkdtempSync(join(tmpdir(), "filewright-worker-locks-"));
});
afterEach(() => {
  fs.rmSync(stateDir, { recursive: true, force: true });
});

const takers = {
  "without the addon": `import("file://${DIST}/node/lock-directory.node.js").then((locks) =>
    locks.tryLockByName(locks.openLockDirectory(workerData), "f"))`,
  "with it": `import("file://${DIST}/local/lock.node.js").then((locks) => locks.tryLock(workerData, "f"))`,
};
const tries = {
  "without the addon": () => tryLockByName(openLockDirectory(stateDir), "f"),
  "with it": () => tryLock(stateDir, "f"),
};

it.skipIf(process.platform !== "linux").each(["without the addon", "with it"] as const)(
  "a lock is free after the worker that held it was terminated (%s)",
  async (kind) => {
    const code = `const { parentPort, workerData } = require("node:worker_threads");
      ${takers[kind]}.then((lock) => {
        globalThis.held = lock;
        parentPort.postMessage(lock !== null);
        setInterval(() => undefined, 1000);
      });`;
    const worker = new Worker(code, { eval: true, workerData: stateDir });
    try {
      expect((await once(worker, "message"))[0]).toBe(true);
      expect(tries[kind]()).toBeNull();
    } finally {
      await worker.terminate();
    }
    // The kernel may tell the end of a thread a moment after it was awaited.
    const lock = await vi.waitFor(
      () => {
        const taken = tries[kind]();
        expect(taken).not.toBeNull();
        return taken;
      },
      { timeout: 30_000 },
    );
    lock?.release();
  },
);

it("the main thread holds locks under the identity of its process", () => {
  expect(threadIdentity(false, undefined)).toEqual(ownIdentity());
});

it("a worker without a pid of its own is judged by its silence alone", () => {
  const worker = threadIdentity(true, undefined);
  expect(worker.pid).toBe(process.pid);
  expect(hasEnded(ownIdentity())).toBe(false);
  expect(hasEnded(worker)).toBeUndefined();
});
