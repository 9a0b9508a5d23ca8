/** Paths with links get the answers of `links.jsonl`; the slow test asks for all of them. */
import { expect, test } from "vitest";
import { PATHS_PER_TREE, SEED, TREES } from "./links.ts";
import { expectRecordedAnswers, HEADER, ROWS } from "./links-record.ts";

test("a share of the recorded paths get the recorded answers", async () => {
  expect(HEADER).toMatchObject({ seed: SEED, count: TREES * PATHS_PER_TREE });
  await expectRecordedAnswers((tree) => tree % 8 === 0);
}, 120_000);

test("a target that ends in `.` must exist, also before a slash, as the kernel has it", () => {
  const [changed] = ROWS.filter(
    ({ before, now }) =>
      before?.["memory"] !== undefined && before["memory"] !== now["memory"] && now["disk"] === now["memory"],
  );
  expect(changed?.before).toMatchObject({ any: changed?.now["disk"] });
  for (const name of ["overlay", "written", "any"]) expect(changed?.now[name]).toBe(changed?.now["disk"]);
});
