/** A trap costs one call, not the engine. */
import { createRequire } from "node:module";
import { describe, expect, it } from "vitest";
import { platformTables } from "../../js/engine/wasm/legacy.ts";
import { type Binding, makeEngine } from "../../js/engine/engine.ts";
import { type WasmGlue, guardBinding } from "../../js/engine/wasm/trap.ts";
import { describeParity } from "../parity/engines.ts";

/** `(module (func (export "boom") unreachable) (func (export "seven") (result i32) i32.const 7))` */
const module = new WebAssembly.Module(
  Uint8Array.from(
    [
      [0, 97, 115, 109, 1, 0, 0, 0],
      [1, 8, 2, 96, 0, 0, 96, 0, 1, 127],
      [3, 3, 2, 0, 1],
      [7, 16, 2, 4, 98, 111, 111, 109, 0, 0, 5, 115, 101, 118, 101, 110, 0, 1],
      [10, 10, 2, 3, 0, 0, 11, 4, 0, 65, 7, 11],
    ].flat(),
  ),
);

function load() {
  let instances = 0;
  let exports: WebAssembly.Exports = {};
  let prepared = 0;
  const instantiate = () => {
    instances += 1;
    exports = new WebAssembly.Instance(module).exports;
  };
  instantiate();
  const call = (name: string) => () => (exports[name] as () => unknown)();
  const glue: WasmGlue = {
    boom: call("boom"),
    seven: call("seven"),
    __wbg_reset_state: instantiate,
    usePlatform: () => {
      prepared = instances;
    },
  };
  const binding = guardBinding<Record<string, () => unknown>>(glue, platformTables);
  return { binding, count: () => instances, prepared: () => prepared };
}

describe("after a trap", () => {
  it("the call fails, the instance is new and the next call works", () => {
    const { binding, count, prepared } = load();
    expect(prepared()).toBe(1);
    expect(binding["boom"]).toThrow(WebAssembly.RuntimeError);
    expect(count()).toBe(2);
    // The new instance knows nothing of what the first was told.
    expect(prepared()).toBe(2);
    expect(binding["seven"]?.()).toBe(7);
    expect(count()).toBe(2);
  });
});

describeParity("the module after a trap", () => {
  it("compiles anew what was kept compiled", () => {
    const glue = createRequire(import.meta.url)("../../dist/wasm/filewright.cjs") as WasmGlue;
    const engine = makeEngine(guardBinding<Binding>(glue, platformTables), { kind: "wasm" });
    const total = () => engine.grepText("one\ntwo\n", { pattern: "t.o" }).total;
    expect([total(), total()]).toEqual([1, 1]);
    // What a trap makes of the instance.
    glue.__wbg_reset_state();
    expect(total()).toBe(1);
  });
});
