/** A bad network in a real Chromium: cut answers, another run of the server, a machine that sleeps. */
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { describeChromium, type Opened, withChromium } from "../browser/chromium.ts";
import { importKey } from "../../js/review/proof/mac.ts";
import { firstQuestion, logIn, openPlace, type Place, untilHub } from "./place.ts";
import { type CuttingProxy, openProxy } from "./proxy.ts";

/** How long no key answers a question that has just appeared, with a margin, in milliseconds. */
const KEY_GUARD_MS = 450;

describeChromium("the connection of the review page", () => {
  const chromium = withChromium(async () => ({}));

  async function open(place: Place, proxy: CuttingProxy): Promise<Opened> {
    const context = await chromium.interceptedContext();
    const opened = await chromium.open(proxy.through(place.page.link("manage", "ana")), context);
    await opened.page.locator(".connection.live").waitFor();
    return opened;
  }
  const status = (page: Page, text: string) => page.getByRole("status").getByText(text).waitFor();
  /** Makes a call that waits, and resolves when its change is drawn and keys answer. */
  async function ask(place: Place, page: Page, path: string, content: string) {
    const call = place.ws.call("write_file", { path, content });
    await page.getByRole("gridcell", { name: `added: ${content.trim()}` }).waitFor();
    await page.waitForTimeout(KEY_GUARD_MS);
    return { call };
  }

  it("an answer that arrived before the connection broke is not known at first, then shown, and counts once", async () => {
    const place = await openPlace({ "a.txt": "one\n" });
    await using proxy = await openProxy(place.page);
    const { page } = await open(place, proxy);
    const { call } = await ask(place, page, "a.txt", "two\n");
    proxy.cut = "cut-all";
    await page.keyboard.press("a");
    expect((await call).ok).toBe(true);
    await status(page, "it is not known whether this was answered");
    expect(await page.getByText("Not answered").count()).toBe(0);
    await status(page, "The connection is lost");
    // Nothing can be answered meanwhile, and nothing is sent when the connection is back.
    expect(await page.getByRole("button", { name: "Allow once" }).isDisabled()).toBe(true);
    await page.keyboard.press("a");
    proxy.cut = "none";
    await status(page, "Allowed by ana: ");
    await page.getByText("ana allowed it").waitFor();
    expect(await page.getByRole("button", { name: /^(Allow|Refuse)/u }).count()).toBe(0);
    expect(proxy.answers).toBe(1);
    expect(await place.backend.readText("/w/a.txt")).toBe("two\n");
  });

  it("an answer of which only the request was lost still waits, keeps its reason, and is given again", async () => {
    const place = await openPlace({ "a.txt": "one\n" });
    await using proxy = await openProxy(place.page);
    const { page } = await open(place, proxy);
    const { call } = await ask(place, page, "a.txt", "two\n");
    proxy.cut = "drop";
    await page.keyboard.press("r");
    await page.getByLabel("Reason for the model").fill("keep the word one");
    await page.keyboard.press("Enter");
    await status(page, "No answer has arrived, it still waits: ");
    expect(place.hub.queue.pending().length).toBe(1);
    expect(proxy.answers).toBe(0);
    proxy.cut = "none";
    await page.keyboard.press("r");
    expect(await page.getByLabel("Reason for the model").inputValue()).toBe("keep the word one");
    await page.keyboard.press("Enter");
    expect((await call).text).toContain("keep the word one");
    expect(proxy.answers).toBe(1);
    expect(await place.backend.readText("/w/a.txt")).toBe("one\n");
  });

  it("a rewind whose answer is lost is not called undone, and the list shows it", async () => {
    const place = await openPlace({ "a.txt": "one\n" }, { confirm: undefined });
    await place.ws.call("write_file", { path: "a.txt", content: "two\n" });
    await using proxy = await openProxy(place.page);
    const { page } = await open(place, proxy);
    await page.keyboard.press("g");
    await page.keyboard.press("t");
    await page.getByRole("option", { name: /a\.txt/u }).waitFor();
    await page.keyboard.press("u");
    const button = page.getByRole("button", { name: "Put back 1 path" });
    await button.waitFor();
    await page.route(/undo$/u, async (route) => {
      await route.fetch();
      await route.abort("connectionreset");
    });
    await button.click();
    await page.getByRole("alert").getByText("It is not known whether this was done").waitFor();
    expect(await place.backend.readText("/w/a.txt")).toBe("one\n");
    await page.getByRole("option", { name: /put back write_file/u }).waitFor();
  });

  it("a screen whose script did not load says so, and is there once the connection is back", async () => {
    const place = await openPlace({ "a.txt": "one\n" }, { confirm: undefined });
    await place.ws.call("write_file", { path: "a.txt", content: "two\n" });
    await using proxy = await openProxy(place.page);
    const { page, context } = await open(place, proxy);
    await context.setOffline(true);
    await page.getByRole("button", { name: "Timeline" }).click();
    await status(page, "This could not be loaded");
    await context.setOffline(false);
    await page.getByRole("button", { name: "Waiting" }).click();
    await page.getByRole("button", { name: "Timeline" }).click();
    await page.getByRole("option", { name: /a\.txt/u }).waitFor();
  });

  it("a screen whose script did not load with the connection intact is tried again, by itself and by a button", async () => {
    const place = await openPlace({ "a.txt": "one\n" });
    await using proxy = await openProxy(place.page);
    const { page, context } = await open(place, proxy);
    let isBroken = true;
    await context.route(/screens\.js$/u, (route) =>
      isBroken ? route.abort("connectionreset") : route.continue(),
    );
    const openTimeline = async (): Promise<void> => {
      await page.getByRole("button", { name: "Timeline" }).click();
      await status(page, "This could not be loaded");
      isBroken = false;
    };
    await openTimeline();
    await page.getByText("Nothing was changed yet.").waitFor();

    // A page that is loaded again needs a new link.
    isBroken = true;
    await page.reload();
    await page.getByText("This tab has no login here.").waitFor();
    await page.goto(proxy.through(place.page.link("manage", "ana")));
    await page.locator(".connection.live").waitFor();
    // Without its timer only the button tries again.
    await page.evaluate(() => {
      const start = globalThis.setTimeout;
      Object.assign(globalThis, {
        setTimeout: (run: () => void, ms = 0) => (ms >= 1000 ? 0 : start(run, ms)),
      });
    });
    await openTimeline();
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByText("Nothing was changed yet.").waitFor();
  });

  it("goes on with another run of the server, whose questions are its own", async () => {
    // Two processes of one owner, of which one serves the page after the other.
    const key = importKey(crypto.getRandomValues(new Uint8Array(32)));
    const place = await openPlace({ "a.txt": "one\n" }, {}, () => key);
    const next = await openPlace({ "b.txt": "one\n" }, {}, () => key);
    await using proxy = await openProxy(place.page);
    const { page } = await open(place, proxy);
    const { call } = await ask(place, page, "a.txt", "two\n");
    const other = next.ws.call("write_file", { path: "b.txt", content: "three\n" });
    await firstQuestion(next.hub);
    proxy.moveTo(next.page);
    await page.getByRole("gridcell", { name: "added: three" }).waitFor();
    expect(await page.getByRole("button", { name: "a.txt" }).count()).toBe(0);
    expect(proxy.answers).toBe(0);
    await page.waitForTimeout(KEY_GUARD_MS);
    await page.keyboard.press("a");
    expect((await other).ok).toBe(true);
    expect(proxy.answers).toBe(1);
    // The question of the first run was answered by nobody.
    expect(place.hub.queue.pending().length).toBe(1);
    place.hub.close();
    expect((await call).ok).toBe(false);
    expect(await place.backend.readText("/w/a.txt")).toBe("one\n");
  });

  it("after a sleep without a network nothing is lost, and nothing that was pressed is sent", async () => {
    const place = await openPlace({ "a.txt": "one\n", "b.txt": "one\n" });
    await using proxy = await openProxy(place.page);
    const { page, context } = await open(place, proxy);
    const { call } = await ask(place, page, "a.txt", "two\n");
    const browser = await context.newCDPSession(page);
    await context.setOffline(true);
    // The stream that is open goes on in Chromium, so a request shows that there is no network.
    await page.keyboard.press("a");
    await status(page, "The connection is lost");
    await browser.send("Page.setWebLifecycleState", { state: "frozen" });
    // Meanwhile another person answers, and an agent asks anew.
    const ben = await logIn(place.page, "answer", "ben");
    const pending = place.hub.queue.pending()[0];
    const digest = pending?.kind === "change" ? pending.details.digest : "";
    const { status: answered } = await ben.post(`approvals/${pending?.id}`, { outcome: "refuse", digest });
    expect([answered, (await call).ok]).toEqual([200, false]);
    const other = place.ws.call("write_file", { path: "b.txt", content: "three\n" });
    await untilHub(place.hub, () => (place.hub.queue.pending().length === 1 ? true : undefined));
    await browser.send("Page.setWebLifecycleState", { state: "active" });
    await context.setOffline(false);
    await page.getByText("ben refused it").waitFor();
    await page.getByRole("button", { name: "b.txt" }).click();
    await page.getByRole("gridcell", { name: "added: three" }).waitFor();
    expect(proxy.answers).toBe(0);
    await page.getByRole("button", { name: "Allow once" }).click();
    expect((await other).ok).toBe(true);
    expect(await place.backend.readText("/w/a.txt")).toBe("one\n");
    expect(await place.backend.readText("/w/b.txt")).toBe("three\n");
  });
});
