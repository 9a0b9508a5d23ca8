/** Read before write, per agent, by content, over a restart. */
import { mkdtemp, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import {
  type FileHash,
  FilewrightError,
  MemoryBackend,
  memoryRecords,
  openWorkspace,
  type Records,
  type Workspace,
} from "../../js/index.node.ts";

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

async function disk(seed: Record<string, string>) {
  const base = await mkdtemp(join(tmpdir(), "filewright-guard-"));
  cleanups.push(() => rm(base, { recursive: true, force: true }));
  const [root, stateDir] = [join(base, "ws"), join(base, "state")];
  await import("node:fs/promises").then(({ mkdir }) => Promise.all([mkdir(root), mkdir(stateDir)]));
  for (const [name, content] of Object.entries(seed)) await writeFile(join(root, name), content);
  const open = async (agent?: string): Promise<Workspace> => {
    const ws = await openWorkspace({ root, stateDir, guard: true, agent });
    cleanups.push(() => ws.close());
    return ws;
  };
  return { root, open, at: (name: string) => join(root, name) };
}

async function memory(seed: Record<string, string>, options: object = { guard: true }) {
  const files = Object.fromEntries(Object.entries(seed).map(([name, content]) => [`/w/${name}`, content]));
  const backend = new MemoryBackend(files);
  const ws = await openWorkspace({ backend, root: "/w", ...options });
  return { ws, backend };
}

/** Files of which one cannot be read. */
class UnreadableFile extends MemoryBackend {
  override async hash(path: string): Promise<FileHash> {
    if (path === "/w/copied") throw new FilewrightError("IO_ERROR", "the disk fails", { path });
    return super.hash(path);
  }
}

test("a copy is told as made when its content cannot be read to be noted as seen", async () => {
  const backend = new UnreadableFile({ "/w/f": "one\n" });
  const ws = await openWorkspace({ backend, root: "/w", guard: true, history: false });
  expect(await ws.call("copy", { source: "f", destination: "copied" })).toMatchObject({ ok: true });
  expect((await backend.listDir("/w")).map(({ name }) => name)).toEqual(["copied", "f"]);
});

const CHANGES: readonly (readonly [string, string, Record<string, unknown>])[] = [
  ["write_file", "replaces", { path: "f", content: "new" }],
  ["edit_file", "edits", { path: "f", old_text: "one", new_text: "1" }],
  ["apply_patch", "patches", { path: "f", patch: "@@ -1 +1 @@\n-one\n+1\n" }],
  ["copy", "overwrites by a copy", { source: "g", destination: "f", overwrite: true }],
  ["move", "overwrites by a move", { source: "g", destination: "f", overwrite: true }],
];

describe("the guard after a content came back that was read", () => {
  const edit = { path: "f", old_text: "one", new_text: "1" };

  test.each(["disk", "memory"] as const)("passes an edit after undo and rewind on %s", async (kind) => {
    const seed = { f: "one\ntwo\n" };
    const ws = kind === "disk" ? await (await disk(seed)).open() : (await memory(seed)).ws;
    await ws.call("read_file", { path: "f" });
    await ws.mark("begin");
    const make = async (tool: string, args: object): Promise<string> => {
      const made = await ws.call(tool, args);
      expect(made.text).not.toMatch(/^Error/);
      return made.meta.call_id as string;
    };
    for (const back of [(id: string) => ws.undo(id), () => ws.rewind("begin")]) {
      await back(await make("edit_file", edit));
      await ws.undo(await make("edit_file", edit));
    }
    await ws.undo(await make("delete", { path: "f" }));
    expect((await ws.call("write_file", { path: "f", content: "all of it" })).ok).toBe(true);
    await ws.close();
  });

  test("refuses an edit of a content that was never read", async () => {
    const { ws, backend } = await memory({ f: "one\n" });
    await ws.call("read_file", { path: "f" });
    expect((await ws.call("edit_file", edit)).ok).toBe(true);
    await backend.writeText("/w/f", "one more\n");
    const other = await ws.call("write_file", { path: "f", content: "mine" });
    expect(other.error?.details).toMatchObject({ reason: "changed_since_read" });
    await backend.writeText("/w/f", "one\n");
    expect((await ws.call("write_file", { path: "f", content: "mine" })).ok).toBe(true);
    await ws.close();
  });
});

describe("the guard of unread content", () => {
  test.each(CHANGES)("%s %s only what was read", async (tool, _what, args) => {
    const { ws, backend } = await memory({ f: "one\ntwo\n", g: "other\n" });
    const refused = await ws.call(tool, args);
    expect(refused.error).toMatchObject({ code: "CONFLICT", details: { reason: "not_read" } });
    expect(refused.text).toMatch(/'f' .*not read yet; read it first/);
    expect(new TextDecoder().decode(await backend.readBytes("/w/f"))).toBe("one\ntwo\n");
    await ws.call("read_file", { path: "f" });
    expect((await ws.call(tool, args)).text).not.toMatch(/^Error/);
  });

  test.each([
    ["a new file", "write_file", { path: "n", content: "x" }],
    ["an addition", "write_file", { path: "f", content: "x", append: true }],
    ["a dry run", "edit_file", { path: "f", old_text: "one", new_text: "1", dry_run: true }],
    ["a directory", "mkdir", { path: "d" }],
    ["a move of what was not read", "move", { source: "f", destination: "n" }],
  ])("%s needs no reading", async (_title, tool, args) => {
    const { ws } = await memory({ f: "one\n" });
    const result = await ws.call(tool, args);
    expect(result.ok, result.text).toBe(true);
  });

  test.each(["refuse", "warn"])(
    "%s: a deletion needs no read where the history keeps the file",
    async (guard) => {
      const { ws } = await memory({ f: "one\n" }, { guard });
      const { ok, text, meta } = await ws.call("delete", { path: "f" });
      expect({ ok, text }).toEqual({ ok: true, text: "Deleted f (1 file)" });
      await ws.undo(meta.call_id as string);
      expect((await ws.call("read_file", { path: "f" })).ok).toBe(true);
    },
  );

  test("a deletion needs a look where there is no history", async () => {
    const { ws } = await memory({ f: "one\n", g: "one\n" }, { guard: "refuse", history: false });
    const refused = await ws.call("delete", { path: "f" });
    expect(refused.error).toMatchObject({ code: "CONFLICT", details: { reason: "not_read" } });
    expect(refused.text).toContain("look at it with stat first, then repeat the deletion");
    await ws.call("stat", { path: "f" });
    expect((await ws.call("delete", { path: "f" })).ok).toBe(true);
    const warned = await memory({ f: "one\n" }, { guard: "warn", history: false });
    const { text } = await warned.ws.call("delete", { path: "f" });
    expect(text).toContain("[f was changed without having been read before]");
  });

  test.each([
    ["a binary file", new Uint8Array([0, 159, 146, 150, 0])],
    ["a damaged picture", new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 1])],
    ["a damaged archive", new Uint8Array([0x50, 0x4b, 3, 4, 20, 0, 0, 0])],
  ])("%s that a read refused may be replaced, until it changes", async (_what, content) => {
    const backend = new MemoryBackend({ "/w/f": content });
    const ws = await openWorkspace({ backend, root: "/w", guard: "refuse" });
    const write = { path: "f", content: "x\n" };
    expect((await ws.call("write_file", write)).error?.details).toMatchObject({ reason: "not_read" });
    expect((await ws.call("read_file", { path: "f" })).ok).toBe(false);
    await backend.writeBytes("/w/f", new Uint8Array([...content, 0]));
    expect((await ws.call("write_file", write)).error?.details).toMatchObject({
      reason: "changed_since_read",
    });
    await ws.call("read_file", { path: "f" });
    expect((await ws.call("write_file", write)).ok).toBe(true);
  });

  test("what the agent wrote itself it has seen, by any tool", async () => {
    const { ws } = await memory({ f: "one\n" });
    const calls: readonly (readonly [string, object])[] = [
      ["write_file", { path: "n", content: "one\n" }],
      ["edit_file", { path: "n", old_text: "one", new_text: "two" }],
      ["apply_patch", { path: "n", patch: "@@ -1 +1 @@\n-two\n+three\n" }],
      ["write_file", { path: "n", content: "four\n" }],
      ["copy", { source: "f", destination: "c" }],
      ["edit_file", { path: "c", old_text: "one", new_text: "1" }],
    ];
    for (const [tool, args] of calls) {
      const result = await ws.call(tool, args);
      expect(result.ok, `${tool}: ${result.text}`).toBe(true);
    }
  });

  test("a page of the file counts for its lines, other names of it do too where they lead to the same place", async () => {
    const { ws } = await memory({ f: "one\ntwo\nthree\n" });
    await ws.call("read_file", { path: "./f", max_lines: 1 });
    expect((await ws.call("edit_file", { path: "f", old_text: "one", new_text: "1" })).ok).toBe(true);
  });

  test("another program's change is refused, a touch is not", async () => {
    const { open, at } = await disk({ f: "one\n" });
    const ws = await open();
    await ws.call("read_file", { path: "f" });
    await utimes(at("f"), new Date(0), new Date(0));
    expect((await ws.call("edit_file", { path: "f", old_text: "one", new_text: "two" })).ok).toBe(true);
    await writeFile(at("f"), "foreign\n");
    const refused = await ws.call("write_file", { path: "f", content: "mine" });
    expect(refused.error).toMatchObject({ code: "CONFLICT", details: { reason: "changed_since_read" } });
    expect(await readFile(at("f"), "utf8")).toBe("foreign\n");
  });

  test("every agent has read what it read", async () => {
    const { ws } = await memory({ f: "one\n" });
    await ws.call("read_file", { path: "f" }, { agent: "a" });
    const edit = { path: "f", old_text: "one", new_text: "two" };
    expect((await ws.call("edit_file", edit, { agent: "b" })).error?.details).toMatchObject({
      reason: "not_read",
    });
    expect((await ws.call("edit_file", edit)).error?.details).toMatchObject({ reason: "not_read" });
    expect((await ws.call("edit_file", edit, { agent: "a" })).ok).toBe(true);
    await ws.call("read_file", { path: "f" }, { agent: "b" });
    await ws.call("write_file", { path: "f", content: "three\n" }, { agent: "a" });
    const stale = await ws.call("write_file", { path: "f", content: "four\n" }, { agent: "b" });
    expect(stale.error?.details).toMatchObject({ reason: "changed_since_read" });
  });

  test("survives a restart, per agent", async () => {
    const { open, at } = await disk({ f: "one\n", g: "one\n" });
    const first = await open("a");
    await first.call("read_file", { path: "f" });
    await first.call("read_file", { path: "g" });
    await first.close();
    await writeFile(at("g"), "foreign\n");
    const second = await open("a");
    const edit = (path: string) => second.call("edit_file", { path, old_text: "one", new_text: "two" });
    expect((await edit("f")).ok).toBe(true);
    expect((await second.call("write_file", { path: "g", content: "x" })).error?.details).toMatchObject({
      reason: "changed_since_read",
    });
    const other = await open("b");
    expect((await other.call("write_file", { path: "f", content: "x" })).error?.details).toMatchObject({
      reason: "not_read",
    });
  });

  test("a torn memory only makes files unread", async () => {
    const { open, root } = await disk({ f: "one\n" });
    const first = await open("a");
    await first.call("read_file", { path: "f" });
    await first.close();
    const { readdir } = await import("node:fs/promises");
    const folder = join(root, "../state/reads");
    const [name] = await readdir(folder);
    await writeFile(join(folder, name as string), '{"path":"/x","ha');
    const second = await open("a");
    expect((await second.call("write_file", { path: "f", content: "x" })).error?.code).toBe("CONFLICT");
  });

  test("a batch is guarded as a whole, and its trial is forgotten", async () => {
    const { ws, backend } = await memory({ f: "one\n", g: "one\n" });
    await ws.call("read_file", { path: "f" });
    const edit = (path: string) => ({ tool: "edit_file", args: { path, old_text: "one", new_text: "two" } });
    const failed = await ws.call("batch", { operations: [edit("f"), edit("g")] });
    expect(failed.error?.code).toBe("CONFLICT");
    expect(new TextDecoder().decode(await backend.readBytes("/w/f"))).toBe("one\n");
    const done = await ws.call("batch", {
      operations: [edit("f"), { tool: "edit_file", args: { path: "f", old_text: "two", new_text: "three" } }],
    });
    expect(done.ok, done.text).toBe(true);
    expect((await ws.call("edit_file", { path: "f", old_text: "three", new_text: "four" })).ok).toBe(true);
  });

  test("off, nothing has to be read", async () => {
    const { ws } = await memory({ f: "one\n" }, {});
    expect((await ws.call("write_file", { path: "f", content: "x" })).ok).toBe(true);
  });
});

