/** An undo and a rewind that the storage refuses: the code of the cause, nothing changed, and both work afterwards. */
import { shortcutsOf, provideShortcuts } from "../../../js/backends/abilities.ts";
import type { Able } from "../../../js/backends/abilities.ts";
import type { Files } from "../../../js/backends/files.ts";
import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  FilewrightError,
  LocalBackend,
  MemoryBackend,
  openWorkspace,
  type Workspace,
} from "../../../js/index.node.ts";
import { filesOf, memoryStorage, type Storage } from "../../../js/storage/index.ts";
import { afterThisTest } from "../../support/cleanups.ts";
import { errorOf, idOfCall } from "../../support/calls.ts";
import { mayMountDisks, smallDisk } from "../../support/small-disk.ts";
import { temporary } from "../../tools/harness.ts";
import { treeOf } from "../rewind/sessions.ts";

/** The failure of every write of more than `above` bytes, while there is one. */
interface Fault {
  now: (() => FilewrightError) | null;
  above: number;
}

/** Lets the writes of a backend, or of what it confines, fail. */
function faulty<B extends Files & Able>(backend: B, fault: Fault): B {
  const { confine } = shortcutsOf(backend);
  const write = backend.writeBytes.bind(backend);
  if (confine !== undefined)
    provideShortcuts(backend, { confine: (policy) => faulty(confine(policy) as Files & Able, fault) });
  return Object.assign(backend, {
    async writeBytes(...all: Parameters<typeof write>) {
      if (fault.now !== null && all[1].length > fault.above) throw fault.now();
      return write(...all);
    },
  });
}

/** Lets the commits of a storage fail. */
function faultyStorage(storage: Storage, fault: Fault): Storage {
  const commit = storage.commit.bind(storage);
  return Object.assign(storage, {
    async commit(...all: Parameters<typeof commit>) {
      if (fault.now !== null) throw fault.now();
      return commit(...all);
    },
  });
}

const KINDS = ["memory", "disk", "storage", "storage over a backend"] as const;

async function openWithFault(
  kind: (typeof KINDS)[number],
  fault: Fault,
): Promise<{ readonly ws: Workspace; readonly root: string }> {
  if (kind === "disk") {
    const { root, stateDir } = await temporary();
    const backend = faulty(new LocalBackend(), fault);
    return { root, ws: await openWorkspace({ root, stateDir, guard: "off", backend }) };
  }
  const root = "/ws";
  if (kind === "storage") {
    const storage = memoryStorage();
    await storage.commit([{ op: "mkdir", path: root }]);
    return { root, ws: await openWorkspace({ root, guard: "off", storage: faultyStorage(storage, fault) }) };
  }
  const backend = faulty(new MemoryBackend({ [root]: { type: "dir" } }), fault);
  const files = kind === "memory" ? { backend } : { storage: filesOf(backend) };
  return { root, ws: await openWorkspace({ root, guard: "off", ...files }) };
}

/** Makes the files of a test, and the change that is to be taken back. */
async function changed(ws: Workspace, size: number): Promise<string> {
  await idOfCall(ws, "write_file", { path: "a", content: "a".repeat(size) });
  await idOfCall(ws, "write_file", { path: "b", content: "b".repeat(size) });
  await ws.mark("start");
  return idOfCall(ws, "batch", {
    operations: [
      { tool: "delete", args: { path: "a" } },
      { tool: "write_file", args: { path: "b", content: "B" } },
      { tool: "write_file", args: { path: "new/c", content: "c" } },
    ],
  });
}

/** The codes of a write that fails for another reason than the state of the files, and the remedy that is named. */
const CAUSES = [
  ["NO_SPACE", "No space left on the device", "once there is room"],
  ["IO_ERROR", "input/output failure", "once the storage works again"],
  ["READ_ONLY", "is read-only", "once it can be written"],
  ["PERMISSION_DENIED", "permission denied", "once it can be written"],
] as const;

