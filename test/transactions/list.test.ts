import { createHash } from "node:crypto";
import * as fs from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { provideShortcuts, shortcutsOf } from "../../js/backends/abilities.ts";
import { PassingFiles } from "../../js/backends/delegating.ts";
import type { VersionedBytes, WriteOptions } from "../../js/backends/backend.ts";
import { tryLock } from "../../js/backends/local/lock.node.ts";
import type { CommitList, CommitRecorded, ListedPut } from "../../js/backends/transaction/recorded-list.ts";
import type { RecordEntry } from "../../js/backends/transaction/step.ts";
import { requireAddon } from "../../js/engine/load.node.ts";
import { listedChanges } from "../../js/tools/change/list.ts";
import type { Put } from "../../js/tools/change/change.ts";
import { FilewrightError, type Files, LocalBackend, openWorkspace } from "../../js/index.node.ts";
import { makeRecordLog, newCallId, type RecordLog } from "../../js/log/index.ts";
import { addMark, changesAfter, undoableChange, undoChange } from "../../js/log/past.ts";
import { decodeRecord, encodeRecord, recordKeyOf } from "../../js/log/record-file.node.ts";
import { FileJournal } from "../../js/log/store.node.ts";
import { afterThisTest } from "../support/cleanups.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const OLD = "the old content\n";
const NEW = "the new content, which is longer\n";

/** A root with the file `a`, and a journal whose changes are made by one put, or by steps. */
function place({ byDisk = true, durable = false, content = OLD } = {}) {
  const base = fs.realpathSync(temporaryDirectory());
  const [root, state] = [join(base, "ws"), join(base, "state")];
  fs.mkdirSync(root);
  fs.mkdirSync(state, { mode: 0o700 });
  fs.writeFileSync(join(root, "a"), content);
  fs.chmodSync(join(root, "a"), 0o644);
  const store = new FileJournal(state, (name) => tryLock(state, name));
  const log = makeRecordLog({ store, files: byDisk ? store : undefined, cwd: root, keep: true, durable });
  const disk = new LocalBackend();
  const open = join(state, "journal/open");
  return {
    ...{ root, state, store, log, disk },
    at: (path: string) => join(root, path),
    text: (path: string) => fs.readFileSync(join(root, path), "utf8"),
    /** The records that no setting has closed, after those that are whole were moved to the history. */
    async left() {
      await store.history(root);
      // The files that were made ahead of records are empty.
      const names = fs.existsSync(open) ? fs.readdirSync(open) : [];
      return names.filter((name) => fs.lstatSync(join(open, name)).size > 0);
    },
  };
}

interface PutCall {
  readonly path: string;
  readonly content?: string | undefined;
  readonly options?: WriteOptions;
  readonly callId?: string;
  readonly unreviewed?: boolean;
  /** Called after the file is written, while the change can still fail. */
  readonly then?: () => void;
}

/** Returns the recorded steps of a change. */
async function stepsOf(log: RecordLog, callId: string) {
  return (await log.get(callId))?.made.steps ?? [];
}

/** Makes the list of a change, or throws its error. */
async function makeList(commit: CommitList): Promise<void> {
  const made = await commit({});
  if ("error" in made) throw made.error;
}

/** Makes a change that is one put. Returns whether the disk was asked to record it, and what the journal says. */
async function putFile(
  log: RecordLog,
  disk: Files,
  { path, content = NEW, options = {}, callId = newCallId(), then, unreviewed }: PutCall,
) {
  const was = await disk.read(path).catch(() => null);
  const condition = { ...(was === null ? { ifAbsent: true } : { ifVersion: was.version }), ...options };
  const ways: boolean[] = [];
  const about = { callId, tool: "write_file", rollback: "try", unreviewed } as const;
  const put = putOf(path, content, was);
  const list = listedChanges([{ ...put, now: { ...put.now, mode: options.mode?.toString(8) } }]);
  const made = await log.append(
    disk,
    about,
    async (own, commit) => {
      ways.push(commit !== undefined);
      await (commit === undefined ? own.writeBytes(path, bytes(content), condition) : makeList(commit));
      then?.();
    },
    { list, found: async () => undefined },
  );
  return { ...made, ways, callId };
}

const hashOf = (content: string): string => `sha256:${createHash("sha256").update(content).digest("hex")}`;

