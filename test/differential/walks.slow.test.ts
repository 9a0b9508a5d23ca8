/** All recorded trees. */
import { expect, test } from "vitest";
import { type Answers, answersTo, digestOf, readWalks, WALKS, walkCases } from "./walks.ts";

test("every recorded question gets the recorded answer", async () => {
  const all: Answers[] = [];
  for (const one of walkCases()) all.push(...(await answersTo(one)));
  const { header } = readWalks();
  expect(all).toHaveLength(header.count);
  for (const walk of WALKS)
    expect(digestOf(all.map((answers) => answers[walk])), walk).toBe(header.now[walk]);
}, 900_000);
