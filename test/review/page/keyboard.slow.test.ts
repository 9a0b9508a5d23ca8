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

  async function open(
    files: Readonly<Record<string, string>>,
    options: Partial<WorkspaceOptions> = {},
  ) {
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
    await press("Enter");
    expect((await first).ok).toBe(true);
    expect(await read("a.txt")).toBe(AFTER.replace("line thirty\n", "line 30\n"));

    // The focus goes on with the next question, and its keys with it.
    await page.getByRole("gridcell", { name: "added: two" }).waitFor();
    expect((await focused()).name).toContain("b.txt");
    await tabTo("Refuse… r");
    await press("Enter");
    await page.getByRole("dialog").waitFor();
    await press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect((await focused()).name).toBe("Refuse… r");
    await press("Enter");
    await page.getByRole("dialog").waitFor();
    expect(await around()).toEqual(["Cancel Esc", "Refuse Enter", "Reason for the model (may be empty)"]);
    await type("keep the word one");
    await press("Enter");
    expect((await second).text).toContain("keep the word one");
    expect(await read("b.txt")).toBe("one\n");

    // The editor is left by Tab; a dialog that is closed gives the focus back.
    const third = write("c.txt", "two\r\n");
    await page.getByRole("gridcell", { name: "added: two" }).waitFor();
    await page.waitForTimeout(KEY_GUARD_MS);
    await tabTo("Edit… e");
    await press("Enter");
    await page.getByRole("textbox", { name: "The new content of /w/c.txt" }).waitFor();
    await press("ControlOrMeta+End");
    await type("three");
    await tabTo("Cancel Esc");
    await press("Enter");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect((await focused()).name).toBe("Edit… e");
    await press("e");
    await page.getByRole("textbox", { name: "The new content of /w/c.txt" }).getByText("three").waitFor();
    await press("ControlOrMeta+Enter");
    expect((await third).ok).toBe(true);
    expect(await read("c.txt")).toBe("two\r\nthree");

    // What has changed is looked at again.
    const fourth = place.ws.call("edit_file", { path: "d.txt", old_text: "line 30\n", new_text: "thirty\n" });
    await page.getByRole("grid").getByText("thirty").waitFor();
    place.backend.writeBytesSync("/w/d.txt", new TextEncoder().encode(`zero\n${BEFORE}`));
    await page.getByText("A file has changed since this was asked").waitFor();
    await tabTo("Look again l");
    await press("Enter");
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
    await page.getByRole("dialog").waitFor();
    await tabTo("this turn");
    await press("ArrowDown");
    expect((await focused()).name).toBe("this session");
    await tabTo("Allow and remember");
    await press("Enter");
    expect((await fifth).ok).toBe(true);
    expect((await write("e.txt", "three\n")).ok).toBe(true);

    // The keys, and the focus afterwards.
    await page.getByText("Allowed: ").waitFor();
    await tabTo("Keys ?");
    await press("?");
    await page.getByRole("dialog", { name: "Keys" }).waitFor();
    await press("g", "t", "Enter");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect((await focused()).name).toBe("Keys ?");
    expect([...unseen]).toEqual([]);
    expect(complaints).toEqual([]);
  });
});
