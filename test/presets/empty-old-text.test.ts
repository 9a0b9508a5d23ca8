/** An empty old text is refused with the tool that makes a file, in the words of each preset. */
import { expect, test } from "vitest";
import { open } from "./harness.ts";

test.each([
  ["claude", "Edit", { file_path: "new.md", old_string: "", new_string: "hello\n" }, "use Write"],
  [
    "claude",
    "MultiEdit",
    { file_path: "new.md", edits: [{ old_string: "", new_string: "hello\n" }] },
    "use Write",
  ],
  ["mcp", "edit_file", { path: "new.md", edits: [{ oldText: "", newText: "hello\n" }] }, "use write_file"],
  [undefined, "edit_file", { path: "new.md", old_text: "", new_text: "hello\n" }, "use write_file"],
] as const)(
  "preset %s names what makes a file when %s gets no old text",
  async (preset, tool, args, hint) => {
    const { ws, backend } = await open(preset);
    const result = await ws.call(tool, args);
    expect(result.error?.code).toBe("INVALID_ARGUMENT");
    expect(result.text).toContain(hint);
    expect(await backend.exists("/w/new.md")).toBe(false);
  },
);

test("preset mcp gives of several large files one page, and says of each how much", async () => {
  const big = Array.from({ length: 5000 }, (_, n) => `row ${n} ${"w".repeat(90)}\n`).join("");
  const { ws } = await open("mcp", { "a.txt": big, "b.txt": "small\n" });
  const result = await ws.call("read_multiple_files", { paths: ["/w/a.txt", "/w/b.txt"] });
  expect(Buffer.byteLength(result.text)).toBeLessThanOrEqual(65_536 + 500);
  expect(result.text).toMatch(/\[lines 1-\d+ of 5000; truncated\]/u);
  expect(result.text).toContain("b.txt");
});
