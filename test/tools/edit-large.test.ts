/** Files so large that an edit is planned, hashed and looked at on several threads: the same as a small one. */
import { createHash } from "node:crypto";
import { readdir } from "node:fs/promises";
import { expect, test } from "vitest";
import { place } from "./harness.ts";

const MB = 1024 * 1024;
const LINE = "a line of a large file that is looked for by nobody\n";
const sha256 = (bytes: Uint8Array): string => `sha256:${createHash("sha256").update(bytes).digest("hex")}`;

/** Five megabytes, with marks that begin at these places. */
function marked(at: readonly number[], line = LINE): Buffer {
  const bytes = Buffer.from(line.repeat(Math.ceil((5 * MB) / line.length)));
  for (const [index, place] of at.entries()) bytes.write(`<mark ${index}>`, place);
  return bytes;
}

/** Returns the expected result of the edits, by plain replacement. */
function replacedIn(before: Buffer, edits: readonly { old_text: string; new_text: string }[]): Buffer {
  const text = edits.reduce((t, e) => t.replace(e.old_text, () => e.new_text), before.toString("latin1"));
  return Buffer.from(text, "latin1");
}

const edit = (index: number, new_text = `<MARK ${index}>`) => ({ old_text: `<mark ${index}>`, new_text });
const crlf = LINE.replace("\n", "\r\n");

test.each([
  ["at the very beginning", marked([0]), [edit(0)]],
  ["at the end of a step of the hash", marked([MB - 8]), [edit(0)]],
  ["across two steps", marked([MB - 3]), [edit(0)]],
  ["in the last step", marked([5 * MB - 20]), [edit(0)]],
  ["that takes text away", marked([3 * MB]), [edit(0, "")]],
  ["that adds lines", marked([3 * MB]), [edit(0, "one\ntwo\nthree\n".repeat(2000))]],
  [
    "of which a later one is before the others",
    marked([4 * MB, 3 * MB, 1000]),
    [0, 1, 2].map((n) => edit(n)),
  ],
  ["with line ends of two bytes", marked([4 * MB], crlf), [edit(0)]],
  ["behind a byte order mark", Buffer.concat([Buffer.of(0xef, 0xbb, 0xbf), marked([MB + 1])]), [edit(0)]],
])("a large edit %s", async (_, before, edits) => {
  const { ws, root, bytes } = await place("local", { f: before });
  const result = await ws.call("edit_file", { path: "f", edits });
  const wanted = replacedIn(before, edits);
  expect(result.ok).toBe(true);
  expect(sha256((await bytes("f")) as Uint8Array)).toBe(sha256(wanted));
  expect(result.data).toMatchObject({ hash: sha256(wanted), bytes_written: wanted.length });
  expect(await readdir(root)).toEqual(["f"]);
});

test("a large file in another encoding is edited in it", async () => {
  const before = Buffer.concat([
    Buffer.of(0xff, 0xfe),
    Buffer.from(marked([MB]).toString("latin1"), "utf16le"),
  ]);
  const { ws, bytes } = await place("local", { f: before });
  const result = await ws.call("edit_file", { path: "f", edits: [edit(0)] });
  const wanted = Buffer.from(before.toString("utf16le").replace("<mark 0>", "<MARK 0>"), "utf16le");
  expect(sha256((await bytes("f")) as Uint8Array)).toBe(sha256(wanted));
  expect(result.data).toMatchObject({ hash: sha256(wanted) });
});

test.each([
  ["a dry run", { edits: [edit(0)], dry_run: true }, undefined],
  ["a text that is not there", { edits: [edit(0), edit(7)], match: "exact" }, "MATCH_NOT_FOUND"],
  ["a text that is there twice", { edits: [{ old_text: LINE, new_text: "" }] }, "MATCH_NOT_UNIQUE"],
])("%s leaves a large file and nothing beside it", async (_, args, code) => {
  const before = marked([3 * MB]);
  const { ws, root, bytes } = await place("local", { f: before });
  const result = await ws.call("edit_file", { path: "f", ...args } as never);
  expect(result.error?.code).toBe(code);
  if (code === undefined) expect(result.data).toMatchObject({ hash: sha256(replacedIn(before, [edit(0)])) });
  expect(sha256((await bytes("f")) as Uint8Array)).toBe(sha256(before));
  expect(await readdir(root)).toEqual(["f"]);
});

test("a large edit is taken back, and an edit of what has changed meanwhile is refused", async () => {
  const before = marked([MB, 2 * MB]);
  const { ws, bytes } = await place("local", { f: before });
  const { hash } = await ws.stat({ path: "f", hash: true });
  const done = await ws.call("edit_file", { path: "f", edits: [edit(0)] });
  const late = await ws.call("edit_file", { path: "f", edits: [edit(1)], expected_hash: hash } as never);
  expect(late.error?.code).toBe("CONFLICT");
  await ws.undo(done.meta.call_id ?? "");
  expect(sha256((await bytes("f")) as Uint8Array)).toBe(sha256(before));
});
