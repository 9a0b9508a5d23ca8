/** The size of what a browser loads for the review page. */
import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { bundleElements, bundleReviewPage } from "../../../scripts/review-page.mjs";

it("is at most 40 KiB of script and 8 KiB of style, compressed", async () => {
  const { outputFiles = [] } = await bundleReviewPage(["review.tsx", "review.css"], { write: false });
  const sizes = outputFiles.map(({ contents }) => gzipSync(contents, { level: 9 }).length);
  const [script = Infinity, style = Infinity] = sizes;
  expect(outputFiles.map(({ path }) => path.replace(/^.*[\\/]/u, ""))).toEqual(["review.js", "review.css"]);
  expect(script).toBeLessThanOrEqual(40 * 1024);
  expect(style).toBeLessThanOrEqual(8 * 1024);
});

it("is at most 48 KiB of script for the elements, which have their style and the view library inside", async () => {
  const { outputFiles = [], metafile } = await bundleElements({ write: false });
  const [script] = outputFiles.map(({ contents }) => gzipSync(contents, { level: 9 }).length);
  expect(outputFiles.length).toBe(1);
  expect(script).toBeLessThanOrEqual(48 * 1024);
  const external = Object.values(metafile?.outputs ?? {}).flatMap(({ imports }) =>
    imports.filter((one) => one.external === true),
  );
  expect(external).toEqual([]);
});
