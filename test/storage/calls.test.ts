/** A tool call over a storage: how many round trips it takes, and that all of it happens or nothing. */
import { describe, expect, it } from "vitest";
import { singleToolPreset } from "../../js/cli/single-tool.ts";
import {
  openWorkspace,
  type ToolDefinition,
  type ToolResult,
  toolsFor,
  type Workspace,
} from "../../js/index.node.ts";
import { undoTool } from "../../js/tools/undo.ts";
import type { Tool } from "../../js/tools/lib/tool.ts";
import { memoryStorage, type MemoryStorage, type Op, type Storage } from "../../js/storage/index.ts";
import { idOfCall } from "../support/calls.ts";

/** A storage that notes its calls, and runs `before` ahead of a commit, as another replica might. */
function counted(inner: Storage) {
  const trips: string[] = [];
  const commits: (readonly Op[])[] = [];
  const other: { before?: (() => Promise<unknown>) | undefined } = {};
  const storage = new Proxy(inner, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      return async (...args: unknown[]) => {
        trips.push(String(name));
        if (name === "commit") {
          const { before } = other;
          other.before = undefined;
          await before?.();
          commits.push(args[0] as readonly Op[]);
        }
        return Reflect.apply(value as (...all: unknown[]) => unknown, target, args);
      };
    },
  });
  return { storage, trips, commits, other };
}

const FILES = Object.fromEntries(
  Array.from({ length: 60 }, (_, i) => [`/repo/src/deep/er/f${i}.ts`, `const n = ${i};\n`]),
);

async function storageWith(files: Readonly<Record<string, string>> = FILES): Promise<MemoryStorage> {
  const storage = memoryStorage();
  await storage.commit(
    Object.entries(files).map(([path, text]) => ({ op: "put", path, body: new TextEncoder().encode(text) })),
  );
  return storage;
}

async function textAt(storage: Storage, path: string): Promise<string | null> {
  const [found] = (await storage.readMany([path])).results;
  if (found === null || found === undefined || found instanceof Error) return null;
  return found.entry.type === "file" ? new TextDecoder().decode(found.body) : found.entry.type;
}

function patchOf(count: number, value: string): string {
  const files = Array.from(
    { length: count },
    (_, i) => `*** Update File: src/deep/er/f${i}.ts\n@@\n-const n = ${i};\n+const n = ${value}${i};\n`,
  );
  return `*** Begin Patch\n${files.join("")}*** End Patch`;
}

async function opened(options: object = {}) {
  const inner = await storageWith();
  const { storage, trips, commits, other } = counted(inner);
  const ws = await openWorkspace({ storage, root: "/repo", agent: "ann", ...options });
  const took = async (tool: string, args: object): Promise<readonly string[]> => {
    trips.length = 0;
    const result = await ws.call(tool as "stat", args as never);
    expect([tool, result.ok ? "" : result.text]).toEqual([tool, ""]);
    return [...trips];
  };
  // The tool `undo` is one of MCP and of the command line.
  const preset = singleToolPreset(undoTool(false) as unknown as Tool, "undo");
  const [tool] = toolsFor(ws, preset);
  const undo = async (id: string): Promise<ToolResult> => (tool as ToolDefinition).execute({ call_id: id });
  // The first call finds out where the links of the roots lead.
  await took("stat", { path: "." });
  trips.length = 0;
  return { inner, trips, commits, other, ws, undo, took };
}

const codeOf = ({ error }: ToolResult): string => error?.code ?? "";

