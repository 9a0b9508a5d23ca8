// The licences of the Rust crates that are compiled into a binary, as one text. Every package that holds such a
// binary has the text in its THIRD-PARTY.txt.
//
// Cargo knows which crates a binary is linked from, and the texts are those in the sources of each crate. cargo-about
// would do the same, but each machine that packs would have to compile it first.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { BuildError, root, runAndWait } from "../lib/run.mjs";

/** Begins the part of a THIRD-PARTY.txt that names crates. */
const HEADING = "Rust crates compiled into this package";

/**
 * The crates that are compiled into the standard library, and their licences. Each is offered under one of the
 * licences whose texts every binary needs anyway; parts of compiler_builtins that come from LLVM are under an
 * exception that demands no notice in a binary, and those that come from musl have the line below.
 */
const STANDARD_LIBRARY = {
  addr2line: "Apache-2.0 OR MIT",
  adler2: "0BSD OR MIT OR Apache-2.0",
  "cfg-if": "MIT OR Apache-2.0",
  compiler_builtins: "MIT AND Apache-2.0 WITH LLVM-exception AND (MIT OR Apache-2.0)",
  dlmalloc: "MIT OR Apache-2.0",
  gimli: "MIT OR Apache-2.0",
  hashbrown: "MIT OR Apache-2.0",
  libc: "MIT OR Apache-2.0",
  memchr: "Unlicense OR MIT",
  miniz_oxide: "MIT OR Zlib OR Apache-2.0",
  object: "Apache-2.0 OR MIT",
  "rustc-demangle": "MIT OR Apache-2.0",
};

const STANDARD_LIBRARY_NOTICE = `The standard library of Rust is copyright The Rust Project Developers (https://thanks.rust-lang.org) and is
licensed under Apache-2.0 OR MIT, its tables of characters under Unicode-3.0. Mathematical functions in
compiler_builtins come from musl, copyright 2005-2020 Rich Felker and others, under MIT. Crates in it:
${Object.entries(STANDARD_LIBRARY)
  .map(([name, licence]) => `  ${name} (${licence})`)
  .join("\n")}`;

/**
 * Crates without a file of their licence, and where the text is that their authors publish: napi-rs has one text for
 * its crates and its npm packages.
 */
const TEXT_ELSEWHERE = [[/^napi(?:-sys)?$/u, "node_modules/@napi-rs/cli/LICENSE"]];

const LICENCE_FILE = /^(?:un)?licen[cs]e(?![a-z])|^(?:copyright|notice)/iu;

/** Licences that are not taken where a crate offers MIT as an alternative and has the text of it. */
const OTHER_ALTERNATIVE = /apache|unlicense|zlib|llvm/iu;

/** Folders of a crate that are not compiled into a binary. */
const UNCOMPILED = new Set(["benches", "doc", "docs", "examples", "fuzz", "scripts", "test", "tests"]);

/**
 * A crate that is compiled into a binary.
 * @typedef {{ name: string, version: string, license: string, folder: string }} Crate
 *   `license` is its SPDX expression, `folder` the path of its sources
 */

/**
 * Returns the crates of other authors that are linked into one of ours, in the order of their names.
 *
 * @param {"filewright-node" | "filewright-wasm"} binding
 * @param {string} triple the compiler's name of the target
 * @returns {Crate[]}
 */
