import { expect, it } from "vitest";
import type { RulesOptions } from "../../js/engine/native/access.ts";
import { both, describeParity } from "./engines.ts";

const paths = [
  "/w",
  "/w/.env",
  "/w/a/.env",
  "/w/.git/hooks/x",
  "/w/.git/config",
  "/w/a/b.key",
  "/o/.env",
  "/w/ä/b",
];
const base = { cwd: "/w", roots: ["/w"], deny: [".env", "**/*.key"], protect: true, secrets: true };

const cases: Record<string, RulesOptions> = {
  "denied and protected": base,
  "nothing protected": { ...base, protect: false },
  "a glob from the base": { ...base, deny: ["a/**", "ä/?"] },
  "a glob that is none": { ...base, deny: ["a/[b"] },
};

describeParity("both engines decide the same by rules", () => {
  it.each(Object.entries(cases))("%s", async (_, options) => {
    const { native, wasm } = await both((engine) => {
      const rules = engine.compileRules(options);
      return paths.map((path) => rules.check(path));
    });
    expect(wasm).toEqual(native);
  });
});
