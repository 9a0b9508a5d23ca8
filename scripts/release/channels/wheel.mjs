// Builds the Python wheels from the npm tarballs of a release: one with the addon per platform, and one
// without any, which pip chooses where no other fits.
//
//   node scripts/release/channels/wheel.mjs TARBALLS OUT [PLATFORM…]
//
// Each PLATFORM is the name of an addon (linux-x64-gnu) or `any`; without one, `any` and every addon in the
// folder TARBALLS are taken. Needs python3 with venv; setuptools comes from PyPI into .cache/wheel.
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { BuildError, root, runAndWait, runScript } from "../../lib/run.mjs";
import { findTarballs, installTarballs } from "./tarballs.mjs";

/**
 * The platform tag of the wheel for each addon. The Linux ones name the C library that the addon is linked
 * against, and Node's own wheels may need a later one, which pip finds out from their tags.
 */
export const WHEEL_TAG_BY_PLATFORM = {
  "linux-x64-gnu": "manylinux_2_17_x86_64",
  "linux-arm64-gnu": "manylinux_2_17_aarch64",
  "linux-x64-musl": "musllinux_1_2_x86_64",
  "linux-arm64-musl": "musllinux_1_2_aarch64",
  "darwin-x64": "macosx_11_0_x86_64",
  "darwin-arm64": "macosx_11_0_arm64",
};

const SOURCES = join(import.meta.dirname, "python");
const ENVIRONMENT = join(root, ".cache/wheel");

/** The hook of build front ends (PEP 517), in the folder of `pyproject.toml`. */
const BUILD = `import os, sys
from setuptools import build_meta
os.chdir(sys.argv[1])
build_meta.build_wheel(sys.argv[2])`;

/** Returns the Python of an environment that has the pinned setuptools. */
function preparedPython() {
  const python = join(ENVIRONMENT, "bin/python");
  const requirements = join(SOURCES, "requirements.txt");
  const stamp = join(ENVIRONMENT, ".installed");
  const wanted = readFileSync(requirements, "utf8");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) return python;
  rmSync(ENVIRONMENT, { recursive: true, force: true });
  runAndWait("python3", ["-m", "venv", ENVIRONMENT]);
  runAndWait(python, ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", requirements]);
  writeFileSync(stamp, wanted);
  return python;
}

/** Builds the wheel of one platform in the folder `out`. */
function buildWheel(tarballs, platform, out) {
  const tag = WHEEL_TAG_BY_PLATFORM[platform];
  if (tag === undefined && platform !== "any") throw new BuildError(`there is no wheel for ${platform}`);
  const source = mkdtempSync(join(tmpdir(), "filewright-wheel-"));
  try {
    cpSync(SOURCES, source, { recursive: true });
    writeFileSync(join(source, "VERSION"), tarballs.version);
    installTarballs(tarballs, platform === "any" ? [] : [platform], join(source, "filewright"));
    for (const licence of ["LICENSE", "dist/THIRD-PARTY.txt"])
      cpSync(
        join(source, "filewright/node_modules/filewright", licence),
        join(source, licence.split("/").at(-1)),
      );
    if (tag !== undefined) writeFileSync(join(source, "setup.cfg"), `[bdist_wheel]\nplat_name = ${tag}\n`);
    // The time of every file in the wheel, so that the same tarballs give the same wheel.
    const env = { SOURCE_DATE_EPOCH: "1577836800" };
    runAndWait(preparedPython(), ["-c", BUILD, source, out], { env, capture: true });
  } finally {
    rmSync(source, { recursive: true, force: true });
  }
}

/**
 * Builds wheels in the folder `out`.
 *
 * @param {string} folder the folder of the tarballs
 * @param {string} out
 * @param {readonly string[]} wanted the platforms; all if it is empty
 */
export function buildWheels(folder, out, wanted = []) {
  const tarballs = findTarballs(folder);
  mkdirSync(out, { recursive: true });
  for (const platform of wanted.length > 0 ? wanted : ["any", ...tarballs.addons.keys()])
    buildWheel(tarballs, platform, resolve(out));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await runScript(async () => {
    const [folder, out, ...wanted] = process.argv.slice(2);
    if (folder === undefined || out === undefined)
      throw new BuildError("usage: node scripts/release/channels/wheel.mjs TARBALLS OUT [PLATFORM…]");
    buildWheels(folder, out, wanted);
  });
}
