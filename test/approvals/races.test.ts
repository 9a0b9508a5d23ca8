/** Changes by another program between the question and the change: what was not shown is not made. */
import { describe, expect, test } from "vitest";
import { type Confirm, MemoryBackend, openWorkspace } from "../../js/index.node.ts";
import { type Actor, type Files, inMemory, type Storage, shared } from "./places.ts";

const FILES: Files = {
  "a.txt": "one\n",
  "b.txt": "retries = 3\n",
  "d/f.txt": "of d\n",
  "d/deep/g.txt": "deep\n",
  "z/f.txt": "of z\n",
  "over/f.txt": "of over\n",
  link: { link: "a.txt" },
};

const edit = (path: string, old_text: string, new_text: string) => ({
  tool: "edit_file",
  args: { path, old_text, new_text },
});
const write = (path: string, content: string) => ({ tool: "write_file", args: { path, content } });
const batch = (...operations: readonly object[]) => ({ tool: "batch", args: { operations } });
const call = (tool: string, args: object) => ({ tool, args });

type Row = readonly [
  what: string,
  call: { tool: string; args: object },
  meanwhile: (actor: Actor) => Promise<void>,
];

/** The parent `z` becomes a link to `d`. */
const zToLink = async (actor: Actor): Promise<void> => {
  await actor.move("z", "z-before");
  await actor.link("z", "d");
};
/** The missing parent `p` appears as a link to `d`. */
const pAppears = (actor: Actor): Promise<void> => actor.link("p", "d");
const dGrows = (actor: Actor): Promise<void> => actor.write("d/unseen.txt", "unseen\n");
const dDeepChanges = (actor: Actor): Promise<void> => actor.write("d/deep/g.txt", "exchanged, and longer\n");

const ROWS: readonly Row[] = [
  // An operation of a batch is not planned again on what came in.
  [
    "an edit of a batch, its file grows",
    batch(edit("b.txt", "3", "4")),
    (at) => at.write("b.txt", "evil()\nretries = 3\n"),
  ],
  [
    "a later edit of a batch, its file grows",
    batch(write("a.txt", "1\n"), edit("b.txt", "3", "4")),
    (at) => at.write("b.txt", "evil()\nretries = 3\n"),
  ],
  [
    "an edit of a batch upon an edit, the file grows",
    batch(edit("b.txt", "3", "4"), edit("b.txt", "4", "5")),
    (at) => at.write("b.txt", "evil()\nretries = 3\n"),
  ],
  [
    "a patch of a batch, its file grows",
    batch(call("apply_patch", { path: "b.txt", patch: "@@\n-retries = 3\n+retries = 4\n" })),
    (at) => at.write("b.txt", "retries = 3\nevil()\n"),
  ],
  [
    "a copy of a batch, its source changes",
    batch(call("copy", { source: "b.txt", destination: "n.txt" })),
    (at) => at.write("b.txt", "evil()\n"),
  ],
  [
    "a delete of a batch, its directory grows",
    batch(write("d/new.txt", "n\n"), call("delete", { path: "d", recursive: true })),
    dGrows,
  ],
  [
    "a directory of a batch that is gone by now",
    batch(call("mkdir", { path: "d" }), write("a.txt", "1\n")),
    (at) => at.move("d", "elsewhere"),
  ],
  // The place that was shown is the place that is written.
  ["a write, its parent becomes a link", call("write_file", { path: "z/new.txt", content: "x" }), zToLink],
  [
    "a write, its missing parent appears as a link",
    call("write_file", { path: "p/new.txt", content: "x" }),
    pAppears,
  ],
  ["a directory, its parent becomes a link", call("mkdir", { path: "z/q" }), zToLink],
  ["a directory, its missing parent appears as a link", call("mkdir", { path: "p/q" }), pAppears],
  [
    "a move, the parent of its destination becomes a link",
    call("move", { source: "a.txt", destination: "z/n.txt" }),
    zToLink,
  ],
  [
    "a move, the missing parent of its destination appears as a link",
    call("move", { source: "a.txt", destination: "p/n.txt" }),
    pAppears,
  ],
  [
    "a copy over a link, whose target changes",
    call("copy", { source: "b.txt", destination: "link", overwrite: true }),
    (at) => at.write("a.txt", "evil()\n"),
  ],
  [
    "a copy, the parent of its destination becomes a link",
    call("copy", { source: "a.txt", destination: "z/n.txt" }),
    zToLink,
  ],
  ["a write of a batch, its parent becomes a link", batch(write("z/new.txt", "x")), zToLink],
  [
    "a write through a link that leads elsewhere by now",
    call("write_file", { path: "link", content: "x" }),
    async (at) => {
      await at.remove("link");
      await at.link("link", "b.txt");
    },
  ],
  [
    "a move of a file, the parent of its source becomes a link",
    call("move", { source: "z/f.txt", destination: "n.txt" }),
    zToLink,
  ],
  // A directory is moved with what was shown of it.
  ["a move of a directory that grows", call("move", { source: "d", destination: "e" }), dGrows],
  [
    "a move of a directory, a file deep in it changes",
    call("move", { source: "d", destination: "e" }),
    dDeepChanges,
  ],
  [
    "a move of a directory in a batch, it grows",
    batch(call("move", { source: "d", destination: "e" })),
    dGrows,
  ],
  [
    "a copy of a directory over another, what it replaces changes",
    call("copy", { source: "d", destination: "over", overwrite: true }),
    (at) => at.write("over/f.txt", "changed over\n"),
  ],
];

