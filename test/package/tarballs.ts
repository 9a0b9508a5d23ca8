/** The npm tarballs of this checkout, with the addon of this platform alone. */
import { execFileSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { platformName } from "../../scripts/lib/platform.mjs";
import { inputsFingerprint } from "../../scripts/lib/stale.mjs";

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

/** Where the tarballs of the last test are kept, since packing takes 20 seconds of a processor. */
const KEPT = join(root, ".cache/test-tarballs");
/** What the tarballs are made of. */
const SOURCES = [
  ...["js", "scripts", "dist/native", "dist/wasm", "package.json", "package-lock.json"],
  ...["README.md", "LICENSE"],
  ...["src", "package.json", "README.md"].map((name) => `packages/storage/${name}`),
];

/**
 * Packs the checkout, as a release does, into a new temporary folder, which the caller removes. Packs nothing
 * if a test before did, and no source has changed since.
 */
export function packedTarballs(): string {
  const stamp = join(KEPT, "sources.txt");
  if (!existsSync(stamp) || readFileSync(stamp, "utf8") !== inputsFingerprint(SOURCES)) {
    rmSync(KEPT, { recursive: true, force: true });
    execFileSync(process.execPath, [join(root, "scripts/release/pack.mjs"), "--output", KEPT], {
      stdio: ["ignore", "ignore", "inherit"],
    });
    // Packing builds what is stale.
    writeFileSync(stamp, inputsFingerprint(SOURCES));
  }
  const folder = mkdtempSync(join(tmpdir(), "filewright-tarballs-"));
  for (const name of readdirSync(KEPT).filter((one) => one.endsWith(".tgz")))
    copyFileSync(join(KEPT, name), join(folder, name));
  return folder;
}
