/** Read before write holds whichever way content would be lost: 25 ways that are refused, and those that are not. */
import { describe, expect, test } from "vitest";
import { KINDS, place } from "../tools/harness.ts";
import { type Files, type Storage, shared } from "./places.ts";

const FILES: Files = {
  "f.txt": "one\ntwo\nthree\nfour\n",
  "g.txt": "other\n",
  "d/v.txt": "of d\n",
  "d/deep/w.txt": "deep\n",
  "src/v.txt": "of src\n",
  "src/new.txt": "new\n",
};

type Step = readonly [tool: string, args: object];
const read = (path: string, more: object = {}): Step => ["read_file", { path, ...more }];
const write = (path: string, content = "x\n"): Step => ["write_file", { path, content }];
const remove = (path: string, recursive = false): Step => ["delete", { path, recursive }];
const move = (source: string, destination: string, overwrite = false): Step => [
  "move",
  { source, destination, overwrite },
];
const copy = (source: string, destination: string, overwrite = false): Step => [
  "copy",
  { source, destination, overwrite },
];
const edit = (path: string, old_text: string, new_text: string): Step => [
  "edit_file",
  { path, old_text, new_text },
];
const patch = (text: string): Step => ["apply_patch", { patch: `*** Begin Patch\n${text}*** End Patch\n` }];
const batch = (...steps: readonly Step[]): Step => [
  "batch",
  { operations: steps.map(([tool, args]) => ({ tool, args })) },
];

/** The last step is refused for this reason, and leaves everything as it was. */
const REFUSED: readonly (readonly [what: string, reason: string, ...steps: Step[]])[] = [
  ["a write over what was not read", "not_read", write("f.txt")],
  ["an edit of what was not read", "not_read", edit("f.txt", "one", "1")],
  ["a patch of what was not read", "not_read", patch("*** Update File: f.txt\n@@\n-one\n+1\n")],
  ["a patch that deletes what was not read", "not_read", patch("*** Delete File: f.txt\n")],
  [
    "a patch that renames what was not read",
    "not_read",
    patch("*** Update File: f.txt\n*** Move to: r.txt\n@@\n-one\n+1\n"),
  ],
  ["a copy over what was not read", "not_read", copy("g.txt", "f.txt", true)],
  ["a move over what was not read", "not_read", move("g.txt", "f.txt", true)],
  ["a deletion", "not_read", remove("f.txt")],
  ["a deletion before a write in one batch", "not_read", batch(remove("f.txt"), write("f.txt"))],
  ["a write in a batch", "not_read", batch(write("f.txt"))],
  ["a move over it in a batch", "not_read", batch(move("g.txt", "f.txt", true))],
  ["a deletion of a directory", "not_read", remove("d", true)],
  ["a deletion of a directory of which one file was read", "not_read", read("d/v.txt"), remove("d", true)],
  ["a deletion of a directory in a batch", "not_read", batch(remove("d", true))],
  ["a write over what was moved there unread", "not_read", move("f.txt", "m.txt"), write("m.txt")],
  [
    "a move over what was moved there unread",
    "not_read",
    move("f.txt", "m.txt"),
    move("g.txt", "m.txt", true),
  ],
  ["a deletion of what was moved there unread", "not_read", move("f.txt", "m.txt"), remove("m.txt")],
  ["a write over what was moved in its batch", "not_read", batch(move("f.txt", "m.txt"), write("m.txt"))],
  ["a write into a directory that was moved unread", "not_read", move("d", "e"), write("e/v.txt")],
  ["a deletion of a directory that was moved unread", "not_read", move("d", "e"), remove("e", true)],
  ["a copy of a directory over one with unread files", "not_read", copy("src", "d", true)],
  ["a copy of a directory over one in a batch", "not_read", batch(copy("src", "d", true))],
  ["a write after one line of a page", "partial_read", read("f.txt", { max_lines: 1 }), write("f.txt")],
  [
    "an edit outside the lines of a page",
    "partial_read",
    read("f.txt", { max_lines: 1 }),
    edit("f.txt", "three", "3"),
  ],
  [
    "a write after an edit inside a page",
    "partial_read",
    read("f.txt", { max_lines: 1 }),
    edit("f.txt", "one", "1"),
    write("f.txt"),
  ],
  ["a deletion after one line of a page", "partial_read", read("f.txt", { max_lines: 1 }), remove("f.txt")],
  [
    "a move over it after a page",
    "partial_read",
    read("f.txt", { start_line: 2 }),
    move("g.txt", "f.txt", true),
  ],
];