describe("the round trips of a call", () => {
  it("are one for a read, two for a change, however many files", async () => {
    const { ws, took } = await opened();
    const path = "src/deep/er/f1.ts";
    expect(await took("read_file", { path })).toEqual(["readMany"]);
    expect(await took("stat", { path })).toEqual(["readMany"]);
    const change = ["readMany", "commit"];
    expect(await took("write_file", { path: "new/dir/a.ts", content: "x\n" })).toEqual(change);
    expect(await took("write_file", { path, content: "const n = 7;\n" })).toEqual(change);
    expect(await took("edit_file", { path, old_text: "7", new_text: "8" })).toEqual(change);
    expect(
      await took("apply_patch", {
        patch: patchOf(1, "")
          .replaceAll("f0", "f2")
          .replaceAll("= 0", "= 2")
          .replace("+const n = 2", "+const n = 3"),
      }),
    ).toEqual(change);
    expect(await took("mkdir", { path: "a/b/c" })).toEqual(change);
    expect(await took("copy", { source: path, destination: "copies/one.ts" })).toEqual(change);
    expect(await took("move", { source: "copies/one.ts", destination: "copies/two.ts" })).toEqual(change);
    expect(await took("delete", { path: "src/deep/er/f59.ts" })).toEqual(change);
    const paths = Array.from({ length: 59 }, (_, i) => `src/deep/er/f${i}.ts`);
    expect(await took("read_many_files", { paths })).toEqual(["readMany"]);
    const operations = [
      { tool: "write_file", args: { path: "batch/a.ts", content: "a\n" } },
      { tool: "edit_file", args: { path, old_text: "8", new_text: "9" } },
      { tool: "delete", args: { path: "new/dir/a.ts" } },
      { tool: "copy", args: { source: "batch/a.ts", destination: "batch/b.ts" } },
    ];
    expect(await took("batch", { operations })).toEqual(change);
    await ws.close();
  });

  it("are two for a patch of 20 files, which is one commit", async () => {
    const { ws, took, commits } = await opened();
    expect(await took("apply_patch", { patch: patchOf(20, "1") })).toEqual(["readMany", "commit"]);
    expect(commits.map((ops) => ops.length)).toEqual([20]);
    await ws.close();
  });

  it("are two for a batch that notes what it reads and writes, which is a part of its commit", async () => {
    const { ws, inner, took } = await opened({ guard: "refuse" });
    const [read, made] = ["src/deep/er/f1.ts", "made.ts"];
    const operations = [
      { tool: "read_file", args: { path: read } },
      { tool: "write_file", args: { path: made, content: "a\n" } },
    ];
    expect(await took("batch", { operations })).toEqual(["readMany", "commit"]);
    // Another replica knows of both.
    const other = await openWorkspace({ storage: inner, root: "/repo", agent: "ann", guard: "refuse" });
    for (const path of [read, made]) {
      const result = await other.call("write_file", { path, content: "b\n", overwrite: true });
      expect([path, codeOf(result)]).toEqual([path, ""]);
    }
    for (const one of [ws, other]) await one.close();
  });

  it("are two for a batch that only reads: the second notes what was read", async () => {
    const { ws, took, commits } = await opened({ guard: "refuse" });
    const operations = [{ tool: "read_file", args: { path: "src/deep/er/f1.ts" } }];
    expect(await took("batch", { operations })).toEqual(["readMany", "commit"]);
    expect(commits).toEqual([[]]);
    expect(await ws.history()).toEqual([]);
    await ws.close();
  });

  it("are two for an undo, of one call or of the last", async () => {
    const { ws, undo, trips, inner } = await opened();
    const id = await idOfCall(ws, "apply_patch", { patch: patchOf(20, "1") });
    expect(await textAt(inner, "/repo/src/deep/er/f19.ts")).toBe("const n = 119;\n");
    trips.length = 0;
    await ws.undo(id);
    expect(trips).toEqual(["history", "commit"]);
    expect(await textAt(inner, "/repo/src/deep/er/f19.ts")).toBe("const n = 19;\n");
    const made = await idOfCall(ws, "write_file", { path: "new/dir/a.ts", content: "x\n" });
    trips.length = 0;
    const result = await undo(made);
    expect([result.ok, result.text]).toEqual([true, expect.stringContaining("new/dir/a.ts")]);
    expect(trips).toEqual(["history", "commit"]);
    expect(await textAt(inner, "/repo/new")).toBeNull();
    await ws.close();
  });
});

