/**
 * The whole way of a change: a client of the MCP SDK calls a tool of `filewright serve --review`, a person answers on the
 * page in a real Chromium, and the file has exactly the bytes that were allowed.
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { describeChromium, withChromium } from "../browser/chromium.ts";
import { bearer, serveProcess, type Serving } from "../mcp/serving.ts";
import { openDesk, saidBy } from "./reviewing.ts";

const APPROVER = "the-token-of-the-person-who-answers";
/** How long no key answers a question that has just appeared, with a margin, in milliseconds. */
const KEY_GUARD_MS = 450;

/** A text with a byte order mark and CR LF, of which three lines far from each other are changed. */
const LINES = Array.from({ length: 60 }, (_, index) => `line ${index + 1}\r\n`);
const BEFORE = `\ufeff${LINES.join("")}`;
const EDITS = [
  ["line 5", "line five"],
  ["line 30", "line thirty"],
  ["line 55", "line fifty-five"],
] as const;

describeChromium("the review page of a server", () => {
  const chromium = withChromium(async () => ({}));
  const home = mkdtempSync(join(tmpdir(), "filewright-review-"));
  const root = join(home, "repo");
  const client = new Client({ name: "a-client", version: "1" });
  let server: Serving;
  let page: Page;
  const file = (name: string): string => readFileSync(join(root, name), "utf8");

  beforeAll(async () => {
    mkdirSync(root);
    writeFileSync(join(root, "a.txt"), BEFORE);
    writeFileSync(join(root, "b.txt"), "one\n");
    writeFileSync(join(root, "c.txt"), "one\n");
    const env = { FILEWRIGHT_APPROVE_TOKEN: APPROVER, XDG_STATE_HOME: join(home, "state") };
    server = await serveProcess([root, "--review=0", "--review-wait", "1"], env);
    await client.connect(
      new StreamableHTTPClientTransport(new URL(server.url), { requestInit: { headers: bearer } }),
    );
    const made = await fetch(new URL("/review/tickets", server.url), {
      method: "POST",
      headers: { authorization: `Bearer ${APPROVER}`, "content-type": "application/json" },
      body: "{}",
    });
    const { fragment } = (await made.json()) as { readonly fragment: string };
    ({ page } = await chromium.open(new URL(`/review${fragment}`, server.url).href));
    await page.getByText("Nothing waits.", { exact: true }).waitFor();
  }, 100_000);
  afterAll(async () => {
    await client.close();
    await server[Symbol.asyncDispose]();
    rmSync(home, { recursive: true });
  });

  /** Calls a tool, and again while a person is looking, as the answer asks for. */
  async function call(name: string, args: Record<string, unknown>): Promise<string> {
    for (;;) {
      const { content } = await client.callTool({ name, arguments: args });
      const text = (content as readonly { readonly text?: string }[])
        .map((part) => part.text ?? "")
        .join("\n");
      if (text.includes("Invalid argument")) throw new Error(text);
      if (!text.includes("Call again with the same arguments")) return text;
    }
  }
  /** Chooses the question about a file; a page goes on showing the one that was answered last. */
  const choose = (name: string) =>
    page
      .getByRole("region", { name: /^Waiting/u })
      .getByRole("button", { name })
      .click();
  const read = (path: string) => call("read_file", { path });

  it("allows two of three hunks byte for byte, and the model is told which one was left out", async () => {
    await read("a.txt");
    const edits = EDITS.map(([old_text, new_text]) => ({
      old_text: `${old_text}\n`,
      new_text: `${new_text}\n`,
    }));
    const edited = call("edit_file", { path: "a.txt", edits });
    await page.getByText("3 of 3 hunks chosen").waitFor();
    await page.waitForTimeout(KEY_GUARD_MS);
    await page.keyboard.press("n");
    await page.keyboard.press("Space");
    await page.getByText("2 of 3 hunks chosen").waitFor();
    await page.keyboard.press("a");
    const text = await edited;
    expect(file("a.txt")).toBe(
      BEFORE.replace("line 5\r", "line five\r").replace("line 55\r", "line fifty-five\r"),
    );
    expect(text).toMatch(/accepted 2 of 3 hunks/u);
    expect(text).toContain("line thirty");
  });

  it("refuses with a reason that the model is told, and the file stays as it is", async () => {
    await read("b.txt");
    const before = file("b.txt");
    const edited = call("edit_file", { path: "b.txt", old_text: "one", new_text: "two" });
    await choose("b.txt");
    await page.getByRole("grid").getByText("two").waitFor();
    await page.waitForTimeout(KEY_GUARD_MS);
    await page.keyboard.press("r");
    await page.getByLabel("Reason for the model").fill("keep the word one");
    await page.keyboard.press("Enter");
    expect(await edited).toContain("keep the word one");
    expect(file("b.txt")).toBe(before);
  });

  it("shows that the file has changed while the question waits, and nothing is written blindly", async () => {
    await read("c.txt");
    const edited = call("edit_file", { path: "c.txt", old_text: "one", new_text: "two" });
    await choose("c.txt");
    await page.getByRole("grid").getByText("two").waitFor();
    writeFileSync(join(root, "c.txt"), "changed by another program, one\n");
    await page.getByText("A file has changed since").first().waitFor();
    // The model has not read what is there now, so the change can only be refused.
    await page.getByRole("button", { name: /^Allow/u }).waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Refuse…" }).click();
    // A key that is pressed before the dialog is drawn would open it once more.
    await page.getByLabel("Reason for the model").fill("read it again");
    await page.keyboard.press("Enter");
    expect(await edited).toContain("read it again");
    expect(file("c.txt")).toBe("changed by another program, one\n");
  });

  it("parks a call that waits for long, and the same call finds the answer that was given meanwhile", async () => {
    await read("b.txt");
    const args = { path: "b.txt", old_text: "one", new_text: "parked" };
    const first = await client.callTool({ name: "edit_file", arguments: args });
    expect(JSON.stringify(first.content)).toContain("A person is looking at this change");
    expect(first.isError).toBe(true);
    await choose("b.txt");
    await page.getByRole("grid").getByText("parked").waitFor();
    await page.getByRole("button", { name: "Allow once" }).click();
    await page.getByRole("status").getByText("Allowed").waitFor();
    expect(file("b.txt")).toBe("one\n");
    await call("edit_file", args);
    expect(file("b.txt")).toBe("parked\n");
    // The answer was for one call.
    const again = await client.callTool({
      name: "edit_file",
      arguments: { ...args, old_text: "parked", new_text: "one" },
    });
    expect(again.isError).toBe(true);
    expect(file("b.txt")).toBe("parked\n");
  });
});

