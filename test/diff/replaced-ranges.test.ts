// The replaced lines of a diff are the hunks of the same diff without unchanged lines.
import fc from "fast-check";
import { expect, test } from "vitest";
import { diff } from "../../js/engine/index.node.ts";
import { replacedRanges } from "../../js/engine/text/diff.ts";

const text = fc
  .tuple(
    fc.array(fc.constantFrom("a", "b", "", "-", "+x", " y", "\\ z", "@@", "[c"), { maxLength: 14 }),
    fc.boolean(),
  )
  .map(([lines, isEnded]) => lines.join("\n") + (isEnded && lines.length > 0 ? "\n" : ""));

test("the replaced lines of a diff are its hunks without context", () => {
  fc.assert(
    fc.property(text, text, fc.integer({ min: 0, max: 5 }), (before, after, context) => {
      const alone = diff(before, after, { context: 0 }).hunks.map(({ lines: _, ...range }) => range);
      expect(replacedRanges(diff(before, after, { context }).hunks)).toEqual(alone);
    }),
    { numRuns: 2000 },
  );
});