/** Returns a put of a tool. */
function putOf(path: string, content: string, was: VersionedBytes | null): Put {
  return {
    ...{ do: "put", path, name: path, target: path, was, from: null, parents: true, mayReplace: true },
    now: { bytes: bytes(content), mode: undefined, hash: hashOf(content), diff: undefined },
    needs: "file",
  };
}

/** Returns the file of a record of the history. */
async function recordOf({ store, root, state }: ReturnType<typeof place>, callId: string): Promise<string> {
  await store.history(root);
  const done = join(state, "journal/done");
  return join(done, fs.readdirSync(done)[0] as string, callId);
}

/** Returns the entries of a record, whose bytes are compared with those of the encoder in TypeScript. */
async function checkedEntries(
  made: ReturnType<typeof place>,
  callId: string,
): Promise<readonly RecordEntry[]> {
  const file = await recordOf(made, callId);
  const key = recordKeyOf(fs.readFileSync(join(made.state, "journal/key")));
  const { entries, end } = decodeRecord(file, key, callId, true);
  expect(end).toBe("whole");
  let previous: Buffer = Buffer.alloc(32);
  const encoded: Uint8Array[] = [];
  for (const entry of entries) {
    const { buffers, mac } = encodeRecord(entry, key, previous, callId);
    encoded.push(...buffers);
    previous = mac;
  }
  expect(Buffer.concat(encoded).equals(fs.readFileSync(file))).toBe(true);
  return entries;
}

/** Returns entries as text, without what differs between two equal changes. */
function comparable(entries: readonly RecordEntry[], { root }: { readonly root: string }): string {
  const text = JSON.stringify(entries, (_, value: unknown) =>
    value instanceof Uint8Array ? Buffer.from(value).toString("base64") : value,
  );
  return text
    .replaceAll(root, "ROOT")
    .replaceAll(/"(version|fileId)":"[0-9a-f.]+"/gu, '"$1":"?"')
    .replaceAll(/"(time|at|mtime)":[0-9.]+/gu, '"$1":0')
    .replaceAll(/"callId":"[^"]+"/gu, '"callId":"?"');
}

describe("a put that the disk records has the record of the same put by steps", () => {
  const CASES: Readonly<Record<string, { put: Omit<PutCall, "path">; path: string; content?: string }>> = {
    "that replaces a file": { path: "a", put: {} },
    "that makes a file": { path: "new", put: { options: { ifAbsent: true, createDirs: true } } },
    "with the permission bits that the file has": { path: "a", put: { options: { mode: 0o644 } } },
    "of a new file with permission bits": { path: "new", put: { options: { mode: 0o755 } } },
    "that replaces an empty file": { path: "a", put: {}, content: "" },
    "that empties a file": { path: "a", put: { content: "" } },
    "that replaces a large file": { path: "a", put: {}, content: "0123456789abcdef".repeat(20_000) },
    "of a name with other letters": { path: 'ünï "c" \\xff', put: {} },
  };
  test.each(Object.entries(CASES))("%s", async (_, { put, path, content = OLD }) => {
    for (const durable of [false, true]) {
      const records: string[] = [];
      for (const byDisk of [true, false]) {
        const made = place({ byDisk, durable, content });
        const done = await putFile(made.log, made.disk, { path: made.at(path), ...put });
        expect([done.ways, done.undo]).toEqual([[byDisk], "undoable"]);
        records.push(comparable(await checkedEntries(made, done.callId), made));
        expect(await made.left()).toEqual([]);
        const [record] = await made.log.list();
        expect(record?.header.callId).toBe(done.callId);
      }
      expect(records[0]).toBe(records[1]);
    }
  });
});

test("a put that the disk records can be undone", async () => {
  for (const path of ["a", "new"]) {
    const made = place();
    const { callId } = await putFile(made.log, made.disk, { path: made.at(path) });
    expect(made.text(path)).toBe(NEW);
    await undoChange(made.log, made.disk, await undoableChange(made.log, callId), { callId: newCallId() });
    expect([fs.existsSync(made.at("new")), made.text("a")]).toEqual([false, OLD]);
  }
});

test("moments of puts that the disk records and of marks have the order in which they were made", async () => {
  const made = place();
  const names: string[] = [];
  for (let round = 0; round < 20; round++) {
    const { callId } = await putFile(made.log, made.disk, { path: made.at("a"), content: `${round}` });
    const { at } = await addMark(made.log, `mark ${round}`, undefined);
    const [last] = await made.log.list();
    expect(last?.header.callId).toBe(callId);
    expect(last?.at).toBeLessThan(at);
    expect(await changesAfter(made.log, { moment: at })).toEqual([]);
    names.unshift(callId);
  }
  expect((await made.log.list()).map(({ header }) => header.callId)).toEqual(names);
});

