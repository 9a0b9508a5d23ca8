/** The scripts of the test pages, bundled by esbuild from the sources, with the built module in the same directory. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { build, type Plugin } from "esbuild";
import type { Files } from "./server.ts";

const root = resolve(import.meta.dirname, "../..");
const wasm = `${root}/dist/wasm`;

/** The module's own JavaScript is generated: it stands in dist, whoever imports it. */
const generated: Plugin = {
  name: "generated",
  setup({ onResolve }) {
    onResolve({ filter: /\/wasm\/[^/]+\.js$/ }, ({ path, importer }) =>
      existsSync(resolve(dirname(importer), path)) ? null : { path: `${wasm}/${basename(path)}` },
    );
  },
};

const PAGE = `<!doctype html><html lang="en"><meta charset="utf-8"><title>tests</title><link rel="icon" href="/icon.svg">`;

/** Bundles pages of `test/browser/pages`: each is served as `<name>.html` and `<name>.js`. */
export async function bundled(...names: readonly string[]): Promise<Files> {
  const files: Record<string, string | Uint8Array> = {};
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: names.map((name) => `test/browser/pages/${name}.ts`),
    bundle: true,
    write: false,
    outdir: "out",
    platform: "browser",
    format: "esm",
    target: "es2023",
    charset: "utf8",
    logLevel: "error",
    // Optional peers, which are loaded only where they are installed.
    external: ["sharp", "unpdf", "yaml", "@opentelemetry/api"],
    plugins: [generated],
  });
  for (const { path, contents } of outputFiles) files[basename(path)] = contents;
  files["icon.svg"] = '<svg xmlns="http://www.w3.org/2000/svg"/>';
  for (const name of names) {
    files[`${name}.html`] = `${PAGE}<script type="module" src="${name}.js"></script>`;
  }
  for (const name of readdirSync(wasm)) {
    if (name.endsWith(".wasm")) files[name] = readFileSync(`${wasm}/${name}`);
  }
  return files;
}
