// Writes server.json, the entry of Filewright in the registry of MCP servers, for the files of a release.
//
//   node scripts/release/channels/server-json.mjs FILES OUT
//
// FILES is the folder with the npm tarball and the MCP bundle, whose hash is in the entry. Publishing it
// (`mcp-publisher publish`) needs the packages to be published already, because the registry looks for its
// name in each: `mcpName` in package.json, `mcp-name:` in the description of the wheel, a label of the image.
import { createHash } from "node:crypto";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { BuildError, runScript } from "../../lib/run.mjs";
import { bundleName } from "./mcpb.mjs";
import { findTarballs } from "./tarballs.mjs";

/** The version of the format. */
const SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json";
const REPOSITORY = "https://github.com/filewright/filewright";

/** The container image of a version. */
export const imageName = (version) => `ghcr.io/filewright/filewright:${version}`;

/** The arguments after the name of the package: the command of the server, and directories. */
const ARGUMENTS = [
  { type: "positional", value: "mcp" },
  {
    type: "positional",
    valueHint: "directory",
    description: "A directory that the tools can read and change",
    format: "filepath",
    isRequired: true,
    isRepeated: true,
  },
];

/** The arguments of `docker run`. The server needs no network, and reaches one directory of the host. */
const CONTAINER_ARGUMENTS = [
  { type: "named", name: "--network", value: "none" },
  {
    type: "named",
    name: "--volume",
    value: "{directory}:/repo",
    isRequired: true,
    variables: {
      directory: {
        description: "The directory that the tools can read and change",
        format: "filepath",
        isRequired: true,
      },
    },
  },
];

/**
 * Returns the entry of a version.
 *
 * @param {{ version: string, mcpName: string }} npm the manifest of the npm package
 * @param {string} bundleSha256 of the MCP bundle
 */
export function serverJson({ version, mcpName }, bundleSha256) {
  const transport = { type: "stdio" };
  return {
    $schema: SCHEMA,
    name: mcpName,
    title: "Filewright",
    description: "File tools confined to the directories you name: search, exact edits, patches, undo.",
    repository: { url: REPOSITORY, source: "github" },
    version,
    packages: [
      {
        registryType: "npm",
        identifier: "filewright",
        version,
        runtimeHint: "npx",
        transport,
        packageArguments: ARGUMENTS,
      },
      {
        registryType: "pypi",
        identifier: "filewright",
        version,
        runtimeHint: "uvx",
        transport,
        packageArguments: ARGUMENTS,
      },
      {
        registryType: "oci",
        identifier: imageName(version),
        runtimeHint: "docker",
        transport,
        runtimeArguments: CONTAINER_ARGUMENTS,
      },
      {
        registryType: "mcpb",
        identifier: `${REPOSITORY}/releases/download/v${version}/${bundleName(version)}`,
        version,
        fileSha256: bundleSha256,
        transport,
      },
    ],
  };
}

/**
 * Writes the entry for the files of a release.
 *
 * @param {string} folder the folder with the npm tarball and the MCP bundle
 * @param {string} out
 */
export function writeServerJson(folder, out) {
  const { version, main } = findTarballs(folder);
  const npm = JSON.parse(execFileSync("tar", ["-xzOf", main, "package/package.json"], { encoding: "utf8" }));
  const bundle = readFileSync(join(folder, bundleName(version)));
  const entry = serverJson(npm, createHash("sha256").update(bundle).digest("hex"));
  mkdirSync(dirname(out), { recursive: true });
  writeFileSync(out, `${JSON.stringify(entry, null, 2)}\n`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await runScript(async () => {
    const [folder, out] = process.argv.slice(2);
    if (folder === undefined || out === undefined)
      throw new BuildError("usage: node scripts/release/channels/server-json.mjs FILES OUT");
    writeServerJson(folder, out);
  });
}
