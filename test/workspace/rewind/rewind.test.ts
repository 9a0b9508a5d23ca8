/** Marks and rewinds: later changes are taken back as one change, and what others changed stays. */
import { describe, expect, test } from "vitest";
import { type Fixture, KINDS, place } from "../../tools/harness.ts";
import { errorOf, idOfCall } from "../../support/calls.ts";

/** Returns everything below the root, with contents. */
async function treeOf({ ws, root }: Pick<Fixture, "ws" | "root">): Promise<readonly unknown[]> {
  const found: unknown[] = [];
  const visit = async (directory: string): Promise<void> => {
    for (const { path, type } of await ws.fs.listDir(directory)) {
      const stat = await (ws.fs.lstat ?? ws.fs.stat).call(ws.fs, path);
      const content =
        type === "file" ? Buffer.from(await ws.fs.readBytes(path)).toString("hex") : (stat.target ?? "");
      found.push([path, type, stat.mode, content]);
      if (type === "dir") await visit(path);
    }
  };
  await visit(root);
  return found.sort();
}

const BOM = new Uint8Array([0xef, 0xbb, 0xbf, ...Buffer.from("one\r\ntwo\r\n")]);
const SEED = {
  "a.txt": "one\n",
  "crlf.txt": BOM,
  bin: new Uint8Array([0, 255, 1, 2, 0]),
  "d/x": "x",
  "d/y/z": "z",
  link: { link: "a.txt" },
  empty: null,
};

