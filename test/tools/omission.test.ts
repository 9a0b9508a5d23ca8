/** Comments that stand for lines left out are refused, or said, and never taken for the lines. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isOmissionComment, mayContainOmission } from "../../js/tools/lib/omission.ts";
import { KINDS, place } from "./harness.ts";

const FUNCTIONS = Array.from({ length: 40 }, (_, n) => `function f${n + 1}() { return ${n + 1}; }`);
const SOURCE = `${FUNCTIONS.join("\n")}\n`;

test.each([
  "// ... rest of the file unchanged ...",
  "// ... existing code ...",
  "// ...existing code...",
  "# ... (rest of the code remains the same)",
  "    # rest of the function unchanged",
  "/* ... */",
  "// ...",
  "<!-- ... other sections ... -->",
  "{/* ... existing components ... */}",
  "-- remaining code unchanged",
  "// rest of code",
  "… existing code …",
  "... existing code ...",
  "// ... 30 more functions",
  "// ... rest of the file unchanged",
  "// ... the rest of the class stays the same",
  "// ... other imports",
  "# ... unchanged lines 5-20",
  "// ... rest",
  "// unchanged",
  "// Rest of the file remains unchanged...",
  "[... rest of file ...]",
  "// ... keep the other handlers ...",
  "// ... (remaining code omitted for brevity)",
  "// remaining code omitted for brevity",
  "// code continues...",
])("stands for lines left out: %s", (line) => {
  expect(isOmissionComment(line)).toBe(true);
});

test.each([
  "...args,",
  "...",
  "    ...",
  "// Loading more...",
  "// wait for the rest of the workers to stop",
  "// ... and the rest is done by the caller, which knows more.",
  "// see the existing code in a.ts",
  "// keep going",
  "// continues below the table",
  "// ... rest parameters are spread below",
  "// ... existing callers of this function rely on it",
  'console.log("... rest of the file ...");',
  "const rest = [...existing];",
  "# unchanged since 1.2: the order of the fields",
  "// the same as above, but for strings",
  "return x; // ...",
  "// TODO: handle the remaining cases",
])("is a line like any other: %s", (line) => {
  expect(isOmissionComment(line)).toBe(false);
});

describe.each(KINDS)("on %s", (kind) => {
  test("write_file is refused with the lines it would delete", async () => {
    const { ws, text } = await place(kind, { "a.js": SOURCE });
    const content = `${FUNCTIONS[0]}\n// ... rest of the file unchanged ...\n`;
    const result = await ws.call("write_file", { path: "a.js", content });
    expect(result.error).toMatchObject({
      code: "INVALID_ARGUMENT",
      details: { reason: "omission", argument: "content", omissions: [{ line: 2, deletes: [2, 40] }] },
    });
    expect(result.text).toMatch(
      /line 2 of the new content is "\/\/ \.\.\. rest of the file unchanged \.\.\.", which stands for lines 2-40/,
    );
    expect(result.text).toContain("whole_file: true");
    expect(await text("a.js")).toBe(SOURCE);
    expect((await ws.call("write_file", { path: "a.js", content, whole_file: true })).ok).toBe(true);
    expect(await text("a.js")).toBe(content);
  });

  test("edit_file is refused, also as a dry run", async () => {
    const { ws, text } = await place(kind, { "a.js": SOURCE });
    const edit = {
      path: "a.js",
      old_text: `${FUNCTIONS[2]}\n${FUNCTIONS[3]}\n${FUNCTIONS[4]}`,
      new_text: `${FUNCTIONS[2]}\n// ... existing code ...`,
    };
    for (const dry_run of [false, true]) {
      const result = await ws.call("edit_file", { ...edit, dry_run });
      expect(result.error).toMatchObject({ code: "INVALID_ARGUMENT", details: { reason: "omission" } });
      expect(result.text).toContain("lines 4-5");
    }
    expect(await text("a.js")).toBe(SOURCE);
    expect((await ws.call("edit_file", { ...edit, whole_file: true })).ok).toBe(true);
  });

  test("a comment that the file holds there, or one that stands for nothing, is written", async () => {
    const { ws } = await place(kind, { "a.js": "// ...\nold();\nmore();\n", "b.js": "one();\n" });
    const kept = await ws.call("write_file", { path: "a.js", content: "// ...\nnew();\n" });
    expect(kept.ok, kept.text).toBe(true);
    const added = await ws.call("edit_file", {
      path: "b.js",
      old_text: "one();",
      new_text: "one();\n// ... existing code ...",
    });
    expect(added.ok, added.text).toBe(true);
    const made = await ws.call("write_file", { path: "new.js", content: "a();\n// ...\n" });
    expect(made.ok, made.text).toBe(true);
  });

  test("a notice of a page of ours is no content", async () => {
    const lines = Array.from({ length: 60 }, (_, n) => `const v${n + 1} = ${n + 1};`);
    const { ws, text } = await place(kind, { "a.ts": `${lines.join("\n")}\n` });
    const page = await ws.call("read_file", { path: "a.ts", max_lines: 20, line_numbers: "none" });
    const result = await ws.call("write_file", { path: "a.ts", content: `${page.text}\n` });
    expect(result.error).toMatchObject({ code: "INVALID_ARGUMENT", details: { reason: "omission" } });
    expect(result.text).toContain("lines 1-20");
    expect(await text("a.ts")).toBe(`${lines.join("\n")}\n`);
  });
});

