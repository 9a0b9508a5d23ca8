/** The choice of the tests that run under Miri. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { faultsOfFilters, unsafeModules } from "../../scripts/miri.mjs";

const folder = mkdtempSync(join(tmpdir(), "filewright-miri-"));
afterAll(() => rmSync(folder, { recursive: true }));

describe("the filters of Miri", () => {
  const tests = ["diff::newlines::tests::finds_all", "search::grams::tests::counts"];
  const cases: Record<string, { filters: string[]; modules: string[]; faults: string[] }> = {
    "pass when each matches and every module with unsafe is run": {
      filters: ["diff::newlines", "grams"],
      modules: ["diff::newlines", "search::grams"],
      faults: [],
    },
    "fail when one matches no test": {
      filters: ["diff::newlines", "windows::"],
      modules: ["diff::newlines"],
      faults: ["the filter windows:: of scripts/miri.mjs matches no test"],
    },
    "fail when a module with unsafe has tests that no filter matches": {
      filters: ["diff::newlines"],
      modules: ["diff::newlines", "search::grams"],
      faults: ["no filter of scripts/miri.mjs runs a test of search::grams, which has unsafe code"],
    },
    "fail when a module with unsafe has no tests of its own": {
      filters: ["diff::newlines"],
      modules: ["diff::new"],
      faults: ["no filter of scripts/miri.mjs runs a test of diff::new, which has unsafe code"],
    },
  };
  it.each(Object.entries(cases))("%s", (_, { filters, modules, faults }) => {
    expect(faultsOfFilters({ filters, tests, modules })).toEqual(faults);
  });
});

describe("the modules with unsafe", () => {
  const cases: Record<string, { text: string; isUnsafe: boolean }> = {
    "include one with an unsafe block": { text: "pub fn run() { unsafe { call() } }", isUnsafe: true },
    "include one with an unsafe function": { text: "pub unsafe fn run() {}", isUnsafe: true },
    "include one with an unsafe impl": { text: "unsafe impl Send for A {}", isUnsafe: true },
    "omit one that says it in a comment and a string": {
      text: '// unsafe { }\npub const A: &str = "unsafe { }";',
      isUnsafe: false,
    },
    "omit one whose tests only have it": {
      text: "#[cfg(test)]\nmod tests { fn run() { unsafe { call() } } }",
      isUnsafe: false,
    },
  };
  it.each(Object.entries(cases))("%s", (title, { text, isUnsafe }) => {
    const checkout = join(folder, title);
    const crate = { "src/lib.rs": "mod room;\n", "src/room/mod.rs": "mod a;\n", "src/room/a.rs": text };
    for (const [path, content] of Object.entries(crate)) {
      mkdirSync(dirname(join(checkout, path)), { recursive: true });
      writeFileSync(join(checkout, path), content);
    }
    expect(unsafeModules(checkout, "src/lib.rs")).toEqual(isUnsafe ? ["room::a"] : []);
  });
});
