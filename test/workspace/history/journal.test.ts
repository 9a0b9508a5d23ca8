/** The journal in files: interrupted changes of a process, and records forged by an attacker. */
import { createHash, createHmac } from "node:crypto";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openWorkspace, type Workspace } from "../../../js/index.node.ts";
import { Transaction } from "../../../js/backends/transaction/transaction.ts";
import { FileJournal } from "../../../js/log/store.node.ts";
import { makeRecordLog, newCallId } from "../../../js/log/index.ts";

let base: string;
let root: string;
let stateDir: string;
const open: Workspace[] = [];
beforeEach(() => {
  base = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), "filewright-journal-")));
  [root, stateDir] = [join(base, "ws"), join(base, "state")];
  fs.mkdirSync(root);
  fs.writeFileSync(join(root, "a"), "old");
});
afterEach(async () => {
  for (const ws of open.splice(0)) await ws.close();
  fs.rmSync(base, { recursive: true, force: true });
});

async function workspace(options: { readonly root?: string } = {}): Promise<Workspace> {
  const ws = await openWorkspace({ root, stateDir, ...options });
  open.push(ws);
  return ws;
}

const content = (path: string): string => fs.readFileSync(join(root, path), "utf8");
const inState = (...parts: string[]): string => join(stateDir, "journal", ...parts);

/** A change by a writer whose lock is free, ended before its commit. */
async function cut(change: (fs: Workspace["fs"]) => Promise<unknown>): Promise<string> {
  const { fs: disk } = await workspace();
  // Locks that are always free: this writer counts as dead at once.
  const store = new FileJournal(stateDir, () => ({ release: () => undefined }));
  const log = store.begin(newCallId());
  const header = { callId: newCallId(), tool: "batch", time: Date.now(), cwd: root, atomic: true } as const;
  log.append({ entry: "begin", header }, false);
  const transaction = new Transaction(disk, {
    required: true,
    contents: true,
    maxBytes: 1e6,
    maxSteps: 100,
    sink: (steps, notes) => log.append({ entry: "steps", steps, notes }, false),
  });
  await change(transaction.backend);
  return inState("open", fs.readdirSync(inState("open"))[0] as string);
}

test("a history that cannot be listed is an error, and not an empty one", async () => {
  const ws = await workspace();
  await ws.mark("before");
  expect((await ws.call("write_file", { path: "a", content: "new" })).ok).toBe(true);
  expect(await ws.history()).toHaveLength(1);
  const [group] = fs.readdirSync(inState("done"));
  const done = inState("done", group as string);
  fs.renameSync(done, inState("away"));
  fs.symlinkSync(done, done);
  await expect(ws.history()).rejects.toMatchObject({ code: "IO_ERROR" });
  await expect(ws.rewind("before")).rejects.toMatchObject({ code: "IO_ERROR" });
  expect(content("a")).toBe("new");
});

test("what was cut is taken back by the next to open", async () => {
  const path = await cut(async (disk) => {
    await disk.writeText(join(root, "a"), "new");
    await disk.writeText(join(root, "b/c"), "made", { createDirs: true });
  });
  expect([content("a"), content("b/c")]).toEqual(["new", "made"]);
  const ws = await workspace();
  expect(ws.capabilities().recovery).toEqual({ rolledBack: 1, ignored: 0, damaged: 0, conflicts: [] });
  expect([content("a"), fs.readdirSync(root)]).toEqual(["old", ["a"]]);
  expect(fs.existsSync(path)).toBe(false);
});

test("a file that a person changed after the interruption stays, and is reported", async () => {
  await cut(async (disk) => {
    await disk.writeText(join(root, "a"), "new");
    await disk.writeText(join(root, "b"), "made");
  });
  fs.writeFileSync(join(root, "a"), "theirs");
  expect((await workspace()).capabilities().recovery).toEqual({
    rolledBack: 1,
    ignored: 0,
    damaged: 0,
    conflicts: [join(root, "a")],
  });
  expect([content("a"), fs.readdirSync(root)]).toEqual(["theirs", ["a"]]);
});

test("a workspace that may not write there leaves it to one that may", async () => {
  await cut((disk) => disk.writeText(join(root, "a"), "new") as Promise<unknown>);
  fs.mkdirSync(join(base, "other"));
  expect((await workspace({ root: join(base, "other") })).capabilities().recovery.rolledBack).toBe(0);
  expect(content("a")).toBe("new");
  expect((await workspace()).capabilities().recovery.rolledBack).toBe(1);
  expect(content("a")).toBe("old");
});

