/** Files that are too large for a record are kept by a rename, so that deleting or replacing them can be undone. */
import * as fs from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { LocalBackend, openWorkspace, type Workspace } from "../../../js/index.node.ts";
import { mayMountDisks, smallDisk } from "../../support/small-disk.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

const SIZE = 65 * 1024 * 1024;

/** A sparse file that ends with a text. */
function putLarge(path: string, end = "the end", size = SIZE): void {
  fs.writeFileSync(path, "");
  fs.truncateSync(path, size);
  fs.appendFileSync(path, end);
}

async function place({ state = "" } = {}) {
  const folder = fs.realpathSync(temporaryDirectory());
  const root = join(folder, "ws");
  const stateDir = state === "" ? join(folder, "state") : state;
  fs.mkdirSync(join(root, "dir/deep"), { recursive: true });
  putLarge(join(root, "large"));
  putLarge(join(root, "dir/deep/large"), "in the tree");
  fs.writeFileSync(join(root, "dir/small"), "in the tree\n");
  fs.writeFileSync(join(root, "small"), "small\n");
  const ws = await openWorkspace({ root, stateDir });
  const at = (path: string) => join(root, path);
  return {
    ws,
    at,
    /** The names that the disk keeps. */
    kept: () => (fs.existsSync(join(stateDir, "kept")) ? fs.readdirSync(join(stateDir, "kept")) : []),
    /** Every entry with its mode, a file with its end as well, and a large one with its inode. */
    tree: () =>
      (fs.readdirSync(root, { recursive: true }) as string[]).sort().map((path) => {
        const stat = fs.lstatSync(at(path));
        const { ino, size, mode } = stat;
        return {
          path,
          mode,
          ...(stat.isFile() ? { size, end: endOf(at(path)) } : {}),
          ...(size < SIZE ? {} : { ino }),
        };
      }),
  };
}

function endOf(path: string): string {
  const file = fs.openSync(path, "r");
  const bytes = Buffer.alloc(16);
  const { size } = fs.fstatSync(file);
  const count = fs.readSync(file, bytes, 0, 16, Math.max(0, size - 16));
  fs.closeSync(file);
  return bytes.toString("latin1", 0, count);
}

/** Makes a call that must succeed, and returns its id. */
async function made(ws: Workspace, tool: string, args: object): Promise<string> {
  const result = await ws.call(tool, args);
  expect(result, result.text).toMatchObject({ ok: true, meta: { undoable: true } });
  expect(result.text).not.toContain("cannot be undone");
  return result.meta.call_id as string;
}

const CALLS: readonly (readonly [tool: string, args: object, kept: number])[] = [
  ["delete", { path: "large" }, 1],
  ["delete", { path: "dir", recursive: true }, 1],
  ["write_file", { path: "large", content: "small" }, 1],
  ["move", { source: "small", destination: "large", overwrite: true }, 1],
  ["copy", { source: "small", destination: "large", overwrite: true }, 1],
  [
    "batch",
    {
      operations: ["large", "dir"].map((path) => ({
        tool: "delete",
        args: { path, recursive: path === "dir" },
      })),
    },
    2,
  ],
];

describe.each(CALLS)("%s %j", (tool, args, kept) => {
  test("is undone, redone and undone again, with the same file", async () => {
    const at = await place();
    await using ws = at.ws;
    const before = at.tree();
    const callId = await made(ws, tool, args);
    const after = at.tree();
    expect(at.kept()).toHaveLength(kept);
    const undone = await ws.undo(callId);
    expect(at.tree()).toEqual(before);
    expect(at.kept()).toEqual([]);
    const redone = await ws.undo(undone.callId);
    expect(at.tree()).toEqual(after);
    expect(at.kept()).toHaveLength(kept);
    await ws.undo(redone.callId);
    expect(at.tree()).toEqual(before);
  });

  test("is rewound together with what came after it", async () => {
    const at = await place();
    await using ws = at.ws;
    const before = at.tree();
    await ws.mark("start");
    await made(ws, tool, args);
    await made(ws, "write_file", { path: "other", content: "other" });
    await made(ws, "move", { source: "other", destination: "third" });
    await ws.rewind("start");
    expect(at.tree()).toEqual(before);
  });
});

test("a file that was replaced, restored, edited and deleted comes back in each of its states", async () => {
  const at = await place();
  await using ws = at.ws;
  await ws.mark("first");
  const before = at.tree();
  const replaced = await made(ws, "write_file", { path: "large", content: "one" });
  await ws.undo(replaced);
  await made(ws, "move", { source: "large", destination: "dir/moved" });
  await made(ws, "delete", { path: "dir/moved" });
  await made(ws, "write_file", { path: "large", content: "two" });
  await ws.rewind("first");
  expect(at.tree()).toEqual(before);
});

test("where another change has taken the path, the undo refuses and the file stays kept", async () => {
  const at = await place();
  await using ws = at.ws;
  const callId = await made(ws, "delete", { path: "large" });
  fs.writeFileSync(at.at("large"), "of another program");
  await expect(ws.undo(callId)).rejects.toMatchObject({ code: "CONFLICT" });
  expect(fs.readFileSync(at.at("large"), "utf8")).toBe("of another program");
  expect(at.kept()).toHaveLength(1);
  fs.rmSync(at.at("large"));
  await ws.undo(callId);
  expect(endOf(at.at("large"))).toContain("the end");
});

