/** The lint rules that hold the arrows of ARCHITECTURE.md do refuse what breaks them. */
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { afterAll, describe, expect, it } from "vitest";

const root = resolve(import.meta.dirname, "../..");
const folder = mkdtempSync(join(tmpdir(), "filewright-arrows-"));
afterAll(() => rmSync(folder, { recursive: true }));

function checkout(name: string, files: Record<string, string>): string {
  const made = join(folder, name);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(made, path)), { recursive: true });
    writeFileSync(join(made, path), text);
  }
  return made;
}

describe("biome refuses", () => {
  const cases: Record<string, { file: string; text: string; rule: string }> = {
    "engine importing tools": {
      file: "js/engine/a.ts",
      text: 'export { x } from "../tools/x.ts";\n',
      rule: "lint/style/noRestrictedImports",
    },
    "a backend importing the workspace, from a folder below": {
      file: "js/backends/deep/a.ts",
      text: 'import type { W } from "../../workspace/index.ts";\n\nexport type V = W;\n',
      rule: "lint/style/noRestrictedImports",
    },
    "a tool importing the workspace when called": {
      file: "js/tools/a.ts",
      text: 'export const w = () => import("../workspace/index.ts");\n',
      rule: "lint/style/noRestrictedImports",
    },
    "the workspace importing the command line": {
      file: "js/workspace/a.ts",
      text: 'export { x } from "../cli/x.ts";\n',
      rule: "lint/style/noRestrictedImports",
    },
    "an adapter importing the MCP server": {
      file: "js/adapters/a.ts",
      text: 'export { x } from "../mcp/x.ts";\n',
      rule: "lint/style/noRestrictedImports",
    },
    "an adapter importing the review page": {
      file: "js/adapters/b.ts",
      text: 'export { x } from "../review/x.ts";\n',
      rule: "lint/style/noRestrictedImports",
    },
    "the tools importing a room of their own height": {
      file: "js/tools/d.ts",
      text: 'export { x } from "../hooks/x.ts";\n',
      rule: "lint/style/noRestrictedImports",
    },
    "a node: module outside *.node.ts": {
      file: "js/tools/b.ts",
      text: 'export { readFileSync } from "node:fs";\n',
      rule: "lint/correctness/noNodejsModules",
    },
    "a default export": {
      file: "js/tools/c.ts",
      text: "export default 1;\n",
      rule: "lint/style/noDefaultExport",
    },
  };
  const made = checkout(
    "refused",
    Object.fromEntries(Object.values(cases).map(({ file, text }) => [file, text])),
  );
  cpSync(join(root, "biome.json"), join(made, "biome.json"));

  it.each(Object.entries(cases))("%s", (_, { file, rule }) => {
    const biome = join(root, "node_modules/.bin/biome");
    const { status, stdout, stderr } = spawnSync(biome, ["lint", "--colors=off", file], {
      cwd: made,
      encoding: "utf8",
    });
    expect(status).not.toBe(0);
    expect(stdout + stderr).toContain(rule);
  });
});

describe("biome allows", () => {
  const cases: Record<string, { file: string; text: string }> = {
    "node: modules in *.node.ts": {
      file: "js/backends/a.node.ts",
      text: 'export { stat } from "node:fs";\n',
    },
    "node: modules in the command line": { file: "js/cli/a.ts", text: 'export { stat } from "node:fs";\n' },
    "a room's own folder of a higher room's name": {
      file: "js/engine/b.ts",
      text: 'export { x } from "./tools/x.ts";\n',
    },
    "the workspace importing tools": {
      file: "js/workspace/b.ts",
      text: 'export { x } from "../tools/x.ts";\n',
    },
  };
  const made = checkout(
    "allowed",
    Object.fromEntries(Object.values(cases).map(({ file, text }) => [file, text])),
  );
  cpSync(join(root, "biome.json"), join(made, "biome.json"));

  it.each(Object.entries(cases))("%s", (_, { file }) => {
    const biome = join(root, "node_modules/.bin/biome");
    execFileSync(biome, ["lint", "--colors=off", file], { cwd: made, stdio: "pipe" });
  });
});

