/** The addon of a platform package is found, or the answer says why not and which command mends it. */
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { platformName } from "../../scripts/lib/platform.mjs";
import { releaseTargets } from "../../scripts/release/targets.mjs";
import { VERSION } from "../../js/engine/generated/version.ts";
import { ADDON_PLATFORMS, withoutFolders } from "../../js/engine/native/addon-failure.node.ts";

const root = resolve(import.meta.dirname, "../..");
const home = realpathSync(mkdtempSync(join(tmpdir(), "filewright-load-")));
function glibcVersion(): unknown {
  return (process.report.getReport() as { header?: Record<string, unknown> }).header?.["glibcVersionRuntime"];
}
/** As the scripts find it out, so that these tests fail where the loader finds another. */
const LIBC = platformName().endsWith("-gnu") ? "gnu" : "musl";

/** The loader alone, as an installed package has it: as modules, and bundled to CommonJS. */
beforeAll(async () => {
  for (const [format, extension, define] of [
    ["esm", "mjs", {}],
    ["cjs", "cjs", {}],
    // As webpack does it.
    ["cjs", "moved.cjs", { "import.meta.url": '"file:///where/it/was/built.js"' }],
  ] as const)
    await build({
      stdin: {
        contents: `export { loadNative } from ${JSON.stringify(join(root, "js/engine/load.node.ts"))};`,
        resolveDir: root,
      },
      bundle: true,
      platform: "node",
      format,
      define,
      logLevel: "error",
      logOverride: { "empty-import-meta": "silent" },
      outfile: join(home, `dist/engine/load.${extension}`),
    });
});
afterAll(() => rmSync(home, { recursive: true }));

interface Case {
  /** The main file of each installed package. */
  readonly packages?: Readonly<Record<string, string>>;
  readonly engine?: string;
  /** A line that runs before the loader. */
  readonly before?: string;
  readonly format?: "mjs" | "cjs" | "moved.cjs";
}

/** Loads the addon in a process of its own and returns its word, or the failure. */
function load({ packages = {}, engine, before = "", format = "mjs" }: Case): unknown {
  rmSync(join(home, "node_modules"), { recursive: true, force: true });
  for (const [platform, code] of Object.entries(packages)) {
    const folder = join(home, "node_modules/@filewright", `native-${platform}`);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "package.json"), '{"main":"addon.js"}');
    writeFileSync(join(folder, "addon.js"), code);
  }
  const script = `${before}
    import(${JSON.stringify(join(home, `dist/engine/load.${format}`))}).then(({ loadNative }) => {
      const { binding, failure } = loadNative();
      console.log(JSON.stringify(failure ?? binding.name));
    });`;
  const { FILEWRIGHT_ENGINE: _, ...env } = process.env;
  const { status, stdout, stderr } = spawnSync(process.execPath, ["-e", script], {
    cwd: home,
    env: engine === undefined ? env : { ...env, FILEWRIGHT_ENGINE: engine },
    encoding: "utf8",
  });
  expect(stderr).toBe("");
  expect(status).toBe(0);
  return JSON.parse(stdout);
}

const platform = (os: string, arch: string) =>
  `Object.defineProperty(process, "platform", { value: "${os}" }); Object.defineProperty(process, "arch", { value: "${arch}" });`;
const good = (name: string, version = VERSION) =>
  `module.exports = { name: "${name}", version: () => "${version}" };`;
const failing = (message: string) =>
  `throw Object.assign(new Error(${JSON.stringify(message)}), { code: "ERR_DLOPEN_FAILED" });`;

describe.each(["mjs", "cjs", "moved.cjs"] as const)(
  "the addon of a package, in a bundle of the kind %s",
  (format) => {
    it.each(ADDON_PLATFORMS)("%s", (name) => {
      const [os, arch] = name.split("-") as [string, string];
      expect(load({ format, before: platform(os, arch), packages: { [name]: good(name) } })).toBe(name);
    });

    it("is not loaded when another version is installed", () => {
      expect(
        load({
          format,
          before: platform("darwin", "arm64"),
          packages: { "darwin-arm64": good("x", "0.0.9") },
        }),
      ).toEqual({
        code: "version",
        message: `the addon of the package @filewright/native-darwin-arm64 is of version 0.0.9, filewright of ${VERSION}`,
        remedy: `run: npm install @filewright/native-darwin-arm64@${VERSION}`,
      });
    });
  },
);