describe("a call that fails", () => {
  it("changes nothing and makes no commit when the last file of a patch does not fit", async () => {
    const { ws, commits, inner } = await opened();
    const patch = patchOf(20, "1").replace("-const n = 19;", "-const n = 99;");
    const result = await ws.call("apply_patch", { patch });
    expect([codeOf(result), commits.length]).toEqual(["PATCH_FAILED", 0]);
    expect(await textAt(inner, "/repo/src/deep/er/f0.ts")).toBe("const n = 0;\n");
    await ws.close();
  });

  it("takes back what a batch did before the operation that failed", async () => {
    const { ws, commits, inner } = await opened();
    const operations = [
      { tool: "write_file", args: { path: "a.ts", content: "a\n" } },
      { tool: "move", args: { source: "src", destination: "moved" } },
      { tool: "delete", args: { path: "src/deep/er/f0.ts" } },
    ];
    const result = await ws.call("batch", { operations } as never);
    expect([result.ok, commits.length]).toEqual([false, 0]);
    expect(await textAt(inner, "/repo/a.ts")).toBeNull();
    expect(await textAt(inner, "/repo/src/deep/er/f0.ts")).toBe("const n = 0;\n");
    await ws.close();
  });
});

describe("another replica that was faster", () => {
  const path = "/repo/src/deep/er/f1.ts";
  const put =
    (inner: Storage, text: string, at = path) =>
    (): Promise<unknown> =>
      inner.commit([{ op: "put", path: at, body: new TextEncoder().encode(text) }]);

  it("is planned on again where both changes fit", async () => {
    const { ws, inner, other } = await opened();
    other.before = put(inner, "// theirs\nconst n = 1;\n");
    const result = await ws.call("edit_file", {
      path: "src/deep/er/f1.ts",
      old_text: "= 1",
      new_text: "= 2",
    });
    expect(codeOf(result)).toBe("");
    expect(await textAt(inner, path)).toBe("// theirs\nconst n = 2;\n");
    await ws.close();
  });

  it("is not overwritten where the edit does not fit any more", async () => {
    const { ws, inner, other } = await opened();
    other.before = put(inner, "theirs\n");
    const result = await ws.call("edit_file", {
      path: "src/deep/er/f1.ts",
      old_text: "= 1",
      new_text: "= 2",
    });
    expect(result.ok).toBe(false);
    expect(await textAt(inner, path)).toBe("theirs\n");
    await ws.close();
  });

  it("keeps a file that it made below a directory that is deleted", async () => {
    const { ws, inner, other } = await opened();
    other.before = put(inner, "kept\n", "/repo/src/deep/er/late.ts");
    const result = await ws.call("delete", { path: "src/deep", recursive: true });
    // The directory is deleted as it is by then; what came in between was seen before it went.
    expect(result.ok ? result.data.files : result.text).toBe(61);
    await ws.close();
  });

  it("is found by an approved call, which writes nothing else than what was approved", async () => {
    const { ws, inner, other, commits } = await opened({
      confirm: async () => ({ outcome: "proceed_once" }),
    });
    other.before = put(inner, "// theirs\nconst n = 1;\n");
    const result = await ws.call("edit_file", {
      path: "src/deep/er/f1.ts",
      old_text: "= 1",
      new_text: "= 2",
    });
    expect([codeOf(result), commits.length]).toEqual(["CONFLICT", 1]);
    expect(await textAt(inner, path)).toBe("// theirs\nconst n = 1;\n");
    await ws.close();
  });

  it("wrote a file just before it is deleted or moved away: its content is not lost", async () => {
    const file = "src/deep/er/f1.ts";
    const calls: readonly (readonly [string, object])[] = [
      ["delete", { path: file }],
      ["apply_patch", { patch: `*** Begin Patch\n*** Delete File: ${file}\n*** End Patch` }],
      ["batch", { operations: [{ tool: "delete", args: { path: file } }] }],
      ["move", { source: "src/deep/er/f2.ts", destination: file, overwrite: true }],
    ];
    for (const [tool, args] of calls) {
      // An approval is for the content that was shown.
      const asked = await opened({ confirm: async () => ({ outcome: "proceed_once" }) });
      asked.other.before = put(asked.inner, "theirs\n");
      const refused = await asked.ws.call(tool as "stat", args as never);
      expect([tool, codeOf(refused)]).toEqual([tool, "CONFLICT"]);
      expect(await textAt(asked.inner, path)).toBe("theirs\n");
      await asked.ws.close();
      // Without one the call is made on what is there by then, which its undo brings back.
      const { ws, inner, other } = await opened();
      other.before = put(inner, "theirs\n");
      await ws.undo(await idOfCall(ws, tool, args));
      expect([tool, await textAt(inner, path)]).toEqual([tool, "theirs\n"]);
      await ws.close();
    }
  });

  it("moves a link in the path, and the call is refused or goes where the policy allows", async () => {
    const { ws, inner, other } = await opened();
    await inner.commit([
      { op: "put", path: "/outside/f1.ts", body: new TextEncoder().encode("const n = 1;\n") },
    ]);
    other.before = () =>
      inner.commit([
        { op: "remove", path: "/repo/src/deep/er", tree: true },
        { op: "symlink", path: "/repo/src/deep/er", target: "/outside" },
      ]);
    const result = await ws.call("edit_file", {
      path: "src/deep/er/f1.ts",
      old_text: "= 1",
      new_text: "= 2",
    });
    expect(codeOf(result)).toBe("OUTSIDE_ALLOWED");
    expect(await textAt(inner, "/outside/f1.ts")).toBe("const n = 1;\n");
    await ws.close();
  });
});

