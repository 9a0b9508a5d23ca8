/** All recorded calls. */
import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { COPIES, gateAnswers, gateCases, orderOf, readGates, type Recorded } from "./gates.ts";

test("every recorded call is decided as before", async () => {
  const all: Recorded[] = [];
  for (const one of gateCases()) all.push({ ...(await gateAnswers(one)), order: await orderOf(one) });
  const { header, changes } = readGates();
  expect(all).toHaveLength(header.count);
  for (const copy of [...COPIES, "order"] as const) {
    const answers = all.map((answer) => answer[copy]);
    expect(createHash("sha256").update(JSON.stringify(answers)).digest("hex"), copy).toBe(header.now[copy]);
  }
  for (const { copy, now, rows } of changes) for (const row of rows) expect(all[row]?.[copy]).toBe(now);
}, 900_000);
