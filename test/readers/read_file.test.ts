import { describe, expect, it } from "vitest";
import { MemoryBackend, openWorkspace, registerReader, type WorkspaceOptions } from "../../js/index.node.ts";
import { tar } from "./make.ts";

const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

/** Reads one file of a workspace in memory. */
async function readIn(
  files: Record<string, string | Uint8Array>,
  args: { readonly path: string; readonly [name: string]: unknown },
  options: Partial<WorkspaceOptions> = {},
) {
  const seed = Object.fromEntries(Object.entries(files).map(([name, value]) => [`/w/${name}`, value]));
  const ws = await openWorkspace({ root: "/w", backend: new MemoryBackend(seed), ...options });
  const result = await ws.call("read_file", args);
  await ws.close();
  return result as typeof result & { readonly data?: Record<string, unknown> };
}

describe("read_file through readers", () => {
  it("an image is a block, whatever its name", async () => {
    for (const path of ["P.PNG", "p.txt"]) {
      const { ok, text, content, data } = await readIn({ [path]: PNG }, { path });
      expect(ok).toBe(true);
      expect(text).toBe(`[image: ${path} (image/png, 70 bytes, 1x1 pixels)]`);
      expect(content).toMatchObject([{ type: "image", source: { media_type: "image/png" }, size_bytes: 70 }]);
      expect(data).toMatchObject({
        mime: "image/png",
        size: 70,
        image: { width: 1, height: 1 },
        hash: expect.any(String),
      });
    }
  });

  it("limits and text-only mode are refusals that say what to do", async () => {
    const large = await readIn({ "p.png": PNG }, { path: "p.png" }, { limits: { imageBytes: 60 } });
    expect(large.error).toMatchObject({ code: "TOO_LARGE", details: { size: 70, limit: 60 } });
    const only = await readIn({ "p.png": PNG }, { path: "p.png", non_text: "error" });
    expect(only.text).toBe(
      `Error: 'p.png' is image/png and only text is read here; set non_text: "block" to see the image.`,
    );
  });

  it("an SVG is text up to its limit", async () => {
    const svg = '<svg xmlns="http://www.w3.org/2000/svg"/>\n';
    expect(await readIn({ "s.svg": svg }, { path: "s.svg" })).toMatchObject({
      ok: true,
      text: `1\t${svg.trim()}`,
    });
    const large = svg + " ".repeat(1 << 20);
    const refused = await readIn({ "s.svg": large }, { path: "s.svg" });
    expect(refused.error).toMatchObject({
      code: "TOO_LARGE",
      details: { size: large.length, limit: 1 << 20 },
    });
    expect(await readIn({ "s.svg": large }, { path: "s.svg", force_text: true })).toMatchObject({ ok: true });
  });

  it("one value of a JSON file comes with the lines it is on", async () => {
    const json = `{\n  "a": {\n    "b": [\n      1e400,\n      2\n    ]\n  }\n}\n`;
    const { text, data } = await readIn({ "x.json": json }, { path: "x.json", json_pointer: "/a/b" });
    expect(text).toBe("3\t[\n4\t      1e400,\n5\t      2\n6\t    ]");
    expect(data).toMatchObject({
      content: "[\n      1e400,\n      2\n    ]",
      start_line: 3,
      end_line: 6,
      facts: { type: "array", children: 2, start_byte: 20, end_byte: 48 },
    });
  });

  it("a long value is paged by the lines of the file", async () => {
    const json = `{\n"x": 0,\n"a": [\n${Array.from({ length: 50 }, (_, n) => n).join(",\n")}\n]}`;
    const first = await readIn({ "x.json": json }, { path: "x.json", json_pointer: "/a", max_lines: 2 });
    expect(first.text).toBe("3\t[\n4\t0,\n[lines 3-4 of 54; continue with start_line=5]");
    const next = await readIn(
      { "x.json": json },
      { path: "x.json", json_pointer: "/a", start_line: 5, max_lines: 1 },
    );
    expect(next.text).toContain("5\t1,\n");
  });

  it("values are found in other encodings and formats, and what is not there is explained", async () => {
    const utf16 = new Uint8Array(
      Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('{"ä": {"k": "v"}}', "utf16le")]),
    );
    expect(await readIn({ "x.json": utf16 }, { path: "x.json", json_pointer: "/ä/k" })).toMatchObject({
      text: '1\t"v"',
    });
    const lock = await readIn({ "x.lock": '{"a": [true]}' }, { path: "x.lock", json_pointer: "/a/0" });
    expect(lock.text).toBe("1\ttrue");
    const toml = await readIn({ "x.toml": "[t]\nk = 1\n" }, { path: "x.toml", json_pointer: "/t/k" });
    expect(toml.text).toBe("2\t1");
    const none = await readIn({ "x.toml": "[t]\nk = 1\n" }, { path: "x.toml", json_pointer: "/t/z" });
    expect(none.text).toBe(`Error: Nothing at json_pointer '/t/z'.\n'/t' is an object with the keys "k".`);
    const prose = await readIn({ "x.md": "# x\n" }, { path: "x.md", json_pointer: "/a" });
    expect(prose.error).toMatchObject({ code: "INVALID_ARGUMENT", details: { argument: "json_pointer" } });
    const pages = await readIn({ "x.md": "# x\n" }, { path: "x.md", pages: "1" });
    expect(pages.error).toMatchObject({ code: "INVALID_ARGUMENT", details: { argument: "pages" } });
  });

  it("a document is shown without numbers, and paged", async () => {
    const archive = tar([{ name: "a" }, { name: "b" }, { name: "../c" }]);
    const all = await readIn({ "x.tar": archive }, { path: "x.tar" });
    expect(all.text).toBe(
      `[tar: 3 entries, ${archive.length} bytes, unpacked 0]\n   0  a\n   0  b\n   0  ../c [leads outside]\n[note: 1 of its names lead out of the directory it is unpacked in.]`,
    );
    expect(all.data).toMatchObject({ rendered: true, facts: { entry_count: 3 }, mime: "application/x-tar" });
    const page = await readIn({ "x.tar": archive }, { path: "x.tar", start_line: 2, max_lines: 1 });
    expect(page.text).toContain("   0  a\n[lines 2-2 of 4; continue with start_line=3]");
  });

  it("what only looks like an archive is binary", async () => {
    const fake = new Uint8Array([0x1f, 0x8b, 0x08, 0, 1, 2, 3]);
    expect((await readIn({ "x.gz": fake }, { path: "x.gz" })).error).toMatchObject({ code: "BINARY_FILE" });
    const archive = await readIn({ "x.tar": tar([{ name: "a" }]) }, { path: "x.tar", non_text: "error" });
    expect(archive.error).toMatchObject({ code: "BINARY_FILE" });
  });

  it("readers can be added, for one workspace or for all, and force_text passes them by", async () => {
    const flac = new Uint8Array([...Buffer.from("fLaC"), 0, 0, 0, 34]);
    const own = { mimes: ["audio/*"], read: () => ({ text: "a song", data: { seconds: 3 } }) };
    const sung = await readIn({ "s.flac": flac }, { path: "s.flac" }, { readers: [own] });
    expect(sung).toMatchObject({ ok: true, text: "a song", data: { facts: { seconds: 3 }, rendered: true } });
    expect((await readIn({ "s.flac": flac }, { path: "s.flac" })).error).toMatchObject({
      code: "UNSUPPORTED_FORMAT",
    });

    const remove = registerReader("text/csv", async ({ source }) => ({
      text: `${source.size} bytes of CSV`,
    }));
    try {
      const csv = { "t.csv": "a,b\n" };
      expect((await readIn(csv, { path: "t.csv" })).text).toBe("4 bytes of CSV");
      expect((await readIn(csv, { path: "t.csv", force_text: true })).text).toBe("1\ta,b");
    } finally {
      remove();
    }
    expect((await readIn({ "t.csv": "a,b\n" }, { path: "t.csv" })).text).toBe("1\ta,b");
  });
});
