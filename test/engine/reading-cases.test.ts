/**
 * Bad and odd inputs of reading, and what becomes of them: on the disk, in
 * memory, and in memory on the WebAssembly engine.
 */
import { execFileSync } from "node:child_process";
import { appendFile, chmod, mkdir, open, readdir, rm, truncate, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { engine, setEngine } from "../../js/engine/current.ts";
import type { Engine } from "../../js/engine/engine.ts";
import { engines } from "../parity/engines.ts";
import { pdf, zip } from "../readers/make.ts";
import { type Fixture, place, type Seed } from "../tools/harness.ts";

const raw = (...bytes: readonly number[]): Uint8Array => Uint8Array.from(bytes);
const latin1 = (text: string): Uint8Array => Uint8Array.from(text, (c) => c.charCodeAt(0));
const utf16 = (text: string): Uint8Array => {
  const bytes = new Uint8Array(2 + 2 * text.length);
  bytes.set([0xff, 0xfe]);
  [...text].forEach((c, at) => {
    bytes.set([c.charCodeAt(0) & 0xff, c.charCodeAt(0) >> 8], 2 + 2 * at);
  });
  return bytes;
};

/** The outcome of one call: whether it went well, and what to look at. */
type Case = readonly [
  name: string,
  content: string | Uint8Array,
  args: Readonly<Record<string, unknown>>,
  expected: Readonly<Record<string, unknown>>,
];

const five = "l1\nl2\nl3\nl4\nl5\n";
const code = (code: string, words = "") => ({
  ok: false,
  error: { code },
  text: expect.stringContaining(words),
});
const lines = (total_lines: number, content: string) => ({ ok: true, data: { total_lines, content } });

const reads: readonly Case[] = [
  // A start that is no line of the file.
  [
    "an offset beyond the end",
    five,
    { start_line: 6 },
    { ...lines(5, ""), text: expect.stringContaining("5 lines") },
  ],
  ["the largest offset", five, { start_line: 2 ** 53 - 1 }, lines(5, "")],
  ["offset 0", five, { start_line: 0 }, code("INVALID_ARGUMENT", "start_line")],
  ["offset NaN", five, { start_line: Number.NaN }, code("INVALID_ARGUMENT", "start_line")],
  ["offset 2^53", five, { start_line: 2 ** 53 }, code("INVALID_ARGUMENT", "start_line")],
  ["offset 1.5", five, { start_line: 1.5 }, code("INVALID_ARGUMENT", "start_line")],
  ["a word for an offset", five, { start_line: "two" }, code("INVALID_ARGUMENT", "start_line")],
  ["a negative offset counts from the end", five, { start_line: -2 }, lines(5, "l4\nl5\n")],
  ["a negative offset beyond the start", five, { start_line: -99 }, lines(5, five)],
  [
    "start_byte beyond the end",
    five,
    { start_byte: 1e9 },
    { ok: true, data: { content: "", lines_read: 0 } },
  ],
  ["start_byte -1", five, { start_byte: -1 }, code("INVALID_ARGUMENT", "start_byte")],
  // What ends a line.
  ["no bytes", "", {}, { ...lines(0, ""), text: "[empty file: f]" }],
  ["only LF", "\n", {}, lines(1, "\n")],
  ["two LF", "\n\n", {}, lines(2, "\n\n")],
  ["only CR, which ends no line", "\r", {}, lines(1, "\r")],
  ["only CRLF", "\r\n", {}, { ok: true, data: { total_lines: 1, eol: "crlf" } }],
  ["CR within", "a\rb\rc", {}, { ok: true, data: { total_lines: 1, eol: "none" } }],
  ["CR CR LF", "a\r\r\nb", {}, { ok: true, data: { total_lines: 2, eol: "crlf", content: "a\r\r\nb" } }],
  [
    "U+2028, VT, FF and NEL",
    "a\u2028b\u000bc\u000cd\u0085e\n",
    {},
    lines(1, "a\u2028b\u000bc\u000cd\u0085e\n"),
  ],
  ["no line end at the end", "a\nb", {}, lines(2, "a\nb")],
  // Bytes that are not quite UTF-8.
  [
    "one bad byte in UTF-8",
    latin1("gr\xc3\xbc\xc3\x9fe\nbad \xff byte\n"),
    {},
    { ok: true, data: { content: "grüße\nbad \ufffd byte\n", warning: expect.stringContaining("U+FFFD") } },
  ],
  ["a byte order mark", "\ufeffhi\n", {}, { ok: true, text: "1\thi", data: { bom: true, content: "hi\n" } }],
  [
    "UTF-16 with a mark",
    utf16("hé\nx\n"),
    {},
    { ok: true, data: { encoding: "utf-16le", content: "hé\nx\n" } },
  ],
  ["a coloured log", "\x1b[31merror\x1b[0m words\n".repeat(9), {}, { ok: true, data: { total_lines: 9 } }],
  [
    "cp1251",
    latin1("\xcf\xf0\xe8\xe2\xe5\xf2, \xec\xe8\xf0! \xdd\xf2\xee \xf2\xe5\xea\xf1\xf2.\n"),
    {},
    { ok: true, data: { encoding: "windows-1251", content: "Привет, мир! Это текст.\n" } },
  ],
  [
    "Shift-JIS by name",
    raw(0x95, 0x5c, 0x8e, 0xa6, 0x0a),
    { encoding: "shift_jis" },
    { ok: true, data: { content: "表示\n" } },
  ],
  ["nothing but NUL", new Uint8Array(200), {}, code("BINARY_FILE", "binary")],
  [
    "NUL far into a text, on its page",
    `${"line\n".repeat(20_001)}x\0y\n`,
    { start_line: 20_000 },
    { ok: true, data: { warning: expect.stringContaining("NUL") } },
  ],
  [
    "NUL far into a text, before its page",
    `${"line\n".repeat(20_001)}x\0y\n`,
    {},
    { ok: true, text: expect.not.stringContaining("NUL") },
  ],
  // Files that hold others, and files that lie.
  [
    "a zip with a way out",
    zip([
      { name: "../../evil", data: "x" },
      { name: "inner.zip", data: zip([{ name: "deep", data: "y" }]) },
    ]),
    {},
    { ok: true, text: expect.stringContaining("../../evil") },
  ],
  [
    "a zip bomb is listed by its ratio, not unpacked",
    zip([{ name: "zeros", data: new Uint8Array(5_000_000) }]),
    {},
    { ok: true, text: expect.stringContaining("zeros") },
  ],
  [
    "a PNG that claims 60,000 by 60,000",
    latin1("\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\xea\x60\0\0\xea\x60\b\x06\0\0\0"),
    {},
    code("TOO_LARGE", "60000"),
  ],
  ["a PDF cut short", latin1("%PDF-1.7\n1 0 obj\n<<"), {}, code("UNSUPPORTED_FORMAT", "application/pdf")],
  ["a PDF without text", pdf([null, null]), {}, code("UNSUPPORTED_FORMAT", "has no text")],
  [
    "numbers that no double holds",
    `{"a": 1e400, "b": 12345678901234567890123, "a2": [1, 2]}`,
    { json_pointer: "/b", line_numbers: "none" },
    { ok: true, text: "12345678901234567890123" },
  ],
  [
    "a JSON with a byte order mark",
    `\ufeff{"a": {"b": 1e400}}`,
    { json_pointer: "/a/b", line_numbers: "none" },
    { ok: true, text: "1e400" },
  ],
  [
    "YAML with anchors, aliases and a key twice",
    "a: &x {b: 1}\nc: *x\nd: 1\nd: 2\n",
    { json_pointer: "/a", line_numbers: "none", path: "f.yaml" },
    { ok: true, text: expect.stringContaining("{b: 1}") },
  ],
  [
    "a CSV with a line break in quotes",
    'id,text\n1,"two\nlines"\n2,x\n',
    { json_pointer: "/1", line_numbers: "none", path: "f.csv" },
    { ok: true, text: '1,"two\nlines"' },
  ],
  ["SQLite", latin1(`SQLite format 3\0${"\x10\0\x01\x01".repeat(30)}`), {}, code("BINARY_FILE", "sqlite")],
];

const edits: readonly (readonly [
  name: string,
  before: Uint8Array,
  edit: { readonly old_text: string; readonly new_text: string },
  after: Uint8Array | string,
])[] = [
  [
    "a bad byte elsewhere stays",
    latin1("gr\xc3\xbc\xc3\x9fe\nbad \xff byte\n"),
    { old_text: "grüße", new_text: "gruß" },
    latin1("gru\xc3\x9f\nbad \xff byte\n"),
  ],
  [
    "the byte order mark stays, and old_text needs none",
    latin1("\xef\xbb\xbfa\nb\n"),
    { old_text: "a\nb", new_text: "c\nb" },
    latin1("\xef\xbb\xbfc\nb\n"),
  ],
  ["UTF-16LE stays so", utf16("a\r\nb\r\n"), { old_text: "b", new_text: "é" }, utf16("a\r\né\r\n")],
  [
    "an emoji does not fit Latin-1",
    latin1("caf\xe9 and th\xe9\n"),
    { old_text: "th", new_text: "😀" },
    "ENCODING_ERROR",
  ],
  [
    "a backslash that is half of a character is none",
    raw(0x95, 0x5c, 0x8e, 0xa6, 0x82, 0xb5, 0x82, 0xdc, 0x82, 0xb7, 0x5c, 0x0a),
    { old_text: "\\", new_text: "/" },
    raw(0x95, 0x5c, 0x8e, 0xa6, 0x82, 0xb5, 0x82, 0xdc, 0x82, 0xb7, 0x2f, 0x0a),
  ],
];

const kinds = ["local", "memory", "memory on WebAssembly"] as const;

describe.each(kinds)("%s", (kind) => {
  const wasm = kind === "memory on WebAssembly";
  const skip = wasm && engines === undefined;
  const open = (seed: Seed): Promise<Fixture> => place(kind === "local" ? "local" : "memory", seed);
  let before: Engine;
  beforeAll(() => {
    before = engine();
    if (wasm && engines !== undefined) setEngine(engines.wasm);
  });
  afterAll(() => setEngine(before));

  test.skipIf(skip).each(reads)("reads %s", async (_, content, args, expected) => {
    const path = (args["path"] as string | undefined) ?? "f";
    const { ws } = await open({ [path]: content });
    expect(await ws.call("read_file", { ...args, path } as never)).toMatchObject(expected);
  });

  test.skipIf(skip).each(edits)("edits: %s", async (_, content, edit, after) => {
    const { ws, bytes } = await open({ f: content });
    const result = await ws.call("edit_file", { path: "f", ...edit });
    if (typeof after === "string") expect(result).toMatchObject({ ok: false, error: { code: after } });
    else expect(result.ok).toBe(true);
    expect(await bytes("f")).toEqual(typeof after === "string" ? content : after);
  });

  test.skipIf(skip)("one line of 8 MiB is cut, and read on inside", async () => {
    const { ws } = await open({ f: "x".repeat(8 << 20) });
    const { text, data } = await ws.call("read_file", { path: "f" });
    expect(text.length).toBeLessThan(2300);
    expect(data).toMatchObject({ total_lines: 1, long_lines: 1, long: [{ line: 1, rest_byte: 2000 }] });
    const on = await ws.readFile({ path: "f", start_byte: 2000 });
    expect(on).toMatchObject({ content: "x".repeat(2000), truncated: true, next_start_byte: 4000 });
  });

  test.skipIf(skip)("a file that grows or shrinks between pages", async () => {
    const { ws, foreign } = await open({ f: "old\n".repeat(5000) });
    const first = await ws.readFile({ path: "f" });
    expect(first).toMatchObject({ total_lines: 5000, next_start_line: 2001 });
    await foreign("f", `${"old\n".repeat(5000)}new\n`);
    const next = await ws.readFile({ path: "f", start_line: 5001 });
    expect(next).toMatchObject({ total_lines: 5001, content: "new\n" });
    expect(next.version).not.toBe(first.version);
    await foreign("f", "short\n");
    expect(await ws.call("read_file", { path: "f", start_line: 2001 })).toMatchObject({
      ok: true,
      text: "[start_line 2001 is past the end: 1 line]",
      data: { total_lines: 1 },
    });
  });

  test.skipIf(skip)(
    "fifty megabytes of outputs in a notebook are capped, and cells keep their ids",
    async () => {
      const cell = (id: string) => ({
        id,
        cell_type: "code",
        source: `print("${id}")`,
        metadata: {},
        execution_count: 1,
        outputs: [{ output_type: "stream", name: "stdout", text: "y".repeat(25 << 20) }],
      });
      const book = { nbformat: 4, nbformat_minor: 5, metadata: {}, cells: [cell("first"), cell("second")] };
      const { ws } = await open({ "b.ipynb": JSON.stringify(book) });
      const { ok, text } = await ws.call("read_file", { path: "b.ipynb" });
      expect(ok).toBe(true);
      expect(text.length).toBeLessThan(200_000);
      expect(text).toContain("first");
      expect(text).toContain("second");
    },
    20_000,
  );

  test.skipIf(skip)("a broken JSON or YAML value is changed without touching a byte around it", async () => {
    const yaml = "a:   &x {b: 1}   # kept\nc: *x\nd: 1\nd: 2\n\te: tab\n";
    const json = `\ufeff{ "big": 12345678901234567890123,\r\n  "inf": 1e400 , // note\r\n  "v": 1 }`;
    const { ws, text } = await open({ "f.yaml": yaml, "f.json": json });
    await ws.editFile({ path: "f.yaml", old_text: "{b: 1}", new_text: "{b: 2}" });
    await ws.editFile({ path: "f.json", old_text: '"v": 1', new_text: '"v": 2' });
    expect(await text("f.yaml")).toBe(yaml.replace("{b: 1}", "{b: 2}"));
    expect(await text("f.json")).toBe(json.replace('"v": 1', '"v": 2'));
  });
});

describe("the disk alone", () => {
  const posix = process.platform !== "win32";

  test.runIf(posix)("FIFOs, sockets and devices are refused without blocking", async () => {
    const { ws, root } = await place("local", { "a.txt": "x\n" });
    execFileSync("mkfifo", [join(root, "pipe")]);
    const server = createServer().listen(join(root, "sock"));
    await new Promise((ready) => server.once("listening", ready));
    try {
      for (const path of ["pipe", "sock"]) {
        expect(await ws.call("read_file", { path })).toMatchObject({
          ok: false,
          error: { code: "NOT_REGULAR_FILE" },
        });
      }
    } finally {
      await new Promise((closed) => server.close(closed));
    }
    expect((await ws.call("read_file", { path: "/dev/zero" })).error?.code).toBe("OUTSIDE_ALLOWED");
    expect((await ws.call("read_file", { path: "/proc/self/environ" })).error?.code).toBe("OUTSIDE_ALLOWED");
  });

  test.runIf(posix)("a sparse file of a tebibyte has a first page, and no total", async () => {
    const { ws, root } = await place("local", { f: "line\n".repeat(20_000) });
    await truncate(join(root, "f"), 2 ** 40);
    const page = await ws.readFile({ path: "f", max_lines: 2 });
    expect(page).toMatchObject({
      content: "line\nline\n",
      size: 2 ** 40,
      total_lines: null,
      hash: null,
      next_start_line: 3,
    });
    expect(page.at_least_lines).toBeGreaterThan(2);
    expect((await ws.call("read_file", { path: "f", max_lines: null })).error?.code).toBe("TOO_LARGE");
  });

  test.runIf(posix)("zeros of a tebibyte are binary at once", async () => {
    const { ws, root } = await place("local", { f: "" });
    await truncate(join(root, "f"), 2 ** 40);
    expect((await ws.call("read_file", { path: "f" })).error?.code).toBe("BINARY_FILE");
  });

  test.runIf(posix)("a page is stable while another program appends", async () => {
    const { ws, root } = await place("local", { f: "line\n".repeat(10_000) });
    const before = await ws.readFile({ path: "f", start_line: 5000, max_lines: 3 });
    await appendFile(join(root, "f"), "more\n".repeat(10));
    const after = await ws.readFile({ path: "f", start_line: 5000, max_lines: 3 });
    expect(after.content).toBe(before.content);
    expect(after.total_lines).toBe(10_010);
  });

  test("a file that has become a directory, or is gone, is one plain error", async () => {
    const { ws, root } = await place("local", { f: "x\n" });
    await ws.readFile({ path: "f" });
    await rm(join(root, "f"));
    expect((await ws.call("read_file", { path: "f" })).error?.code).toBe("NOT_FOUND");
    await mkdir(join(root, "f"));
    expect((await ws.call("read_file", { path: "f" })).error?.code).toBe("IS_DIRECTORY");
  });

  test.runIf(posix && process.getuid?.() !== 0)(
    "a file without permission is PERMISSION_DENIED",
    async () => {
      const { ws, root } = await place("local", { f: "x\n" });
      await chmod(join(root, "f"), 0);
      expect((await ws.call("read_file", { path: "f" })).error?.code).toBe("PERMISSION_DENIED");
    },
  );

  test("reading an archive writes nothing", async () => {
    const archive = zip([{ name: "../../evil", data: "x" }]);
    const { ws, root } = await place("local", { "a.zip": archive });
    await ws.readFile({ path: "a.zip" });
    expect(await readdir(root)).toEqual(["a.zip"]);
  });

  test("a locked database is told from its first bytes, without opening it", async () => {
    const { ws, root } = await place("local", {});
    await writeFile(join(root, "db"), latin1(`SQLite format 3\0${"\x10\0\x02\x02".repeat(30)}`));
    await writeFile(join(root, "db-wal"), "");
    const held = await open(join(root, "db"), "r+");
    const { error } = await ws.call("read_file", { path: "db" });
    await held.close();
    expect(error?.code).toBe("BINARY_FILE");
    expect(error?.details).toMatchObject({ mime: expect.stringContaining("sqlite") });
  });
});
