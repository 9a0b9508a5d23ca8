/** The files that `npm publish` would upload; every promised entry is there and loads. */
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { OPTIONAL_PACKAGES } from "../../js/schema/optional-packages.ts";
import { SIGNER } from "../../packages/storage/src/s3/request.ts";
import { problemsOfContents } from "../../scripts/release/contents.mjs";

const root = resolve(import.meta.dirname, "../..");
const manifest = JSON.parse(readFileSync(`${root}/package.json`, "utf8")) as {
  readonly name: string;
  readonly bin: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta: Readonly<Record<string, { readonly optional: boolean }>>;
  readonly version: string;
  readonly scripts: Readonly<Record<string, string>>;
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
};

// Without the builds that `prepack` makes.
const pack = execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
  cwd: root,
  encoding: "utf8",
  stdio: ["ignore", "pipe", "ignore"],
  shell: process.platform === "win32",
});
const published = new Set((JSON.parse(pack)[0].files as { path: string }[]).map(({ path }) => path));

/** The files in dist/wasm are made by `npm run build:wasm` alone. */
const wasmBuilt = existsSync(`${root}/dist/wasm/filewright_bg.wasm`);

const targets = Object.entries(manifest.exports).flatMap(([entry, target]) =>
  (typeof target === "string" ? [["default", target] as const] : Object.entries(target)).map(
    ([condition, file]) => ({ entry, condition, file: file.replace("./", "") }),
  ),
);

describe("the published package", () => {
  it("holds what it has to, and nothing else", () => {
    const problems = problemsOfContents([...published], manifest);
    expect(problems.filter((problem) => wasmBuilt || !problem.startsWith("dist/wasm/"))).toEqual([]);
  });

  it("holds no addon: those are packages of their own", () => {
    expect([...published].filter((file) => file.endsWith(".node"))).toEqual([]);
  });

  it("starts its command without any package installed", () => {
    const commands = readdirSync(`${root}/dist/bin`).filter((file) => file.endsWith(".js"));
    const specifiers = commands.flatMap((file) => imported(readFileSync(`${root}/dist/bin/${file}`, "utf8")));
    const foreign = specifiers.filter((name) => !/^(\.|node:)/.test(name) && !builtinModules.includes(name));
    const optional = ["sharp", "unpdf", "yaml", "@opentelemetry/api", "aws4fetch"];
    expect(foreign.filter((name) => !optional.includes(name))).toEqual([]);
    expect(readFileSync(`${root}/dist/THIRD-PARTY.txt`, "utf8")).toMatch(
      /@modelcontextprotocol\/server .*[\s\S]*zod /u,
    );
  });

  it("runs nothing when installed, and installs nothing else", () => {
    expect(Object.keys(manifest.scripts).filter((name) => /install|prepare/.test(name))).toEqual([]);
    expect(manifest.dependencies ?? {}).toEqual({});
  });
});

describe("every entry loads by its public name", () => {
  const entries = [...new Set(targets.map(({ entry }) => entry))].filter(
    (entry) => !/\.(json|wasm)$/.test(entry),
  );
  it.each(entries)("%s", (entry) => {
    const name = entry.replace(".", manifest.name);
    const script = `const m = await import(${JSON.stringify(name)}); console.log(Object.keys(m).length);`;
    const said = execFileSync(process.execPath, ["--input-type=module", "-e", script], {
      cwd: root,
      encoding: "utf8",
    });
    expect(Number(said)).toBeGreaterThan(0);
  });

  it("types come first in every entry", () => {
    const wrong = Object.entries(manifest.exports).filter(
      ([, target]) => typeof target !== "string" && Object.keys(target)[0] !== "types",
    );
    expect(wrong).toEqual([]);
  });

  it("stands in docs/reference/entries.md", () => {
    const page = readFileSync(`${root}/docs/reference/entries.md`, "utf8");
    const left = entries.filter((entry) => !page.includes(`\`${entry.replace(".", manifest.name)}\``));
    expect(left).toEqual([]);
  });

  it("has a page in the API docs", () => {
    const { entryPoints } = JSON.parse(readFileSync(`${root}/typedoc.json`, "utf8")) as {
      readonly entryPoints: readonly string[];
    };
    const typed = targets.filter(({ condition }) => condition === "types").map(({ file }) => file);
    const stored = ["postgres", "s3"].map((name) => `packages/storage/dist/${name}/index.d.ts`);
    expect(entryPoints).toEqual([...typed, ...stored]);
  });
});

describe("entries for other runtimes reach nothing of Node's", () => {
  const others = targets.filter(({ condition }) => condition === "browser" || condition === "default");
  const modules = others.filter(({ file }) => file.endsWith(".js"));
  it.each([...new Set(modules.map(({ file }) => file))])("%s", (file) => {
    expect(reached(`${root}/${file}`).filter((specifier) => specifier.startsWith("node:"))).toEqual([]);
  });
});

