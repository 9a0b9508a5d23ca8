import { describe, expect, it } from "vitest";
import { MemoryBackend, openWorkspace, registerReader, type ToolResult } from "../../js/index.node.ts";
import { loadOptionalPackage } from "../../js/readers/refuse.ts";
import {
  importRequired,
  OPTIONAL_PACKAGES,
  type OptionalPackageName,
} from "../../js/schema/optional-packages.ts";

const names = Object.keys(OPTIONAL_PACKAGES) as OptionalPackageName[];

/** Reads a file of a kind whose reader needs a package, which `load` imports. */
async function readWith(name: OptionalPackageName, load: () => Promise<object>): Promise<ToolResult> {
  const remove = registerReader("application/pdf", async ({ mime }) => {
    await loadOptionalPackage(name, mime, load);
    return { text: "read" };
  });
  const backend = new MemoryBackend({ "/w/a.pdf": "%PDF-1.7\n" });
  const ws = await openWorkspace({ root: "/w", backend });
  const result = await ws.call("read_file", { path: "a.pdf" }).finally(remove);
  await ws.close();
  return result;
}

describe.each(names)("the optional package %s", (name) => {
  const { least, exports } = OPTIONAL_PACKAGES[name];
  const [major] = least.split(".");

  it("is named with the command that installs it when it is missing", async () => {
    const missing = "filewright-package-that-nobody-has";
    const { text, error } = await readWith(name, () => import(/* @vite-ignore */ missing));
    expect(text).toContain(`needs the optional package ${name}, which is not installed; npm install ${name}`);
    expect(error).toMatchObject({
      code: "UNSUPPORTED_FORMAT",
      details: { reason: "missing_package", package: name },
    });
  });

  it("is named with the version that works when it is too old", async () => {
    const { text, error } = await readWith(name, async () => ({ other: 1 }));
    expect(text).toContain(`too old: ${least} or later is needed; npm install ${name}@${major}`);
    expect(error?.details).toMatchObject({ reason: "old_package", package: name });
    await expect(importRequired(name, async () => ({}))).rejects.toMatchObject({
      code: "UNSUPPORTED_OPERATION",
      message: expect.stringContaining(least),
      hint: `npm install ${name}@${major}`,
    });
  });

  it("is used when its exports are its own or those of its default", async () => {
    const module = Object.fromEntries(exports.map((one) => [one, {}]));
    expect((await readWith(name, async () => module)).ok).toBe(true);
    if (!exports.includes("default"))
      expect((await readWith(name, async () => ({ default: module }))).ok).toBe(true);
  });

  it("has these exports in the version that the tests use", async () => {
    const module = await importRequired(name, () => import(/* @vite-ignore */ name) as Promise<object>);
    expect(module).toBeDefined();
  });
});