describe("is made by steps, and nothing is left of the record of the disk:", () => {
  test("a put below a directory that is missing", async () => {
    const made = place();
    const options = { ifAbsent: true, createDirs: true };
    const done = await putFile(made.log, made.disk, { path: made.at("deep/er/new"), options });
    expect([done.ways, done.undo]).toEqual([[true], "undoable"]);
    expect((await stepsOf(made.log, done.callId)).map(({ kind }) => kind)).toEqual([
      ...["mkdir", "mkdir", "create"],
    ]);
    expect(await made.left()).toEqual([]);
  });

  test("a put through a link", async () => {
    const made = place();
    fs.mkdirSync(made.at("d"));
    fs.writeFileSync(made.at("d/f"), OLD);
    fs.symlinkSync("d", made.at("link"));
    for (const path of ["link/f", "link/new"]) {
      const done = await putFile(made.log, made.disk, { path: made.at(path) });
      expect([done.ways, done.undo, made.text(path)]).toEqual([[true, false], "undoable", NEW]);
      const steps = await stepsOf(made.log, done.callId);
      expect(steps).toMatchObject([{ path: made.at(path.replace("link", "d")) }]);
    }
    expect(await made.left()).toEqual([]);
  });

  test("a put on a file of other permission bits than those that were planned on", async () => {
    const made = place();
    const options = { mode: 0o600 };
    fs.chmodSync(made.at("a"), 0o644);
    const done = await putFile(made.log, made.disk, { path: made.at("a"), options });
    expect([done.ways, done.undo]).toEqual([[false], "undoable"]);
    expect(await stepsOf(made.log, done.callId)).toMatchObject([{ before: { mode: 0o644 } }]);
  });

  test("a put whose record cannot be begun", async () => {
    const made = place();
    await putFile(made.log, made.disk, { path: made.at("a"), content: "first" });
    const done = fs.statSync(made.at("a"));
    // The directory of open records is a file: neither way can begin one.
    fs.rmSync(join(made.state, "journal/open"), { recursive: true });
    fs.writeFileSync(join(made.state, "journal/open"), "");
    const second = await putFile(made.log, made.disk, { path: made.at("a") });
    expect([second.ways, second.undo, made.text("a")]).toEqual([[true, false], "too_large", NEW]);
    expect(fs.statSync(made.at("a")).ino).not.toBe(done.ino);
  });
});

/** Returns the path of the only file of a record. */
function openRecord(state: string): string {
  const open = join(state, "journal/open");
  const paths = fs.readdirSync(open).map((name) => join(open, name));
  return paths.find((path) => fs.lstatSync(path).isFile()) as string;
}

/** The recorded write of a disk that fails: before it, or after it has written the file and the record. */
function failingWrite(
  disk: LocalBackend,
  when: "before" | "after",
  code: "IO_ERROR" | "NO_SPACE" | "CANCELLED",
): void {
  const commit = shortcutsOf(disk).recordedList() as CommitRecorded;
  provideShortcuts(disk, {
    recordedList: () => async (list, options, record) => {
      if (when === "after") await commit(list, options, record);
      throw new FilewrightError(code, "as the test wants it");
    },
  });
}

describe("a put that fails leaves the file as it was and no record:", () => {
  test.each([
    ["before", "IO_ERROR"],
    ["before", "NO_SPACE"],
    ["before", "CANCELLED"],
    ["after", "IO_ERROR"],
    ["after", "CANCELLED"],
  ] as const)("%s it was made, with %s", async (when, code) => {
    for (const path of ["a", "new"]) {
      const made = place();
      failingWrite(made.disk, when, code);
      const failed = putFile(made.log, made.disk, { path: made.at(path) });
      await expect(failed).rejects.toMatchObject({ code });
      expect([fs.readdirSync(made.root), made.text("a")]).toEqual([["a"], OLD]);
      expect(await made.left()).toEqual([]);
      expect(await made.log.list()).toEqual([]);
    }
  });

  test("when another program has written the file", async () => {
    const made = place();
    const was = (await made.disk.read(made.at("a"))) as VersionedBytes;
    fs.writeFileSync(made.at("a"), "somebody else's");
    const about = { callId: newCallId(), tool: "write_file", rollback: "try" } as const;
    const planned = { list: listedChanges([putOf(made.at("a"), NEW, was)]), found: async () => undefined };
    const write = async (_: Files, commit?: CommitList) => makeList(commit as CommitList);
    const change = made.log.append(made.disk, about, write, planned);
    await expect(change).rejects.toMatchObject({ code: "CONFLICT" });
    expect(made.text("a")).toBe("somebody else's");
    expect(await made.left()).toEqual([]);
  });
});

