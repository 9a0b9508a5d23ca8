/** The undo table: every kind of change, in every situation, taken back in every way, on the disk and in memory. */
import { describe, expect, it } from "vitest";
import { GAPS, ROWS } from "./cases.ts";
import { inWorld, KINDS, nameOfRow, SITUATIONS, WAYS } from "./row.ts";
import { outcomesOf } from "./ways.ts";
import { WORLDS } from "./world.ts";

describe("the undo table", () => {
  it("has a row, or a reason for none, for each kind of change in each situation", () => {
    const known = [...ROWS, ...GAPS].map(({ kind, when }) => `${kind}, ${when}`);
    const wanted = KINDS.flatMap((kind) => SITUATIONS.map((when) => `${kind}, ${when}`));
    expect([...new Set(known)].sort()).toEqual(wanted.sort());
    const names = ROWS.map(nameOfRow);
    expect(names).toEqual([...new Set(names)]);
  });

  describe.each(WORLDS)("on %s", (name) => {
    it.each(ROWS.map((row) => [nameOfRow(row), row] as const))("takes back %s", async (_name, row) => {
      const wanted = WAYS.map((way) => [way, inWorld(row.outcome[way], name)]);
      expect(await outcomesOf(row, name)).toEqual(Object.fromEntries(wanted));
    });
  });
});