test("a record of a living process is not touched", async () => {
  const ws = await workspace();

  const log = makeRecordLog({
    store: new FileJournal(stateDir, () => null), // Another process holds every lock.
    cwd: root,
    keep: true,
    durable: false,
  });
  await ws.writeFile({ path: "b", content: "x" });
  fs.writeFileSync(inState("open", "0123456789abcdef.00000000-00"), "");
  const seen = await log.rollbacks.recover(
    ws.fs,
    () => true,
    (_paths, action) => action(),
  );
  expect(seen).toEqual({ rolledBack: 0, ignored: 0, damaged: 0, conflicts: [] });
});

describe("a record that we did not write touches nothing", () => {
  /** A record as an attacker would make it: right in form, with a key of their own. */
  function forged(key: Buffer): Buffer {
    const id = "00000000-00";
    let previous: Buffer = Buffer.alloc(32);
    const parts: Buffer[] = [];
    for (const entry of [
      { entry: "begin", header: { callId: id, tool: "batch", time: 0, cwd: root, atomic: true } },
      {
        entry: "steps",
        steps: [
          {
            id: 0,
            kind: "write",
            path: join(root, "a"),
            before: { type: "file", size: 4, bytes: [0, 4] },
            after: {
              type: "file",
              size: 3,
              hash: `sha256:${createHash("sha256").update("old").digest("hex")}`,
            },
          },
        ],
      },
    ]) {
      const blob = Buffer.from(entry.entry === "steps" ? "evil" : "");
      const text = Buffer.from(JSON.stringify(entry));
      const facts = Buffer.alloc(40);
      facts.writeUInt32LE(text.length, 0);
      facts.writeUInt32LE(blob.length, 4);
      createHash("sha256").update(blob).digest().copy(facts, 8);
      const padded = Buffer.alloc(64, 0x36);
      for (const [at, byte] of key.entries()) padded[at] = byte ^ 0x36;
      const own = createHash("sha256").update(padded).update(previous).update(`${id}\nhead\n`).update(facts);
      const head = Buffer.concat([facts, own.digest().subarray(0, 8)]);
      previous = createHmac("sha256", key)
        .update(previous)
        .update(`${id}\n`)
        .update(head)
        .update(text)
        .digest();
      parts.push(head, text, blob, previous);
    }
    return Buffer.concat(parts);
  }
  const plant = (bytes: Buffer): void => {
    fs.writeFileSync(inState("open", "0123456789abcdef.00000000-00"), bytes);
  };

  test("the forgery is one: under our own key it would be believed", async () => {
    await (await workspace()).writeFile({ path: "b", content: "x" });
    plant(forged(fs.readFileSync(inState("key"))));
    expect((await workspace()).capabilities().recovery).toMatchObject({ rolledBack: 1, ignored: 0 });
    expect(content("a")).toBe("evil");
  });

  test.each<[string, (real: Buffer) => Buffer]>([
    ["another key", () => forged(Buffer.alloc(32, 7))],
    ["an altered content", (real) => Buffer.from(real.toString("latin1").replace("evil", "eviL"), "latin1")],
    [
      "an altered step",
      (real) => Buffer.from(real.toString("latin1").replace('size":4', 'size":5'), "latin1"),
    ],
    ["noise", () => Buffer.alloc(5000, 0x41)],
  ])("%s", async (_name, make) => {
    await (await workspace()).writeFile({ path: "b", content: "x" });
    plant(make(forged(fs.readFileSync(inState("key")))));
    const { recovery } = (await workspace()).capabilities();
    expect(recovery.rolledBack).toBe(0);
    expect(content("a")).toBe("old");
  });

  test("a genuine record under the name of another call", async () => {
    const ws = await workspace();
    await ws.writeFile({ path: "a", content: "new" });
    const [entry] = await ws.history();
    const group = fs.readdirSync(inState("done"))[0] as string;
    fs.copyFileSync(inState("done", group, entry?.callId as string), inState("done", group, "00000000-00"));
    await expect(ws.undo("00000000-00")).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect(content("a")).toBe("new");
  });

  test("a link to a record is not followed", async () => {
    await (await workspace()).writeFile({ path: "b", content: "x" });
    fs.writeFileSync(join(base, "planted"), forged(fs.readFileSync(inState("key"))));
    fs.symlinkSync(join(base, "planted"), inState("open", "0123456789abcdef.00000000-00"));
    expect((await workspace()).capabilities().recovery).toMatchObject({ rolledBack: 0, ignored: 1 });
    expect(content("a")).toBe("old");
  });

  test("a genuine record that leads where this policy does not allow", async () => {
    fs.writeFileSync(join(base, "outside"), "old");
    const wide = await openWorkspace({ root: base, stateDir, access: { deny: ["state"] } });
    open.push(wide);
    await wide.writeFile({ path: "outside", content: "new" });
    const ws = await workspace();
    expect(await ws.history()).toEqual([]);
    const [entry] = await wide.history();
    await expect(ws.undo(entry?.callId as string)).rejects.toMatchObject({ code: "NOT_FOUND" });
  });
});

