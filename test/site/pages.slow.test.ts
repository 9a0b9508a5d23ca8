/**
 * The site: every internal link leads to a page or a heading, no page loads anything from elsewhere or has a script inline, what a reader needs
 * is two clicks away, and the examples run below their code.
 */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { afterAll, expect, it } from "vitest";
import { buildSite, DOCUMENT_BY_PAGE } from "../../scripts/site.mjs";
import { EXAMPLE_DOCUMENTS, readBlocks } from "../../scripts/site/examples.mjs";
import { describeChromium, withChromium } from "../browser/chromium.ts";

const folder = mkdtempSync(join(tmpdir(), "filewright-site-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** Returns a page without its examples of code, in which addresses are only text. */
const pageOf = (name: string): string =>
  readFileSync(join(folder, name), "utf8").replaceAll(/<(pre|code)\b[^>]*>[\s\S]*?<\/\1>/gu, "");

/** The subjects that a reader looks for, and the page of each. */
const PAGE_BY_NEED = {
  "a start": "documents/guides_getting-started.html",
  "which preset for which client": "documents/guides_presets.html",
  "the protocol, client by client": "documents/mcp.html",
  "the options": "documents/reference_options.html",
  "every error code with its cure": "documents/reference_errors.html",
  "symptoms and remedies": "documents/guides_troubleshooting.html",
  bundling: "documents/guides_bundling.html",
  "several agents": "documents/guides_fleets.html",
  "undo, history and audit": "documents/guides_undo-and-audit.html",
  "unattended runs": "documents/guides_ci.html",
  containers: "documents/guides_deployment.html",
  upgrading: "documents/guides_upgrading.html",
  "the review page": "documents/guides_review.html",
  "the playground": "playground/index.html",
};

/** Returns the pages that a page links to, by their names in the site. */
function linkedFrom(name: string): readonly string[] {
  return [...pageOf(name).matchAll(/\shref="([^"#:]+\.html)[^"]*"/gu)].map(([, address = ""]) =>
    relative(folder, resolve(folder, dirname(name), address)).replaceAll("\\", "/"),
  );
}

const idsByFile = new Map<string, ReadonlySet<string>>();
function hasId(file: string, id: string): boolean {
  const ids =
    idsByFile.get(file) ??
    new Set([...readFileSync(file, "utf8").matchAll(/\sid="([^"]*)"/gu)].map(([, one = ""]) => one));
  idsByFile.set(file, ids);
  return ids.has(id);
}

describeChromium("the site", () => {
  const chromium = withChromium(async () => {
    await buildSite(folder);
    const names = readdirSync(folder, { recursive: true }).map((name) => String(name).replaceAll("\\", "/"));
    return Object.fromEntries(
      names.filter((name) => /\.\w+$/u.test(name)).map((name) => [name, readFileSync(join(folder, name))]),
    );
  }, 600_000);

  it("has the guides, and no link in it is broken", () => {
    const names = readdirSync(folder, { recursive: true }).map(String);
    const guides = readdirSync(resolve(import.meta.dirname, "../../docs/guides")).filter((name) =>
      name.endsWith(".md"),
    );
    const missing = guides.filter(
      (guide) => !names.includes(join("documents", `guides_${guide.replace(/\.md$/u, ".html")}`)),
    );
    expect(missing).toEqual([]);

    const broken: string[] = [];
    const foreign: string[] = [];
    const inline: string[] = [];
    let count = 0;
    for (const name of names.filter((one) => one.endsWith(".html"))) {
      const file = join(folder, name);
      if (/<script(?![^>]*\ssrc=)/u.test(readFileSync(file, "utf8"))) inline.push(name);
      for (const [, attribute, address = ""] of pageOf(name).matchAll(/\s(href|src)="([^"]*)"/gu)) {
        if (/^[a-z]+:/iu.test(address)) {
          if (attribute === "src" && !address.startsWith("data:")) foreign.push(`${name}: ${address}`);
          continue;
        }
        count += 1;
        const [path = "", id = ""] = address.split("#", 2).map(decodeURIComponent);
        const target = path === "" ? file : resolve(dirname(file), path);
        const isThere = existsSync(target) && (id === "" || !target.endsWith(".html") || hasId(target, id));
        if (!isThere) broken.push(`${name}: ${address}`);
      }
    }
    expect(count).toBeGreaterThan(1000);
    expect(broken).toEqual([]);
    expect(foreign).toEqual([]);
    expect(inline).toEqual([]);
    // A document without a page would be shown as it is stored, or downloaded.
    const raw = names.filter(
      (name) => name.endsWith(".html") && /\shref="[^":]*\.md[#"]/u.test(pageOf(name)),
    );
    expect(raw).toEqual([]);
    // Style sheets and scripts name nothing outside either.
    const loaded = names.filter((name) => /^assets.*\.(?:css|js)$/u.test(name));
    expect(
      loaded.filter((name) => /url\(\s*["']?https?:/u.test(readFileSync(join(folder, name), "utf8"))),
    ).toEqual([]);
  });

  it("has what a reader needs at most two clicks from its first page", () => {
    const first = linkedFrom("index.html");
    const near = new Set([...first, ...first.flatMap(linkedFrom)]);
    const far = Object.entries(PAGE_BY_NEED).filter(([, page]) => !near.has(page));
    expect(far).toEqual([]);
  });

  it("marks every block of a program: it runs, or it says why it needs Node", () => {
    expect([...DOCUMENT_BY_PAGE.values()]).toEqual(EXAMPLE_DOCUMENTS);
    for (const [page, path] of DOCUMENT_BY_PAGE) {
      const html = readFileSync(join(folder, page), "utf8");
      const blocks = readBlocks(path);
      expect([...html.matchAll(/ data-example="([^"]*)"/gu)].map(([, name]) => name)).toEqual(
        blocks.flatMap(({ kind, name }) => (kind === "runs" ? [name] : [])),
      );
      expect([...html.matchAll(/>Needs Node: ([^<]*)\.</gu)].map(([, reason]) => reason)).toEqual(
        blocks.flatMap(({ kind, reason }) => (kind === "node" ? [reason] : [])),
      );
    }
  });

  it("runs an example below its code, under a policy without inline scripts", async () => {
    const { page, complaints } = await chromium.open("documents/guides_undo-and-audit.html");
    const example = page.locator("[data-example=guides_undo-and-audit-1]");
    await example.getByRole("button", { name: "Run" }).click();
    await example.getByText("Files afterwards").waitFor();
    await example.getByText("console.assert: holds").first().waitFor();
    await example.locator("summary").first().click();
    const picture = process.env["FILEWRIGHT_SCREENSHOT"];
    if (picture !== undefined) await page.screenshot({ path: picture });
    expect(complaints).toEqual([]);
    await page.close();
  });

  it("runs the examples with markup, and the reader answers the questions of two of them", async () => {
    const ran: string[] = [];
    for (const [address, path] of DOCUMENT_BY_PAGE) {
      const names = readBlocks(path).flatMap(({ kind, language, name }) =>
        kind === "runs" && language === "html" ? [name] : [],
      );
      if (names.length === 0) continue;
      const { page, complaints } = await chromium.open(address);
      for (const name of names) {
        const example = page.locator(`[data-example=${name}]`);
        await example.getByRole("button", { name: "Run" }).click();
        const asking = example.locator("filewright-review, filewright-approval");
        if ((await asking.count()) > 0) {
          // The whole page is as narrow as on a telephone here, and shows one part at a time.
          const waiting = example.locator("filewright-review").getByText("a.txt", { exact: true });
          if ((await example.locator("filewright-review").count()) > 0) await waiting.click();
          await example.getByRole("grid").getByText("two").waitFor();
          await example.getByRole("button", { name: "Allow once" }).click();
          await example.locator("summary").getByText(".txt").click();
          await example.locator("details pre").getByText("two").waitFor();
        }
        await page.locator(`[data-example=${name}][data-ended]`).waitFor();
        expect(await example.locator(".example-failed").allTextContents()).toEqual([]);
        ran.push(name);
      }
      if (path === "docs/guides/elements.md") {
        await page.locator("filewright-diff").getByText("three").waitFor();
        await page.locator("filewright-timeline").getByText("list.txt").first().waitFor();
      }
      expect(complaints).toEqual([]);
      await page.close();
    }
    expect(ran.length).toBeGreaterThanOrEqual(4);
  });
});
