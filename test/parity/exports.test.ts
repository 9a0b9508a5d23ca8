/** Every function of an engine is exported by name, from every entry that promises it. */
import { expect, it } from "vitest";
import * as native from "../../js/engine/index.node.ts";
import { makeEngine } from "../../js/engine/engine.ts";
import * as wasm from "../../js/engine/wasm-entry.node.ts";
import { describeParity } from "./engines.ts";

const entries: Record<string, Readonly<Record<string, unknown>>> = {
  "filewright/engine": native,
  "filewright/wasm": wasm,
};

/** For the rooms above, reached through `engine()`. */
const internal = [
  ...["info", "compileRules", "compileQuery", "sentQuery", "ignoreRules", "heldIndex"],
  ...["joined", "placeTable", "holdsSecretContent", "gitPathIn", "windows", "outlineOfPatch", "lineHashes"],
  ...["ranking", "outline", "isOutlined"],
];

describeParity("an entry exports the engine's functions", () => {
  it.each(Object.entries(entries))("%s", (_, entry) => {
    const engine = makeEngine({} as Parameters<typeof makeEngine>[0], { kind: "native" });
    const { onThreads, reading, ...functions } = engine;
    const isPublic = (name: string): boolean => !internal.includes(name);
    const later = [onThreads, reading].flatMap((group) => Object.keys(group).filter(isPublic));
    const names = [...Object.keys(functions).filter(isPublic), ...later.map((name) => `${name}Async`)];
    expect(names.filter((name) => typeof entry[name] !== "function")).toEqual([]);
  });

  it("both export the same names", () => {
    expect(Object.keys(wasm).sort()).toEqual(Object.keys(native).sort());
  });

  it("the wasm entry stands beside the engine in use", () => {
    expect(wasm.engine().info.kind).toBe("wasm");
    expect(native.engine().info.kind).toBe("native");
  });
});