/** Every specifier that a built module imports, directly or not. */
function reached(start: string): readonly string[] {
  const seen = new Set<string>();
  const found: string[] = [];
  const queue = [start];
  for (let file = queue.pop(); file !== undefined; file = queue.pop()) {
    if (seen.has(file) || !existsSync(file)) continue;
    seen.add(file);
    const code = readFileSync(file, "utf8").replaceAll(/\/\*[\s\S]*?\*\//g, "");
    for (const [, specifier = ""] of code.matchAll(/\bfrom\s*["']([^"']+)["']/g)) {
      found.push(specifier);
      if (specifier.startsWith(".")) queue.push(resolve(file, "..", specifier));
    }
  }
  return found;
}

/** Returns the imports of a bundled file, static and dynamic. */
function imported(code: string): readonly string[] {
  return [...code.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*"([@a-z][^"\s]*|\.[^"\s]*)"/g)].map(
    ([, name = ""]) => name,
  );
}

describe("packages of others", () => {
  const versionsIn = (file: string) =>
    JSON.parse(readFileSync(`${root}/${file}`, "utf8")) as {
      readonly dependencies?: Readonly<Record<string, string>>;
      readonly devDependencies?: Readonly<Record<string, string>>;
    };
  const lowest = {
    ...versionsIn("test/sdks/lowest.json").dependencies,
    ...versionsIn("test/package/peers/lowest.json").dependencies,
    // Compiled and run in test/installed/beside.slow.test.ts.
    ai: "5.0.0",
  };
  const highest = {
    ...versionsIn("package.json").devDependencies,
    ...versionsIn("test/sdks/package.json").dependencies,
  };
  const storage = JSON.parse(readFileSync(`${root}/packages/storage/package.json`, "utf8"));
  /** The peers of this package from others; its own storages are one more, in the version of this package. */
  const foreign = [...Object.keys(OPTIONAL_PACKAGES), "react", "vue"];
  const peers = ["@filewright/storage", ...foreign].sort();
  const tested = [...new Set([...foreign, "aws4fetch"])];
  const sdks = Object.keys(versionsIn("test/sdks/package.json").dependencies ?? {});

  it("are peers where this package imports them, in any version, and none has to be installed", () => {
    // Another range, also `>=0`, makes npm refuse this package beside versions before a release.
    expect(manifest.peerDependencies).toEqual(Object.fromEntries(peers.map((name) => [name, "*"])));
    const optional = Object.fromEntries(peers.map((name) => [name, { optional: true }]));
    expect(manifest.peerDependenciesMeta).toEqual(optional);
    expect(manifest.dependencies ?? {}).toEqual({});
  });

  it("are peers of the storages, which work with this version of the package alone", () => {
    expect(storage.version).toBe(manifest.version);
    expect(storage.peerDependencies).toEqual({ filewright: manifest.version, aws4fetch: "*", pg: "*" });
    expect(storage.peerDependenciesMeta).toEqual({ aws4fetch: { optional: true }, pg: { optional: true } });
    expect(storage.dependencies ?? {}).toEqual({});
  });

  it("are imported in js by the names of the peers alone, beside those that are bundled", () => {
    const bundled = /^(?:@modelcontextprotocol\/|jose$|zod$)/u;
    const files = readdirSync(`${root}/js`, { recursive: true, encoding: "utf8" }).filter((file) =>
      /^(?!review\/page).*\.ts$/u.test(file),
    );
    const names = files.flatMap((file) => {
      const code = readFileSync(`${root}/js/${file}`, "utf8");
      return imported(code.replaceAll(/\/\*[\s\S]*?\*\//gu, ""));
    });
    const foreign = names.filter((name) => !/^(?:\.|node:)/u.test(name) && !bundled.test(name));
    expect(new Set(foreign.filter((name) => !peers.includes(name)))).toEqual(new Set());
  });

  const page = readFileSync(`${root}/docs/dependencies.md`, "utf8");
  const rows = [...page.matchAll(/^\| (\S+) \| .* \| (\S+) \| (\S+) \|$/gmu)].map(([, name, from, to]) => ({
    name,
    from,
    to,
  }));

  it.each([...tested, ...sdks.filter((name) => !name.startsWith("@types/") && name !== "zod")])(
    "%s stands in the table of tested versions",
    (name) => {
      expect(rows).toContainEqual({ name, from: lowest[name as "ai"], to: highest[name] });
    },
  );

  it.each([...Object.entries(OPTIONAL_PACKAGES), [SIGNER.name, SIGNER] as const])(
    "%s is told to be too old below the lowest",
    (name, { least }) => {
      expect(least).toBe(lowest[name as "ai"]);
    },
  );
});
