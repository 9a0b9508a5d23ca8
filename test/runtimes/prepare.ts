/**
 * Installs bundlers, test runners and runtimes in `.cache/runtimes` of the checkout, and puts the scene
 * there. The package `filewright` and the addon's package are unpacked from tarballs, as npm would install
 * them. Nothing is installed again while `package.json` in this folder stays as it is.
 */
import { execFileSync, spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { expect } from "vitest";
import { installed } from "../package/installed.ts";
import { packedTarballs, platform } from "../package/tarballs.ts";

const root = resolve(import.meta.dirname, "../..");
/** Where they are. */
export const home: string = join(root, ".cache/runtimes");
/** Where the programs of the scene are, and where the guide's commands run. */
export const project: string = join(home, "scene");
const modules: string = join(home, "node_modules");
/** The name of the package of the addon for this machine. */
export const platformPackage: string = `@filewright/native-${platform}`;

/** Installs. Undefined when all is there, else what npm had to say. */
export function prepare(): string | undefined {
  const why = installed(join(import.meta.dirname, "package.json"), home);
  unpackPackages(modules);
  rmSync(project, { recursive: true, force: true });
  cpSync(join(import.meta.dirname, "scene"), project, { recursive: true });
  return why;
}

/**
 * Packs the packages of this checkout and unpacks them into a folder `node_modules`, unless it holds those
 * of the same build.
 */
export function unpackPackages(modules: string): void {
  const build = readdirSync(join(root, "dist"), { recursive: true, encoding: "utf8" })
    .map((name) => join(root, "dist", name))
    .concat(["package.json", "scripts/release/modules.mjs"].map((name) => join(root, name)))
    .reduce((newest, path) => Math.max(newest, statSync(path).mtimeMs), 0);
  const stamp = join(modules, "filewright/.packed");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === String(build)) return;
  const tarballs = packedTarballs();
  rmSync(join(modules, "@filewright"), { recursive: true, force: true });
  for (const file of readdirSync(tarballs)) {
    const name = nameOfTarball(file);
    const target = join(modules, name);
    rmSync(target, { recursive: true, force: true });
    mkdirSync(target, { recursive: true });
    execFileSync("tar", ["-xzf", join(tarballs, file), "-C", target, "--strip-components=1"]);
  }
  rmSync(tarballs, { recursive: true });
  writeFileSync(stamp, String(build));
}

/** Returns the name of the package in a tarball. */
function nameOfTarball(file: string): string {
  if (file.startsWith("filewright-native-")) return platformPackage;
  return file.startsWith("filewright-storage-") ? "@filewright/storage" : "filewright";
}

const PLACES = {
  bun: ["@oven/bun-linux-x64/bin/bun", "@oven/bun-linux-aarch64/bin/bun", "@oven/bun-darwin-aarch64/bin/bun"],
  deno: ["@deno/linux-x64-glibc/deno", "@deno/linux-arm64-glibc/deno", "@deno/darwin-arm64/deno"],
  "node-20": ["node-20/bin/node"],
  "node-22": ["node-22/bin/node"],
  "node-24": ["node-24/bin/node"],
  workerd: [
    "@cloudflare/workerd-linux-64/bin/workerd",
    "@cloudflare/workerd-linux-arm64/bin/workerd",
    "@cloudflare/workerd-darwin-arm64/bin/workerd",
  ],
} as const;

/** The program of a runtime that npm brought for this machine; undefined where it has none. */
export function program(name: keyof typeof PLACES): string | undefined {
  return PLACES[name].map((place) => join(modules, place)).find((path) => existsSync(path));
}

/** The file of the addon, in the installed package. */
export const addon: string = join(modules, platformPackage, `filewright.${platform}.node`);

/** What a program printed. */
export interface Printed {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs a program, by default in the folder of the scene. Its environment holds `env`, a home folder and the
 * path of the installed commands, and nothing that a developer's shell has set.
 */
export function run(
  command: string,
  args: readonly string[],
  env: Record<string, string> = {},
  cwd: string = project,
): Printed {
  const path = [join(modules, ".bin"), join(root, "node_modules/.bin"), process.env["PATH"] ?? ""];
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd,
    encoding: "utf8",
    timeout: 280_000,
    env: { PATH: path.join(":"), HOME: join(home, "home"), NO_COLOR: "1", ...env },
  });
  if (error !== undefined) throw error;
  return { status, stdout, stderr };
}

/** What the scene `server` prints where the addon works. */
export const SERVED: { readonly kind: string; readonly answers: readonly unknown[] } = {
  kind: "native",
  answers: [
    "Created src/a.ts (2 lines, 31 bytes)",
    "1\tconst näh = 1;\n2\tconst b = 2;",
    "src/a.ts:1:const näh = 1;",
    expect.stringMatching(/^Edited src\/a\.ts: 1 replacements?\n.*-const b = 2;\n\+const b = 3;$/su),
    "const näh = 1;\r\nconst b = 3;\r\n",
    "const näh = 1;\r\nconst b = 2;\r\n",
    "OUTSIDE_ALLOWED",
  ],
};

/** The last line that a program printed, as JSON. */
export function lastLine({ stdout, stderr }: Printed): unknown {
  const last = stdout.trim().split("\n").at(-1) ?? "";
  // A stack shows the line of a bundle, which can hold all of it.
  expect(last, stderr.slice(-1_000)).toMatch(/^\{/u);
  return JSON.parse(last);
}