describe("levels of the guard", () => {
  test("warn is the default: the change is made, and the answer says what was not seen", async () => {
    const { ws, backend } = await memory({ f: "one\ntwo\n", g: "x\n" }, {});
    const result = await ws.call("write_file", { path: "f", content: "new\n" });
    expect(result.ok).toBe(true);
    expect(result.text).toMatch(/^Updated f .*\n(.*\n)*\[f was changed without having been read before\]$/);
    expect(result.data).toMatchObject({
      warnings: expect.arrayContaining([expect.stringContaining("f was")]),
    });
    expect((await ws.call("write_file", { path: "f", content: "new, longer\n" })).text).not.toContain("[");
    await ws.call("read_file", { path: "g" });
    await backend.writeBytes("/w/g", new TextEncoder().encode("foreign\n"));
    const edited = await ws.call("edit_file", { path: "g", old_text: "foreign", new_text: "ours" });
    expect(edited.text).toContain("[g had changed since you read it; read it again]");
  });

  test.each(CHANGES)("warn: %s %s what was not read, with a warning", async (tool, _what, args) => {
    const { ws } = await memory({ f: "one\ntwo\n", g: "other\n" }, { guard: "warn" });
    const result = await ws.call(tool, args);
    expect(result.ok, result.text).toBe(true);
    expect(result.text).toContain("[f was changed without having been read before]");
  });

  test("warn: an edit of unread lines licenses no overwrite of the rest", async () => {
    const { ws } = await memory({ f: "one\ntwo\nthree\n" }, { guard: "warn" });
    await ws.call("edit_file", { path: "f", old_text: "one", new_text: "1" });
    const result = await ws.call("write_file", { path: "f", content: "all, and some more\n" });
    expect(result.text).toContain("[f: lines that you had not read were changed]");
  });

  test("off says nothing", async () => {
    const { ws } = await memory({ f: "one\n" }, { guard: "off" });
    expect((await ws.call("delete", { path: "f" })).data).not.toHaveProperty("warnings");
  });

  test.each([
    ["claude", "Write", { file_path: "/w/f", content: "new" }, false],
    ["codex", "apply_patch", { input: "*** Begin Patch\n*** Delete File: f\n*** End Patch" }, false],
    ["gemini-cli", "write_file", { file_path: "/w/f", content: "new" }, false],
    ["mcp", "write_file", { path: "/w/f", content: "new" }, true],
    [
      "anthropic",
      "str_replace_based_edit_tool",
      { command: "insert", path: "f", insert_line: 0, insert_text: "x" },
      true,
    ],
    ["fluent", "write_file", { path: "f", content: "new" }, true],
  ])("preset %s has its own default", async (preset, tool, args, isMade) => {
    const { ws } = await memory({ f: "one\ntwo\n" }, { preset });
    const result = await ws.call(tool, args);
    expect(result.ok, result.text).toBe(isMade);
    const [plain] = [await memory({ f: "one\ntwo\n" }, { preset, guard: "off" })];
    expect((await plain.ws.call(tool, args)).ok).toBe(true);
  });

  test.each([
    ["claude", "Edit", { file_path: "f", old_string: "one", new_string: "1" }],
    ["gemini-cli", "replace", { file_path: "/w/f", instruction: "x", old_string: "one", new_string: "1" }],
    [
      "codex",
      "apply_patch",
      { input: "*** Begin Patch\n*** Update File: f\n@@\n-one\n+1\n two\n*** End Patch" },
    ],
  ])(
    "preset %s: an edit that quotes what it changes needs no read; a host's own guard wants one",
    async (preset, tool, args) => {
      const files = { f: "one\ntwo\nthree\n" };
      const { ws } = await memory(files, { preset });
      const result = await ws.call(tool, args);
      expect(result.ok, result.text).toBe(true);
      const strict = await memory(files, { preset, guard: "refuse" });
      expect((await strict.ws.call(tool, args)).error).toMatchObject({ details: { reason: "not_read" } });
      // The edit shows its own lines alone.
      const write = preset === "claude" ? "Write" : "write_file";
      if (preset === "codex") return;
      const written = await ws.call(write, { file_path: "/w/f", content: "x" });
      expect(written.error).toMatchObject({ details: { reason: "partial_read" } });
    },
  );

  test("whole_file stands for having read the whole, but not over what changed since", async () => {
    const { ws, backend } = await memory({ f: "one\ntwo\nthree\n" });
    const write = { path: "f", content: "x\n", whole_file: true };
    await ws.call("read_file", { path: "f", max_lines: 1 });
    const refused = await ws.call("write_file", { ...write, whole_file: false });
    expect(refused.error).toMatchObject({ code: "CONFLICT", details: { reason: "partial_read" } });
    expect(refused.text).toContain("set whole_file: true");
    await backend.writeBytes("/w/f", new TextEncoder().encode("foreign\n"));
    expect((await ws.call("write_file", write)).error).toMatchObject({
      details: { reason: "changed_since_read" },
    });
    await ws.call("read_file", { path: "f" });
    expect((await ws.call("write_file", write)).ok).toBe(true);
  });

  test("a warning that was asked for is kept in the records of the host", async () => {
    const records = memoryRecords();
    const kinds: string[] = [];
    const noting: Records = {
      ...records,
      put(kind, id, value, options) {
        kinds.push(`${kind.split(" ")[0]} ${id}`);
        return records.put(kind, id, value, options);
      },
    };
    const { ws } = await memory({ f: "one\n" }, { guard: "warn", records: noting });
    expect((await ws.call("write_file", { path: "f", content: "two\n" })).ok).toBe(true);
    expect(kinds).toContain("reads /w/f");
  });
});