/** Every step is made. */
const MADE: readonly (readonly [what: string, ...steps: Step[]])[] = [
  [
    "a write after all pages",
    read("f.txt", { max_lines: 2 }),
    read("f.txt", { start_line: 3 }),
    write("f.txt"),
  ],
  [
    "a write after all pages in another order",
    read("f.txt", { start_line: 3 }),
    read("f.txt", { max_lines: 2 }),
    write("f.txt"),
  ],
  [
    "an edit inside a page",
    read("f.txt", { start_line: 2, max_lines: 2 }),
    edit("f.txt", "two", "2\n2b"),
    edit("f.txt", "three", "3"),
  ],
  [
    "a patch inside a page",
    read("f.txt", { start_line: 2, max_lines: 1 }),
    patch("*** Update File: f.txt\n@@\n-two\n+2\n"),
  ],
  ["a deletion of what was read", read("f.txt"), remove("f.txt")],
  ["a deletion of a directory that was read", read("d/v.txt"), read("d/deep/w.txt"), remove("d", true)],
  [
    "a deletion of a directory that was read, in a batch",
    batch(read("d/v.txt"), read("d/deep/w.txt"), remove("d", true)),
  ],
  ["a write over what was read and moved", read("f.txt"), move("f.txt", "m.txt"), write("m.txt")],
  ["a write into a directory that was read and moved", read("d/v.txt"), move("d", "e"), write("e/v.txt")],
  ["a move of what was not read to a new name", move("f.txt", "m.txt")],
  ["a copy over a directory that was read", read("d/v.txt"), copy("src", "d", true)],
  ["a deletion of one's own copy", copy("src", "mine"), remove("mine", true)],
  ["a write after a write", write("n.txt"), write("n.txt", "y\n"), remove("n.txt")],
  [
    "an edit upon an edit in a batch",
    read("f.txt"),
    batch(edit("f.txt", "one", "1"), edit("f.txt", "1", "2")),
  ],
  [
    "an edit upon a patch in a batch",
    read("f.txt"),
    batch(patch("*** Update File: f.txt\n@@\n-one\n+1\n"), edit("f.txt", "two", "2")),
  ],
];

describe.each<Storage>(["disk", "memory"])("the guard on %s", (storage) => {
  test.each(REFUSED)("refuses %s (%s)", async (_, reason, ...steps) => {
    const { ws, actor } = await shared(storage, FILES, () => ({ guard: true }));
    for (const [tool, args] of steps.slice(0, -1) as readonly Step[])
      expect(await ws.call(tool, args)).toMatchObject({ ok: true });
    const before = await actor.tree();
    const [tool, args] = steps.at(-1) as Step;
    const { error, text } = await ws.call(tool, args);
    expect(error, text).toMatchObject({ code: "CONFLICT", details: { reason } });
    expect(await actor.tree()).toEqual(before);
  });

  test.each(MADE)("allows %s", async (_, ...steps) => {
    const { ws } = await shared(storage, FILES, () => ({ guard: true }));
    for (const [tool, args] of steps as readonly Step[]) {
      const { ok, text } = await ws.call(tool, args);
      expect(ok, `${tool}: ${text}`).toBe(true);
    }
  });
});

describe.each(KINDS)("a link on %s", (kind) => {
  const seed = { "f.txt": "unread\n", "g.txt": "other\n", l: { link: "f.txt" } };
  const over = { source: "g.txt", destination: "l", overwrite: true };

  test("does not lead a copy over a file that was not read", async () => {
    const { ws, text } = await place(kind, seed, { guard: "refuse" });
    for (const [tool, args] of [
      ["copy", over],
      ["batch", { operations: [{ tool: "copy", args: over }] }],
    ] as const) {
      const result = await ws.call(tool, args);
      expect(result.error?.details?.["reason"], result.text).toBe("not_read");
      expect(await text("f.txt")).toBe("unread\n");
    }
  });

  test.each(["f.txt", "l"])("lets a copy through once %s was read", async (path) => {
    const { ws, text } = await place(kind, seed, { guard: "refuse" });
    await ws.call("read_file", { path });
    const result = await ws.call("copy", over);
    expect(result.ok, result.text).toBe(true);
    expect(await text("f.txt")).toBe("other\n");
  });

  test("is replaced by a move, which leaves what it leads to", async () => {
    const { ws, text } = await place(kind, seed, { guard: "refuse" });
    const result = await ws.call("move", over);
    expect(result.ok, result.text).toBe(true);
    expect([await text("f.txt"), await text("l")]).toEqual(["unread\n", "other\n"]);
  });
});
