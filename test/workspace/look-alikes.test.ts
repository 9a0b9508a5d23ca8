/** Names that look the same, and paths that another root has: taken where the call needs what exists, refused where it would create. */
import { describe, expect, test } from "vitest";
import { MemoryBackend, openWorkspace } from "../../js/index.node.ts";
import { KINDS, place } from "../tools/harness.ts";

const NARROW = "Screenshot at 8.55.11\u202fPM.txt";
const PLAIN = "Screenshot at 8.55.11 PM.txt";

describe.each(KINDS)("a name that looks the same, on %s", (kind) => {
  test("is read, and the answer says the code point", async () => {
    const { ws } = await place(kind, { [NARROW]: "shot\n" });
    const result = await ws.call("read_file", { path: PLAIN });
    expect(result.text).toContain("shot");
    expect(result.text).toContain("U+202F where this path has U+0020");
    expect((result.data as { warning?: string }).warning).toContain("U+202F");
  });

  test("is edited, also below a directory of such a name", async () => {
    const { ws, text } = await place(kind, { [`caf\u0065\u0301/${NARROW}`]: "shot\n" });
    const path = `caf\u00e9/${PLAIN}`;
    const result = await ws.call("edit_file", { path, old_text: "shot", new_text: "done" });
    expect(result.ok).toBe(true);
    expect(result.text).toContain("taken was");
    expect(result.data?.warnings).toHaveLength(1);
    expect(await text(`caf\u0065\u0301/${NARROW}`)).toBe("done\n");
  });

  test("loses against the exact name, and is not taken where two look the same", async () => {
    const { ws } = await place(kind, {
      [NARROW]: "narrow\n",
      [PLAIN]: "plain\n",
      "a\u00a0b": "1\n",
      "a\u2003b": "2\n",
    });
    const exact = await ws.call("read_file", { path: PLAIN });
    expect(exact.text).toBe("1\tplain");
    expect((await ws.call("read_file", { path: "a b" })).error?.code).toBe("NOT_FOUND");
  });

  test("keeps a call from creating an entry beside it", async () => {
    const { ws, text } = await place(kind, { [NARROW]: "shot\n", other: "x\n" });
    for (const [tool, args] of [
      ["write_file", { path: PLAIN, content: "new\n" }],
      ["mkdir", { path: PLAIN }],
      ["move", { source: "other", destination: PLAIN }],
      ["copy", { source: "other", destination: PLAIN }],
    ] as const) {
      const result = await ws.call(tool, args);
      expect(result.error?.code, tool).toBe("INVALID_ARGUMENT");
      expect(result.text, tool).toContain("U+202F");
      expect(result.error?.details).toMatchObject({ existing: expect.stringContaining(NARROW) });
    }
    expect(await text(NARROW)).toBe("shot\n");
    expect((await ws.call("write_file", { path: "another name.txt", content: "" })).ok).toBe(true);
  });

  test("keeps a call from creating a name with a blank at its end beside the name", async () => {
    const { ws, text } = await place(kind, { "a.txt": "shot\n" });
    const result = await ws.call("write_file", { path: "a.txt ", content: "new\n" });
    expect(result.error?.code).toBe("INVALID_ARGUMENT");
    expect(result.text).toContain("'a.txt'");
    expect(await text("a.txt ")).toBeUndefined();
  });

  test("is read among several files, and the answer says so", async () => {
    const { ws } = await place(kind, { [NARROW]: "shot\n", "b.txt": "other\n" });
    const result = await ws.call("read_many_files", { paths: [PLAIN, "b.txt", "none at all.txt"] });
    expect(result.text).toContain("shot");
    expect(result.text).toContain("U+202F where this path has U+0020");
    expect(result.data?.files.map(({ path }) => path).sort()).toEqual([NARROW, "b.txt"]);
    expect(result.data?.skipped).toMatchObject([{ path: "none at all.txt", code: "NOT_FOUND" }]);
    expect(result.data?.warnings).toHaveLength(1);
  });

  test.each([
    ["apply_patch", "canonical"],
    ["apply_patch", "codex"],
  ] as const)("is patched by %s of preset %s, and the answer says so", async (tool, preset) => {
    const { ws, text } = await place(kind, { [NARROW]: "shot\n", "b.txt": "b\n" }, { preset });
    const argument = preset === "codex" ? "input" : "patch";
    const patch = (name: string, head: string): string =>
      `*** Begin Patch\n${head}: ${name}\n@@\n-shot\n+done\n*** Update File: b.txt\n@@\n-b\n+c\n*** End Patch`;
    const result = await ws.call(tool, { [argument]: patch(PLAIN, "*** Update File") });
    expect(result.text).toContain("U+202F where this path has U+0020");
    expect(result.ok).toBe(true);
    expect(await text(NARROW)).toBe("done\n");
    expect(await text(PLAIN)).toBeUndefined();
    expect(await text("b.txt")).toBe("c\n");
  });

  test("is patched by a unified diff, and deleted by one", async () => {
    const { ws, text } = await place(kind, { [NARROW]: "shot\n", "b.txt": "b\n" });
    const changed = `--- a/${PLAIN}\t\n+++ b/${PLAIN}\t\n@@ -1 +1 @@\n-shot\n+done\n`;
    const first = await ws.call("apply_patch", { patch: changed });
    expect(first.text).toContain("taken was");
    expect(await text(NARROW)).toBe("done\n");
    const gone = `*** Begin Patch\n*** Delete File: ${PLAIN}\n*** End Patch`;
    expect((await ws.call("apply_patch", { patch: gone })).data?.warnings).toHaveLength(1);
    expect(await text(NARROW)).toBeUndefined();
  });

  test("keeps a patch from creating an entry beside it", async () => {
    const { ws, text } = await place(kind, { [NARROW]: "shot\n", "b.txt": "b\n" });
    const added = `*** Begin Patch\n*** Add File: ${PLAIN}\n+new\n*** End Patch`;
    const moved = `*** Begin Patch\n*** Update File: b.txt\n*** Move to: ${PLAIN}\n@@\n-b\n+c\n*** End Patch`;
    for (const patch of [added, moved]) {
      const result = await ws.call("apply_patch", { patch });
      expect(result.error?.code).toBe("INVALID_ARGUMENT");
      expect(result.text).toContain("U+202F");
    }
    expect(await text("b.txt")).toBe("b\n");
    const other = `*** Begin Patch\n*** Add File: another name.txt\n+new\n*** End Patch`;
    expect((await ws.call("apply_patch", { patch: other })).ok).toBe(true);
  });

  test("is compared", async () => {
    const { ws } = await place(kind, { [NARROW]: "shot\n", "b.txt": "shut\n" });
    const result = await ws.call("diff", { a: PLAIN, b: "b.txt" });
    expect(result.text).toContain("-shot\n+shut");
    expect(result.text).toContain("taken was");
  });

  test("is not told where a rule denies it", async () => {
    const { ws } = await place(kind, { [NARROW]: "shot\n" }, { rules: [{ path: NARROW, decision: "deny" }] });
    for (const [tool, args] of [
      ["read_file", { path: PLAIN }],
      ["stat", { path: PLAIN }],
    ] as const) {
      const result = await ws.call(tool, args);
      expect(result.error?.code, tool).toBe("NOT_FOUND");
      expect(result.text, tool).not.toContain("\u202f");
    }
    const many = await ws.call("read_many_files", { paths: [PLAIN] });
    expect(many.data?.files).toEqual([]);
    expect(many.text).not.toContain("\u202f");
    // Created as if the other were not there: a refusal would reveal it.
    expect((await ws.call("write_file", { path: PLAIN, content: "" })).ok).toBe(true);
  });

  test("a preset says it too", async () => {
    const { ws } = await place(kind, { [NARROW]: "shot\n" }, { preset: "claude" });
    const result = await ws.call("Read", { file_path: PLAIN });
    expect(result.text).toContain("shot");
    expect(result.text).toContain("U+202F");
  });
});

