/** A root that is deleted while a workspace is open, and made again: a worktree that goes and comes. */
import { chown, mkdir, readdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openWorkspace } from "../../js/index.node.ts";
import { temporary } from "../tools/harness.ts";

describe.skipIf(process.platform === "win32").each([
  ["restricted threads", {}],
  ["free threads", { kernel: "off" }],
] as const)("a root that is deleted, with %s", (_, options) => {
  const open = async () => {
    const { base, root, outside, stateDir } = await temporary({ "a.txt": "before\n" });
    const ws = await openWorkspace({ root, stateDir, guard: "off", ...options });
    expect((await ws.call("read_file", { path: "a.txt" })).text).toContain("before");
    return { base, root, outside, ws };
  };

  test("is told as gone, and nothing reads like an empty answer", async () => {
    const { root, ws } = await open();
    await using _ws = ws;
    await rm(root, { recursive: true });
    for (const [tool, args] of [
      ["read_file", { path: "a.txt" }],
      ["write_file", { path: "b.txt", content: "x\n" }],
      ["write_file", { path: "d/b.txt", content: "x\n" }],
      ["mkdir", { path: "d" }],
      ["list_directory", {}],
      ["glob", { pattern: "*" }],
      ["grep", { pattern: "before" }],
    ] as const) {
      const result = await ws.call(tool, args);
      expect(result.ok, `${tool}: ${result.text}`).toBe(false);
      expect(result.text, tool).toContain("gone");
    }
  });

  test("is opened anew once it is made again", async () => {
    const { root, ws } = await open();
    await using _ws = ws;
    await rm(root, { recursive: true });
    expect((await ws.call("read_file", { path: "a.txt" })).ok).toBe(false);
    await mkdir(root);
    await writeFile(join(root, "a.txt"), "after\n");
    expect((await ws.call("read_file", { path: "a.txt" })).text).toContain("after");
    expect((await ws.call("grep", { pattern: "after" })).text).toBe("a.txt:1:after");
    expect((await ws.call("glob", { pattern: "*" })).text).toBe("a.txt");
    expect((await ws.call("list_directory", {})).text).toBe("[FILE] a.txt");
    expect((await ws.call("edit_file", { path: "a.txt", old_text: "after", new_text: "now" })).ok).toBe(true);
    expect((await ws.call("write_file", { path: "d/b.txt", content: "x\n" })).ok).toBe(true);
    expect((await readdir(root)).sort()).toEqual(["a.txt", "d"]);
  });

  test("is not taken for what a link in its place leads to", async () => {
    const { root, outside, ws } = await open();
    await using _ws = ws;
    await writeFile(join(outside, "a.txt"), "outside\n");
    await rm(root, { recursive: true });
    await symlink(outside, root);
    const read = await ws.call("read_file", { path: "a.txt" });
    expect(read.ok).toBe(false);
    expect(read.text).not.toContain("outside\n");
    expect((await ws.call("write_file", { path: "b.txt", content: "x\n" })).ok).toBe(false);
    expect(await readdir(outside)).toEqual(["a.txt"]);
  });

  test("that was moved instead stays the directory it is", async () => {
    const { base, root, ws } = await open();
    await using _ws = ws;
    await rename(root, join(base, "moved"));
    await mkdir(root);
    await writeFile(join(root, "a.txt"), "another\n");
    expect((await ws.call("read_file", { path: "a.txt" })).text).toContain("before");
  });

  test.skipIf(process.getuid?.() !== 0)("is not taken for a directory of another owner", async () => {
    const { root, ws } = await open();
    await using _ws = ws;
    await rm(root, { recursive: true });
    await mkdir(root);
    await writeFile(join(root, "a.txt"), "another\n");
    await chown(root, 65534, 65534);
    expect((await ws.call("read_file", { path: "a.txt" })).text).toContain("gone");
  });
});
