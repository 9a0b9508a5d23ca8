/** Read before write holds whichever way content would be lost: 25 ways that are refused, and those that are not. */
import { describe, expect, test } from "vitest";
import type { Confirm } from "../../js/index.node.ts";
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
  ["a write in a batch", "not_read", batch(write("f.txt"))],
  ["a move over it in a batch", "not_read", batch(move("g.txt", "f.txt", true))],
  ["a write over what was moved there unread", "not_read", move("f.txt", "m.txt"), write("m.txt")],
  [
    "a move over what was moved there unread",
    "not_read",
    move("f.txt", "m.txt"),
    move("g.txt", "m.txt", true),
  ],
  ["a write over what was moved in its batch", "not_read", batch(move("f.txt", "m.txt"), write("m.txt"))],
  ["a write into a directory that was moved unread", "not_read", move("d", "e"), write("e/v.txt")],
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
  [
    "a move over it after a page",
    "partial_read",
    read("f.txt", { start_line: 2 }),
    move("g.txt", "f.txt", true),
  ],
];

/** Deletions that are made where the history keeps what they remove, and refused without a history. */
const DELETIONS: readonly (readonly [what: string, ...steps: Step[]])[] = [
  ["a deletion", remove("f.txt")],
  ["a deletion before a write in one batch", batch(remove("f.txt"), write("f.txt"))],
  ["a deletion of a directory", remove("d", true)],
  ["a deletion of a directory of which one file was read", read("d/v.txt"), remove("d", true)],
  ["a deletion of a directory in a batch", batch(remove("d", true))],
  ["a deletion of what was moved there unread", move("f.txt", "m.txt"), remove("m.txt")],
  ["a deletion of a directory that was moved unread", move("d", "e"), remove("e", true)],
];

const look = (path: string): Step => ["stat", { path }];
const list = (path: string, depth = 1): Step => ["list_directory", { path, depth }];

/** Deletions that are made without a history, too: the agent was shown that the files exist. */
const KNOWN_DELETIONS: readonly (readonly [what: string, ...steps: Step[]])[] = [
  ["a deletion after one line of a page", read("f.txt", { max_lines: 1 }), remove("f.txt")],
  ["a deletion after its facts", look("f.txt"), remove("f.txt")],
  ["a deletion after a listing", list("."), remove("f.txt")],
  ["a deletion after a search for names", ["glob", { pattern: "*.txt" }], remove("f.txt")],
  ["a deletion after a fuzzy search", ["find_files", { query: "f.txt" }], remove("f.txt")],
  ["a deletion of a directory after a listing of all levels", list("d", 5), remove("d", true)],
  ["a deletion of a directory after one listing each", list("d"), list("d/deep"), remove("d", true)],
  ["a deletion in the batch of its listing", batch(list("d", 5), remove("d", true))],
  ["a patch that deletes what was listed", list("."), patch("*** Delete File: f.txt\n")],
];