test("a made put stays, and can be undone, when what follows it fails", async () => {
  for (const path of ["a", "new"]) {
    const made = place();
    const then = (): void => {
      throw new FilewrightError("INTERNAL", "as the test wants it");
    };
    const callId = newCallId();
    const failed = putFile(made.log, made.disk, { path: made.at(path), callId, then });
    const details = { rolled_back: false, not_restored: [made.at(path)] };
    await expect(failed).rejects.toMatchObject({ code: "INTERNAL", details });
    expect([made.text(path), await made.left()]).toEqual([NEW, []]);
    await undoChange(made.log, made.disk, await undoableChange(made.log, callId), { callId: newCallId() });
    expect([fs.readdirSync(made.root), made.text("a")]).toEqual([["a"], OLD]);
  }
});

test("a put that cannot be taken back at once is taken back before the next change of its path", async () => {
  const made = place();
  const commit = shortcutsOf(made.disk).recordedList() as CommitRecorded;
  let isFull = true;
  const disk = Object.assign(new PassingFiles(made.disk), {
    writeBytes: async (...all: Parameters<Files["writeBytes"]>) => {
      if (isFull) throw new FilewrightError("NO_SPACE", "full");
      return made.disk.writeBytes(...all);
    },
  });
  provideShortcuts(disk, {
    recordedList:
      () =>
      async (...args) => {
        await commit(...args);
        throw new FilewrightError("IO_ERROR", "as the test wants it");
      },
  });
  const failed = putFile(made.log, disk, { path: made.at("a") });
  await expect(failed).rejects.toMatchObject({ code: "IO_ERROR", details: { not_restored: [made.at("a")] } });
  expect([made.text("a"), (await made.left()).length]).toEqual([NEW, 1]);
  isFull = false;
  await made.log.rollbacks.retry(disk, [{ path: made.at("a") }], (_, action) => action());
  expect(made.text("a")).toBe(OLD);
  expect(await made.left()).toEqual([]);
});

/** Lets the disk write records without their end. */
function withoutEnds(disk: LocalBackend): void {
  const commit = shortcutsOf(disk).recordedList() as CommitRecorded;
  provideShortcuts(disk, {
    recordedList:
      () =>
      async (list, ...rest) => {
        const { steps } = await commit(list, ...rest);
        return { steps, end: { at: list.length, error: new FilewrightError("NO_SPACE", "full") } };
      },
  });
}

test("a put that is to be reviewed later, and whose record has no end, is taken back", async () => {
  const made = place();
  withoutEnds(made.disk);
  for (const path of ["a", "new"]) {
    const failed = putFile(made.log, made.disk, { path: made.at(path), unreviewed: true });
    await expect(failed).rejects.toMatchObject({ code: "IO_ERROR" });
    expect([fs.readdirSync(made.root), made.text("a")]).toEqual([["a"], OLD]);
    expect(await made.left()).toEqual([]);
  }
});

test("a record that cannot be removed changes neither the result nor the error of the put", async () => {
  const made = place();
  const commit = shortcutsOf(made.disk).recordedList() as CommitRecorded;
  provideShortcuts(made.disk, {
    recordedList: () => async (list, options, record) => {
      const { steps } = await commit(list, options, record);
      const file = openRecord(made.state);
      fs.rmSync(file);
      fs.mkdirSync(file);
      return { steps, end: { at: list.length, error: new FilewrightError("NO_SPACE", "full") } };
    },
  });
  const done = await putFile(made.log, made.disk, { path: made.at("a") });
  expect([done.undo, made.text("a")]).toEqual(["nothing", NEW]);
  const then = (): void => {
    throw new FilewrightError("TOO_LARGE", "as the test wants it");
  };
  const failed = putFile(made.log, made.disk, { path: made.at("a"), content: OLD, then });
  await expect(failed).rejects.toMatchObject({ code: "TOO_LARGE" });
  expect(made.text("a")).toBe(NEW);
});

