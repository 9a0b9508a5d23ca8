/** Moves, copies and batches on a disk: what the disk makes in one job, and what it leaves to steps. */
import * as fs from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { LocalBackend, NodeBackend, openWorkspace } from "../../js/index.node.ts";
import type { Files } from "../../js/backends/files.ts";
import { afterThisTest } from "../support/cleanups.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const BACKENDS: readonly (readonly [string, () => Files])[] = [
  ["the native disk", () => new LocalBackend()],
  ["the disk by node:fs", () => new NodeBackend()],
];

/** Opens a workspace with files. */
async function opened(files: Readonly<Record<string, string>>, backend: Files = new LocalBackend()) {
  const base = fs.realpathSync(temporaryDirectory());
  const root = join(base, "ws");
  for (const [path, content] of Object.entries(files)) {
    fs.mkdirSync(join(root, path, ".."), { recursive: true });
    fs.writeFileSync(join(root, path), content);
  }
  const ws = await openWorkspace({ backend, root, stateDir: join(base, "state") });
  afterThisTest(() => ws.close());
  const call = async (tool: string, args: object) => {
    const result = await ws.call(tool as "stat", args as never);
    return { error: result.error?.code, data: result.data, id: result.meta.call_id ?? "", text: result.text };
  };
  const text = (path: string): string | undefined => {
    try {
      return fs.readFileSync(join(root, path), "utf8");
    } catch {
      return undefined;
    }
  };
  return { ws, root, call, text, inode: (path: string) => fs.lstatSync(join(root, path)).ino };
}

const update = (path: string, from: string, to: string): string =>
  `--- a/${path}\n+++ b/${path}\n@@ -1 +1 @@\n-${from}\n+${to}\n`;

describe.each(BACKENDS)("over %s", (_name, backend) => {
  it("apply_patch changes a file under both of its names", async () => {
    const { ws, root, call, text } = await opened({ a: "one\n" }, backend());
    fs.linkSync(join(root, "a"), join(root, "b"));
    const made = await call("apply_patch", { patch: update("a", "one", "A") + update("b", "one", "B") });
    expect([made.error, text("a"), text("b")]).toEqual([undefined, "A\n", "B\n"]);
    await ws.undo(made.id);
    expect([text("a"), text("b")]).toEqual(["one\n", "one\n"]);
  });

  it("apply_patch removes one name of a file and changes the other", async () => {
    const { root, call, text } = await opened({ a: "one\n" }, backend());
    fs.linkSync(join(root, "a"), join(root, "b"));
    const gone = "--- a/a\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n";
    const made = await call("apply_patch", { patch: gone + update("b", "one", "B") });
    expect([made.error, text("a"), text("b")]).toEqual([undefined, undefined, "B\n"]);
  });

  it("move takes the file itself to new directories, and its undo brings it back", async () => {
    const { ws, root, call, text, inode } = await opened({ "d/a": "one\n" }, backend());
    const before = inode("d/a");
    const moved = await call("move", { source: "d/a", destination: "x/y/b" });
    expect([moved.error, text("d/a"), text("x/y/b"), inode("x/y/b")]).toEqual([
      undefined,
      undefined,
      "one\n",
      before,
    ]);
    await ws.undo(moved.id);
    expect([text("d/a"), inode("d/a"), fs.existsSync(join(root, "x"))]).toEqual(["one\n", before, false]);
  });

  it("move over a file brings both back when it is undone", async () => {
    const { ws, call, text } = await opened({ a: "one\n", b: "two\n" }, backend());
    const moved = await call("move", { source: "a", destination: "b", overwrite: true });
    expect([moved.error, text("a"), text("b")]).toEqual([undefined, undefined, "one\n"]);
    await ws.undo(moved.id);
    expect([text("a"), text("b")]).toEqual(["one\n", "two\n"]);
  });

  it("copy over a file tells the copied bytes, and its undo restores the file", async () => {
    const { ws, call, text } = await opened({ a: "one\n", b: "the second\n" }, backend());
    const copied = await call("copy", { source: "a", destination: "b", overwrite: true });
    expect(copied.data).toMatchObject({ source: "a", destination: "b", files: 1, directories: 0, bytes: 4 });
    expect(text("b")).toBe("one\n");
    await ws.undo(copied.id);
    expect([text("a"), text("b")]).toEqual(["one\n", "the second\n"]);
  });

  it("move of a directory with its content is undone", async () => {
    const { ws, call, text } = await opened({ "d/a": "one\n", "d/e/b": "two\n" }, backend());
    const moved = await call("move", { source: "d", destination: "m" });
    expect([moved.error, text("m/a"), text("m/e/b"), text("d/a")]).toEqual([
      undefined,
      "one\n",
      "two\n",
      undefined,
    ]);
    await ws.undo(moved.id);
    expect([text("d/a"), text("d/e/b"), text("m/a")]).toEqual(["one\n", "two\n", undefined]);
  });

  it("move without create_dirs to a missing directory changes nothing", async () => {
    const { root, call, text } = await opened({ a: "one\n" }, backend());
    const moved = await call("move", { source: "a", destination: "x/a", create_dirs: false });
    expect([moved.error, text("a"), fs.readdirSync(root)]).toEqual(["NOT_FOUND", "one\n", ["a"]]);
  });
});

