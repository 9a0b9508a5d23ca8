/** The size of what a browser loads for the review page. */
import { basename } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { bundleElements, bundleReviewPage } from "../../../scripts/review-page.mjs";

const sizeOf = (contents: Uint8Array): number => gzipSync(contents, { level: 9 }).length;

it("is at most 40 KiB of script and 8 KiB of style for the first screen, compressed", async () => {
  const { outputFiles = [], metafile } = await bundleReviewPage(["review.tsx", "review.css"], {
    write: false,
    splitting: true,
  });
  const sizes = new Map(outputFiles.map(({ path, contents }) => [basename(path), sizeOf(contents)]));
  const loadedAtOnce = (name: string): ReadonlySet<string> => {
    const imports = metafile?.outputs[`dist/review/page/${name}`]?.imports ?? [];
    const next = imports.filter(({ kind }) => kind === "import-statement").map(({ path }) => basename(path));
    return new Set([name, ...next.flatMap((one) => [...loadedAtOnce(one)])]);
  };
  const first = loadedAtOnce("review.js");
  const later = [...sizes.keys()].filter((name) => name.endsWith(".js") && !first.has(name));
  const sum = (names: Iterable<string>) =>
    [...names].reduce((all, name) => all + (sizes.get(name) ?? NaN), 0);
  expect(sum(first)).toBeLessThanOrEqual(40 * 1024);
  expect(later.length).toBe(1);
  expect(sum(later)).toBeLessThanOrEqual(24 * 1024);
  expect(sum(["review.css"])).toBeLessThanOrEqual(8 * 1024);
});

it("is at most 48 KiB of script for the elements, which have their style and the view library inside", async () => {
  const { outputFiles = [], metafile } = await bundleElements({ write: false });
  const [script] = outputFiles.map(({ contents }) => sizeOf(contents));
  expect(outputFiles.length).toBe(1);
  expect(script).toBeLessThanOrEqual(48 * 1024);
  const external = Object.values(metafile?.outputs ?? {}).flatMap(({ imports }) =>
    imports.filter((one) => one.external === true),
  );
  expect(external).toEqual([]);
});
