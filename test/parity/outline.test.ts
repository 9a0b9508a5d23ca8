/** The outline of a long patch is parsed in pieces: it is what one piece gives, whatever names the files have. */
import { expect, test } from "vitest";
import type { Engine } from "../../js/engine/engine.ts";
import { describeParity, engines } from "./engines.ts";

/** Names that look like what separates the files of an outline, and others. */
const NAMES = [
  `},{"added":`,
  `a},{`,
  `added":1},{"added":`,
  `],"paths":`,
  `x],`,
  `{"files":[`,
  "ordinary",
  "ünï\u2028",
] as const;

const quoted = (name: string): string => JSON.stringify(name).replaceAll("\u2028", "\\342\\200\\250");

const KINDS = ["native", "wasm"] as const;

describeParity("long patches", () => {
  test.each(KINDS)(
    "the outline of a patch with many files has all of them by the engine %s",
    async (kind) => {
      const engine = engines?.[kind] as Engine;
      const patch = Array.from({ length: 3000 }, (_unused, index) => {
        const name = `${NAMES[index % NAMES.length]} ${index}`;
        return `--- ${quoted(`a/${name}`)}\n+++ ${quoted(`b/${name}`)}\n@@ -1 +1,2 @@\n-a\n+b\n+},{"added":\n`;
      }).join("");
      const { files, paths, warnings } = await engine.onThreads.outlineOfPatch(patch);
      const whole = engine.parsePatch(patch);
      expect(files).toEqual(whole.files.map((file) => ({ ...file, hunks: [] })));
      expect({ paths, warnings }).toEqual({ paths: whole.paths, warnings: whole.warnings });
      expect(new Set(files.map(({ newPath }) => newPath)).size).toBe(3000);
    },
  );

  test.each(KINDS)(
    "the files of a long patch are applied with their own facts by the engine %s",
    async (kind) => {
      const engine = engines?.[kind] as Engine;
      const contents = new Map<string, string>();
      const patch = Array.from({ length: 3000 }, (_unused, index) => {
        const name = `${NAMES[index % NAMES.length]} ${index}`;
        contents.set(name, `${index}\n`);
        return `--- ${quoted(`a/${name}`)}\n+++ ${quoted(`b/${name}`)}\n@@ -1 +1 @@\n-${index}\n+new ${index}\n`;
      }).join("");
      const applied = await engine.applyPatchAsync(contents, patch);
      expect(applied).toEqual(engine.applyPatch(contents, patch));
      expect(new TextDecoder().decode(applied.at(-1)?.bytes ?? undefined)).toBe("new 2999\n");
    },
  );
});
