/** The package that would be published, checked by the tools for packages. */
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { compilerScript } from "../../scripts/lib/run.mjs";
import { findTarballs } from "../../scripts/release/channels/tarballs.mjs";
import { packedTarballs } from "./tarballs.ts";

const root = resolve(import.meta.dirname, "../..");
/** The entries that a package exports. */
const exportsOf = (folder: string): readonly string[] =>
  Object.keys(JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8")).exports);

/** Compiled modules for whoever loads one by hand: bytes have no types. */
const BYTES = ["./filewright.wasm", "./filewright-edit.wasm"];

/** Entries that a plain server of Node imports; the others need an SDK or a browser. */
const IMPORTED = [
  ...["", "/access", "/backends", "/content", "/diff", "/edit", "/engine", "/hooks", "/presets"],
  ...["/files", "/readers", "/storage", "/testing", "/workspace"],
].map((entry) => `filewright${entry}`);
/** The entries of the storages. */
const STORAGES = ["@filewright/storage/postgres", "@filewright/storage/s3"];

/**
 * The options in which the projects differ that compile against the package with TypeScript 7. TypeScript 6 takes four
 * times as long, and compiles the same declarations in types.test.ts.
 */
const PROJECTS = [
  { module: "nodenext", lib: ["es2022"] },
  { module: "node16", lib: ["es2022", "dom", "dom.iterable"] },
  { module: "esnext", moduleResolution: "bundler", lib: ["es2022"] },
  { module: "esnext", moduleResolution: "bundler", lib: ["es2022", "dom", "dom.iterable"] },
] as const;

describe("the packages as they are packed", () => {
  let dir = "";
  let packed = { main: "", storage: "" };
  beforeAll(() => {
    dir = packedTarballs();
    packed = findTarballs(dir);
  }, 120_000);
  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  test("strict projects compile against it, with and without the DOM, by each resolution of modules", () => {
    const project = join(dir, "project");
    const modules = join(project, "node_modules");
    for (const scope of ["@types", "@filewright"]) mkdirSync(join(modules, scope), { recursive: true });
    for (const [name, tarball] of [
      ["filewright", packed.main],
      ["@filewright/storage", packed.storage],
    ] as const) {
      run("tar", "-xzf", tarball, "-C", modules);
      renameSync(join(modules, "package"), join(modules, name));
    }
    for (const name of ["@types/node", "undici-types"])
      symlinkSync(join(root, "node_modules", name), join(modules, name), "junction");
    writeFileSync(join(project, "package.json"), '{"type":"module"}');
    const entries = [...IMPORTED, ...STORAGES];
    const imports = entries.map((entry, at) => `import * as e${at} from "${entry}";`);
    const all = `export const all = [${entries.map((_, at) => `e${at}`).join(", ")}];`;
    writeFileSync(join(project, "server.ts"), [...imports, all].join("\n"));
    const strict = {
      ...{ noEmit: true, strict: true, skipLibCheck: false, preserveSymlinks: true },
      ...{ types: ["node"], target: "es2022" },
    };
    const said = PROJECTS.map((options) => {
      const compilerOptions = { ...strict, ...options };
      writeFileSync(
        join(project, "tsconfig.json"),
        JSON.stringify({ compilerOptions, files: ["server.ts"] }),
      );
      return { ...options, said: run(process.execPath, compilerScript, "-p", project) };
    });
    expect(said).toEqual(PROJECTS.map((options) => ({ ...options, said: [0, "", ""] })));
  }, 300_000);

  const PACKAGES = [
    ["filewright", "main", "."],
    ["@filewright/storage", "storage", "packages/storage"],
  ] as const;

  test.each(PACKAGES)(
    "attw: every entry of %s has its types, for Node and for bundlers",
    (_, name, folder) => {
      const [status, said] = run(
        join(root, "node_modules/.bin/attw"),
        packed[name],
        ...["--profile", "esm-only", "--no-definitely-typed", "--format", "json"],
        ...["--exclude-entrypoints", ...BYTES],
      );
      const { entrypoints, problems } = JSON.parse(said).analysis as {
        readonly entrypoints: object;
        readonly problems: readonly { readonly resolutionKind?: string }[];
      };
      // Of the ways that this profile leaves out, `require` and Node 10, nothing is promised.
      const left = ["node10", "node16-cjs"];
      expect(problems.filter(({ resolutionKind = "" }) => !left.includes(resolutionKind))).toEqual([]);
      expect(Object.keys(entrypoints).sort()).toEqual(
        exportsOf(folder)
          .filter((entry) => !BYTES.includes(entry))
          .sort(),
      );
      expect(status).toBe(0);
    },
  );

  test.each(PACKAGES)("publint: nothing to say of %s", (_, name) => {
    const [status, said] = run(join(root, "node_modules/.bin/publint"), "run", packed[name], "--strict");
    expect(said).toContain("All good!");
    expect(status).toBe(0);
  });
});

test("the API pages are made of the built declarations without a warning", () => {
  // typedoc.json makes an error of each warning: a type that users meet and no page has, a wrong link.
  const typedoc = join(root, "node_modules/.bin/typedoc");
  const [status, , warnings] = run(typedoc, "--emit", "none", "--readme", "none");
  expect(warnings).toBe("");
  expect(status).toBe(0);
}, 300_000);

/** Runs a program in the checkout: how it ended, what it printed, and what on standard error. */
function run(command: string, ...args: readonly string[]): readonly [number | null, string, string] {
  const shell = process.platform === "win32";
  const done = spawnSync(command, args, { cwd: root, encoding: "utf8", shell, maxBuffer: 64 << 20 });
  if (done.error !== undefined) throw done.error;
  return [done.status, done.stdout, done.stderr];
}
