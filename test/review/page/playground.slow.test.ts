/** The playground in a real Chromium: an agent's session in the tab, and a visitor who answers. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, expect, it } from "vitest";
import { buildPlayground } from "../../../scripts/site.mjs";
import { describeChromium, withChromium } from "../../browser/chromium.ts";

declare const playground: { content(path: string): Promise<string> };

/**
 * The number of bytes that a first visit may load, compressed. Measured: 773 KiB for the module of the engine, 301 KiB
 * for the script.
 */
const MAX_BYTES = 1150 * 1024;

const folder = mkdtempSync(join(tmpdir(), "filewright-playground-"));
afterAll(() => rmSync(folder, { recursive: true }));

describeChromium("the playground", () => {
  const chromium = withChromium(async () => {
    await buildPlayground(folder);
    return Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name))]));
  });

  it("plays a session, asks the visitor, writes what was allowed, and loads nothing from elsewhere", async () => {
    const { page, complaints } = await chromium.open("index.html");
    const next = page.getByRole("button", { name: "Next call" });
    const told = page.locator("#calls pre");
    const content = (path: string) => page.evaluate((at) => playground.content(at), path);
    await page.locator("#next:enabled").waitFor();
    await next.click();
    await told.nth(0).getByText("export function refund").waitFor();
    await page.locator("#next:enabled").waitFor();
    await next.click();
    await told.nth(1).getByText("src/refund.ts").waitFor();

    // The edit waits.
    await page.locator("#next:enabled").waitFor();
    await next.click();
    await page.getByRole("grid").getByText("NothingDue").waitFor();
    const picture = process.env["FILEWRIGHT_SCREENSHOT"];
    if (picture !== undefined) await page.screenshot({ path: picture });
    await page.getByRole("button", { name: "Allow once" }).click();
    await page.locator("#next:enabled").waitFor();
    expect(await content("/src/refund.ts")).toContain("if (due <= 0) throw new NothingDue(order.id);");

    // A secret is refused without a question.
    await next.click();
    await page.locator("#next:enabled").waitFor();
    await told
      .nth(3)
      .getByText(/secret|protected|denied/iu)
      .first()
      .waitFor();
    expect(await content("/.env")).toBe("TOKEN=a secret of the shop\n");

    // A patch of two files is refused by the visitor. The page goes on with its question by itself.
    await next.click();
    await page.getByRole("grid").getByText("one.count").waitFor();
    await page.getByRole("button", { name: "Refuse…" }).click();
    await page.getByLabel("Reason for the model").fill("not the README");
    await page.keyboard.press("Enter");
    await told.nth(4).getByText("not the README").waitFor();
    expect(await content("/README.md")).toContain("limited to what was paid.\n");

    const origins = await page.evaluate(() =>
      performance.getEntriesByType("resource").map(({ name }) => new URL(name).origin),
    );
    expect(new Set(origins)).toEqual(new Set([new URL(page.url()).origin]));
    expect(complaints).toEqual([]);
  });

  it("is at most 1150 KiB for a first visit, compressed", async () => {
    const { page } = await chromium.open("index.html");
    await page.locator("#next:enabled").waitFor();
    const names = await page.evaluate(() =>
      performance.getEntriesByType("resource").map(({ name }) => new URL(name).pathname.slice(1)),
    );
    const bytes = [...new Set(names), "index.html"].map(
      (name) => gzipSync(readFileSync(join(folder, name)), { level: 9 }).length,
    );
    expect(bytes.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(MAX_BYTES);
  });
});
