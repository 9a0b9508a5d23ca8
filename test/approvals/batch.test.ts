/** The one question about a batch: what it shows, and what each answer makes of its operations. */
import { describe, expect, test } from "vitest";
import {
  approvalQueue,
  type Confirm,
  type Confirmation,
  type ConfirmPayload,
  type ConfirmReply,
} from "../../js/index.node.ts";
import { KINDS, place } from "../tools/harness.ts";

const write = (path: string, content: string) => ({ tool: "write_file", args: { path, content } });
const edit = (path: string, old_text: string, new_text: string) => ({
  tool: "edit_file",
  args: { path, old_text, new_text },
});
const seed = { a: "1\n", b: "2\n", c: "3\n", d: "4\n", e: "5\n" };
const FIVE = Object.entries(seed).map(([path, text]) => edit(path, text.trim(), "x"));

/** A reviewer who answers the questions in turn, the last answer again and again. */
function answering(
  ...answers: readonly ((details: Confirmation) => ConfirmReply | ConfirmReply["outcome"])[]
) {
  const shown: Confirmation[] = [];
  const confirm: Confirm = async (details) => {
    const answer = answers[Math.min(shown.length, answers.length - 1)]!;
    shown.push(details);
    const reply = answer(details);
    return typeof reply === "string" ? { outcome: reply } : reply;
  };
  return { shown, confirm };
}

/** Accepts all hunks of these files, and `hunks` of the first of them. */
const accepting =
  (names: readonly string[], payload: ConfirmPayload = {}, hunks?: readonly number[]) =>
  ({ changes, digest }: Confirmation): ConfirmReply => ({
    outcome: "proceed_parts",
    payload: {
      digest,
      parts: changes
        .filter(({ display }) => names.includes(display))
        .map((one, at) => ({ path: one.path, hunks: (at === 0 && hunks) || [...one.hunks.keys()] })),
      ...payload,
    },
  });

const results = (result: { data?: unknown }) =>
  (result.data as { results: readonly { ok: boolean; text: string; error?: { code: string } }[] }).results;