describe("the failure says what to do", () => {
  it("where the package is not installed", () => {
    expect(load({ before: platform("darwin", "x64") })).toEqual({
      code: "missing",
      message:
        "the package @filewright/native-darwin-x64 is not installed: optional dependencies were left out " +
        "(--omit=optional, --no-optional), or the lock file was made on another platform (npm/cli#4828)",
      remedy: `run: npm install @filewright/native-darwin-x64@${VERSION}`,
    });
  });

  it("where only the package of another platform is installed", () => {
    const installed = { "darwin-x64": good("x") };
    expect(load({ before: platform("darwin", "arm64"), packages: installed })).toMatchObject({
      code: "missing",
      remedy: `run: npm install @filewright/native-darwin-arm64@${VERSION}`,
    });
  });

  it.each(["win32-x64", "freebsd-x64", "linux-riscv64"])("where there is no package: %s", (name) => {
    const [os, arch] = name.split("-") as [string, string];
    const failure = load({ before: platform(os, arch) }) as { message: string };
    expect(failure).toMatchObject({ code: "unsupported" });
    expect(failure.message).toBe(`there is no native addon for ${name}`);
  });

  it("where the addon does not say its version", () => {
    const installed = { "darwin-x64": "module.exports = {};" };
    expect(load({ before: platform("darwin", "x64"), packages: installed })).toMatchObject({
      code: "version",
      message: `the addon of the package @filewright/native-darwin-x64 is of an older version, filewright of ${VERSION}`,
    });
  });

  it("where the addon is broken", () => {
    const installed = {
      "darwin-x64": failing("dlopen(/Users/a b/node_modules/filewright.node, 0x0001): not a mach-o file"),
    };
    expect(load({ before: platform("darwin", "x64"), packages: installed })).toEqual({
      code: "broken",
      message:
        "the addon of the package @filewright/native-darwin-x64 does not load (dlopen(filewright.node, 0x0001): not a mach-o file)",
      remedy: `run: npm install @filewright/native-darwin-x64@${VERSION}`,
    });
  });

  it("where a file of the package is missing", () => {
    const installed = { "darwin-x64": 'require("./filewright.darwin-x64.node");' };
    expect(load({ before: platform("darwin", "x64"), packages: installed })).toMatchObject({
      code: "broken",
      remedy: `run: npm install @filewright/native-darwin-x64@${VERSION}`,
    });
  });

  it.skipIf(process.platform !== "linux" || LIBC !== "gnu")("where glibc is too old", () => {
    const text =
      "/lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.99' not found (required by /home/u/p/filewright.node)";
    const name = `linux-${process.arch}-gnu`;
    expect(load({ packages: { [name]: failing(text) } })).toEqual({
      code: "libc",
      message: `the addon of the package @filewright/native-${name} needs glibc 2.99, and this system has glibc ${glibcVersion()}`,
      remedy: "use a system with glibc 2.17 or later, or one with musl",
    });
  });

  it.skipIf(process.platform !== "linux" || LIBC !== "gnu")("where only the addon for musl is there", () => {
    const name = `linux-${process.arch}-musl`;
    const text = "libc.musl-x86_64.so.1: cannot open shared object file: No such file or directory";
    expect(load({ packages: { [name]: failing(text) } })).toMatchObject({
      code: "libc",
      remedy: `run: npm install @filewright/native-linux-${process.arch}-gnu@${VERSION}`,
    });
  });
});

describe("FILEWRIGHT_ENGINE", () => {
  it("is wasm", () => {
    expect(load({ engine: "wasm" })).toMatchObject({ code: "disabled", remedy: "unset FILEWRIGHT_ENGINE" });
  });

  it("is the path of a file that does not exist", () => {
    expect(load({ engine: "./none.node" })).toMatchObject({
      code: "missing",
      message: "the file that FILEWRIGHT_ENGINE names does not exist",
    });
  });

  it("is the path of a file that is no addon, relative to the working directory", () => {
    writeFileSync(join(home, "text.node"), "no addon");
    const failure = load({ engine: "./text.node" }) as { message: string };
    expect(failure).toMatchObject({ code: "broken" });
    expect(failure.message).toContain("the addon that FILEWRIGHT_ENGINE names does not load");
    expect(failure.message).not.toContain(dirname(home));
  });

  it.each([
    ["wsam", "FILEWRIGHT_ENGINE is 'wsam' (did you mean 'wasm'?)"],
    ["Nativ", "FILEWRIGHT_ENGINE is 'Nativ' (did you mean 'native'?)"],
    ["/opt/addon.so", "FILEWRIGHT_ENGINE names the file 'addon.so', which does not end in .node"],
  ])("has no meaning: %s", (engine, message) => {
    expect(load({ engine })).toEqual({
      code: "setting",
      message,
      remedy:
        "set FILEWRIGHT_ENGINE to wasm, to native or to the path of a file that ends in .node, or unset it",
    });
  });
});

describe("in a checkout", () => {
  it("the remedy is to build it", () => {
    cpSync(join(root, "Cargo.toml"), join(home, "Cargo.toml"));
    try {
      expect(load({})).toEqual({
        code: "missing",
        message: "this checkout is not built",
        remedy: "run: npm run build",
      });
    } finally {
      rmSync(join(home, "Cargo.toml"));
    }
  });
});

describe("a text without folders", () => {
  it.each([
    [
      "Cannot find module '/a b/c/filewright.node' from '/home/x/y'",
      "Cannot find module 'filewright.node' from 'y'",
    ],
    [
      "\\\\?\\C:\\Users\\a\\x.node is not a valid Win32 application.",
      "x.node is not a valid Win32 application.",
    ],
    ["Cannot find module '../../dist/wasm/x.cjs'", "Cannot find module 'x.cjs'"],
    ["/x/a.node: /lib64/libc.so.6: version `GLIBC_2.34'", "a.node: libc.so.6: version `GLIBC_2.34'"],
    [
      "Cannot find module '@filewright/native-darwin-x64'",
      "Cannot find module '@filewright/native-darwin-x64'",
    ],
  ])("%s", (text, expected) => {
    expect(withoutFolders(text)).toBe(expected);
  });
});

describe("the list of platforms", () => {
  it("is the one that is required by literal names", () => {
    const code = readFileSync(join(root, "js/engine/native/addons.node.ts"), "utf8");
    const required = [...code.matchAll(/requirePackage\("@filewright\/native-([\w-]+)"\)/gu)].map(
      ([, name]) => name,
    );
    expect(required).toEqual(ADDON_PLATFORMS);
  });

  it("is that of the release", () => {
    expect(releaseTargets().map((target) => target.platform)).toEqual(ADDON_PLATFORMS);
  });
});
