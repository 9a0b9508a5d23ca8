/** Cancelled calls: after the change is made, in the middle of an undo, and while a directory is listed. */
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { LocalBackend, MemoryBackend } from "../../js/index.node.ts";
import { type About, type RecordLog, makeRecordLog, newCallId } from "../../js/log/index.ts";
import { undoableChange, undoChange } from "../../js/log/past.ts";
import { FileJournal } from "../../js/log/store.node.ts";

let base: string;
let root: string;
let log: RecordLog;
beforeEach(() => {
  base = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), "filewright-cancelled-")));
  root = join(base, "root");
  fs.mkdirSync(root);
  const store = new FileJournal(join(base, "state"), () => ({ release: () => undefined }));
  log = makeRecordLog({ store, cwd: root, keep: true, durable: false });
});
afterEach(() => fs.rmSync(base, { recursive: true, force: true }));

const about = (rollback: About["rollback"], signal: AbortSignal): About => ({
  callId: newCallId(),
  tool: "test",
  rollback,
  signal,
});

/** The disk, on which the removal of a set-aside tree waits until `open` is called. */
class SlowRemovals extends LocalBackend {
  open: () => void = () => undefined;
  began: () => void = () => undefined;
  readonly #gate = new Promise<void>((resolve) => {
    this.open = resolve;
  });

  override async removeTree(...[path, options]: Parameters<LocalBackend["removeTree"]>) {
    // With `aside` the tree is only renamed.
    if (options?.aside === undefined) {
      this.began();
      await this.#gate;
    }
    return super.removeTree(path, options);
  }
}

test("a deletion that is cancelled after it was made succeeds without waiting for the removal", async () => {
  const disk = new SlowRemovals();
  fs.mkdirSync(join(root, "tree"));
  fs.writeFileSync(join(root, "tree/a"), "old");
  const cancel = new AbortController();
  disk.began = () => cancel.abort();
  await log.append(disk, about("try", cancel.signal), async (recording) => {
    await recording.removeTree?.(join(root, "tree"));
  });
  expect(await disk.exists(join(root, "tree"))).toBe(false);
  expect(fs.readdirSync(root)).toHaveLength(1); // The set-aside tree.
  const [record] = await log.list();
  expect(record?.undoable).toBe(true);
  disk.open();
  await log.rollbacks.settled();
  expect(fs.readdirSync(root)).toEqual([]);
  const change = await undoableChange(log, record?.header.callId as string);
  await undoChange(log, disk, change, { callId: newCallId() });
  expect(fs.readFileSync(join(root, "tree/a"), "utf8")).toBe("old");
});

test("an undo that is cancelled in the middle leaves every file as it was before the undo", async () => {
  const cancel = new AbortController();
  let writes = 0;
  class Counting extends LocalBackend {
    override async writeBytes(...args: Parameters<LocalBackend["writeBytes"]>) {
      writes += 1;
      // The change writes ten files; this is the fourth of the undo.
      if (writes === 14) cancel.abort();
      return super.writeBytes(...args);
    }
  }
  const disk = new Counting();
  const names = Array.from({ length: 10 }, (_, at) => `f${at}`);
  for (const name of names) fs.writeFileSync(join(root, name), `old ${name}`);
  const made = about("always", new AbortController().signal);
  await log.append(disk, made, async (recording) => {
    for (const name of names) await recording.writeText(join(root, name), `new ${name}`);
  });
  const change = await undoableChange(log, made.callId);
  const undone = undoChange(log, disk, change, { callId: newCallId(), signal: cancel.signal });
  await expect(undone).rejects.toMatchObject({ code: "CANCELLED" });
  const now = fs.readdirSync(root).sort();
  expect(now).toEqual(names);
  for (const name of now) expect(fs.readFileSync(join(root, name), "utf8")).toBe(`new ${name}`);
  await undoChange(log, disk, change, { callId: newCallId() });
  for (const name of now) expect(fs.readFileSync(join(root, name), "utf8")).toBe(`old ${name}`);
});

test("the listing of a directory ends when its signal is aborted", async () => {
  const names = Array.from({ length: 2000 }, (_, at) => `/root/f${at}`);
  for (const name of names) fs.writeFileSync(join(base, name), "");
  for (const backend of [
    new LocalBackend(),
    new MemoryBackend(Object.fromEntries(names.map((name) => [name, ""]))),
  ]) {
    const cancel = new AbortController();
    const listing = backend.listDir(backend instanceof LocalBackend ? root : "/root", {
      signal: cancel.signal,
    });
    cancel.abort();
    await expect(listing).rejects.toMatchObject({ code: "CANCELLED" });
  }
});