describe("undo over a storage", () => {
  const [DIR, F1] = ["/repo/src/deep/er", "/repo/src/deep/er/f1.ts"];
  const path = "src/deep/er/f1.ts";
  const edit1 = ["edit_file", { path, old_text: "= 1", new_text: "= 2" }] as const;
  const patch = `diff --git a/${path} b/${path}\nold mode 100644\nnew mode 100755\n`;
  const chmod1 = ["apply_patch", { patch }] as const;
  const remove1 = ["delete", { path }] as const;

  it("is done by another replica, and undone by a third", async () => {
    const inner = await storageWith();
    const open = (): Promise<Workspace> =>
      openWorkspace({ storage: counted(inner).storage, root: "/repo", agent: "ann" });
    const [one, two, three] = [await open(), await open(), await open()];
    const operations = [
      { tool: "move", args: { source: "src/deep", destination: "moved" } },
      { tool: "delete", args: { path: "moved/er/f3.ts" } },
      { tool: "write_file", args: { path: "made/by/batch.ts", content: "x\n" } },
      { tool: "edit_file", args: { path: "moved/er/f4.ts", old_text: "4", new_text: "44" } },
    ];
    const before = await inner.list({ limit: 1000 });
    const id = await idOfCall(one, "batch", { operations });
    const changed = await inner.list({ limit: 1000 });
    expect((await two.history()).map(({ callId, tool, agent }) => [callId, tool, agent])).toEqual([
      [id, "batch", "ann"],
    ]);
    const undone = await two.undo(id);
    const state = ({ entries }: typeof before) =>
      entries.map(({ path, type, hash, mode }) => [path, type, hash, mode]);
    expect(state(await inner.list({ limit: 1000 }))).toEqual(state(before));
    await three.undo(undone.callId);
    expect(state(await inner.list({ limit: 1000 }))).toEqual(state(changed));
    expect((await one.history()).map(({ tool, undoOf }) => [tool, undoOf])).toEqual([
      ["undo", undone.callId],
      ["undo", id],
      ["batch", undefined],
    ]);
    for (const ws of [one, two, three]) await ws.close();
  });

  it("names the file that has changed since, and changes nothing", async () => {
    const { ws, undo, inner } = await opened();
    const id = await idOfCall(ws, "apply_patch", { patch: patchOf(3, "1") });
    await inner.commit([
      { op: "put", path: "/repo/src/deep/er/f1.ts", body: new TextEncoder().encode("theirs\n") },
    ]);
    const result = await undo(id);
    expect([codeOf(result), result.text]).toEqual(["CONFLICT", expect.stringContaining("f1.ts")]);
    expect(await textAt(inner, "/repo/src/deep/er/f0.ts")).toBe("const n = 10;\n");
    await expect(ws.undo(id)).rejects.toMatchObject({ code: "CONFLICT" });
    // The same content again is what the call left, whatever its version is.
    await inner.commit([
      { op: "put", path: "/repo/src/deep/er/f1.ts", body: new TextEncoder().encode("const n = 11;\n") },
    ]);
    await ws.undo(id);
    expect(await textAt(inner, "/repo/src/deep/er/f0.ts")).toBe("const n = 0;\n");
    await ws.close();
  });

  it.each([
    [
      "keeps permission bits that others have set",
      edit1,
      { op: "chmod", path: F1, mode: 0o600 },
      ["", 0o600, "= 1"],
    ],
    [
      "refuses where the call had set bits, too",
      chmod1,
      { op: "chmod", path: F1, mode: 0o600 },
      ["CONFLICT", 0o600, "= 1"],
    ],
    [
      "makes the directory of a removed file again",
      remove1,
      { op: "move", from: DIR, to: "/repo/b" },
      ["", 0o644, "= 1"],
    ],
  ] as const)("%s", async (_, [tool, args], theirs, [code, mode, text]) => {
    const { ws, undo, inner } = await opened();
    const id = await idOfCall(ws, tool, args);
    await inner.commit([theirs]);
    expect(codeOf(await undo(id))).toBe(code);
    const [found] = (await inner.readMany([F1])).results;
    expect(found).toMatchObject({ entry: { mode } });
    expect(await textAt(inner, F1)).toContain(text);
    await ws.close();
  });

  it("follows no link that has taken the place of a directory", async () => {
    const { ws, undo, inner } = await opened();
    const id = await idOfCall(ws, "edit_file", {
      path: "src/deep/er/f1.ts",
      old_text: "= 1",
      new_text: "= 2",
    });
    await inner.commit([
      { op: "move", from: "/repo/src/deep/er", to: "/outside" },
      { op: "symlink", path: "/repo/src/deep/er", target: "/outside" },
    ]);
    const result = await undo(id);
    expect(result.ok).toBe(false);
    expect(await textAt(inner, "/outside/f1.ts")).toBe("const n = 2;\n");
    await ws.close();
  });

  it("shows no workspace what another one changed outside of its root", async () => {
    const inner = await storageWith({ "/repo/a.ts": "a\n", "/other/b.ts": "b\n" });
    const one = await openWorkspace({ storage: inner, root: "/other" });
    const two = await openWorkspace({ storage: counted(inner).storage, root: "/repo" });
    const id = await idOfCall(one, "write_file", { path: "b.ts", content: "c\n" });
    expect(await two.history()).toEqual([]);
    await expect(two.undo(id)).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect((await one.history()).map(({ paths }) => paths)).toEqual([["b.ts"]]);
    for (const ws of [one, two]) await ws.close();
  });
});