describe("scripts/arrows.mjs refuses", () => {
  const core = '[package]\nname = "filewright-core"\n\n[dependencies]\n';
  const cases: Record<string, { files: Record<string, string>; line: string }> = {
    "a *.node.ts file imported where there is no Node": {
      files: { "js/backends/index.ts": 'export * from "./local.node.ts";\n' },
      line: "js/backends/index.ts imports ./local.node.ts: only *.node.ts files, cli and mcp import a *.node.ts file",
    },
    "an arrow inside a type": {
      files: { "js/engine/a.ts": 'export type T = import("../tools/a.ts").T;\n' },
      line: "js/engine/a.ts imports ../tools/a.ts: engine may not import tools",
    },
    "a room beside it that its row does not name": {
      files: { "js/adapters/a.ts": 'import { x } from "../review/x.ts";\n' },
      line: "js/adapters/a.ts imports ../review/x.ts: adapters may not import review",
    },
    "what supports the tests of users in the product": {
      files: { "js/workspace/a.ts": 'import { x } from "../testing/x.ts";\n' },
      line: "js/workspace/a.ts imports ../testing/x.ts: workspace may not import testing",
    },
    "a room importing an entry": {
      files: { "js/tools/a.ts": 'import { x } from "../index.ts";\n' },
      line: "js/tools/a.ts imports ../index.ts: no room imports an entry",
    },
    "a room nobody placed": {
      files: { "js/attic/a.ts": 'import { x } from "../engine/x.ts";\n' },
      line: "js/attic/a.ts imports ../engine/x.ts: the room attic has no place in scripts/arrows.mjs",
    },
    "a package importing a file of the main one": {
      files: { "packages/storage/src/s3/a.ts": 'import { x } from "../../../../js/storage/a.ts";\n' },
      line: "packages/storage/src/s3/a.ts imports ../../../../js/storage/a.ts: packages/storage/src imports only its own files, filewright/files, filewright/testing, aws4fetch",
    },
    "a package importing another entry of the main one": {
      files: { "packages/storage/src/a.ts": 'export const x = () => import("filewright/engine");\n' },
      line: "packages/storage/src/a.ts imports filewright/engine: packages/storage/src imports only its own files, filewright/files, filewright/testing, aws4fetch",
    },
    "the main package importing a file of another one": {
      files: { "js/mcp/a.ts": 'export { x } from "../../packages/storage/src/s3/index.ts";\n' },
      line: "js/mcp/a.ts imports ../../packages/storage/src/s3/index.ts: js/ imports no file outside of it",
    },
    "core depending on fs": {
      files: { "crates/core/Cargo.toml": `${core}filewright-fs.workspace = true\n` },
      line: "crates/core depends on crates/fs",
    },
    "core depending on a binding": {
      files: { "crates/core/Cargo.toml": `${core}napi-derive = "3"\n` },
      line: "crates/core depends on napi-derive",
    },
    "core depending on the system on one platform": {
      files: { "crates/core/Cargo.toml": `[target.'cfg(unix)'.dependencies]\nrustix = { version = "1" }\n` },
      line: "crates/core depends on rustix",
    },
  };
  it.each(Object.entries(cases))("%s", async (name, { files, line }) => {
    const { findForbiddenDependencies } = await import("../../scripts/arrows.mjs");
    expect(findForbiddenDependencies(checkout(name, files))).toEqual([line]);
  });

  it("nothing in this checkout", async () => {
    const { findForbiddenDependencies } = await import("../../scripts/arrows.mjs");
    expect(findForbiddenDependencies(root)).toEqual([]);
  });
});

