/** The example's page in Chromium, as a visitor uses it. */
import { expect, it } from "vitest";
import { servePage } from "../../examples/browser/serve.mjs";
import { describeChromium, withChromium } from "./chromium.ts";

describeChromium("examples/browser", () => {
  const chromium = withChromium(async () => ({}));

  it("opens the storage, searches, shows the diffs, and writes only what was looked at", async () => {
    const server = await servePage();
    try {
      const { page, context, complaints } = await chromium.open(server.url);
      const status = page.getByRole("status");
      const files = page.getByRole("list", { name: "Files of the workspace" }).getByRole("listitem");
      const figures = page.getByRole("figure");
      const content = (path: string) =>
        page.evaluate(async (name) => {
          let handle = await (await navigator.storage.getDirectory()).getDirectoryHandle(
            "filewright-example",
          );
          const [file = "", ...directories] = name.split("/").reverse();
          for (const directory of directories.reverse()) handle = await handle.getDirectoryHandle(directory);
          return (await (await handle.getFileHandle(file)).getFile()).text();
        }, path);

      await page.getByRole("button", { name: "Use this browser’s storage" }).click();
      await status.filter({ hasText: "is open" }).waitFor();
      // The page's head asks for the module, before the scripts do: once.
      const modules = await page.evaluate(() =>
        (performance.getEntriesByType("resource") as PerformanceResourceTiming[])
          .filter(({ name }) => name.endsWith(".wasm"))
          .map(({ initiatorType }) => initiatorType),
      );
      expect(modules).toEqual(["link"]);
      expect(await files.allTextContents()).toEqual(["README.md", "src/client.ts", "src/config.ts"]);

      await page.getByRole("button", { name: "Run" }).click();
      await status.filter({ hasText: "3 files matched, 3 would change." }).waitFor();
      expect(await figures.count()).toBe(3);
      const config = figures.filter({ hasText: "src/config.ts" });
      expect(await config.locator("tr.removed").allTextContents()).toEqual(["1removed: -const retries = 3;"]);
      expect(await config.locator("tr.added").allTextContents()).toEqual(["1added: +const retries = 5;"]);
      expect(await page.getByRole("list", { name: "Calls" }).getByRole("listitem").count()).toBe(4);
      expect(await content("src/config.ts")).toContain("retries = 3");
      const picture = process.env["FILEWRIGHT_SCREENSHOT"];
      if (picture !== undefined) await page.screenshot({ path: picture, fullPage: true });

      await page.getByRole("button", { name: "Write the changes" }).click();
      await status.filter({ hasText: "3 files written." }).waitFor();
      expect(await figures.count()).toBe(0);
      expect(await content("src/config.ts")).toBe("const retries = 5;\nexport { retries };\n");

      // By keyboard alone, and taken back.
      await page.getByLabel("Find the lines that match").fill("retries = 5");
      await page.getByLabel("In them replace").fill("retries = 5");
      await page.getByLabel("with", { exact: true }).fill("retries = 7");
      await page.keyboard.press("Enter");
      await status.filter({ hasText: "3 would change" }).waitFor();
      await page.getByRole("button", { name: "Discard them" }).press("Enter");
      await status.filter({ hasText: "forgotten" }).waitFor();
      expect(await content("src/config.ts")).toContain("retries = 5");

      // A second visit finds what was written.
      const again = await chromium.open(server.url, context);
      await again.page.getByRole("button", { name: "Use this browser’s storage" }).click();
      await again.page.getByRole("status").filter({ hasText: "is open" }).waitFor();
      expect([...complaints, ...again.complaints]).toEqual([]);
    } finally {
      server.close();
    }
  }, 60_000);

  it("can be tried in memory, on the engine in WebAssembly, and nothing stays in the browser", async () => {
    const server = await servePage();
    try {
      const { page, context, complaints } = await chromium.open(server.url);
      await page.getByRole("button", { name: "Try it in memory" }).click();
      await page.getByRole("status").filter({ hasText: "A project in memory is open." }).waitFor();
      await page.getByLabel("with", { exact: true }).fill("retries = 9");
      await page.getByRole("button", { name: "Run" }).click();
      await page.getByRole("status").filter({ hasText: "3 files matched, 3 would change." }).waitFor();
      await page.getByRole("button", { name: "Write the changes" }).click();
      await page.getByRole("status").filter({ hasText: "3 files written." }).waitFor();

      const again = await chromium.open(server.url, context);
      await again.page.getByRole("button", { name: "Try it in memory" }).click();
      await again.page.getByRole("status").filter({ hasText: "is open" }).waitFor();
      await again.page.getByRole("button", { name: "Run" }).click();
      await again.page.getByRole("status").filter({ hasText: "3 would change" }).waitFor();
      const stored = await page.evaluate(async () => {
        const names = [];
        for await (const name of (await navigator.storage.getDirectory()).keys()) names.push(name);
        return names;
      });
      expect(stored).toEqual([]);
      expect([...complaints, ...again.complaints]).toEqual([]);
    } finally {
      server.close();
    }
  }, 60_000);

  it("a mistake in the search is said on the page", async () => {
    const server = await servePage();
    try {
      const { page, complaints } = await chromium.open(server.url);
      await page.getByRole("button", { name: "Use this browser’s storage" }).click();
      await page.getByRole("status").filter({ hasText: "is open" }).waitFor();
      await page.getByLabel("Find the lines that match").fill("(");
      await page.getByRole("button", { name: "Run" }).click();
      await page.getByRole("status").filter({ hasText: "The search failed" }).waitFor();
      expect(complaints).toEqual([]);
    } finally {
      server.close();
    }
  }, 60_000);
});
