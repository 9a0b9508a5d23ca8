/** `approve` and the page of `filewright mcp --review`: it is found without an address, and what waits there is answered. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openDesk, saidBy, watcherOf } from "../review/reviewing.ts";
import { hasTerminal } from "./running.ts";

/** Returns 30 lines, of which the two given ones are far enough apart for two hunks. */
const lines = (second: string, last: string): string =>
  Array.from({ length: 30 }, (_, at) => (at === 1 ? second : at === 28 ? last : `line ${at}`)).join("\n");

test.skipIf(!hasTerminal)(
  "what waits on the page of several servers is answered at a terminal",
  async () => {
    await using desk = await openDesk();
    const first = await desk.agent("first");
    const page = await watcherOf(await saidBy(first.server, /Changes wait at (http:\S+#t=[0-9a-f]{64})/u));
    const second = await desk.agent("second");
    await saidBy(second.server, /Changes wait at (\S+), the page of another server/u);
    const file = join(second.root, "a.txt");
    await writeFile(file, lines("old", "old end"));
    const editor = join(second.root, "editor.sh");
    await writeFile(editor, 'printf "edited\\n" > "$1"\n');

    const env = { ...desk.env, NO_COLOR: "1", USER: "ana", EDITOR: `sh ${editor}` };
    const drawn = desk.cli.draw(["approve", "--watch"], {
      env,
      steps: [
        { wait: `Waiting for questions of http://127.0.0.1:${desk.port};` },
        // The first question is allowed in part.
        { wait: "2 of 2 hunks chosen", send: "2" },
        { wait: "1 of 2 hunks chosen", send: "a" },
        { wait: "Allowed 1 of 2 hunks of " },
        // The second one: a wider answer is previewed and left, then the content is edited and allowed.
        { wait: "Allow this?", send: "w" },
        { wait: "Would have covered " },
        { wait: "Allow and remember?", send: "\u001b" },
        { wait: "Allow this?", send: "e" },
        { wait: "Changed, and asked again" },
        { wait: "as you changed it" },
        { wait: "+edited" },
        { wait: "Allow this?", send: "a" },
        { wait: "Allowed ", run: ["kill", "-9", String(first.server.pid)] },
        // The third one, at the second server, which serves the page now, at the same port and with another token.
        { wait: "is lost: nothing can be answered until it is back" },
        { wait: "The connection is back." },
        { wait: "Allow this?", send: "r" },
        { wait: "Why not?", send: "not today\r" },
        { wait: "Refused ", send: "q" },
      ],
      seconds: 100,
      rows: 80,
    });
    const contents: string[] = [];
    const writeAll = async (): Promise<readonly string[]> => {
      const texts: string[] = [];
      for (const content of [lines("new", "new end"), "whole\n", "three\n"]) {
        texts.push((await second.write(content)).text);
        contents.push(await readFile(file, "utf8"));
      }
      return texts;
    };
    const [{ status, output, left }, texts] = await Promise.all([drawn, writeAll()]);
    expect([status, left], output).toEqual([0, 0]);
    expect(contents).toEqual([lines("new", "old end"), "edited\n", "edited\n"]);
    expect(texts[2]).toContain("not today");
    // The page shows the name of the person who answered at the terminal.
    const refused = await page.until(({ state }) =>
      state.settled.find(({ outcome, by }) => outcome === "refuse" && by === "ana"),
    );
    expect(refused.reason).toBe("not today");

    const write = second.write("four\n");
    await page.until(({ state }) => state.waiting[0]);
    const { out } = await desk.cli.run(["approve", "all"], "", env);
    expect(out).toMatch(/^Allowed [0-9a-f]{8} {2}/u);
    expect((await write).isError).toBe(false);
  },
  120_000,
);

test("without a page and without a server it says how to start one", async () => {
  await using desk = await openDesk();
  const { status, err } = await desk.cli.run(["approve"]);
  expect([status, err]).toEqual([2, expect.stringContaining("filewright mcp --review")]);
});
