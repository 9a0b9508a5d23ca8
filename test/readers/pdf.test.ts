import { describe, expect, it } from "vitest";
import "../../js/engine/index.node.ts";
import { pdf, read } from "./make.ts";

const PDF = "application/pdf";

describe("PDF", () => {
  it("is the text of its pages", async () => {
    const bytes = pdf(["First page\nsecond line", null, "Third (page)"], { title: "A title" });
    const { text, data } = await read(bytes, PDF);
    expect(text).toBe(`[PDF: 3 pages]
--- page 1 ---
First page
second line
--- page 2 ---
[no text on this page]
--- page 3 ---
Third (page)`);
    expect(data).toEqual({ format: "pdf", page_count: 3, pages: [1, 2, 3], title: "A title" });
  });

  const ten = pdf(Array.from({ length: 10 }, (_, n) => `page number ${n + 1}`));

  it.each([
    ["3", [3]],
    ["-1", [10]],
    ["8-", [8, 9, 10]],
    ["9-20", [9, 10]],
    ["-3--2", [8, 9]],
    ["5, 1-2 ,2", [5, 1, 2]],
  ])("pages %s", async (pages, numbers) => {
    const { text, data } = await read(ten, PDF, { pages });
    expect(data?.["pages"]).toEqual(numbers);
    expect(text.match(/page number \d+/g)).toEqual(numbers.map((n) => `page number ${n}`));
  });

  it.each([
    ["0", "No page 0"],
    ["11", "there are 10"],
    ["5-3", "3 is before 5"],
    ["x", "Invalid pages 'x'"],
    ["1,,2", "Invalid pages ''"],
    ["-11", "No page -11"],
    ["1,".repeat(300), "longer than"],
  ])("pages %s is refused", async (pages, message) => {
    expect(await read(ten, PDF, { pages })).toMatchObject({
      code: "INVALID_ARGUMENT",
      message: expect.stringContaining(message),
      details: { argument: "pages" },
    });
  });

  it("a long one stops after twenty pages, or when the budget is spent, and says how to go on", async () => {
    const long = pdf(Array.from({ length: 25 }, (_, n) => `p${n + 1}`));
    const first = await read(long, PDF);
    expect(first.text).toMatch(/\[pages 1-20 of 25; continue with pages="21-25"\]$/);
    expect(first.data).toMatchObject({ next_pages: "21-25" });
    const limits = { imageBytes: 1e6, wholeFileBytes: 1e6, outputBytes: 30 };
    const small = await read(ten, PDF, { pages: "1-4,7" }, { limits });
    expect(small.data).toMatchObject({ pages: [1, 2], next_pages: "3-4,7" });
  });

  it.each([
    ["encrypted", pdf(["secret"], { encrypted: true }), { reason: "encrypted" }],
    ["cut short", pdf(["text"]).subarray(0, 60), { reason: "damaged" }],
    ["a header and nothing else", new Uint8Array(Buffer.from("%PDF-1.7\n")), { reason: "damaged" }],
    ["pictures of pages", pdf(["[image]", "[image]"]), { reason: "scanned", page_count: 2 }],
    ["empty pages", pdf([null]), { reason: "empty", page_count: 1 }],
  ])("without text the reason is told: %s", async (_name, bytes, details) => {
    expect(await read(bytes, PDF)).toMatchObject({
      code: "UNSUPPORTED_FORMAT",
      details: { mime: PDF, ...details },
    });
  });

  it("in text-only mode its text must be asked for", async () => {
    expect(await read(ten, PDF, { nonText: "error" })).toMatchObject({
      hint: expect.stringContaining("pages"),
    });
    expect((await read(ten, PDF, { nonText: "error", pages: "2" })).text).toContain("page number 2");
  });

  it("stops when the call is cancelled", async () => {
    expect(await read(ten, PDF, {}, { signal: AbortSignal.abort() })).toMatchObject({ code: "CANCELLED" });
  });
});
