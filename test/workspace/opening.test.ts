/** An opening that fails in a late step: it leaves nothing open. */
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { MemoryJournal, openWorkspace, type WorkspaceOptions } from "../../js/index.node.ts";

const OPENINGS = 200;
let base: string;
beforeEach(() => {
  base = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), "filewright-opening-")));
});
afterEach(() => fs.rmSync(base, { recursive: true, force: true }));

/** Returns the options of a workspace with a root of its own: workspaces of one root share its descriptor. */
function optionsOf(number: number, more: Partial<WorkspaceOptions>): WorkspaceOptions {
  const root = join(base, `root-${number}`);
  fs.mkdirSync(root, { recursive: true });
  return { root, stateDir: join(base, "state"), ...more };
}

/** Returns what the process has open below the roots and the state directory of this test. */
const openBelow = (): readonly string[] =>
  fs.readdirSync("/proc/self/fd").flatMap((fd) => {
    try {
      const path = fs.readlinkSync(`/proc/self/fd/${fd}`);
      return path.startsWith(base) ? [path] : [];
    } catch {
      return []; // It was open while the directory was listed.
    }
  });

/** Writes a file, which uses the journal of the state directory, and closes the workspace. */
async function change(number: number): Promise<void> {
  const ws = await openWorkspace(optionsOf(number, {}));
  expect(await ws.call("write_file", { path: "a.txt", content: "a\n" })).toMatchObject({ ok: true });
  await ws.close();
}

/** An observer whose option is understood when it is checked, and fails when the calls are set up. */
const lateObserver = (): Partial<WorkspaceOptions> => {
  let reads = 0;
  const observer = {
    begin: () => undefined,
    get hashes(): boolean {
      reads += 1;
      if (reads > 1) throw new Error("late");
      return true;
    },
  };
  return { observers: [observer] };
};

/** A journal of the host whose recovery, the last step, fails. */
const lateJournal = (): Partial<WorkspaceOptions> => {
  const journal = new MemoryJournal();
  journal.unfinished = () => {
    throw new TypeError("late");
  };
  return { journal };
};

describe.runIf(process.platform === "linux").each([
  ["an observer", lateObserver],
  ["the recovery of a host's journal", lateJournal],
])("openWorkspace, failing late by %s", (_, late) => {
  test("rejects with that error, and leaves no descriptor and no use of the journal", async () => {
    for (let number = 1; number <= OPENINGS; number++)
      await expect(openWorkspace(optionsOf(number, late()))).rejects.toThrow("late");
    // A thread of the pool lets go of the last root a moment later.
    await expect.poll(openBelow).toEqual([]);
    // The journal holds its lock from the first change on, as long as a workspace uses it.
    await change(0);
    await expect.poll(openBelow).toEqual([]);
  });
});
