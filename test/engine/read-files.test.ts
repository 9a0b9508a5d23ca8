import { appendFileSync, mkdtempSync, realpathSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { fromEngine } from "../../js/engine/errors.ts";
import { readPage } from "../../js/engine/index.node.ts";
import { loadNative, type NativeBinding } from "../../js/engine/load.node.ts";
import type { Page, PageRequest } from "../../js/engine/read.ts";
import { decodeFilePage } from "../../js/engine/generated/records.ts";
import { Unpacker } from "../../js/engine/wire/unpack.ts";

const native = loadNative();
const addon = "binding" in native ? native.binding : undefined;
const dir = realpathSync(mkdtempSync(join(tmpdir(), "read-")));
afterAll(() => rmSync(dir, { recursive: true }));

describe.skipIf(addon === undefined)("pages of files", () => {
  const { NativeRoots, CancelToken } = addon as NativeBinding;
  const roots = new NativeRoots(JSON.stringify({ cwd: dir, read: [dir], write: [dir] }));
  const read = async (name: string, request: PageRequest = {}): Promise<Page> => {
    try {
      return decodeFilePage(new Unpacker(await roots.readPage(join(dir, name), JSON.stringify(request))));
    } catch (error) {
      throw fromEngine(error);
    }
  };

  test("the page of a small file is that of its bytes", async () => {
    const bytes = new TextEncoder().encode("eins\r\nzwei é\r\ndrei\n");
    writeFileSync(join(dir, "a.txt"), bytes);
    const { version, mtime, mode, ...page } = await read("a.txt", {
      startLine: 2,
      maxLines: 1,
      anchors: true,
    });
    expect(page).toEqual(readPage(bytes, { startLine: 2, maxLines: 1, anchors: true }, "a.txt"));
    expect(version).toContain(page.hash?.slice("sha256:".length));
    expect(mtime).toBeGreaterThan(0);
    expect(mode).toBeTypeOf("number");
  });

  test("pages of a big file join to the whole, and totals come when counted", async () => {
    const line = "a line of some text that goes on for a while\n";
    const count = Math.ceil((17 << 20) / line.length);
    writeFileSync(join(dir, "big.txt"), line.repeat(count));
    const first = await read("big.txt", { maxLines: 3 });
    expect(first).toMatchObject({
      totalLines: null,
      hash: null,
      eol: null,
      atLeastLines: 4,
      nextStartLine: 4,
    });
    const last = await read("big.txt", { startLine: count });
    expect(last).toMatchObject({ content: line, totalLines: count, truncated: false });
    let lines = 0;
    for (let next: number | null = 1; next !== null; ) {
      const page = await read("big.txt", { startLine: next, maxLines: 100_000 });
      lines += page.linesRead;
      next = page.nextStartLine;
    }
    expect(lines).toBe(count);
    await expect(read("big.txt", { maxLines: null, wholeFileBytes: 1 << 20 })).rejects.toMatchObject({
      code: "TOO_LARGE",
      details: { size: count * line.length, limit: 1 << 20 },
    });
  });

  test("a file that grows and shrinks", async () => {
    writeFileSync(join(dir, "log"), "one\n");
    expect((await read("log", { startLine: 2 })).totalLines).toBe(1);
    appendFileSync(join(dir, "log"), "two\n");
    expect((await read("log", { startLine: 2 })).content).toBe("two\n");
    truncateSync(join(dir, "log"), 0);
    expect(await read("log")).toMatchObject({ linesRead: 0, totalLines: 0, changed: false });
  });

  test.each([
    ["nothing", "absent", {}, "NOT_FOUND"],
    ["a directory", ".", {}, "IS_DIRECTORY"],
    ["a path outside", "../outside", {}, "OUTSIDE_ALLOWED"],
    ["binary content", "zeros", {}, "BINARY_FILE"],
    ["an unknown encoding", "latin", { encoding: "klingon" }, "INVALID_ARGUMENT"],
    ["bytes that are not UTF-8", "latin", { encoding: "utf-8" }, "ENCODING_ERROR"],
  ])("refuses %s", async (_, name, request, code) => {
    writeFileSync(join(dir, "zeros"), new Uint8Array(10));
    writeFileSync(join(dir, "latin"), Uint8Array.of(0x63, 0xe9, 0x0a));
    await expect(read(name, request)).rejects.toMatchObject({ code });
  });

  test("a cancelled read says so", async () => {
    writeFileSync(join(dir, "a"), "a\n");
    const cancel = new CancelToken();
    cancel.cancel();
    const call = roots.readPage(join(dir, "a"), "{}", cancel);
    await expect(call.catch((error: unknown) => Promise.reject(fromEngine(error)))).rejects.toMatchObject({
      code: "CANCELLED",
    });
  });
});
