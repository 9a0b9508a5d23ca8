/** Changes that are larger than the history keeps: said in the question, in the answer, and when an undo is asked for. */
import { mkdirSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Confirm, openWorkspace } from "../../../js/index.node.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

/** A sparse file of a size that is not even kept without a copy. */
function putLarge(path: string): void {
  writeFileSync(path, "");
  truncateSync(path, 4 * 1024 ** 3 + 1);
}

const CALLS: readonly (readonly [tool: string, args: object])[] = [
  ["delete", { path: "large" }],
  ["delete", { path: "dir", recursive: true }],
  ["write_file", { path: "large", content: "small" }],
  ["move", { source: "small", destination: "large", overwrite: true }],
  ["copy", { source: "small", destination: "large", overwrite: true }],
];

async function open(confirm?: Confirm) {
  const folder = temporaryDirectory();
  const root = join(folder, "ws");
  mkdirSync(join(root, "dir"), { recursive: true });
  putLarge(join(root, "large"));
  putLarge(join(root, "dir/large"));
  writeFileSync(join(root, "small"), "small\n");
  const asking = confirm === undefined ? {} : { confirm };
  return openWorkspace({ root, stateDir: join(folder, "state"), ...asking });
}

describe.each(CALLS)("%s %j", (tool, args) => {
  test("the answer says that it cannot be undone, and so does undo", async () => {
    await using ws = await open();
    const result = await ws.call(tool, args);
    expect(result).toMatchObject({ ok: true, meta: { undoable: false } });
    const told = "this cannot be undone: of one call the history keeps at most 64 MiB";
    expect(result.text).toContain(told);
    expect(result.data).toMatchObject({ warnings: expect.arrayContaining([expect.stringContaining(told)]) });
    const callId = result.meta.call_id as string;
    for (const refused of [ws.undo(callId), ws.rewind(callId), ws.changes(callId)])
      await expect(refused).rejects.toMatchObject({
        code: "UNSUPPORTED_OPERATION",
        message: expect.stringContaining("64 MiB"),
      });
  });
});

// A question about a write shows the old content, which is too much to be read.
describe.each(CALLS.filter(([tool]) => tool !== "write_file"))("%s %j", (tool, args) => {
  test("the question says it before", async () => {
    const titles: string[] = [];
    await using ws = await open((details) => {
      titles.push(details.title);
      return { outcome: "cancel" };
    });
    expect(await ws.call(tool, args)).toMatchObject({ ok: false, error: { code: "APPROVAL_DENIED" } });
    expect(titles).toEqual([expect.stringMatching(/ \(too large to be undone\)$/u)]);
  });
});

test("a change that is kept says so, and one of nothing does not", async () => {
  const titles: string[] = [];
  await using ws = await open((details) => {
    titles.push(details.title);
    return { outcome: "proceed_once" };
  });
  const made = await ws.call("write_file", { path: "small", content: "other\n" });
  expect(made).toMatchObject({ ok: true, meta: { undoable: true } });
  expect(made.text).not.toContain("undone");
  expect(titles).toEqual([expect.not.stringContaining("undone")]);
  const dry = { path: "small", old_text: "other", new_text: "new", dry_run: true };
  expect(await ws.call("edit_file", dry)).toMatchObject({ ok: true, meta: { undoable: false } });
  expect(await ws.call("read_file", { path: "small" })).toMatchObject({ meta: { undoable: false } });
  await ws.undo(made.meta.call_id as string);
});

test("without a history nothing can be undone", async () => {
  const folder = temporaryDirectory();
  await using ws = await openWorkspace({ root: folder, stateDir: `${folder}-state`, history: false });
  const made = await ws.call("write_file", { path: "a", content: "a" });
  expect(made).toMatchObject({ ok: true, meta: { undoable: false } });
  expect(made.text).not.toContain("undone");
});
