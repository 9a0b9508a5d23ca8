/** PDF files as they are, for models that read PDF themselves, and as text where text is asked for. */
import { describe, expect, test } from "vitest";
import { pdf } from "../readers/make.ts";
import { KINDS, place } from "../tools/harness.ts";

const TWO = pdf(["First page", "Second page"]);
const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64");
const block = (path: string) => ({
  type: "document",
  source: { type: "base64", media_type: "application/pdf", data: base64(TWO) },
  file_path: path,
  size_bytes: TWO.length,
});

describe.each(KINDS)("PDF files on %s", (kind) => {
  test.each([
    ["gemini", { absolute_path: "d.pdf" }],
    ["gemini-cli", { file_path: "d.pdf" }],
  ] as const)("preset %s gives a PDF as base64, one beside the text", async (preset, args) => {
    const { ws, root } = await place(kind, { "d.pdf": TWO }, { preset });
    const absolute = Object.fromEntries(Object.entries(args).map(([key, path]) => [key, `${root}/${path}`]));
    const { ok, text, content } = await ws.call("read_file", absolute);
    expect([ok, text]).toEqual([true, `[PDF: d.pdf (application/pdf, ${TWO.length} bytes, 2 pages)]`]);
    expect(content).toEqual([block("d.pdf")]);
  });

  test.each([
    ["gemini", "paths"],
    ["gemini-cli", "include"],
  ] as const)(
    "preset %s reads PDF files among many where they are asked for by name",
    async (preset, paths) => {
      const { ws } = await place(kind, { "d.pdf": TWO, "a.txt": "a\n" }, { preset });
      const named = await ws.call("read_many_files", { [paths]: ["a.txt", "*.pdf"] });
      expect(named.content).toEqual([block("d.pdf")]);
      expect(named.text).toContain(`[PDF: d.pdf (application/pdf, ${TWO.length} bytes, 2 pages)]`);
      const all = await ws.call("read_many_files", { [paths]: ["**/*"] });
      expect(all.content).toBeUndefined();
    },
  );

  test("our own tools give the text of the pages, and the file where it is asked for", async () => {
    const { ws } = await place(kind, { "d.pdf": TWO, "p.txt": "text\n" });
    const read = (more: object) => ws.call("read_file", { path: "d.pdf", ...more });
    const plain = await read({});
    expect([plain.content, plain.text]).toEqual([undefined, expect.stringContaining("Second page")]);
    expect((await read({ non_text: "media" })).content).toEqual([block("d.pdf")]);
    const second = await read({ non_text: "media", pages: "2" });
    expect([second.content, second.text]).toEqual([undefined, expect.stringContaining("Second page")]);
    expect((await read({ non_text: "error" })).error?.code).toBe("UNSUPPORTED_FORMAT");
    expect((await ws.readFile({ path: "p.txt", non_text: "media" })).content).toBe("text\n");
    const skipped = await ws.call("read_many_files", { paths: ["d.pdf"] });
    expect(skipped).toMatchObject({ ok: true, data: { files: [], skipped: [{ path: "d.pdf" }] } });
  });

  test("a PDF that a model could not open is refused, and so is one beyond the limit", async () => {
    const files = {
      "cut.pdf": TWO.subarray(0, TWO.length - 40),
      "locked.pdf": pdf(["secret"], { encrypted: true }),
      "d.pdf": TWO,
    };
    const { ws } = await place(kind, files);
    const read = (path: string) => ws.call("read_file", { path, non_text: "media" });
    for (const [path, reason] of [
      ["cut.pdf", "damaged"],
      ["locked.pdf", "encrypted"],
    ] as const) {
      expect((await read(path)).error).toMatchObject({ code: "UNSUPPORTED_FORMAT", details: { reason } });
    }
    const small = await place(kind, files, { limits: { wholeFileBytes: TWO.length - 1 } });
    const { error } = await small.ws.call("read_file", { path: "d.pdf", non_text: "media" });
    expect(error).toMatchObject({ code: "TOO_LARGE", details: { size: TWO.length, limit: TWO.length - 1 } });
  });
});