test("apply_patch: a patch as models write it is refused, one that a program made is warned about", async () => {
  const { ws, text } = await place("memory", { "a.js": "one();\ntwo();\nthree();\n" });
  const model =
    "*** Begin Patch\n*** Update File: a.js\n@@\n one();\n-two();\n-three();\n+// ... existing code ...\n*** End Patch";
  const refused = await ws.call("apply_patch", { patch: model });
  expect(refused.error).toMatchObject({ code: "INVALID_ARGUMENT", details: { reason: "omission" } });
  expect(await text("a.js")).toBe("one();\ntwo();\nthree();\n");
  const unified =
    "--- a/a.js\n+++ b/a.js\n@@ -1,3 +1,2 @@\n one();\n-two();\n-three();\n+// ... existing code ...\n";
  const made = await ws.call("apply_patch", { patch: unified });
  expect(made.ok, made.text).toBe(true);
  expect(made.text).toContain("stands for lines 2-3");
});

test("the presets of fixed texts write it, and say so in the data", async () => {
  const { ws, text } = await place("memory", { "a.js": SOURCE }, { preset: "fluent" });
  const content = `${FUNCTIONS[0]}\n// ... rest of the file ...\n`;
  const result = await ws.call("write_file", { path: "a.js", content });
  expect(result.text).toBe("Successfully wrote a.js");
  expect(JSON.stringify(result.data)).toContain("stands for lines 2-40");
  expect(await text("a.js")).toBe(content);
});

test.each([
  ["claude", "Write", "file_path"],
  ["gemini-cli", "write_file", "file_path"],
  ["mcp", "write_file", "path"],
])("preset %s refuses it", async (preset, tool, argument) => {
  const { ws, root } = await place(
    "memory",
    { "a.js": SOURCE },
    { preset: preset as "claude", guard: "off" },
  );
  const result = await ws.call(tool, {
    [argument]: `${root}/a.js`,
    content: `${FUNCTIONS[0]}\n// ... rest of the file ...\n`,
  });
  expect(result.error).toMatchObject({ code: "INVALID_ARGUMENT", details: { reason: "omission" } });
  // A remedy that cannot be called is none.
  expect(result.text).not.toContain("whole_file");
});

describe("new_text", () => {
  test.each([[{ old_text: "b\n" }], [{ edits: [{ old_text: "b\n" }] }]])("is required: %j", async (args) => {
    const { ws, text } = await place("memory", { f: "a\nb\n" });
    const result = await ws.call("edit_file", { path: "f", ...args });
    expect(result.error?.code).toBe("INVALID_ARGUMENT");
    expect(result.text).toMatch(/'(?:edits\[0\]\.)?new_text': is required; send "" to delete/);
    expect(await text("f")).toBe("a\nb\n");
  });

  test("left out deletes in preset go, which says which lines went", async () => {
    const { ws, text } = await place(
      "memory",
      { f: "a\nb\n" },
      { preset: "go", permissions: { mode: "off" } },
    );
    const result = await ws.call("fs_edit", { path: "f", old_text: "b\n" });
    expect(result).toMatchObject({ ok: true, text: "ok" });
    expect(JSON.stringify(result.data)).toContain("line 2");
    expect(await text("f")).toBe("a\n");
  });

  test("is required by the editor of preset anthropic", async () => {
    const { ws, text } = await place("memory", { f: "a\nb\n" }, { preset: "anthropic" });
    const result = await ws.call("str_replace_based_edit_tool", {
      command: "str_replace",
      path: "f",
      old_str: "b\n",
    });
    expect(result.text).toMatch(/'new_str': is required with str_replace; send "" to delete/);
    expect(await text("f")).toBe("a\nb\n");
  });
});

test("a text may leave lines out when one of its lines does, wherever that line stands", () => {
  const fragment = fc.constantFrom(
    "// ... rest of the file unchanged ...",
    "# rest of the function unchanged",
    "/* ... */",
    "// code continues",
    "// no changes here",
    "// Keep the other handlers",
    "[lines 1-20 of 300; continue with start_line=21]",
    "[output cut at 100 bytes; truncated]",
    "a long line... [truncated]",
    "const rest = [...existing];",
    "return other(keep);",
    "",
    "  ",
    "}",
    "// plain",
  );
  const lines = fc.array(fc.tuple(fragment, fc.constantFrom("\n", "\r\n", "\n\n", "\n  \n")), {
    maxLength: 12,
  });
  fc.assert(
    fc.property(lines, (parts) => {
      const text = parts.map(([line, end]) => line + end).join("");
      const single = parts.map(([line]) => mayContainOmission(line));
      expect(mayContainOmission(text)).toBe(single.includes(true));
      for (const [line] of parts) if (isOmissionComment(line)) expect(mayContainOmission(line)).toBe(true);
    }),
    { numRuns: 2000 },
  );
});