describeChromium("the review page of filewright mcp --review", () => {
  const chromium = withChromium(async () => ({}));

  it("rewinds what a client over standard input wrote to a mark, byte for byte, and undoes the rewind", async () => {
    await using desk = await openDesk();
    const agent = await desk.agent("repo");
    const path = join(agent.root, "crlf.txt");
    writeFileSync(path, BEFORE);
    const { page } = await chromium.open(
      await saidBy(agent.server, /Changes wait at (http:\S+#t=[0-9a-f]{64})/u),
    );
    await page.getByText("Nothing waits.", { exact: true }).waitFor();
    const rows = page.locator(".tl-list [role=option]");
    await page.keyboard.press("g");
    await page.keyboard.press("t");
    await page.getByText("Nothing was changed yet.").waitFor();
    await page.keyboard.press("m");
    await page.getByLabel("Name").fill("before the edits");
    await page.keyboard.press("Enter");
    await rows.filter({ hasText: "before the edits" }).waitFor();
    // The stream of events can contain the mark before its answer has closed the dialog, which would take the next keys.
    await page.getByLabel("Name").waitFor({ state: "detached" });

    // Two changes of one file and one that makes a file, each allowed by a person.
    await page.keyboard.press("g");
    await page.keyboard.press("r");
    const made = join(agent.root, "made.txt");
    await agent.server.call("read_file", { path });
    for (const [tool, args] of [
      ["edit_file", { path, old_text: "line 5\n", new_text: "line five\n" }],
      ["write_file", { path: made, content: "made\n" }],
      ["edit_file", { path, old_text: "line 30\n", new_text: "line thirty\n" }],
    ] as const) {
      const call = agent.server.call(tool, args);
      await page
        .getByRole("grid")
        .getByText(/line five|^made$|line thirty/u)
        .first()
        .waitFor();
      // The rows may still be loading, or the answer before be on its way: the key does nothing until the button works.
      await page.locator(".allow:not(:disabled):not([aria-disabled=true])").waitFor();
      await page.keyboard.press("a");
      expect(await call).toMatchObject({ isError: false });
      await page.getByText("Nothing waits.", { exact: true }).waitFor();
    }
    const after = readFileSync(path);
    expect(after.toString()).toBe(
      BEFORE.replace("line 5\r", "line five\r").replace("line 30\r", "line thirty\r"),
    );

    await page.keyboard.press("g");
    await page.keyboard.press("t");
    await rows.filter({ hasText: "before the edits" }).click();
    await page.getByRole("button", { name: "Rewind to here" }).click();
    await page.getByRole("button", { name: "Rewind 2 paths" }).click();
    await page.getByRole("status").getByText("Rewound 2 paths to “before the edits”.").waitFor();
    expect(readFileSync(path).equals(Buffer.from(BEFORE))).toBe(true);
    expect(existsSync(made)).toBe(false);
    // The model reads what is there now.
    expect((await agent.server.call("read_file", { path })).text).not.toContain("line five");
    await page.getByRole("button", { name: "Put this back" }).click();
    await page.getByRole("status").getByText("Put back: 2 paths.").waitFor();
    expect(readFileSync(path).equals(after)).toBe(true);
    expect(readFileSync(made, "utf8")).toBe("made\n");
  });
});
