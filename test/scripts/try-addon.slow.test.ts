/** An addon is tried by what it does; one that does not load, or that something else stands in for, does not pass. */
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, expect, test } from "vitest";
import { platformName } from "../../scripts/lib/platform.mjs";
import { addonFileName, releaseTargets } from "../../scripts/release/targets.mjs";
import { tryAddon } from "../../scripts/release/try-addon.mjs";

const NATIVE_FOLDER = resolve(import.meta.dirname, "../../dist/native");
const [target] = releaseTargets([platformName()]);
if (target === undefined) throw new Error("no addon is released for this machine");
const addons = mkdtempSync(join(tmpdir(), "filewright-addons-"));
const addon = join(addons, addonFileName(target));
afterAll(() => rmSync(addons, { recursive: true }));

test("the addon of this checkout passes every case", () => {
  copyFileSync(join(NATIVE_FOLDER, addonFileName(target)), addon);
  const trial = tryAddon(target, { addons });
  expect(trial).toMatchObject({ engine: "native", failures: [] });
  expect(trial?.contract.cases).toBeGreaterThan(70);
  expect(trial?.contract.passed).toBe(trial?.contract.cases);
  expect(trial?.uses).toEqual({ passed: 5, cases: 5 });
});

test("a file that Node cannot load does not pass", () => {
  writeFileSync(addon, "no addon");
  expect(() => tryAddon(target, { addons })).toThrow(platformName());
});

test("a missing addon is told with the command that builds it", () => {
  rmSync(addon);
  expect(() => tryAddon(target, { addons })).toThrow(`cross-build.mjs ${platformName()}`);
});