describe.each(KINDS)("the question about a batch on %s", (kind) => {
  test("is one for five files, and shows each of them", async () => {
    const { shown, confirm } = answering(() => "proceed_once");
    const { ws, text } = await place(kind, seed, { confirm });
    const result = await ws.call("batch", { operations: FIVE });
    expect(result.ok, result.text).toBe(true);
    expect(shown).toHaveLength(1);
    expect(shown[0]).toMatchObject({
      type: "edit",
      tool: "edit_file",
      title: "5 operations: Edit a; Edit b; Edit c; Edit d; Edit e",
      risk: "low",
      complete: true,
    });
    expect(shown[0]!.changes.map(({ display, before, after }) => [display, before, after])).toEqual(
      Object.entries(seed).map(([name, before]) => [name, before, "x\n"]),
    );
    expect(shown[0]!.fileDiff.match(/^\+x$/gmu)).toHaveLength(5);
    expect(shown[0]!.paths).toHaveLength(5);
    expect(await Promise.all(Object.keys(seed).map(text))).toEqual(Array(5).fill("x\n"));
  });

  test("a refusal makes nothing", async () => {
    const { confirm } = answering(() => ({ outcome: "cancel", payload: { reason: "not now" } }));
    const { ws, text } = await place(kind, seed, { confirm });
    const { error } = await ws.call("batch", { operations: FIVE });
    expect(error).toMatchObject({ code: "APPROVAL_DENIED", details: { index: 0 } });
    expect(error?.message).toContain("not now");
    expect(await Promise.all(Object.keys(seed).map(text))).toEqual(Object.values(seed));
  });

  test("an operation is left out that the reviewer does not accept, and its result says so", async () => {
    const { confirm } = answering(accepting(["a", "c"]));
    const { ws, text } = await place(kind, seed, { confirm });
    const result = await ws.call("batch", { operations: FIVE.slice(0, 3) });
    expect(result.ok, result.text).toBe(true);
    expect([await text("a"), await text("b"), await text("c")]).toEqual(["x\n", "2\n", "x\n"]);
    expect(results(result).map(({ ok }) => ok)).toEqual([true, false, true]);
    expect(results(result)[1]?.error?.code).toBe("APPROVAL_DENIED");
    expect(result.text).toContain("2. edit_file: Error: The reviewer left this operation out of the batch.");
    await ws.undo(result.meta.call_id!);
    expect([await text("a"), await text("b"), await text("c")]).toEqual(["1\n", "2\n", "3\n"]);
  });

  test("what several operations make of a path is shown as one, and is accepted or left out as one", async () => {
    const operations = [write("n", "one\n"), edit("n", "one", "two"), edit("a", "1", "x")];
    for (const [names, n, a] of [
      [["n"], "two\n", "1\n"],
      [["a"], undefined, "x\n"],
    ] as const) {
      const { shown, confirm } = answering(accepting(names));
      const { ws, text } = await place(kind, seed, { confirm });
      const result = await ws.call("batch", { operations });
      expect(result.ok, result.text).toBe(true);
      expect(shown[0]!.changes.map(({ display, kind: of, after }) => [display, of, after])).toEqual([
        ["n", "create", "two\n"],
        ["a", "edit", "x\n"],
      ]);
      expect(shown[0]!.changes[0]!.whole).toBe(true);
      expect([await text("n"), await text("a")]).toEqual([n, a]);
    }
  });

  test("hunks of one operation are chosen beside others", async () => {
    const lines = Array.from({ length: 30 }, (_, at) => `${at}\n`).join("");
    const operations = [
      {
        tool: "edit_file",
        args: {
          path: "f",
          edits: [
            { old_text: "5\n6", new_text: "V\n6" },
            { old_text: "24", new_text: "X" },
          ],
        },
      },
      edit("a", "1", "x"),
    ];
    const { confirm } = answering(accepting(["f", "a"], {}, [1]));
    const { ws, text } = await place(kind, { ...seed, f: lines }, { confirm });
    const result = await ws.call("batch", { operations });
    expect(result.ok, result.text).toBe(true);
    expect([await text("f"), await text("a")]).toEqual([lines.replace("24", "X"), "x\n"]);
    expect(results(result)[0]?.text).toContain("the reviewer accepted 1 of 2 hunks of f; left out:");
  });

  test("an operation that needs one that was left out fails the batch, and nothing is made", async () => {
    const { confirm } = answering(accepting(["m"]));
    const { ws, text } = await place(kind, seed, { confirm });
    const copy = { tool: "copy", args: { source: "n", destination: "m" } };
    const result = await ws.call("batch", { operations: [write("n", "one\n"), copy] });
    expect(result.ok).toBe(false);
    expect([await text("n"), await text("m")]).toEqual([undefined, undefined]);
  });

  const remove = (path: string) => ({ tool: "delete", args: { path } });
  const move = (source: string, destination: string) => ({ tool: "move", args: { source, destination } });
  test.each<[string, readonly object[], readonly unknown[]]>([
    ["edited twice: one edit", [edit("a", "1", "x"), edit("a", "x", "y")], [["a", "edit", "1\n", "y\n"]]],
    ["written and edited: one file", [write("n", "1"), edit("n", "1", "x")], [["n", "create", null, "x"]]],
    [
      "moved and removed: both, in order",
      [move("a", "n"), remove("n")],
      [
        ["n", "move"],
        ["n", "delete"],
      ],
    ],
    [
      "moved and edited: both, in order",
      [move("a", "n"), edit("n", "1", "x")],
      [
        ["n", "move"],
        ["n", "edit"],
      ],
    ],
    [
      "edited and moved: both",
      [edit("a", "1", "x"), move("a", "n")],
      [
        ["a", "edit"],
        ["n", "move"],
      ],
    ],
    [
      "removed and made a directory: both",
      [remove("a"), { tool: "mkdir", args: { path: "a" } }],
      [
        ["a", "delete"],
        ["a", "create"],
      ],
    ],
  ])("shows of what is %s", async (_, operations, expected) => {
    const { shown, confirm } = answering(() => "proceed_once");
    const { ws } = await place(kind, seed, { confirm });
    const result = await ws.call("batch", { operations });
    expect(result.ok, result.text).toBe(true);
    const seen = shown[0]!.changes.map((change, at) =>
      [change.display, change.kind, change.before, change.after].slice(0, (expected[at] as [])?.length),
    );
    expect(seen).toEqual(expected);
  });

  test("a reviewer writes contents, sees them, and only then they are made", async () => {
    const contentsOf = ({ changes }: Confirmation, final: boolean): ConfirmReply => ({
      outcome: "modify_with_editor",
      payload: { contents: [{ path: changes[1]!.path, content: "mine\n" }], final },
    });
    const { shown, confirm } = answering(
      (details) => contentsOf(details, false),
      () => "proceed_once",
    );
    const { ws, text } = await place(kind, seed, { confirm });
    const result = await ws.call("batch", { operations: FIVE.slice(0, 2) });
    expect(result.ok, result.text).toBe(true);
    expect(shown.map(({ isModifying }) => isModifying)).toEqual([undefined, true]);
    expect(shown[1]!.changes.map(({ after }) => after)).toEqual(["x\n", "mine\n"]);
    expect(shown[1]!.fileDiff).toContain("+mine");
    expect(shown[1]!.digest).not.toBe(shown[0]!.digest);
    expect([await text("a"), await text("b")]).toEqual(["x\n", "mine\n"]);
  });

  test("a content for a path that several operations change is what stands at the end", async () => {
    const { confirm } = answering(({ changes }) => ({
      outcome: "modify_with_editor",
      payload: { contents: [{ path: changes[0]!.path, content: "mine\n" }], final: true },
    }));
    const { ws, text } = await place(kind, seed, { confirm });
    const result = await ws.call("batch", { operations: [write("n", "one\n"), edit("n", "one", "two")] });
    expect(result.ok, result.text).toBe(true);
    expect(await text("n")).toBe("mine\n");
  });

  test.each<[string, (details: Confirmation) => ConfirmPayload]>([
    [
      "a hunk of a path that several operations change",
      ({ changes }) => ({ parts: [{ path: changes[0]!.path, hunks: [0] }] }),
    ],
    ["a path that none of them changes", () => ({ parts: [{ path: "/elsewhere", hunks: [0] }] })],
  ])("a choice of %s is refused", async (_, payload) => {
    const lines = Array.from({ length: 30 }, (_1, at) => `${at}\n`).join("");
    const { confirm } = answering((details) => ({
      outcome: "proceed_parts",
      payload: { ...payload(details), digest: details.digest },
    }));
    const { ws, text } = await place(kind, { ...seed, f: lines }, { confirm });
    const operations = [edit("f", "5\n6", "V\n6"), edit("f", "24", "X"), edit("a", "1", "x")];
    const { error } = await ws.call("batch", { operations });
    expect(error?.code).toBe("APPROVAL_DENIED");
    expect([await text("f"), await text("a")]).toEqual([lines, "1\n"]);
  });

  test("an answer that lasts covers later calls of the tool of all operations, and of several tools this batch", async () => {
    const { shown, confirm } = answering(() => "proceed_always_tool");
    const { ws } = await place(kind, seed, { confirm });
    expect((await ws.call("batch", { operations: [FIVE[0]!, write("n", "x")] })).ok).toBe(true);
    expect(shown[0]).toMatchObject({ tool: "batch" });
    expect(shown[0]!.scopes.map(({ outcome }) => outcome)).toEqual([
      "proceed_once",
      "proceed_parts",
      "modify_with_editor",
      "cancel",
    ]);
    expect(await ws.approvals.list()).toEqual([]);
    expect((await ws.call("batch", { operations: FIVE.slice(1, 3) })).ok).toBe(true);
    expect(shown).toHaveLength(2);
    expect((await ws.call("batch", { operations: FIVE.slice(3) })).ok).toBe(true);
    expect(shown).toHaveLength(2);
  });

  test("only operations that need an approval are asked about, and each person once", async () => {
    const { shown, confirm } = answering(() => "proceed_once");
    const rules = [{ path: "b", decision: "allow" as const }];
    const { ws, text } = await place(kind, seed, { confirm, rules });
    const result = await ws.call("batch", { operations: FIVE.slice(0, 3) });
    expect(result.ok, result.text).toBe(true);
    expect(shown.map(({ changes }) => changes.map(({ display }) => display))).toEqual([["a", "c"]]);
    expect([await text("a"), await text("b"), await text("c")]).toEqual(["x\n", "x\n", "x\n"]);
  });

  test("an allowed operation on a path in question is in the question, and keeps what a reviewer writes", async () => {
    const { shown, confirm } = answering(({ digest, changes }) => ({
      outcome: "modify_with_editor",
      payload: { digest, final: true, contents: [{ path: changes[0]!.path, content: "mine\n" }] },
    }));
    const { ws, text } = await place(kind, seed, {
      confirm,
      rules: [{ tool: "write_file", decision: "allow" }],
    });
    const whole = { path: "a", content: "theirs\n", whole_file: true };
    const operations = [edit("a", "1", "x"), { tool: "write_file", args: whole }, write("n", "new\n")];
    const result = await ws.call("batch", { operations });
    expect(result.ok, result.text).toBe(true);
    expect(shown.map(({ changes }) => changes.map(({ display, after }) => [display, after]))).toEqual([
      [["a", "theirs\n"]],
    ]);
    expect([await text("a"), await text("n")]).toEqual(["mine\n", "new\n"]);
  });

  test("an allowed removal of a directory with a path in question is in the question", async () => {
    const { shown, confirm } = answering(() => "cancel");
    const rules = [{ tool: "delete", decision: "allow" as const }];
    const { ws, text } = await place(kind, { "d/a": "1\n" }, { confirm, rules });
    const removal = { tool: "delete", args: { path: "d", recursive: true } };
    const result = await ws.call("batch", { operations: [write("d/n", "new\n"), removal] });
    expect(result.error?.code).toBe("APPROVAL_DENIED");
    expect(shown[0]!.changes.map(({ display, kind: is }) => [display, is])).toContainEqual(["d/a", "delete"]);
    expect(await text("d/a")).toBe("1\n");
  });

  test.each([
    ["edit_file", false],
    ["write_file", false],
    ["nobody", true],
  ])(
    "an allowed removal is asked of each of two people who have a path in it, %s refuses it",
    async (refusing, ok) => {
      const refuse = (tool: string) => (details: Confirmation) =>
        tool === refusing && details.title.includes("Delete") ? "cancel" : "proceed_once";
      const [editor, writer] = ["edit_file", "write_file"].map((tool) => ({
        tool,
        ...answering(refuse(tool)),
      }));
      const { ws, text } = await place(
        kind,
        { "d/a": "1\n", "d/b": "2\n" },
        {
          hooks: [editor, writer].map((one) => ({ stage: "confirm", tool: one!.tool, run: one!.confirm })),
          rules: [{ tool: "delete", decision: "allow" }],
        },
      );
      const operations = [
        edit("d/a", "1", "x"),
        write("d/n", "new\n"),
        { tool: "delete", args: { path: "d", recursive: true } },
      ];
      const result = await ws.call("batch", { operations });
      expect([result.ok, result.error?.code]).toEqual([ok, ok ? undefined : "APPROVAL_DENIED"]);
      const removed = (one: typeof editor) =>
        one!.shown.filter(({ changes }) =>
          changes.some(({ display, kind: is }) => display === "d/b" && is === "delete"),
        );
      expect(removed(editor)).toHaveLength(1);
      expect(removed(writer)).toHaveLength(refusing === "edit_file" ? 0 : 1);
      // Each of them sees the operations of the other person only as far as they are in the removal.
      expect(editor!.shown[0]!.changes.map(({ display }) => display)).toEqual(["d/a"]);
      expect(writer!.shown[0]!.changes.map(({ display }) => display)).toEqual(["d/n"]);
      expect(await text("d/a")).toBe(ok ? undefined : "1\n");
    },
  );

  test("two people for every tool are asked once about operations of several tools", async () => {
    const [one, other] = [answering(() => "proceed_once"), answering(() => "proceed_once")];
    const hooks = [one, other].map(({ confirm }) => ({ stage: "confirm" as const, tool: "*", run: confirm }));
    const { ws } = await place(kind, seed, { hooks });
    const result = await ws.call("batch", { operations: [edit("a", "1", "x"), write("n", "new\n")] });
    expect(result.ok, result.text).toBe(true);
    for (const { shown } of [one, other])
      expect(shown.map(({ changes }) => changes.map(({ display }) => display))).toEqual([["a", "n"]]);
  });

  test("what depends on a revised operation is shown again before it is made", async () => {
    const lines = Array.from({ length: 30 }, (_, at) => `${at}\n`).join("");
    const edits = [
      { old_text: "5\n6", new_text: "V\n6" },
      { old_text: "24", new_text: "X" },
    ];
    const operations = [
      { tool: "edit_file", args: { path: "f", edits } },
      { tool: "copy", args: { source: "f", destination: "g" } },
    ];
    const { shown, confirm } = answering(accepting(["f", "g"], {}, [1]), () => "proceed_once");
    const { ws, text } = await place(kind, { f: lines }, { confirm });
    const result = await ws.call("batch", { operations });
    expect(result.ok, result.text).toBe(true);
    expect(shown.map(({ isModifying }) => isModifying)).toEqual([undefined, true]);
    const expected = lines.replace("24", "X");
    expect(shown[1]!.changes[0]!.after).toBe(expected);
    expect(shown[1]!.digest).not.toBe(shown[0]!.digest);
    expect([await text("f"), await text("g")]).toEqual([expected, expected]);
  });

  test("what is made and removed for another operation is no part to choose", async () => {
    const lines = Array.from({ length: 30 }, (_, at) => `${at}\n`).join("");
    const { confirm } = answering(accepting(["f", "g"], {}, [0]));
    const { ws, text } = await place(kind, { f: lines }, { confirm });
    const edits = [
      { old_text: "5\n6", new_text: "V\n6" },
      { old_text: "24", new_text: "X" },
    ];
    const patch = "*** Begin Patch\n*** Delete File: tmp\n*** End Patch\n";
    const result = await ws.call("batch", {
      operations: [
        { tool: "edit_file", args: { path: "f", edits } },
        write("tmp", "one\n"),
        { tool: "copy", args: { source: "tmp", destination: "g" } },
        { tool: "apply_patch", args: { patch } },
      ],
    });
    expect(result.ok, result.text).toBe(true);
    expect([await text("f"), await text("g"), await text("tmp")]).toEqual([
      lines.replace("5\n6", "V\n6"),
      "one\n",
      undefined,
    ]);
  });

  test("a removal of which a part is not accepted is left out as a whole", async () => {
    const { confirm } = answering(accepting(["a", "d", "d/1"]));
    const { ws, text } = await place(kind, { a: "1\n", "d/1": "1", "d/2": "2" }, { confirm });
    const operations = [{ tool: "delete", args: { path: "d", recursive: true } }, edit("a", "1", "x")];
    const result = await ws.call("batch", { operations });
    expect(result.ok, result.text).toBe(true);
    expect([await text("a"), await text("d/1"), await text("d/2")]).toEqual(["x\n", "1", "2"]);
  });

  test("a file that is left out may change meanwhile", async () => {
    const files = await place(kind, seed, {
      confirm: async (details) => {
        await files.foreign("a", "theirs\n");
        return accepting(["b"])(details);
      },
    });
    const result = await files.ws.call("batch", { operations: FIVE.slice(0, 2) });
    expect(result.ok, result.text).toBe(true);
    expect([await files.text("a"), await files.text("b")]).toEqual(["theirs\n", "x\n"]);
  });

  test("the mode that one of several operations gives is shown", async () => {
    const { shown, confirm } = answering(() => "proceed_once");
    const { ws } = await place(kind, seed, { confirm });
    const operations = [
      edit("a", "1", "x"),
      { tool: "write_file", args: { path: "a", content: "y\n", mode: "0755" } },
      edit("a", "y", "z"),
    ];
    const result = await ws.call("batch", { operations });
    expect(result.ok, result.text).toBe(true);
    expect(shown[0]!.changes).toMatchObject([{ display: "a", mode: "0755" }]);
  });

  test("the mode of a file that is removed again is not shown", async () => {
    const { shown, confirm } = answering(() => "proceed_once");
    const { ws } = await place(kind, seed, { confirm });
    const removal = (path: string) => {
      const patch = `*** Begin Patch\n*** Delete File: ${path}\n*** End Patch`;
      return { tool: "apply_patch", args: { patch } };
    };
    const operations = [
      { tool: "write_file", args: { path: "a", content: "y\n", mode: "0755" } },
      removal("a"),
      { tool: "write_file", args: { path: "a", content: "z\n" } },
      { tool: "write_file", args: { path: "b", content: "y\n", mode: "0755" } },
      removal("b"),
    ];
    const result = await ws.call("batch", { operations });
    expect(result.ok, result.text).toBe(true);
    const changes = shown[0]!.changes.map(({ display, kind, mode }) => [display, kind, mode]);
    expect(changes).toEqual([
      ["a", "edit", undefined],
      ["b", "delete", undefined],
    ]);
  });

  test("binary content has a question of its own, which contains it", async () => {
    const { shown, confirm } = answering(() => "proceed_once");
    const { ws } = await place(kind, seed, { confirm });
    const bytes = {
      path: "n",
      content: Buffer.from([0, 1, 255, 0]).toString("base64"),
      content_encoding: "base64",
    };
    const operations = [edit("a", "1", "x"), { tool: "write_file", args: bytes }, edit("b", "2", "x")];
    const result = await ws.call("batch", { operations });
    expect(result.ok, result.text).toBe(true);
    expect(shown.map(({ changes }) => changes.map(({ display }) => display))).toEqual([["a", "b"], ["n"]]);
    expect(shown[1]!.newContentBase64).toBe(bytes.content);
  });

  test("an answer that says it writes contents and has none is refused", async () => {
    const { confirm } = answering(() => ({
      outcome: "modify_with_editor",
      payload: { contents: [], final: true },
    }));
    const { ws, text } = await place(kind, seed, { confirm });
    expect((await ws.call("batch", { operations: FIVE.slice(0, 2) })).error?.code).toBe("APPROVAL_DENIED");
    expect(await text("a")).toBe("1\n");
  });

  test("a change that cannot be undone is asked about and made", async () => {
    const { shown, confirm } = answering(() => "proceed_once");
    const { ws, text } = await place(
      kind,
      { ...seed, big: "x".repeat(70 * 1024 * 1024) },
      { confirm, history: true },
    );
    const result = await ws.call("batch", { operations: [remove("big"), edit("a", "1", "x")] });
    expect(result.ok, result.text).toBe(true);
    if (kind !== "storage") expect(shown[0]!.title).toContain("(too large to be undone)");
    expect([await text("big"), await text("a")]).toEqual([undefined, "x\n"]);
  });

  test("a reviewer looks again at what changed meanwhile", async () => {
    const queue = approvalQueue();
    const { ws, text, foreign } = await place(kind, seed, { confirm: queue.confirm });
    const answer = ws.call("batch", { operations: FIVE.slice(0, 2) });
    await expect.poll(() => queue.pending().length).toBe(1);
    const [first] = queue.pending();
    await foreign("b", "zero\n2\n");
    const reply = (id: string, outcome: string) =>
      queue.handle(
        new Request(`http://127.0.0.1/approvals/${id}`, {
          method: "POST",
          body: JSON.stringify({ outcome }),
          headers: { authorization: `Bearer ${queue.token}` },
        }),
      );
    expect((await reply(first!.id, "proceed_once")).status).toBe(409);
    expect((await reply(first!.id, "look_again")).status).toBe(200);
    await expect.poll(() => queue.pending().some(({ id }) => id !== first!.id)).toBe(true);
    const [second] = queue.pending();
    expect((await reply(second!.id, "proceed_once")).status).toBe(200);
    expect((await answer).ok).toBe(true);
    expect([await text("a"), await text("b")]).toEqual(["x\n", "zero\nx\n"]);
  });
});
