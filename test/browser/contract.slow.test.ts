/** The backend contract in a real Chromium, on the WebAssembly engine, under a strict policy. */
import { beforeAll, describe, expect, it } from "vitest";
import { contractCases, storageCases } from "../../js/testing/index.ts";
import { bundled } from "./bundle.ts";
import { describeChromium, type Opened, withChromium } from "./chromium.ts";
import type { ContractPage } from "./pages/contract.ts";
import type { Outcome } from "./pages/subjects.ts";

declare const contract: ContractPage;

const SUITES: readonly (readonly [string, keyof ContractPage])[] = [
  ["memory", "here"],
  ["opfs", "here"],
  ["opfs", "inWorker"],
  ["picked", "here"],
];

const CASES = [...contractCases, ...storageCases];

describeChromium("the contract in Chromium", () => {
  const chromium = withChromium(() => bundled("contract", "contract-worker"));

  const runs = new Map<string, { readonly opened: Opened; readonly outcomes: readonly Outcome[] }>();
  // Side by side: they wait for the disk, and each has a profile of its own.
  beforeAll(async () => {
    const run = async ([subject, where]: (typeof SUITES)[number]): Promise<void> => {
      const opened = await chromium.open("contract.html");
      const outcomes = await opened.page.evaluate(([name, at]) => contract[at](name), [
        subject,
        where,
      ] as const);
      runs.set(`${subject} ${where}`, { opened, outcomes });
    };
    await Promise.all(SUITES.map(run));
  }, 90_000);

  describe.each(SUITES)("%s, %s", (subject, where) => {
    const ran = () => runs.get(`${subject} ${where}`);

    it("ran every case", () => expect(ran()?.outcomes.length).toBe(CASES.length + 2));
    it.each(CASES.map(({ name }) => name))("%s", (name) => {
      const outcome = ran()?.outcomes.find((one) => one.name === name);
      expect(outcome, "the case was run").toBeDefined();
      expect(outcome?.failure).toBeUndefined();
    });
    it("left nothing in the console", () => expect(ran()?.opened.complaints).toEqual([]));
  });
});