describe.each(BACKENDS)("a batch over %s", (_name, backend) => {
  const edit = (path: string, from: string, to: string) => ({
    tool: "edit_file",
    args: { path, old_text: from, new_text: to },
  });

  it("of independent operations is one change with one undo", async () => {
    const { ws, root, call, text } = await opened(
      { a: "one\n", b: "two\n", c: "three\n", e: "x\n" },
      backend(),
    );
    const operations = [
      edit("a", "one", "ONE"),
      { tool: "move", args: { source: "b", destination: "n/b" } },
      { tool: "copy", args: { source: "c", destination: "n/c" } },
      { tool: "write_file", args: { path: "n/m/d", content: "new\n" } },
      { tool: "delete", args: { path: "e" } },
    ];
    const made = await call("batch", { operations });
    const after = ["a", "b", "n/b", "n/c", "n/m/d", "e"].map(text);
    expect([made.error, ...after]).toEqual([
      undefined,
      "ONE\n",
      undefined,
      "two\n",
      "three\n",
      "new\n",
      undefined,
    ]);
    expect((await ws.history()).map(({ tool }) => tool)).toEqual(["batch"]);
    await ws.undo(made.id);
    expect(fs.readdirSync(root).sort()).toEqual(["a", "b", "c", "e"]);
    expect(["a", "b", "c", "e"].map(text)).toEqual(["one\n", "two\n", "three\n", "x\n"]);
  });

  it("makes operations on one file in their turn", async () => {
    const { ws, call, text } = await opened({ a: "one\n" }, backend());
    const made = await call("batch", {
      operations: [edit("a", "one", "two"), edit("a", "two", "three"), edit("a", "three", "four")],
    });
    expect([made.error, text("a")]).toEqual([undefined, "four\n"]);
    await ws.undo(made.id);
    expect(text("a")).toBe("one\n");
  });

  it("lets an operation see what an earlier one has moved", async () => {
    const { call, text } = await opened({ "d/a": "one\n", b: "b\n" }, backend());
    const made = await call("batch", {
      operations: [
        { tool: "move", args: { source: "d", destination: "e" } },
        edit("e/a", "one", "two"),
        { tool: "copy", args: { source: "e/a", destination: "c" } },
      ],
    });
    expect([made.error, text("e/a"), text("c"), text("d/a")]).toEqual([
      undefined,
      "two\n",
      "two\n",
      undefined,
    ]);
  });

  it("changes a file under both of its names", async () => {
    const { root, call, text } = await opened({ a: "one\n" }, backend());
    fs.linkSync(join(root, "a"), join(root, "b"));
    const made = await call("batch", { operations: [edit("a", "one", "A"), edit("b", "one", "B")] });
    expect([made.error, text("a"), text("b")]).toEqual([undefined, "A\n", "B\n"]);
  });

  it("names the operation that fails, and changes nothing", async () => {
    const { ws, root, call, text } = await opened({ a: "one\n", b: "two\n" }, backend());
    fs.chmodSync(join(root, "b"), 0o444);
    const made = await call("batch", { operations: [edit("a", "one", "ONE"), edit("b", "two", "TWO")] });
    expect([made.error, text("a"), text("b")]).toEqual(["PERMISSION_DENIED", "one\n", "two\n"]);
    expect(made.text).toContain("operations[1] (edit_file)");
    expect(await ws.history()).toEqual([]);
  });
});
