import { expect, it } from "vitest";
import { DEFAULT_LINE_CHARS, DEFAULT_PAGE_LINES, type PageRequest } from "../../js/engine/read.ts";
import { both, describeParity } from "./engines.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const raw = (text: string) => Uint8Array.from(text, (c) => c.charCodeAt(0));
const png = raw("\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x10\0\0\0\x20\b\x06\0\0\0");

const files: Record<string, readonly [Uint8Array, string]> = {
  nothing: [new Uint8Array(0), ""],
  text: [bytes("a\nb\n"), "a.ts"],
  "mixed line ends": [bytes("a\r\nb\nc"), ""],
  "a byte order mark": [raw("\xef\xbb\xbfa\n"), ""],
  "UTF-16": [raw("\xff\xfea\0\n\0"), ""],
  "Latin-1": [raw("caf\xe9\n"), ""],
  "an image": [png, "a.png"],
  "a drawing": [bytes('<svg xmlns="http://www.w3.org/2000/svg" width="3" height="4"/>'), "a.svg"],
  zeros: [new Uint8Array(300), "a.txt"],
};

describeParity("both engines inspect files with the same result", () => {
  it.each(Object.entries(files))("%s", async (_, [content, name]) => {
    const { native, wasm } = await both((engine) => engine.inspect(content, { name }));
    expect(wasm).toEqual(native);
  });
});

const long = bytes(
  `${Array.from({ length: 5_000 }, (_, i) => `line ${i} ${"ä".repeat(i % 50)}`).join("\n")}\n`,
);
const pages: Record<string, readonly [Uint8Array, PageRequest]> = {
  "the beginning": [long, {}],
  "the middle, with anchors": [long, { startLine: 2_500, maxLines: 20, anchors: true }],
  "the end": [long, { startLine: -3 }],
  "past the end": [long, { startLine: 9_000 }],
  "from a byte on": [long, { startByte: 1_001, maxLines: 2 }],
  "few bytes": [long, { contentBytes: 100 }],
  "cut lines": [long, { startLine: 40, maxLines: 5, maxLineChars: 20 }],
  "an encoding by name": [raw("caf\xe9\n"), { encoding: "latin1" }],
  "half a UTF-16 unit": [raw("\xff\xfea\0b"), {}],
  "an unknown encoding": [long, { encoding: "klingon" }],
  "line 0": [long, { startLine: 0 }],
  "an image": [png, {}],
  "an image as text": [png, { forceText: true }],
};

describeParity("pages are the same on both engines", () => {
  it.each(Object.entries(pages))("%s", async (_, [content, request]) => {
    const { native, wasm } = await both((engine) => engine.readPage(content, request));
    expect(wasm).toEqual(native);
    expect(await both((engine) => engine.reading.readPage(content, request))).toEqual({ native, wasm });
  });
});

describeParity("the defaults of a page that schemas and texts name are those of the engine", () => {
  it("lines and characters", async () => {
    const text = bytes(`${"x".repeat(2 * DEFAULT_LINE_CHARS)}\n`.repeat(2 * DEFAULT_PAGE_LINES));
    const named = { maxLines: DEFAULT_PAGE_LINES, maxLineChars: DEFAULT_LINE_CHARS, contentBytes: 1 << 26 };
    const { native, wasm } = await both((engine) => {
      const page = engine.readPage(text, { contentBytes: 1 << 26 });
      expect(page).toEqual(engine.readPage(text, named));
      expect(page).not.toEqual(engine.readPage(text, { ...named, maxLines: DEFAULT_PAGE_LINES + 1 }));
      return [page.linesRead, page.longLines];
    });
    expect([native, wasm]).toEqual([native, native]);
  });
});

describeParity("text and bytes turn into each other the same on both engines", () => {
  it.each(["utf-8", "utf-16le", "utf-16be", "windows-1252", "klingon"])("%s", async (label) => {
    const text = "日本 näh\r\n";
    const { native, wasm } = await both((engine) => engine.encodeText(text, label, { bom: true }));
    expect(wasm).toEqual(native);
    const decoded = await both((engine) => engine.decodeText(engine.encodeText("ab\n", label), label));
    expect(decoded.wasm).toEqual(decoded.native);
  });

  it("anchors", async () => {
    const { native, wasm } = await both((engine) => engine.lineAnchors("a\nb\n\n\tä\n"));
    expect(wasm).toEqual(native);
  });
});
