/** The backend contract in a real Chromium, on the WebAssembly engine, under a strict policy. */
import { beforeAll, describe, expect, it } from "vitest";
import { contractCases } from "../../js/testing/index.ts";
import { bundled } from "./bundle.ts";
import { describeChromium, type Opened, withChromium } from "./chromium.ts";
import type { ContractPage } from "./pages/contract.ts";
import type { Outcome } from "./pages/subjects.ts";

declare const contract: ContractPage;

const SUITES: readonly (readonly [string, keyof ContractPage])[] = [["memory", "here"]];

describeChromium("the contract in Chromium", () => {
  const chromium = withChromium(() => bundled("contract", "contract-worker"));

  describe.each(SUITES)("%s, %s", (subject, where) => {
    let opened: Opened;
    let outcomes: readonly Outcome[] = [];
    beforeAll(async () => {
      opened = await chromium.open("contract.html");
      outcomes = await opened.page.evaluate(([name, where]) => contract[where](name), [
        subject,
        where,
      ] as const);
    }, 60_000);

    it("ran every case", () => expect(outcomes.length).toBe(contractCases.length + 1));
    it.each(contractCases.map(({ name }) => name))("%s", (name) => {
      expect(outcomes.find((one) => one.name === name)?.failure).toBeUndefined();
    });
    it("left nothing in the console", () => expect(opened.complaints).toEqual([]));
  });
});
