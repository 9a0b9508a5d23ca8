/** Undo: what a call found is put back, on memory and on the disk. */
import { describe, expect, test } from "vitest";
import { FilewrightError, type Workspace } from "../../../js/index.node.ts";
import { KINDS, place } from "../../tools/harness.ts";

async function last(ws: Workspace): Promise<string> {
  return (await ws.history())[0]?.callId ?? "";
}

async function codeOf(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => "none",
    (error: unknown) => (error instanceof FilewrightError ? error.code : String(error)),
  );
}

const SEED = { "a.txt": "one\n", "d/x": "x", "d/y/z": "z" };

describe.each(KINDS)("undo on %s", (kind) => {
  const calls: Record<string, readonly [string, Record<string, unknown>]> = {
    "an edit": ["edit_file", { path: "a.txt", old_text: "one", new_text: "two" }],
    "a new file": ["write_file", { path: "n/m/f", content: "new" }],
    "a replaced file": ["write_file", { path: "a.txt", content: "" }],
    "an appended line": ["write_file", { path: "a.txt", content: "more\n", append: true }],
    "a copied file": ["copy", { source: "a.txt", destination: "b.txt" }],
    "a copied tree": ["copy", { source: "d", destination: "e" }],
    "a merged tree": ["copy", { source: "d", destination: "d2", overwrite: true }],
    "a moved file": ["move", { source: "a.txt", destination: "sub/b.txt" }],
    "a moved tree": ["move", { source: "d", destination: "e" }],
    "a replaced destination": ["move", { source: "d/x", destination: "a.txt", overwrite: true }],
    "a deleted file": ["delete", { path: "a.txt" }],
    "a deleted tree": ["delete", { path: "d", recursive: true }],
    "a directory": ["mkdir", { path: "q/r/s" }],
  };
  test.each(Object.entries(calls))("%s, and back again", async (_name, [tool, args]) => {
    const { ws } = await place(kind, { ...SEED, "d2/x": "old", "d2/own": "own" });
    const tree = async (): Promise<string> => {
      const { text } = await ws.call("list_directory", { path: ".", depth: 5 });
      const { text: content } = await ws.call("grep", { pattern: ".", path: "." });
      return `${text}\n${content}`;
    };
    const before = await tree();
    const done = await ws.call(tool, args);
    expect(done.ok, done.text).toBe(true);
    const after = await tree();
    expect(after).not.toBe(before);
    const callId = done.meta.call_id ?? "";
    expect(await ws.history()).toMatchObject([{ callId, tool }]);
    const undone = await ws.undo(callId);
    expect(await tree()).toBe(before);
    expect((await ws.history())[0]).toMatchObject({ tool: "undo", undoOf: callId, callId: undone.callId });
    await ws.undo(undone.callId);
    expect(await tree()).toBe(after);
  });

  test("a batch is one step back", async () => {
    const { ws, text } = await place(kind, SEED);
    const operations = [
      { tool: "write_file", args: { path: "a.txt", content: "1" } },
      { tool: "write_file", args: { path: "a.txt", content: "2" } },
      { tool: "move", args: { source: "a.txt", destination: "b.txt" } },
      { tool: "delete", args: { path: "d", recursive: true } },
    ];
    expect((await ws.call("batch", { operations })).ok).toBe(true);
    await ws.undo(await last(ws));
    expect([await text("a.txt"), await text("b.txt"), await text("d/y/z")]).toEqual([
      "one\n",
      undefined,
      "z",
    ]);
  });

  test("a file that changed since is a CONFLICT, and stays", async () => {
    const { ws, text, foreign } = await place(kind, SEED);
    await ws.writeFile({ path: "a.txt", content: "two\n" });
    const callId = await last(ws);
    await foreign("a.txt", "three\n");
    expect(await codeOf(ws.undo(callId))).toBe("CONFLICT");
    expect(await text("a.txt")).toBe("three\n");
    await foreign("a.txt", "two\n"); // The same content again, however it came there.
    await ws.undo(callId);
    expect(await text("a.txt")).toBe("one\n");
  });

  test("a later change of ours is in the way until it is undone", async () => {
    const { ws, text } = await place(kind, SEED);
    await ws.writeFile({ path: "a.txt", content: "two\n" });
    const first = await last(ws);
    await ws.editFile({ path: "a.txt", old_text: "two", new_text: "three" });
    const second = await last(ws);
    expect(await codeOf(ws.undo(first))).toBe("CONFLICT");
    await ws.undo(second);
    await ws.undo(first);
    expect(await text("a.txt")).toBe("one\n");
  });

  test("what is unknown is NOT_FOUND; failed calls, dry runs and reads leave no history", async () => {
    const { ws } = await place(kind, SEED);
    await ws.call("edit_file", { path: "a.txt", old_text: "nothing", new_text: "x" });
    await ws.call("edit_file", { path: "a.txt", old_text: "one", new_text: "x", dry_run: true });
    await ws.call("read_file", { path: "a.txt" });
    expect(await ws.history()).toEqual([]);
    for (const id of ["no-such", "../../x", "00000000-00"]) {
      expect(await codeOf(ws.undo(id)), id).toBe("NOT_FOUND");
    }
    expect(await codeOf(ws.undo(""))).toBe("INVALID_ARGUMENT");
  });

  test("history: false keeps nothing, and a batch is whole all the same", async () => {
    const { ws, text } = await place(kind, SEED, { history: false });
    await ws.writeFile({ path: "a.txt", content: "two\n" });
    const bad = await ws.call("batch", {
      operations: [
        { tool: "delete", args: { path: "a.txt" } },
        { tool: "read_file", args: { path: "a.txt" } },
      ],
    });
    expect(bad.ok).toBe(false);
    expect(await text("a.txt")).toBe("two\n");
    expect(await ws.history()).toEqual([]);
  });
});
