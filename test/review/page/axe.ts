/** Runs axe on a page. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Which rules are checked. */
export type AxeRules = { readonly type: "tag" | "rule"; readonly values: readonly string[] };

/** All rules that a page can break. */
export const EVERY_RULE: AxeRules = {
  type: "tag",
  values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
};
/** The rules about colours, which are all that differs in the dark and with forced colours. */
export const COLOURS: AxeRules = { type: "rule", values: ["color-contrast"] };

/** Gives a page axe. A page that runs no script from a string gets it through the protocol of the browser. */
export async function addAxe(page: Page): Promise<void> {
  await page.evaluate(AXE);
}

/** Returns the rules that the page breaks, also inside of its elements, each with the first place. */
export function violationsOf(page: Page, rules: AxeRules): Promise<string[]> {
  return page.evaluate(async (runOnly) => {
    const { axe } = globalThis as unknown as {
      readonly axe: {
        run(
          where: Document,
          options: object,
        ): Promise<{
          violations: readonly {
            id: string;
            nodes: readonly { html: string; failureSummary: string }[];
          }[];
        }>;
      };
    };
    const { violations } = await axe.run(document, { runOnly, resultTypes: ["violations"] });
    return violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html} ${nodes[0]?.failureSummary}`);
  }, rules);
}
