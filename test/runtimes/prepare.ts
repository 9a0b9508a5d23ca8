/**
 * Installs bundlers and runtimes in `.cache/runtimes` of the checkout, and
 * puts the scene there, with what is published of this checkout as the package
 * `filewright`. Nothing is installed again while `package.json` in this folder stays as it is.
 */
import { cpSync, existsSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { platformName } from "../../scripts/lib/platform.mjs";
import { installed } from "../package/installed.ts";

const root = resolve(import.meta.dirname, "../..");
/** Where they are. */
export const home: string = join(root, ".cache/runtimes");

/** Installs. Undefined when all is there, else what npm had to say. */
export function prepare(): string | undefined {
  const why = installed(join(import.meta.dirname, "package.json"), home);
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
export const addon: string = join(root, `dist/native/filewright.${platformName()}.node`);
