import { describe, expect, test } from "vitest";
import { KINDS, place } from "./harness.ts";

const FILE = "import a\n\nfn one() {\n  go();\n}\n\nfn two() {\n  stop();\n}\n";

/** The anchor that read_file gives for a line. */
type Anchor = (line: number) => string;

describe.each(KINDS)("edits by anchors on %s", (kind) => {
  const made: readonly [name: string, args: (at: Anchor) => Record<string, unknown>, after: string][] = [
    ["one line", (at) => ({ from: at(4), new_text: "  went();" }), FILE.replace("go()", "went()")],
    [
      "several lines",
      (at) => ({ from: at(3), to: at(5), new_text: "one = 1;\n" }),
      FILE.replace("fn one() {\n  go();\n}", "one = 1;"),
    ],
    [
      "lines away",
      (at) => ({ from: at(3), to: at(6), new_text: "" }),
      FILE.replace("fn one() {\n  go();\n}\n\n", ""),
    ],
    ["a line before", (at) => ({ from: at(1), insert: "before", new_text: "# x" }), `# x\n${FILE}`],
    [
      "a line after",
      (at) => ({ from: at(1), insert: "after", new_text: "import b" }),
      FILE.replace("import a\n", "import a\nimport b\n"),
    ],
    [
      "several, each by the numbers of the file as it was read",
      (at) => ({
        edits: [
          { from: at(1), insert: "after", new_text: "import b\nimport c" },
          { from: at(5), new_text: "} // one" },
          { from: at(9), new_text: "} // two" },
          { old_text: "stop()", new_text: "halt()" },
        ],
      }),
      "import a\nimport b\nimport c\n\nfn one() {\n  go();\n} // one\n\nfn two() {\n  halt();\n} // two\n",
    ],
  ];
  test.each(made)("%s", async (_, args, after) => {
    const { ws, text } = await place(kind, { f: FILE });
    const result = await ws.call("edit_file", { path: "f", ...args(await anchorsOf(ws, "f")) });
    expect(result.text).toMatch(/^Edited f: /);
    expect(await text("f")).toBe(after);
  });

  test("lines that moved are found again, changed ones are refused", async () => {
    const { ws, text, foreign } = await place(kind, { f: FILE });
    const at = await anchorsOf(ws, "f");
    await foreign("f", `# new\n# new\n${FILE}`);
    const moved = await ws.call("edit_file", { path: "f", from: at(4), new_text: "  went();" });
    expect(moved.data).toMatchObject({ edits: [{ start_line: 6, end_line: 6, tier: "exact" }] });
    await foreign("f", FILE.replace("stop();", "wait();"));
    const gone = await ws.call("edit_file", { path: "f", from: at(8), new_text: "" });
    expect(gone.error).toMatchObject({
      code: "MATCH_NOT_FOUND",
      details: { reason: "stale_anchor", file_changed_since_read: true, candidates: [{ start_line: 8 }] },
    });
    expect(await text("f")).toBe(FILE.replace("stop();", "wait();"));
  });

  test("anchors of equal lines work while the file is unchanged, and are refused afterwards", async () => {
    const items = "k: 1\nitem\nitem\nitem\nitem\nend\n";
    const { ws, text, foreign } = await place(kind, { f: items });
    const first = await anchorsOf(ws, "f");
    const edit = (from: string) => ws.call("edit_file", { path: "f", from, new_text: "CHANGED" });
    expect((await edit(first(3))).ok).toBe(true);
    expect(await text("f")).toBe("k: 1\nitem\nCHANGED\nitem\nitem\nend\n");
    await foreign("f", items.replace("k: 1\n", "k: 1\nNEW\n"));
    const stale = await edit(first(3));
    expect(stale.error).toMatchObject({
      code: "MATCH_NOT_UNIQUE",
      details: { reason: "stale_anchor", lines: [4, 5], candidates: [{ start_line: 4 }, { start_line: 5 }] },
    });
    // A candidate names its line in the file as it is now.
    const candidates = (stale.error?.details?.["candidates"] ?? []) as { from: string }[];
    const before = (await text("f")) ?? "";
    expect((await edit(candidates[1]?.from ?? "")).data).toMatchObject({ edits: [{ start_line: 5 }] });
    await foreign("f", before);
    // So does the call to send for each place.
    const retries = (stale.error?.details?.["retries"] ?? []) as { tool: "edit_file"; arguments: object }[];
    expect(retries).toMatchObject([{ tool: "edit_file" }, { tool: "edit_file" }]);
    const sent = await ws.call(retries[1]!.tool, retries[1]!.arguments as never);
    expect(sent.data).toMatchObject({ edits: [{ start_line: 5 }] });
    await foreign("f", before);
    // The anchors of another reading count for the version that they were read from.
    const second = await anchorsOf(ws, "f");
    expect((await edit(first(3))).error?.code).toBe("MATCH_NOT_UNIQUE");
    expect((await edit(second(4))).ok).toBe(true);
    expect(await text("f")).toBe("k: 1\nNEW\nitem\nCHANGED\nitem\nitem\nend\n");
  });

  const refused: readonly [name: string, args: Record<string, unknown>, argument: string][] = [
    ["no anchor", { from: "12", new_text: "x" }, "from"],
    ["both kinds", { from: "1#abcdef", old_text: "x" }, "old_text"],
    ["a last line alone", { to: "1#abcdef" }, "to"],
    ["insertion beside nothing", { insert: "after", new_text: "x" }, "insert"],
    ["insertion beside a range", { from: "1#abcdef", to: "2#abcdef", insert: "after", new_text: "x" }, "to"],
    ["neither, in a list", { edits: [{ new_text: "x" }] }, "edits[0].old_text"],
  ];
  test.each(refused)("refuses %s", async (_, args, argument) => {
    const { ws } = await place(kind, { f: FILE });
    const { error } = await ws.call("edit_file", { path: "f", ...args });
    expect(error?.code).toBe("INVALID_ARGUMENT");
    expect(error?.message).toContain(argument === "from" ? "from" : `'${argument}'`);
  });

  test.each(["before", "after"])("the same insertion %s a line, sent twice, is made once", async (insert) => {
    const { ws, text } = await place(kind, { f: FILE });
    const page = await ws.call("read_file", { path: "f", anchors: true });
    const [, anchor] = /^\s*(4#\w+)/mu.exec(page.text) as RegExpExecArray;
    const edit = { path: "f", from: anchor, insert, new_text: "  added();\n  twice();" };
    expect((await ws.call("edit_file", edit)).ok).toBe(true);
    const once = await text("f");
    const again = await ws.call("edit_file", edit);
    expect(again.ok).toBe(false);
    const line = insert === "after" ? 5 : 4;
    expect(again.error).toMatchObject({ code: "NO_CHANGE", details: { reason: "already_applied", line } });
    expect(again.text).toContain(`already there, at line ${line}`);
    expect(await text("f")).toBe(once);
    // Lines such as a closing brace may stand twice.
    const brace = /^\s*(\d+#\w+)\t\}/mu.exec((await ws.call("read_file", { path: "f", anchors: true })).text);
    const double = { path: "f", from: brace?.[1], insert: "after", new_text: "}" };
    expect((await ws.call("edit_file", double)).ok).toBe(true);
  });
});

describe("what an edit tells", () => {
  test("a refusal has a place to send instead, and stays short", async () => {
    const { ws } = await place("memory", { f: FILE });
    const sent = { path: "f", old_text: "fn tow() {\n\tstop();\n}", new_text: "x" };
    const { error } = await ws.call("edit_file", sent);
    expect(error?.details).toMatchObject({
      edit_index: 0,
      candidates: [{ start_line: 7, end_line: 9, old_text: "fn two() {\n  stop();\n}" }],
    });
    const again = error?.details?.["candidates"] as { old_text: string }[];
    expect(JSON.stringify(error).length).toBeLessThan(2048);
    expect((await ws.call("edit_file", { ...sent, old_text: again[0]!.old_text })).ok).toBe(true);
  });

  test("the candidates' anchors can be sent as well", async () => {
    const { ws, text } = await place("memory", { f: "x = 1\ny\nx = 1\n" });
    const { error } = await ws.call("edit_file", { path: "f", old_text: "x = 1", new_text: "x = 2" });
    const places = error?.details?.["candidates"] as { from: string; to: string }[];
    expect(places).toHaveLength(2);
    const { from, to } = places[1]!;
    await ws.call("edit_file", { path: "f", from, to, new_text: "x = 2" });
    expect(await text("f")).toBe("x = 1\ny\nx = 2\n");
  });

  test("a list is told edit by edit", async () => {
    const { ws, text } = await place("memory", { f: FILE });
    const edits = [
      { old_text: "go()", new_text: "went()" },
      { old_text: "zzz_not_here()", new_text: "" },
      { old_text: "stop()", new_text: "halt()" },
      { old_text: "fn", new_text: "fun" },
    ];
    const { error } = await ws.call("edit_file", { path: "f", edits });
    expect(error?.details).toMatchObject({
      edit_index: 1,
      edits: [
        { index: 0, ok: true, start_line: 4 },
        { index: 1, ok: false, code: "MATCH_NOT_FOUND" },
        { index: 2, ok: true, start_line: 8 },
        { index: 3, ok: false, code: "MATCH_NOT_UNIQUE" },
      ],
    });
    expect(await text("f")).toBe(FILE);
  });

  test("a loose match says so, and a threshold can refuse it", async () => {
    const { ws } = await place("memory", { f: FILE });
    const edit = { path: "f", old_text: "fn two() {\n  stpo();\n}", new_text: "x", match: "fuzzy" as const };
    const strict = await ws.call("edit_file", { ...edit, threshold: 1, dry_run: true });
    expect(strict.error?.code).toBe("MATCH_NOT_FOUND");
    const loose = await ws.call("edit_file", { ...edit, threshold: 0.5, dry_run: true });
    expect(loose.text).toMatch(/\n\[matched nearly, at line 7: \d\d % of old_text\]$/);
    expect(loose.data).toMatchObject({ edits: [{ tier: "fuzzy", repairs: [] }] });
    expect(loose.data!.edits[0]!.score).toBeGreaterThan(0.8);
  });

  test.each(["memory", "local"] as const)(
    "whether the file has changed since it was read: %s",
    async (kind) => {
      const { ws, foreign } = await place(kind, { f: FILE });
      const miss = { path: "f", old_text: "nothing of the kind", new_text: "x" };
      const changed = async (): Promise<unknown> =>
        (await ws.call("edit_file", miss)).error?.details?.["file_changed_since_read"];
      expect(await changed()).toBeUndefined();
      await ws.call("read_file", { path: "f" });
      expect(await changed()).toBe(false);
      await ws.call("edit_file", { path: "f", old_text: "go()", new_text: "went()" });
      expect(await changed()).toBe(false);
      await foreign("f", "other\n");
      expect(await changed()).toBe(true);
      expect((await ws.call("edit_file", miss)).text).toContain("has changed since it was read");
    },
  );

  test("the workspace says how strictly edits match where the call does not", async () => {
    const strict = await place("memory", { f: "\tgo();\n" }, { edit: { match: "exact" } });
    const edit = { path: "f", old_text: "  go();", new_text: "  went();" };
    expect((await strict.ws.call("edit_file", edit)).ok).toBe(false);
    expect((await strict.ws.call("edit_file", { ...edit, match: "whitespace" })).ok).toBe(true);
    await expect(place("memory", {}, { edit: { match: "loose" as never } })).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
    });
  });
});

async function anchorsOf(ws: Awaited<ReturnType<typeof place>>["ws"], path: string): Promise<Anchor> {
  const { text } = await ws.call("read_file", { path, anchors: true });
  return (line) => /^\s*(\d+#\w+)/u.exec(text.split("\n")[line - 1] ?? "")?.[1] ?? "";
}
