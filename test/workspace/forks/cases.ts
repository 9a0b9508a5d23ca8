/** The cases of forks that hold for every kind of files. */
import { expect, it } from "vitest";
import type { ForkWorkspace, Workspace } from "../../../js/index.node.ts";
import { isNight } from "../../support/share.ts";
import { absolute, ok, type OpenSubject, rootedAt, treeOf, write } from "./subject.ts";

const LINES = Array.from({ length: 10 }, (_, i) => `line ${i}\n`);
const linesWith = (changes: Readonly<Record<number, string>>): string =>
  LINES.map((line, i) => changes[i] ?? line).join("");

type Run = (ws: Workspace, forkOf: (name?: string) => Promise<ForkWorkspace>) => Promise<void>;

/** Declares the cases over one kind of files, or by day every `oneOf`-th of them, as `share` does. */
export function forkCases(open: OpenSubject, oneOf = 1, part = 0): void {
  let index = 0;
  const test = (name: string, run: Run): void => {
    const isShared = isNight || index % oneOf === part;
    index += 1;
    if (!isShared) return;
    it(name, async () => {
      const { ws, dispose } = await open();
      const { text } = await ws.call("access_info", {});
      expect(text).not.toBe("");
      const info = await ws.accessInfo({});
      rootedAt(ws, info.cwd);
      const forkOf = async (given?: string, of: Workspace = ws): Promise<ForkWorkspace> => {
        const fork = await of.fork(given);
        rootedAt(fork, info.cwd);
        return fork;
      };
      try {
        await run(ws, forkOf);
      } finally {
        await dispose();
      }
    });
  };

  test("a fork begins as its parent is, and neither sees the other's changes", async (ws, forkOf) => {
    await write(ws, { "a.txt": "1\n", "d/b.txt": "1\n", "gone.txt": "1\n" });
    const fork = await forkOf("one");
    expect(fork.name).toBe("one");
    expect(await treeOf(fork)).toEqual(await treeOf(ws));
    await ok(fork, "read_file", { path: "a.txt" });
    await ok(fork, "edit_file", { path: "a.txt", old_text: "1", new_text: "fork" });
    await ok(fork, "write_file", { path: "d/new.txt", content: "new\n" });
    await ok(fork, "delete", { path: "gone.txt" });
    expect(await treeOf(ws)).toEqual({ "a.txt": "1\n", d: "/", "d/b.txt": "1\n", "gone.txt": "1\n" });
    expect(await treeOf(fork)).toEqual({
      "a.txt": "fork\n",
      d: "/",
      "d/b.txt": "1\n",
      "d/new.txt": "new\n",
    });
    const found = await ok(fork, "grep", { pattern: "fork|new", output: "files" });
    expect(found).toContain("a.txt");
    expect(found).toContain("d/new.txt");
    await expect(forkOf("one")).rejects.toMatchObject({ code: "ALREADY_EXISTS" });
    await fork.drop();
    await (await forkOf("one")).drop();
  });

  test("diff: changes as data with hunks, and as text on request", async (ws, forkOf) => {
    await write(ws, { "a.txt": "1\n2\n3\n", "gone.txt": "x\n", bin: new Uint8Array([0, 1, 2]) });
    const fork = await forkOf();
    expect(await fork.diff()).toEqual({ changes: [] });
    await write(fork, { "a.txt": "1\ntwo\n3\n", "new/n.txt": "n\n", bin: new Uint8Array([0, 9]) });
    await fork.fs.delete(absolute(fork, "gone.txt"));
    // Written again as it was: no change.
    await write(fork, { "same.txt": "s" });
    await fork.fs.delete(absolute(fork, "same.txt"));
    const { changes, text } = await fork.diff({ text: true, context: 0 });
    expect(changes.map(({ path, change }) => [path, change])).toEqual([
      ["a.txt", "changed"],
      ["bin", "changed"],
      ["gone.txt", "removed"],
      ["new", "added"],
      ["new/n.txt", "added"],
    ]);
    expect(changes[0]).toMatchObject({ before: { type: "file", size: 6 }, after: { type: "file", size: 8 } });
    expect(changes[0]?.hunks?.map(({ lines }) => lines)).toEqual([["-2", "+two"]]);
    expect(changes[1]?.hunks).toBeUndefined();
    expect(text).toContain("-2\n+two\n");
    expect(text).toContain("deleted file mode 100644\n");
    expect(text).toContain("Binary files a/bin and b/bin differ\n");
    // The diff is against what the fork began with.
    await write(ws, { "a.txt": "other\n" });
    expect((await fork.diff()).changes[0]?.hunks?.length).toBe(1);
    // The tool of the same name works, too.
    expect(await fork.diff({ a: "a.txt", content_b: "1\ntwo\n3\n" })).toMatchObject({ identical: true });
  });

  test("merge: brings in what only the fork changed, as one change that can be undone", async (ws, forkOf) => {
    await write(ws, { "a.txt": "1\n", "b.txt": "1\n", "d/gone.txt": "1\n", kind: "file\n" });
    const before = await treeOf(ws);
    const fork = await forkOf();
    await write(fork, { "a.txt": "fork\n", "new/deep/file.txt": "n\n" });
    await ok(fork, "delete", { path: "d", recursive: true });
    await ok(fork, "delete", { path: "kind" });
    await write(fork, { "kind/now/dir.txt": "1\n" });
    const dry = await fork.merge({ dryRun: true });
    expect([dry.merged, dry.callId]).toEqual([false, undefined]);
    expect(await treeOf(ws)).toEqual(before);
    const { merged, changes, conflicts, callId } = await fork.merge();
    expect([merged, conflicts]).toEqual([true, []]);
    expect([...changes].map(({ path }) => path).sort()).toEqual(
      [...dry.changes].map(({ path }) => path).sort(),
    );
    expect(await treeOf(ws)).toEqual({
      "a.txt": "fork\n",
      "b.txt": "1\n",
      kind: "/",
      "kind/now": "/",
      "kind/now/dir.txt": "1\n",
      new: "/",
      "new/deep": "/",
      "new/deep/file.txt": "n\n",
    });
    expect(callId).toBeDefined();
    const after = await treeOf(ws);
    const { callId: undone } = await ws.undo(callId as string);
    expect(await treeOf(ws)).toEqual(before);
    await ws.undo(undone);
    expect(await treeOf(ws)).toEqual(after);
    // The fork is as its parent now, and a second merge does nothing.
    expect(await treeOf(fork)).toEqual(await treeOf(ws));
    expect((await fork.diff()).changes).toEqual([]);
    expect(await fork.merge()).toEqual({ merged: false, changes: [], conflicts: [] });
  });

  test("merge: after the parent moved on, both changes are kept, and again later", async (ws, forkOf) => {
    await write(ws, { "t.txt": linesWith({}), "x.txt": "x\n" });
    const fork = await forkOf();
    await write(fork, { "t.txt": linesWith({ 1: "fork\n" }) });
    await write(ws, { "t.txt": linesWith({ 8: "parent\n" }), "x.txt": "parent\n", "y.txt": "y\n" });
    expect((await fork.merge()).conflicts).toEqual([]);
    expect((await treeOf(ws))["t.txt"]).toBe(linesWith({ 1: "fork\n", 8: "parent\n" }));
    await write(fork, { "t.txt": (await treeOf(fork))["t.txt"]?.replace("line 5", "fork again") as string });
    expect(await fork.merge()).toMatchObject({ merged: true, conflicts: [] });
    expect(await treeOf(ws)).toEqual({
      "t.txt": linesWith({ 1: "fork\n", 5: "fork again\n", 8: "parent\n" }),
      "x.txt": "parent\n",
      "y.txt": "y\n",
    });
  });

  test("merge: conflicts are data and change nothing; a side can be favoured", async (ws, forkOf) => {
    await write(ws, {
      "both.txt": "1\n",
      "mine.txt": "1\n",
      "yours.txt": "1\n",
      bin: new Uint8Array([0, 1]),
      "dir/f": "1\n",
      turned: "1\n",
    });
    const fork = await forkOf();
    await write(fork, {
      "both.txt": "fork\n",
      "yours.txt": "fork\n",
      bin: new Uint8Array([0, 2]),
      "added.txt": "fork\n",
      "same.txt": "same\n",
      "dir/below": "fork\n",
    });
    await fork.fs.delete(absolute(fork, "mine.txt"));
    await fork.fs.delete(absolute(fork, "turned"));
    await write(fork, { "turned/in.txt": "fork\n", "clean.txt": "clean\n" });
    await write(ws, {
      "both.txt": "parent\n",
      "mine.txt": "parent\n",
      bin: new Uint8Array([0, 3]),
      "added.txt": "parent\n",
      "same.txt": "same\n",
      turned: "parent\n",
    });
    await ws.fs.delete(absolute(ws, "yours.txt"));
    await ws.fs.delete(absolute(ws, "dir/f"));
    await ws.fs.delete(absolute(ws, "dir"));
    await write(ws, { dir: "a file\n" });
    const before = await treeOf(ws);
    const result = await fork.merge();
    expect([result.merged, result.changes]).toEqual([false, []]);
    expect(result.conflicts.map(({ path, kind }) => [path, kind])).toEqual([
      ["added.txt", "content"],
      ["bin", "binary"],
      ["both.txt", "content"],
      ["dir/below", "tree"],
      ["mine.txt", "removed"],
      ["turned", "type"],
      ["turned/in.txt", "tree"],
      ["yours.txt", "removed"],
    ]);
    const both = result.conflicts.find(({ path }) => path === "both.txt");
    expect(both?.text).toContain("<<<<<<<");
    expect(both).toMatchObject({ base: { type: "file" }, ours: { size: 7 }, theirs: { size: 5 } });
    expect(await treeOf(ws)).toEqual(before);
    expect((await fork.diff()).changes.length).toBeGreaterThan(5);
  });

  test("merge: favour decides what is in conflict", async (ws, forkOf) => {
    await write(ws, { "a.txt": linesWith({}), "b.txt": "1\n", "c.txt": "1\n" });
    const fork = await forkOf();
    await write(fork, {
      "a.txt": linesWith({ 1: "fork\n", 5: "fork\n" }),
      "b.txt": "fork\n",
      "d.txt": "d\n",
    });
    await fork.fs.delete(absolute(fork, "c.txt"));
    await write(ws, { "a.txt": linesWith({ 1: "parent\n" }), "b.txt": "parent\n", "c.txt": "parent\n" });
    expect((await fork.merge()).conflicts.length).toBe(3);
    expect(await fork.merge({ favour: "theirs" })).toMatchObject({ merged: true, conflicts: [] });
    expect(await treeOf(ws)).toEqual({
      "a.txt": linesWith({ 1: "fork\n", 5: "fork\n" }),
      "b.txt": "fork\n",
      "d.txt": "d\n",
    });
    const second = await forkOf();
    await write(second, { "b.txt": "second\n", "e.txt": "e\n" });
    await write(ws, { "b.txt": "parent\n" });
    expect(await second.merge({ favour: "ours" })).toMatchObject({ merged: true, conflicts: [] });
    expect(await treeOf(ws)).toMatchObject({ "b.txt": "parent\n", "e.txt": "e\n" });
  });

  test("merge: binary files, CRLF and a byte order mark stay as they are", async (ws, forkOf) => {
    const bytes = Uint8Array.from({ length: 256 }, (_, i) => i);
    const crlf = LINES.join("").replaceAll("\n", "\r\n");
    await write(ws, { "b.bin": bytes, "crlf.txt": crlf, "bom.txt": `\ufeff${LINES.join("")}` });
    const fork = await forkOf();
    await write(fork, {
      "b.bin": bytes.toReversed(),
      "crlf.txt": crlf.replace("line 1", "fork"),
      "bom.txt": `\ufeff${linesWith({ 1: "fork\n" })}`,
    });
    await write(ws, {
      "crlf.txt": crlf.replace("line 8", "parent"),
      "bom.txt": `\ufeff${linesWith({ 8: "parent\n" })}`,
    });
    expect((await fork.merge()).conflicts).toEqual([]);
    const read = async (path: string): Promise<Uint8Array> => await ws.fs.readBytes(absolute(ws, path));
    const text = async (path: string): Promise<string> =>
      new TextDecoder("utf-8", { ignoreBOM: true }).decode(await read(path));
    expect([...(await read("b.bin"))]).toEqual([...bytes.toReversed()]);
    expect(await text("crlf.txt")).toBe(crlf.replace("line 1", "fork").replace("line 8", "parent"));
    expect(await text("bom.txt")).toBe(`\ufeff${linesWith({ 1: "fork\n", 8: "parent\n" })}`);
  });

  test("merge: modes and links", async (ws, forkOf) => {
    if (ws.fs.chmod === undefined || ws.fs.symlink === undefined) return;
    await write(ws, { "run.sh": "#!/bin/sh\n", "both.sh": "1\n", "edit.sh": linesWith({}), "t.txt": "t\n" });
    const at = (path: string): string => absolute(ws, path);
    for (const path of ["run.sh", "both.sh", "edit.sh"]) await ws.fs.chmod(at(path), 0o644);
    await ws.fs.symlink("t.txt", at("old"));
    const fork = await forkOf();
    await fork.fs.chmod?.(at("run.sh"), 0o755);
    await fork.fs.chmod?.(at("both.sh"), 0o700);
    await fork.fs.chmod?.(at("edit.sh"), 0o755);
    await fork.fs.symlink?.("run.sh", at("link"));
    await fork.fs.delete(at("old"));
    await fork.fs.symlink?.("run.sh", at("old"));
    await write(ws, { "edit.sh": linesWith({ 3: "parent\n" }) });
    await ws.fs.chmod(at("edit.sh"), 0o644);
    expect(await fork.merge({ dryRun: true })).toMatchObject({ conflicts: [] });
    await ws.fs.chmod(at("both.sh"), 0o600);
    expect((await fork.merge()).conflicts.map(({ path, kind }) => [path, kind])).toEqual([
      ["both.sh", "mode"],
    ]);
    await ws.fs.chmod(at("both.sh"), 0o700);
    expect((await fork.merge()).conflicts).toEqual([]);
    expect(await treeOf(ws, true)).toEqual({
      "both.sh": "1\n 700",
      "edit.sh": `${linesWith({ 3: "parent\n" })} 755`,
      link: "-> run.sh",
      old: "-> run.sh",
      "run.sh": "#!/bin/sh\n 755",
      "t.txt": "t\n 644",
    });
    const second = await forkOf();
    await second.fs.delete(at("old"));
    await second.fs.symlink?.("second", at("old"));
    await ws.fs.delete(at("old"));
    await ws.fs.symlink("parent", at("old"));
    expect((await second.merge()).conflicts.map(({ path, kind }) => [path, kind])).toEqual([
      ["old", "target"],
    ]);
  });

  test("merge: a directory in place of a link, with a file that the link led to", async (ws, forkOf) => {
    if (ws.fs.symlink === undefined) return;
    await write(ws, { "there/same": "1\n", "there/other": "1\n" });
    await ws.fs.symlink("there", absolute(ws, "d"));
    const fork = await forkOf();
    await fork.fs.delete(absolute(fork, "d"));
    await write(fork, { "d/same": "1\n", "d/other": "fork\n" });
    expect(await fork.merge()).toMatchObject({ merged: true, conflicts: [] });
    expect(await treeOf(ws)).toEqual({
      d: "/",
      "d/other": "fork\n",
      "d/same": "1\n",
      there: "/",
      "there/other": "1\n",
      "there/same": "1\n",
    });
  });

  test("merge: a copied file with other permission bits keeps its content", async (ws, forkOf) => {
    if (ws.fs.chmod === undefined) return;
    await write(ws, { "a.sh": "1\n" });
    const fork = await forkOf();
    await fork.fs.chmod?.(absolute(fork, "a.sh"), 0o700);
    await ok(fork, "copy", { source: "a.sh", destination: "b.sh" });
    await write(ws, { "a.sh": "parent\n" });
    expect(await fork.merge({ favour: "ours" })).toMatchObject({ merged: true, conflicts: [] });
    expect((await treeOf(ws))["b.sh"]).toBe("1\n");
  });

  test("merge: moves of files and directories, and a directory that the parent filled", async (ws, forkOf) => {
    await write(ws, { "a.txt": "a\n", "src/one.ts": "1\n", "src/sub/two.ts": "2\n", "old/x": "x\n" });
    const fork = await forkOf();
    await ok(fork, "move", { source: "a.txt", destination: "b.txt" });
    await ok(fork, "move", { source: "src", destination: "lib" });
    await ok(fork, "delete", { path: "old", recursive: true });
    await write(ws, { "old/new": "parent\n" });
    expect((await fork.merge()).conflicts).toEqual([]);
    expect(await treeOf(ws)).toEqual({
      "b.txt": "a\n",
      lib: "/",
      "lib/one.ts": "1\n",
      "lib/sub": "/",
      "lib/sub/two.ts": "2\n",
      old: "/",
      "old/new": "parent\n",
    });
  });

  test("merge: a moved file that the parent changed is a conflict, not a loss", async (ws, forkOf) => {
    await write(ws, { "a.txt": "a\n", "d/x": "x\n" });
    const fork = await forkOf();
    await ok(fork, "move", { source: "a.txt", destination: "b.txt" });
    await ok(fork, "delete", { path: "d", recursive: true });
    await write(ws, { "a.txt": "parent changed it\n", "d/x": "parent changed it\n" });
    const { conflicts } = await fork.merge();
    expect(conflicts.map(({ path, kind }) => [path, kind])).toEqual([
      ["a.txt", "removed"],
      ["d/x", "removed"],
    ]);
    expect((await treeOf(ws))["a.txt"]).toBe("parent changed it\n");
  });

  test("forks of forks: a merge goes to the fork above, and eight are the most", async (ws) => {
    await write(ws, { "a.txt": linesWith({}) });
    const root = (await ws.accessInfo({})).cwd;
    const chain: Workspace[] = [ws];
    for (let depth = 1; depth <= 8; depth++) {
      const fork = await (chain.at(-1) as Workspace).fork();
      rootedAt(fork, root);
      await write(fork, { [`f${depth}.txt`]: `${depth}\n` });
      chain.push(fork);
    }
    const last = chain.at(-1) as ForkWorkspace;
    await expect(last.fork()).rejects.toMatchObject({ code: "LIMIT_EXCEEDED" });
    expect(Object.keys(await treeOf(last)).length).toBe(9);
    await write(last, { "a.txt": linesWith({ 4: "deepest\n" }) });
    for (const fork of chain.slice(1).reverse())
      expect((await (fork as ForkWorkspace).merge()).conflicts).toEqual([]);
    expect((await treeOf(ws))["a.txt"]).toBe(linesWith({ 4: "deepest\n" }));
    expect(Object.keys(await treeOf(ws)).length).toBe(9);
  });

  test("ten agents try ten changes at once, and nine of ten conflict where they change the same line", async (ws, forkOf) => {
    await write(ws, { "shared.txt": linesWith({}), "one.txt": "1\n" });
    const forks = await Promise.all(Array.from({ length: 10 }, (_, i) => forkOf(`try-${i}`)));
    await Promise.all(
      forks.map(async (fork, i) => {
        const agent = await fork.agent(`agent-${i}`);
        await ok(agent, "read_file", { path: "shared.txt" });
        await ok(agent, "edit_file", { path: "shared.txt", old_text: `line ${i}\n`, new_text: `by ${i}\n` });
        await ok(agent, "write_file", { path: `own/${i}.txt`, content: `${i}\n` });
        await ok(agent, "read_file", { path: "one.txt" });
        await ok(agent, "write_file", { path: "one.txt", content: `by ${i}\n`, overwrite: true });
      }),
    );
    const results = [];
    for (const fork of forks) results.push(await fork.merge());
    expect(results.filter(({ merged }) => merged).length).toBe(1);
    for (const fork of forks) await fork.merge({ favour: "ours" });
    const tree = await treeOf(ws);
    // Neighbouring lines are one change for a three-way merge, so a side was favoured there.
    expect(tree["one.txt"]).toBe("by 0\n");
    expect(Object.keys(tree).filter((path) => path.startsWith("own/")).length).toBe(10);
    for (const fork of forks) await fork.drop();
  });

  test("a closed fork, a dropped one, and a closed parent refuse calls", async (ws, forkOf) => {
    await write(ws, { "a.txt": "1\n" });
    const [first, second, third] = [await forkOf("first"), await forkOf("second"), await forkOf("third")];
    await write(first, { "a.txt": "first\n" });
    await first.drop();
    const closed = { code: "UNSUPPORTED_OPERATION" };
    await expect(first.merge()).rejects.toMatchObject(closed);
    await expect(first.diff()).rejects.toMatchObject(closed);
    await expect(first.fork()).rejects.toMatchObject(closed);
    expect((await first.call("stat", { path: "a.txt" })).error?.code).toBe(closed.code);
    await second.close();
    await expect(second.merge()).rejects.toMatchObject(closed);
    await ws.close();
    await expect(third.merge()).rejects.toMatchObject(closed);
    expect((await third.call("stat", { path: "a.txt" })).error?.code).toBe(closed.code);
    await expect(ws.fork()).rejects.toMatchObject(closed);
  });

  test("names and options that are wrong are refused", async (ws) => {
    for (const name of ["", ".", "../x", "a/b", "-x", "a b", "x".repeat(65), "a\n", 7 as unknown as string])
      await expect(ws.fork(name)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    const wrong = [{ sginal: null }, { signal: 1 }, null] as unknown as readonly object[];
    for (const options of wrong)
      await expect(ws.fork("a", options)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    const fork = await ws.fork("a");
    await expect(fork.merge({ favor: "ours" } as object)).rejects.toThrow(/favour/u);
    await expect(fork.merge({ favour: "both" as "ours" })).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
    });
    await expect(fork.diff({ txt: true } as object)).rejects.toThrow(/text/u);
    const aborted = AbortSignal.abort();
    await expect(ws.fork("b", { signal: aborted })).rejects.toMatchObject({ code: "CANCELLED" });
    // The name is free again.
    await (await ws.fork("b")).drop();
  });
}
