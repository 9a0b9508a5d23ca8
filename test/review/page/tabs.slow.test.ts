/** Many tabs of one browser in a real Chromium: they share one stream of events, and lose none. */
import { expect, it } from "vitest";
import type { Page } from "playwright-core";
import { reviewHub, serveReviewPage } from "../../../js/review/index.node.ts";
import { MemoryBackend, openWorkspace } from "../../../js/index.node.ts";
import { describeChromium, withChromium } from "../../browser/chromium.ts";

/** More tabs than a browser has connections to one server. */
const TABS = 8;

describeChromium("eight tabs of one browser", () => {
  const chromium = withChromium(async () => ({}));

  /** Opens a workspace whose hub counts the streams that are read. */
  async function open() {
    const hub = reviewHub();
    const streams = { now: 0, most: 0 };
    const counted = {
      ...hub,
      watch(listener: Parameters<typeof hub.watch>[0]) {
        streams.now += 1;
        streams.most = Math.max(streams.most, streams.now);
        const stop = hub.watch(listener);
        let isEnded = false;
        return () => {
          stop();
          if (!isEnded) streams.now -= 1;
          isEnded = true;
        };
      },
    };
    const backend = new MemoryBackend({ "/w/a.txt": "one\n" });
    const ws = await openWorkspace({
      backend,
      root: "/w",
      guard: "off",
      confirm: hub.confirm,
      observers: [hub.observer],
    });
    const served = await serveReviewPage(counted as typeof hub);
    return {
      ws,
      hub,
      streams,
      served,
      async close() {
        hub.close();
        await served.close();
        await ws.close();
      },
    };
  }
  const live = (page: Page) => page.locator(".connection.live").waitFor();
  const waits = (page: Page, count: number) =>
    page.waitForFunction(
      (text) => document.title === text,
      count === 0 ? "Filewright review" : `(${count}) Filewright review`,
      // A tab in the background draws no frames.
      { polling: 100 },
    );

  it("see every event over one connection, also after the tab that reads it is closed", async () => {
    const place = await open();
    try {
      const context = await chromium.browser.newContext();
      const first = await chromium.open(place.served.link("answer", "ana"), context);
      await live(first.page);
      const pages = [first.page];
      for (let tab = 1; tab < TABS; tab++) {
        const { page } = await chromium.open(place.served.link("answer", "ana"), context);
        await live(page);
        pages.push(page);
      }
      expect(place.streams).toEqual({ now: 1, most: 1 });
      const stop = new AbortController();
      const call = place.ws.call("write_file", { path: "a.txt", content: "two\n" }, { signal: stop.signal });
      await Promise.all(pages.map((page) => waits(page, 1)));
      // The first tab has the lock, and with it the stream.
      await first.page.close();
      const left = pages.slice(1);
      const other = place.ws.call("write_file", { path: "a.txt", content: "3\n" }, { signal: stop.signal });
      for (let at = 0; at < 50; at++) await place.ws.call("read_file", { path: "a.txt" });
      await Promise.all(left.map((page) => waits(page, 2)));
      expect(place.streams.most).toBeLessThanOrEqual(2); // The old one may end after the new one has begun.
      stop.abort();
      await Promise.all([call, other]);
      await Promise.all(left.map((page) => waits(page, 0)));
      // A tab that comes later has the same state, and gets the events after it.
      const late = await chromium.open(place.served.link("answer", "ana"), context);
      await live(late.page);
      const last = place.ws.call("write_file", { path: "a.txt", content: "four\n" });
      await Promise.all([...left, late.page].map((page) => waits(page, 1)));
      await late.page.getByRole("button", { name: "Allow once" }).click();
      expect((await last).ok).toBe(true);
      await Promise.all([...left, late.page].map((page) => waits(page, 0)));
      expect(place.streams.now).toBe(1);
      await context.close();
    } finally {
      await place.close();
    }
  });

  it("each read their own where the browser has no locks", async () => {
    const place = await open();
    try {
      const context = await chromium.browser.newContext();
      await context.addInitScript(() => {
        Object.defineProperty(Navigator.prototype, "locks", { value: undefined });
      });
      const { page } = await chromium.open(place.served.link("answer", "ana"), context);
      const other = await chromium.open(place.served.link("answer", "ana"), context);
      await Promise.all([live(page), live(other.page)]);
      const call = place.ws.call("write_file", { path: "a.txt", content: "two\n" });
      await Promise.all([waits(page, 1), waits(other.page, 1)]);
      expect(place.streams.now).toBe(2);
      await page.getByRole("button", { name: "Allow once" }).click();
      expect((await call).ok).toBe(true);
      await context.close();
    } finally {
      await place.close();
    }
  });
});
