/** The size of what a browser loads for the review page. */
import { basename } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { bundleElements, bundleReviewPage } from "../../../scripts/review-page.mjs";

const sizeOf = (contents: Uint8Array): number => gzipSync(contents, { level: 9 }).length;

type Bundle = Awaited<ReturnType<typeof bundleReviewPage>>;

/** Returns the sizes of what a script loads at once and later, and of each file. */
function sizesOf({ outputFiles = [], metafile }: Bundle, script: string) {
  const sizes = new Map(outputFiles.map(({ path, contents }) => [basename(path), sizeOf(contents)]));
  const outputs = new Map(
    Object.entries(metafile?.outputs ?? {}).map(([path, output]) => [basename(path), output] as const),
  );
  const loadedAtOnce = (name: string): ReadonlySet<string> => {
    const imports = outputs.get(name)?.imports ?? [];
    const next = imports.filter(({ kind }) => kind === "import-statement").map(({ path }) => basename(path));
    return new Set([name, ...next.flatMap((one) => [...loadedAtOnce(one)])]);
  };
  const first = loadedAtOnce(script);
  const later = [...sizes.keys()].filter((name) => name.endsWith(".js") && !first.has(name));
  const sum = (names: Iterable<string>) =>
    [...names].reduce((all, name) => all + (sizes.get(name) ?? Number.NaN), 0);
  return { first: sum(first), later: sum(later), laterCount: later.length, sizes };
}

it("is at most 40 KiB of script and 8 KiB of style for the first screen, compressed", async () => {
  const bundle = await bundleReviewPage(["review.tsx", "review.css"], { write: false, splitting: true });
  const { first, later, laterCount, sizes } = sizesOf(bundle, "review.js");
  expect(first).toBeLessThanOrEqual(40 * 1024);
  expect(laterCount).toBe(1);
  expect(later).toBeLessThanOrEqual(24 * 1024);
  expect(sizes.get("review.css")).toBeLessThanOrEqual(8 * 1024);
});

it("is at most 48 KiB of script for the elements, with their style and the view library, and later the screens", async () => {
  const bundle = await bundleElements({ write: false, splitting: true });
  const { first, later, laterCount } = sizesOf(bundle, "elements.js");
  expect(first).toBeLessThanOrEqual(48 * 1024);
  expect(laterCount).toBe(1);
  expect(later).toBeLessThanOrEqual(24 * 1024);
  const external = Object.values(bundle.metafile?.outputs ?? {})
    .flatMap(({ imports }) => imports)
    .filter((one) => one.external === true);
  expect(external).toEqual([]);
});