test("a put whose record has no end is made, cannot be undone, and leaves no record", async () => {
  const made = place();
  withoutEnds(made.disk);
  const done = await putFile(made.log, made.disk, { path: made.at("a") });
  expect([done.undo, made.text("a")]).toEqual(["nothing", NEW]);
  expect(await made.left()).toEqual([]);
  expect(await made.log.list()).toEqual([]);
});

describe("of a process that ended before it put its records away", () => {
  /** The state directory and the log as the next process finds them, with a record cut to a part of its size. */
  async function nextProcess(made: ReturnType<typeof place>, cutAt = 1) {
    const state = `${made.state}-copy`;
    fs.cpSync(made.state, state, { recursive: true });
    const open = join(state, "journal/open");
    const records = fs.readdirSync(open).filter((name) => fs.statSync(join(open, name)).size > 0);
    expect(records.every((name) => name.includes(".~"))).toBe(true);
    for (const name of cutAt < 1 ? records : [])
      fs.truncateSync(join(open, name), Math.floor(fs.statSync(join(open, name)).size * cutAt));
    const store = new FileJournal(state, () => ({ release: () => undefined }));
    const log = makeRecordLog({ store, cwd: made.root, keep: true, durable: false });
    const recover = () =>
      log.rollbacks.recover(
        made.disk,
        () => true,
        (_, action) => action(),
      );
    return { ...{ log, store, recover }, names: () => fs.readdirSync(open) };
  }

  test("whole records are history before and after the recovery", async () => {
    const made = place();
    const ids: string[] = [];
    for (let round = 0; round < 6; round++) {
      const { callId } = await putFile(made.log, made.disk, { path: made.at("a"), content: `${round}` });
      ids.unshift(callId);
    }
    const next = await nextProcess(made);
    expect((await next.log.list()).map(({ header }) => header.callId)).toEqual(ids);
    const { steps } = (await next.log.get(ids[0] as string))?.made ?? {};
    expect(steps).toMatchObject([{ before: { bytes: Buffer.from("4") } }]);
    const recovery = { rolledBack: 0, ignored: 0, damaged: 0, conflicts: [] };
    expect(await next.recover()).toMatchObject(recovery);
    expect(next.names()).toEqual([]);
    expect((await next.log.list()).map(({ header }) => header.callId)).toEqual(ids);
    expect(made.text("a")).toBe("5");
  });

  test.each([0, 0.02, 0.1, 0.3, 0.5, 0.8, 0.99])("records cut to %f are removed", async (cutAt) => {
    const made = place();
    await putFile(made.log, made.disk, { path: made.at("a") });
    const next = await nextProcess(made, cutAt);
    const recovery = { rolledBack: 0, ignored: 0, damaged: 0, conflicts: [], problem: undefined };
    expect(await next.recover()).toEqual(recovery);
    expect([next.names(), await next.log.list(), made.text("a")]).toEqual([[], [], NEW]);
  });

  test("a record under the number of a file has no other id than its own", async () => {
    const made = place();
    const { callId } = await putFile(made.log, made.disk, { path: made.at("a") });
    const next = await nextProcess(made);
    const [name = ""] = next.names();
    const path = join(`${made.state}-copy`, "journal/open", name);
    const other = callId.replace(/.$/u, (last) => (last === "0" ? "1" : "0"));
    fs.writeFileSync(path, fs.readFileSync(path, "latin1").replace(callId, other), "latin1");
    expect(await next.log.list()).toEqual([]);
    expect(await next.recover()).toMatchObject({ ignored: 1, rolledBack: 0 });
  });
});

test("the files of records that the history forgets are used again, and it keeps as many as before", async () => {
  const made = place();
  const began = Date.now();
  for (let round = 0; round < 300; round++)
    await putFile(made.log, made.disk, { path: made.at("a"), content: `${round}` });
  const records = await made.log.list();
  expect(records.length).toBeGreaterThanOrEqual(200);
  expect(records.length).toBeLessThan(270);
  const { made: last } = (await made.log.get(records[0]?.header.callId as string)) ?? {};
  expect(last?.steps).toMatchObject([{ before: { bytes: Buffer.from("298") } }]);
  // The note of removed records, which is written several times.
  const until = made.store.prunedUntil(made.root) as number;
  expect([until > began, until < (records.at(-1)?.at as number) + 1000]).toEqual([true, true]);
  const folder = join(made.state, "journal/done");
  const [group = ""] = fs.readdirSync(folder);
  await expect.poll(() => fs.readdirSync(join(made.state, "journal/open"))).toEqual([]);
  expect(fs.readdirSync(join(folder, group)).length).toBeLessThanOrEqual(232);
});

