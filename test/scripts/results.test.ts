/** How many tests passed, and which did not, is read out of what the runners print; a runner that dies is a failure. */
import { describe, expect, it } from "vitest";
import {
  cargoResults,
  otherSkippedTests,
  resultsOfLastLine,
  slowestFiles,
  sumResults,
  vitestResults,
} from "../../scripts/lib/results.mjs";

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
    expect(cargoResults(output, status)).toMatchObject(expected);
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
    expect(resultsOfLastLine(output, status)).toMatchObject(expected);
  });
});

describe("a report of vitest", () => {
  const file = (name: string, seconds: number, ...states: string[]) => ({
    ...{ name: `/checkout/test/${name}`, startTime: 1000, endTime: 1000 + seconds * 1000 },
    assertionResults: states.map((status, at) => ({ status, fullName: `test ${at}` })),
  });
  const report = {
    testResults: [
      file("quick.test.ts", 0.5, "passed", "skipped"),
      file("slow.test.ts", 9, "passed", "passed"),
      file("root.test.ts", 2, "pending", "passed"),
    ],
  };

  it("names the files that took longest", () => {
    expect(slowestFiles(report, 2)).toEqual([
      { file: "/checkout/test/slow.test.ts", seconds: 9 },
      { file: "/checkout/test/root.test.ts", seconds: 2 },
    ]);
  });

  it.each([
    [[], ["/checkout/test/quick.test.ts\ntest 1", "/checkout/test/root.test.ts\ntest 0"]],
    [["test/root.test.ts"], ["/checkout/test/quick.test.ts\ntest 1"]],
  ])("names the skipped tests of other files than %j", (permitted, expected) => {
    expect(otherSkippedTests(report, permitted)).toEqual(expected);
  });
});

describe("vitest", () => {
  const report = (...testResults: object[]) => ({
    numPassedTests: 3,
    numPendingTests: 1,
    numTodoTests: 0,
    testResults,
  });
  const test = (status: string) => ({ status, fullName: "that it holds", failureMessages: ["not so"] });
  const cases: Record<string, readonly [object, number, number, string]> = {
    "all passed": [report({ name: "a", status: "passed", assertionResults: [test("passed")] }), 0, 0, ""],
    "one failed": [
      report({ name: "a", status: "failed", assertionResults: [test("passed"), test("failed")] }),
      1,
      1,
      "a\nthat it holds\nnot so",
    ],
    "a file that cannot be loaded": [
      report({ name: "a", status: "failed", assertionResults: [], message: "no such module" }),
      1,
      1,
      "a\nno such module",
    ],
    "too few lines run": [report({ name: "a", status: "passed", assertionResults: [] }), 1, 1, "the run did"],
  };
  it.each(Object.entries(cases))("%s", (_, [said, status, failed, why]) => {
    const results = vitestResults(said, status);
    expect(results).toMatchObject({ passed: 3, failed, skipped: 1 });
    expect(results.why?.join("\n")).toContain(why);
  });
});

it("says which tests failed, and no more of each than can be read", () => {
  const output = `${ok}running 5 tests\nfailures:\n---- a::b stdout ----\nthread panicked\n\nfailures:\n    a::b\n${bad}`;
  expect(cargoResults(output, 101).why?.join("\n")).toMatch(/a::b stdout -+\s+thread panicked/u);
  const why = resultsOfLastLine(
    "ok\nFAIL  D1  a title\n  step 2: data\n    got 3\n4 passed, 1 failed\n",
    1,
  ).why;
  expect(why).toEqual(["FAIL  D1  a title\n  step 2: data\n    got 3"]);
  const long = cargoResults(`failures:\n${"x".repeat(80)}${"\n".repeat(50_000)}\n${bad}`, 101).why;
  expect(long?.[0]?.length).toBeLessThan(4_001);
});

it("a sum", () => {
  const one = { passed: 1, failed: 2, skipped: 3 };
  expect(sumResults([one, one])).toEqual({ passed: 2, failed: 4, skipped: 6 });
  expect(sumResults([])).toEqual({ passed: 0, failed: 0, skipped: 0 });
});
