/** `ws.blame`: which call wrote each line, in memory and on the disk. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Workspace } from "../../../js/index.node.ts";
import { KINDS, place } from "../../tools/harness.ts";

/** Returns the origin of each line: a tool with its agent, `older` or `elsewhere`. */
async function originsOf(ws: Workspace, path: string): Promise<string[]> {
  const { lines } = await ws.blame(path);
  return lines.flatMap(({ count, origin, tool, agent }) =>
    Array.from({ length: count }, () => (origin === "call" ? `${tool}${agent ? ` ${agent}` : ""}` : origin)),
  );
}

const codeOf = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => "none",
    (error: unknown) => (error as { code?: unknown }).code,
  );

describe.each(KINDS)("the blame of a file on %s", (kind) => {
  test("names the call and the agent of each line, across a move", async () => {
    const { ws } = await place(kind, { "a.txt": "1\n2\n3\n4\n5\n" });
    const ana = await ws.agent("ana");
    const bob = await ws.agent("bob");
    await ana.call("edit_file", { path: "a.txt", old_text: "2\n", new_text: "two\nand a half\n" });
    await bob.call("move", { source: "a.txt", destination: "b.txt" });
    await bob.call("edit_file", { path: "b.txt", old_text: "two\n", new_text: "TWO\n" });
    await bob.call("edit_file", { path: "b.txt", old_text: "5\n", new_text: "" });
    expect(await originsOf(ws, "b.txt")).toEqual([
      "older",
      "edit_file bob",
      "edit_file ana",
      "older",
      "older",
    ]);
    const [, line] = (await ws.blame("b.txt")).lines;
    const call = (await ws.history()).find(({ callId }) => callId === line?.callId);
    expect(call).toMatchObject({ tool: "edit_file", agent: "bob", time: line?.time });
  });

  test("a file that a call created is that call's, whatever its line ends are", async () => {
    const { ws } = await place(kind, { keep: "" });
    await ws.call("write_file", { path: "n.txt", content: "a\r\nb\r\nc" });
    await (await ws.agent("ana")).call("edit_file", { path: "n.txt", old_text: "b", new_text: "B" });
    expect(await originsOf(ws, "n.txt")).toEqual(["write_file", "edit_file ana", "write_file"]);
  });

  test("what an undo or a rewind restores is of the call that wrote it", async () => {
    const { ws } = await place(kind, { "a.txt": "1\n2\n3\n" });
    const ana = await ws.agent("ana");
    await ana.call("edit_file", { path: "a.txt", old_text: "2\n", new_text: "two\n" });
    await ws.mark("m");
    await (await ws.agent("bob")).call("edit_file", { path: "a.txt", old_text: "two\n", new_text: "" });
    const { callId = "" } = await ws.rewind("m");
    expect(await originsOf(ws, "a.txt")).toEqual(["older", "edit_file ana", "older"]);
    const { callId: undone } = await ws.undo(callId);
    expect(await originsOf(ws, "a.txt")).toEqual(["older", "older"]);
    await ws.undo(undone);
    expect(await originsOf(ws, "a.txt")).toEqual(["older", "edit_file ana", "older"]);
  });

  test("what another program wrote is nobody's", async () => {
    const { ws, foreign } = await place(kind, { "a.txt": "1\n2\n3\n" });
    await ws.call("edit_file", { path: "a.txt", old_text: "1\n", new_text: "one\n" });
    await foreign("a.txt", "one\n2\nthree\n");
    await ws.call("edit_file", { path: "a.txt", old_text: "2\n", new_text: "two\n" });
    // The content that the first edit left is not known any more, so its own line could be the other program's.
    expect(await originsOf(ws, "a.txt")).toEqual(["elsewhere", "edit_file", "elsewhere"]);
  });

  test("random edits: each line is the call's that wrote it", async () => {
    const edits = fc.array(
      fc.record({
        at: fc.nat(),
        removed: fc.integer({ min: 0, max: 3 }),
        added: fc.integer({ min: 0, max: 3 }),
      }),
      { minLength: 1, maxLength: 8 },
    );
    await fc.assert(
      fc.asyncProperty(edits, async (list) => {
        const { ws } = await place(kind, { "a.txt": "a\nb\nc\nd\n" });
        const written = ["a", "b", "c", "d"].map((text) => ({ text, by: "older" }));
        for (const [index, { at, removed, added }] of list.entries()) {
          const agent = await ws.agent(`agent-${index}`);
          const made = Array.from({ length: added }, (_, n) => ({
            text: `${index}.${n}`,
            by: `write_file agent-${index}`,
          }));
          written.splice(at % (written.length + 1), removed, ...made);
          await agent.call("write_file", {
            path: "a.txt",
            content: written.map(({ text }) => `${text}\n`).join(""),
          });
        }
        expect(await originsOf(ws, "a.txt")).toEqual(written.map(({ by }) => by));
      }),
      { numRuns: 25 },
    );
  });

  test("refuses what has no lines, what is absent and what may not be read", async () => {
    const { ws } = await place(kind, { bin: "\0\0\0", ".env": "A=1\n", empty: "" });
    expect([
      await codeOf(ws.blame("bin")),
      await codeOf(ws.blame("none")),
      await codeOf(ws.blame(".env")),
    ]).toEqual(["BINARY_FILE", "NOT_FOUND", "GRANT_DENIED"]);
    expect((await ws.blame("empty")).lines).toEqual([]);
    expect(await codeOf(ws.blame(1 as unknown as string))).toBe("INVALID_ARGUMENT");
  });
});
