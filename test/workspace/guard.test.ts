/** Read before write, per agent, by content, over a restart. */
import { mkdtemp, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { MemoryBackend, openWorkspace, type Workspace } from "../../js/index.node.ts";

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

const CHANGES: readonly (readonly [string, string, Record<string, unknown>])[] = [
  ["write_file", "replaces", { path: "f", content: "new" }],
  ["edit_file", "edits", { path: "f", old_text: "one", new_text: "1" }],
  ["apply_patch", "patches", { path: "f", patch: "@@ -1 +1 @@\n-one\n+1\n" }],
  ["copy", "overwrites by a copy", { source: "g", destination: "f", overwrite: true }],
  ["move", "overwrites by a move", { source: "g", destination: "f", overwrite: true }],
  ["delete", "deletes", { path: "f" }],
];

describe("004-18 the guard", () => {
  test.each(CHANGES)("%s %s only what was read", async (tool, _what, args) => {
    const { ws, backend } = await memory({ f: "one\ntwo\n", g: "other\n" });
    const refused = await ws.call(tool, args);
    expect(refused.error).toMatchObject({ code: "CONFLICT", details: { reason: "not_read" } });
    expect(refused.text).toMatch(/'f' .*not read yet; read it first/);
    expect(new TextDecoder().decode(backend.readBytesSync("/w/f"))).toBe("one\ntwo\n");
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
    expect(new TextDecoder().decode(backend.readBytesSync("/w/f"))).toBe("one\n");
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
