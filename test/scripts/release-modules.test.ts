/** The modules of the tarball: what the entries export, what they load, and what bundlers find in them. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, posix, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { build, type BuildOptions } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bundledModules } from "../../scripts/release/modules.mjs";
import { releaseTargets } from "../../scripts/release/targets.mjs";

const root = resolve(import.meta.dirname, "../..");
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
  readonly sideEffects: readonly string[];
};
const hasWasm = existsSync(join(root, "dist/wasm/filewright.js"));

/** The package in a folder of packages. */
const project = mkdtempSync(join(tmpdir(), "filewright-modules-"));
const home = join(project, "node_modules/filewright");
afterAll(() => rmSync(project, { recursive: true }));

let files: ReadonlyMap<string, string> = new Map();

const targets = Object.entries(manifest.exports).flatMap(([entry, target]) =>
  Object.entries(typeof target === "string" ? { default: target } : target).map(([condition, path]) => ({
    entry,
    condition,
    path: path.replace("./", ""),
  })),
);
const scripts = targets.filter(({ path }) => path.endsWith(".js"));

describe.skipIf(!hasWasm && process.env["CI"] !== "true")("the modules of the tarball", () => {
  beforeAll(async () => {
    const bundled = await bundledModules(manifest);
    files = bundled.files;
    for (const [path, code] of files) {
      mkdirSync(dirname(join(home, path)), { recursive: true });
      writeFileSync(join(home, path), code);
    }
    writeFileSync(
      join(home, "package.json"),
      JSON.stringify({ ...manifest, sideEffects: bundled.sideEffects }),
    );
    for (const copied of ["dist/wasm", "dist/review/page"])
      symlinkSync(join(root, copied), join(home, copied), "junction");
    for (const peer of ["react", "vue"])
      symlinkSync(join(root, "node_modules", peer), join(project, "node_modules", peer), "junction");
  }, 120_000);

  const nodeEntries = [
    ...new Set(scripts.filter(({ condition }) => condition !== "workerd").map(({ path }) => path)),
  ];
  it.each(nodeEntries.filter((path) => !path.endsWith("workers/worker.js")))(
    "%s exports what it did",
    async (path) => {
      const [before, after] = await Promise.all(
        [root, home].map((base) => import(pathToFileURL(join(base, path)).href)),
      );
      expect(Object.keys(after as object).sort()).toEqual(Object.keys(before as object).sort());
    },
  );

  const elsewhere = scripts.filter(({ condition }) => /^(?:browser|workerd)$/u.test(condition));
  it.each([...new Set(elsewhere.map(({ path }) => path))])("%s loads no module of Node", (path) => {
    const specifiers = [...reached(path)].flatMap((one) => importedBy(one));
    expect(specifiers.filter((name) => name.startsWith("node:"))).toEqual([]);
  });

  it.each([
    ["filewright/edit", 9700],
    ["filewright/diff", 16_230],
    ["filewright/engine", 17_100],
  ])("a page that uses %s alone downloads at most %i bytes", async (name, limit) => {
    const code = await bundle(`export * from "${name}";`, { platform: "browser" });
    expect(gzipSync(code, { level: 9 }).length).toBeLessThanOrEqual(limit);
  });

  it.each([
    ["dist/filewright.node.js", 28, 570],
    ["dist/engine/edit-entry.node.js", 13, 54],
    ["dist/adapters/ai-sdk.js", 20, 415],
  ])("%s loads at most %i files of %i kB together", (path, most, kilobytes) => {
    const loaded = [...reached(path)];
    expect(loaded.length).toBeLessThanOrEqual(most);
    const bytes = loaded.reduce((sum, one) => sum + Buffer.byteLength(files.get(one) ?? ""), 0);
    expect(bytes / 1000).toBeLessThanOrEqual(kilobytes);
  });

  it("the elements use the scripts of the review page, which the package has once", () => {
    const importing = [...files].filter(([, code]) => code.includes('review/page/shared.js"'));
    expect(importing.length).toBe(1);
    expect(gzipSync(importing[0]?.[1] ?? "").length).toBeLessThan(12_000);
  });

  it("a page has of an entry only what it uses", async () => {
    const code = await bundle('export { FilewrightError } from "filewright";', { platform: "browser" });
    expect(code.length).toBeLessThan(2000);
  });

  it("a bundle for Node keeps what an import of the entry alone does", async () => {
    const code = await bundle('import { openWorkspace } from "filewright"; openWorkspace("/x");', {
      platform: "node",
    });
    expect(code).toContain("@filewright/native-linux-x64-gnu");
  });

  it("classes have their names", async () => {
    const { FilewrightError, SandboxViolation } = await import(
      pathToFileURL(join(home, "dist/filewright.node.js")).href
    );
    expect([FilewrightError.name, SandboxViolation.name]).toEqual(["FilewrightError", "SandboxViolation"]);
  });

  it("the packages of addons are required by literal names", () => {
    const code = [...files.values()].find((one) => one.includes('"@filewright/native-')) ?? "";
    // The name that the minifier gave to `requirePackage`, and how tracers of files recognise it.
    const [, name] = /(\w+)\("@filewright\/native-/u.exec(code) ?? [];
    expect(code).toContain(`${name}=module.createRequire(`);
    for (const { platform } of releaseTargets())
      expect(code).toContain(`${name}("@filewright/native-${platform}")`);
  });

  it("addresses of files are literal and lead to a file", () => {
    const addresses = [...files].flatMap(([path, code]) =>
      [...code.matchAll(/new URL\("(\.[^"]+)",import\.meta\.url\)|"(\.\.\/\.\.\/dist\/[^"$]+)"/gu)].map(
        ([, url, required]) => posix.join(posix.dirname(path), (url ?? required) as string),
      ),
    );
    expect(addresses.sort()).toEqual([
      "dist/bin/filewright.js",
      "dist/engine/workers/worker.js",
      "dist/wasm/filewright.cjs",
      "dist/wasm/filewright_bg.wasm",
      "dist/wasm/filewright_edit_bg.wasm",
    ]);
    expect(addresses.filter((path) => !existsSync(join(home, path)))).toEqual([]);
  });

  it("the code around the WebAssembly module is required as tracers of files recognise it", () => {
    const code = [...files.values()].find((one) => one.includes('"../../dist/wasm/filewright.cjs"')) ?? "";
    const [, name] = /(\w+)\("\.\.\/\.\.\/dist\/wasm\/filewright\.cjs"/u.exec(code) ?? [];
    expect(code).toContain(`${name}=module.createRequire(`);
  });

  it("what workers import by name is at its path", () => {
    const sources = readdirSync(join(root, "js"), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts"))
      .filter((name) =>
        readFileSync(join(root, "js", name), "utf8").includes("export const answerInWorker = ("),
      );
    expect(sources).not.toEqual([]);
    const built = sources.map((name) => `dist/${name.replaceAll("\\", "/").replace(/\.ts$/u, ".js")}`);
    expect(built.filter((path) => !files.has(path))).toEqual([]);
  });

  it("webpack leaves the optional packages alone", () => {
    const ignored = [...files.values()].flatMap((code) => [
      ...code.matchAll(/import\(\s*\/\*\s*webpackIgnore: true\s*\*\/\s*"([^"]+)"\s*\)/gu),
    ]);
    expect(ignored.map(([, name]) => name).sort()).toEqual(["unpdf", "unpdf", "yaml"]);
  });
});

/** Returns the specifiers of the static imports of a module. */
const importedBy = (path: string): readonly string[] =>
  [...(files.get(path) ?? "").matchAll(/(?:\bfrom|\bimport)"([^"]+)"/gu)].map(([, name]) => name as string);

/** Returns the modules that a module loads. */
function reached(entry: string): ReadonlySet<string> {
  const found = new Set([entry]);
  for (const path of found) {
    for (const name of importedBy(path))
      if (name.startsWith(".")) found.add(posix.join(posix.dirname(path), name));
  }
  return found;
}

/** Returns the code of a program that is bundled in the project. */
async function bundle(code: string, options: BuildOptions): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: code, resolveDir: project },
    bundle: true,
    minify: true,
    write: false,
    format: "esm",
    target: "es2023",
    external: ["sharp", "unpdf", "yaml", "@opentelemetry/api"],
    logLevel: "silent",
    ...options,
  });
  return outputFiles?.[0]?.text ?? "";
}