/** Deletions that are refused without a history: what was shown is not all that is deleted, or not as it is now. */
const HALF_KNOWN: readonly (readonly [what: string, ...steps: Step[]])[] = [
  ["a deletion of a directory after a listing of one level", list("d"), remove("d", true)],
  ["a deletion of a directory after its facts", look("d"), remove("d", true)],
  ["a deletion of what was listed under another name", list("."), move("f.txt", "m.txt"), remove("m.txt")],
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
  const refuses = async (options: object, reason: string, steps: readonly Step[]): Promise<void> => {
    const { ws, actor } = await shared(storage, FILES, () => ({ guard: true, ...options }));
    for (const [tool, args] of steps.slice(0, -1))
      expect(await ws.call(tool, args)).toMatchObject({ ok: true });
    const before = await actor.tree();
    const [tool, args] = steps.at(-1) as Step;
    const { error, text } = await ws.call(tool, args);
    expect(error, text).toMatchObject({ code: "CONFLICT", details: { reason } });
    expect(await actor.tree()).toEqual(before);
  };
  const allows = async (options: object, steps: readonly Step[]): Promise<void> => {
    const { ws } = await shared(storage, FILES, () => ({ guard: true, ...options }));
    for (const [tool, args] of steps) {
      const { ok, text } = await ws.call(tool, args);
      expect(ok, `${tool}: ${text}`).toBe(true);
    }
  };

  test.each(REFUSED)("refuses %s (%s)", (_, reason, ...steps) =>
    refuses({}, reason as string, steps as Step[]),
  );
  test.each(MADE)("allows %s", (_, ...steps) => allows({}, steps as Step[]));

  test.each(DELETIONS)("refuses %s (not_read) without a history", (_, ...steps) =>
    refuses({ history: false }, "not_read", steps as Step[]),
  );
  test.each(DELETIONS)("allows %s with a history, and undo brings all back", async (_, ...steps) => {
    const { ws, actor } = await shared(storage, FILES, () => ({ guard: true }));
    for (const [tool, args] of (steps as Step[]).slice(0, -1)) await ws.call(tool, args);
    const before = await actor.tree();
    const [tool, args] = steps.at(-1) as Step;
    const { ok, text, meta } = await ws.call(tool, args);
    expect(ok, text).toBe(true);
    await ws.undo(meta.call_id as string);
    expect(await actor.tree()).toEqual(before);
  });

  test.each(KNOWN_DELETIONS)("allows %s without a history", (_, ...steps) =>
    allows({ history: false }, steps as Step[]),
  );
  test.each(HALF_KNOWN)("refuses %s without a history", (_, ...steps) =>
    refuses({ history: false }, "not_read", steps as Step[]),
  );

  test.each([
    ["f.txt", true],
    ["f.txt", false],
    ["d/v.txt", true],
    ["d/v.txt", false],
  ])("refuses a deletion of what changed after a read: %s, history %s", async (path, history) => {
    const { ws, actor } = await shared(storage, FILES, () => ({ guard: true, history }));
    await ws.call("list_directory", { path: ".", depth: 5 });
    await ws.call("read_file", { path });
    await actor.write(path, "foreign\n");
    const [top = path] = path.split("/");
    const remove = { path: top, recursive: true };
    const refused = await ws.call("delete", remove);
    expect(refused.error?.details).toMatchObject({ reason: "changed_since_read" });
    const remedy = top === path ? "look at it with stat first" : "list 'd' with list_directory first";
    expect(refused.text).toContain(`${remedy}, then repeat the deletion`);
    await (top === path ? ws.call("stat", { path }) : ws.call("list_directory", { path: top }));
    expect((await ws.call("delete", remove)).ok).toBe(true);
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

describe.each(KINDS)("what a reviewer selects of a patch on %s", (kind) => {
  const seed = { "f.txt": "unread\n", "g.txt": "1\n2\n3\n4\n5\n6\n7\n8\n9\n" };
  const twoHunks = "*** Update File: g.txt\n@@\n-1\n+one\n@@\n-9\n+nine\n";
  /** Accepts the first hunk of g.txt, and all of f.txt where `all` says so. */
  const selecting =
    (all: boolean): Confirm =>
    async ({ changes, digest }) => {
      if (changes.length === 1) return { outcome: "proceed_once" };
      const chosen = changes.filter(({ display }) => all || display === "g.txt");
      const parts = chosen.map(({ path }) => ({ path, hunks: [0] }));
      return { outcome: "proceed_parts", payload: { digest, parts } };
    };

  test("is made with the deletion of a file that was listed and not read", async () => {
    const { ws, text } = await place(kind, seed, { guard: "refuse", confirm: selecting(true) });
    await ws.call("list_directory", { path: "." });
    await ws.call("read_file", { path: "g.txt" });
    const result = await ws.call(...patch(`*** Delete File: f.txt\n${twoHunks}`));
    expect(result.ok, result.text).toBe(true);
    expect([await text("f.txt"), await text("g.txt")]).toEqual([undefined, "one\n2\n3\n4\n5\n6\n7\n8\n9\n"]);
  });

  test("warns of no file that was left out", async () => {
    const { ws, text } = await place(kind, seed, { guard: "warn", confirm: selecting(false) });
    await ws.call("read_file", { path: "g.txt" });
    const result = await ws.call(...patch(`*** Update File: f.txt\n@@\n-unread\n+read\n${twoHunks}`));
    expect([result.ok, await text("f.txt")], result.text).toEqual([true, "unread\n"]);
    expect(result.text).not.toContain("without having been read");
  });

  test("does not count a file as read that was left out", async () => {
    const { ws } = await place(kind, seed, { guard: "warn", confirm: selecting(false) });
    await ws.call("read_file", { path: "g.txt" });
    await ws.call(...patch(`*** Update File: f.txt\n@@\n-unread\n+read\n${twoHunks}`));
    const result = await ws.call(...write("f.txt"));
    expect(result.text).toContain("f.txt was changed without having been read before");
  });
});
