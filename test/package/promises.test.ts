/**
 * Promises that the addon's threads settle: the process waits for them and for nothing
 * else, and neither a worker that ends nor many at once loses or breaks one.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";

const library = pathToFileURL(join(import.meta.dirname, "../../dist/cli/library.js")).href;

let root: string;
beforeAll(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "filewright-promises-")));
  writeFileSync(join(root, "a.txt"), "text\n");
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** Runs a module in a process of its own, which has to end by itself. */
function process(body: string): { readonly stdout: string; readonly status: number | null } {
  const file = join(root, "body.mjs");
  const head = `import { LocalBackend } from ${JSON.stringify(library)};\nconst root = ${JSON.stringify(root)};\n`;
  writeFileSync(file, head + body);
  const { stdout, stderr, status } = spawnSync(globalThis.process.execPath, [file], {
    encoding: "utf8",
    timeout: 60_000,
  });
  return { stdout: stdout + stderr, status };
}

test("the process waits for what is pending, and ends by itself afterwards", () => {
  const ran = process(`
    const fs = new LocalBackend();
    void fs.readBytes(root + "/a.txt").then(() => console.log("read"));
  `);
  expect(ran).toEqual({ stdout: "read\n", status: 0 });
});

test("many at once are all settled, each with its own result", () => {
  const ran = process(`
    const fs = new LocalBackend();
    const all = await Promise.allSettled(
      Array.from({ length: 2_000 }, (_, n) => (n % 3 === 0 ? fs.readBytes(root + "/none" + n) : fs.stat(root + "/a.txt"))),
    );
    const wrong = all.filter((one, n) =>
      n % 3 === 0
        ? one.status !== "rejected" || one.reason.code !== "NOT_FOUND" || one.reason.path !== root + "/none" + n
        : one.status !== "fulfilled" || one.value.size !== 5,
    );
    console.log(wrong.length);
  `);
  expect(ran).toEqual({ stdout: "0\n", status: 0 });
});

test("workers that end while they wait break nothing, and others get their answers", () => {
  const ran = process(`
    import { isMainThread, parentPort, Worker } from "node:worker_threads";
    const fs = new LocalBackend();
    if (isMainThread) {
      for (let round = 0; round < 8; round++) {
        const worker = new Worker(new URL(import.meta.url));
        await new Promise((resolve) => worker.once("message", resolve));
        const mine = Promise.all(Array.from({ length: 50 }, () => fs.stat(root + "/a.txt")));
        await worker.terminate();
        await mine;
      }
      console.log("on");
    } else {
      const again = () => fs.stat(root + "/a.txt").then(again);
      for (let n = 0; n < 50; n++) void again();
      void fs.stat(root + "/a.txt").then(() => parentPort.postMessage("going"));
    }
  `);
  expect(ran).toEqual({ stdout: "on\n", status: 0 });
});
