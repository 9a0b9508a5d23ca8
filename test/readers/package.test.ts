import { expect, it } from "vitest";
import { MemoryBackend, openWorkspace, registerReader } from "../../js/index.node.ts";
import { loadOptionalPackage } from "../../js/readers/refuse.ts";

it("a package that is not installed is named, with the command that installs it", async () => {
  const name = "filewright-package-that-nobody-has";
  const remove = registerReader("application/pdf", async ({ mime }) => {
    await loadOptionalPackage(name, mime, () => import(/* @vite-ignore */ name));
    return { text: "" };
  });
  const backend = new MemoryBackend({ "/w/a.pdf": "%PDF-1.7\n" });
  const ws = await openWorkspace({ root: "/w", backend });
  const { ok, text, error } = await ws.call("read_file", { path: "a.pdf" });
  remove();
  await ws.close();
  expect(ok).toBe(false);
  expect(text).toContain(`needs the optional package ${name}, which is not installed; npm install ${name}`);
  expect(error).toMatchObject({
    code: "UNSUPPORTED_FORMAT",
    details: { reason: "missing_package", package: name },
  });
});
