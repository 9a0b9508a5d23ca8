/**
 * Installs bundlers and runtimes beside the checkout, in `.cache/runtimes`, and
 * puts the scene there, with what is published of this checkout as the package
 * `filewright`. Nothing is installed again while `package.json` in this folder stays as it is.
 */
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { platform } from "../../scripts/lib/platform.mjs";

const root = resolve(import.meta.dirname, "../..");
/** Where they are. */
export const home: string = join(root, ".cache/runtimes");

/** Installs. Undefined when all is there, else what npm had to say. */
export function prepare(): string | undefined {
  const why = install();
  // A copy, as npm would put it there: without the optional packages of the checkout.
  const copy = join(home, "node_modules/filewright");
  rmSync(copy, { recursive: true, force: true });
  const wanted = (path: string) => !/[\\/]dist[\\/](native|bin|mcp|cli)$/.test(path);
  cpSync(join(root, "dist"), join(copy, "dist"), { recursive: true, filter: wanted });
  cpSync(join(root, "package.json"), join(copy, "package.json"));
  rmSync(join(home, "scene"), { recursive: true, force: true });
  cpSync(join(import.meta.dirname, "scene"), join(home, "scene"), { recursive: true });
  return why;
}

function install(): string | undefined {
  const manifest = readFileSync(join(import.meta.dirname, "package.json"), "utf8");
  const stamp = join(home, ".installed");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === manifest) return undefined;
  mkdirSync(home, { recursive: true });
  rmSync(join(home, "package-lock.json"), { force: true });
  writeFileSync(join(home, "package.json"), manifest);
  const args = ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  const { status, stderr } = spawnSync("npm", args, {
    cwd: home,
    encoding: "utf8",
    shell: process.platform === "win32",
  });
  if (status !== 0) return `npm install failed: ${stderr.trim().split("\n").slice(0, 3).join(" ")}`;
  writeFileSync(stamp, manifest);
  return undefined;
}

const PLACES = {
  bun: ["@oven/bun-linux-x64/bin/bun", "@oven/bun-linux-aarch64/bin/bun", "@oven/bun-darwin-aarch64/bin/bun"],
  deno: ["@deno/linux-x64-glibc/deno", "@deno/linux-arm64-glibc/deno", "@deno/darwin-arm64/deno"],
  workerd: [
    "@cloudflare/workerd-linux-64/bin/workerd",
    "@cloudflare/workerd-linux-arm64/bin/workerd",
    "@cloudflare/workerd-darwin-arm64/bin/workerd",
  ],
} as const;

/** The program of a runtime that npm brought for this machine; undefined where it has none. */
export function program(name: keyof typeof PLACES): string | undefined {
  return PLACES[name].map((place) => join(home, "node_modules", place)).find((path) => existsSync(path));
}

/** The addon of the checkout, for runtimes that can load one. */
export const addon: string = join(root, `dist/native/filewright.${platform()}.node`);
