/** Every state of the catalogue in a real Chromium: nothing for axe to find, in light, dark and forced colours. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { env } from "node:process";
import { expect, it } from "vitest";
import { STATES } from "./catalogue/all-states.ts";
import { bundleReviewPage } from "../../../scripts/review-page.mjs";
import { describeChromium, withChromium } from "../../browser/chromium.ts";
import type { Files } from "../../browser/server.ts";
import { share } from "../../support/share.ts";
import { addAxe, type AxeRules, COLOURS, EVERY_RULE, violationsOf } from "./axe.ts";
import { layoutProblems } from "./layout.ts";

const GUIDES = new URL("../../../docs/guides/", import.meta.url);
/** The entry of the catalogue, relative to the folder of the page. */
const CATALOGUE = "../../../test/review/page/catalogue/states.tsx";
const HTML = new URL("catalogue/states.html", import.meta.url);
const ICON = new URL("../../../js/review/page/icon.svg", import.meta.url);

async function catalogue(): Promise<Files> {
  const { outputFiles = [] } = await bundleReviewPage([CATALOGUE, "editor.ts", "review.css"], {
    write: false,
  });
  const files: Record<string, string | Uint8Array> = {};
  for (const { path, contents } of outputFiles) files[path.replace(/^.*[\\/]/u, "")] = contents;
  for (const url of [HTML, ICON]) files[url.pathname.replace(/^.*\//u, "")] = readFileSync(url);
  return files;
}

const TARGETS: AxeRules = { type: "rule", values: ["target-size", "scrollable-region-focusable"] };

/**
 * The sizes of a desk, of a tablet and of a telephone in CSS pixels, and those of a window of 1280 pixels that is enlarged
 * to 200 % and to 400 %.
 */
const SIZES = {
  desk: { width: 1280, height: 800 },
  tablet: { width: 800, height: 1000 },
  telephone: { width: 390, height: 780 },
  "desk at 200 %": { width: 640, height: 400 },
  "desk at 400 %": { width: 320, height: 256 },
} as const;

describeChromium("the states of the review page", () => {
  const chromium = withChromium(catalogue);

  const names = Object.keys(STATES);
  /**
   * All states, or by day a sixth of them: six environments with different parts see each state. Every rule is checked in
   * those with the odd parts, and on a desk for the other half of the states.
   */
  const sixth = (part: number): readonly string[] => share(names, 6, part);

  // Colours are all that differs in the dark and with forced colours.
  it.each([
    ["desk", { colorScheme: "light" }, EVERY_RULE, share(names, 2, 0)],
    ["desk", { colorScheme: "dark" }, COLOURS, sixth(0)],
    ["desk", { colorScheme: "light", forcedColors: "active" }, COLOURS, sixth(2)],
    ["tablet", { colorScheme: "light" }, EVERY_RULE, sixth(1)],
    ["telephone", { colorScheme: "dark" }, EVERY_RULE, sixth(3)],
    ["desk at 200 %", { colorScheme: "light", deviceScaleFactor: 2 }, EVERY_RULE, sixth(5)],
    ["desk at 400 %", { colorScheme: "light" }, TARGETS, sixth(4)],
  ] as const)(
    "have no accessibility violations and nothing out of reach on a %s with %o",
    async (size, options, rules, shown) => {
      const context = await chromium.browser.newContext({ viewport: SIZES[size], ...options });
      const { page, complaints } = await chromium.open("states.html", context);
      await addAxe(page);
      const found: string[] = [];
      for (const name of shown) {
        await page.evaluate((fragment) => {
          location.hash = fragment;
        }, name);
        await page.locator(`html[data-state="${name}"]`).waitFor();
        const violations = await violationsOf(page, rules);
        const isWide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
        if (isWide) violations.push("the page scrolls sideways");
        // Without an enlargement there is more room for the same.
        if (size.endsWith("%")) violations.push(...(await page.evaluate(layoutProblems)));
        found.push(...violations.map((violation) => `${name}: ${violation}`));
      }
      expect(found).toEqual([]);
      expect(complaints).toEqual([]);
      await context.close();
    },
  );

  // With FILEWRIGHT_PICTURES=update the pictures are made again.
  it("are the pictures of the guide", async () => {
    const guide = readFileSync(new URL("review.md", GUIDES), "utf8");
    const names = [...guide.matchAll(/!\[[^\]]+\]\(pictures\/([\w-]+)\.png\)/gu)].map(
      ([, name = ""]) => name,
    );
    expect(names).toContain("waiting");
    expect(names.filter((name) => STATES[name] === undefined)).toEqual([]);
    const file = (name: string): URL => new URL(`pictures/${name}.png`, GUIDES);
    if (env["FILEWRIGHT_PICTURES"] === "update") {
      const context = await chromium.browser.newContext({ viewport: { width: 1200, height: 640 } });
      const { page } = await chromium.open("states.html", context);
      mkdirSync(new URL("pictures/", GUIDES), { recursive: true });
      for (const name of names) {
        await page.evaluate((fragment) => {
          location.hash = fragment;
        }, name);
        await page.locator(`html[data-state="${name}"]`).waitFor();
        writeFileSync(file(name), await page.screenshot({ animations: "disabled" }));
      }
      await context.close();
    }
    expect(names.filter((name) => !existsSync(file(name)))).toEqual([]);
  });
});
