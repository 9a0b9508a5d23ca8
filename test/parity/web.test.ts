/** The entry for browsers and edge runtimes, run here: nothing before `ready()`, everything after. */
import { execFileSync } from "node:child_process";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, it } from "vitest";
import { describeParity } from "./engines.ts";

const dist = pathToFileURL(`${resolve(import.meta.dirname, "../../dist")}/`).href;

/** A program of its own, because a test beside this one may have loaded the engine of `dist` already. */
const PROGRAM = `
  import { readFileSync } from "node:fs";
  const { ready, sha256, diff, glob } = await import("${dist}engine/index.js");
  const found = {};
  try { sha256(new Uint8Array(0)); } catch (error) { found.before = error.code; }
  await ready(new Uint8Array([1, 2, 3])).catch((error) => { found.isCompileError = error instanceof WebAssembly.CompileError; });
  const info = await ready(readFileSync(new URL("${dist}wasm/filewright_bg.wasm")));
  found.kind = info.kind;
  found.isSame = (await ready()) === info;
  found.hash = sha256(new Uint8Array(0)).slice(0, 15);
  found.added = diff("a\\n", "b\\n").added;
  found.matches = glob("*.ts").matches("src/a.ts");
  process.stdout.write(JSON.stringify(found));
`;

describeParity("filewright/engine without Node", () => {
  it("says what is missing before it is ready, and works after", () => {
    const out = execFileSync(process.execPath, ["--input-type=module", "-e", PROGRAM], { encoding: "utf8" });
    expect(JSON.parse(out)).toEqual({
      before: "INTERNAL",
      isCompileError: true,
      kind: "wasm",
      isSame: true,
      hash: "sha256:e3b0c442",
      added: 1,
      matches: true,
    });
  });
});
