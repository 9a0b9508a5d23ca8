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
    await page.getByRole("button", { name: "Undo this" }).click();
    await options(page).nth(1).getByText("put back").waitFor();
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
    await page.getByRole("button", { name: "Undo this" }).click();
    await page.getByRole("status").getByText("Put back: 1 path.").waitFor();
    expect(await backend.readBytes("/w/a.txt")).toEqual(changed);

    // An undo over a change of another program is refused, in words.
    await backend.writeBytes("/w/a.txt", Buffer.from("mine"));
    await options(page).filter({ hasText: "edit_file" }).filter({ hasText: "a.txt" }).click();
    await page.keyboard.press("u");
    await page.getByRole("button", { name: "Put back 1 path" }).click();
    await page.getByRole("alert").getByText("Not put back").waitFor();
    expect(await backend.readText("/w/a.txt")).toBe("mine");
    // The browser reports the two refusals, and nothing else.
    expect(complaints.map((complaint) => /status of (\d+)/u.exec(complaint)?.[1])).toEqual(["400", "409"]);
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
    await page.getByRole("button", { name: "Rewind 1 path" }).click();
    await page.getByRole("status").getByText("Rewound 1 path").waitFor();
    expect(await place.backend.readText(`/w/${name}`)).toBe("one\n");
    expect(await page.title()).toBe("Filewright review");
    expect(complaints).toEqual([]);
  });
});