describe.each(KINDS)("on %s", (kind) => {
  test.each(CAUSES)(
    "an undo and a rewind answer %s, change nothing, and work afterwards",
    async (code, text, remedy) => {
      const fault: Fault = { now: null, above: 5 };
      const at = await openWithFault(kind, fault);
      const { ws } = at;
      afterThisTest(() => ws.close());
      const callId = await changed(ws, 10);
      const after = await treeOf(at);
      fault.now = () => new FilewrightError(code, text);
      const part = { path: "b", hunks: [0] };
      for (const [isWhole, way] of [
        [false, () => ws.undo(callId, { parts: [part] })],
        [true, () => ws.undo(callId)],
        [true, () => ws.rewind("start")],
      ] as const) {
        const error = await errorOf(way());
        expect([error.code, error.message]).toEqual([code, expect.stringContaining(text)]);
        if (code === "NO_SPACE" || (isWhole && !kind.startsWith("storage")))
          expect(error.message).toContain(remedy);
        expect(error.details?.["rolled_back"]).toBeUndefined();
        expect(error.message).not.toContain("option paths");
        expect(await treeOf(at)).toEqual(after);
      }
      fault.now = null;
      const { callId: rewind = "" } = await ws.rewind("start");
      expect(await ws.readFile({ path: "b" })).toMatchObject({ content: "bbbbbbbbbb" });
      await ws.undo(rewind);
      expect(await treeOf(at)).toEqual(after);
      await ws.undo(callId);
      expect((await treeOf(at)).map(([path]) => path)).toEqual(["/a", "/b"]);
    },
  );
});

test("an undo that cannot be rolled back either says so, and the next call of its paths rolls it back", async () => {
  const fault: Fault = { now: null, above: -1 };
  const { ws, root } = await openWithFault("memory", fault);
  afterThisTest(() => ws.close());
  const callId = await changed(ws, 10);
  const after = await treeOf({ ws, root });
  fault.now = () => new FilewrightError("NO_SPACE", "full");
  const error = await errorOf(ws.undo(callId));
  expect(error).toMatchObject({ code: "NO_SPACE", details: { rolled_back: false } });
  expect(error.message).toContain("a part of the change stays for now");
  fault.now = null;
  const { callId: again } = await ws.undo(callId);
  expect((await treeOf({ ws, root })).map(([path]) => path)).toEqual(["/a", "/b"]);
  await ws.undo(again);
  expect(await treeOf({ ws, root })).toEqual(after);
});

describe.skipIf(!mayMountDisks())("on a small disk", () => {
  test.each([
    ["the files", (disk: string) => ({ root: join(disk, "ws"), stateDir: undefined })],
    [
      "the files and the state directory",
      (disk: string) => ({ root: join(disk, "ws"), stateDir: join(disk, "state") }),
    ],
  ] as const)("%s: a full one is NO_SPACE, and the undo works once there is room", async (_name, places) => {
    const disk = smallDisk("1m");
    const { stateDir: elsewhere } = await temporary();
    const { root, stateDir = elsewhere } = places(disk);
    mkdirSync(root);
    const ws = await openWorkspace({ root, stateDir, guard: "off" });
    afterThisTest(() => ws.close());
    const at = { ws, root };
    const callId = await changed(ws, 100_000);
    const after = await treeOf(at);
    const fill = spawnSync("dd", ["if=/dev/zero", `of=${join(disk, "fill")}`, "bs=4k"]);
    expect(String(fill.stderr)).toContain("No space left");
    for (const way of [() => ws.undo(callId), () => ws.rewind("start")]) {
      const error = await errorOf(way());
      expect([error.code, error.message]).toEqual(["NO_SPACE", expect.stringContaining("pace")]);
      expect(await treeOf(at)).toEqual(after);
    }
    rmSync(join(disk, "fill"));
    await ws.undo(callId);
    expect((await treeOf(at)).map(([path, , , content]) => [path, content.length])).toEqual([
      ["/a", 100_000],
      ["/b", 100_000],
    ]);
  });

  test("a read-only one is READ_ONLY, and the undo works once it can be written", async () => {
    const disk = smallDisk("1m");
    const { stateDir } = await temporary();
    const root = join(disk, "ws");
    mkdirSync(root);
    const ws = await openWorkspace({ root, stateDir, guard: "off" });
    afterThisTest(() => ws.close());
    const callId = await changed(ws, 10);
    const remount = (how: string) => spawnSync("mount", ["-o", `remount,${how}`, disk]).status;
    expect(remount("ro")).toBe(0);
    for (const way of [() => ws.undo(callId), () => ws.rewind("start")]) {
      const error = await errorOf(way());
      expect([error.code, error.message]).toEqual(["READ_ONLY", expect.stringContaining("read-only")]);
    }
    expect(remount("rw")).toBe(0);
    writeFileSync(join(root, "other"), "");
    await ws.undo(callId);
    expect((await treeOf({ ws, root })).map(([path]) => path)).toEqual(["/a", "/b", "/other"]);
  });
});
