/**
 * Attacks on the review page in a real Chromium, through everything that an agent can choose: names of files, contents,
 * its own name, names and arguments of tools, questions, and through what people type.
 *
 * The policy of the page, which would stop injected scripts, is switched off here: nothing may be injected at all.
 */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { withHooks } from "../../js/index.node.ts";
import { describeChromium, withChromium } from "../browser/chromium.ts";
import { share } from "../support/share.ts";
import { logIn, openPlace, type Place, untilHub } from "../review/place.ts";
import { PAYLOADS } from "./payloads.ts";

/** A path with a payload in its names; new names have no NUL, no line break and no white space at an end. */
const nameOf = (payload: string, at: number): string =>
  `n${at}/x${payload.toWellFormed().replaceAll(/[\0\n\r]|\s+(?=\/)|(?<=\/)\s+/gu, "?")}.txt`;

/** Characters that no text of the page may have, because they are not seen or reorder others. */
const UNSEEN = /(?!\t)[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}\p{Surrogate}]/u;
/** Elements and attributes that the page never has. */
const INJECTED = [
  "script:not([src^='/review/'])",
  ..."iframe,object,embed,base,video,audio,marquee,math,template,isindex,noscript img,style,foreignObject".split(
    ",",
  ),
  "link:not([href^='/review/'])",
  "meta[http-equiv]",
  "body a[href^='javascript' i],[action],[formaction],[ping],[srcdoc],img:not([src^='/review/'])",
].join(",");

/** What the test notes in the page. */
declare global {
  var ran: number[];
  /** Returns what is wrong with what the page shows now. */
  var look: () => readonly string[];
}

