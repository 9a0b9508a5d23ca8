/** Kinds of files: encodings, texts, images, documents, and what no tool shows. */
import { describe, expect, test } from "vitest";
import { registerReader } from "../../js/index.node.ts";
import { pdf } from "../readers/make.ts";
import { KINDS, place } from "../tools/harness.ts";

const PNG = Uint8Array.from(
  atob("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="),
  (c) => c.charCodeAt(0),
);
const MIB = 1024 * 1024;
/** Transport packets: a sync byte every 188. */
const MPEG_TS = Uint8Array.from({ length: 188 * 8 }, (_, at) => (at % 188 === 0 ? 0x47 : at % 251));
const MP4 = Uint8Array.of(
  0,
  0,
  0,
  24,
  ...new TextEncoder().encode("ftypmp42"),
  0,
  0,
  0,
  0,
  0,
  0,
  0,
  0,
  0,
  0,
  0,
  0,
);
const MP3 = Uint8Array.of(...new TextEncoder().encode("ID3"), 3, 0, 0, 0, 0, 0, 0, 0xff, 0xfb, 0x90, 0);

function utf16(text: string, little: boolean): Uint8Array {
  const bytes = new DataView(new ArrayBuffer(2 + text.length * 2));
  for (const [at, unit] of [0xfeff, ...Array.from(text, (c) => c.charCodeAt(0))].entries())
    bytes.setUint16(at * 2, unit, little);
  return new Uint8Array(bytes.buffer);
}

