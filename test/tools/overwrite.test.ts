/** Overwriting keeps the form of a file, and the answer says what was kept, what shrank and how it was written. */
import { chmod, link, mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openWorkspace } from "../../js/index.node.ts";
import { KINDS, place } from "./harness.ts";

const bytesOf = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex, "hex"));
const hexOf = (bytes: Uint8Array | undefined): string => Buffer.from(bytes ?? []).toString("hex");
const SHIFT_JIS = Uint8Array.from(
  Buffer.from(
    "kN2S6IN0g0CDQ4OLPZdMjPgKlryRTz2T+pZ7jOqCzJDglr6DZYNMg1iDZwqSbD2CsYLqgs2OjoyxgsWCtwo=",
    "base64",
  ),
);
const UTF16 = Uint8Array.from([0xff, 0xfe, ...Buffer.from("STRING 1\r\nSTRING 2\r\n", "utf16le")]);

describe.each(KINDS)("write_file over a file on %s", (kind) => {
  test("keeps CRLF where the file has nothing else and the content has LF alone", async () => {
    const { ws, text } = await place(kind, { f: "one\r\ntwo\r\n" });
    const result = await ws.call("write_file", { path: "f", content: "one\ntwo!\nthree\n" });
    expect(await text("f")).toBe("one\r\ntwo!\r\nthree\r\n");
    expect(result.text).toContain("kept from the file: CRLF line ends");
    expect(result.data).toMatchObject({
      warnings: expect.arrayContaining(["kept from the file: CRLF line ends"]),
    });
  });

  test.each([
    ["content with a CRLF", "a\r\nb\r\n", { content: "x\ny\r\n" }, "x\ny\r\n"],
    ["a file of mixed line ends", "a\r\nb\n", { content: "x\ny\n" }, "x\ny\n"],
    ["a file without line ends", "a", { content: "x\ny\n" }, "x\ny\n"],
    ["an explicit eol", "a\r\nb\r\n", { content: "x\ny\n", eol: "as_is" }, "x\ny\n"],
    ["an explicit encoding", "a\r\nb\r\n", { content: "x\ny\n", encoding: "utf-8" }, "x\ny\n"],
    ["content with a mark of its own", "a\r\nb\r\n", { content: "\ufeffx\n" }, "\ufeffx\n"],
    ["content without a final newline", "a\r\nb\r\n", { content: "x\ny" }, "x\r\ny"],
    ["an addition", "a\r\nb\r\n", { content: "c\n", append: true }, "a\r\nb\r\nc\r\n"],
  ])("%s", async (_title, before, args, after) => {
    const { ws, text } = await place(kind, { f: before });
    expect(await ws.call("write_file", { path: "f", ...args })).toMatchObject({ ok: true });
    expect(await text("f")).toBe(after);
  });

  test("keeps the byte order mark of UTF-8", async () => {
    const { ws, bytes } = await place(kind, { f: bytesOf("efbbbf73c3a90a") });
    const result = await ws.call("write_file", { path: "f", content: "sé!\n" });
    expect(hexOf(await bytes("f"))).toBe("efbbbf73c3a9210a");
    expect(result.text).toContain("the byte order mark");
    // Once more, and as base64, which is written as given.
    await ws.call("write_file", { path: "f", content: "eA==", content_encoding: "base64" });
    expect(hexOf(await bytes("f"))).toBe("78");
  });

  test("keeps UTF-16 with its mark and CRLF", async () => {
    const { ws, bytes } = await place(kind, { f: UTF16 });
    const result = await ws.call("write_file", { path: "f", content: "STRING 3\nSTRING é\n" });
    expect(Buffer.from((await bytes("f"))!.subarray(2)).toString("utf16le")).toBe("STRING 3\r\nSTRING é\r\n");
    expect(result.text).toMatch(/kept from the file: utf-16le, the byte order mark, CRLF line ends/);
  });

  test("keeps Shift_JIS, and refuses what it cannot say with the remedy", async () => {
    const { ws, bytes } = await place(kind, { f: SHIFT_JIS });
    const { text: before } = await ws.call("read_file", { path: "f", line_numbers: "none" });
    expect(before).toContain("名前=日本語");
    const first = await ws.call("write_file", { path: "f", content: "名前=変更\n" });
    expect(first.ok, first.text).toBe(true);
    expect(new TextDecoder("shift_jis").decode(await bytes("f"))).toBe("名前=変更\n");
    const original = Buffer.from(SHIFT_JIS).toString("base64");
    await ws.call("write_file", { path: "f", content: original, content_encoding: "base64" });
    const refused = await ws.call("write_file", { path: "f", content: "名前=🎯\n" });
    expect(refused.error).toMatchObject({ code: "ENCODING_ERROR" });
    expect(refused.text).toContain('set encoding: "utf-8"');
    expect(hexOf(await bytes("f"))).toBe(hexOf(SHIFT_JIS));
    expect((await ws.call("write_file", { path: "f", content: "🎯\n", encoding: "utf-8" })).ok).toBe(true);
    expect(hexOf(await bytes("f"))).toBe("f09f8eaf0a");
  });

  test("says from what to what a file shrank, and nothing where it grew", async () => {
    const { ws } = await place(kind, { f: "x\n".repeat(600), g: "x\n" });
    const shrunk = await ws.call("write_file", { path: "f", content: "x\ny\n" });
    expect(shrunk.text).toContain("the file shrank from 600 lines, 1200 bytes to 2 lines, 4 bytes");
    const grown = await ws.call("write_file", { path: "g", content: "x\ny\n" });
    expect(grown.text).not.toContain("shrank");
  });

  test.each([
    ["     1\thello\n     2\tworld\n"],
    ["1: hello\n2: world\n"],
    ["     8→hello\n     9→world\n    10→foo\n"],
    ["1#k3x9qa\thello\n2#b7m2zzz\tworld\n"],
  ])("says that %j has the line numbers of a page", async (content) => {
    const { ws } = await place(kind, { "a.md": "hello\nworld\n" });
    const result = await ws.call("write_file", { path: "a.md", content });
    expect(result.text).toContain("each line begins with its line number");
    expect((await ws.call("write_file", { path: "a.md", content })).text).not.toContain("line number");
  });

  test.each([
    ["a.md", "1. hello\n2. world\n"],
    ["a.tsv", "1\thello\n2\tworld\n"],
    ["a.md", "1: hello\n3: world\n"],
    ["a.md", "     1\thello\n"],
  ])("says nothing of numbers in %s: %j", async (path, content) => {
    const { ws } = await place(kind);
    expect((await ws.call("write_file", { path, content })).data?.warnings).toBeUndefined();
  });

  test("a new file is UTF-8 and as sent", async () => {
    const { ws, text } = await place(kind);
    const result = await ws.call("write_file", { path: "n", content: "é\r\nx\n" });
    expect(await text("n")).toBe("é\r\nx\n");
    expect(result.data).not.toHaveProperty("warnings");
  });
});