describe.each(KINDS)("a rewind on %s", (kind) => {
  test("shows the removal of a file that was made in a moved directory", async () => {
    const at = await place(kind, SEED);
    const { ws } = at;
    const before = await treeOf(at);
    await ws.mark("start");
    await idOfCall(ws, "move", { source: "d", destination: "e" });
    await idOfCall(ws, "write_file", { path: "e/new", content: "new" });
    const { changes } = await ws.rewind("start", { dryRun: true });
    expect(changes.filter(({ display }) => display === "e/new")).toMatchObject([{ kind: "delete" }]);
    await ws.rewind("start");
    expect(await treeOf(at)).toEqual(before);
  });

  test("shows no removal where a directory of the same name is moved back", async () => {
    const at = await place(kind, SEED);
    const { ws } = at;
    const before = await treeOf(at);
    await ws.mark("start");
    await idOfCall(ws, "move", { source: "d", destination: "e" });
    await idOfCall(ws, "write_file", { path: "d/y/new", content: "new" });
    const { changes } = await ws.rewind("start");
    const removed = changes.filter(({ kind: is, type }) => is === "delete" && type === "file");
    expect(removed.map(({ display }) => display)).toContain("d/y/new");
    expect(changes.filter(({ kind: is, display }) => is === "delete" && display === "d/y")).toEqual([]);
    expect(await treeOf(at)).toEqual(before);
  });

  test("puts back a file that was written before and after a move of its directory", async () => {
    const at = await place(kind, SEED);
    const { ws } = at;
    const before = await treeOf(at);
    await ws.mark("start");
    await idOfCall(ws, "write_file", { path: "d/x", content: "one", overwrite: true });
    await idOfCall(ws, "move", { source: "d", destination: "e" });
    await idOfCall(ws, "write_file", { path: "e/x", content: "two", overwrite: true });
    await ws.rewind("start");
    expect(await treeOf(at)).toEqual(before);
  });

  test("puts back a directory that one call moved away and made again, and a later one removed", async () => {
    const at = await place(kind, SEED);
    const { ws } = at;
    const before = await treeOf(at);
    await ws.mark("start");
    await idOfCall(ws, "batch", {
      operations: [
        { tool: "move", args: { source: "d/y", destination: "d/b" } },
        { tool: "write_file", args: { path: "d/y/z", content: "new" } },
      ],
    });
    await idOfCall(ws, "delete", { path: "d", recursive: true });
    const { left } = await ws.rewind("start");
    expect(left).toEqual([]);
    expect(await treeOf(at)).toEqual(before);
  });

  test("leaves out a file that was removed and made again alike", async () => {
    const { ws, root } = await place(kind, SEED);
    await ws.mark("start");
    await idOfCall(ws, "delete", { path: "a.txt" });
    await idOfCall(ws, "write_file", { path: "a.txt", content: "one\n" });
    const made = await idOfCall(ws, "write_file", { path: "new", content: "new\n" });
    const { callId: removal = "" } = await ws.rewind(made);
    await ws.undo(removal);
    expect((await ws.rewind(removal, { dryRun: true })).changes).toEqual([]);
    const { changes } = await ws.rewind("start", { dryRun: true });
    expect(changes.map(({ kind, display }) => [kind, display])).toEqual([["delete", "new"]]);
    const { callId, ...rewound } = await ws.rewind(removal);
    expect(callId).toBeUndefined();
    expect(rewound.changes).toEqual([]);
    expect(await ws.fs.readText(`${root}/new`)).toBe("new\n");
  });

  test("restores every file, directory and link byte for byte, and its undo the work", async () => {
    const at = await place(kind, SEED);
    const { ws } = at;
    const before = await treeOf(at);
    await ws.mark("start");
    const ids = [
      await idOfCall(ws, "edit_file", { path: "a.txt", old_text: "one", new_text: "two" }),
      await idOfCall(ws, "edit_file", { path: "a.txt", old_text: "two", new_text: "three" }),
      await idOfCall(ws, "write_file", { path: "crlf.txt", content: "other", whole_file: true }),
      await idOfCall(ws, "write_file", { path: "n/m/f", content: "new" }),
      await idOfCall(ws, "move", { source: "d", destination: "e" }),
      await idOfCall(ws, "write_file", { path: "e/x", content: "changed" }),
      await idOfCall(ws, "delete", { path: "bin" }),
      await idOfCall(ws, "delete", { path: "link" }),
      await idOfCall(ws, "delete", { path: "empty" }),
      await idOfCall(ws, "mkdir", { path: "made/here" }),
      await idOfCall(ws, "batch", {
        operations: [
          { tool: "write_file", args: { path: "q", content: "1" } },
          { tool: "move", args: { source: "q", destination: "r" } },
          { tool: "write_file", args: { path: "r", content: "2" } },
        ],
      }),
    ];
    const after = await treeOf(at);
    const preview = await ws.rewind("start", { dryRun: true });
    expect(preview.callId).toBeUndefined();
    expect(await treeOf(at)).toEqual(after);
    const rewound = await ws.rewind("start");
    expect(rewound.calls).toEqual(ids.toReversed());
    expect(rewound.left).toEqual([]);
    expect(rewound.changes).toEqual(preview.changes);
    expect(rewound.digest).toBe(preview.digest);
    expect(await treeOf(at)).toEqual(before);
    expect((await ws.history())[0]).toMatchObject({ tool: "rewind", callId: rewound.callId });
    const undone = await ws.undo(rewound.callId ?? "");
    expect(await treeOf(at)).toEqual(after);
    await ws.undo(undone.callId);
    expect(await treeOf(at)).toEqual(before);
  });

  test("goes to the state before a call, and again to a mark before an earlier rewind", async () => {
    const { ws, text } = await place(kind, SEED);
    await ws.mark("start");
    await idOfCall(ws, "write_file", { path: "a.txt", content: "1\n" });
    const second = await idOfCall(ws, "write_file", { path: "a.txt", content: "2\n" });
    await idOfCall(ws, "write_file", { path: "a.txt", content: "3\n" });
    await ws.rewind(second);
    expect(await text("a.txt")).toBe("1\n");
    await idOfCall(ws, "write_file", { path: "a.txt", content: "4\n" });
    await ws.rewind("start");
    expect(await text("a.txt")).toBe("one\n");
  });

  test("leaves and names what another program changed, unless it is asked for by path", async () => {
    const { ws, text, foreign } = await place(kind, SEED);
    await ws.mark("start");
    await idOfCall(ws, "write_file", { path: "a.txt", content: "two\n" });
    await idOfCall(ws, "write_file", { path: "d/x", content: "changed" });
    await foreign("a.txt", "mine\n");
    await foreign("d/own", "mine\n");
    const rewound = await ws.rewind("start");
    expect(rewound.left).toMatchObject([{ path: "a.txt", reason: "changed" }]);
    expect(rewound.changes.map(({ display }) => display)).toEqual(["d/x"]);
    expect([await text("a.txt"), await text("d/x"), await text("d/own")]).toEqual(["mine\n", "x", "mine\n"]);
    const forced = await ws.rewind("start", { paths: ["a.txt"] });
    expect(forced.left).toEqual([]);
    expect(await text("a.txt")).toBe("one\n");
    await ws.undo(forced.callId ?? "");
    expect(await text("a.txt")).toBe("mine\n");
  });

  test("leaves a file that another program changed between two calls", async () => {
    const { ws, text, foreign } = await place(kind, SEED);
    await ws.mark("start");
    await idOfCall(ws, "write_file", { path: "a.txt", content: "two\n" });
    await foreign("a.txt", "mine\n");
    await idOfCall(ws, "write_file", { path: "a.txt", content: "three\n" });
    const { left } = await ws.rewind("start");
    expect(left).toMatchObject([{ path: "a.txt", reason: "changed" }]);
    // The later call was on top of the person's change, which stays.
    expect(await text("a.txt")).toBe("mine\n");
  });

  test("keeps a directory in which another program made something", async () => {
    const { ws, text, foreign } = await place(kind, SEED);
    await ws.mark("start");
    await idOfCall(ws, "write_file", { path: "n/m/f", content: "new" });
    await foreign("n/own", "mine\n");
    const { left, changes } = await ws.rewind("start");
    expect(left).toMatchObject([{ path: "n", reason: "in_use" }]);
    expect(changes.map(({ display }) => display)).toEqual(["n/m", "n/m/f"]);
    expect([await text("n/own"), await text("n/m/f")]).toEqual(["mine\n", undefined]);
  });

  test("of one agent leaves the directory that it made, removed and another one had used", async () => {
    const { ws, text } = await place(kind, { keep: "" });
    const [a, b] = [await ws.agent("a"), await ws.agent("b")];
    await ws.mark("start");
    await idOfCall(a, "mkdir", { path: "d" });
    await idOfCall(b, "write_file", { path: "d/f", content: "b's" });
    await idOfCall(a, "delete", { path: "d", recursive: true });
    const preview = await ws.rewind("start", { agent: "a", dryRun: true });
    const { left, digest } = await ws.rewind("start", { agent: "a" });
    expect(left).toMatchObject([{ path: "d", reason: "in_use" }]);
    expect([preview.left, preview.digest]).toEqual([left, digest]);
    expect(await text("d/f")).toBe("b's");
  });

  test("undoes the calls of one agent, and leaves what another agent changed on top", async () => {
    const { ws, text } = await place(kind, SEED);
    await ws.mark("start");
    const [one, two] = [await ws.agent("one"), await ws.agent("two")];
    await idOfCall(one, "write_file", { path: "a.txt", content: "1\n" });
    await idOfCall(one, "write_file", { path: "d/x", content: "1\n" });
    const other = await idOfCall(two, "write_file", { path: "a.txt", content: "2\n" });
    await idOfCall(two, "write_file", { path: "two", content: "2\n" });
    const { left } = await ws.rewind("start", { agent: "one" });
    expect(left).toMatchObject([{ path: "a.txt", reason: "other_call", callId: other }]);
    expect([await text("a.txt"), await text("d/x"), await text("two")]).toEqual(["2\n", "x", "2\n"]);
  });

  test("is exactly what was shown, also where another call comes between its check and its locks", async () => {
    let between = async (): Promise<void> => {};
    const { ws, text } = await place(kind, SEED, {
      hooks: [
        {
          stage: "before",
          tool: "*",
          run: ({ tool_name: name }) => (name === "rewind" ? between() : undefined),
        },
      ],
    });
    await ws.mark("start");
    await idOfCall(ws, "write_file", { path: "d/x", content: "changed" });
    await idOfCall(ws, "write_file", { path: "d/y/z", content: "changed" });
    between = async () => {
      await idOfCall(ws, "write_file", { path: "d/y/z", content: "again" });
    };
    const { digest } = await ws.rewind("start", { paths: ["d"], dryRun: true });
    expect((await errorOf(ws.rewind("start", { paths: ["d"], digest }))).code).toBe("CONFLICT");
    expect([await text("d/x"), await text("d/y/z")]).toEqual(["changed", "again"]);
    // What nobody has seen is planned again.
    await ws.rewind("start", { paths: ["d"] });
    expect([await text("d/x"), await text("d/y/z")]).toEqual(["x", "z"]);
  });

  test("is limited to paths, and to exactly what was shown", async () => {
    const { ws, text } = await place(kind, SEED);
    await ws.mark("start");
    await idOfCall(ws, "write_file", { path: "a.txt", content: "two\n" });
    await idOfCall(ws, "write_file", { path: "d/x", content: "changed" });
    await idOfCall(ws, "write_file", { path: "d/y/z", content: "changed" });
    const { digest } = await ws.rewind("start", { paths: ["d"], dryRun: true });
    await idOfCall(ws, "write_file", { path: "d/y/z", content: "again" });
    expect((await errorOf(ws.rewind("start", { paths: ["d"], digest }))).code).toBe("CONFLICT");
    expect(await text("d/x")).toBe("changed");
    const again = await ws.rewind("start", { paths: ["d"], dryRun: true });
    const { changes } = await ws.rewind("start", { paths: ["d"], digest: again.digest });
    expect(changes.map(({ display }) => display)).toEqual(["d/x", "d/y/z"]);
    expect([await text("a.txt"), await text("d/x"), await text("d/y/z")]).toEqual(["two\n", "x", "z"]);
  });

  test("changes nothing where nothing is to be undone", async () => {
    const { ws } = await place(kind, SEED);
    await idOfCall(ws, "write_file", { path: "a.txt", content: "two\n" });
    await ws.mark("now");
    const rewound = await ws.rewind("now");
    expect(rewound).toMatchObject({ calls: [], changes: [], left: [] });
    expect(rewound.callId).toBeUndefined();
    expect(await ws.history()).toHaveLength(1);
  });

  test("refuses unknown places, unknown options and wrong names", async () => {
    const { ws } = await place(kind, SEED);
    await ws.mark("before tests");
    expect((await errorOf(ws.rewind("before test"))).message).toBe(
      "There is no mark 'before test'; did you mean 'before tests'?",
    );
    expect((await errorOf(ws.rewind("0mw0000000-000000000000"))).code).toBe("NOT_FOUND");
    expect((await errorOf(ws.rewind("000000000-000000000000"))).code).toBe("NOT_FOUND");
    expect((await errorOf(ws.mark("before tests"))).code).toBe("ALREADY_EXISTS");
    for (const name of [
      "",
      " a",
      "a ",
      "a/b",
      "a\n",
      "2h",
      "2026-01-01",
      "000000000-000000000000",
      "x".repeat(65),
    ])
      expect((await errorOf(ws.mark(name))).code, name).toBe("INVALID_ARGUMENT");
    expect((await errorOf(ws.rewind("before tests", { dryrun: true } as object))).message).toContain(
      "dryRun",
    );
    expect((await errorOf(ws.rewind("before tests", { digest: "x" }))).code).toBe("INVALID_ARGUMENT");
    expect((await ws.marks()).map(({ name }) => name)).toEqual(["before tests"]);
  });
});
