/** The size of a page's download, as docs/decisions promises it. */
import { existsSync, readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { describe, expect, it } from "vitest";

const dist = `${import.meta.dirname}/../../dist`;
const built = existsSync(`${dist}/wasm/filewright_edit_bg.wasm`);
const skip = process.env["FILEWRIGHT_PARITY"] === "skip" || (!built && process.env["CI"] !== "true");

/** Bytes, compressed as a server would. */
const gzipped = (content: Uint8Array) => gzipSync(content, { level: 9 }).length;

async function bundled(entry: string): Promise<number> {
  const { outputFiles } = await build({
    entryPoints: [`${dist}/${entry}`],
    bundle: true,
    minify: true,
    write: false,
    format: "esm",
    platform: "browser",
    target: "es2023",
  });
  return gzipped(outputFiles[0]?.contents ?? new Uint8Array(1 << 20));
}

describe.skipIf(skip)("compressed, at most", () => {
  it.each([
    ["filewright_bg.wasm", 950_000],
    ["filewright_edit_bg.wasm", 332_000],
    ["filewright.js", 15_000],
    ["filewright_edit.js", 15_000],
  ])("dist/wasm/%s: %i bytes", (file, limit) => {
    expect(gzipped(readFileSync(`${dist}/wasm/${file}`))).toBeLessThanOrEqual(limit);
  });

  it.each([
    ["diff/index.js", 16_340],
    ["engine/edit-entry.js", 15_000],
    ["engine/index.js", 17_100],
  ])("everything that dist/%s imports: %i bytes", async (entry, limit) => {
    expect(await bundled(entry)).toBeLessThanOrEqual(limit);
  });
});
