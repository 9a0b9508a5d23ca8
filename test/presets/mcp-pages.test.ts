/** `read_text_file` of preset mcp: a page that has no room for all lines says how to go on, with the arguments it has. */
import { expect, test } from "vitest";
import { place } from "../tools/harness.ts";

const LINES = Array.from({ length: 20_000 }, (_, index) => `line ${index + 1} of the text`);

test.each([{}, { head: 15_000 }, { tail: 15_000 }])(
  "%j is read to its end by what the answers say",
  async (args) => {
    const { ws } = await place("local", { "big.txt": `${LINES.join("\n")}\n` }, { preset: "mcp" });
    const seen: string[] = [];
    let next: Record<string, number> = args;
    for (let call = 0; call < 20; call++) {
      const { text } = await ws.call("read_text_file", { path: "big.txt", ...next });
      const lines = text.trimEnd().split("\n");
      const [, tail] =
        /^\[lines \d+-\d+ of 20000; truncated, tail: (\d+) goes on\]$/u.exec(lines.at(-1) ?? "") ?? [];
      seen.push(...(tail === undefined ? lines : lines.slice(0, -1)));
      if (tail === undefined) break;
      next = { tail: Number(tail) };
    }
    expect(seen).toEqual(LINES.slice("tail" in args ? 5000 : 0));
  },
);

test.each([
  [{ head: 3 }, "line 1 of the text\nline 2 of the text\nline 3 of the text"],
  [{ tail: 1 }, "line 20000 of the text"],
])("%j that fits has no such line", async (args, expected) => {
  const { ws } = await place("local", { "big.txt": `${LINES.join("\n")}\n` }, { preset: "mcp" });
  expect((await ws.call("read_text_file", { path: "big.txt", ...args })).text).toBe(expected);
});
