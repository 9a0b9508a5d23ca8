/**
 * The same answers in a page that is built by Vite, by webpack, by esbuild in a
 * Worker, or not built at all (the files of the package as a CDN has them). Under a
 * strict policy: no inline script, no eval, nothing from elsewhere.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { beforeAll, expect, it } from "vitest";
import { describeChromium, withChromium } from "../browser/chromium.ts";
import type { Files } from "../browser/server.ts";
import { addon, home, prepare } from "./prepare.ts";

const out = join(home, "pages");
const scene = (name: string) => join(home, "scene", name);

/** Every file below a folder, under the name it is served by. */
function below(folder: string, prefix: string): Record<string, Uint8Array> {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile());
  return Object.fromEntries(
    files.map((path) => [`${prefix}/${relative(folder, path)}`, readFileSync(path)] as const),
  );
}

async function byVite(): Promise<void> {
  const vite = (await installed("vite/dist/node/index.js")) as {
    build(config: object): Promise<unknown>;
  };
  await vite.build({
    root: home,
    configFile: false,
    logLevel: "error",
    base: "/vite/",
    build: {
      target: "esnext",
      outDir: join(out, "vite"),
      emptyOutDir: true,
      rollupOptions: { input: scene("page.mjs"), output: { entryFileNames: "page.js" } },
    },
  });
}

async function byWebpack(): Promise<void> {
  type Stats = { hasErrors(): boolean; toString(options: string): string };
  const { default: webpack } = (await installed("webpack/lib/index.js")) as {
    default(config: object, done: (error: Error | null, stats?: Stats) => void): void;
  };
  const stats = await new Promise<Stats | undefined>((resolve, reject) => {
    const config = {
      mode: "production",
      context: home,
      entry: scene("page.mjs"),
      output: { path: join(out, "webpack"), publicPath: "/webpack/", filename: "page.js" },
      performance: false,
      // To make the bundle small takes ten times as long as to make it; Vite makes its own small.
      optimization: { minimize: false },
    };
    webpack(config, (error, made) => (error === null ? resolve(made) : reject(error)));
  });
  if (stats?.hasErrors() !== false) throw new Error(stats?.toString("errors-only"));
}

async function byEsbuild(): Promise<void> {
  await build({
    entryPoints: [scene("host.mjs"), scene("handed.mjs")],
    outdir: join(out, "esbuild"),
    bundle: true,
    format: "esm",
    target: "es2022",
    loader: { ".wasm": "file" },
    logLevel: "error",
  });
}

const installed = (file: string): Promise<unknown> =>
  import(/* @vite-ignore */ pathToFileURL(join(home, "node_modules", file)).href);

/** The scene as a page without a bundler would write it: names are addresses. */
function asItIs(): Files {
  const addressed = (name: string) =>
    readFileSync(scene(name), "utf8")
      .replace("./play.mjs", "./play.js")
      .replaceAll(
        /"filewright(\/\w+)?"/g,
        (_, entry = "") =>
          `"../package/dist/${{ "": "filewright", "/engine": "engine/index", "/diff": "diff/index", "/edit": "engine/edit-entry", "/workers": "engine/workers/workers" }[entry as string]}.js"`,
      );
  const dist = below(join(home, "node_modules/filewright/dist"), "package/dist");
  const wanted = Object.entries(dist).filter(([name]) => /\.(js|wasm)$/.test(name));
  return {
    ...Object.fromEntries(wanted),
    "plain/page.js": addressed("page.mjs"),
    "plain/play.js": addressed("play.mjs"),
  };
}

const html = (script: string) =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><title>-</title><link rel="icon" href="/icon.svg"><script type="module" src="${script}"></script>`;

const PAGES = {
  Vite: "vite/page.js",
  webpack: "webpack/page.js",
  "esbuild, in a Worker": "esbuild/host.js",
  "no bundler": "plain/page.js",
} as const;

const why = prepare();
const has = (name: string) => existsSync(join(home, "node_modules", name, "package.json"));

// Before the browser starts, whose start has a time limit.
beforeAll(async () => {
  rmSync(out, { recursive: true, force: true });
  await byEsbuild();
  if (has("vite")) await byVite();
  if (has("webpack")) await byWebpack();
}, 300_000);

describeChromium("in Chromium", () => {
  const chromium = withChromium(async () => {
    const pages = Object.values(PAGES).map((script) => [`${script}.html`, html(`/${script}`)] as const);
    return {
      ...asItIs(),
      ...(has("vite") ? below(join(out, "vite"), "vite") : {}),
      ...(has("webpack") ? below(join(out, "webpack"), "webpack") : {}),
      ...below(join(out, "esbuild"), "esbuild"),
      ...Object.fromEntries(pages),
      "icon.svg": '<svg xmlns="http://www.w3.org/2000/svg"/>',
    };
  });

  let native = "";
  beforeAll(() => {
    const said = execFileSync(process.execPath, [scene("main.mjs")], {
      cwd: home,
      encoding: "utf8",
      env: { ...process.env, FILEWRIGHT_ENGINE: addon },
    });
    native = (JSON.parse(said) as { answers: string }).answers;
  });

  it.each(Object.entries(PAGES))("%s", async (name, script) => {
    if (name === "Vite" || name === "webpack") expect(has(name.toLowerCase()), why).toBe(true);
    const { page, complaints } = await chromium.open(`${script}.html`);
    await page.waitForSelector("html[data-done]", { state: "attached" }).catch(() => {
      throw new Error(`the page did not end: ${complaints.join("; ")}`);
    });
    expect(await page.evaluate(() => (globalThis as { answers?: string }).answers)).toBe(native);
    if (!name.startsWith("esbuild")) {
      const workers = await page.evaluate(() => (globalThis as { workers?: object }).workers);
      expect(workers).toEqual({ added: 0, count: 1 });
    }
    expect(complaints).toEqual([]);
  });
});
