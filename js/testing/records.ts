/** The contract of shared records as named test cases, for those of a storage and those of a host. */
import type { MaybePromise } from "../backends/backend.ts";
import type { Records } from "../records/records.ts";
import { callback, optionChecker, type Options, options as described, required } from "../schema/option.ts";
import { assertEqual, assertFails, assertTrue, registerCases, type TestFunction } from "./case.ts";

/** One test case of records. `second` are the same records as another process has them. */
export interface RecordsCase {
  readonly name: string;
  run(records: Records, second: Records): Promise<void>;
}

/** Records under test. New, empty ones are made for each case. */
export interface RecordsSubject {
  readonly records: Records;
  /** The same records through a connection of its own, as another process has them. Default: `records`. */
  readonly second?: Records | undefined;
  /** Called after the case, to clean up. */
  dispose?(): MaybePromise<void>;
}

/** How the cases of records are run. */
export interface RecordsContractOptions {
  /** The function `test` or `it` of your test framework. */
  readonly test: TestFunction;
}

/**
 * The options of {@link recordsContract}.
 *
 * @printed
 */
export const RECORDS_CONTRACT_OPTIONS: Options<RecordsContractOptions> = described("RecordsContractOptions", {
  test: required(callback()),
});

const checkOptions = optionChecker("recordsContract", RECORDS_CONTRACT_OPTIONS);

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

function casesOf(runs: Readonly<Record<string, RecordsCase["run"]>>): readonly RecordsCase[] {
  return Object.entries(runs).map(([name, run]) => ({ name, run }));
}

/** Every case of the contract of records. */
export const recordCases: readonly RecordsCase[] = [
  ...casesOf({
    "records: put with a revision, get, list, remove": async (records, second) => {
      assertEqual(await records.get("k", "a"), null, "nothing");
      const rev = await records.put("k", "a", { x: [1, null, "é"] }, { expect: null });
      assertEqual(await second.get("k", "a"), { value: { x: [1, null, "é"] }, rev }, "the record");
      await assertFails(() => records.put("k", "a", 1, { expect: null }), "CONFLICT", "it exists");
      const next = await records.put("k", "a", 2, { expect: rev });
      assertTrue(next !== rev, "another revision");
      await assertFails(() => records.put("k", "a", 3, { expect: rev }), "CONFLICT", "the old revision");
      await records.put("k", "b", 1);
      await records.put("other", "c", 1);
      const ids = async (options: { limit: number; after?: string }) =>
        (await records.list("k", options)).map(({ id, value }) => [id, value]);
      assertEqual(
        await ids({ limit: 10 }),
        [
          ["a", 2],
          ["b", 1],
        ],
        "the list",
      );
      assertEqual(
        [await ids({ limit: 1 }), await ids({ limit: 1, after: "a" })],
        [[["a", 2]], [["b", 1]]],
        "pages",
      );
      await records.remove("k", "a");
      await records.remove("k", "a");
      assertEqual(await records.get("k", "a"), null, "after the removal");
      const again = await records.put("k", "a", 2, { expect: null });
      assertTrue(again !== next, "a revision is never given again");
    },
    "records: counters are atomic and bounded": async (records, second) => {
      const add = (through: Records) => through.add("n", "x", 1, { most: 5 });
      const answers = await Promise.all(
        Array.from({ length: 9 }, (_, i) => add(i % 2 === 0 ? records : second)),
      );
      assertEqual(answers.filter(({ ok }) => ok).length, 5, "the number that fitted");
      assertEqual(answers.find(({ ok }) => !ok)?.now, 5, "the number of a refusal");
      assertEqual((await records.get("n", "x"))?.value, 5, "the counter");
      assertEqual(await records.add("n", "x", -3), { ok: true, now: 2 }, "without a bound");
    },
    "records: a record whose time is over is absent": async (records) => {
      await records.put("k", "short", 1, { forMs: 30 });
      await records.put("k", "long", 1, { forMs: 60_000 });
      assertEqual((await records.get("k", "long"))?.value, 1, "before its end");
      await pause(60);
      assertEqual(await records.get("k", "short"), null, "after its end");
      assertEqual((await records.list("k", { limit: 10 })).length, 1, "the list");
      await records.put("k", "short", 2, { expect: null });
    },
    "records: a value that is no JSON, and one that is too large, are refused": async (records) => {
      await assertFails(() => records.put("k", "a", undefined), "INVALID_ARGUMENT", "undefined");
      await assertFails(() => records.put("k", "a", "x".repeat(70_000)), "TOO_LARGE", "70,000 bytes");
      await assertFails(() => records.put("", "a", 1), "INVALID_ARGUMENT", "no kind");
      assertEqual(await records.get("k", "a"), null, "nothing was set");
    },
    "records: a counter counts a window of time from its first number": async (records) => {
      await records.add("n", "window", 1, { forMs: 1000 });
      await pause(600);
      assertEqual(
        await records.add("n", "window", 1, { forMs: 1000, most: 2 }),
        { ok: true, now: 2 },
        "within it",
      );
      await pause(600);
      assertEqual(
        await records.add("n", "window", 1, { forMs: 1000, most: 2 }),
        { ok: true, now: 1 },
        "after it",
      );
    },
    "records: one of several writers that expect the same revision wins": async (records, second) => {
      const rev = await records.put("k", "a", 0);
      const writers = Array.from({ length: 6 }, (_, i) => (i % 2 === 0 ? records : second));
      const writes = writers.map((one, i) => one.put("k", "a", i + 1, { expect: rev }));
      const results = await Promise.allSettled(writes);
      const won = results.flatMap((one, i) => (one.status === "fulfilled" ? [i + 1] : []));
      assertEqual(won, [(await second.get("k", "a"))?.value], "the winner");
    },
  }),
];

/**
 * Registers the contract of records with a test framework.
 *
 * @example
 * import { test } from "node:test";
 * recordsContract(async () => ({ records: await openMyRecords() }), { test });
 */
export function recordsContract(
  makeRecords: () => MaybePromise<RecordsSubject>,
  options: RecordsContractOptions,
): void {
  registerCases(checkOptions(options), makeRecords, recordCases, ({ run }, { records, second = records }) =>
    run(records, second),
  );
}
