// What scripts/deny.mjs calls a fault of the dependencies.
import { describe, expect, test } from "vitest";
import { crateFaults, isPermissive, lockFaults } from "../../scripts/deny.mjs";

const registry = "registry+https://github.com/rust-lang/crates.io-index";
const crate = (name: string, more = {}) => ({
  name,
  version: "1.0.0",
  license: "MIT",
  source: registry,
  ...more,
});
/** The one crate that may be there twice, so that a list without a fault is possible. */
const twice = [crate("hashbrown"), crate("hashbrown", { version: "2.0.0" })];

describe("licences", () => {
  test.each([
    ["MIT", true],
    ["MIT OR GPL-3.0", true],
    ["MIT/Apache-2.0", true],
    ["(MIT OR Apache-2.0) AND Unicode-3.0", true],
    ["Apache-2.0 WITH LLVM-exception OR MIT", true],
    ["MIT AND GPL-3.0", false],
    ["Apache-2.0 WITH Other-exception", false],
    ["(MIT", false],
    ["MIT MIT", false],
    ["", false],
  ])("'%s' is permissive: %s", (expression, expected) => {
    expect(isPermissive(expression)).toBe(expected);
  });
});

describe("crates", () => {
  test("permissive ones from the registry are no fault", () => {
    expect(crateFaults([...twice, crate("memchr"), crate("own", { source: null, license: null })])).toEqual(
      [],
    );
  });

  test.each([
    ["a banned crate", [crate("walkdir")], "walkdir is banned"],
    ["another registry", [crate("a", { source: "git+https://example.com/a" })], "comes from git+"],
    ["a copyleft licence", [crate("a", { license: "GPL-3.0" })], "licence 'GPL-3.0'"],
    ["no licence", [crate("a", { license: null })], "licence 'null'"],
    ["two versions", [crate("a"), crate("a", { version: "2.0.0" })], "versions 1.0.0 and 2.0.0"],
  ])("%s is a fault", (_, packages, words) => {
    const faults = crateFaults([...twice, ...packages]);
    expect(faults).toHaveLength(1);
    expect(faults[0]).toContain(words);
  });

  test("an exception that nothing needs is a fault", () => {
    expect(crateFaults([crate("hashbrown")])).toEqual([
      "crate hashbrown is there once; take it out of DOUBLE_CRATES",
    ]);
  });
});

describe("package-lock.json", () => {
  const tool = { license: "MIT", optionalDependencies: { "tool-linux": "1.0.0" } };

  test.each(["node_modules/tool-linux", "node_modules/tool/node_modules/tool-linux"])(
    "finds an optional package at %s",
    (path) => {
      expect(lockFaults({ packages: { "node_modules/tool": tool, [path]: { license: "MIT" } } })).toEqual([]);
    },
  );

  test("the lack of another platform's package is a fault", () => {
    const faults = lockFaults({ packages: { "node_modules/tool": tool } });
    expect(faults).toEqual([
      "package-lock.json lacks tool-linux of tool: npm ci refuses it; run npm install",
    ]);
  });

  test("a link to a package of this checkout is none, and one to another folder is a fault", () => {
    const link = (resolved: string) => ({ "node_modules/@a/b": { resolved, link: true } });
    const ours = { "": {}, "packages/b": { license: "MIT" } };
    expect(lockFaults({ packages: { ...ours, ...link("packages/b") } })).toEqual([]);
    expect(lockFaults({ packages: { ...ours, ...link("../b") } })).toContain(
      "package @a/b names its registry in package-lock.json",
    );
  });

  test("an address and a copyleft licence are faults", () => {
    const packages = { "": {}, "node_modules/@a/b": { license: "GPL-3.0", resolved: "https://example.com" } };
    expect(lockFaults({ packages })).toHaveLength(2);
  });
});
