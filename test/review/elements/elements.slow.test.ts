/** The elements of the review page in pages of other people, in a real Chromium: as HTML, with React and with Vue. */
import { afterAll, beforeAll, expect, it } from "vitest";
import type { BrowserContext } from "playwright-core";
import { type HttpServer, startHttpServer } from "../../../js/http/server.node.ts";
import { makeReviewHandler, pageFile, type ReviewHandler } from "../../../js/review/index.node.ts";
import { bundleElements } from "../../../scripts/review-page.mjs";
import { describeChromium, type Opened, withChromium } from "../../browser/chromium.ts";
import type { ElementsPage } from "./pages/elements.ts";
import { addAxe, COLOURS, EVERY_RULE, violationsOf } from "../page/axe.ts";
import { openPlace, type Place } from "../place.ts";

declare const elementsPage: ElementsPage;

/** A strict policy of the page around: no inline script and no inline style. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' blob:";
const STYLE = `body { margin: 0; } filewright-review { block-size: 100vh; }
.themed filewright-review { --filewright-accent: rgb(1, 2, 3); }
.themed filewright-review::part(allow) { outline: 3px solid rgb(4, 5, 6); } .dark { color-scheme: dark; }`;

const BEFORE = "one\ntwo\nthree\n";

describeChromium("the elements", () => {
  const chromium = withChromium(async () => ({}));
  let scripts: ReadonlyMap<string, string>;
  const servers: HttpServer[] = [];

  beforeAll(async () => {
    const { outputFiles = [] } = await bundleElements({
      entryPoints: ["elements", "react", "vue"].map((name) => `test/review/elements/pages/${name}.ts`),
      outdir: "out",
      write: false,
      define: {
        "process.env.NODE_ENV": '"production"',
        __VUE_OPTIONS_API__: "false",
        __VUE_PROD_DEVTOOLS__: "false",
        __VUE_PROD_HYDRATION_MISMATCH_DETAILS__: "false",
      },
    });
    scripts = new Map(outputFiles.map(({ path, text }) => [path.replace(/^.*[\\/]/u, ""), text]));
  });
  afterAll(async () => {
    await Promise.all(servers.map((server) => server.close()));
  });

  /** Serves somebody's page and, below `/review`, the handler of a hub. Opens the page with a ticket. */
  async function open(
    place: Place,
    page: string,
    context?: BrowserContext,
  ): Promise<Opened & { readonly handler: ReviewHandler }> {
    const handler = makeReviewHandler(place.hub, {
      file: (name) => (name === "editor.js" ? pageFile(name) : undefined),
    });
    const server = await startHttpServer(
      async (request) => {
        const { pathname } = new URL(request.url);
        if (pathname.startsWith("/review")) return handler.handle(request);
        const script = scripts.get(pathname.slice(1));
        if (script !== undefined)
          return new Response(script, { headers: { "content-type": "text/javascript" } });
        if (pathname === "/style.css")
          return new Response(STYLE, { headers: { "content-type": "text/css" } });
        const name = pathname.slice(1) || "elements";
        const html = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Somebody's page</title>
<link rel="icon" href="data:,"><link rel="stylesheet" href="/style.css">
<body><header><h1>Somebody's page</h1></header><main id="root"></main><script type="module" src="/${name}.js"></script>`;
        return new Response(html, {
          headers: { "content-type": "text/html", "content-security-policy": `${POLICY} data:` },
        });
      },
      { host: "127.0.0.1", port: 0, hosts: ["127.0.0.1"] },
    );
    servers.push(server);
    const opened = await chromium.open(`${server.url}/${page}${handler.ticket("answer", "ana")}`, context);
    return { ...opened, handler };
  }
  const write = (place: Place, path: string, content: string) =>
    place.ws.call("write_file", { path, content });

  it("<filewright-review> shows a change in a strict page, a person allows it, and the file has its bytes", async () => {
    const place = await openPlace({ "src/a.txt": BEFORE });
    const { page, complaints } = await open(place, "elements");
    await page.locator(".connection.live").waitFor();
    const call = write(place, "src/a.txt", BEFORE.replace("two", "deux"));
    await page.getByRole("grid").getByText("deux").waitFor();
    const allow = page.getByRole("button", { name: "Allow once" });
    // Colours come from the page around, and so does the colour scheme.
    await page.evaluate(() => document.documentElement.classList.add("themed"));
    expect(await allow.evaluate((button) => getComputedStyle(button).backgroundColor)).toBe("rgb(1, 2, 3)");
    expect(await allow.evaluate((button) => getComputedStyle(button).outlineColor)).toBe("rgb(4, 5, 6)");
    const ground = () => page.locator(".embedded").evaluate((node) => getComputedStyle(node).backgroundColor);
    expect(await ground()).toBe("rgb(255, 255, 255)");
    await page.evaluate(() => document.documentElement.classList.add("dark"));
    expect(await ground()).toBe("rgb(19, 20, 22)");
    const picture = process.env["FILEWRIGHT_SCREENSHOT"];
    if (picture !== undefined) await page.screenshot({ path: picture });
    await allow.click();
    expect((await call).ok).toBe(true);
    expect(await place.backend.readText("/w/src/a.txt")).toBe("one\ndeux\nthree\n");
    await page.getByText("Nothing waits.", { exact: true }).waitFor();
    expect(await page.evaluate(() => elementsPage.heard)).toEqual([
      "waiting 0",
      "waiting 1",
      "waiting 0",
      "allow ana",
    ]);
    // The page around has the only main part.
    expect(await page.locator("main").count()).toBe(1);
    // Removed from the page, it ends its connection; put back, it connects again.
    await page.evaluate(() => {
      const element = document.querySelector("filewright-review");
      element?.remove();
      setTimeout(() => document.body.append(element as HTMLElement));
    });
    await page.locator(".connection.live").waitFor();
    // Its stream of events has ended with it; nothing else is wrong.
    expect(complaints.filter((text) => !text.includes("/review/events"))).toEqual([]);
  });

  it("<filewright-review> gets the editor from the server of its questions", async () => {
    const place = await openPlace({ "a.txt": BEFORE });
    const { page, complaints } = await open(place, "elements");
    const call = write(place, "a.txt", "four\n");
    await page.getByRole("grid").getByText("four").waitFor();
    await page.getByRole("button", { name: "Edit…" }).click();
    await page.getByRole("textbox", { name: "The new content of /w/a.txt" }).waitFor();
    await page.keyboard.press("ControlOrMeta+End");
    await page.keyboard.type("five");
    await page.getByRole("button", { name: "Allow with this content" }).click();
    expect((await call).ok).toBe(true);
    expect(await place.backend.readText("/w/a.txt")).toBe("four\nfive");
    expect(complaints).toEqual([]);
  });

  it("the keys of an element are those that are pressed in it", async () => {
    const place = await openPlace({ "a.txt": BEFORE });
    const { page } = await open(place, "elements");
    await page.locator(".connection.live").waitFor();
    const call = write(place, "a.txt", "four\n");
    await page.getByRole("grid").getByText("four").waitFor();
    // By the page's own clock, for the same time no key answers.
    await page.waitForTimeout(450);
    await page.evaluate(() =>
      document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "a", bubbles: true })),
    );
    expect(place.hub.queue.pending().length).toBe(1);
    await page.getByRole("grid").press("a");
    expect((await call).ok).toBe(true);
  });

  it("<filewright-approval> shows one question alone, and <filewright-timeline> the timeline", async () => {
    const place = await openPlace({ "a.txt": BEFORE });
    const { page, context } = await open(place, "elements?element=filewright-approval");
    const call = write(place, "a.txt", "four\n");
    await page.getByRole("grid").getByText("four").waitFor();
    expect(await page.getByRole("heading", { name: "Filewright review" }).isVisible()).toBe(false);
    await page.getByRole("button", { name: "Allow once" }).click();
    expect((await call).ok).toBe(true);
    const timeline = await open(place, "elements?element=filewright-timeline", context);
    await timeline.page.getByRole("heading", { name: "Timeline" }).waitFor();
    expect(timeline.complaints).toEqual([]);
  });

  it("<filewright-diff> draws a patch without any connection", async () => {
    const place = await openPlace();
    const { page, complaints } = await open(place, "elements?element=filewright-diff");
    await page.getByRole("grid").getByText("deux").waitFor();
    expect(await page.locator(".row.file").textContent()).toBe(
      "edit src/a.txt+1 lines added −1 lines removed",
    );
    expect(await page.locator(".row.added .code").allTextContents()).toEqual(["+added: deux"]);
    expect(complaints).toEqual([]);
  });

  it.each(["react", "vue"])(
    "with %s: an element and the page's own buttons share what was answered",
    async (name) => {
      const place = await openPlace({ "a.txt": BEFORE, "b.txt": BEFORE });
      const { page, complaints } = await open(place, name);
      await page.locator("filewright-diff").getByText("two").waitFor();
      const first = write(place, "a.txt", "four\n");
      const approval = page.locator("filewright-approval.approval");
      await approval.getByText("four").waitFor();
      await page.locator("#own").getByText("live as ana: 1 wait").waitFor();
      await approval.getByRole("button", { name: "Allow once" }).click();
      expect((await first).ok).toBe(true);
      await page.locator("#settled").getByText("allow by ana").waitFor();

      const second = write(place, "b.txt", "five\n");
      await page.locator("#own button").click();
      const { ok, text } = await second;
      expect(ok).toBe(false);
      expect(text).toContain("not today");
      expect(await place.backend.readText("/w/b.txt")).toBe(BEFORE);
      await page.locator("#settled").getByText("refuse by ana").waitFor();
      expect(complaints).toEqual([]);
    },
  );

  it.each(["filewright-review", "filewright-approval", "filewright-timeline", "filewright-diff"])(
    "<%s> has nothing for axe to find, in the light and in the dark",
    async (element) => {
      const place = await openPlace(
        { "a.txt": BEFORE },
        { rules: [{ tool: "write_file", path: "b.txt", decision: "review" }] },
      );
      await place.ws.call("write_file", { path: "b.txt", content: "new\n" });
      const { page } = await open(place, `elements?element=${element}`);
      const stop = new AbortController();
      const call = place.ws.call("write_file", { path: "a.txt", content: "deux\n" }, { signal: stop.signal });
      await page.getByRole("grid").locator(".row.added").first().waitFor();
      await addAxe(page);
      const light = await violationsOf(page, EVERY_RULE);
      await page.evaluate(() => document.documentElement.classList.add("dark"));
      const dark = await violationsOf(page, COLOURS);
      stop.abort();
      await call;
      expect([...light, ...dark]).toEqual([]);
    },
  );
});