test("presets keep the form as well; those of fixed texts say so in the data alone", async () => {
  for (const [preset, tool, args] of [
    ["claude", "Write", { file_path: "f" }],
    ["mcp", "write_file", { path: "f" }],
    ["fluent", "write_file", { path: "f" }],
    ["go", "fs_write", { path: "f" }],
    ["tinyagent", "write_file", { file_path: "f" }],
  ] as const) {
    const { ws, text } = await place("memory", { f: "a\r\nb\r\n" }, { preset, permissions: { mode: "off" } });
    if (preset === "claude") await ws.call("Read", { file_path: "f" });
    const result = await ws.call(tool, { ...args, content: "x\ny\n" });
    expect(result.ok, `${preset}: ${result.text}`).toBe(true);
    expect(await text("f"), preset).toBe("x\r\ny\r\n");
    expect(result.text.includes("CRLF"), preset).toBe(preset === "claude" || preset === "mcp");
    expect(JSON.stringify(result.data), preset).toContain("CRLF line ends");
  }
});

describe.skipIf(process.platform === "win32")("on the disk", () => {
  const onDisk = async (run: (root: string) => Promise<void>): Promise<void> => {
    const base = await mkdtemp(join(tmpdir(), "filewright-overwrite-"));
    try {
      await mkdir(join(base, "ws"));
      await run(join(base, "ws"));
    } finally {
      await chmod(join(base, "ws", "d"), 0o755).catch(() => {});
      await rm(base, { recursive: true, force: true });
    }
  };

  test("the mode is kept", () =>
    onDisk(async (root) => {
      await writeFile(join(root, "f"), "a\n", { mode: 0o750 });
      await using ws = await openWorkspace(root);
      await ws.call("write_file", { path: "f", content: "b\n" });
      expect((await stat(join(root, "f"))).mode & 0o777).toBe(0o750);
    }));

  test.each([
    ["write_file", { path: "f", content: "b\n" }],
    ["edit_file", { path: "f", old_text: "a", new_text: "b" }],
    ["apply_patch", { path: "f", patch: "@@ -1 +1 @@\n-a\n+b\n" }],
  ])("%s says that a hard link was parted", (tool, args) =>
    onDisk(async (root) => {
      await writeFile(join(root, "f"), "a\n");
      await link(join(root, "f"), join(root, "other"));
      await using ws = await openWorkspace(root);
      const result = await ws.call(tool, args);
      expect(result.text).toMatch(/the file had 1 other name \(hard links\), which keeps the old content/);
      expect(await readFile(join(root, "other"), "utf8")).toBe("a\n");
      const again = await ws.call("write_file", { path: "f", content: "c\n" });
      expect(again.text).not.toContain("hard links");
    }),
  );

  // The superuser may write in any directory.
  test.skipIf(process.getuid?.() === 0)("a write in place says that it was not atomic", () =>
    onDisk(async (root) => {
      await mkdir(join(root, "d"));
      await writeFile(join(root, "d/f"), "a\n");
      await chmod(join(root, "d"), 0o555);
      await using ws = await openWorkspace(root);
      const result = await ws.call("write_file", { path: "d/f", content: "b\n" });
      expect(result.text).toContain("written in place, which is not atomic");
    }),
  );
});
