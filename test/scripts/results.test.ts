/** How many tests passed is read out of what the runners print; a runner that dies is a failure. */
import { describe, expect, it } from "vitest";
import { cargoResults, lastResults, sum } from "../../scripts/lib/results.mjs";

const ok = "test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.1s\n";
const bad =
  "test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.1s\n";

describe("cargo", () => {
  const cases: Record<string, readonly [string, number, object]> = {
    "several binaries": [`running 13 tests\n${ok}\n${ok}`, 0, { passed: 24, failed: 0, skipped: 2 }],
    "failures in one": [`${ok}${bad}`, 101, { passed: 15, failed: 2, skipped: 1 }],
    "does not compile": ["", 101, { passed: 0, failed: 1, skipped: 0 }],
    "a binary that dies after another passed": [ok, 101, { passed: 12, failed: 1, skipped: 1 }],
  };
  it.each(Object.entries(cases))("%s", (_, [output, status, expected]) => {
    expect(cargoResults(output, status)).toEqual(expected);
  });
});

describe("a closing line", () => {
  const cases: Record<string, readonly [string, number, object]> = {
    "with skipped": [
      "1 passed, 9 failed\n5 passed, 0 failed, 2 skipped\n",
      0,
      { passed: 5, failed: 0, skipped: 2 },
    ],
    "without skipped": ["5 passed, 1 failed\n", 1, { passed: 5, failed: 1, skipped: 0 }],
    "none at all": ["boom\n", 2, { passed: 0, failed: 1, skipped: 0 }],
    "all passed but the status says otherwise": [
      "5 passed, 0 failed\n",
      1,
      { passed: 5, failed: 1, skipped: 0 },
    ],
  };
  it.each(Object.entries(cases))("%s", (_, [output, status, expected]) => {
    expect(lastResults(output, status)).toEqual(expected);
  });
});

it("a sum", () => {
  const one = { passed: 1, failed: 2, skipped: 3 };
  expect(sum([one, one])).toEqual({ passed: 2, failed: 4, skipped: 6 });
  expect(sum([])).toEqual({ passed: 0, failed: 0, skipped: 0 });
});
