/** The screen "Policy" in a real Chromium: from a refused call to the grant that lets it pass, and back. */
import { expect, it } from "vitest";
import { describeChromium, withChromium } from "../../browser/chromium.ts";
import { logIn, openPlace } from "../place.ts";

describeChromium("the screen of the policy", () => {
  const chromium = withChromium(async () => ({}));

  it("says why a call was refused, grants what it needs, and revokes it again", async () => {
    const place = await openPlace(
      { "src/a.txt": "one\n", "vault/k": "k" },
      { permissions: { mode: "prompt" }, access: { deny: ["vault"] } },
    );
    const read = async () => (await place.ws.call("read_file", { path: "src/a.txt" })).ok;
    expect(await read()).toBe(false);
    const { page, complaints } = await chromium.open(place.page.link("manage", "ana"));
    await page.getByRole("button", { name: "Why was read_file refused?" }).click();
    const stop = page.locator(".gate.stops");
    await stop.getByText("/w/src was not granted.").waitFor();
    expect(await page.locator(".gate.not-reached").count()).toBeGreaterThan(0);

    // Escape changes nothing.
    await stop.getByRole("button", { name: "Grant…" }).click();
    await page.getByRole("dialog").getByText("Every agent of this workspace may read").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect(await read()).toBe(false);

    await stop.getByRole("button", { name: "Grant…" }).click();
    await page.getByLabel("How long").selectOption({ label: "for eight hours" });
    await page.getByRole("dialog").getByRole("button", { name: "Grant" }).click();
    await stop.waitFor({ state: "detached" });
    await page.getByText("is allowed.").waitFor();
    expect(await read()).toBe(true);
    const [grant] = await place.ws.grants.list();
    expect(grant).toMatchObject({ dir: "/w/src", access: "read", by: "ana" });

    await page.getByRole("button", { name: "Revoke the grants of /w/src" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
    await stop.getByText("/w/src was not granted.").waitFor();
    expect(await read()).toBe(false);

    expect(complaints).toEqual([]);

    // What the host denies cannot be granted, and the page says so.
    await page.getByRole("textbox", { name: "Directory" }).fill("/w/vault");
    await page.getByRole("button", { name: "Grant…" }).last().click();
    await page.getByRole("dialog").getByRole("button", { name: "Grant" }).click();
    await page.getByRole("dialog").getByText("the host denies this path").waitFor();
    expect(await place.ws.grants.list()).toEqual([]);
  });

  it("shows lasting approvals and the counts of rules, and revokes an approval", async () => {
    const place = await openPlace(
      { "src/a.txt": "one\n" },
      {
        rules: [{ tool: "write_file", path: "docs", decision: "allow" }],
        confirm: () => ({ outcome: "proceed_always_tool", payload: { by: "ben" } }),
      },
    );
    const write = async (path: string) => (await place.ws.call("write_file", { path, content: path })).ok;
    expect([await write("docs/a"), await write("docs/b"), await write("src/b.txt")]).toEqual([
      true,
      true,
      true,
    ]);
    const { page, complaints } = await chromium.open(place.page.link("manage", "ana"));
    await page.getByRole("button", { name: "Policy" }).click();
    await page.getByRole("row", { name: "rules[0] allow write_file docs 2" }).waitFor();
    await page.getByRole("button", { name: /^Revoke the approval: write_file on every path/u }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
    await page.getByRole("heading", { name: "Lasting approvals none" }).waitFor();
    expect(await place.ws.approvals.list()).toEqual([]);
    const said = page.getByRole("status").getByText("Revoked: write_file on every path of this workspace");
    await said.waitFor();
    await page.getByRole("button", { name: "Put back" }).click();
    await page.getByRole("heading", { name: "Lasting approvals 1" }).waitFor();
    await said.waitFor({ state: "detached" });
    expect(await place.ws.approvals.list()).toMatchObject([{ by: "ben", scope: { tool: "write_file" } }]);
    expect(complaints).toEqual([]);
  });

  it("a wider answer says what it allows, and leads to where it is revoked", async () => {
    // The page shows the other workspace first, so the approval is looked for.
    const place = await openPlace({ "a.txt": "one\n" });
    const other = await openPlace({ "b.txt": "one\n" }, { confirm: undefined, review: "after" });
    const detach = place.hub.attach(other.ws, "/other");
    const { page, complaints } = await chromium.open(place.page.link("manage", "ana"));
    const write = place.ws.call("write_file", { path: "a.txt", content: "two\n" });
    await page.getByRole("button", { name: "Wider…" }).click();
    await page.getByRole("radio", { name: "this session" }).click();
    // A count that is asked for after the answer would get none, and the console would say so.
    const covered = page.getByRole("dialog").getByText(/^(?:Would have|No call)/u);
    await covered.waitFor();
    await page.getByRole("button", { name: "Allow and remember" }).click();
    expect((await write).ok).toBe(true);
    await page
      .getByRole("status")
      .getByText("allowed without a question on /w/a.txt, until the end of the session.")
      .waitFor();
    // What was made in the other workspace without a question is listed with its name, and opens there.
    expect((await other.ws.call("write_file", { path: "b.txt", content: "two\n" })).ok).toBe(true);
    place.hub.noteHistory();
    await page.getByRole("button", { name: "b.txt write_file /other" }).click();
    expect(await page.getByLabel("Workspace").inputValue()).toBe("/other");
    await page.getByRole("button", { name: "Waiting" }).click();

    const again = place.ws.call("write_file", { path: "c.txt", content: "two\n" });
    await page.getByRole("button", { name: "Wider…" }).click();
    await covered.waitFor();
    await page.getByRole("button", { name: "Allow and remember" }).click();
    expect((await again).ok).toBe(true);
    await page.getByRole("button", { name: "Show in Policy" }).click();
    const shown = page.getByRole("listitem").filter({ hasText: "write_file on /w/c.txt" });
    await shown.and(page.locator(":focus")).waitFor();
    await shown.getByText("until the end of the turn").waitFor();
    expect(await page.getByRole("button", { name: "Show in Policy" }).count()).toBe(0);
    expect(complaints).toEqual([]);
    detach();
  });

  it("a login that may only watch sees all of it and can change nothing", async () => {
    const place = await openPlace({ "src/a.txt": "one\n" }, { permissions: { mode: "prompt" } });
    await place.ws.grants.add({ dir: "/w/src", access: "read" });
    await logIn(place.page, "watch");
    const { page } = await chromium.open(place.page.link("watch", "guest"));
    await page.getByRole("button", { name: "Policy" }).click();
    const revoke = page.getByRole("button", { name: "Revoke the grants of /w/src" });
    await revoke.waitFor();
    expect(await revoke.isDisabled()).toBe(true);
    await page.getByRole("textbox", { name: "Directory" }).fill("/w/src");
    expect(await page.getByRole("button", { name: "Grant…" }).last().isDisabled()).toBe(true);
  });
});
