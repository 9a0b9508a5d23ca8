/** One question in a real Chromium: lines of a hunk are chosen, and a change is looked at again. */
import { expect, it } from "vitest";
import type { Page } from "playwright-core";
import { describeChromium, withChromium } from "../../browser/chromium.ts";
import { openPlace, type Place } from "../place.ts";

/** An image of one pixel. */
const GIF = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7";
/** How long no key answers a question that has just appeared, with a margin, in milliseconds. */
const KEY_GUARD_MS = 450;

describeChromium("a question on the review page", () => {
  const chromium = withChromium(async () => ({}));

  async function open(
    place: Place,
  ): Promise<{ readonly page: Page; readonly complaints: readonly string[] }> {
    const opened = await chromium.open(place.page.link("manage", "ana"));
    await opened.page.locator(".connection.live").waitFor();
    return opened;
  }

  it("allows some lines of a hunk, chosen by keys and by the mouse", async () => {
    const place = await openPlace({ "a.txt": "one\r\ntwo\r\nthree\r\n" });
    const { page, complaints } = await open(place);
    const content = "one\r\nTWO\r\ntwo and a half\r\nthree\r\nfour\r\n";
    const call = place.ws.call("write_file", { path: "a.txt", content });
    await page.getByText("1 of 1 hunk chosen").waitFor();
    await page.waitForTimeout(KEY_GUARD_MS);
    // The keys leave out the removal of "two"; the mouse leaves out "four".
    await page.keyboard.press("v");
    // The cells of a row would cover what is drawn behind them.
    const marked = page.locator(".row.removed.marked");
    expect(await marked.evaluate((row) => getComputedStyle(row).outlineStyle)).toBe("solid");
    await page.keyboard.press("Space");
    await page.getByText("0 of 1 hunk chosen, and lines of 1").waitFor();
    await page.getByRole("checkbox", { name: "added: four" }).click();
    await page.keyboard.press("Escape");
    await page.getByRole("checkbox", { name: "added: four" }).waitFor({ state: "detached" });
    await page.getByText("in part").waitFor();
    await page.keyboard.press("a");
    const result = await call;
    expect(result.text).toContain("the reviewer accepted 0 of 1 hunk and some lines of 1 more of a.txt");
    expect(await place.backend.readText("/w/a.txt")).toBe("one\r\ntwo\r\nTWO\r\ntwo and a half\r\nthree\r\n");
    expect(complaints).toEqual([]);
  });

  it("asks once about a batch over five files, of which one is left out", async () => {
    const place = await openPlace({ "a.txt": "1\n", "b.txt": "2\n", "c.txt": "3\n", "d.txt": "4\n" });
    const { page, complaints } = await open(place);
    const edit = (path: string, old_text: string) => ({
      tool: "edit_file",
      args: { path, old_text, new_text: "x" },
    });
    const write = { tool: "write_file", args: { path: "n.txt", content: "new\n" } };
    const remove = { tool: "delete", args: { path: "d.txt" } };
    const operations = [edit("a.txt", "1"), edit("b.txt", "2"), write, edit("c.txt", "3"), remove];
    const call = place.ws.call("batch", { operations });
    await page.getByText("5 of 5 parts chosen").waitFor();
    await page.getByRole("checkbox", { name: "All of /w/d.txt" }).click();
    await page.getByText("4 of 5 parts chosen").waitFor();
    await page.waitForTimeout(KEY_GUARD_MS);
    await page.keyboard.press("a");
    const result = await call;
    expect(result.ok, result.text).toBe(true);
    expect(result.text).toContain("5. delete: Error: The reviewer left this operation out of the batch.");
    expect(await place.backend.readText("/w/n.txt")).toBe("new\n");
    expect(await place.backend.readText("/w/c.txt")).toBe("x\n");
    expect(await place.backend.readText("/w/d.txt")).toBe("4\n");
    expect(complaints).toEqual([]);
  });

  it("writes what a person has edited, with the line ends of the file", async () => {
    const place = await openPlace({ "a.txt": "\ufeffone\r\ntwo\r\n" });
    const { page, complaints } = await open(place);
    const call = place.ws.call("write_file", { path: "a.txt", content: "\ufeffone\r\nTWO\r\n" });
    await page.getByRole("gridcell", { name: "added: TWO" }).waitFor();
    await page.waitForTimeout(KEY_GUARD_MS);
    await page.keyboard.press("e");
    const editor = page.getByRole("textbox", { name: "The new content of /w/a.txt" });
    await editor.waitFor();
    await page.keyboard.press("ControlOrMeta+End");
    await page.keyboard.type("three");
    await page.keyboard.press("Enter");
    // A dialog that is closed loses nothing.
    await page.keyboard.press("Escape");
    await editor.waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Edit…" }).click();
    await editor.getByText("three").waitFor();
    await page.getByRole("button", { name: "Allow with this content" }).click();
    const result = await call;
    expect(await place.backend.readText("/w/a.txt")).toBe("\ufeffone\r\nTWO\r\nthree\r\n");
    expect(result.text).toContain("+three");
    await page.getByText("Allowed as you edited it: ").waitFor();
    expect(complaints).toEqual([]);
  });

  it("keeps what a person has typed: closed, left by a reload, or answered by another person meanwhile", async () => {
    const place = await openPlace({ "a.txt": "one\n" });
    const { page, complaints } = await open(place);
    const call = place.ws.call("write_file", { path: "a.txt", content: "two\n", whole_file: true });
    const edit = page.getByRole("button", { name: "Edit…" });
    await edit.click();
    const editor = page.getByRole("textbox", { name: "The new content of /w/a.txt" });
    await editor.waitFor();
    const isTheAgents = page.getByRole("button", { name: "Back to the agent's text" });
    expect(await isTheAgents.count()).toBe(0);
    await page.keyboard.press("ControlOrMeta+End");
    await page.keyboard.type("mine");
    await page.keyboard.press("Escape");
    const kept = page.getByText("Your edited text is kept");
    await kept.waitFor();
    // The browser asks before the page is left.
    const asked = page.waitForEvent("dialog");
    await page.evaluate(() => void setTimeout(() => location.reload()));
    const question = await asked;
    expect(question.type()).toBe("beforeunload");
    await question.dismiss();
    await edit.click();
    await editor.getByText("mine").waitFor();
    await isTheAgents.click();
    await editor.getByText("mine").waitFor({ state: "detached" });
    await page.keyboard.press("Escape");
    await kept.waitFor({ state: "detached" });
    await edit.click();
    await editor.waitFor();
    await page.keyboard.press("ControlOrMeta+End");
    await page.keyboard.type("yours");
    await editor.getByText("yours").waitFor();
    const [pending] = place.hub.queue.pending();
    if (pending?.kind !== "change") throw new Error("no change waits");
    place.hub.answer(pending.id, { outcome: "allow", digest: pending.details.digest }, "ben");
    expect((await call).ok).toBe(true);
    await page
      .getByText("This question was answered by ben in the meantime. Your text is still here to copy.")
      .waitFor();
    await editor.getByText("yours").waitFor();
    await page.getByRole("heading", { name: "Edit /w/a.txt" }).waitFor();
    expect(await page.getByRole("button", { name: "Allow with this content" }).isDisabled()).toBe(true);
    expect(complaints).toEqual([]);
  });

  it("puts back what was answered last: what was allowed, and the reason of what was refused", async () => {
    const place = await openPlace({ "a.txt": "one\n" });
    const { page, complaints } = await open(place);
    const write = () => place.ws.call("write_file", { path: "a.txt", content: "two\n", whole_file: true });
    const refused = write();
    await page.getByRole("gridcell", { name: "added: two" }).waitFor();
    await page.waitForTimeout(KEY_GUARD_MS);
    await page.keyboard.press("r");
    await page.keyboard.type("not now");
    await page.keyboard.press("Enter");
    expect((await refused).text).toContain("not now");
    await page.getByText("Refused: ").waitFor();
    // It does not wait: its text is there, and the page says that nothing was made.
    await page.keyboard.press("u");
    await page.getByText("it does not wait any more. Your reason was: not now").waitFor();
    await page.getByRole("gridcell", { name: "added: two" }).waitFor();
    // The same waits again: the reason is a draft.
    const again = write();
    await page.locator(".screens .badge").waitFor();
    await page.keyboard.press("u");
    const reason = page.getByRole("textbox", { name: "Reason for the model" });
    await reason.waitFor();
    expect(await reason.inputValue()).toBe("not now");
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Allow once" }).click();
    expect((await again).ok).toBe(true);
    await page.getByText("Allowed: ").waitFor();
    await page.keyboard.press("u");
    await page.getByRole("listitem").getByText("a.txt", { exact: true }).waitFor();
    expect(await place.backend.readText("/w/a.txt")).toBe("two\n");
    await page.getByRole("button", { name: "Put back 1 path" }).click();
    await page.getByText("Put back: 1 path.").waitFor();
    expect(await place.backend.readText("/w/a.txt")).toBe("one\n");
    await page.keyboard.press("u");
    await page.getByText("It was put back before.").waitFor();
    expect(complaints).toEqual([]);
  });

  it("hides secrets until they are asked for, and then hides them again", async () => {
    const place = await openPlace({ "settings.ini": "PASSWORD=hunter1\n" });
    const { page, complaints } = await open(place);
    const call = place.ws.call("write_file", {
      path: "settings.ini",
      content: "PASSWORD=hunter2\n",
      whole_file: true,
    });
    await page.getByText("2 secret-looking values hidden.").waitFor();
    await page.getByRole("gridcell", { name: /^added: PASSWORD= ?hidden$/u }).waitFor();
    const markup = () => page.evaluate(() => document.documentElement.outerHTML);
    expect(await markup()).not.toContain("hunter");
    const edit = page.getByRole("button", { name: "Edit…" });
    expect(await edit.isDisabled()).toBe(true);
    await page.keyboard.press("h");
    await page.getByRole("gridcell", { name: "added: PASSWORD=hunter2" }).waitFor();
    await expect.poll(() => edit.isDisabled()).toBe(false);
    await page.getByRole("button", { name: "Hide it" }).click();
    await page.getByText("2 secret-looking values hidden.").waitFor();
    expect(await markup()).not.toContain("hunter");
    // What is hidden can be allowed, and is written.
    await page.getByRole("button", { name: "Allow once" }).click();
    expect((await call).ok).toBe(true);
    expect(await place.backend.readText("/w/settings.ini")).toBe("PASSWORD=hunter2\n");
    await page.getByText("Allowed: ").waitFor();
    await page.getByRole("button", { name: "Timeline" }).click();
    await page.getByText("2 secret-looking values hidden.").waitFor();
    expect(await markup()).not.toContain("hunter");
    await page.keyboard.press("h");
    await page.getByRole("gridcell", { name: "added: PASSWORD=hunter2" }).waitFor();
    expect(complaints).toEqual([]);
  });

  it("says before the answer that a change of content which the agent has not read cannot be made", async () => {
    const place = await openPlace({ "a.txt": "one\ntwo\n" }, { guard: "refuse" });
    await place.ws.call("read_file", { path: "a.txt" });
    const { page, complaints } = await open(place);
    const call = place.ws.call("edit_file", { path: "a.txt", old_text: "two", new_text: "TWO" });
    await page.getByRole("button", { name: "Allow once" }).waitFor();
    await place.backend.writeBytes("/w/a.txt", new TextEncoder().encode("zero\none\ntwo\n"));
    await page.getByText("this change can no longer be made as it is").waitFor();
    for (const name of ["Allow once", "Look again", "Wider…", "Edit…"])
      expect(await page.getByRole("button", { name }).count(), name).toBe(0);
    await page.getByRole("button", { name: "Refuse…" }).click();
    expect(await page.getByLabel("Reason for the model").inputValue()).toContain("read it again");
    await page.keyboard.press("Enter");
    expect((await call).text).toContain("a file has changed since then; read it again");
    expect(complaints).toEqual([]);
  });

  it("shows images side by side", async () => {
    const place = await openPlace();
    await place.backend.writeBytes("/w/a.gif", Buffer.from(GIF, "base64"));
    const { page, complaints } = await open(place);
    const content = GIF.replace("AAAP", "AAAQ");
    const call = place.ws.call("write_file", {
      path: "a.gif",
      content,
      content_encoding: "base64",
      whole_file: true,
    });
    for (const side of ["before", "after"]) {
      const image = page.getByRole("img", { name: `/w/a.gif ${side} the change` });
      // The text stands in its place until it is loaded.
      await expect.poll(() => image.getAttribute("src")).toMatch(/^blob:/u);
      await image.evaluate((one) => (one as HTMLImageElement).decode());
    }
    await page.getByRole("button", { name: "Allow once" }).click();
    expect((await call).ok).toBe(true);
    expect(complaints).toEqual([]);
  });

  it("looks again at a file that has changed, and marks what was not seen", async () => {
    const lines = Array.from({ length: 40 }, (_, index) => `line ${index + 1}\n`);
    const place = await openPlace({ "a.txt": lines.join("") });
    const { page, complaints } = await open(place);
    const call = place.ws.call("edit_file", { path: "a.txt", old_text: "line 30", new_text: "line thirty" });
    await page.getByRole("grid").getByText("line thirty").waitFor();
    const changed = lines.with(0, "zero\nline 1\n").with(30, "LINE 31\n").join("");
    await place.backend.writeBytes("/w/a.txt", new TextEncoder().encode(changed));
    await page.getByText("A file has changed since this was asked").waitFor();
    expect(await page.getByRole("button", { name: "Allow once" }).isDisabled()).toBe(true);
    expect(await place.backend.readText("/w/a.txt")).toBe(changed);
    await page.waitForTimeout(KEY_GUARD_MS);
    await page.keyboard.press("l");
    await page.getByText("Planned again on the present content: 1 hunk with other lines around.").waitFor();
    await page.getByText("other lines around it").waitFor();
    await page.waitForTimeout(KEY_GUARD_MS);
    await page.keyboard.press("a");
    expect((await call).ok).toBe(true);
    expect(await place.backend.readText("/w/a.txt")).toBe(changed.replace("line 30", "line thirty"));
    expect(complaints).toEqual([]);
  });
});