test("the key and the records are ours alone, and a key that others may read is refused", async () => {
  await (await workspace()).writeFile({ path: "b", content: "x" });
  expect(fs.statSync(inState("key")).mode & 0o777).toBe(0o600);
  expect(fs.statSync(inState()).mode & 0o777).toBe(0o700);
  fs.chmodSync(inState("key"), 0o644);
  const store = new FileJournal(stateDir, () => ({ release: () => undefined }));
  expect(() => store.begin("x")).toThrow(/ours alone/u);
});

test("history is shared by the workspaces of one state directory", async () => {
  const [one, two] = [await workspace(), await workspace()];
  await one.writeFile({ path: "a", content: "new" });
  const [entry] = await two.history();
  expect(entry).toMatchObject({ tool: "write_file", paths: ["a"] });
  await two.undo(entry?.callId as string);
  expect(content("a")).toBe("old");
});

test("a record that is altered after it was listed is listed no more, until it is as it was", async () => {
  const ws = await workspace();
  await ws.writeFile({ path: "a", content: "new" });
  const listed = async (): Promise<readonly string[]> => (await ws.history()).map(({ callId }) => callId);
  const [callId = ""] = await listed();
  const record = (): string => inState("done", fs.readdirSync(inState("done"))[0] as string, callId);
  const real = fs.readFileSync(record());
  const seconds = Math.floor(Date.now() / 1000);
  const alter = (bytes: Buffer): void => {
    fs.writeFileSync(record(), bytes);
    fs.utimesSync(record(), seconds, seconds);
  };
  alter(real);
  /** Lists until the record is old enough to stay decoded, and once more from what was decoded. */
  const listSettled = async (): Promise<readonly string[]> => {
    while (Date.now() - fs.statSync(record()).ctimeMs <= 40) await listed();
    await listed();
    return listed();
  };
  expect(await listSettled()).toEqual([callId]);
  alter(Buffer.from(real.toString("latin1").replace('"write_file"', '"write_filE"'), "latin1"));
  expect(await listed()).toEqual([]);
  expect(await listSettled()).toEqual([]);
  alter(real);
  expect(await listed()).toEqual([callId]);
  expect(await listSettled()).toEqual([callId]);
  fs.rmSync(record());
  expect(await listed()).toEqual([]);
});

test("our own state is out of bounds where it lies below a root", async () => {
  const ws = await openWorkspace({ root: base, stateDir });
  open.push(ws);
  await ws.writeFile({ path: "ws/a", content: "new" });
  const refusals: string[] = [];
  for (const [tool, args] of [
    ["read_file", { path: "state/journal/key" }],
    ["write_file", { path: "state/journal/open/x", content: "" }],
    ["list_directory", { path: "state" }],
    ["delete", { path: "state", recursive: true }],
    ["move", { source: "state", destination: "elsewhere" }],
  ] as const) {
    const result = await ws.call(tool, args);
    refusals.push(result.ok ? `${tool} worked` : result.error.code);
  }
  expect(refusals).toEqual(new Array(5).fill("OUTSIDE_ALLOWED"));
  expect((await ws.call("glob", { pattern: "**", hidden: true })).data).toMatchObject({ matches: ["ws/a"] });
  await ws.undo((await ws.history())[0]?.callId as string);
  expect(content("a")).toBe("old");
});

test("git hooks and configuration are protected unless the host says otherwise", async () => {
  const write = { path: ".git/hooks/pre-commit", content: "x" };
  expect(await (await workspace()).call("write_file", write)).toMatchObject({
    ok: false,
    error: { code: "PROTECTED_PATH" },
  });
  const free = await openWorkspace({ root, stateDir, access: { protect: false } });
  open.push(free);
  expect((await free.call("write_file", write)).ok).toBe(true);
});

test("a change whose recorded contents are damaged cannot be undone, and says so", async () => {
  const ws = await workspace();
  fs.writeFileSync(join(root, "a"), "the old content");
  await ws.writeFile({ path: "a", content: "new", whole_file: true });
  const [{ callId } = { callId: "" }] = await ws.history();
  const [group = ""] = fs.readdirSync(inState("done"));
  const record = inState("done", group, callId);
  const bytes = fs.readFileSync(record);
  bytes[bytes.indexOf("the old content")] = 0x54;
  fs.writeFileSync(record, bytes);
  for (const way of ["undo", "changes", "rewind"] as const)
    await expect(ws[way](callId)).rejects.toMatchObject({ code: "UNSUPPORTED_OPERATION" });
  expect(content("a")).toBe("new");
});
