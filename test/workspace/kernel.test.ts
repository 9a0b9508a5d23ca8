/** Confinement by the kernel applies to the threads of a workspace and to nothing else. */
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { LocalBackend, openWorkspace, SandboxPolicy } from "../../js/index.node.ts";

let base: string;
let root: string;
beforeEach(() => {
  base = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), "filewright-kernel-")));
  root = join(base, "ws");
  fs.mkdirSync(join(root, "d"), { recursive: true });
  fs.writeFileSync(join(root, "in"), "in");
  fs.writeFileSync(join(base, "out"), "out");
});
afterEach(() => fs.rmSync(base, { recursive: true, force: true }));

const { landlock } = new LocalBackend({ policy: SandboxPolicy.workspaceOnly(tmpdir()) }).capabilities()
  .kernel;

describe.skipIf(landlock < 3)("a kernel with Landlock", () => {
  test("is used by default, told in capabilities and to the model, and every tool works on it", async () => {
    const ws = await openWorkspace({ root, stateDir: join(base, "state"), kernel: "require" });
    expect(ws.capabilities()).toMatchObject({
      sandbox: { fs: "enforced" },
      resolver: { kernel: { files: "enforced", landlock } },
    });
    expect((await ws.call("access_info", {})).text).toContain("files enforced");
    const calls: readonly [string, Record<string, unknown>][] = [
      ["write_file", { path: "new/f", content: "one\n" }],
      ["edit_file", { path: "new/f", old_text: "one", new_text: "two" }],
      ["read_file", { path: "new/f" }],
      ["move", { source: "new/f", destination: "d/g" }],
      ["copy", { source: "d", destination: "e" }],
      ["grep", { pattern: "two" }],
      ["glob", { pattern: "**" }],
      ["delete", { path: "d", recursive: true }],
      ["list_directory", { depth: 3 }],
      ["stat", { path: "e/g", hash: true }],
    ];
    for (const [tool, args] of calls) expect(await ws.call(tool, args), tool).toMatchObject({ ok: true });
    await ws.close();
  });

  test("leaves the event loop, its thread pool, workers and children alone", async () => {
    const ws = await openWorkspace({ root, stateDir: join(base, "state"), kernel: "require" });
    await ws.readFile({ path: "in" });
    expect(ws.capabilities().sandbox.fs).toBe("enforced");
    const out = join(base, "out");
    expect(fs.readFileSync(out, "utf8")).toBe("out");
    expect(await Promise.all(Array.from({ length: 8 }, () => readFile(out, "utf8")))).toEqual(
      new Array(8).fill("out"),
    );
    expect(execFileSync("cat", [out]).toString()).toBe("out");
    const script = `require("node:worker_threads").parentPort.postMessage(require("node:fs").readFileSync(${JSON.stringify(out)}, "utf8"))`;
    const worker = new Worker(script, { eval: true });
    expect(await new Promise((resolve) => worker.once("message", resolve))).toBe("out");
    await worker.terminate();
    await ws.close();
  });

  test("says when it enforces less: a root that is a single file", async () => {
    const policy = SandboxPolicy.allowList({ cwd: root, write: [join(root, "in")] });
    const disk = new LocalBackend({ policy });
    expect(disk.capabilities().kernel).toMatchObject({ files: "partial", reason: expect.any(String) });
    await disk.writeText(join(root, "in"), "new");
    expect(fs.readFileSync(join(root, "in"), "utf8")).toBe("new");
  });

  test("two workspaces at once keep to their own roots", async () => {
    fs.mkdirSync(join(base, "two"));
    fs.writeFileSync(join(base, "two/f"), "two");
    const [one, two] = [
      await openWorkspace({ root, stateDir: join(base, "state") }),
      await openWorkspace({ root: join(base, "two"), stateDir: join(base, "state") }),
    ];
    expect((await one.readFile({ path: "in" })).content).toBe("in");
    expect((await two.readFile({ path: "f" })).content).toBe("two");
    for (const ws of [one, two]) await ws.close();
  });
});

test("kernel: off restricts nothing, and says so", async () => {
  const ws = await openWorkspace({ root, stateDir: join(base, "state"), kernel: "off" });
  expect(ws.capabilities().sandbox.fs).toBe("none");
  expect((await ws.readFile({ path: "in" })).content).toBe("in");
  await ws.close();
});
