import { expect, it } from "vitest";
import { both, describeParity } from "./engines.ts";

const cases: Record<string, Uint8Array> = {
  nothing: new Uint8Array(0),
  text: new TextEncoder().encode("päth\r\n"),
  "every byte": Uint8Array.from({ length: 256 }, (_, i) => i),
  "a megabyte": new Uint8Array(1 << 20).fill(7),
};

describeParity("sha256 is the same on both engines", () => {
  it.each(Object.entries(cases))("%s", async (_, bytes) => {
    const { native, wasm } = await both((engine) => engine.sha256(bytes));
    expect(native).toEqual({ value: expect.stringMatching(/^sha256:[0-9a-f]{64}$/) });
    expect(wasm).toEqual(native);
  });
});