describe("a call of a workspace", () => {
  const CALLS: Readonly<
    Record<string, { call: readonly [string, object]; jobs: readonly string[]; options?: object }>
  > = {
    "that replaces a file is one job": {
      call: ["write_file", { path: "a", content: NEW }],
      jobs: ["commit"],
    },
    "that makes a file is one job": {
      call: ["write_file", { path: "new", content: NEW }],
      jobs: ["commit"],
    },
    "that adds to a file is one job": {
      call: ["write_file", { path: "a", content: NEW, append: true }],
      jobs: ["commit"],
    },
    "that edits a file is one job": {
      call: ["edit_file", { path: "a", old_text: "old", new_text: "new" }],
      jobs: ["commit"],
    },
    "that makes directories is a job that finds them missing, and one that makes all": {
      call: ["write_file", { path: "d/new", content: NEW }],
      jobs: ["commit", "commit"],
    },
    "that makes more directories than a list has changes is made by steps": {
      call: ["write_file", { path: `${"d/".repeat(256)}new`, content: NEW }],
      jobs: ["commit", "writeBytes"],
    },
    "that removes a file is one job": {
      call: ["delete", { path: "a" }],
      jobs: ["commit"],
    },
    "that patches several files is one job": {
      call: [
        "apply_patch",
        {
          patch:
            "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-the old content\n+new\n--- /dev/null\n+++ b/b\n@@ -0,0 +1 @@\n+b\n",
        },
      ],
      jobs: ["commit"],
    },
    "that moves a file is one job": {
      call: ["move", { source: "a", destination: "b" }],
      jobs: ["commit"],
    },
    "that moves a file to new directories is a job that finds them missing, and one that makes all": {
      call: ["move", { source: "a", destination: "d/e/b" }],
      jobs: ["commit", "commit"],
    },
    "that moves a directory is one job": {
      call: ["move", { source: "folder", destination: "moved" }],
      jobs: ["commit"],
    },
    "that copies a file is one job": {
      call: ["copy", { source: "a", destination: "b" }],
      jobs: ["commit"],
    },
    "that makes several calls is one job": {
      call: [
        "batch",
        {
          operations: [
            { tool: "write_file", args: { path: "b", content: NEW } },
            { tool: "edit_file", args: { path: "a", old_text: "old", new_text: "new" } },
            { tool: "move", args: { source: "folder/c", destination: "c" } },
          ],
        },
      ],
      jobs: ["commit"],
    },
    "that makes calls of which one needs another is made by steps": {
      call: [
        "batch",
        {
          operations: [
            { tool: "write_file", args: { path: "a", content: NEW } },
            { tool: "copy", args: { source: "a", destination: "b" } },
          ],
        },
      ],
      jobs: ["writeBytes", "copyFile"],
    },
    "without a history is one job without a record": {
      call: ["write_file", { path: "a", content: NEW }],
      jobs: ["writeBytes"],
      options: { history: false },
    },
  };
  test.each(Object.entries(CALLS))("%s", async (_, { call: [tool, args], jobs, options = {} }) => {
    const base = fs.realpathSync(temporaryDirectory());
    fs.mkdirSync(join(base, "ws/folder"), { recursive: true });
    for (const name of ["a", "folder/c"]) fs.writeFileSync(join(base, "ws", name), OLD);
    const { prototype } = requireAddon("this test").NativeRoots;
    const asked: string[] = [];
    for (const name of ["commit", "writeBytes", "rename", "copyFile"] as const) {
      const own = prototype[name] as (...given: unknown[]) => Promise<never>;
      const spy = vi.spyOn(prototype, name).mockImplementation(function (this: unknown, ...given: unknown[]) {
        asked.push(name);
        return own.apply(this, given);
      });
      afterThisTest(() => spy.mockRestore());
    }
    const ws = await openWorkspace({ root: join(base, "ws"), stateDir: join(base, "state"), ...options });
    afterThisTest(() => ws.close());
    expect(await ws.call(tool, args)).toMatchObject({ ok: true });
    expect(asked).toEqual(jobs);
    expect(await ws.history()).toHaveLength("history" in options ? 0 : 1);
  });
});

