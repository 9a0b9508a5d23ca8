/** The MCP bundle, packed from the tarballs, unpacked, and started as a client starts it. */
import { createRequire } from "node:module";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildBundle, bundleManifest, MCPB, TOOLS_HOME } from "../../scripts/release/channels/mcpb.mjs";
import { holdSession } from "../../scripts/release/channels/session.mjs";
import { manifest, packedTarballs, platform } from "./tarballs.ts";

/** The part of mcpb's library that a client uses: the command line for the values that a person entered. */
interface McpbLibrary {
  getMcpConfigForManifest(options: object): Promise<{ command: string; args: string[] }>;
  hasRequiredConfigMissing(options: object): boolean;
}

/** Packing and an installation by npm. A limit against a hang. */
const PREPARATION_MS = 300_000;
const home = mkdtempSync(join(tmpdir(), "filewright-mcpb-test-"));
const unpacked = join(home, "unpacked");
const mcpb = (...args: readonly string[]): string =>
  execFileSync(process.execPath, [MCPB, ...args], { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });

describe("the MCP bundle", () => {
  let bundle = "";
  beforeAll(() => {
    const tarballs = packedTarballs();
    try {
      bundle = buildBundle(tarballs, home);
    } finally {
      rmSync(tarballs, { recursive: true });
    }
    mcpb("unpack", bundle, unpacked);
  }, PREPARATION_MS);
  afterAll(() => rmSync(home, { recursive: true, force: true }));

  test("its manifest is valid, and has the version of the package", () => {
    expect(bundle).toBe(join(home, `filewright-${manifest.version}.mcpb`));
    expect(mcpb("validate", join(unpacked, "manifest.json"))).toContain("Manifest schema validation passes!");
    expect(JSON.parse(readFileSync(join(unpacked, "manifest.json"), "utf8"))).toEqual(
      bundleManifest(manifest),
    );
  });

  test("it has the addon, and both WebAssembly modules", () => {
    const modules = join(unpacked, "node_modules");
    for (const file of [
      `@filewright/native-${platform}/filewright.${platform}.node`,
      "filewright/dist/wasm/filewright_bg.wasm",
      "filewright/dist/wasm/filewright_edit_bg.wasm",
      "filewright/dist/THIRD-PARTY.txt",
      "filewright/LICENSE",
    ])
      expect(existsSync(join(modules, file)), file).toBe(true);
  });

  test("a client starts it with the directories that a person chose", async () => {
    const { getMcpConfigForManifest, hasRequiredConfigMissing } = createRequire(
      join(TOOLS_HOME, "package.json"),
    )("@anthropic-ai/mcpb") as McpbLibrary;
    const written = JSON.parse(readFileSync(join(unpacked, "manifest.json"), "utf8")) as object;
    expect(hasRequiredConfigMissing({ manifest: written, userConfig: {} })).toBe(true);
    const commandFor = (directories: readonly string[]) =>
      getMcpConfigForManifest({
        manifest: written,
        extensionPath: unpacked,
        systemDirs: {},
        userConfig: { directories },
        pathSeparator: "/",
      });
    const both = await commandFor(["/one", "/with a blank"]);
    expect([both.command, ...both.args.slice(1)]).toEqual(["node", "mcp", "/one", "/with a blank"]);
    const served = await holdSession((directory) => [process.execPath, ...both.args.slice(0, -2), directory]);
    expect(served.version).toBe(manifest.version);
    expect(served.tools).toEqual(expect.arrayContaining(["read_file", "grep", "edit_file", "undo"]));
    expect(served.access).toMatch(/^Engine: native/mu);
    expect([served.read, served.written]).toEqual([expect.stringContaining("served"), "written\n"]);
  });
});
