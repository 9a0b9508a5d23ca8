/** The playground in a real Chromium: an agent's session in the tab, and a visitor who answers. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, expect, it } from "vitest";
import type { Page } from "playwright-core";
import { EXAMPLE_DOCUMENTS, readBlocks } from "../../scripts/site/examples.mjs";
import { buildPlayground } from "../../scripts/site/playground.mjs";
import { describeChromium, withChromium } from "../browser/chromium.ts";

declare const axe: {
  run(
    node: Document,
    options: object,
  ): Promise<{ violations: { id: string; nodes: { target: string[] }[] }[] }>;
};
declare const runExample: (name: string, print: (kind: string, text: string) => void) => Promise<unknown>;
declare const playground: { content(path: string): Promise<string> };

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const KIB = 1024;
/**
 * What a first visit may load, compressed. Measured: 4 KiB until the page is drawn, 968 KiB with what follows while it
 * is read (847 KiB of them are the module of the engine), and some 1,200 KiB with the package, which comes with the first call.
 */
const MAX_BYTES = { paint: 8 * KIB, visit: 975 * KIB, call: 1325 * KIB };

const folder = mkdtempSync(join(tmpdir(), "filewright-playground-"));
afterAll(() => rmSync(folder, { recursive: true }));

describeChromium("the playground", () => {
  const chromium = withChromium(async () => {
    await buildPlayground(folder);
    const names = readdirSync(folder, { recursive: true }).map((name) => String(name).replaceAll("\\", "/"));
    const files = names.filter((name) => /\.\w+$/u.test(name));
    return {
      ...Object.fromEntries(files.map((name) => [name, readFileSync(join(folder, name))])),
      "all.html":
        '<!doctype html><title>all</title><link rel="icon" href="icon.svg"><script type="module" src="all.js"></script>',
      "all.js": 'import { runExample } from "./run.js"; globalThis.runExample = runExample;',
    };
  });

  const content = (page: Page, path: string) => page.evaluate((at) => playground.content(at), path);
  async function call(page: Page): Promise<void> {
    await page.locator("#next:enabled").waitFor();
    await page.getByRole("button", { name: "Next call" }).click();
  }
  const EDITED = "if (due <= 0) throw new NothingDue(order.id);";

  it("plays a session, asks the visitor, writes what was allowed, and loads nothing from elsewhere", async () => {
    const { page, complaints } = await chromium.open("index.html");
    const told = page.locator("#calls pre");
    await call(page);
    await told.nth(0).getByText("export function refund").waitFor();
    await call(page);
    await told.nth(1).getByText("src/refund.ts").waitFor();

    // The edit waits.
    await call(page);
    await page.getByRole("grid").getByText("NothingDue").waitFor();
    await page.getByRole("button", { name: "Allow once" }).click();
    await page.locator("#next:enabled").waitFor();
    expect(await content(page, "/src/refund.ts")).toContain(EDITED);
    await page.locator("#files summary").getByText("/src/refund.ts").click();
    await page.locator("#files pre").getByText(EDITED).waitFor();

    // A secret is refused without a question.
    await call(page);
    await told
      .nth(3)
      .getByText(/secret|protected|denied/iu)
      .first()
      .waitFor();
    expect(await content(page, "/.env")).toBe("TOKEN=a secret of the shop\n");

    // A patch of two files is refused by the visitor. The page goes on with its question by itself.
    await call(page);
    await page.getByRole("grid").getByText("one.count").waitFor();
    await page.getByRole("button", { name: "Refuse…" }).click();
    await page.getByLabel("Reason for the model").fill("not the README");
    await page.keyboard.press("Enter");
    await told.nth(4).getByText("not the README").waitFor();
    expect(await content(page, "/README.md")).toContain("limited to what was paid.\n");

    const origins = await page.evaluate(() =>
      performance.getEntriesByType("resource").map(({ name }) => new URL(name).origin),
    );
    expect(new Set(origins)).toEqual(new Set([new URL(page.url()).origin]));
    expect(complaints).toEqual([]);
    await page.close();
  });

  it("keeps an edit and its timeline in this browser over a reload, until the session is started again", async () => {
    const { page, complaints } = await chromium.open("index.html");
    await page.getByLabel("kept in this browser").click();
    await page.getByText("are still here after a reload").waitFor();
    for (let index = 0; index < 3; index += 1) await call(page);
    await page.getByRole("grid").getByText("NothingDue").waitFor();
    await page.getByRole("button", { name: "Allow once" }).click();
    await page.locator("#next:enabled").waitFor();

    await page.reload();
    await page.getByText("are still here after a reload").waitFor();
    expect(await page.getByLabel("kept in this browser").isChecked()).toBe(true);
    expect(await content(page, "/src/refund.ts")).toContain(EDITED);
    await page.locator("#files summary").getByText("/src/refund.ts").click();
    await page.locator("#files pre").getByText(EDITED).waitFor();
    await page.getByRole("button", { name: "Timeline" }).click();
    const edit = page.getByRole("option", { name: /edit_file.*refund/u });
    await edit.click();
    await page
      .getByRole("button", { name: /^Put back/u })
      .first()
      .click();
    await page.getByRole("button", { name: "Put back 1 path" }).click();
    await expect.poll(() => content(page, "/src/refund.ts")).toContain("if (due < 0) return;");

    await page.getByRole("button", { name: "Start again" }).click();
    await page.getByText("are still here after a reload").waitFor();
    // The review page starts again as well.
    await page.getByRole("button", { name: "Timeline" }).click();
    await page.getByText("Nothing was changed yet.").waitFor();
    expect(await content(page, "/src/refund.ts")).toContain("if (due < 0) return;");
    expect(complaints).toEqual([]);

    // A folder that the visitor picks. Here it is another one of the private files, because a test has no picker.
    await page.evaluate(() =>
      Object.assign(globalThis, {
        showDirectoryPicker: async () => {
          const folder = await (await navigator.storage.getDirectory()).getDirectoryHandle("mine", {
            create: true,
          });
          const writable = await (await folder.getFileHandle("mine.txt", { create: true })).createWritable();
          await writable.write("my own\n");
          await writable.close();
          return folder;
        },
      }),
    );
    await page.getByLabel("a folder of mine").click();
    await page.locator("#files summary").getByText("/mine.txt").waitFor();
    await page.reload();
    // A folder has to be picked again, so the page starts in memory.
    await page.locator("#next:enabled").waitFor();
    expect(await page.getByLabel("in memory").isChecked()).toBe(true);
    await page.close();
  });

  it("has nothing for axe to find while a question waits, in light and dark", async () => {
    // axe is a script from a string, which the policy of the server forbids.
    const context = await chromium.browser.newContext({ bypassCSP: true });
    const { page } = await chromium.open("index.html", context);
    for (let index = 0; index < 3; index += 1) await call(page);
    await page.getByRole("grid").getByText("NothingDue").waitFor();
    await page.evaluate(AXE);
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      const found = await page.evaluate(async () => {
        const { violations } = await axe.run(document, {
          runOnly: ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa"],
        });
        return violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${target.join(" ")}`));
      });
      expect(found).toEqual([]);
    }
    await context.close();
  });

  it("loads at most 975 KiB for a first visit, compressed, and the package with the first call", async () => {
    const { page } = await chromium.open("index.html");
    const names = () =>
      page.evaluate(() =>
        performance
          .getEntriesByType("resource")
          .map(({ name }) => new URL(name).pathname.slice(1))
          .filter((name) => name !== "favicon.ico"),
      );
    const bytesOf = (loaded: readonly string[]) =>
      [...new Set(["index.html", ...loaded])]
        .map((name) => gzipSync(readFileSync(join(folder, name)), { level: 9 }).length)
        .reduce((sum, one) => sum + one, 0);
    const drawn = ["playground.css", "playground.js", "icon.svg"];
    await expect.poll(names, { timeout: 60_000 }).toContain("filewright_bg.wasm");
    await page.waitForFunction(() => customElements.get("filewright-review") !== undefined);
    const visit = await names();
    expect(visit).toEqual(expect.arrayContaining(["elements.js", ...drawn.slice(0, 2)]));
    await call(page);
    await page.locator("#calls pre").getByText("export function refund").waitFor();
    const bytes = { paint: bytesOf(drawn), visit: bytesOf(visit), call: bytesOf(await names()) };
    expect(bytes.paint).toBeLessThanOrEqual(MAX_BYTES.paint);
    expect(bytes.visit).toBeLessThanOrEqual(MAX_BYTES.visit);
    expect(bytes.call).toBeLessThanOrEqual(MAX_BYTES.call);
    await page.close();
  });

  it("runs every example of the documentation that needs no Node, each without an error", async () => {
    const names = EXAMPLE_DOCUMENTS.flatMap(readBlocks).flatMap(({ name, kind, language }) =>
      // An example with markup waits for an answer: the test of the pages gives it.
      kind === "runs" && language !== "html" ? [name] : [],
    );
    expect(names.length).toBeGreaterThan(40);
    const { page, complaints } = await chromium.open("all.html");
    await page.waitForFunction(() => "runExample" in globalThis);
    const said = await page.evaluate(async (all) => {
      const found: string[] = [];
      for (const name of all) {
        try {
          await runExample(name, (kind, text) => {
            if (kind === "failed") found.push(`${name}: ${text}`);
          });
        } catch (error) {
          found.push(`${name}: ${error}`);
        }
      }
      return found;
    }, names);
    expect(said).toEqual([]);
    expect(complaints).toEqual([]);
    await page.close();
  });
});
