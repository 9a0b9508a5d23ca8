/** The npm tarballs of this checkout, with the addon of this platform alone. */
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
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

/** Packs the checkout as it is built into a new temporary folder, which the caller removes. */
export function packedTarballs(): string {
  const folder = mkdtempSync(join(tmpdir(), "filewright-tarballs-"));
  const pack = (source: string): void => {
    const args = ["pack", "--ignore-scripts", "--silent", "--pack-destination", folder];
    execFileSync("npm", args, { cwd: source, stdio: ["ignore", "ignore", "inherit"] });
  };
  pack(root);
  const source = join(folder, "addon");
  const file = `filewright.${platform}.node`;
  mkdirSync(source);
  copyFileSync(join(root, "dist/native", file), join(source, file));
  const name = `@filewright/native-${platform}`;
  writeFileSync(
    join(source, "package.json"),
    JSON.stringify({ name, version: manifest.version, main: file }),
  );
  pack(source);
  rmSync(source, { recursive: true });
  return folder;
}
