/** The timeline in a real Chromium: marks, diffs, undo, rewind and versions. */
import { expect, it } from "vitest";
import type { Page } from "playwright-core";
import { describeChromium, type Opened, withChromium } from "../../browser/chromium.ts";
import { openPlace, type Place } from "../place.ts";

/** A BOM, CR LF, and no last line end. */
const BEFORE = new Uint8Array([0xef, 0xbb, 0xbf, ...Buffer.from("one\r\ntwo\r\nthree")]);

describeChromium("the timeline", () => {
  const chromium = withChromium(async () => ({}));

  async function open(place: Place): Promise<Opened> {
    const opened = await chromium.open(place.page.link("manage", "ana"));
    await opened.page.locator(".connection.live").waitFor();
    await opened.page.keyboard.press("g");
    await opened.page.keyboard.press("t");
    return opened;
  }
  const options = (page: Page) => page.locator(".tl-list [role=option]");

  it("shows what an agent does, rewinds to a mark byte for byte, and undoes the rewind", async () => {
    const place = await openPlace({ "b.txt": "one\n" }, { confirm: undefined });
    const { ws, backend } = place;
    await backend.writeBytes("/w/a.txt", BEFORE);
    const { page, complaints } = await open(place);
    await page.getByText("Nothing was changed yet.").waitFor();

    // The mark is set by keys alone.
    await page.keyboard.press("m");
    await page.getByLabel("Name").fill("5m");
    await page.keyboard.press("Enter");
    await page.getByRole("alert").getByText("has the form of a time").waitFor();
    await page.getByLabel("Name").fill("before tests");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Mark “before tests”" }).waitFor();

    // Calls appear by themselves, and the chosen row stays chosen.
    const agent = await ws.agent("main");
    await agent.call("edit_file", { path: "a.txt", old_text: "two", new_text: "2" });
    await agent.call("edit_file", { path: "b.txt", old_text: "one", new_text: "two" });
    await options(page).filter({ hasText: "b.txt" }).getByText("+1").waitFor();
    expect(await options(page).count()).toBe(3);
    expect(await page.locator("[aria-selected=true]").textContent()).toContain("before tests");
    const changed = await backend.readBytes("/w/a.txt");

    // The diff of a call, and its undo.
    await options(page).filter({ hasText: "b.txt" }).click();
    await page.getByRole("grid").getByText("two").waitFor();
    await page.keyboard.press("u");
    await page.getByRole("dialog").getByText("b.txt").waitFor();
    await page.getByRole("button", { name: "Put back 1 path" }).click();
    await page.getByRole("status").getByText("Put back: 1 path.").waitFor();
    expect(await backend.readText("/w/b.txt")).toBe("one\n");
    await page.getByRole("button", { name: "Put this back" }).click();
    // The two calls, the mark, and both ways back.
    await options(page).nth(4).waitFor();
    await options(page).nth(1).getByText("put back", { exact: true }).waitFor();
    expect(await backend.readText("/w/b.txt")).toBe("two\n");

    // The rewind, previewed, and its undo.
    await options(page).filter({ hasText: "before tests" }).click();
    await page.getByRole("button", { name: "Rewind to here" }).click();
    await page.getByRole("button", { name: "Rewind 2 paths" }).waitFor();
    await page.getByRole("checkbox", { name: "b.txt" }).uncheck();
    await page.getByRole("button", { name: "Rewind 1 path" }).click();
    await page.getByRole("status").getByText("Rewound 1 path to “before tests”.").waitFor();
    expect(await backend.readBytes("/w/a.txt")).toEqual(BEFORE);
    expect(await backend.readText("/w/b.txt")).toBe("two\n");
    const rewound = options(page).filter({ hasText: "edit_file" }).filter({ hasText: "a.txt" });
    await rewound.getByText("taken back by a rewind").waitFor();
    await options(page).filter({ hasText: "rewind" }).getByText("by ana").first().waitFor();
    await page.getByRole("button", { name: "Put this back" }).click();
    await rewound.getByText("taken back by a rewind").waitFor({ state: "detached" });
    await page.getByRole("status").getByText("Put back: 1 path.").waitFor();
    expect(await backend.readBytes("/w/a.txt")).toEqual(changed);

    // An undo over a change of another program is refused, in words.
    await backend.writeBytes("/w/a.txt", Buffer.from("mine"));
    await options(page).filter({ hasText: "edit_file" }).filter({ hasText: "a.txt" }).last().click();
    await page.keyboard.press("u");
    await page.getByRole("button", { name: "Put back 1 path" }).click();
    await page.getByRole("alert").getByText("Not put back").waitFor();
    expect(await backend.readText("/w/a.txt")).toBe("mine");
    // The browser reports the two refusals, and nothing else.
    expect(complaints.map((complaint) => /status of (\d+)/u.exec(complaint)?.[1])).toEqual(["400", "409"]);
  });

  it("says before a put back what becomes of each path, which later call there is, and since when calls are kept", async () => {
    const { ws, page: served } = await openPlace({ "b.txt": "one\n" }, { confirm: undefined });
    for (let call = 1; call <= 200; call++)
      await ws.call("write_file", { path: "b.txt", content: `${call}\n` });
    await ws.call("apply_patch", {
      patch: "*** Begin Patch\n*** Add File: a.txt\n+a\n*** Delete File: b.txt\n*** End Patch\n",
    });
    await ws.call("write_file", { path: "a.txt", content: "later\n" });
    const { page } = await chromium.open(`${served.link("manage", "ana")}`);
    await page.locator(".connection.live").waitFor();
    await page.keyboard.press("g");
    await page.keyboard.press("t");
    await page.getByText(/^Calls and marks before .+ are no longer kept/u).waitFor();
    await options(page).filter({ hasText: "apply_patch" }).click();
    await page.keyboard.press("u");
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("listitem").filter({ hasText: "a.txt is removed" }).waitFor();
    await dialog.getByRole("listitem").filter({ hasText: "b.txt is created again" }).waitFor();
    await dialog.getByText(/^write_file a\.txt of .+ came later/u).waitFor();
    await page.keyboard.press("Escape");

    // A second click, before the first one is answered, does nothing.
    await options(page).first().click();
    await page.keyboard.press("u");
    await page.getByRole("button", { name: "Put back 1 path" }).click();
    await page.getByRole("button", { name: "Put this back" }).waitFor();
    await page.getByRole("button", { name: "Put this back" }).dblclick();
    await page.getByRole("option", { name: /^put back put back/u }).waitFor();
    expect(await page.getByRole("alert").count()).toBe(0);
    expect(await ws.fs.readText("/w/a.txt")).toBe("later\n");
  });

  it("compares versions of a file with a hostile name, and restores one", async () => {
    const name = `\u202etxt.<img src=x onerror='document.title="run"'>`;
    const place = await openPlace({ [name]: "one\n" }, { confirm: undefined });
    await place.ws.call("write_file", { path: name, content: "two\n" });
    await place.ws.call("write_file", { path: name, content: "three\n" });
    const { page, complaints } = await open(place);
    await options(page).nth(1).click();
    await page.keyboard.press("v");
    await page.getByRole("grid").getByText("three").waitFor();
    await page.getByRole("radio", { name: /^Compare from: before/u }).check();
    await page.locator(".row.removed").getByText("one").waitFor();
    await page.getByRole("button", { name: /^Restore: before/u }).click();
    await page.getByRole("button", { name: "Restore", exact: true }).click();
    await page.getByRole("status").getByText("Restored").waitFor();
    expect(await place.backend.readText(`/w/${name}`)).toBe("one\n");
    expect(await page.title()).toBe("Filewright review");
    expect(complaints).toEqual([]);
  });

  it("puts back chosen hunks with keys alone, byte for byte, and names the one that no longer fits", async () => {
    const place = await openPlace({}, { confirm: undefined, review: "after" });
    const { ws, backend } = place;
    const lines = Array.from({ length: 30 }, (_, index) => `line ${index + 1}`);
    const bytesOf = (changed: Readonly<Record<number, string>>): Uint8Array => {
      const text = lines.map((line, index) => changed[index + 1] ?? line).join("\r\n");
      return new Uint8Array([0xef, 0xbb, 0xbf, ...Buffer.from(text)]);
    };
    await backend.writeBytes("/w/a.txt", bytesOf({}));
    const edits = [2, 15, 29].map((line) => ({ old_text: `line ${line}\n`, new_text: `changed ${line}\n` }));
    await ws.call("edit_file", { path: "a.txt", edits });
    const { page } = await chromium.open(place.page.link("manage", "ana"));

    // From the list of unreviewed calls.
    await page.locator(".unreviewed .card").getByText("a.txt").click();
    await page.getByRole("checkbox", { name: /^Hunk 2/u }).waitFor();
    await page.getByRole("heading", { name: "edit_file a.txt" }).click();
    await page.keyboard.press("n");
    await page.keyboard.press(" ");
    await page.getByRole("button", { name: "Put back 2 of 3 hunks…" }).waitFor();
    await page.keyboard.press("u");
    await page.getByRole("heading", { name: "Put back 2 of 3 hunks of" }).waitFor();
    await page.getByRole("grid").getByText("changed 29").waitFor();
    expect(await page.getByRole("grid").getByText("changed 15").count()).toBe(0);
    await page.getByRole("button", { name: "Put back 2 of 3 hunks", exact: true }).click();
    await page.getByRole("status").getByText("Put back: 2 of 3 hunks.").waitFor();
    expect(await backend.readBytes("/w/a.txt")).toEqual(bytesOf({ 15: "changed 15" }));
    await page.getByRole("button", { name: "Put this back" }).click();
    await page.getByRole("status").getByText("Put back: 1 path.").waitFor();
    const changed = { 2: "changed 2", 15: "changed 15", 29: "changed 29" };
    expect(await backend.readBytes("/w/a.txt")).toEqual(bytesOf(changed));

    // A later call has changed the lines of one hunk.
    await ws.call("edit_file", { path: "a.txt", old_text: "changed 29", new_text: "mine" });
    await page.getByRole("checkbox", { name: "Unreviewed only" }).uncheck();
    await options(page).last().click();
    await page.getByRole("checkbox", { name: /^Hunk 1/u }).uncheck();
    await page.getByRole("button", { name: "Put back 2 of 3 hunks…" }).click();
    await page.getByRole("alert").getByText("Hunk 3 of a.txt does not fit any more.").waitFor();
    expect(await backend.readBytes("/w/a.txt")).toEqual(bytesOf({ ...changed, 29: "mine" }));
  });

  it("a box that is clicked while a drawing is due is not reset by it", async () => {
    const place = await openPlace({ "a.txt": "one\n" }, { confirm: undefined, review: "after" });
    await place.ws.call("write_file", { path: "a.txt", content: "two\n" });
    const { page } = await open(place);
    await page.getByRole("grid").getByText("two").waitFor();
    const isUnreviewedOnly = await page.evaluate(() => {
      const path = document.querySelector<HTMLInputElement>(".tl-filters input");
      const box = document.querySelector<HTMLInputElement>(".tl-unreviewed input");
      if (path === null || box === null) throw new Error("the page has other classes");
      path.value = "a";
      path.dispatchEvent(new Event("input", { bubbles: true }));
      box.click();
      return box.checked;
    });
    expect(isUnreviewedOnly).toBe(true);
    await page.waitForFunction(
      () => document.querySelector<HTMLInputElement>(".tl-unreviewed input")?.checked === true,
    );
  });
});