test("a kept file that was changed by another of its names is not restored", async () => {
  const at = await place();
  await using ws = at.ws;
  fs.linkSync(at.at("large"), at.at("other"));
  const callId = await made(ws, "delete", { path: "large" });
  fs.appendFileSync(at.at("other"), "more");
  await expect(ws.undo(callId)).rejects.toMatchObject({ code: "CONFLICT" });
  expect(fs.existsSync(at.at("large"))).toBe(false);
  expect(endOf(at.at("other"))).toContain("the endmore");
});

test("an undo whose later path cannot be restored puts the file back to where it was kept", async () => {
  const at = await place();
  await using ws = at.ws;
  const callId = await made(ws, "delete", { path: "dir", recursive: true });
  const kept = at.kept();
  fs.writeFileSync(at.at("dir"), "of another program");
  await expect(ws.undo(callId)).rejects.toMatchObject({ code: "CONFLICT" });
  expect(at.kept()).toEqual(kept);
});

test("what is no longer kept is said, and nothing changes", async () => {
  const at = await place();
  await using ws = at.ws;
  const callId = await made(ws, "delete", { path: "dir", recursive: true });
  const before = at.tree();
  for (const name of at.kept()) fs.rmSync(join(at.at(".."), "state/kept", name));
  await expect(ws.undo(callId)).rejects.toMatchObject({ code: "UNSUPPORTED_OPERATION" });
  expect(at.tree()).toEqual(before);
});

test("the kept files have a total size, beyond which the oldest is forgotten", async () => {
  const at = await place();
  await using ws = at.ws;
  const calls: string[] = [];
  for (const name of ["one", "two", "three"]) {
    putLarge(at.at(name), name, 2 * 1024 ** 3 - 100);
    calls.push(await made(ws, "delete", { path: name }));
  }
  expect(at.kept()).toHaveLength(2);
  await expect(ws.undo(calls[0] as string)).rejects.toMatchObject({
    code: "UNSUPPORTED_OPERATION",
    message: expect.stringMatching(/content is not kept/iu),
  });
  for (const callId of calls.slice(1)) await ws.undo(callId);
  expect(endOf(at.at("two"))).toContain("two");
  expect(endOf(at.at("three"))).toContain("three");
});

test("one call keeps no more than the total size, and a file beyond it cannot be undone", async () => {
  const at = await place();
  await using ws = at.ws;
  for (const name of ["one", "two", "three"]) putLarge(at.at(`dir/${name}`), name, 2 * 1024 ** 3 - 100);
  const deleted = await ws.call("delete", { path: "dir", recursive: true });
  expect(deleted).toMatchObject({ ok: true, meta: { undoable: false } });
  expect(at.kept()).toEqual([]);
});

test("many large files that are deleted at once by agents come back, each", async () => {
  const at = await place();
  await using ws = at.ws;
  const names = Array.from({ length: 32 }, (_, index) => `many-${index}`);
  for (const name of names) putLarge(at.at(name), name);
  const calls = await Promise.all(names.map((path) => made(ws, "delete", { path })));
  expect(at.kept()).toHaveLength(names.length);
  await Promise.all(calls.map((callId) => ws.undo(callId)));
  for (const name of names) expect(endOf(at.at(name))).toContain(name);
  // No thread for other files is restricted by it.
  const other = new LocalBackend();
  for (const name of names) await other.stat(at.at(`../ws/${name}`));
});

test("a file with a second name in the same call cannot be undone, and nothing is lost that was said to be kept", async () => {
  const at = await place();
  await using ws = at.ws;
  fs.linkSync(at.at("dir/deep/large"), at.at("dir/second"));
  const deleted = await ws.call("delete", { path: "dir", recursive: true });
  expect(deleted).toMatchObject({ ok: true, meta: { undoable: false } });
});

test.runIf(mayMountDisks())("on another file system than the state, it cannot be undone", async () => {
  const disk = smallDisk("4m");
  fs.chmodSync(disk, 0o700);
  const at = await place({ state: disk });
  await using ws = at.ws;
  const deleted = await ws.call("delete", { path: "large" });
  expect(deleted).toMatchObject({ ok: true, meta: { undoable: false } });
  expect(at.kept()).toEqual([]);
  expect(at.tree().some(({ path }) => path.includes("kept"))).toBe(false);
});

test("the question does not say that it is too large, and the changes of the call name the file", async () => {
  const at = await place();
  await at.ws.close();
  const titles: string[] = [];
  await using ws = await openWorkspace({
    root: at.at("."),
    stateDir: join(at.at(".."), "state"),
    confirm: ({ title }) => {
      titles.push(title);
      return { outcome: "proceed_once" };
    },
  });
  const callId = await made(ws, "delete", { path: "large" });
  expect(titles).toEqual([expect.not.stringContaining("undone")]);
  const changes = await ws.changes(callId);
  expect(JSON.stringify(changes)).toContain('"large"');
});