export function linkedCrates(binding, triple) {
  const read = (args) => runAndWait("cargo", [...args, "--locked"], { capture: "stdout" }).stdout;
  const edges = ["--edges", "normal,no-proc-macro", "--no-dedupe", "--prefix", "none", "--format", "{p}"];
  const linked = new Set(read(["tree", "--package", binding, "--target", triple, ...edges]).split("\n"));
  const { packages } = JSON.parse(read(["metadata", "--format-version", "1"]));
  return packages
    .filter(({ name, version, source }) => source !== null && linked.has(`${name} v${version}`))
    .map(({ name, version, license, manifest_path: manifest }) => ({
      ...{ name, version, license: license ?? "", folder: dirname(manifest) },
    }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Yields the paths of the files with licences below a folder, those in the folder itself first. */
function* licenceFiles(folder) {
  const entries = readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const entry of entries)
    if (entry.isFile() && LICENCE_FILE.test(entry.name) && !entry.name.endsWith(".rs"))
      yield join(folder, entry.name);
  for (const entry of entries)
    if (entry.isDirectory() && !UNCOMPILED.has(entry.name)) yield* licenceFiles(join(folder, entry.name));
}

/**
 * Returns the texts of the licences of a crate: of alternatives MIT, and whatever holds for parts of it.
 *
 * @param {Crate} crate
 * @throws BuildError if there is none
 */
export function licenceTexts({ name, version, license, folder }) {
  const elsewhere = TEXT_ELSEWHERE.find(([form]) => form.test(name))?.[1];
  const files = elsewhere === undefined ? [...licenceFiles(folder)] : [join(root, elsewhere)];
  const offersMit =
    /\bMIT\b/u.test(license) &&
    files.some((file) => dirname(file) === folder && /mit/iu.test(file.slice(folder.length)));
  const texts = files
    .filter(
      (file) => !(offersMit && dirname(file) === folder && OTHER_ALTERNATIVE.test(file.slice(folder.length))),
    )
    .map((file) =>
      readFileSync(file, "utf8")
        .replaceAll(/[ \t\r]+$/gmu, "")
        .replace(/^\n+|\s+$/gu, ""),
    );
  if (texts.length === 0) throw new BuildError(`${name} ${version} has no text of its licence (${license})`);
  return texts;
}

/**
 * Returns the text about crates for a THIRD-PARTY.txt. A text that several crates have is in it once.
 *
 * @param {readonly Crate[]} crates
 * @throws BuildError if a crate has no text
 */
export function textAboutCrates(crates) {
  const groups = new Map();
  for (const crate of crates) {
    for (const text of licenceTexts(crate)) {
      const key = text.replaceAll(/\s+/gu, " ");
      const group = groups.get(key) ?? { names: [], text };
      group.names.push(crate.name);
      groups.set(key, group);
    }
  }
  const list = crates.map(({ name, version, license }) => `${name} ${version} (${license})`).join("\n");
  const texts = [...groups.values()].map(
    ({ names, text }) => `${[...new Set(names)].join(", ")}:\n\n${text}\n`,
  );
  return `${[`${HEADING}:\n\n${list}\n`, `${STANDARD_LIBRARY_NOTICE}\n`, ...texts].join("\n----\n\n")}`;
}

/**
 * Returns a THIRD-PARTY.txt with another part about crates.
 *
 * @param {string} text with or without such a part
 * @param {readonly Crate[]} crates
 */
export function withCrates(text, crates) {
  const before = text.split(`----\n\n${HEADING}:`)[0].trimEnd();
  return `${before}\n\n----\n\n${textAboutCrates(crates)}`;
}

const SOURCE_OF_CRATE = /[/\\]([A-Za-z][\w-]*?)-(\d+\.\d+\.\d+[\w.+-]*)[/\\]src[/\\]/gu;

/**
 * Returns the crates that a binary itself names, in the places in sources that its messages of failures have, and
 * that a text does not: one line each.
 *
 * @param {Uint8Array} binary
 * @param {string} text
 */
export function cratesWithoutLicence(binary, text) {
  const named = new Set();
  for (const [, name, version] of Buffer.from(binary).toString("latin1").matchAll(SOURCE_OF_CRATE))
    if (!(name in STANDARD_LIBRARY) && !text.includes(`\n${name} ${version} (`))
      named.add(`${name} ${version}`);
  return [...named].sort();
}

/**
 * @param {string} file the path of a binary
 * @param {string} text
 * @throws BuildError if the binary names a crate that the text does not
 */
export function assertLicences(file, text) {
  const missing = cratesWithoutLicence(readFileSync(file), text);
  if (missing.length > 0)
    throw new BuildError(
      `${file} has crates whose licences are not in THIRD-PARTY.txt: ${missing.join(", ")}`,
    );
}
