/**
 * The entry for the registry of MCP servers obeys the registry's rules for each kind of package, and the packages
 * have the name by which the registry knows that they belong to the entry.
 */
import { createHash } from "node:crypto";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { MCP_OPTIONS } from "../../js/mcp/command.ts";
import { parseCommandLine } from "../../js/schema/command-line.node.ts";
import { imageLabels } from "../../scripts/release/channels/image.mjs";
import { serverJson, writeServerJson } from "../../scripts/release/channels/server-json.mjs";
import { manifest } from "./tarballs.ts";

const root = resolve(import.meta.dirname, "../..");
const HASH = "0123456789abcdef".repeat(4);
const entry = serverJson(manifest, HASH);

/** A package of the entry, with the fields of all kinds. */
interface Package {
  readonly registryType: string;
  readonly identifier: string;
  readonly transport: { readonly type: string };
  readonly version?: string;
  readonly fileSha256?: string;
  readonly runtimeHint?: string;
  readonly packageArguments?: readonly Argument[];
  readonly runtimeArguments?: readonly Argument[];
}
interface Argument {
  readonly type: string;
  readonly name?: string;
  readonly value?: string;
  readonly valueHint?: string;
  readonly variables?: Readonly<Record<string, object>>;
}

const packages = entry.packages as readonly Package[];
const packageOf = (type: string): Package =>
  packages.find(({ registryType }) => registryType === type) as Package;

describe("server.json", () => {
  test("its fields have the form that the registry demands", () => {
    expect(entry.$schema).toMatch(
      /^https:\/\/static\.modelcontextprotocol\.io\/schemas\/\d{4}-\d\d-\d\d\/server\.schema\.json$/u,
    );
    expect(entry.name).toMatch(/^io\.github\.[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/u);
    expect(entry.description.length).toBeLessThanOrEqual(100);
    expect(entry.version).toBe(manifest.version);
    expect(Object.keys(entry).sort()).toEqual(
      ["$schema", "description", "name", "packages", "repository", "title", "version"].sort(),
    );
    // The name belongs to whoever owns the repository.
    const owner = /^https:\/\/github\.com\/([^/]+)\/[^/]+$/u.exec(entry.repository.url)?.[1];
    expect(entry.name).toMatch(new RegExp(`^io\\.github\\.${owner}/`, "u"));
  });

  test("every package is offered once, and speaks over standard input and output", () => {
    expect(packages.map(({ registryType }) => registryType)).toEqual(["npm", "pypi", "oci", "mcpb"]);
    for (const { transport } of packages) expect(transport).toEqual({ type: "stdio" });
  });

  test.each(["npm", "pypi"])("%s: the version, and arguments that start the server", (type) => {
    const { identifier, version, fileSha256, packageArguments = [] } = packageOf(type);
    expect([identifier, version, fileSha256]).toEqual(["filewright", manifest.version, undefined]);
    for (const { type: kind, value, valueHint } of packageArguments)
      expect([kind, value ?? valueHint]).toEqual(["positional", expect.any(String)]);
    const [command, ...rest] = packageArguments.map(({ value, valueHint }) => value ?? `/${valueHint}`);
    expect(command).toBe("mcp");
    expect(parseCommandLine(rest, MCP_OPTIONS).positionals).toEqual(["/directory"]);
  });

  test("oci: the version is in the name alone, and a directory of the host is mounted", () => {
    const { identifier, version, fileSha256, runtimeArguments = [] } = packageOf("oci");
    expect(identifier).toBe(`ghcr.io/filewright/filewright:${manifest.version}`);
    expect([version, fileSha256]).toEqual([undefined, undefined]);
    const mounted = runtimeArguments.find(({ name }) => name === "--volume");
    expect(mounted?.value).toBe("{directory}:/repo");
    expect(Object.keys(mounted?.variables ?? {})).toEqual(["directory"]);
  });

  test("mcpb: a file of a release on GitHub, with its hash", () => {
    const { identifier, fileSha256 } = packageOf("mcpb");
    const { version } = manifest;
    expect(identifier).toBe(
      `${entry.repository.url}/releases/download/v${version}/filewright-${version}.mcpb`,
    );
    expect(fileSha256).toBe(HASH);
  });

  test("the name is in package.json, in the description of the wheel and in a label of the image", () => {
    expect(manifest.mcpName).toBe("io.github.filewright/filewright");
    expect(entry.name).toBe(manifest.mcpName);
    const description = readFileSync(join(root, "scripts/release/channels/python/README.md"), "utf8");
    expect(/mcp-name: (\S+)(?=\s)/u.exec(description)?.[1]).toBe(entry.name);
    expect(imageLabels(manifest)["io.modelcontextprotocol.server.name"]).toBe(entry.name);
  });

  test("it is written for the files of a release", () => {
    const folder = mkdtempSync(join(tmpdir(), "filewright-server-json-"));
    try {
      const bundle = Buffer.from("a bundle");
      writeFileSync(join(folder, `filewright-${manifest.version}.mcpb`), bundle);
      execFileSync(
        "tar",
        [
          "-czf",
          join(folder, `filewright-${manifest.version}.tgz`),
          "--transform=s,^,package/,",
          "package.json",
        ],
        { cwd: root },
      );
      writeFileSync(join(folder, `filewright-storage-${manifest.version}.tgz`), "");
      writeServerJson(folder, join(folder, "server.json"));
      const hash = createHash("sha256").update(bundle).digest("hex");
      expect(JSON.parse(readFileSync(join(folder, "server.json"), "utf8"))).toEqual(
        serverJson(manifest, hash),
      );
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
