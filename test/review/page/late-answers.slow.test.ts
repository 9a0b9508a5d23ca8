/** A slow machine in a real Chromium: answers that come late, and keys and clicks that come before what they were meant for. */
import { expect, it } from "vitest";
import type { Page, Request, Route } from "playwright-core";
import { describeChromium, withChromium } from "../../browser/chromium.ts";
import { firstQuestion, logIn, openPlace, type Place } from "../place.ts";

/** How long no key answers a question that has just appeared, with a margin, in milliseconds. */
const KEY_GUARD_MS = 450;

/** The first request to an address, whose answer waits until it is let through. */
interface HeldAnswer {
  /** Resolves when the request has been made. */
  readonly made: Promise<unknown>;
  /** Lets the answer through, and resolves when it has arrived. */
  release(): Promise<void>;
}

/** Holds the answer to the next request whose address fits. Further ones go through. */
async function holdNext(page: Page, address: RegExp, isHeld = (_: Request) => true): Promise<HeldAnswer> {
  let letThrough = (): void => {};
  const released = new Promise<void>((resolve) => {
    letThrough = resolve;
  });
  let isOver = false;
  const handler = async (route: Route): Promise<void> => {
    if (isOver || !isHeld(route.request())) return route.continue();
    isOver = true;
    await released;
    return route.continue();
  };
  const made = page.waitForRequest(address);
  await page.route(address, handler);
  return {
    made,
    async release() {
      const arrived = (await made).response();
      letThrough();
      await (await arrived)?.finished();
    },
  };
}

/** Another person has the call of a question planned again. */
async function lookAgain(place: Place, id: string): Promise<void> {
  const asked = place.hub.queue.pending()[0];
  const digest = asked?.kind === "change" ? asked.details.digest : "";
  const ben = await logIn(place.page, "answer", "ben");
  expect((await ben.post(`approvals/${id}`, { outcome: "look_again", digest })).status).toBe(200);
}

