/** The text for people, which differs from the text for the model. */
import { describe, expect, test } from "vitest";
import { type Hook, toolsFor } from "../../js/index.node.ts";
import { KINDS, place } from "../tools/harness.ts";

const SEED = { "a.txt": "one\ntwo\n", "d/b.txt": "b\n", "long.txt": "x\n".repeat(5000) };
const EDITED = "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2";

describe.each(KINDS)("on %s", (kind) => {
  test.each<readonly [tool: string, args: object, display: string]>([
    ["read_file", { path: "a.txt" }, "Read a.txt: 2 lines"],
    ["read_file", { path: "a.txt", start_line: 2 }, "Read a.txt: lines 2 to 2 of 2"],
    ["read_many_files", { paths: ["a.txt", "none"] }, "Read 1 file, left out 1"],
    ["write_file", { path: "n\u001b", content: "héllo" }, "Created n\\x1b: 6 bytes"],
    [
      "edit_file",
      { path: "a.txt", old_text: "two", new_text: "2" },
      `Edited a.txt: 1 replacement\n${EDITED}`,
    ],
    ["diff", { a: "a.txt", content_b: "one\n2\n" }, "Compared a.txt with other content: +1 −1\n"],
    ["diff", { a: "a.txt", b: "a.txt" }, "Compared a.txt with a.txt: no difference"],
    ["apply_patch", { path: "a.txt", patch: "@@\n-two\n+2\n" }, `Patched 1 file, +1 −1\n${EDITED}`],
    ["list_directory", { path: "d" }, "Listed d: 1 entry"],
    ["glob", { pattern: ["*.txt", "d/*"] }, "Found 3 paths for '*.txt d/*'"],
    ["grep", { pattern: "two" }, "Found 1 match in 1 file for 'two'"],
    ["stat", { path: "a.txt" }, "Looked at a.txt: a file, 8 bytes"],
    ["copy", { source: "a.txt", destination: "c.txt" }, "Copied a.txt to c.txt: 1 file"],
    ["move", { source: "a.txt", destination: "c.txt" }, "Moved a.txt to c.txt"],
    ["delete", { path: "d", recursive: true }, "Deleted d: 1 directory, 1 file"],
    ["delete", { path: "none", missing_ok: true }, "Nothing to delete at none"],
    ["mkdir", { path: "m" }, "Made directory m"],
    ["mkdir", { path: "d" }, "Directory d was there already"],
    [
      "batch",
      {
        operations: [
          { tool: "read_file", args: { path: "a.txt" } },
          { tool: "edit_file", args: { path: "a.txt", old_text: "two", new_text: "2" } },
        ],
      },
      "Made 2 calls\nRead a.txt: 2 lines\nEdited a.txt: 1 replacement",
    ],
  ])("%s with %o says what was done", async (tool, args, display) => {
    const { ws } = await place(kind, SEED);
    const result = await ws.call(tool, args);
    expect(result.ok, result.text).toBe(true);
    expect(result.display.startsWith(display), result.display).toBe(true);
    if (!display.endsWith("\n")) expect(result.display).toBe(display);
  });

  test("text for the model, text for people: of a success and of a failure, under our names and a preset's", async () => {
    const { ws, root } = await place(kind, SEED);
    const page = await ws.call("read_file", { path: "long.txt" });
    expect([page.text.length > 4000, page.display]).toEqual([true, "Read long.txt: lines 1 to 2000 of 5000"]);
    const failed = await ws.call("list_directory", { path: "a.txt" });
    expect(failed.text).toBe("Error: 'a.txt' is not a directory; use read_file to read it.");
    expect(failed.display).toBe("List directory failed: 'a.txt' is not a directory.");
    const other = await ws.call("read_file", { path: "a.tx" });
    expect(other.display).toBe("Read file failed: 'a.tx' does not exist. Did you mean 'a.txt'?");
    const tools = toolsFor(ws, "gemini");
    const replace = tools.find(({ name }) => name === "replace");
    const args = { file_path: `${root}/a.txt`, old_string: "two", new_string: "2" };
    const done = await replace?.execute(args);
    expect(done?.text).toMatch(/^Successfully modified file: /u);
    expect(done?.display).toMatch(/^Edited a\.txt: 1 replacement\n--- a\/[\s\S]*\n-two\n\+2$/u);
  });

  test("a tool that does not exist, and a closed workspace, are told to people too", async () => {
    const { ws } = await place(kind, SEED);
    expect((await ws.call("zzzzzzzz", {})).display).toMatch(/^There is no tool 'zzzzzzzz'/u);
    await ws.close();
    expect((await ws.call("stat", { path: "a.txt" })).display).toBe("The workspace is closed.");
  });

  test("what an after hook takes out of the text or the data is not in the text for people", async () => {
    const hide =
      (reply: (result: object) => object): Hook["run"] =>
      ({ result }) =>
        reply(result as object);
    const shown = async (run: Hook["run"]): Promise<string> => {
      const hooks = [{ stage: "after", tool: "edit_file", run } as const];
      const { ws } = await place(kind, { "a.txt": "secret\n" }, { hooks });
      return (await ws.call("edit_file", { path: "a.txt", old_text: "secret", new_text: "s" })).display;
    };
    expect(await shown(hide((result) => ({ ...result, text: "(hidden)" })))).toBe("(hidden)");
    expect(await shown(hide(() => ({ data: { diff: "" } })))).toBe("Edited a.txt: 1 replacement");
    expect(await shown(hide(() => ({ display: "Done.", text: "(hidden)" })))).toBe("Done.");
    expect(await shown(hide((result) => result))).toContain("-secret");
  });

  test("a change by an after hook, and by the reviewer, is in the text for people", async () => {
    const { ws, foreign } = await place(
      kind,
      { "a.txt": "one\n" },
      {
        hooks: [
          {
            stage: "after",
            tool: "edit_file",
            run: () => foreign("a.txt", "FORMATTED\n"),
          },
        ],
        confirm: () => ({ outcome: "modify_with_editor", payload: { newContent: "three\n", final: true } }),
      },
    );
    const { display } = await ws.call("edit_file", { path: "a.txt", old_text: "one", new_text: "two" });
    expect(display).toContain(
      "[content modified by the reviewer before it was approved; what the reviewer changed:",
    );
    expect(display).toContain("[a hook changed a.txt after this call:]");
    expect(display).toContain("+FORMATTED");
  });
});
