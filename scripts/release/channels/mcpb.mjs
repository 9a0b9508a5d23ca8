// Builds the MCP bundle (.mcpb), which Claude Desktop and other clients install with a click, from the npm
// tarballs of a release.
//
//   node scripts/release/channels/mcpb.mjs TARBALLS OUT
//
// One bundle has the addons of all platforms in the folder TARBALLS: a manifest can name another command per
// operating system but not per processor, and both a person and the registry of servers get one file to
// choose. The Linux addons for musl are left out, since no client with bundles runs there. Each addon adds
// about 3.3 MB. Windows, for which there is no addon, uses the WebAssembly engine, which every bundle has.
// `@anthropic-ai/mcpb` checks the manifest and writes the archive; npm installs it in .cache.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { installNpmHome } from "../../lib/npm-home.mjs";
import { BuildError, root, runAndWait, runScript } from "../../lib/run.mjs";
import { findTarballs, installTarballs, PROGRAM } from "./tarballs.mjs";

/** Where npm installs the programs of a release. */
export const TOOLS_HOME = join(root, ".cache/release-tools");
/** Mcpb's own program. */
export const MCPB = join(TOOLS_HOME, "node_modules/@anthropic-ai/mcpb/dist/cli/cli.js");

/** Installs the programs of a release. */
export function installTools() {
  const why = installNpmHome(join(import.meta.dirname, "tools/package.json"), TOOLS_HOME);
  if (why !== undefined) throw new BuildError(why);
}

/** The file name of the bundle of a version. The registry demands `mcp` in its address. */
export const bundleName = (version) => `filewright-${version}.mcpb`;

/**
 * Returns the manifest of the bundle.
 *
 * @param {{ version: string, description: string, license: string, engines: { node: string } }} npm the
 *   manifest of the npm package
 */
export function bundleManifest(npm) {
  return {
    manifest_version: "0.3",
    name: "filewright",
    display_name: "Filewright",
    version: npm.version,
    description: npm.description,
    author: { name: "The Filewright authors" },
    repository: { type: "git", url: "https://github.com/filewright/filewright" },
    license: npm.license,
    server: {
      type: "node",
      entry_point: PROGRAM,
      mcp_config: {
        command: "node",
        args: [`\${__dirname}/${PROGRAM}`, "mcp", `\${user_config.directories}`],
        env: {},
      },
    },
    tools_generated: true,
    prompts_generated: true,
    compatibility: { platforms: ["darwin", "linux", "win32"], runtimes: { node: npm.engines.node } },
    user_config: {
      directories: {
        type: "directory",
        title: "Directories",
        description:
          "The directories that the tools can read and change. Nothing outside of them is reached.",
        multiple: true,
        required: true,
      },
    },
  };
}

/**
 * Builds the bundle in the folder `out`, and returns its path.
 *
 * @param {string} folder the folder of the tarballs
 * @param {string} out
 */
export function buildBundle(folder, out) {
  const tarballs = findTarballs(folder);
  const platforms = [...tarballs.addons.keys()].filter((platform) => !platform.endsWith("-musl"));
  const bundle = resolve(out, bundleName(tarballs.version));
  const source = mkdtempSync(join(tmpdir(), "filewright-mcpb-"));
  installTools();
  try {
    installTarballs(tarballs, platforms, source);
    const npm = JSON.parse(readFileSync(join(source, "node_modules/filewright/package.json"), "utf8"));
    writeFileSync(join(source, "manifest.json"), `${JSON.stringify(bundleManifest(npm), null, 2)}\n`);
    mkdirSync(out, { recursive: true });
    // Packing checks the manifest first.
    runAndWait(process.execPath, [MCPB, "pack", source, bundle], { capture: true });
  } finally {
    rmSync(source, { recursive: true, force: true });
  }
  return bundle;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await runScript(async () => {
    const [folder, out] = process.argv.slice(2);
    if (folder === undefined || out === undefined)
      throw new BuildError("usage: node scripts/release/channels/mcpb.mjs TARBALLS OUT");
    console.log(buildBundle(folder, out));
  });
}
