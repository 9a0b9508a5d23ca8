/**
 * A program that uses the local disk, bundled by the commands and the configuration files of
 * docs/guides/bundling.md and run by Node from the folder of the output; and what tools find that copy
 * only the files of a program.
 */
import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { guideCommands, guideFile } from "./guide.ts";
import { addon, home, lastLine, platformPackage, prepare, project, run, SERVED } from "./prepare.ts";

const why = prepare();
/** Loads a package that npm has installed for the tests. */
const installed = (name: string): unknown => {
  expect(why).toBeUndefined();
  return createRequire(join(home, "package.json"))(name);
};
/** Writes a file of the guide into the project and returns its path. */
const written = (name: string): string => {
  writeFileSync(join(project, name), guideFile(name));
  return join(project, name);
};
const runCommand = (command: string) => {
  const done = run("sh", ["-c", command]);
  expect(done.status, done.stdout + done.stderr).toBe(0);
  return done;
};
const runBundle = (file: string, env: Record<string, string> = {}) => run(process.execPath, [file], env);
/** Runs a bundle with the addon, and with the WebAssembly engine, which is read from the installed package. */
const expectServed = (file: string) => {
  expect(lastLine(runBundle(file))).toEqual(SERVED);
  const wasm = runBundle(file, { FILEWRIGHT_ENGINE: "wasm" });
  expect(lastLine(wasm)).toEqual({ ...SERVED, kind: "wasm" });
};

describe("esbuild", () => {
  const formats = guideCommands("esbuild").map((command) => {
    const [, format = "", file = ""] = /--format=(\S+) --outfile=(\S+)/u.exec(command) ?? [];
    return { format, file, command };
  });

  it("both formats are in the guide", () => {
    expect(formats.map(({ format }) => format)).toEqual(["esm", "cjs"]);
  });

  it.for(formats)("$format", ({ file, command }) => {
    expect(runCommand(command).stderr).not.toMatch(/warning|error/iu);
    expectServed(file);
  });

  it.for(formats)("$format, moved to where there are no packages", ({ file, command }) => {
    runCommand(command);
    const dir = mkdtempSync(join(tmpdir(), "filewright-bundle-"));
    try {
      const moved = join(dir, file.replaceAll("/", "-"));
      renameSync(join(project, file), moved);
      expect(lastLine(runBundle(moved, { FILEWRIGHT_ENGINE: addon }))).toEqual(SERVED);
      expect(runBundle(moved).stderr).toContain(platformPackage);
    } finally {
      rmSync(dir, { recursive: true });
    }
  });
});

describe("webpack", () => {
  type Stats = { readonly toString: (kind: string) => string };
  const build = async (config: object): Promise<string> => {
    const webpack = installed("webpack") as (
      config: object,
      done: (error: Error | null, stats: Stats) => void,
    ) => void;
    const stats = await new Promise<Stats>((resolve, reject) => {
      // To make the bundle small takes ten times as long as to make it.
      const whole = { ...config, context: project, optimization: { minimize: false } };
      webpack(whole, (error, made) => (error ? reject(error) : resolve(made)));
    });
    return stats.toString("errors-warnings");
  };
  const read = async () =>
    (
      (await import(/* @vite-ignore */ pathToFileURL(written("webpack.config.mjs")).href)) as {
        readonly default: object;
      }
    ).default;

  it("CommonJS", async () => {
    expect(await build(await read())).toMatch(/^webpack [\d.]* ?compiled successfully/u);
    expectServed("out/webpack.cjs");
  });

  it("ES modules", async () => {
    const output = { path: join(project, "out"), filename: "webpack.mjs", module: true };
    const more = { experiments: { outputModule: true }, output };
    expect(await build({ ...(await read()), ...more })).toMatch(/^webpack [\d.]* ?compiled successfully/u);
    expectServed("out/webpack.mjs");
  });
});

it("Rollup, as ES modules and as CommonJS", () => {
  written("rollup.config.mjs");
  const [command = ""] = guideCommands("rollup");
  runCommand(`${command} --silent`);
  for (const file of ["out/rollup.mjs", "out/rollup.cjs"]) expectServed(file);
});

it.for([{}, { ssr: { noExternal: true } }])("Vite for servers, with %j", (config) => {
  writeFileSync(join(project, "vite.config.mjs"), `export default ${JSON.stringify(config)};`);
  const [command = ""] = guideCommands("vite");
  runCommand(command);
  expectServed("dist/server.js");
});

it("a tracer of files finds the addon, and the WebAssembly module with what loads it", async () => {
  const { nodeFileTrace } = installed("@vercel/nft") as {
    nodeFileTrace(files: string[], options: object): Promise<{ readonly fileList: ReadonlySet<string> }>;
  };
  const { fileList } = await nodeFileTrace([join(project, "server.mjs")], { base: home });
  expect([...fileList]).toEqual(
    expect.arrayContaining([
      `node_modules/${platformPackage}/package.json`,
      relative(home, addon),
      "node_modules/filewright/package.json",
      "node_modules/filewright/dist/wasm/filewright.cjs",
      "node_modules/filewright/dist/wasm/filewright_bg.wasm",
    ]),
  );
});
