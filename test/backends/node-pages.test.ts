/** Pages of large files on a disk without the addon: only the beginning is read, where the page ends there. */
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { NodeBackend } from "../../js/backends/node/node.node.ts";
import { engine } from "../../js/engine/current.ts";
import type { PageRequest } from "../../js/engine/read.ts";
import { FilewrightError } from "../../js/index.node.ts";

const folder = mkdtempSync(join(tmpdir(), "filewright-pages-"));
const backend = new NodeBackend();
afterAll(() => {
  backend.close();
  rmSync(folder, { recursive: true });
});
const lines = (count: number, odd = "") =>
  Array.from(
    { length: count },
    (_, i) => `line ${i + 1} of a \u00fc text${i === 40_000 ? odd : ""}\r\n`,
  ).join("");
const fileOf = (name: string, content: string | Uint8Array): string => {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
};
const code = (error: unknown) => (error instanceof FilewrightError ? error.code : String(error));

it("a page at the beginning of a file that is too large to be read into memory is answered", async () => {
  const path = fileOf("huge.txt", lines(60_000));
  truncateSync(path, 2 ** 31 + 4096);
  const page = await backend.readLines(path, { startLine: 20_000, maxLines: 2 });
  expect(page).toMatchObject({
    content: "line 20000 of a \u00fc text\r\nline 20001 of a \u00fc text\r\n",
    startLine: 20_000,
    endLine: 20_001,
    nextStartLine: 20_002,
    size: 2 ** 31 + 4096,
    totalLines: null,
    eol: null,
    hash: null,
    encoding: "utf-8",
    truncated: true,
  });
  expect(page.atLeastLines).toBeGreaterThan(30_000);
  expect(await backend.readLines(path, { startLine: -1 }).catch(code)).toBe("TOO_LARGE");
});

it("differs from the page of the whole content in nothing but the facts about the whole", async () => {
  const content = Buffer.from(lines(80_000, "x".repeat(5000)));
  const path = fileOf("large.txt", content);
  const requests: readonly PageRequest[] = [
    {},
    { maxLines: 3, anchors: true },
    { startLine: 900, maxLines: 200, textBytes: 3000, lineNumbers: "cat" },
    { startLine: 5, contentBytes: 100 },
    { startLine: 30_000, maxLines: 10_000 },
    { startLine: 39_990, maxLines: 20 },
    { startLine: 79_990, maxLines: 200 },
    { startLine: 90_000 },
    { startLine: -3 },
    { startByte: 500_000, maxLines: 2 },
    { maxLines: null },
  ];
  for (const request of requests) {
    const whole = engine().readPage(content, request, path);
    const page = await backend.readLines(path, request);
    const known = page.totalLines !== null;
    const { totalLines, atLeastLines, eol, hash, ...same } = whole;
    expect(page, JSON.stringify(request)).toMatchObject(same);
    if (known) expect(page).toMatchObject({ totalLines, atLeastLines, eol, hash });
    else expect(page.atLeastLines).toBeLessThanOrEqual(totalLines as number);
  }
  expect((await backend.readLines(path)).totalLines).toBeNull();
});

it("reads the whole where the beginning does not tell what the text is", async () => {
  const wide = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(lines(40_000), "utf16le")]);
  const latin = Buffer.from(lines(70_000), "latin1");
  const oneLine = Buffer.from("x".repeat(2 << 20));
  for (const [name, content] of [
    ["wide", wide],
    ["latin", latin],
    ["one", oneLine],
  ] as const) {
    const path = fileOf(name, content);
    const { totalLines, atLeastLines, eol, hash, ...same } = engine().readPage(
      content,
      { maxLines: 2 },
      path,
    );
    expect(await backend.readLines(path, { maxLines: 2 }), name).toMatchObject(same);
  }
  const binary = fileOf("binary", Buffer.concat([Buffer.from([0, 1, 2, 3]), Buffer.from(lines(80_000))]));
  expect(await backend.readLines(binary).catch(code)).toBe("BINARY_FILE");
  const invalid = fileOf(
    "invalid",
    Buffer.concat([Buffer.from(lines(10)), Buffer.from([0xe9, 10]), Buffer.from(lines(80_000))]),
  );
  expect(await backend.readLines(invalid, { encoding: "utf-8", maxLines: 2 }).catch(code)).toBe(
    "ENCODING_ERROR",
  );
});