describe("a relative path that only another root has", () => {
  const open = () =>
    openWorkspace({
      backend: new MemoryBackend({ "/one/a.txt": "first\n", "/two/src/only.txt": "second\n" }),
      cwd: "/one",
      access: { read: ["/one", "/two"], write: ["/one", "/two"] },
      guard: "off",
    });

  test("is read there, and the answer says where", async () => {
    await using ws = await open();
    const result = await ws.call("read_file", { path: "src/only.txt" });
    expect(result.text).toContain("second");
    expect(result.text).toContain("taken was '/two/src/only.txt', which is in another root");
  });

  test("is not changed there", async () => {
    await using ws = await open();
    const result = await ws.call("edit_file", { path: "src/only.txt", old_text: "second", new_text: "x" });
    expect(result.error?.code).toBe("NOT_FOUND");
    expect(result.text).toContain("Did you mean '/two/src/only.txt'?");
  });

  test("find_files without a path covers every root, and with one that directory alone", async () => {
    await using ws = await open();
    const all = await ws.findFiles({ query: "txt" });
    expect(all.files.map(({ path }) => path).sort()).toEqual(["/two/src/only.txt", "a.txt"]);
    expect(all.total).toBe(2);
    expect((await ws.findFiles({ query: "txt", limit: 1 })).truncated).toBe(true);
    expect((await ws.call("find_files", { query: "only", path: "/one" })).text).toContain(
      "other roots: /two",
    );
  });

  test("find_files leaves out what a rule denies in another root", async () => {
    await using ws = await openWorkspace({
      backend: new MemoryBackend({ "/one/a.txt": "first\n", "/two/src/only.txt": "second\n" }),
      cwd: "/one",
      access: { read: ["/one", "/two"], write: ["/one"] },
      rules: [{ path: "/two/**", decision: "deny" }],
    });
    const { text } = await ws.call("find_files", { query: "txt" });
    expect(text).toContain("a.txt");
    expect(text).not.toContain("only.txt");
  });

  test("a listing without a path is of every root", async () => {
    await using ws = await open();
    const result = await ws.call("list_directory", {});
    expect(result.text).toBe("[FILE] a.txt\n[DIR] /two\n[DIR] /two/src");
    expect((await ws.call("list_directory", { path: "/two" })).text).toBe("[DIR] src");
  });

  test("a search of the first that finds nothing names the other roots", async () => {
    await using ws = await open();
    for (const [tool, args] of [
      ["grep", { pattern: "second", path: "/one" }],
      ["glob", { pattern: "only.txt", path: "/one" }],
    ] as const)
      expect((await ws.call(tool, args)).text, tool).toContain("other roots: /two");
    expect((await ws.call("grep", { pattern: "second" })).text).toBe("/two/src/only.txt:1:second");
    expect((await ws.call("glob", { pattern: "only.txt" })).text).toBe("/two/src/only.txt");
    expect((await ws.call("find_files", { query: "only" })).text).toBe("/two/src/only.txt");
    expect((await ws.call("grep", { pattern: "first" })).text).toBe("a.txt:1:first");
  });
});

describe("a relative path that only a root has which a rule keeps", () => {
  test.each(["ask", "deny"] as const)("reads as a missing one where the decision is %s", async (decision) => {
    const backend = new MemoryBackend({ "/w/a.txt": "a\n", "/w/kept/hidden.txt": "hidden\n" });
    const roots = ["/w", "/w/kept"];
    await using ws = await openWorkspace({ backend, roots, cwd: "/w", rules: [{ path: "kept", decision }] });
    const there = await ws.call("read_file", { path: "hidden.txt" });
    const missing = await ws.call("read_file", { path: "absent.txt" });
    expect(there.error?.code).toBe("NOT_FOUND");
    expect(there.text.replaceAll("hidden", "absent")).toBe(missing.text);
  });
});