describe.each<Storage>(["disk", "memory"])("between question and change on %s", (storage) => {
  test.each(ROWS)("the call is a CONFLICT and makes nothing: %s", async (_, { tool, args }, meanwhile) => {
    let before: object | undefined;
    const { ws, actor } = await shared(storage, FILES, (other) => ({
      confirm: async () => {
        await meanwhile(other);
        before = await other.tree();
        return { outcome: "proceed_once" };
      },
    }));
    const { error, text } = await ws.call(tool, args);
    expect(error?.code, text).toBe("CONFLICT");
    expect(await actor.tree()).toEqual(before);
  });

  test.each(ROWS)("the call is made where nothing changes: %s", async (_, { tool, args }) => {
    const { ws, actor } = await shared(storage, FILES, () => ({
      confirm: () => ({ outcome: "proceed_once" }),
    }));
    const before = await actor.tree();
    const { ok, text } = await ws.call(tool, args);
    expect(ok, text).toBe(true);
    expect(await actor.tree()).not.toEqual(before);
  });
});

describe("while a batch is applied", () => {
  /** A backend where another program changes things right behind the first write. */
  class Disturbed extends MemoryBackend {
    disturb: (() => Promise<void>) | undefined;
    override async writeBytes(...args: Parameters<MemoryBackend["writeBytes"]>) {
      const result = await super.writeBytes(...args);
      const disturb = this.disturb;
      this.disturb = undefined;
      await disturb?.();
      return result;
    }
  }
  const opened = async (confirm: Confirm) => {
    const backend = new Disturbed({ "/w": { type: "dir" } });
    const actor = inMemory(backend);
    for (const [path, content] of Object.entries(FILES))
      if (typeof content === "string") await actor.write(path, content);
    return { backend, actor, ws: await openWorkspace({ root: "/w", backend, confirm }) };
  };

  test.each<
    readonly [string, { tool: string; args: object }, (actor: Actor) => Promise<void>, string, string]
  >([
    [
      "an edit",
      edit("b.txt", "3", "4"),
      (at) => at.write("b.txt", "evil()\nretries = 3\n"),
      "b.txt",
      "evil()\nretries = 3\n",
    ],
    [
      "a delete",
      call("delete", { path: "b.txt" }),
      (at) => at.write("b.txt", "evil()\n"),
      "b.txt",
      "evil()\n",
    ],
    [
      "a delete of a directory",
      call("delete", { path: "d", recursive: true }),
      dGrows,
      "d/unseen.txt",
      "unseen\n",
    ],
    [
      "a move of a directory",
      call("move", { source: "d", destination: "e" }),
      dGrows,
      "d/unseen.txt",
      "unseen\n",
    ],
  ])(
    "%s whose base changes right before it is a CONFLICT, and the batch is taken back",
    async (_, operation, disturb, path, content) => {
      const { backend, actor, ws } = await opened(() => {
        backend.disturb = () => disturb(actor);
        return { outcome: "proceed_once" };
      });
      const { error, text } = await ws.call("batch", { operations: [write("a.txt", "1\n"), operation] });
      expect(error?.code, text).toBe("CONFLICT");
      const tree = await actor.tree();
      expect(tree[path]).toBe(content);
      expect(tree["a.txt"]).toBe("one\n");
      await ws.close();
    },
  );
});
