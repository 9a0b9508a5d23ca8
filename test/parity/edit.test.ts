import { expect, it } from "vitest";
import type { EditInput, EditOptions } from "../../js/engine/text/edit.ts";
import { seededRandom } from "../../scripts/lib/deep-kind.mjs";
import type { FilewrightError } from "../../js/engine/errors.ts";
import { all, describeParity } from "./engines.ts";

const file = "fn main() {\r\n    let näme = 1;\r\n    let b = 1;\r\n}\r\n";

const cases: Record<string, readonly [string, readonly EditInput[], EditOptions?]> = {
  "an exact edit": [file, [{ oldText: "let näme = 1;", newText: "let 名前 = 2;" }]],
  "lines with other ends": [file, [{ oldText: "let b = 1;\n}", newText: "}" }]],
  "two edits in order": [
    file,
    [
      { oldText: "b", newText: "c" },
      { oldText: "c = 1", newText: "c = 2" },
    ],
  ],
  "white space": [file, [{ oldText: "  let b = 1;\n  }", newText: "  }" }]],
  everywhere: [file, [{ oldText: "= 1", newText: "= 3", replaceAll: true }]],
  "not found": [file, [{ oldText: "let x = 1;" }], { path: "src/a.rs" }],
  "not unique": [file, [{ oldText: "= 1", newText: "= 2" }]],
  "the nearest of several": [file, [{ oldText: "= 1", newText: "= 2", nearLine: 3 }]],
  "another count than expected": [file, [{ oldText: "= 1", newText: "= 2", expectedMatches: 3 }]],
  "no change": [file, [{ oldText: "b", newText: "b" }]],
  "nothing to look for": [file, [{ oldText: "", newText: "b" }]],
  "half a character": [file, [{ oldText: "\ud800", newText: "y" }]],
  "a near miss": ["let value = 1;\n", [{ oldText: "let valeu = 1;", newText: "y" }], { path: "a.ts" }],
  "an edit to send instead": [
    file,
    [
      { oldText: "\tlet b = 1;", newText: "\tlet b = 2;" },
      { oldText: "}", newText: "}" },
    ],
    { match: "exact" },
  ],
  "an edit for each of several places": [file, [{ oldText: "let", newText: "const" }]],
  "HTML entities": ["if (a < b) {}\n", [{ oldText: "a &lt; b", newText: "a &gt; b" }]],
  "Unicode escapes": ["say('–');\n", [{ oldText: "'\\u2013'", newText: "'\\u2014'" }]],
  "characters that the file escapes": ["say('\\u2013');\n", [{ oldText: "'–'", newText: "'—'" }]],
  "a text cut inside words": [
    "function first(a) {\n  second( a );\n  return third;\n}\n",
    [
      {
        oldText: "tion first(a) {\n  second(a);\n  return thi",
        newText: "tion first(b) {\n  second(a);\n  return thi",
      },
    ],
  ],
  "no edits": [file, []],
  "an unknown mode": [file, [{ oldText: "b" }], { match: "loose" as "exact" }],
};

describeParity("edits are the same on both engines", () => {
  it.each(Object.entries(cases))("%s", async (_, [text, edits, options]) => {
    const { native, wasm, small } = await all((engine) => engine.planEdits(text, edits, options));
    expect(wasm).toEqual(native);
    expect(small).toEqual(native);
  });

  it.each(Object.entries(cases))("%s, as bytes and a promise", async (_, [text, edits, options]) => {
    const bytes = new TextEncoder().encode(text);
    const { native, wasm, small } = await all((engine) => engine.planEditsBytesAsync(bytes, edits, options));
    expect(wasm).toEqual(native);
    expect(small).toEqual(native);
  });
});

/** Hunks of random lines, also without marks, the same in each run. */
function randomHunks(lines: readonly string[], random: ReturnType<typeof seededRandom>): string {
  const hunk = (): string => {
    const from = random.below(lines.length);
    const part = lines.slice(from, from + 1 + random.below(4));
    const marks = random.chance(0.2) ? ["", "-"] : [" ", "-"];
    const body = part.flatMap((line) => {
      const mark = random.pick(marks);
      return [`${mark}${line}`, ...(mark === "-" ? [`+${line} x`] : [])];
    });
    return ["@@", ...body].join("\n");
  };
  return Array.from({ length: 1 + random.below(4) }, hunk).join("\n");
}

/** Edits of random lines with random mistakes, the same in each run. */
function randomCases(): readonly (readonly [string, readonly EditInput[], EditOptions])[] {
  const random = seededRandom(17);
  const words = ["area", "width", "height", "total", "count", "(", ")", "=", "+", ";", "“x”", "<b>", "&lt;"];
  const line = (): string =>
    Array.from({ length: 1 + random.below(6) }, () => random.pick(words)).join(random.pick([" ", "", "  "]));
  return Array.from({ length: 120 }, () => {
    const lines = Array.from({ length: 3 + random.below(12) }, line);
    const from = random.below(lines.length - 1);
    const old = lines.slice(from, from + 1 + random.below(4));
    const made = [...old, line()];
    const at = random.below(old.length);
    if (random.chance(0.7)) old[at] = random.chance(0.5) ? `${old[at]}${line()}` : old[at]!.slice(1);
    if (random.chance(0.3)) old.splice(at, 0, "");
    const match = random.pick(["exact", "whitespace", "fuzzy"] as const);
    return [lines.join("\n"), [{ oldText: old.join("\n"), newText: made.join("\n") }], { match }] as const;
  });
}

describeParity("refusals and their retries are the same on both engines", () => {
  it("over random edits", async () => {
    for (const [text, edits, options] of randomCases()) {
      const { native, wasm } = await all((engine) => engine.planEdits(text, edits, options));
      expect(wasm).toEqual(native);
    }
  });

  it("over random patches", async () => {
    for (const [text, [edit]] of randomCases()) {
      const [old, made] = [edit!.oldText!.split("\n"), edit!.newText!.split("\n")];
      const hunk = [...old.map((line) => `-${line}`), ...made.map((line) => `+${line}`)].join("\n");
      const patch = `*** Begin Patch\n*** Update File: f\n@@\n${hunk}\n*** End Patch\n`;
      const { native, wasm } = await all((engine) => {
        try {
          return engine.applyPatch({ f: text }, patch);
        } catch (error) {
          return (error as FilewrightError).details;
        }
      });
      expect(wasm).toEqual(native);
    }
  });

  it("over random hunks", async () => {
    const random = seededRandom(23);
    for (const [text] of randomCases()) {
      const hunks = randomHunks(text.split("\n"), random);
      const patch = `*** Begin Patch\n*** Update File: f\n${hunks}\n*** End Patch\n`;
      const { native, wasm, small } = await all((engine) => {
        try {
          return engine.applyPatch({ f: text }, patch);
        } catch (error) {
          return (error as FilewrightError).details;
        }
      });
      expect(wasm).toEqual(native);
      expect(small).toEqual(native);
    }
  });
});