describe.each(KINDS)("reading on %s", (kind) => {
  const SHIFT_JIS = Uint8Array.of(
    0x93,
    0xfa,
    0x96,
    0x7b,
    0x8c,
    0xea,
    0x82,
    0xcc,
    0x95,
    0xb6,
    0x8f,
    0xcd,
    0x82,
    0xc5,
    0x82,
    0xb7,
    0x81,
    0x42,
    0x0a,
  );
  const GBK = Uint8Array.of(
    0xd5,
    0xe2,
    0xca,
    0xc7,
    0xd2,
    0xbb,
    0xb6,
    0xce,
    0xd6,
    0xd0,
    0xce,
    0xc4,
    0xce,
    0xc4,
    0xb1,
    0xbe,
    0xa1,
    0xa3,
    0x0a,
  );
  const encodings: readonly [string, Uint8Array, string, string][] = [
    ["UTF-8", new TextEncoder().encode("é 日\n"), "é 日\n", "utf-8"],
    ["UTF-8 with a mark", new TextEncoder().encode("\ufeffé\n"), "é\n", "utf-8"],
    ["UTF-16, little end first", utf16("é 日\n", true), "é 日\n", "utf-16le"],
    ["UTF-16, big end first", utf16("é 日\n", false), "é 日\n", "utf-16be"],
    [
      "Western",
      Uint8Array.of(0x63, 0x61, 0x66, 0xe9, 0x20, 0x93, 0x78, 0x94, 0x0a),
      "café “x”\n",
      "windows-1252",
    ],
    ["Japanese", SHIFT_JIS, "日本語の文章です。\n", "shift_jis"],
    ["Chinese", GBK, "这是一段中文文本。\n", "gb"],
  ];
  test.each(encodings)("%s is recognised, and named", async (_, bytes, content, name) => {
    const { ws } = await place(kind, { a: bytes });
    const data = await ws.readFile({ path: "a" });
    expect(data.content).toBe(content);
    expect(data.encoding?.toLowerCase()).toContain(name);
  });

  const texts = [
    "notes.txt",
    "main.rs",
    "app.tsx",
    "x.py",
    "Makefile",
    "a.toml",
    "a.ini",
    ".env.example",
    "app.log",
    "a.csv",
    "a.xml",
    "a.html",
    "noextension",
  ];
  test.each(texts)("a file named %s is text", async (path) => {
    const content = "\u001b[31mERROR\u001b[0m one\ttwo\n<x> = {1}\n";
    const { ws } = await place(kind, { [path]: content });
    expect((await ws.readFile({ path, line_numbers: "none" })).content).toBe(content);
  });

  const kinds: readonly [string, string, string | Uint8Array, string][] = [
    ["the name says so", "a.ts", "let a = 1;\n", "text/typescript"],
    ["the content wins over the name", "a.txt", PNG, "image/png"],
    ["without an extension", "picture", PNG, "image/png"],
    ["in capitals", "A.PNG", PNG, "image/png"],
    ["a drawing in text", "a.svg", '<svg xmlns="http://www.w3.org/2000/svg"/>', "image/svg+xml"],
    ["a document", "a.pdf", "%PDF-1.7\n", "application/pdf"],
    ["sound", "a.mp3", MP3, "audio/mpeg"],
    ["a film", "a.mp4", MP4, "video/mp4"],
    ["anything else", "a.dat", Uint8Array.of(0, 1, 2, 3), "application/octet-stream"],
    ["a film that is named like TypeScript", "film.ts", MPEG_TS, "video/mp2t"],
    ["TypeScript that begins like a film", "g.ts", `G${"x".repeat(187)}H = 1;\n`, "text/typescript"],
  ];
  test.each(kinds)("%s: %s", async (_, path, content, mime) => {
    const { ws } = await place(kind, { [path]: content });
    expect((await ws.stat({ path })).mime).toBe(mime);
    const read = await ws.call("read_file", { path });
    const shown = /^(?:text|image)\//u.test(mime);
    expect(read.ok, read.text).toBe(shown);
    if (!shown) expect(["BINARY_FILE", "UNSUPPORTED_FORMAT"]).toContain(read.error?.code);
  });

  const control = (share: number): Uint8Array =>
    Uint8Array.from({ length: 2000 }, (_, at) => (at % 10 < share * 10 ? 0x02 : 0x41 + (at % 26)));
  const binaries: readonly [string, Uint8Array, boolean][] = [
    ["a NUL", Uint8Array.of(0x41, 0x42, 0, 0x43, 0x0a), true],
    ["a NUL at the end of a sample", new Uint8Array([...new Uint8Array(4000).fill(0x61), 0]), true],
    ["four in ten that cannot be printed", control(0.4), true],
    ["nothing odd", control(0), false],
    ["letters of other scripts", new TextEncoder().encode("日本語 и по-русски\n".repeat(300)), false],
    ["UTF-16 with its mark, full of NULs", utf16("plain\n".repeat(50), true), false],
    ["nothing at all", new Uint8Array(), false],
  ];
  test.each(binaries)("a file with %s is binary or not: %#", async (_, bytes, binary) => {
    const { ws, root } = await place(kind, { a: bytes }, { preset: "gemini" });
    const { ok, error, text } = await ws.call("read_file", { absolute_path: `${root}/a` });
    expect(ok).toBe(!binary);
    if (binary) {
      expect(error?.code).toBe("BINARY_FILE");
      expect(text).toMatch(/^Error: .*\/a' is a binary file/u);
    }
  });

  const sizes: readonly [string, object, number, boolean][] = [
    ["text read whole, as large as the limit", { max_lines: null }, 1000, true],
    ["text read whole, a byte larger", { max_lines: null }, 1001, false],
    ["a page of it", {}, 1001, true],
  ];
  test.each(sizes)("%s", async (_, args, size, fits) => {
    const { ws } = await place(kind, { a: "x".repeat(size) }, { limits: { wholeFileBytes: 1000 } });
    const { ok, error, text } = await ws.call("read_file", { path: "a", ...args });
    expect(ok).toBe(fits);
    if (!fits) {
      expect(error?.code).toBe("TOO_LARGE");
      expect(text).toMatch(/'a' .*1001 bytes.*1000 bytes/u);
    }
  });

  test("an SVG is text up to its limit, and refused above", async () => {
    const svg = (bytes: number) => `<svg xmlns="http://www.w3.org/2000/svg">${" ".repeat(bytes - 46)}</svg>`;
    const { ws } = await place(kind, { "a.svg": svg(MIB), "b.svg": svg(MIB + 1) });
    expect((await ws.call("read_file", { path: "a.svg", max_line_chars: 60 })).text).toContain("<svg xmlns");
    const { error, text } = await ws.call("read_file", { path: "b.svg" });
    expect(error?.code).toBe("TOO_LARGE");
    expect(text).toContain(`${MIB + 1} bytes`);
  });

  test("images as base64, the text of a PDF, one value of JSON, YAML or TOML, XML as it is", async () => {
    const { ws } = await place(kind, {
      "i.png": PNG,
      "d.pdf": pdf(["First page", "Second page"]),
      "a.json": '{"a": {"b": [1, "two"]}}',
      "a.yaml": "a:\n  b: [1, two]\n",
      "a.toml": "[a]\nb = [1, 'two']\n",
      "a.xml": "<a><b>two</b></a>\n",
    });
    const image = await ws.call("read_file", { path: "i.png" });
    expect(image.content?.[0]?.source.data).toBe(btoa(String.fromCharCode(...PNG)));
    const page = await ws.call("read_file", { path: "d.pdf", pages: "2" });
    expect(page.text).toContain("Second page");
    expect(page.text).not.toContain("First page");
    for (const path of ["a.json", "a.yaml", "a.toml"]) {
      const value = await ws.call("read_file", { path, json_pointer: "/a/b/1" });
      expect(value.text, path).toContain("two");
      expect(value.text, path).not.toContain("1,");
    }
    expect((await ws.readFile({ path: "a.xml" })).content).toBe("<a><b>two</b></a>\n");
  });

  test("a registered reader reads another kind of file", async () => {
    const path = "a.dat";
    const { ws } = await place(kind, { [path]: Uint8Array.of(0, 7, 8) });
    expect((await ws.call("read_file", { path })).error?.code).toBe("BINARY_FILE");
    const remove = registerReader("application/octet-stream", async ({ source }) => ({
      text: `sum ${(await source.read()).reduce((a, b) => a + b)}`,
    }));
    try {
      expect((await ws.call("read_file", { path })).text).toContain("sum 15");
    } finally {
      remove();
    }
    expect((await ws.call("read_file", { path })).error?.code).toBe("BINARY_FILE");
  });
});