/** Calls a hook before or after each list that the addon makes. */
function aroundCommits(around: { before?: () => void; after?: () => void }): void {
  const { prototype } = requireAddon("this test").NativeRoots;
  const own = prototype.commit as (...given: unknown[]) => Promise<never>;
  const spy = vi.spyOn(prototype, "commit").mockImplementation(async function (this: unknown, ...given) {
    around.before?.();
    const made = await own.apply(this, given);
    around.after?.();
    return made;
  });
  afterThisTest(() => spy.mockRestore());
}

/** A workspace with the files of `contents`. */
async function workspaceOf(contents: Readonly<Record<string, string>>) {
  const base = fs.realpathSync(temporaryDirectory());
  const at = (name: string): string => join(base, "ws", name);
  fs.mkdirSync(at(""));
  for (const [name, content] of Object.entries(contents)) fs.writeFileSync(at(name), content);
  const ws = await openWorkspace({ root: at(""), stateDir: join(base, "state"), knows: true });
  afterThisTest(() => ws.close());
  const texts = () =>
    Object.fromEntries(fs.readdirSync(at("")).map((name) => [name, fs.readFileSync(at(name), "utf8")]));
  return { ws, at, texts };
}

/** Returns a patch that gives each file its name as content, from one line of `OLD`. */
const patchOf = (...names: readonly string[]): string =>
  names.map((name) => `--- a/${name}\n+++ b/${name}\n@@ -1 +1 @@\n-${OLD}+${name}\n`).join("");

test("a call that is cancelled once its list is made has made it", async () => {
  const { ws, texts } = await workspaceOf({ a: OLD, b: OLD });
  const controller = new AbortController();
  aroundCommits({ after: () => controller.abort() });
  const { signal } = controller;
  expect(await ws.call("apply_patch", { patch: patchOf("a", "b") }, { signal })).toMatchObject({ ok: true });
  expect(texts()).toEqual({ a: "a\n", b: "b\n" });
  expect(await ws.history()).toHaveLength(1);
});

test("a cancelled call leaves what another program has made with the same content", async () => {
  const CASES = [
    ["write_file", { path: "n", content: NEW }, "n"],
    ["write_file", { path: "a", content: NEW }, "a"],
  ] as const;
  for (const [tool, args, name] of CASES) {
    const { ws, at, texts } = await workspaceOf({ a: OLD });
    const controller = new AbortController();
    const before = (): void => {
      fs.writeFileSync(at(name), NEW);
      controller.abort();
    };
    aroundCommits({ before });
    const { signal } = controller;
    expect(await ws.call(tool, args, { signal })).toMatchObject({ ok: false, error: { code: "CANCELLED" } });
    expect(texts()).toEqual({ a: OLD, [name]: NEW });
    vi.restoreAllMocks();
  }
});

test("a list that was begun and has to be made by steps is taken back and planned again", async () => {
  const made = place();
  const error = new FilewrightError("UNSUPPORTED_OPERATION", "kept", { details: { reason: "aside" } });
  const commit: CommitRecorded = async ([first]) => {
    const { path, bytes: content } = first as ListedPut;
    return { steps: [await made.disk.writeBytes(path, content)], end: { at: 1, error } };
  };
  provideShortcuts(made.disk, { recordedList: () => commit });
  const about = { callId: newCallId(), tool: "apply_patch", rollback: "always" } as const;
  const was = (await made.disk.read(made.at("a"))) as VersionedBytes;
  const list = listedChanges([putOf(made.at("a"), NEW, was), putOf(made.at("new"), NEW, null)]);
  const write = async (_: Files, own?: CommitList) => makeList(own as CommitList);
  const change = made.log.append(made.disk, about, write, { list, found: async () => undefined });
  await expect(change).rejects.toMatchObject({ code: "CONFLICT", details: { reason: "steps" } });
  expect([fs.readdirSync(made.root), made.text("a"), await made.left()]).toEqual([["a"], OLD, []]);
});

test("a patch of a file with the set-user-id bit can be undone", async () => {
  const { ws, at, texts } = await workspaceOf({ a: OLD });
  fs.chmodSync(at("a"), 0o4755);
  expect(await ws.call("apply_patch", { patch: patchOf("a") })).toMatchObject({ ok: true });
  const [record] = await ws.history();
  await ws.undo(record?.callId ?? "");
  expect(texts()).toEqual({ a: OLD });
});
