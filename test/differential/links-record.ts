/**
 * Paths with links: `LinkWalk` answers for memory, overlays and confined storages, and the native
 * engine for the disk. Before it there were three walks; `links.jsonl` has what each answered then and answers now.
 *
 * Its first line has the seed and the digests of all answers. Then come the cases in which an answer changed or in
 * which the storages without a policy disagree with the disk, and 500 more.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { type Answers, answersTo, linkCases, PATHS_PER_TREE } from "./links.ts";

interface Row {
  readonly row: number;
  /** Absent where every answer is the same as before. */
  readonly before?: Answers;
  readonly now: Answers;
}

const [first, ...rest] = readFileSync(join(import.meta.dirname, "links.jsonl"), "utf8")
  .trim()
  .split("\n");
export const HEADER = JSON.parse(first as string) as { readonly seed: number; readonly count: number };
export const ROWS = rest.map((line) => JSON.parse(line) as Row);

/** Asks for the recorded paths in the trees with these numbers, and expects the recorded answers. */
export async function expectRecordedAnswers(isAsked: (tree: number) => boolean): Promise<void> {
  const cases = linkCases();
  const rowsOfTree = new Map<number, Row[]>();
  for (const one of ROWS) {
    const index = Math.floor(one.row / PATHS_PER_TREE);
    rowsOfTree.set(index, [...(rowsOfTree.get(index) ?? []), one]);
  }
  for (const [index, asked] of rowsOfTree) {
    if (!isAsked(index)) continue;
    const { tree, paths } = cases[index] as (typeof cases)[number];
    const pathsAsked = asked.map(({ row }) => paths[row % PATHS_PER_TREE] as string);
    const answers = await answersTo({ tree, paths: pathsAsked });
    for (const [at, { row, now }] of asked.entries())
      expect(answers[at], `row ${row}: ${pathsAsked[at]} in ${JSON.stringify(tree)}`).toEqual(now);
  }
}
