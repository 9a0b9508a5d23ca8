/** The lock of the writer of a journal: held while a record is open, and free soon after. */
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeRecordLog } from "../../../js/log/index.ts";
import { newCallId } from "../../../js/log/call-id.ts";
import { FileJournal } from "../../../js/log/store.node.ts";
import { MemoryBackend } from "../../../js/index.node.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

/** Locks of all processes. */
function locks() {
  const held = new Set<string>();
  const tryLock = (name: string) => {
    if (held.has(name)) return null;
    held.add(name);
    return { release: () => void held.delete(name) };
  };
  return { held, tryLock };
}

const header = () =>
  ({ callId: newCallId(), tool: "write_file", time: Date.now(), cwd: "/ws", atomic: true }) as const;

/** Makes a change in a journal that is recorded. */
async function change(store: FileJournal): Promise<void> {
  const log = makeRecordLog({ store, cwd: "/ws", storage: undefined, keep: true, durable: false });
  const disk = new MemoryBackend({ "/ws/a": "one" });
  await log.append(disk, { ...header(), agent: undefined, rollback: "try" }, async (fs) =>
    fs.writeText("/ws/a", "two"),
  );
}

test("is free soon after the last record, and taken under a new name by the next", async () => {
  const { held, tryLock } = locks();
  const store = new FileJournal(temporaryDirectory(), tryLock);
  await change(store);
  const [first] = held;
  expect(held.size).toBe(1);
  await expect.poll(() => held.size).toBe(0);
  // Another process holds the former lock, to see what its writer has left.
  held.add(first as string);
  await change(store);
  expect(held.size).toBe(2);
  expect(await store.history("/ws")).toHaveLength(2);
});

test("is held by few of many journals without an open record, and by each with one", async () => {
  const { held, tryLock } = locks();
  const base = temporaryDirectory();
  const stores = Array.from({ length: 40 }, (_, n) => new FileJournal(join(base, `${n}`), tryLock));
  const open = stores.slice(0, 10).map((store) => store.begin(newCallId()));
  for (const store of stores.slice(10)) await change(store);
  expect(held.size).toBeLessThanOrEqual(open.length + 8);
  await expect.poll(() => held.size).toBe(open.length);
  for (const record of open) await record.close(null);
  await expect.poll(() => held.size).toBe(0);
});

test("keeps other processes from what its writer has not closed, and shows them nothing that it has", async () => {
  const { held, tryLock } = locks();
  const directory = temporaryDirectory();
  const [writer, other] = [new FileJournal(directory, tryLock), new FileJournal(directory, tryLock)];
  const record = writer.begin(newCallId());
  record.append({ entry: "begin", header: header() }, false);
  record.append({ entry: "steps", steps: [] }, false);
  expect(other.unfinished()).toEqual([]);
  await record.close("/ws");
  // The writer moves the record to the history and releases its lock between the listing and the look at the record.
  let isListed = false;
  const late = new FileJournal(directory, (name) => {
    if (!isListed) held.clear();
    isListed = true;
    writer.history("/ws");
    return tryLock(name);
  });
  expect(late.unfinished()).toEqual([]);
  await expect.poll(() => held.size).toBe(0);
});
