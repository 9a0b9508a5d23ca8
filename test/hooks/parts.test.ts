/** The parts of a change: what a reviewer sees of each file, and what is written of what they accepted. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { setEngine } from "../../js/engine/current.ts";
import {
  allOf,
  type Confirmation,
  type ConfirmPayload,
  type ConfirmReply,
  changeDetails,
  plainDetails,
} from "../../js/index.node.ts";
import { engines } from "../parity/engines.ts";
import { reviewer } from "../support/reviewer.ts";
import { KINDS, place, type Seed } from "../tools/harness.ts";

type Parts = NonNullable<ConfirmPayload["parts"]>;

/** A reviewer who accepts parts of what they are shown. */
function accepts(choose: (details: Confirmation) => Parts, payload: ConfirmPayload = {}) {
  const shown: Confirmation[] = [];
  const confirm = (details: Confirmation): ConfirmReply => {
    shown.push(details);
    const parts = choose(details);
    return { outcome: "proceed_parts", payload: { parts, digest: details.digest, ...payload } };
  };
  return { shown, confirm };
}

/** Parts by the display path of their file. */
function partsOf({ changes }: Confirmation, hunks: Readonly<Record<string, readonly number[]>>): Parts {
  return changes.flatMap(({ path, display }) =>
    hunks[display] === undefined ? [] : [{ path, hunks: hunks[display] }],
  );
}

const numbered = (ending: string, replaced: Readonly<Record<number, string>> = {}): string =>
  Array.from({ length: 30 }, (_, at) => `${replaced[at + 1] ?? `line ${at + 1}`}${ending}`).join("");
const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const utf16 = (text: string): Uint8Array => new Uint8Array(Buffer.from(`\ufeff${text}`, "utf16le"));

/** A patch that replaces lines of numbered files. */
function patchOf(files: Readonly<Record<string, Readonly<Record<number, string>>>>): string {
  const hunks = (replaced: Readonly<Record<number, string>>): string =>
    Object.entries(replaced)
      .map(([line, text]) => `@@ -${line} +${line} @@\n-line ${line}\n+${text}\n`)
      .join("");
  return Object.entries(files)
    .map(([name, replaced]) => `--- a/${name}\n+++ b/${name}\n${hunks(replaced)}`)
    .join("");
}

describe.each(["native", "wasm"] as const)("with the %s engine", (kind) => {
  beforeAll(() => {
    if (engines !== undefined) setEngine(engines[kind]);
  });
  afterAll(() => {
    if (engines !== undefined) setEngine(engines.native);
  });

  test("of a patch of two files exactly two of three hunks are written", async () => {
    const seed = { a: utf8(`\ufeff${numbered("\r\n")}`), b: utf8(numbered("\n").replace(/\n$/u, "")) };
    const { shown, confirm } = accepts((details) => partsOf(details, { a: [1], b: [0] }));
    const { ws, bytes } = await place("local", seed, { confirm });
    const result = await ws.call("apply_patch", {
      patch: patchOf({ a: { 2: "TWO", 20: "TWENTY" }, b: { 29: "LAST BUT ONE" } }),
    });
    expect(result.ok, result.text).toBe(true);
    expect(await bytes("a")).toEqual(utf8(`\ufeff${numbered("\r\n", { 20: "TWENTY" })}`));
    expect(await bytes("b")).toEqual(utf8(numbered("\n", { 29: "LAST BUT ONE" }).replace(/\n$/u, "")));
    expect(result.meta).toMatchObject({
      modified_by_user: true,
      approval: {
        outcome: "proceed_parts",
        parts: [
          { path: "a", accepted: 1, of: 2 },
          { path: "b", accepted: 1, of: 1 },
        ],
      },
    });
    expect(shown).toHaveLength(1);
    const left = "the reviewer accepted 1 of 2 hunks of a; left out:\n--- a/a\n+++ b/a\n";
    expect(result.text).toContain(`[${left}`);
    expect(result.text).toContain("-line 2\n+TWO");
    expect(result.text).not.toContain("LAST BUT ONE");
    const data = result.data as { readonly warnings: readonly string[]; readonly diff: string };
    expect(data.warnings.join("\n")).toContain(left);
    expect(data.diff).toContain("+TWENTY");
    expect(data.diff).not.toContain("TWO");
    expect(data).toMatchObject({
      files: [
        { path: "a", added: 1, removed: 1 },
        { path: "b", added: 1, removed: 1 },
      ],
    });
  });

  test.each<[string, Uint8Array, Uint8Array]>([
    [
      "UTF-16",
      utf16(numbered("\r\n", { 5: "日本" })),
      utf16(numbered("\r\n", { 5: "日本", 28: "\u010a\u0a0a" })),
    ],
    [
      "Latin-1",
      Buffer.from(numbered("\n", { 5: "caf\u00e9 cr\u00e8me br\u00fbl\u00e9e" }), "latin1"),
      Buffer.from(
        numbered("\n", { 5: "caf\u00e9 cr\u00e8me br\u00fbl\u00e9e", 28: "\u010a\u0a0a" }),
        "latin1",
      ),
    ],
  ])("a file in %s keeps its encoding", async (name, before, after) => {
    const last = name === "UTF-16" ? "\u010a\u0a0a" : "\n\n";
    const { shown, confirm } = accepts((details) => partsOf(details, { f: [1] }));
    const { ws, bytes } = await place("local", { f: before }, { confirm });
    const edits = [
      { old_text: "line 2", new_text: "TWO", near_line: 2 },
      { old_text: "line 28", new_text: last },
    ];
    const result = await ws.call("edit_file", { path: "f", edits });
    expect(result.ok, result.text).toBe(true);
    expect(new Uint8Array((await bytes("f")) ?? [])).toEqual(new Uint8Array(after));
    expect(shown[0]?.fileDiff).toContain("+TWO");
    expect(shown[0]?.changes[0]?.hunks[0]?.rows.map(({ text }) => text)).toContain("TWO");
  });
});