describe("the form of files", () => {
  it("is kept: line ends, byte order mark and mode, through an edit and its undo", async () => {
    const { ws, inner } = await opened();
    await inner.commit([
      {
        op: "put",
        path: "/repo/win.txt",
        body: new TextEncoder().encode("\ufeffone\r\ntwo\r\n"),
        mode: 0o755,
      },
    ]);
    const id = await idOfCall(ws, "edit_file", { path: "win.txt", old_text: "two", new_text: "2\n3" });
    const [edited] = (await inner.readMany(["/repo/win.txt"])).results;
    expect(edited).toMatchObject({ entry: { mode: 0o755 } });
    expect(await textAt(inner, "/repo/win.txt")).toBe("one\r\n2\r\n3\r\n");
    await ws.undo(id);
    const [undone] = (await inner.readMany(["/repo/win.txt"])).results;
    expect(undone).toMatchObject({ entry: { mode: 0o755 } });
    expect(await textAt(inner, "/repo/win.txt")).toBe("one\r\ntwo\r\n");
    await ws.close();
  });

  it("is what later calls have seen: an edit needs no read of what the agent wrote", async () => {
    const { ws } = await opened({ guard: "refuse" });
    await idOfCall(ws, "write_file", { path: "own.txt", content: "one\n" });
    await idOfCall(ws, "edit_file", { path: "own.txt", old_text: "one", new_text: "two" });
    await idOfCall(ws, "batch", {
      operations: [{ tool: "edit_file", args: { path: "own.txt", old_text: "two", new_text: "three" } }],
    });
    await idOfCall(ws, "edit_file", { path: "own.txt", old_text: "three", new_text: "four" });
    const unseen = await ws.call("edit_file", { path: "src/deep/er/f1.ts", old_text: "1", new_text: "2" });
    expect(unseen.ok).toBe(false);
    await ws.close();
  });
});