describeChromium("the review page", () => {
  const chromium = withChromium(async () => ({}));
  const left: string[] = [];
  let place: Place;
  let page: Page;

  /** Opens the page of a place, and notes everything that leaves it. */
  async function watched(place: Place, link: string): Promise<Page> {
    const context = await chromium.browser.newContext({ bypassCSP: true });
    await context.addInitScript(
      ({ injected, unseen }) => {
        const hidden = new RegExp(unseen, "u");
        globalThis.ran = [];
        globalThis.look = () => {
          const bad = new Set<string>();
          for (const element of document.querySelectorAll(injected)) bad.add(`injected ${element.outerHTML}`);
          for (const element of document.querySelectorAll("body, #review, #review *")) {
            for (const { name, value } of element.attributes) {
              if (name.startsWith("on") || /evil|javascript:/iu.test(name)) bad.add(`attribute ${name}`);
              if (hidden.test(value) && name !== "value")
                bad.add(`unseen in ${name}: ${JSON.stringify(value)}`);
              if (name === "style" && /url|import/u.test(value)) bad.add(`style ${value}`);
            }
            if (element === document.body) continue;
            for (const { nodeType, nodeValue } of element.childNodes)
              if (nodeType === Node.TEXT_NODE && hidden.test(nodeValue ?? ""))
                bad.add(`unseen: ${JSON.stringify(nodeValue)} in ${element.className}`);
          }
          if (hidden.test(document.title)) bad.add(`title ${document.title}`);
          return [...bad];
        };
      },
      { injected: INJECTED, unseen: UNSEEN.source },
    );
    const own = new URL(place.page.url).origin;
    context.on("request", (request) => {
      if (new URL(request.url()).origin !== own) left.push(`request ${request.url()}`);
    });
    context.on("page", (opened) => {
      opened.on("dialog", (dialog) => {
        left.push(`dialog ${dialog.message()}`);
        void dialog.dismiss();
      });
      opened.on("download", () => left.push("download"));
      opened.on("popup", () => left.push("popup"));
      opened.on("framenavigated", (frame) => {
        if (frame.url() !== place.page.url && !frame.url().startsWith(`${place.page.url}#`))
          left.push(`navigation ${frame.url()}`);
      });
    });
    return (await chromium.open(link, context)).page;
  }

  beforeAll(async () => {
    place = await openPlace();
    page = await watched(place, place.page.link("answer", PAYLOADS[1]));
    await page.getByText("Nothing waits.", { exact: true }).waitFor();
  }, 90_000);
  afterAll(() => page.close());

  /** Chooses each question that waits, one after the other, and returns what is wrong with what it shows. */
  const lookAtAll = (): Promise<readonly string[]> =>
    page.evaluate(async (count) => {
      const bad = new Set<string>();
      const frame = () => new Promise((done) => requestAnimationFrame(done));
      const isLoading = () => /Loading the change|is being loaded/u.test(document.body.textContent ?? "");
      for (let step = 0; step <= count; step++) {
        await frame();
        while (isLoading()) await frame();
        for (const one of globalThis.look()) bad.add(one);
        document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "j", bubbles: true }));
      }
      return [...bad];
    }, place.hub.queue.pending().length);

  /** Waits until so many questions wait, at the hub and on the page. */
  async function untilWaiting(count: number): Promise<void> {
    await untilHub(place.hub, () => (place.hub.queue.pending().length >= count ? true : undefined));
    await page.waitForFunction((text) => document.title.startsWith(text), `(${count})`);
  }

  /** Refuses everything that waits, with each payload as a reason. */
  async function refuseAll(): Promise<void> {
    const client = await logIn(place.page, "answer", PAYLOADS[10]);
    for (const [at, pending] of place.hub.queue.pending().entries()) {
      const digest = pending.kind === "change" ? { digest: pending.details.digest } : {};
      const reason = PAYLOADS[at % PAYLOADS.length];
      const { status } = await client.post(`approvals/${pending.id}`, {
        outcome: "refuse",
        ...digest,
        reason,
      });
      expect(status).toBe(200);
    }
  }

  it("has at least 100 payloads", () => {
    expect(new Set(PAYLOADS).size).toBeGreaterThanOrEqual(100);
  });

  /** Fails if anything has run, or has left the page. */
  async function expectHarmless(bad: readonly string[]): Promise<void> {
    expect(bad).toEqual([]);
    expect(await page.evaluate(() => globalThis.ran)).toEqual([]);
    expect(left).toEqual([]);
  }

  it("shows names of files, contents, agents and reasons as text", async () => {
    const calls = PAYLOADS.map((payload, at) => {
      // A name has no NUL, and neither names nor contents have half of a pair.
      const content = payload.toWellFormed();
      return place.ws.call(
        "write_file",
        { path: nameOf(payload, at), content: `${content}\n\t${content}\r\n` },
        { agent: payload },
      );
    });
    await untilWaiting(PAYLOADS.length);
    const bad = await lookAtAll();
    await refuseAll();
    expect((await Promise.all(calls)).some(({ ok }) => ok)).toBe(false);
    await page.getByText("Nothing waits.", { exact: true }).waitFor();
    await expectHarmless([...bad, ...(await lookAtAll())]);
  });

  it("shows names, titles and arguments of foreign tools, and questions about directories, as text", async () => {
    // By day each payload is in one of the two.
    const calls = [
      ...share(PAYLOADS, 2, 0).map((payload) => {
        const tool = withHooks({ name: payload, execute: () => "done" }, [], { confirm: place.hub.confirm });
        return tool.execute({ [payload]: payload, nested: { [payload]: [payload] } });
      }),
      ...share(PAYLOADS, 2, 1).map((payload) => {
        const about = { dir: `/${payload}`, access: "read", tool: payload } as const;
        return place.hub.ask(payload, ["yes", "no"], about as Parameters<typeof place.hub.ask>[2]);
      }),
    ];
    await untilWaiting(calls.length);
    const bad = await lookAtAll();
    await refuseAll();
    await Promise.all(calls);
    await page.getByText("Nothing waits.", { exact: true }).waitFor();
    await expectHarmless([...bad, ...(await lookAtAll())]);
  });

  it("shows a line of a megabyte of each kind to its end, in few elements", async () => {
    const lines = ["x", "\u202e", "<img src=x onerror=globalThis.ran.push(0)>", "\u0301", "\ud83d\ude00"];
    const contents = lines.map((line) => line.repeat(Math.ceil(1e6 / line.length)));
    const calls = contents.map((content, at) => place.ws.call("write_file", { path: `long${at}`, content }));
    await untilWaiting(calls.length);
    const bad = await lookAtAll();
    expect(await page.evaluate(() => document.querySelectorAll("*").length)).toBeLessThan(60_000);
    await refuseAll();
    await Promise.all(calls);
    await expectHarmless(bad);
  });

  it("shows the past, the policy, searches and the activity as text, and writes no formula into a table", async () => {
    const other = await openPlace({}, { confirm: undefined, review: "after" });
    // By day half of them: the other tests show all.
    const payloads = share(PAYLOADS, 2, 1);
    const names = payloads.map(nameOf);
    const write = async (path: string, agent: string) => {
      const content = `${path.replaceAll("?", "x")}\n`;
      expect((await other.ws.call("write_file", { path, content }, { agent })).ok).toBe(true);
    };
    for (const agent of ["=1+1", "+1", "-1", "@SUM(A1)"]) await write(`${agent.length}${agent[0]}`, agent);
    const manager = await logIn(other.page, "manage", PAYLOADS[2]);
    for (const [at, path] of names.entries()) {
      await write(path, payloads[at] ?? "");
      // A name of a mark is short and has no controls; others are refused.
      await manager.post("marks", { name: (payloads[at] ?? "").toWellFormed().slice(0, 64) });
    }
    const own = await watched(other, other.page.link("manage", PAYLOADS[1]));
    const bad = new Set<string>();
    const look = async (): Promise<void> => {
      for (const one of await own.evaluate(() => globalThis.look())) bad.add(one);
    };

    // The list of what nobody has reviewed, and each call and mark of the timeline with its diff.
    await own.locator(".unreviewed .card").first().waitFor();
    await look();
    await own.keyboard.press("g");
    await own.keyboard.press("t");
    await own.locator(".tl-list [role=option]").first().waitFor();
    const walked = await own.evaluate(async () => {
      const wrong = new Set<string>();
      const frame = () => new Promise((done) => requestAnimationFrame(done));
      const place = () =>
        document.querySelector("[role=option][aria-selected=true]")?.getAttribute("aria-posinset");
      let count = 0;
      for (let before: string | null | undefined; place() !== before || count === 0; count++) {
        while (/Loading the change/u.test(document.body.textContent ?? "")) await frame();
        for (const one of globalThis.look()) wrong.add(one);
        before = place();
        document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "j", bubbles: true }));
        for (let frames = 0; frames < 20 && place() === before; frames++) await frame();
      }
      return { count, wrong: [...wrong] };
    });
    expect(walked.count).toBeGreaterThan(payloads.length);
    for (const one of walked.wrong) bad.add(one);
    await own.keyboard.press("b");
    await own.getByRole("button", { name: /^Rewind \d+ paths/u }).waitFor();
    await look();
    await own.keyboard.press("Escape");

    // Searches for each payload, or by day for a share of them, with the file that is found and who wrote it; why each
    // path is refused.
    for (const [key, field, typed] of [
      ["s", "Text to find", share(PAYLOADS, 6, 0)],
      ["p", /^Path, as/u, share(PAYLOADS, 6, 3)],
    ] as const) {
      await own.keyboard.press("g");
      await own.keyboard.press(key);
      const input = own.getByLabel(field);
      for (const payload of typed) {
        const asked = own.waitForResponse((response) => /\/(?:search|why)/u.test(response.url()));
        await input.fill(payload.toWellFormed());
        await input.press("Enter");
        await asked;
        await own.getByText("Searching…").waitFor({ state: "detached" });
        await look();
      }
      if (key === "s") {
        await input.fill("script");
        await input.press("Enter");
        await own.locator(".place").nth(8).click();
        await own.locator(".origin.call").first().waitFor();
        await look();
      }
      await own.getByRole("button", { name: "Waiting" }).first().focus();
    }

    await own.keyboard.press("g");
    await own.keyboard.press("a");
    await own.getByRole("row").nth(20).waitFor();
    await look();
    const csv = await (await manager.get("activity.csv?over=run&by=both")).text();
    for (const agent of ["'=1+1", "'+1", "'-1", "'@SUM(A1)"]) expect(csv).toContain(`${agent},`);
    expect(csv).not.toMatch(/(?:^|,)"?[=+@\t\r-]/mu);

    expect([...bad]).toEqual([]);
    expect(await own.evaluate(() => globalThis.ran)).toEqual([]);
    expect(left).toEqual([]);
    await own.close();
  });
});