describe("the table of rooms", () => {
  const files = {
    "js/low/a.ts": "export const a = 1;\n",
    "js/high/b.ts": 'export { a } from "../low/a.ts";\n',
  };
  const fresh = { low: [], high: ["low"] };
  const cases: Record<string, { table: Record<string, readonly string[]>; fault?: string }> = {
    "may be as the folders are": { table: fresh },
    "must not name a room that does not exist": {
      table: { ...fresh, web: [] },
      fault: "there is no room web",
    },
    "must name every room": { table: { low: [] }, fault: "the room high has no row" },
    "must not let a room import one that it does not": {
      table: { other: [], ...fresh, high: ["low", "other"] },
      fault: "the row of high names other, which it does not import",
    },
    "must not let a room import one below it": {
      table: { high: ["low"], low: [] },
      fault: "the row of high names low, which does not stand above it",
    },
    "must not let a room import itself": {
      table: { low: ["low"], high: ["low"] },
      fault: "the row of low names low, which does not stand above it",
    },
  };
  it.each(Object.entries(cases))("%s", async (name, { table, fault }) => {
    const { roomFaults } = await import("../../scripts/arrows.mjs");
    const made = checkout(`rooms ${name}`, "other" in table ? { ...files, "js/other/c.ts": "" } : files);
    expect(roomFaults(made, table)).toEqual(fault === undefined ? [] : [`scripts/arrows.mjs: ${fault}`]);
  });

  it("fits the folders of this checkout", async () => {
    const { roomFaults } = await import("../../scripts/arrows.mjs");
    expect(roomFaults(root)).toEqual([]);
  });

  it("has a fresh copy in biome.json, and a changed copy is found", async () => {
    const { hasFreshRooms } = await import("../../scripts/arrows.mjs");
    const text = readFileSync(join(root, "biome.json"), "utf8");
    expect(hasFreshRooms(root, JSON.parse(text))).toBe(true);
    expect(hasFreshRooms(root, JSON.parse(text.replace("{schema,diff,", "{diff,")))).toBe(false);
    const without = JSON.parse(text);
    without.overrides.pop();
    expect(hasFreshRooms(root, without)).toBe(false);
  });
});

describe("scripts/lib/circles.mjs finds", () => {
  const cases: Record<string, { files: Record<string, string>; line: string }> = {
    "files that import each other's types": {
      files: {
        "js/tools/a.ts": 'import type { B } from "./b.ts";\n',
        "js/tools/b.ts": 'import type { A } from "./a.ts";\n',
      },
      line: "js/tools/a.ts, js/tools/b.ts import one another",
    },
    "folders that import each other": {
      files: {
        "js/engine/a.ts": 'import { b } from "../tools/b.ts";\n',
        "js/engine/c.ts": "export const c = 1;\n",
        "js/tools/b.ts": 'export { c } from "../engine/c.ts";\n',
      },
      line: "js/engine, js/tools import one another",
    },
    "modules of a crate that use each other through different files": {
      files: {
        "crates/core/src/lib.rs": "mod a;\nmod b;\n",
        "crates/core/src/a/mod.rs": "mod deep;\npub fn inner() {}\n",
        "crates/core/src/a/deep.rs": "use crate::b::B;\n",
        "crates/core/src/b.rs": "pub struct B;\npub fn b() { super::a::inner(); }\n",
      },
      line: "crates/core/src/a, crates/core/src/b import one another",
    },
  };
  it.each(Object.entries(cases))("%s", async (name, { files, line }) => {
    const { importCircles } = await import("../../scripts/lib/circles.mjs");
    expect(importCircles(checkout(`circle ${name}`, files))).toEqual([line]);
  });

  it("no circle where an import on demand leads back", async () => {
    const { importCircles } = await import("../../scripts/lib/circles.mjs");
    const made = checkout("no circle", {
      "js/engine/a.ts": 'export const load = () => import("./b.ts");\n',
      "js/engine/b.ts": 'import { load } from "./a.ts";\n',
    });
    expect(importCircles(made)).toEqual([]);
  });

  it("no circle in this checkout", async () => {
    const { importCircles } = await import("../../scripts/lib/circles.mjs");
    expect(importCircles(root)).toEqual([]);
  });
});

/** A crate with a folder `room` of the modules a, b and others; `files` are below that folder. */
const crateWithRoom = (files: Record<string, string>) => ({
  "crates/core/src/lib.rs": "pub mod room;\n",
  ...Object.fromEntries(Object.entries(files).map(([path, text]) => [`crates/core/src/room/${path}`, text])),
});