describeChromium("on a slow machine", () => {
  const chromium = withChromium(async () => ({}));

  async function open(place: Place): Promise<Page> {
    const context = await chromium.interceptedContext();
    const { page } = await chromium.open(place.page.link("manage", "ana"), context);
    await page.locator(".connection.live").waitFor();
    return page;
  }
  const options = (page: Page) => page.locator(".tl-list [role=option]");

  it("what is typed as a reason answers nothing when the question is planned again meanwhile", async () => {
    const place = await openPlace({ "a.txt": "one\ntwo\n" });
    const page = await open(place);
    const call = place.ws.call("edit_file", { path: "a.txt", old_text: "two", new_text: "2" });
    const id = await firstQuestion(place.hub);
    await page.getByRole("gridcell", { name: "added: 2" }).waitFor();
    await page.getByRole("button", { name: "Refuse…" }).click();
    await page.getByLabel("Reason for the model").waitFor();
    await page.keyboard.type("k");
    // The file changes, and another person looks again.
    await place.backend.writeBytes("/w/a.txt", new TextEncoder().encode("zero\none\ntwo\n"));
    await page.getByText("A file has changed since this was asked").waitFor();
    await lookAgain(place, id);
    await page.getByText("Planned again on the present content").waitFor();
    await page.getByText("1 of 1 hunk chosen").waitFor();
    await page.waitForTimeout(KEY_GUARD_MS);
    await page.keyboard.type("eep a");
    expect(await page.getByLabel("Reason for the model").inputValue()).toBe("keep a");
    expect(place.hub.queue.pending().length).toBe(1);
    await page.keyboard.press("Enter");
    expect((await call).text).toContain("keep a");
    expect(await place.backend.readText("/w/a.txt")).toBe("zero\none\ntwo\n");
  });

  it("what is typed into the editor stays when the question is planned again meanwhile", async () => {
    const place = await openPlace({ "a.txt": "one\ntwo\n" });
    const page = await open(place);
    const stop = new AbortController();
    const call = place.ws.call(
      "edit_file",
      { path: "a.txt", old_text: "two", new_text: "2" },
      { signal: stop.signal },
    );
    const id = await firstQuestion(place.hub);
    await page.getByRole("button", { name: "Edit…" }).click();
    const editor = page.getByRole("textbox", { name: "The new content of /w/a.txt" });
    await editor.waitFor();
    await page.keyboard.type("mine ");
    // The file changes, and another person looks again.
    await place.backend.writeBytes("/w/a.txt", new TextEncoder().encode("zero\none\ntwo\n"));
    await lookAgain(place, id);
    await page.getByRole("dialog").getByText("This question was planned again in the meantime.").waitFor();
    await page.keyboard.type("too ");
    await editor.getByText("mine too ").waitFor();
    await page.getByText("1 of 1 hunk chosen").waitFor();
    expect(await page.getByRole("button", { name: "Allow with this content" }).isDisabled()).toBe(true);
    await page.keyboard.press("ControlOrMeta+Enter");
    expect(place.hub.queue.pending().length).toBe(1);
    stop.abort();
    expect((await call).ok).toBe(false);
  });

  it("an answer that comes late closes no other dialog", async () => {
    const place = await openPlace({ "a.txt": "one\n" }, { confirm: undefined, review: "after" });
    await place.ws.call("write_file", { path: "a.txt", content: "two\n", whole_file: true });
    const page = await open(place);
    await page.keyboard.press("g");
    await page.keyboard.press("t");
    await page.getByRole("button", { name: "Keep" }).waitFor();
    const keep = await holdNext(page, /history\/keep/u);
    await page.keyboard.press("a");
    await keep.made;
    await page.keyboard.press("m");
    await page.getByLabel("Name").waitFor();
    await page.keyboard.type("before ");
    await keep.release();
    await page.getByRole("button", { name: "Keep", includeHidden: true }).waitFor({ state: "detached" });
    await page.keyboard.type("tests");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Mark “before tests”" }).waitFor();
  });

  it("a dialog puts back the call that it names, also when that has left the list", async () => {
    const place = await openPlace(
      { "a.txt": "one\n", "b.txt": "one\n" },
      { confirm: undefined, review: "after" },
    );
    for (const path of ["a.txt", "b.txt"])
      await place.ws.call("write_file", { path, content: "two\n", whole_file: true });
    const callId = (await place.ws.history())[0]?.callId;
    const page = await open(place);
    await page.keyboard.press("g");
    await page.keyboard.press("t");
    await page.getByRole("checkbox", { name: "Unreviewed only" }).check();
    await options(page).filter({ hasText: "b.txt" }).click();
    await page.getByRole("heading", { name: "write_file b.txt" }).waitFor();
    await page.keyboard.press("u");
    await page.getByRole("dialog").getByText("b.txt").waitFor();
    const ben = await logIn(place.page, "manage", "ben");
    expect((await ben.post("history/keep", { calls: [callId] })).status).toBe(200);
    await options(page).filter({ hasText: "b.txt" }).waitFor({ state: "detached" });
    await page.getByRole("heading", { name: "write_file a.txt", includeHidden: true }).waitFor();
    await page.getByRole("button", { name: "Put back 1 path" }).click();
    await page.getByRole("status").getByText("Put back: 1 path.").waitFor();
    expect(await place.backend.readText("/w/b.txt")).toBe("one\n");
    expect(await place.backend.readText("/w/a.txt")).toBe("two\n");
  });

  it("a double click keeps one call, and puts back once", async () => {
    const place = await openPlace({ "a.txt": "one\n" }, { confirm: undefined, review: "after" });
    await place.ws.call("write_file", { path: "a.txt", content: "two\n", whole_file: true });
    const page = await open(place);
    const sent: string[] = [];
    page.on("request", (request) => {
      if (request.method() === "POST") sent.push(request.url().split("/").at(-1) ?? "");
    });
    await page.keyboard.press("g");
    await page.keyboard.press("t");
    await page.getByRole("button", { name: "Keep" }).dblclick();
    await page.getByRole("button", { name: "Keep" }).waitFor({ state: "detached" });
    await page.keyboard.press("u");
    await page.getByRole("button", { name: "Put back 1 path" }).click();
    await page.getByRole("status").getByText("Put back: 1 path.").waitFor();
    await page.getByRole("button", { name: "Put this back" }).dblclick();
    await options(page).nth(2).waitFor();
    expect(await place.backend.readText("/w/a.txt")).toBe("two\n");
    expect(sent).toEqual(["keep", "undo", "undo"]);
  });

  it("the number of covered calls is never that of the choices before", async () => {
    const place = await openPlace({ "a.txt": "one\n" });
    const page = await open(place);
    const stop = new AbortController();
    const call = place.ws.call("write_file", { path: "a.txt", content: "two\n" }, { signal: stop.signal });
    await page.getByRole("button", { name: "Wider…" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText(/^Would have covered/u).waitFor();
    const count = await holdNext(page, /\/scopes/u);
    await dialog.getByRole("radio", { name: /anywhere/u }).check();
    await count.made;
    await dialog.getByText(/^Counting/u).waitFor();
    expect(await dialog.getByText(/^Would have covered/u).count()).toBe(0);
    await count.release();
    await dialog.getByText(/^Would have covered/u).waitFor();
    stop.abort();
    await call;
  });

  it("a preview of a rewind that comes late does not take paths off the list of a later one", async () => {
    const place = await openPlace({ "a.txt": "one\n", "b.txt": "one\n" }, { confirm: undefined });
    await place.ws.mark("start");
    for (const [path, agent] of [
      ["a.txt", "main"],
      ["b.txt", "other"],
    ] as const)
      await place.ws.call("write_file", { path, content: "two\n", whole_file: true }, { agent });
    const page = await open(place);
    await page.keyboard.press("g");
    await page.keyboard.press("t");
    await page.getByLabel("Agent").selectOption("main");
    await options(page).filter({ hasText: "start" }).click();
    const preview = await holdNext(page, /\/rewind/u);
    await page.getByRole("button", { name: "Rewind to here" }).click();
    await preview.made;
    await page.getByRole("checkbox", { name: "Only the calls of main" }).uncheck();
    await page.getByRole("button", { name: "Rewind 2 paths" }).waitFor();
    await preview.release();
    await page.getByRole("checkbox", { name: "b.txt" }).uncheck();
    await page.getByRole("button", { name: "Rewind 1 path" }).waitFor();
    expect(await page.getByRole("checkbox", { name: "b.txt" }).count()).toBe(1);
  });

  it("what is typed at once after a question about a call stays", async () => {
    const place = await openPlace({ "a.txt": "one\n" });
    const page = await open(place);
    await page.keyboard.press("g");
    await page.keyboard.press("p");
    const path = page.getByRole("textbox", { name: "Path, as the agent writes it" });
    await path.click();
    let typed = "";
    for (const letter of "abcdefgh") {
      await page.keyboard.press(letter);
      typed += letter;
      await page.keyboard.press("Enter");
      await page.keyboard.press("x");
      await page.getByText(`write_file ${typed}`).waitFor();
      typed += "x";
    }
    expect(await path.inputValue()).toBe(typed);
  });

  it("a file whose earlier request fails late is still shown", async () => {
    const place = await openPlace({ "settings.ini": "PASSWORD=hunter1\n" });
    const page = await open(place);
    await page.keyboard.press("g");
    await page.keyboard.press("s");
    await page.getByRole("radio", { name: "Names" }).check();
    await page.getByLabel("Letters of the name").fill("settings");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: /settings\.ini/u }).click();
    const show = page.getByRole("button", { name: "Show secret-looking text" });
    await show.waitFor();
    let fail = (): void => {};
    const failed = new Promise<void>((resolve) => {
      fail = resolve;
    });
    const asked = page.waitForRequest(/secrets=shown/u);
    await page.route(
      /secrets=shown/u,
      async (route) => {
        await failed;
        await route.abort();
      },
      { times: 1 },
    );
    await show.click();
    await asked;
    await page.getByRole("button", { name: "Hide it" }).click();
    const ended = page.waitForEvent("requestfailed");
    fail();
    await ended;
    await show.click();
    await page.getByRole("gridcell", { name: "PASSWORD=hunter1" }).waitFor();
    expect(await page.getByText("The file could not be read").count()).toBe(0);
  });
});
