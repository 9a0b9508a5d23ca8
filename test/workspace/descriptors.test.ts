/** The descriptors that workspaces leave open in their state directories. */
import { mkdtempSync, readdirSync, readlinkSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openWorkspace, type Workspace } from "../../js/index.node.ts";

let base: string;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "filewright-fds-")));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

/** Returns the open files of this process below a directory. */
function openBelow(directory: string): readonly string[] {
  const found: string[] = [];
  for (const fd of readdirSync("/proc/self/fd")) {
    try {
      const target = readlinkSync(`/proc/self/fd/${fd}`);
      if (target.startsWith(directory)) found.push(target);
    } catch {
      // The descriptor by which the directory was read.
    }
  }
  return found;
}

const place = (name: string): string => mkdtempSync(join(base, name));
const open = (stateDir: string): Promise<Workspace> => openWorkspace({ root: place("ws-"), stateDir });
const write = async (ws: Workspace, path = "a.txt"): Promise<void> => {
  const { error } = await ws.call("write_file", { path, content: "x\n" });
  expect(error).toBeUndefined();
};

describe.skipIf(process.platform !== "linux")("state directories", () => {
  test.each<readonly [name: string, use: (ws: Workspace) => Promise<unknown>]>([
    ["that were not used", async () => {}],
    ["with a change", (ws) => write(ws)],
    ["with changes at once", (ws) => Promise.all([write(ws), write(ws, "b.txt"), write(ws, "c.txt")])],
    [
      "with a change that was undone",
      async (ws) => {
        await write(ws);
        const [change] = await ws.history();
        await ws.undo(change?.callId as string);
      },
    ],
    [
      "with a change that failed",
      (ws) => ws.call("apply_patch", { patch: "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-1\n+2\n" }),
    ],
    [
      "that were closed during a change",
      (ws) => Promise.all([ws.call("write_file", { path: "a", content: "" }), ws.close()]),
    ],
    [
      "with a lock of the storage",
      async (ws) => {
        await write(ws);
        const lock = await ws.fs.lock?.(join(base, "any"), { timeoutMs: 1000, resolved: true });
        await lock?.release();
      },
    ],
  ])("%s leave no descriptor open", async (_, use) => {
    for (let index = 0; index < 10; index++) {
      const ws = await open(place("state-"));
      await use(ws);
      await ws.close();
    }
    await expect.poll(() => openBelow(base)).toEqual([]);
  });

  test("stay in use until the last workspace is closed, and again afterwards", async () => {
    const stateDir = place("state-");
    const [first, second] = [await open(stateDir), await open(stateDir)];
    await write(first);
    await write(second);
    await first.close();
    await first.close();
    expect(openBelow(stateDir)).not.toEqual([]);
    await write(second, "b.txt");
    expect(await second.history()).toHaveLength(2);
    await second.close();
    await expect.poll(() => openBelow(base)).toEqual([]);
    const third = await open(stateDir);
    await write(third);
    await third.close();
    await expect.poll(() => openBelow(base)).toEqual([]);
  });
});
