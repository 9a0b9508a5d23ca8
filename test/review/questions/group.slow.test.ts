/** Questions of one turn and directory in a real Chromium: one card, one decision, and every one of them named before it. */
import { expect, it } from "vitest";
import type { Page } from "playwright-core";
import { describeChromium, withChromium } from "../../browser/chromium.ts";
import { openPlace, type Place, untilHub } from "../place.ts";

/** How long nothing is answered in a dialog that has just opened, with a margin, in milliseconds. */
const KEY_GUARD_MS = 450;

/** The page may ask for the lines of a change in the moment in which that is answered, and gets none. */
const isUnexpected = (complaint: string): boolean => !complaint.includes("status of 404");

describeChromium("questions of one turn and directory on the review page", () => {
  const chromium = withChromium(async () => ({}));

  /** Asks about three files in one turn, and opens a page. Returns the calls in the order of the files. */
  async function open(viewport = { width: 1280, height: 800 }): Promise<{
    readonly place: Place;
    readonly page: Page;
    readonly calls: readonly ReturnType<Place["ws"]["call"]>[];
    readonly complaints: readonly string[];
  }> {
    const place = await openPlace({ "pay/a.txt": "a\n", "pay/b.txt": "b\n", "pay/c.txt": "c\n" });
    const calls: ReturnType<Place["ws"]["call"]>[] = [];
    for (const name of ["a", "b", "c"]) {
      const change = { path: `pay/${name}.txt`, old_text: name, new_text: `${name}!` };
      calls.push(place.ws.call("edit_file", change, { turn: "fix refunds" }));
      await untilHub(place.hub, () => place.hub.queue.pending().length === calls.length || undefined);
    }
    const context = await chromium.interceptedContext({ viewport });
    const { page, complaints } = await chromium.open(place.page.link("answer", "ana"), context);
    await page.locator(".connection.live").waitFor();
    return { place, page, calls, complaints };
  }

  it("are allowed by one decision, but for the one that goes stale while the dialog is open", async () => {
    const { place, page, calls, complaints } = await open();
    const card = page.getByRole("article", { name: "3 changes in /w/pay, turn fix refunds" });
    // A press that comes at once, as of a key that was meant for the page, answers nothing. The page's own clock
    // decides, so it comes in the same task in which the dialog is drawn.
    await page.evaluate(() => {
      new MutationObserver((_, observer) => {
        const button = document.querySelector<HTMLElement>("dialog button[type=submit]:not(:disabled)");
        if (button === null) return;
        observer.disconnect();
        button.click();
        document.body.dataset["pressed"] = "yes";
      }).observe(document.body, { subtree: true, childList: true });
    });
    // The keyboard alone reaches the decision.
    await card.getByRole("button", { name: "Allow these 3…" }).focus();
    await page.keyboard.press("Enter");
    const dialog = page.getByRole("dialog", { name: "Allow these 3 changes" });
    await dialog.waitFor();
    await page.locator("body[data-pressed=yes]").waitFor();
    for (const name of ["a", "b", "c"]) await dialog.getByText(`/w/pay/${name}.txt`).waitFor();
    expect(place.hub.queue.pending().length).toBe(3);
    await place.backend.writeBytes("/w/pay/b.txt", new TextEncoder().encode("another b\n"));
    const named = page.getByRole("dialog", { name: "Allow these 2 changes" });
    await named.waitFor();
    const left = named.getByRole("listitem").filter({ hasText: "a file has changed since it was asked" });
    await left.getByText("/w/pay/b.txt").waitFor();
    // What is asked while the dialog is open is not in it.
    const late = place.ws.call(
      "write_file",
      { path: "pay/late.txt", content: "late\n" },
      { turn: "fix refunds" },
    );
    await page.locator(".screens .badge", { hasText: "4" }).waitFor({ state: "attached" });
    await page.waitForTimeout(KEY_GUARD_MS);
    await named.getByRole("button", { name: "Allow these 2" }).press("Enter");
    expect((await calls[0])?.ok).toBe(true);
    expect((await calls[2])?.ok).toBe(true);
    await named.waitFor({ state: "detached" });
    await page.getByText("Allowed: ").waitFor();
    const contents = ["a", "b", "c"].map((name) => place.backend.readText(`/w/pay/${name}.txt`));
    expect(await Promise.all(contents)).toEqual(["a!\n", "another b\n", "c!\n"]);
    // The one that is left and the late one wait on, and the page shows the first of them.
    await page.getByText("A file has changed since this was asked").waitFor();
    expect(place.hub.queue.pending().length).toBe(2);
    place.hub.close();
    expect((await late).ok).toBe(false);
    expect(complaints.filter(isUnexpected)).toEqual([]);
  });

  it("are told one by one when one of them cannot be answered any more", async () => {
    const { place, page, calls } = await open();
    await page.getByRole("button", { name: "Allow these 3…" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.waitFor();
    await page.waitForTimeout(KEY_GUARD_MS);
    // Before the second answer arrives, another person refuses that change.
    const [, second] = place.hub.queue.pending();
    await page.route(`**/approvals/${second?.id}*`, async (route) => {
      if (second?.kind === "change")
        place.hub.answer(second.id, { outcome: "refuse", digest: second.details.digest }, "ben");
      await route.continue();
    });
    await dialog.getByRole("button", { name: "Allow these 3" }).click();
    await dialog.getByText("Not answered: it does not wait any more (answered by ben)").waitFor();
    await expect.poll(() => dialog.getByText("allowed", { exact: true }).count()).toBe(2);
    expect((await Promise.all(calls)).map(({ ok }) => ok)).toEqual([true, false, true]);
    await dialog.getByRole("button", { name: "Close" }).click();
    await page.getByText("Not answered: ").waitFor();
  });

  it("are refused with one reason, on a telephone", async () => {
    const { page, calls, complaints } = await open({ width: 360, height: 740 });
    const card = page.getByRole("article", { name: "3 changes in /w/pay" });
    // The card can be closed, and opened again to each question.
    await card.getByRole("button", { expanded: true }).click();
    await card.getByText("a.txt, b.txt, c.txt").waitFor();
    await card.getByRole("button", { expanded: false }).click();
    await card.getByRole("button", { name: "b.txt" }).waitFor();
    await card.getByRole("button", { name: "Refuse these 3…" }).click();
    const dialog = page.getByRole("dialog", { name: "Refuse these 3 changes" });
    await dialog.getByRole("textbox", { name: "Reason for the model" }).fill("not before the release");
    await page.waitForTimeout(KEY_GUARD_MS);
    await page.keyboard.press("Enter");
    for (const { ok, text } of await Promise.all(calls))
      expect([ok, text.includes("not before the release")]).toEqual([false, true]);
    await dialog.waitFor({ state: "detached" });
    await page.getByText("Refused: ").waitFor();
    expect(complaints.filter(isUnexpected)).toEqual([]);
  });
});
