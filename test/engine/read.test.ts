import { describe, expect, test } from "vitest";
import {
  decodeText,
  encodeText,
  type FilewrightError,
  inspect,
  lineAnchors,
  readPage,
  readPageAsync,
} from "../../js/engine/index.node.ts";
import { renderPage } from "../../js/tools/render/page.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const raw = (text: string): Uint8Array => Uint8Array.from(text, (c) => c.charCodeAt(0));

function failure(call: () => unknown): FilewrightError {
  try {
    call();
  } catch (error) {
    return error as FilewrightError;
  }
  throw new Error("no failure");
}

describe("inspect", () => {
  test.each([
    [
      "plain text",
      bytes("a\n"),
      "a.ts",
      { kind: "text", mime: "text/typescript", encoding: "utf-8", eol: "lf" },
    ],
    ["a UTF-8 BOM", raw("\xef\xbb\xbfhi"), "", { kind: "text", encoding: "utf-8", bom: true, eol: "none" }],
    [
      "UTF-16",
      raw("\xff\xfeh\0\r\0\n\0"),
      "",
      { kind: "text", encoding: "utf-16le", bom: true, eol: "crlf" },
    ],
    ["Latin-1", raw("caf\xe9\n"), "", { kind: "text", encoding: "windows-1252" }],
    ["nothing", raw(""), "x.md", { kind: "empty", mime: "text/markdown", encoding: "utf-8" }],
    ["zeros", raw("\0\0\0\0"), "", { kind: "binary", mime: "application/octet-stream", encoding: null }],
    [
      "a PNG",
      raw("\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x02\0\0\0\x03"),
      "a.txt",
      { kind: "image", mime: "image/png", width: 2, height: 3 },
    ],
  ])("%s", (_, content, name, expected) => {
    expect(inspect(content, { name })).toMatchObject(expected);
  });

  test("a character cut at the end of a sample", () => {
    const cut = bytes("漢字").subarray(0, 5);
    expect(inspect(cut, { partial: true })).toMatchObject({ kind: "text", encoding: "utf-8" });
  });
});

describe("readPage", () => {
  test("three lines", () => {
    const page = readPage(bytes("a\nb\nc\n"));
    expect(page).toMatchObject({
      content: "a\nb\nc\n",
      startLine: 1,
      endLine: 3,
      linesRead: 3,
      totalLines: 3,
      size: 6,
      truncated: false,
      eol: "lf",
      bom: false,
      encoding: "utf-8",
      nextStartLine: null,
      nextStartByte: null,
      hash: "sha256:880553fca8fcea94e325ee2cfb48e5a985cc797f39a14cc6d3cedecfeb2ae4d2",
      anchors: null,
      cutLines: [],
    });
  });

  test("pages follow one another without a gap", () => {
    const text = Array.from({ length: 100 }, (_, n) => `line ${n} é漢😀`).join("\r\n");
    let joined = "";
    for (let line: number | null = 1; line !== null; ) {
      const page = readPage(bytes(text), { startLine: line, maxLines: 7 });
      joined += page.content;
      line = page.nextStartLine;
    }
    expect(joined).toBe(text);
  });

  test("off the event loop it is the same", async () => {
    const content = bytes("a\nb\n".repeat(1000));
    expect(await readPageAsync(content, { startLine: -2 })).toEqual(readPage(content, { startLine: -2 }));
    await expect(readPageAsync(content, { startLine: 0 })).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
    });
  });

  test.each([
    ["start_line 0", raw("a"), { startLine: 0 }, "INVALID_ARGUMENT", "start_line"],
    ["no lines", raw("a"), { maxLines: 0 }, "INVALID_ARGUMENT", "max_lines"],
    ["unknown encoding", raw("a"), { encoding: "klingon" }, "INVALID_ARGUMENT", "klingon"],
    ["not UTF-8", raw("ok\ncaf\xe9\n"), { encoding: "utf-8" }, "ENCODING_ERROR", "encoding"],
    ["binary", raw("\0\x01"), {}, "BINARY_FILE", "binary"],
    ["whole of too much", raw("abcd"), { maxLines: null, wholeFileBytes: 3 }, "TOO_LARGE", "3 bytes"],
  ])("refuses %s", (_, content, request, code, part) => {
    const error = failure(() => readPage(content, request));
    expect(error.code).toBe(code);
    expect(error.message).toContain(part);
  });
});

describe("encodings", () => {
  test.each(["utf-8", "utf-16le", "utf-16be", "gb18030"])("%s holds everything", (label) => {
    const text = "aé漢😀\r\n";
    const encoded = encodeText(text, label);
    expect(decodeText(encoded, label)).toEqual({ text, encoding: label, bom: false, lossy: false });
  });

  test("a byte order mark goes and comes back", () => {
    const encoded = encodeText("hi", "utf-16le", { bom: true });
    expect([...encoded]).toEqual([0xff, 0xfe, 0x68, 0, 0x69, 0]);
    expect(decodeText(encoded)).toEqual({ text: "hi", encoding: "utf-16le", bom: true, lossy: false });
  });

  test("a character that the encoding lacks is refused and named", () => {
    const error = failure(() => encodeText("ok 😀", "shift_jis"));
    expect(error.code).toBe("ENCODING_ERROR");
    expect(error.details).toMatchObject({ character: "😀", code_point: "U+1F600", encoding: "shift_jis" });
    expect(failure(() => encodeText("\ud800", "utf-8")).code).toBe("ENCODING_ERROR");
  });

  test("anchors", () => {
    // Two lines `a` with other neighbours have other anchors, and with the same ones the same.
    expect(lineAnchors("a\nb\na")).toMatch(/^(.{6})(?!\1)(.{6})(?!\1|\2).{6}$/);
    expect(lineAnchors("x\na\nx\na\nx")).toMatch(/^.{6}(.{6}).{6}\1.{6}$/);
    expect(readPage(bytes("a\r\nb\n"), { anchors: true }).anchors).toBe(lineAnchors("a\nb\n"));
  });
});

