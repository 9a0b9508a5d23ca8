/**
 * The unit expectations of the Model Context Protocol's filesystem server, on ours through a
 * shim. That they are its own, `incumbent.slow.test.ts` proves on its own code.
 */
import { describe, expect, test } from "vitest";
import { CASES as UNIT_CASES } from "./incumbent/cases.ts";
import { DIFFERENCES } from "./incumbent/differences.ts";
import { shim } from "./incumbent/shim.ts";
import { outcome } from "./incumbent/units.ts";

test.each(UNIT_CASES)("$of: $name", async (unit) => {
  expect(await outcome(shim(), unit)).toEqual(unit.gives);
});

describe("on purpose not as that server has it", () => {
  test.each(DIFFERENCES)("$of: $name", async (unit) => {
    const given = await outcome(shim(), unit);
    expect(given).toEqual(unit.ours);
    expect(given).not.toEqual(unit.gives);
  });
});
