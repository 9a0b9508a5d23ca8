/**
 * Trees that are walked by searches, listings and whole walks, in memory and on the disk. There were nine walks;
 * `walks.jsonl` has what each answered then and answers now.
 *
 * Its first line has the seed and the digests of all answers. Then come the rows in which an answer changed, by
 * walk, and 500 rows with all answers. What changed has tests of its own in `test/backends/walks.test.ts`:
 *
 * - Temporary files were left out on the disk alone.
 * - `.git/info/exclude`, which git honours, was read on the disk alone.
 * - A directory that vanished since it was listed counted as unreadable in searches; to the kernel it does not exist.
 * - A tool listed what lies in a directory with the name of a temporary file; such an argument is PROTECTED_PATH.
 * - The walk of a whole tree yielded `a.txt` before the directory `a`, which is not the order of their paths.
 */
import { afterAll, describe, expect, test } from "vitest";
import { engine, setEngine } from "../../js/engine/current.ts";
import { describeParity, engines } from "../parity/engines.ts";
import {
  type Answers,
  answersTo,
  digestOf,
  groupAnswers,
  QUERIES_PER_TREE,
  readWalks,
  type Row,
  SEED,
  TREES,
  walkCases,
} from "./walks.ts";

/** The fast suite replays the rows of one in so many trees. */
const TREES_PER_REPLAY = 4;

const { header, changes, rows } = readWalks();
const cases = walkCases();

const byTree = new Map<number, Row[]>();
for (const one of rows) {
  const tree = Math.floor(one.row / QUERIES_PER_TREE);
  byTree.set(tree, [...(byTree.get(tree) ?? []), one]);
}
const replayed = [...byTree].filter((_, index) => index % TREES_PER_REPLAY === 0);

test("the recorded cases are those of the seed", () => {
  expect([header.seed, header.count]).toEqual([SEED, TREES * QUERIES_PER_TREE]);
  expect(digestOf(cases.map((one) => JSON.stringify(one)))).toBe(header.cases);
  expect(rows).toHaveLength(500);
});

test("recorded questions get the recorded answers", async () => {
  for (const [tree, asked] of replayed) {
    const numbers = asked.map(({ row }) => row % QUERIES_PER_TREE);
    const answers = await answersTo(cases[tree] as (typeof cases)[number], numbers);
    for (const [at, { row, now }] of asked.entries())
      expect(groupAnswers(answers[at] as Answers), `row ${row}`).toEqual(now);
  }
}, 120_000);

describeParity("over the WebAssembly engine", () => {
  const native = engine();
  afterAll(() => setEngine(native));

  test("recorded questions get the recorded answers in memory", async () => {
    setEngine(engines?.wasm ?? native);
    for (const [tree, asked] of replayed) {
      const numbers = asked.map(({ row }) => row % QUERIES_PER_TREE);
      const answers = await answersTo(cases[tree] as (typeof cases)[number], numbers, false);
      for (const [at, { row, now }] of asked.entries())
        for (const [walk, answer] of Object.entries(answers[at] as object))
          if (answer !== "") {
            const recorded = Object.entries(now).find(([walks]) => walks.split(" ").includes(walk))?.[1];
            expect(answer, `row ${row}, ${walk}`).toBe(recorded);
          }
    }
  }, 120_000);
});

describe("recorded answers", () => {
  test("are the same in memory and on the disk, where every directory can be read", () => {
    const onDisk = rows.filter(({ now }) => /diskFind/u.test(Object.keys(now).join(" ")));
    expect(onDisk.length).toBeGreaterThan(200);
    for (const { row, now } of onDisk)
      for (const [memory, disk] of [
        ["find", "diskFind"],
        ["grep", "diskGrep"],
        ["held", "diskGrep"],
        ["list", "diskList"],
        ["files", "diskFiles"],
        ["nodes", "diskFiles"],
      ] as const) {
        const groups = Object.keys(now).map((walks) => walks.split(" "));
        // A listing by size is not compared.
        if (groups.some((walks) => walks.includes(disk)))
          expect(
            groups.some((walks) => walks.includes(memory) && walks.includes(disk)),
            `${row} ${memory}`,
          ).toBe(true);
      }
  });

  test("changed in memory alone; the disk answers as it did, but for listings of temporary names", () => {
    for (const walk of ["diskFind", "diskGrep", "diskFiles"] as const)
      expect(header.now[walk]).toBe(header.before[walk]);
    expect(changes.map(({ changed }) => changed)).toEqual([
      "find",
      "grep",
      "held",
      "list",
      "tree",
      "files",
      "nodes",
    ]);
  });
});