/** Returns what the check prints for a crate, with `room/` for the path of its folder. */
async function circlesInRoom(name: string, files: Record<string, string>): Promise<string[]> {
  const { importCircles } = await import("../../scripts/lib/circles.mjs");
  const lines: string[] = importCircles(checkout(`room ${name}`, { ...crateWithRoom(files) }));
  return lines.map((line) => line.replaceAll("crates/core/src/room/", ""));
}

describe("a circle of Rust files is found when", () => {
  const cases: Record<string, Record<string, string>> = {
    "both name each other in use": {
      "mod.rs": "mod a;\nmod b;\n",
      "a.rs": "use super::b::B;\npub struct A(B);\n",
      "b.rs": "use crate::room::a::A;\npub struct B(Option<Box<A>>);\n",
    },
    "one goes through pub use of the parent": {
      "mod.rs": "mod a;\nmod b;\npub use a::A;\n",
      "a.rs": "use super::b::B;\npub struct A(B);\n",
      "b.rs": "use super::A;\npub struct B(Option<Box<A>>);\n",
    },
    "one goes through two pub use, a new name and a star": {
      "mod.rs": "mod a;\nmod b;\nmod face;\npub use face::*;\n",
      "face.rs": "pub use super::a::A as First;\n",
      "a.rs": "use super::b::B;\npub struct A(B);\n",
      "b.rs": "pub struct B(Option<Box<crate::room::First>>);\n",
    },
    "one names the other only inside of a function": {
      "mod.rs": "mod a;\nmod b;\n",
      "a.rs": "use super::b;\npub fn a() { b::b() }\n",
      "b.rs": "pub fn b() { if false { super::a::a() } }\n",
    },
    "one is a module in braces": {
      "mod.rs": "mod a;\nmod b;\n",
      "a.rs": "pub fn a() {}\nmod inner { pub fn c() { super::super::b::b() } }\n",
      "b.rs": "use super::{a::{self, a as other}};\npub fn b() { other(); a::a() }\n",
    },
    "a macro defines the item": {
      "mod.rs": "mod a;\nmod b;\n",
      "a.rs": "use super::b::B;\nwire! { pub struct A { b: B } }\n",
      "b.rs": "use super::a::A;\npub struct B(Option<Box<A>>);\n",
    },
  };
  it.each(Object.entries(cases))("%s", async (name, files) => {
    expect(await circlesInRoom(name, files)).toEqual(["a.rs, b.rs import one another"]);
  });
});

describe("no circle of Rust files is found when", () => {
  const cases: Record<string, Record<string, string>> = {
    "the way back is in a test": {
      "mod.rs": "mod a;\nmod b;\n",
      "a.rs": "use super::b::B;\npub struct A(B);\n",
      "b.rs":
        "pub struct B;\n#[cfg(test)]\nmod tests { use crate::room::a::A; }\n#[cfg(test)]\nuse super::a::A;\n",
    },
    "the way back is in a comment, a string or the link of a doc comment": {
      "mod.rs": "mod a;\nmod b;\n",
      "a.rs": "use super::b::B;\npub struct A(B);\n",
      "b.rs": '/// See [`A`](super::a::A).\n/* super::a::A */\npub const B: &str = r#"super::a::A"#;\n',
    },
    "a child uses what its parent defines": {
      "mod.rs": "mod a;\npub struct Parent;\npub fn run() { a::a() }\n",
      "a.rs": "use super::Parent;\npub fn a() -> Parent { Parent }\n",
    },
    "the parent only exports both": {
      "mod.rs": "mod a;\nmod b;\npub use a::A;\npub use b::B;\n",
      "a.rs": "pub struct A;\n",
      "b.rs": "use super::A;\npub struct B(A);\n",
    },
    "a name is of another crate": {
      "mod.rs": "mod a;\nmod b;\n",
      "a.rs": "use super::b::B;\npub struct A(B);\n",
      "b.rs": "use other::a::A;\npub struct B(A);\n",
    },
  };
  it.each(Object.entries(cases))("%s", async (name, files) => {
    expect(await circlesInRoom(name, files)).toEqual([]);
  });
});
