/** The entry for browsers and edge runtimes, run here: nothing before `ready()`, everything after. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, it } from "vitest";
import type * as Web from "../../js/engine/index.ts";
import { describeParity, outcome } from "./engines.ts";

const dist = resolve(import.meta.dirname, "../../dist");
const web: () => Promise<typeof Web> = () => import(/* @vite-ignore */ `${dist}/engine/index.js`);

describeParity("filewright/engine without Node", () => {
  it("says what is missing before it is ready, and works after", async () => {
    const { ready, sha256, diff, glob } = await web();
    expect(await outcome(() => sha256(new Uint8Array(0)))).toMatchObject({ thrown: { code: "INTERNAL" } });

    await expect(ready(new Uint8Array([1, 2, 3]))).rejects.toBeInstanceOf(WebAssembly.CompileError);
    const info = await ready(readFileSync(`${dist}/wasm/filewright_bg.wasm`));
    expect(info.kind).toBe("wasm");
    expect(await ready()).toBe(info);

    expect(sha256(new Uint8Array(0))).toMatch(/^sha256:e3b0c442/);
    expect(diff("a\n", "b\n").added).toBe(1);
    expect(glob("*.ts").matches("src/a.ts")).toBe(true);
  });
});
