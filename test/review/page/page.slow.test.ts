/** The review page in a real Chromium: a call waits, a person answers, and the file has the bytes. */
import { describe, expect, it } from "vitest";
import type { BrowserContext, Page } from "playwright-core";
import { describeChromium, type Opened, withChromium } from "../../browser/chromium.ts";
import { keyboardOf } from "./keyboard.ts";
import { firstQuestion, logIn, openPlace, type Place, untilHub } from "../place.ts";

const LINES = Array.from({ length: 60 }, (_, index) => `line ${index + 1}\n`);
const BEFORE = LINES.join("");
const AFTER = LINES.with(4, "line five\n").with(29, "line thirty\n").with(54, "line fifty-five\n").join("");

/** How long no key answers a question that has just appeared, with a margin, in milliseconds. */
const KEY_GUARD_MS = 450;

describeChromium("the review page", () => {
  const chromium = withChromium(async () => ({}));

  /** Opens the page of a place and waits until it is connected. */
  async function open(place: Place, context?: BrowserContext): Promise<Opened> {
    const opened = await chromium.open(place.page.link("answer", "ana"), context);
    await opened.page.locator(".connection.live").waitFor();
    return opened;
  }
  const title = (page: Page, text: string) => page.getByRole("heading", { name: text, level: 2 });
  const write = (place: Place, path: string, content: string) =>
    place.ws.call("write_file", { path, content });

  it("shows a change that waits, and the file has its bytes once a person presses a", async () => {
    const place = await openPlace({ "src/a.txt": BEFORE });
    const { page, complaints } = await open(place);
    expect(await page.evaluate(() => location.hash)).toBe("");
    const call = write(place, "src/a.txt", AFTER);
    await page.getByRole("grid").getByText("line five").waitFor();
    expect(await page.title()).toBe("(1) Filewright review");
    expect(await page.locator(".row.added .code").allTextContents()).toEqual([
      "+added: line five",
      "+added: line thirty",
      "+added: line fifty-five",
    ]);
    await page.waitForTimeout(KEY_GUARD_MS);
    await page.keyboard.press("a");
    expect((await call).ok).toBe(true);
    expect(await place.backend.readText("/w/src/a.txt")).toBe(AFTER);
    await page.getByRole("status").getByText("Allowed: ").waitFor();
    await page.getByText("Nothing waits.", { exact: true }).waitFor();
    expect(complaints).toEqual([]);
  });

  it("by keyboard alone: two of three hunks are allowed, and the next change is refused with a reason", async () => {
    const place = await openPlace({ "a.txt": BEFORE, "b.txt": "one\n" });
    const { page, complaints } = await open(place);
    const first = write(place, "a.txt", AFTER);
    await page.getByText("3 of 3 hunks chosen").waitFor();
    const second = write(place, "b.txt", "two\n");
    await page.getByRole("button", { name: "b.txt" }).waitFor();
    await page.waitForTimeout(KEY_GUARD_MS);
    await page.keyboard.press("n");
    await page.keyboard.press("Space");
    await page.getByText("2 of 3 hunks chosen").waitFor();
    await page.keyboard.press("a");
    expect((await first).ok).toBe(true);
    expect(await place.backend.readText("/w/a.txt")).toBe(AFTER.replace("line thirty\n", "line 30\n"));

    await page.getByRole("grid").getByText("two").waitFor();
    await page.waitForTimeout(KEY_GUARD_MS);
    await page.keyboard.press("r");
    await page.getByLabel("Reason for the model").fill("keep the word one");
    await page.keyboard.press("Enter");
    const refused = await second;
    expect(refused.ok).toBe(false);
    expect(refused.text).toContain("keep the word one");
    expect(await place.backend.readText("/w/b.txt")).toBe("one\n");
    expect(complaints).toEqual([]);
  });

  it("no key answers a question that has just appeared", async () => {
    const place = await openPlace({ "a.txt": "one\n" });
    const { page } = await open(place);
    // The page's own clock decides, so the key comes in the same task in which the question is drawn.
    await page.evaluate(() => {
      new MutationObserver((_, observer) => {
        if (document.querySelector(".allow:not(:disabled)") === null) return;
        observer.disconnect();
        document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "a", bubbles: true }));
        document.body.dataset["pressed"] = "yes";
      }).observe(document.body, { subtree: true, childList: true, attributes: true });
    });
    const stop = new AbortController();
    const call = place.ws.call("write_file", { path: "a.txt", content: "two\n" }, { signal: stop.signal });
    await page.locator("body[data-pressed=yes]").waitFor();
    await page.waitForTimeout(KEY_GUARD_MS);
    expect(place.hub.queue.pending().length).toBe(1);
    stop.abort();
    expect((await call).ok).toBe(false);
    await page.getByText("Withdrawn: the agent does not wait for this any more").waitFor();
  });

  it("no click answers a question that has just taken the place of another", async () => {
    const place = await openPlace({ "a.txt": "one\n", "b.txt": "one\n" });
    const { page } = await open(place);
    const answers: string[] = [];
    page.on("request", (request) => {
      if (request.method() === "POST" && request.url().includes("/approvals/")) answers.push(request.url());
    });
    const first = write(place, "a.txt", "two\n");
    await page.getByRole("grid").getByText("two").waitFor();
    const stop = new AbortController();
    const second = place.ws.call("write_file", { path: "b.txt", content: "2\n" }, { signal: stop.signal });
    await page.getByRole("button", { name: "b.txt" }).waitFor();
    const allow = page.getByRole("button", { name: "Allow once" });
    await allow.click({ trial: true });
    // From here on the time of the page stands still: the second click comes at once, however slow the machine is.
    await page.evaluate(() => {
      const now = performance.now();
      const { setTimeout } = window;
      performance.now = () => now;
      window.setTimeout = ((done: () => void, ms = 0) =>
        ms > 300 ? 0 : setTimeout(done, ms)) as typeof setTimeout;
    });
    const box = await allow.boundingBox();
    const click = () => page.mouse.click((box?.x ?? 0) + 20, (box?.y ?? 0) + 10);
    await click();
    expect((await first).ok).toBe(true);
    await title(page, "b.txt").waitFor();
    await page.locator(".allow[aria-disabled=true]:not(:disabled)").waitFor();
    const { x = 0, y = 0 } = box ?? {};
    await page.mouse.dblclick(x + 20, y + 10);
    expect(await page.evaluate(() => getSelection()?.toString())).toBe("");
    await page.keyboard.press("?");
    await page.getByRole("dialog").waitFor();
    expect(answers.length).toBe(1);
    stop.abort();
    expect((await second).ok).toBe(false);
  });

  it("by mouse: the keys are for the screen that was clicked, which Back leaves; a reload needs a new link", async () => {
    const place = await openPlace({ "a.txt": BEFORE });
    const { page } = await open(place);
    const call = write(place, "a.txt", AFTER);
    const navigation = page.getByRole("navigation", { name: "Screens" });
    const isShown = (name: string) => navigation.locator("[aria-current=page]", { hasText: name }).waitFor();
    await navigation.getByRole("button", { name: "Timeline" }).click();
    expect(await page.evaluate(() => location.hash)).toBe("#timeline");
    await page.goBack();
    await isShown("Waiting");
    await page.goForward();
    await isShown("Timeline");
    await navigation.getByRole("button", { name: "Waiting" }).click();
    await page.getByText("3 of 3 hunks chosen").waitFor();
    // Wider… is there once the answers can be given, so Space chooses, too.
    await page.getByRole("button", { name: "Wider…" }).click();
    await page.getByRole("dialog").waitFor();
    expect(await keyboardOf(page).focused()).toEqual({ name: "Cancel Esc" });
    await page.keyboard.press("Escape");
    await navigation.getByRole("button", { name: "Waiting" }).click();
    await page.keyboard.press("Space");
    await page.getByText("2 of 3 hunks chosen").waitFor();
    await page.getByRole("button", { name: "Allow 2 of 3" }).click();
    expect((await call).ok).toBe(true);
    // The key of the login was in the memory of the tab.
    await page.reload();
    await page.getByText("This tab has no login here").waitFor();
    await page.getByText("filewright review", { exact: true }).waitFor();
    expect(await page.context().cookies()).toEqual([]);
    expect(await page.evaluate(() => localStorage.length + sessionStorage.length)).toBe(0);
  });

  it("says who has answered elsewhere, and offers no answer any more", async () => {
    const place = await openPlace({ "a.txt": "one\n" });
    const { page } = await open(place);
    const call = write(place, "a.txt", "two\n");
    await page.getByRole("grid").getByText("two").waitFor();
    const ben = await logIn(place.page, "answer", "ben");
    const id = await firstQuestion(place.hub);
    const pending = place.hub.queue.pending()[0];
    const digest = pending?.kind === "change" ? pending.details.digest : "";
    await ben.post(`approvals/${id}`, { outcome: "allow", digest });
    expect((await call).ok).toBe(true);
    await page.getByText("ben allowed it").waitFor();
    expect(await page.getByRole("button", { name: /Allow|Refuse/u }).count()).toBe(0);
  });

  it("offline nothing can be answered, nothing is sent later, and afterwards nothing is lost", async () => {
    const place = await openPlace({ "a.txt": "one\n", "b.txt": "one\n" });
    const { page, context } = await open(place);
    const stop = new AbortController();
    const call = place.ws.call("write_file", { path: "a.txt", content: "two\n" }, { signal: stop.signal });
    await page.getByRole("grid").getByText("two").waitFor();
    // Chromium keeps a stream that is open when a page goes offline, so the server ends it.
    const { port } = new URL(place.page.url);
    // A minute is over at once.
    await page.evaluate(() => {
      const { setTimeout } = window;
      window.setTimeout = ((done: () => void, ms = 0) =>
        setTimeout(done, ms >= 60_000 ? 0 : ms)) as typeof setTimeout;
    });
    await place.page.close();
    await page.getByText("The connection is lost").waitFor();
    await page.getByText("filewright review prints a new link").waitFor();
    expect(await page.getByRole("button", { name: "Allow once" }).isDisabled()).toBe(true);
    expect(await page.getByRole("button", { name: "Refuse…" }).isDisabled()).toBe(true);
    await page.waitForTimeout(KEY_GUARD_MS);
    await page.keyboard.press("a");
    const other = write(place, "b.txt", "two\n");
    await untilHub(place.hub, () => (place.hub.queue.pending().length === 2 ? true : undefined));
    // The same hub at the same address: logins are those of a page, so a new link is opened.
    const { serveReviewPage } = await import("../../../js/review/index.node.ts");
    const again = await serveReviewPage(place.hub, { port: Number(port) });
    try {
      await page.getByText("cannot prove that it is that server").waitFor();
      const second = await chromium.open(again.link("answer", "ana"), context);
      await second.page.getByRole("button", { name: "b.txt" }).waitFor();
      expect(place.hub.queue.pending().length).toBe(2);
      stop.abort();
      expect((await call).ok).toBe(false);
      await second.page.getByRole("button", { name: "b.txt" }).click();
      await second.page.getByRole("button", { name: "Allow once" }).click();
      expect((await other).ok).toBe(true);
    } finally {
      await again.close();
    }
  });

  it("draws hostile names and contents as text", async () => {
    const hostile = `</script><script>document.title="run"</script><img src=x onerror='document.title="run"'>`;
    const place = await openPlace({ [`${"<b>".slice(0, 3)}\u202etxt.b`]: "one\n" });
    const { page, complaints } = await open(place);
    const content = `${hostile}\n\u202eright \u0007bell ${"x".repeat(1_000_000)}\n`;
    const call = write(place, "<b>\u202etxt.b", content);
    await page.getByRole("grid").getByText("</script><script>").waitFor();
    const codes = await page.locator(".row.added .code").allTextContents();
    expect(codes[0]).toBe(`+added: ${hostile}`);
    expect(codes[1]).toContain("\\u{202e}right \\x07bell xxx");
    // The long line is there to its end, in rows of one height.
    const rows = Number(await page.getByRole("grid").getAttribute("aria-rowcount"));
    expect(rows).toBeGreaterThan(2000);
    expect(await page.getByRole("row").count()).toBeLessThan(150);
    expect(await page.title()).toBe("(1) Filewright review");
    expect(await page.getByRole("button", { name: "\\u{202e}txt.b" }).count()).toBe(1);
    await page.getByRole("button", { name: "Allow once" }).click();
    expect((await call).ok).toBe(true);
    expect(await place.backend.readText("/w/<b>\u202etxt.b")).toBe(content);
    expect(complaints).toEqual([]);
  });

  it("without a login it says how to get one", async () => {
    const place = await openPlace();
    const { page } = await chromium.open(`${place.page.url}#t=${"0".repeat(64)}`);
    await page.getByText("This tab has no login here").waitFor();
    await page.getByText("filewright review", { exact: true }).waitFor();
  });

  describe("with 2,000 changes in a file of 1 MB", () => {
    it("draws few rows, and reaches the last hunk by a key", async () => {
      const lines = Array.from({ length: 20_000 }, (_, index) => `${index} ${"abcdefghij ".repeat(4)}\n`);
      const before = lines.join("");
      const after = lines.map((line, index) => (index % 10 === 5 ? `changed ${line}` : line)).join("");
      const place = await openPlace({ "big.txt": before, "small.txt": "one\n" });
      const { page } = await open(place);
      const small = write(place, "small.txt", "two\n");
      await page.getByRole("grid").getByText("two").waitFor();
      const big = write(place, "big.txt", after);
      await page.getByRole("button", { name: "big.txt" }).click();
      await page.getByText("2000 of 2000 hunks chosen").waitFor();
      expect(await page.getByRole("row").count()).toBeLessThan(150);
      // From the click to the frame in which the rows are drawn, with the rows in memory, the median of five.
      const times = await page.evaluate(async () => {
        const card = (name: string) =>
          [...document.querySelectorAll<HTMLElement>(".card")].find((one) => one.textContent?.includes(name));
        const painted = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
        const found: number[] = [];
        for (let run = 0; run < 5; run++) {
          card("small.txt")?.click();
          while (document.querySelectorAll(".row.added").length > 1) await painted();
          const start = performance.now();
          card("big.txt")?.click();
          while (document.querySelectorAll(".row.added").length < 3) await painted();
          found.push(performance.now() - start);
        }
        return found.sort((a, b) => a - b);
      });
      process.stderr.write(`click to painted rows: ${times.map((one) => one.toFixed(1)).join(", ")} ms\n`);
      await page.getByRole("grid").evaluate((grid) => {
        grid.scrollTop = grid.scrollHeight;
      });
      await page.getByText("changed 19995").waitFor();
      await page.waitForTimeout(KEY_GUARD_MS);
      await page.keyboard.press("a");
      expect((await big).ok).toBe(true);
      expect(await place.backend.readText("/w/big.txt")).toBe(after);
      await title(page, "small.txt").waitFor();
      await page.getByRole("button", { name: "Allow once" }).click();
      expect((await small).ok).toBe(true);
    });
  });
});
