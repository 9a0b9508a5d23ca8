/** The npm tarballs of this checkout, with the addon of this platform alone. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { platformName } from "../../scripts/lib/platform.mjs";

const root = resolve(import.meta.dirname, "../..");

/** The manifest of the npm package. */
export const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  readonly version: string;
  readonly description: string;
  readonly license: string;
  readonly engines: { readonly node: string };
  readonly mcpName: string;
};

/** The platform of this machine, as addons name it. */
export const platform: string = platformName();

/** Packs the checkout, as a release does, into a new temporary folder, which the caller removes. */
export function packedTarballs(): string {
  const folder = mkdtempSync(join(tmpdir(), "filewright-tarballs-"));
  execFileSync(process.execPath, [join(root, "scripts/release/pack.mjs"), "--output", folder], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  return folder;
}