describe("a formatter in an after hook", () => {
  const formatter = (backend: () => MemoryBackend) => ({
    stage: "after" as const,
    tool: "*",
    async run() {
      const before = await backend().readText("/w/a.js");
      if (!before.includes("'")) return;
      await backend().writeBytes("/w/a.js", new TextEncoder().encode(before.replaceAll("'", '"')));
    },
  });

  async function formatted(options: object = {}) {
    let backend: MemoryBackend | undefined;
    const hooks = [formatter(() => backend as MemoryBackend)];
    const opened = await memory(
      { "a.js": "const a = 1;\nconst b = 2;\n" },
      { guard: true, hooks, ...options },
    );
    backend = opened.backend;
    await opened.ws.call("read_file", { path: "a.js" });
    return { ...opened, content: () => opened.backend.readText("/w/a.js") };
  }

  test.each([
    ["edit_file", { path: "a.js", old_text: "const a = 1;", new_text: "const a = 'x';" }],
    ["write_file", { path: "a.js", content: "const a = 'x';\nconst b = 2;\n" }],
    ["apply_patch", { path: "a.js", patch: "@@ -1 +1 @@\n-const a = 1;\n+const a = 'x';\n" }],
  ])(
    "%s: the answer carries the file as it is then, and the next edit is no conflict",
    async (tool, args) => {
      const { ws, content } = await formatted();
      const result = await ws.call(tool, args);
      expect(await content()).toBe('const a = "x";\nconst b = 2;\n');
      expect(result.text).toContain("[a hook changed a.js after this call:]");
      expect(result.text).toContain("-const a = 'x';\n+const a = \"x\";");
      const { hash, hook_diff } = result.data as { hash?: string; hook_diff: string };
      expect(hook_diff).toContain('+const a = "x";');
      const next = { path: "a.js", old_text: "const a = ", new_text: "let a = " };
      const again = await ws.call("edit_file", hash === undefined ? next : { ...next, expected_hash: hash });
      expect(again.ok, again.text).toBe(true);
      expect(again.text).not.toContain("hook");
    },
  );

  test("in a batch", async () => {
    const { ws } = await formatted();
    const operations = [
      { tool: "edit_file", args: { path: "a.js", old_text: "const a = 1;", new_text: "const a = 'x';" } },
    ];
    const result = await ws.call("batch", { operations });
    expect(JSON.stringify(result.data)).toContain("a hook changed a.js");
    expect((await ws.call("edit_file", { path: "a.js", old_text: "const a", new_text: "let a" })).ok).toBe(
      true,
    );
  });

  test("lines that were not read stay unread", async () => {
    const { ws } = await formatted();
    const lines = Array.from({ length: 50 }, (_, n) => `const v${n} = ${n};`);
    await ws.call("write_file", { path: "a.js", content: `${lines.join("\n")}\n` });
    const other = await ws.call(
      "read_file",
      { path: "a.js", start_line: 1, max_lines: 5 },
      { agent: "other" },
    );
    expect(other.ok).toBe(true);
    const edit = { path: "a.js", old_text: "const v1 = 1;", new_text: "const v1 = 'x';" };
    expect((await ws.call("edit_file", edit, { agent: "other" })).text).toContain("a hook changed");
    const far = { path: "a.js", old_text: "const v40 = 40;", new_text: "const v40 = 0;" };
    expect((await ws.call("edit_file", far, { agent: "other" })).error).toMatchObject({
      details: { reason: "partial_read" },
    });
  });

  test("what another program wrote before the hooks is not taken for the call's own", async () => {
    const { ws, backend } = await formatted({ hooks: [] });
    await ws.call("edit_file", { path: "a.js", old_text: "const a = 1;", new_text: "const a = 2;" });
    await backend.writeBytes("/w/a.js", new TextEncoder().encode("foreign"));
    expect(
      (await ws.call("edit_file", { path: "a.js", old_text: "foreign", new_text: "x" })).error,
    ).toMatchObject({
      code: "CONFLICT",
    });
  });
});