describe.each(KINDS)("on %s", (kind) => {
  const seed: Seed = { f: numbered("\n"), g: "g\n", old: "old\n", bin: new Uint8Array([0, 1, 255]) };
  const edits = [
    { old_text: "line 2\n", new_text: "TWO\n" },
    { old_text: "line 15\n", new_text: "a\nb\n" },
    { old_text: "line 29\n", new_text: "" },
  ];
  const edited = (...hunks: readonly number[]): string =>
    [
      ["line 2\n", "TWO\n"],
      ["line 15\n", "a\nb\n"],
      ["line 29\n", ""],
    ]
      .filter((_, index) => hunks.includes(index))
      .reduce((text, [from = "", to = ""]) => text.replace(from, to), numbered("\n"));

  test("a change has its contents and hunks, and as JSON a summary", async () => {
    const { shown, confirm } = reviewer();
    const { ws, root } = await place(kind, seed, { confirm });
    await ws.call("edit_file", { path: "f", edits });
    const [details] = shown as [Confirmation];
    const [change] = details.changes;
    expect(change).toMatchObject({
      path: `${root}/f`,
      display: "f",
      kind: "edit",
      type: "file",
      whole: false,
    });
    expect(change?.before).toBe(numbered("\n"));
    expect(change?.after).toBe(edited(0, 1, 2));
    expect(
      change?.hunks.map(({ oldStart, oldLines, newStart, newLines }) => [
        oldStart,
        oldLines,
        newStart,
        newLines,
      ]),
    ).toEqual([
      [1, 5, 1, 5],
      [12, 7, 12, 8],
      [26, 5, 27, 4],
    ]);
    expect(change?.hunks[1]?.rows.slice(2, 7)).toEqual([
      { kind: "same", old: 14, new: 14, text: "line 14", end: "\n" },
      { kind: "removed", old: 15, new: null, text: "line 15", end: "\n" },
      { kind: "added", old: null, new: 15, text: "a", end: "\n" },
      { kind: "added", old: null, new: 16, text: "b", end: "\n" },
      { kind: "same", old: 16, new: 17, text: "line 16", end: "\n" },
    ]);
    const json = JSON.stringify(plainDetails(details).changes);
    expect(JSON.parse(json)).toEqual([
      { path: `${root}/f`, display: "f", kind: "edit", type: "file", hash: details.hash },
    ]);
    const copied = Reflect.ownKeys({ ...change });
    expect(new Set(copied)).toEqual(new Set(["path", "display", "kind", "type", "hash"]));
    const plain = JSON.parse(JSON.stringify(changeDetails(change as NonNullable<typeof change>)));
    expect(plain.after).toBe(edited(0, 1, 2));
    expect(plain.hunks).toEqual(change?.hunks);
  });

  test.each([[[0]], [[1]], [[2]], [[0, 2]], [[2, 1]]])(
    "only the accepted hunks are written: %j",
    async (hunks) => {
      const { confirm } = accepts((details) => partsOf(details, { f: hunks }));
      const { ws, text } = await place(kind, seed, { confirm });
      const result = await ws.call("edit_file", { path: "f", edits });
      expect(result.ok, result.text).toBe(true);
      expect(await text("f")).toBe(edited(...hunks));
      expect(result.text).toContain(`the reviewer accepted ${hunks.length} of 3 hunks of f; left out:`);
      // What was asked for is not told as done.
      expect(result.text).toContain("as the reviewer decided; 3 replacements were asked for");
      expect(result.data?.revised).toBe(true);
    },
  );

  test("all hunks are the change itself", async () => {
    const { confirm } = accepts((details) => partsOf(details, { f: [0, 1, 2] }));
    const { ws, text } = await place(kind, seed, { confirm });
    const result = await ws.call("edit_file", { path: "f", edits });
    expect(result.meta).toMatchObject({ approval: { outcome: "proceed_once" } });
    expect(result.meta.modified_by_user).toBeUndefined();
    expect(result.text).not.toContain("reviewer");
    expect(await text("f")).toBe(edited(0, 1, 2));
  });

  test("some lines of a hunk can be accepted", async () => {
    const { confirm } = accepts(({ changes: [change] }) => [
      { path: change?.path ?? "", hunks: [0], lines: [{ hunk: 1, rows: [3, 5] }] },
    ]);
    const { ws, text } = await place(kind, seed, { confirm });
    const result = await ws.call("edit_file", { path: "f", edits });
    expect(await text("f")).toBe(numbered("\n").replace("line 2\n", "TWO\n").replace("line 15\n", "b\n"));
    expect(result.text).toContain("accepted 1 of 3 hunks and some lines of 1 more of f; left out:");
    expect(result.text).toContain("\n+a\n");
  });

  test("files are made, removed and moved as one", async () => {
    const patch = [
      "--- /dev/null\n+++ b/made\n@@ -0,0 +1 @@\n+made\n",
      "diff --git a/g b/moved\nrename from g\nrename to moved\n--- a/g\n+++ b/moved\n@@ -1 +1 @@\n-g\n+G\n",
      "--- a/old\n+++ /dev/null\n@@ -1 +0,0 @@\n-old\n",
      patchOf({ f: { 3: "THREE" } }),
    ].join("");
    const all = { made: [0], moved: [0], old: [0], f: [0] };
    const after = {
      made: "made\n",
      moved: "G\n",
      old: undefined,
      g: undefined,
      f: numbered("\n", { 3: "THREE" }),
    };
    const before = { made: undefined, moved: undefined, old: "old\n", g: "g\n", f: numbered("\n") };
    for (const left of Object.keys(all)) {
      const { shown, confirm } = accepts((details) => partsOf(details, { ...all, [left]: [] }));
      const { ws, text } = await place(kind, seed, { confirm });
      const result = await ws.call("apply_patch", { patch });
      expect(result.ok, result.text).toBe(true);
      const kinds = Object.fromEntries(
        (shown[0] as Confirmation).changes.map(({ display, kind: of }) => [display, of]),
      );
      expect(kinds).toEqual({ made: "create", moved: "move", old: "delete", f: "edit" });
      const own = (name: string): string => (left === "moved" && name === "g" ? left : name);
      for (const name of Object.keys(before) as (keyof typeof before)[])
        expect(await text(name), `${name} without ${left}`).toBe((own(name) === left ? before : after)[name]);
      expect(result.text).toContain(`the reviewer accepted nothing of ${left}`);
      const { files } = result.data as { readonly files: readonly { readonly path: string }[] };
      expect(files.map(({ path }) => path).sort()).toEqual(
        Object.keys(all)
          .filter((name) => name !== left)
          .sort(),
      );
      await ws.undo(result.meta.call_id as string);
      for (const name of Object.keys(before) as (keyof typeof before)[])
        expect(await text(name), `${name} after the undo`).toBe(before[name]);
    }
  });

  test("nothing accepted is a refusal", async () => {
    for (const choose of [() => [], (details: Confirmation) => partsOf(details, { f: [] })]) {
      const { confirm } = accepts(choose);
      const { ws, text } = await place(kind, seed, { confirm });
      expect((await ws.call("edit_file", { path: "f", edits })).error?.code).toBe("APPROVAL_DENIED");
      expect(await text("f")).toBe(numbered("\n"));
    }
  });

  test.each<[string, (path: string) => ConfirmPayload]>([
    ["a hunk twice", (path) => ({ parts: [{ path, hunks: [0, 0] }] })],
    ["a hunk that is not there", (path) => ({ parts: [{ path, hunks: [3] }] })],
    ["a hunk below zero", (path) => ({ parts: [{ path, hunks: [-1] }] })],
    ["half a hunk", (path) => ({ parts: [{ path, hunks: [0.5] }] })],
    ["an unknown path", (path) => ({ parts: [{ path: `${path}x`, hunks: [0] }] })],
    ["the path as it is shown", () => ({ parts: [{ path: "f", hunks: [0] }] })],
    [
      "a path twice",
      (path) => ({
        parts: [
          { path, hunks: [0] },
          { path, hunks: [1] },
        ],
      }),
    ],
    ["a hunk and its lines", (path) => ({ parts: [{ path, hunks: [0], lines: [{ hunk: 0, rows: [1] }] }] })],
    ["an unchanged line", (path) => ({ parts: [{ path, hunks: [], lines: [{ hunk: 0, rows: [0] }] }] })],
    ["a line twice", (path) => ({ parts: [{ path, hunks: [], lines: [{ hunk: 0, rows: [1, 1] }] }] })],
    ["no line", (path) => ({ parts: [{ path, hunks: [], lines: [{ hunk: 0, rows: [] }] }] })],
    ["the digest of another question", (path) => ({ parts: [{ path, hunks: [0] }], digest: "sha256:0" })],
    ["no digest", (path) => ({ parts: [{ path, hunks: [0] }], digest: undefined }) as never],
    ["no parts", () => ({ parts: undefined }) as never],
    ["a content as well", (path) => ({ parts: [{ path, hunks: [0] }], newContent: "x" })],
    ["an unknown key", (path) => ({ parts: [{ path, hunks: [0], hunk: 1 } as never] })],
  ])("a choice is refused that has %s", async (_, payload) => {
    const confirm = ({ digest, path }: Confirmation): ConfirmReply => ({
      outcome: "proceed_parts",
      payload: { digest, ...payload(path) },
    });
    const { ws, text } = await place(kind, seed, { confirm });
    expect((await ws.call("edit_file", { path: "f", edits })).error?.code).toBe("APPROVAL_DENIED");
    expect(await text("f")).toBe(numbered("\n"));
  });

  test("a part of a file that can only be written as one is refused", async () => {
    const { shown, confirm } = accepts((details) => partsOf(details, { f: [0] }));
    const { ws, text } = await place(kind, seed, { confirm });
    const result = await ws.call("write_file", { path: "f", content: edited(0, 1), encoding: "utf-16le" });
    expect(result.error?.code, result.text).toBe("APPROVAL_DENIED");
    expect(shown[0]?.changes[0]).toMatchObject({ whole: true });
    expect(shown[0]?.changes[0]?.hunks).toHaveLength(2);
    expect(await text("f")).toBe(numbered("\n"));
  });

  test("what has no parts offers none, and takes none", async () => {
    const { shown, confirm } = accepts((details) => partsOf(details, { f: [0] }));
    const { ws, text } = await place(kind, seed, { confirm });
    for (const [tool, args] of [
      ["delete", { path: "f" }],
      ["move", { source: "f", destination: "h" }],
      ["write_file", { path: "new", content: "x\n" }],
    ] as const)
      expect((await ws.call(tool, args)).error?.code, tool).toBe("APPROVAL_DENIED");
    for (const { scopes } of shown)
      expect(scopes.map(({ outcome }) => outcome)).not.toContain("proceed_parts");
    expect(await text("f")).toBe(numbered("\n"));
  });

  test("a binary file has its size and hashes, and is accepted as one", async () => {
    const { shown, confirm } = accepts((details) => partsOf(details, { bin: [0] }));
    const { ws, bytes } = await place(kind, seed, { confirm });
    const content = Buffer.from([0, 9]).toString("base64");
    const result = await ws.call("write_file", { path: "bin", content, content_encoding: "base64" });
    expect(result.ok, result.text).toBe(true);
    const [change] = (shown[0] as Confirmation).changes;
    expect(change).toMatchObject({ whole: true, before: null, after: null });
    expect(change?.hunks).toMatchObject([{ rows: [] }]);
    expect(change?.binary).toMatchObject({ before: { size: 3 }, after: { size: 2, hash: change?.hash } });
    expect(await bytes("bin")).toEqual(new Uint8Array([0, 9]));
  });

  test("a file that changed while it was reviewed is not written", async () => {
    const at = await place(kind, seed, {
      confirm: async (details) => {
        await at.foreign("f", "other\n");
        return {
          outcome: "proceed_parts",
          payload: { digest: details.digest, parts: partsOf(details, { f: [0] }) },
        };
      },
    });
    expect((await at.ws.call("edit_file", { path: "f", edits })).error?.code).toBe("CONFLICT");
    expect(await at.text("f")).toBe("other\n");
  });

  test("several approvers all see what one of them accepted", async () => {
    const first = accepts((details) =>
      partsOf(details, {
        f: details.isModifying === true ? details.changes[0]!.hunks.map((_, at) => at) : [0, 2],
      }),
    );
    const second = reviewer("proceed_once");
    const { ws, text } = await place(kind, seed, { confirm: allOf([first.confirm, second.confirm]) });
    const result = await ws.call("edit_file", { path: "f", edits });
    expect(result.ok, result.text).toBe(true);
    expect(first.shown.map(({ isModifying }) => isModifying)).toEqual([undefined, true]);
    expect(second.shown.map(({ newContent }) => newContent)).toEqual([edited(0, 2)]);
    expect(await text("f")).toBe(edited(0, 2));
    expect(result.text).toContain("the reviewer accepted 2 of 3 hunks of f; left out:");
  });

  test("a batch writes what was accepted of each operation", async () => {
    const { confirm } = accepts((details) => partsOf(details, { f: [1], g: [0] }));
    const { ws, text } = await place(kind, seed, { confirm });
    const result = await ws.call("batch", {
      operations: [
        { tool: "edit_file", args: { path: "f", edits } },
        { tool: "edit_file", args: { path: "g", old_text: "g", new_text: "G" } },
      ],
    });
    expect(result.ok, result.text).toBe(true);
    expect(await text("f")).toBe(edited(1));
    expect(await text("g")).toBe("G\n");
    const { results } = result.data as {
      readonly results: readonly { text: string; modified_by?: string }[];
    };
    expect(results.map(({ modified_by: by }) => by)).toEqual(["reviewer", undefined]);
    expect(results[0]?.text).toContain("the reviewer accepted 1 of 3 hunks of f; left out:");
  });

  test("any file of a patch can be rewritten by the reviewer", async () => {
    const patch = `${patchOf({ f: { 3: "THREE" } })}--- a/g\n+++ b/g\n@@ -1 +1 @@\n-g\n+G\n`;
    const write = (contents: Readonly<Record<string, string>>): ReturnType<typeof reviewer> => {
      const asked = reviewer(async () => ({
        outcome: "modify_with_editor",
        payload: {
          final: true,
          contents: (asked.shown[0] as Confirmation).changes.flatMap(({ path, display }) =>
            contents[display] === undefined ? [] : [{ path, content: contents[display] }],
          ),
        },
      }));
      return asked;
    };
    for (const [contents, f, g] of [
      [{ g: "mine\n" }, numbered("\n", { 3: "THREE" }), "mine\n"],
      [{ f: "other\n" }, "other\n", "G\n"],
      [{ f: "other\n", g: "mine\n" }, "other\n", "mine\n"],
    ] as const) {
      const asked = write(contents);
      const { ws, text } = await place(kind, seed, { confirm: asked.confirm });
      const result = await ws.call("apply_patch", { patch });
      expect(asked.shown[0]?.scopes.map(({ outcome }) => outcome)).toContain("modify_with_editor");
      expect(result.ok, result.text).toBe(true);
      expect([await text("f"), await text("g")]).toEqual([f, g]);
      expect((result.data as { readonly diff: string }).diff).toContain(contents.g ?? "+G");
    }
  });

  test.each<[string, ConfirmPayload]>([
    ["of a path that the call does not write", { contents: [{ path: "/elsewhere", content: "x" }] }],
    ["of no path", { contents: [] }],
    ["given twice", { newContent: "x", contents: [] }],
  ])("a content is refused %s", async (_, payload) => {
    const { confirm } = reviewer({ outcome: "modify_with_editor", payload: { final: true, ...payload } });
    const { ws, text } = await place(kind, seed, { confirm });
    expect((await ws.call("edit_file", { path: "f", edits })).error?.code).toBe("APPROVAL_DENIED");
    expect(await text("f")).toBe(numbered("\n"));
  });

  test("only lines that were read count as read after a part was accepted", async () => {
    const { confirm } = accepts((details) => partsOf(details, { f: [0] }));
    const { ws } = await place(kind, seed, { confirm, guard: "refuse" });
    await ws.call("read_file", { path: "f", max_lines: 20 });
    const first = await ws.call("edit_file", { path: "f", edits: edits.slice(0, 2) });
    expect(first.ok, first.text).toBe(true);
    const second = await ws.call("edit_file", { path: "f", old_text: "line 29\n", new_text: "" });
    expect(second.error?.details?.["reason"], second.text).toBe("partial_read");
  });
});
