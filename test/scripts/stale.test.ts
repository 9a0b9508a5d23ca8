/** Builds run when something changed, and only then. */
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { afterAll, expect, it } from "vitest";
import { root } from "../../scripts/lib/run.mjs";
import { buildWhenStale } from "../../scripts/lib/stale.mjs";

const folder = mkdtempSync(join(tmpdir(), "filewright-stale-"));
afterAll(() => rmSync(folder, { recursive: true }));

const inside = (name: string) => relative(root, join(folder, name));
const what = { stamp: inside("out/.stamp"), outputs: [inside("out/made")], inputs: [inside("src")] };
const make = async () => writeFileSync(join(folder, "out/made"), "made");

mkdirSync(join(folder, "src/deep"), { recursive: true });
mkdirSync(join(folder, "out"));
writeFileSync(join(folder, "src/deep/a"), "a");

const steps: readonly (readonly [string, () => void, boolean, object?])[] = [
  ["the first time", () => {}, true],
  ["nothing changed", () => {}, false],
  ["other bytes", () => writeFileSync(join(folder, "src/deep/a"), "ab"), true],
  ["another time of change", () => utimesSync(join(folder, "src/deep/a"), 1, 1), true],
  ["a new file", () => writeFileSync(join(folder, "src/b"), ""), true],
  ["a file gone", () => rmSync(join(folder, "src/b")), true],
  ["an output gone", () => rmSync(join(folder, "out/made")), true],
  ["the stamp gone", () => rmSync(join(folder, "out/.stamp")), true],
  ["other settings", () => {}, true, { settings: ["release"] }],
  ["the same settings", () => {}, false, { settings: ["release"] }],
  ["by force", () => {}, true, { settings: ["release"], force: true }],
];

it("each change in turn", async () => {
  for (const [name, change, expected, more] of steps) {
    change();
    expect([name, await buildWhenStale({ ...what, ...more }, make)]).toEqual([name, expected]);
  }
});

it("a build that fails is tried again", async () => {
  const failing = async () => {
    throw new Error("no");
  };
  writeFileSync(join(folder, "src/c"), "");
  await expect(buildWhenStale(what, failing)).rejects.toThrow("no");
  expect(await buildWhenStale(what, make)).toBe(true);
});
