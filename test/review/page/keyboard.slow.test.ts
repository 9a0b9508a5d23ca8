/** The whole page by a keyboard alone: no test here clicks, hovers, or sets a focus. */
import { expect, it } from "vitest";
import type { WorkspaceOptions } from "../../../js/index.node.ts";
import { describeChromium, withChromium } from "../../browser/chromium.ts";
import { keyboardOf } from "./keyboard.ts";
import { openPlace } from "../place.ts";

const LINES = Array.from({ length: 60 }, (_, index) => `line ${index + 1}\n`);
const BEFORE = LINES.join("");
const AFTER = LINES.with(4, "line five\n").with(29, "line thirty\n").with(54, "line fifty-five\n").join("");

/** How long no key answers a question that has just appeared, with a margin, in milliseconds. */
const KEY_GUARD_MS = 450;

describeChromium("by keyboard alone", () => {
  const chromium = withChromium(async () => ({}));

  async function open(files: Readonly<Record<string, string>>, options: Partial<WorkspaceOptions> = {}) {
    const place = await openPlace(files, options);
    const { page, complaints } = await chromium.open(place.page.link("manage", "ana"));
    await page.locator(".connection.live").waitFor();
    const keys = keyboardOf(page);
    return { place, page, complaints, ...keys };
  }

  it("a person goes around, chooses hunks, allows, refuses, edits, looks again, and allows wider", async () => {
    const { place, page, complaints, press, type, tabTo, around, focused, unseen } = await open({
      "a.txt": BEFORE,
      "b.txt": "one\n",
      "c.txt": "one\r\n",
      "d.txt": BEFORE,
      "e.txt": "one\n",
    });
    const write = (path: string, content: string) =>
      place.ws.call("write_file", { path, content, whole_file: true }, { agent: "main", turn: "t" });
    const read = (path: string) => place.backend.readText(`/w/${path}`);
    const dialog = page.getByRole("dialog");
    /** Presses the button with the focus once the question has been there long enough to be answered. */
    const pressAnswer = async (): Promise<void> => {
      await page.locator("button:focus:not([aria-disabled=true])").waitFor();
      await press("Enter");
    };
    const first = write("a.txt", AFTER);
    await page.getByText("3 of 3 hunks chosen").waitFor();
    const second = write("b.txt", "two\n");
    await page.locator(".card").nth(1).waitFor();

    // Everything is reached, and Tab comes around.
    const stops = await around();
    for (const stop of ["Timeline", "Keys ?", "Hunk 2: @@ -27,7 +27,7 @@", "Refuse… r", "Allow once a"])
      expect(stops).toContain(stop);

    // The second hunk is left out at its box, the rest is allowed by its button.
    await tabTo(/^Hunk 2:/u);
    await press("Space");
    await page.getByText("2 of 3 hunks chosen").waitFor();
    await tabTo("Allow 2 of 3 a");
    await pressAnswer();
    expect((await first).ok).toBe(true);
    expect(await read("a.txt")).toBe(AFTER.replace("line thirty\n", "line 30\n"));

    // The focus goes on with the next question, and its keys with it.
    await page.getByRole("gridcell", { name: "added: two" }).waitFor();
    expect((await focused()).name).toContain("b.txt");
    await tabTo("Refuse… r");
    await pressAnswer();
    await dialog.waitFor();
    await press("Escape");
    await dialog.waitFor({ state: "detached" });
    expect((await focused()).name).toBe("Refuse… r");
    await press("Enter");
    await dialog.waitFor();
    expect(await around()).toEqual(["Cancel Esc", "Refuse Enter", "Reason for the model (may be empty)"]);
    await tabTo(/^Reason/u);
    await type("keep the word one");
    await press("Enter");
    expect((await second).text).toContain("keep the word one");
    expect(await read("b.txt")).toBe("one\n");

    // The editor is left by Tab; a dialog that is closed gives the focus back.
    const third = write("c.txt", "two\r\n");
    await page.getByRole("gridcell", { name: "added: two" }).waitFor();
    await page.waitForTimeout(KEY_GUARD_MS);
    await tabTo("Edit… e");
    await pressAnswer();
    await page.getByRole("textbox", { name: "The new content of /w/c.txt" }).waitFor();
    await press("ControlOrMeta+End");
    await type("three");
    await tabTo("Cancel Esc");
    await press("Enter");
    await dialog.waitFor({ state: "detached" });
    expect((await focused()).name).toBe("Edit… e");
    await press("e");
    await page.getByRole("textbox", { name: "The new content of /w/c.txt" }).getByText("three").waitFor();
    await press("ControlOrMeta+Enter");
    expect((await third).ok).toBe(true);
    expect(await read("c.txt")).toBe("two\r\nthree");

    // What has changed is looked at again.
    const fourth = place.ws.call("edit_file", { path: "d.txt", old_text: "line 30\n", new_text: "thirty\n" });
    await page.getByRole("grid").getByText("thirty").waitFor();
    await place.backend.writeBytes("/w/d.txt", new TextEncoder().encode(`zero\n${BEFORE}`));
    await page.getByText("A file has changed since this was asked").waitFor();
    await tabTo("Look again l");
    await pressAnswer();
    await page.getByText("Planned again on the present content").waitFor();
    await page.waitForTimeout(KEY_GUARD_MS);
    await press("a");
    expect((await fourth).ok).toBe(true);
    expect(await read("d.txt")).toBe(`zero\n${BEFORE.replace("line 30\n", "thirty\n")}`);

    // Wider: for this session, chosen by the arrows.
    const fifth = write("e.txt", "two\n");
    await page.getByRole("gridcell", { name: "added: two" }).waitFor();
    await page.waitForTimeout(KEY_GUARD_MS);
    await press("w");
    await dialog.waitFor();
    await tabTo("this turn");
    await press("ArrowDown");
    expect((await focused()).name).toBe("until");
    await press("ArrowDown");
    expect((await focused()).name).toBe("this session");
    await dialog.getByText(/^Would have covered/u).waitFor();
    await tabTo("Allow and remember");
    await pressAnswer();
    expect((await fifth).ok).toBe(true);
    expect((await write("e.txt", "three\n")).ok).toBe(true);

    // The keys, and the focus afterwards.
    await page.getByText("Allowed: ").waitFor();
    await tabTo("Keys ?");
    await press("?");
    await page.getByRole("dialog", { name: "Keys" }).waitFor();
    await press("g", "t", "Enter");
    await dialog.waitFor({ state: "detached" });
    expect((await focused()).name).toBe("Keys ?");
    expect([...unseen]).toEqual([]);
    expect(complaints).toEqual([]);
  });

  it("a person filters, puts back, rewinds, asks why, revokes, searches, and saves the activity", async () => {
    const { place, page, complaints, press, type, tabTo, around, focused, unseen } = await open(
      { "a.txt": "one\n", "b.txt": "one\n", "vault/k": "k" },
      {
        access: { deny: ["vault"] },
        confirm: () => ({ outcome: "proceed_always_tool", payload: { by: "ben" } }),
      },
    );
    const write = async (path: string, content: string, agent: string): Promise<void> => {
      const result = await place.ws.call("write_file", { path, content, whole_file: true }, { agent });
      expect(result.ok).toBe(true);
    };
    const read = (path: string) => place.backend.readText(`/w/${path}`);
    const options = page.locator(".tl-list [role=option]");
    const dialog = page.getByRole("dialog");
    await write("a.txt", "two\n", "main");

    // The mark is set, and the focus is where it was.
    await press("g", "t");
    await page.getByRole("grid").getByText("two").waitFor();
    await tabTo("Calls and marks, the newest first");
    await press("m");
    await dialog.waitFor();
    await type("before tests");
    await press("Enter");
    await dialog.waitFor({ state: "detached" });
    expect((await focused()).name).toBe("Calls and marks, the newest first");
    await write("a.txt", "three\n", "main");
    await write("b.txt", "two\n", "other");

    // The list is filtered, a call is opened and put back.
    await options.nth(3).waitFor();
    await tabTo("Agent", true);
    await press("ArrowDown", "ArrowDown");
    await options.nth(2).waitFor({ state: "detached" });
    await page.getByRole("grid").getByText("two").waitFor();
    const stops = await around();
    for (const stop of ["Part of a path", "The change, line by line", "Put back… u", "Versions v"])
      expect(stops).toContain(stop);
    await tabTo("Put back… u");
    await press("Enter");
    await dialog.waitFor();
    await press("Escape");
    await dialog.waitFor({ state: "detached" });
    expect((await focused()).name).toBe("Put back… u");
    await press("u");
    await dialog.waitFor();
    await tabTo("Put back 1 path");
    await press("Enter");
    await page.getByRole("status").getByText("Put back: 1 path.").waitFor();
    expect(await read("b.txt")).toBe("one\n");
    await tabTo("Agent", true);
    await press("Home");
    await options.nth(4).waitFor();

    // A rewind to the mark, with its preview.
    await tabTo("Calls and marks, the newest first");
    await press("End");
    await options.nth(4).and(page.locator("[aria-selected=true]")).waitFor();
    await press("ArrowUp");
    await page.getByRole("heading", { name: "Mark “before tests”" }).waitFor();
    await press("b");
    await page.getByRole("grid").getByText("three").waitFor();
    await tabTo(/^Rewind 1 path/u);
    await press("Enter");
    await page.getByRole("status").getByText("Rewound 1 path to “before tests”.").waitFor();
    expect(await read("a.txt")).toBe("two\n");
    expect((await focused()).name).not.toBe("nowhere");

    // Why a call is refused, and the end of an approval.
    expect((await place.ws.call("read_file", { path: "vault/k" })).ok).toBe(false);
    await press("g", "p");
    await page.getByRole("heading", { name: "Why is a call refused?" }).waitFor();
    await tabTo(/^Tool/u);
    await type("read_f");
    await tabTo(/^Path, as/u);
    await type("vault/k");
    await press("Enter");
    await page.locator(".gate.stops").getByText("access.deny").first().waitFor();
    const approvals = await place.ws.approvals.list();
    await tabTo(/^Revoke the approval/u);
    await press("Enter");
    await dialog.waitFor();
    await press("Escape");
    await dialog.waitFor({ state: "detached" });
    expect((await focused()).name).toMatch(/^Revoke the approval/u);
    await press("Enter");
    await dialog.waitFor();
    await tabTo("Revoke");
    await press("Enter");
    await dialog.waitFor({ state: "detached" });
    const { length } = await place.ws.approvals.list();
    expect(length).toBe(approvals.length - 1);
    await page.getByRole("heading", { name: `Lasting approvals ${length || "none"}` }).waitFor();

    // A search, and the file that it finds; the focus goes back to the place.
    await press("g", "s");
    await tabTo("Text to find");
    await type("two");
    await press("Enter");
    await page.getByRole("status").getByText("1 place").waitFor();
    await tabTo(/a\.txt:1/u);
    await press("Enter");
    await page.getByRole("grid").getByText("two").waitFor();
    await page.locator(".origin.call").first().waitFor();
    await tabTo("The lines of the file");
    await tabTo("Close");
    await press("Enter");
    await page.getByRole("grid").waitFor({ state: "detached" });
    expect((await focused()).name).toMatch(/a\.txt:1/u);

    // The activity: filtered, sorted, saved.
    await press("g", "a");
    await page.getByRole("row", { name: /^other write_file/u }).waitFor();
    // The refused call is counted, since the start and over the last hour.
    const refused = page.getByRole("row", { name: /^no name read_file 1 0 1 /u });
    await refused.waitFor();
    await tabTo(/^Time/u);
    const [counted] = await Promise.all([
      page.waitForResponse((response) => response.url().includes("over=hour")),
      press("ArrowDown"),
    ]);
    expect(JSON.stringify(await counted.json())).toContain('"refusals":1');
    await refused.waitFor();
    await tabTo(/^Rows/u);
    await press("ArrowDown");
    await page.getByRole("row", { name: /^other 1/u }).waitFor();
    await tabTo("Errors");
    await press("Enter");
    await page
      .getByRole("columnheader", { name: /^Errors/u })
      .and(page.locator("[aria-sort]"))
      .waitFor();
    await tabTo("CSV", true);
    const [download] = await Promise.all([page.waitForEvent("download"), press("Enter")]);
    expect(download.suggestedFilename()).toMatch(/\.csv$/u);
    await around();
    expect([...unseen]).toEqual([]);
    expect(complaints).toEqual([]);
  });

  it("a key that is pressed at once after Escape is not lost", async () => {
    const { place, page, press } = await open(
      { "a.txt": "one\n" },
      { confirm: () => ({ outcome: "proceed_once" }) },
    );
    await place.ws.call("write_file", { path: "a.txt", content: "two\n", whole_file: true });
    await press("g", "t");
    await page.getByRole("grid").getByText("two").waitFor();
    const dialog = page.getByRole("dialog");
    for (let round = 0; round < 25; round += 1) {
      await press("u");
      await dialog.waitFor();
      // The browser hides a dialog before the page hears of it.
      await press("Escape", "u");
      await dialog.waitFor();
      await press("Escape");
      await page.locator("dialog").waitFor({ state: "detached" });
    }
  });
});