describe("renderPage", () => {
  const show = (content: string, request = {}, options = {}): string =>
    renderPage(readPage(bytes(content), request), { path: "a.txt", ...options });

  test.each([
    ["cat", "a\nb\nc\n", {}, {}, "     1\ta\n     2\tb\n     3\tc"],
    ["arrow", "a\n", {}, { lineNumbers: "arrow" }, "     1→a"],
    ["plain", "a\n", {}, { lineNumbers: "plain" }, "1\ta"],
    ["none", "a\r\nb\n", {}, { lineNumbers: "none" }, "a\nb\n"],
    ["none without a last line end", "a\nb", {}, { lineNumbers: "none" }, "a\nb"],
    ["blank lines", "\n\n", {}, {}, "     1\t\n     2\t"],
    ["a lone CR", "a\rb\r", {}, { lineNumbers: "none" }, "a\rb\r"],
    [
      "cut",
      "a\nb\nc\n",
      { startLine: 2, maxLines: 1 },
      {},
      "     2\tb\n[lines 2-2 of 3; continue with start_line=3]",
    ],
    [
      "cut, none",
      "a\nb\n",
      { maxLines: 1 },
      { lineNumbers: "none" },
      "a\n[lines 1-1 of 2; continue with start_line=2]",
    ],
    ["cut, silent", "a\nb\n", { maxLines: 1 }, { closing: false }, "     1\ta"],
    ["empty", "", {}, {}, "[empty file: a.txt]"],
    ["only a BOM", "\ufeff", {}, {}, "[empty file: a.txt]"],
    ["past the end", "a\n", { startLine: 6 }, {}, "[start_line 6 is past the end: 1 line]"],
    [
      "long",
      "aé漢😀b\nc\n",
      {},
      { maxLineChars: 4 },
      "     1\taé漢😀... [truncated]\n     2\tc\n[line 1 is cut at 4 characters; see the rest with max_line_chars=0]",
    ],
    ["long by one surrogate", "😀😀", {}, { maxLineChars: 2 }, "     1\t😀😀"],
    [
      "cut in content",
      `${"é".repeat(9)}\nc\n`,
      { maxLineChars: 2, contentBytes: 9 },
      { maxLineChars: 2 },
      "     1\téé... [truncated]\n     2\tc\n[line 1 is cut at 2 characters; see the rest with max_line_chars=0 or start_byte=4]",
    ],
    [
      "much more of a line",
      `${"z".repeat(70_000)}\nc\n`,
      { maxLineChars: 2 },
      { maxLineChars: 2 },
      "     1\tzz... [truncated]\n     2\tc\n[line 1 goes on for 69998 bytes; continue inside it with start_byte=2]",
    ],
    ["on inside a line", `${"z".repeat(9)}\nc\n`, { startByte: 5 }, {}, "     1\tzzzz\n     2\tc"],
    [
      "on inside a line, not to its end",
      `${"z".repeat(9)}\nc\n`,
      { startByte: 3, maxLineChars: 4 },
      { maxLineChars: 4 },
      "     1\tzzzz\n[lines 1-1 of 2; continue with start_byte=7]",
    ],
    [
      "inside a line",
      "é".repeat(9),
      { maxLineChars: 0, contentBytes: 8 },
      {},
      "     1\téééé\n[lines 1-1 of 1; continue with start_byte=8]",
    ],
  ])("%s", (_, content, request, options, expected) => {
    expect(show(content, request, options)).toBe(expected);
  });

  test("anchors stand behind the numbers", () => {
    const anchors = lineAnchors("x\ny\n");
    const text = show("x\ny\n", { anchors: true }, { anchors: true });
    expect(text).toBe(`     1#${anchors.slice(0, 6)}\tx\n     2#${anchors.slice(6)}\ty`);
  });

  test("ten megabytes on one line", () => {
    const text = show("z".repeat(10 << 20));
    const closing = "[line 1 goes on for 10483760 bytes; continue inside it with start_byte=2000]";
    expect(text).toBe(`     1\t${"z".repeat(2000)}... [truncated]\n${closing}`);
  });

  test.each(["cat", "arrow", "plain", "none"] as const)("textBytes bounds the %s form", (lineNumbers) => {
    const content = bytes(`${"é".repeat(50)}\n${"x\n".repeat(500)}`);
    for (const anchors of [false, true]) {
      const page = readPage(content, { textBytes: 700, lineNumbers, anchors, maxLineChars: 10 });
      const text = renderPage(page, { lineNumbers, anchors, maxLineChars: 10, closing: false });
      const length = bytes(text).length;
      expect(length).toBeLessThanOrEqual(700);
      expect(length).toBeGreaterThan(630);
      expect(page.nextStartLine).toBe(page.endLine + 1);
    }
  });
});
