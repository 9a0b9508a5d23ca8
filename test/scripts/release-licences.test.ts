/** The text with the licences of the crates that are compiled into a package. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { platformName } from "../../scripts/lib/platform.mjs";
import { isInstalled } from "../../scripts/lib/run.mjs";
import {
  assertLicences,
  type Crate,
  cratesWithoutLicence,
  licenceTexts,
  linkedCrates,
  textAboutCrates,
  withCrates,
} from "../../scripts/release/licences.mjs";
import { releaseTargets } from "../../scripts/release/targets.mjs";

const root = resolve(import.meta.dirname, "../..");
const home = mkdtempSync(join(tmpdir(), "filewright-licences-"));
afterAll(() => rmSync(home, { recursive: true }));

/** Makes the sources of a crate with these files. */
function crate(name: string, license: string, files: Readonly<Record<string, string>>): Crate {
  const folder = join(home, name);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return { name, version: "1.2.3", license, folder };
}

describe("the texts of a crate", () => {
  it.each([
    [
      "of alternatives that of MIT",
      "MIT OR Apache-2.0",
      { "LICENSE-MIT": "mit", "LICENSE-APACHE": "apache", COPYING: "either", UNLICENSE: "none" },
      ["mit"],
    ],
    ["the other where MIT is none of them", "Apache-2.0", { "LICENSE-APACHE": "apache" }, ["apache"]],
    ["the other where MIT has no text", "MIT/Apache-2.0", { "LICENSE-APACHE": "apache" }, ["apache"]],
    [
      "with what holds besides",
      "(MIT OR Apache-2.0) AND Unicode-3.0",
      { "LICENSE-MIT": "mit\r\n", "LICENSE-UNICODE": "unicode", COPYRIGHT: "by us", "license.rs": "code" },
      ["by us", "mit", "unicode"],
    ],
    [
      "with those of parts that are compiled",
      "MIT",
      {
        "LICENSE.txt": "mit",
        "src/tables/LICENSE-APACHE": "tables",
        "c_src/lib/LICENSE": "lib",
        "tests/LICENSE": "of tests",
      },
      ["mit", "lib", "tables"],
    ],
  ])("%s", (title, license, files, texts) => {
    expect(licenceTexts(crate(title.replaceAll(" ", "-"), license, files))).toEqual(texts);
  });

  it("are demanded", () => {
    expect(() => textAboutCrates([crate("bare", "MIT", { "README.md": "" })])).toThrow(
      "bare 1.2.3 has no text of its licence (MIT)",
    );
  });
});

it("a text that two crates have is there once, under both names", () => {
  const one = crate("one", "MIT", { LICENSE: "Copyright us\nDo as you like" });
  const two = crate("two", "MIT", { LICENSE: "Copyright us\n\nDo  as you like\n" });
  const text = textAboutCrates([one, two]);
  expect(text).toContain("one, two:\n\nCopyright us");
  expect(text.match(/Do\s+as you like/gu)).toHaveLength(1);
});

it("the part about crates is replaced, and nothing before it", () => {
  const one = crate("first", "MIT", { LICENSE: "text of first" });
  const two = crate("second", "MIT", { LICENSE: "text of second" });
  const before = "zod 4 (MIT)\n\nMIT License\n";
  const again = withCrates(withCrates(before, [one]), [two]);
  expect(again).toBe(withCrates(before, [two]));
  expect(again).toMatch(/^zod 4 \(MIT\)\n\nMIT License\n\n----\n\n[\s\S]*second 1\.2\.3 \(MIT\)/u);
});

describe("a crate that a binary names", () => {
  const binary = Buffer.from(
    "\0/registry/src/memchr-2.8.3/src/lib.rs\0/deps/gimli-0.32.3/src/x.rs\0/r/src/new_one-1.0.0+a/src/a.rs",
  );

  it("has to be in the text, except those of the standard library", () => {
    expect(cratesWithoutLicence(binary, "")).toEqual(["new_one 1.0.0+a"]);
    const other = textAboutCrates([{ ...crate("new_one", "MIT", { LICENSE: "x" }), version: "1.0.1" }]);
    expect(cratesWithoutLicence(binary, other)).toEqual(["new_one 1.0.0+a"]);
  });

  it("keeps the package from being packed", () => {
    writeFileSync(join(home, "binary"), binary);
    expect(() => assertLicences(join(home, "binary"), "")).toThrow(/not in THIRD-PARTY\.txt: new_one/u);
  });
});

describe.skipIf(!isInstalled("cargo"))("what this checkout builds", () => {
  const host = releaseTargets().find(({ platform }) => platform === platformName())?.triple ?? "";
  const wasm = "wasm32-unknown-unknown";
  const binaries = [
    ["filewright-node", host, `dist/native/filewright.${platformName()}.node`, "rustix"],
    ["filewright-wasm", wasm, "dist/wasm/filewright_bg.wasm", "wasm-bindgen"],
    ["filewright-wasm", wasm, "dist/wasm/filewright_edit_bg.wasm", "wasm-bindgen"],
  ] as const;
  it.each(binaries.filter(([, , file]) => existsSync(join(root, file))))(
    "%s for %s: %s names no crate without its licence",
    (binding, triple, file, own) => {
      const crates = linkedCrates(binding, triple);
      const binary = readFileSync(join(root, file));
      expect(cratesWithoutLicence(binary, textAboutCrates(crates))).toEqual([]);
      expect(crates.map(({ name }) => name)).toContain(own);
      const [named] = cratesWithoutLicence(binary, "");
      const less = textAboutCrates(crates.filter(({ name, version }) => `${name} ${version}` !== named));
      expect(cratesWithoutLicence(binary, less)).toEqual([named]);
    },
  );

  it.each([
    ["x86_64-unknown-linux-musl", ["linux-raw-sys", "core_detect"], ["windows-sys"]],
    ["aarch64-unknown-linux-gnu", ["linux-raw-sys"], ["windows-sys"]],
    ["aarch64-apple-darwin", ["rustix", "errno"], ["linux-raw-sys", "windows-sys"]],
  ])("for %s has %s and not %s", (triple, some, none) => {
    const names = linkedCrates("filewright-node", triple).map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(some));
    expect(names.filter((name) => none.includes(name))).toEqual([]);
  });
});
