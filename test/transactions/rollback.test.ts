/** A change that fails is rolled back, step by step, without touching what another program has written meanwhile. */
import type { Files } from "../../js/backends/files.ts";
import * as fs from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { copyEntry, moveEntry } from "../../js/backends/fallback/fallback-tree.ts";
import type { MkdirOptions, WriteOptions } from "../../js/backends/backend.ts";
import { Transaction, transact } from "../../js/backends/transaction/transaction.ts";
import {
  FilewrightError,
  LocalBackend,
  MemoryBackend,
  NodeBackend,
  openWorkspace,
} from "../../js/index.node.ts";
import { makeRecordLog, newCallId } from "../../js/log/index.ts";
import { between, makePlace, PLACE_KINDS, type StorageFixture } from "./places.ts";

const open: StorageFixture[] = [];
afterEach(() => {
  for (const place of open.splice(0)) place.close();
});

const SEED = {
  "a.txt": "a",
  "b.txt": "b",
  "over.txt": "over",
  "gone.txt": "gone",
  "tree/one": "1",
  "tree/deep/two": "2",
  "moved/in": "in",
};
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/** One change with every kind of step. */
async function everything(own: Files, root: string): Promise<void> {
  const at = (path: string): string => `${root}/${path}`;
  const { version } = (await own.lstat?.(at("a.txt"))) ?? {};
  await own.writeBytes(at("a.txt"), bytes("A"), version === undefined ? {} : { ifVersion: version });
  await own.writeBytes(at("new/deep/file"), bytes("made"), { ifAbsent: true, createDirs: true });
  await moveEntry(own, at("b.txt"), at("over.txt"), { overwrite: true });
  await moveEntry(own, at("moved"), at("new/moved"));
  await own.delete(at("gone.txt"));
  await own.copyFile(at("tree/one"), at("copy.txt"));
  await own.copyFile(at("tree/one"), at("a.txt"), { overwrite: true });
  await copyEntry(own, at("tree"), at("copied"));
  await own.removeTree(at("tree"));
  await own.mkdir(at("empty/dir"));
}

const ABOUT = { tool: "batch", rollback: "always" } as const;

const FAILURES = { before: "NO_SPACE", after: "IO_ERROR", "after, as TIMEOUT": "TIMEOUT" } as const;

/** A change that was attempted. */
interface Attempt {
  readonly error: FilewrightError | undefined;
  /** The number of changing operations; for a change that failed with those of its rollback. */
  readonly calls: number;
  /** Tries a rollback that has failed again. */
  retry(): Promise<void>;
}

/** Runs the change on a place; the `failing`-th operation fails, before or after it was made. */
async function attempt(
  place: StorageFixture,
  failing: number | readonly number[],
  when: "before" | "after" | "after, as TIMEOUT",
  foreign?: { readonly after: number; readonly path: string },
): Promise<Attempt> {
  let calls = 0;
  let isFailed = false;
  const left = new Set([failing].flat());
  const fail = (call: number, moment: string): void => {
    if (!when.startsWith(moment) || !left.delete(call)) return;
    isFailed = true;
    throw new FilewrightError(FAILURES[when], "as the test wants it");
  };
  const backend = between(place.backend, {
    before: (call) => fail(call, "before"),
    async after(call) {
      calls = Math.max(calls, call);
      if (!isFailed && foreign?.after === call) await place.foreign(foreign.path, "somebody else's");
      fail(call, "after");
    },
  });
  const { store, root: cwd } = place;
  const log = makeRecordLog({ store, cwd, keep: true, durable: false });
  const retry = async (): Promise<void> => {
    const { rollbacks } = log;
    await rollbacks.recover(
      backend,
      () => true,
      (_, action) => action(),
    );
  };
  try {
    const { result } = await log.append(backend, { ...ABOUT, callId: newCallId() }, async (own) => {
      await everything(own, place.root);
      return calls;
    });
    return { error: undefined, calls: result, retry };
  } catch (error) {
    if (!(error instanceof FilewrightError)) throw error;
    return { error, calls, retry };
  }
}

describe.each(PLACE_KINDS)("a change with every kind of step on %s", (kind) => {
  const seeded = async (): Promise<StorageFixture> => {
    const place = await makePlace(kind, SEED);
    open.push(place);
    return place;
  };

  test("leaves nothing aside when it succeeds", async () => {
    const place = await seeded();
    expect((await attempt(place, Number.POSITIVE_INFINITY, "before")).error).toBe(undefined);
    expect(await place.tree()).toMatchObject({ "a.txt": "1", "over.txt": "b", "copied/deep/two": "2" });
    expect(Object.keys(await place.tree()).filter((path) => path.includes(".filewright"))).toEqual([]);
  });

  test.each(Object.keys(FAILURES) as (keyof typeof FAILURES)[])(
    "is rolled back completely when any operation fails (%s it was made)",
    async (when) => {
      const { calls } = await attempt(await seeded(), Number.POSITIVE_INFINITY, when);
      expect(calls).toBeGreaterThan(9);
      for (let failing = 1; failing <= calls; failing++) {
        const place = await seeded();
        const before = await place.tree();
        const { error } = await attempt(place, failing, when);
        expect(await place.tree(), `operation ${failing}`).toEqual(before);
        expect(error?.details?.["rolled_back"], `operation ${failing}`).not.toBe(false);
        place.close();
      }
    },
  );

  test.each(["before", "after"] as const)(
    "is rolled back completely by another attempt when any operation of its rollback fails (%s it was made)",
    async (when) => {
      const { calls: last } = await attempt(await seeded(), Number.POSITIVE_INFINITY, when);
      const { calls } = await attempt(await seeded(), last, when);
      expect(calls).toBeGreaterThan(last);
      for (let failing = last + 1; failing <= calls; failing++) {
        const place = await seeded();
        const before = await place.tree();
        const { retry } = await attempt(place, [last, failing], when);
        await retry();
        expect(await place.tree(), `operation ${failing}`).toEqual(before);
        place.close();
      }
    },
  );

  test.each(["a.txt", "new/deep/file", "over.txt", "gone.txt", "copy.txt", "copied/deep/two"])(
    "leaves what somebody else writes to %s between the steps",
    async (path) => {
      const { calls } = await attempt(await seeded(), Number.POSITIVE_INFINITY, "before");
      for (let after = 1; after < calls; after++) {
        const place = await seeded();
        await attempt(place, calls, "before", { after, path });
        const found = Object.values(await place.tree());
        expect(found, `after operation ${after}`).toContain("somebody else's");
        place.close();
      }
    },
  );
});

describe("a file that another process has committed", () => {
  /** Two workspaces on one storage that has no lock of its own. */
  async function shared(files: Readonly<Record<string, string>>, around: Parameters<typeof between>[1]) {
    const memory = new MemoryBackend(
      Object.fromEntries(Object.entries(files).map(([path, content]) => [`/ws/${path}`, content])),
    );
    await memory.mkdir("/ws");
    const ws = await openWorkspace({ backend: between(memory, around), root: "/ws" });
    return { memory, ws };
  }
  const patch = (name: string, from: string, to: string): string =>
    `--- a/${name}\n+++ b/${name}\n@@ -1 +1 @@\n-${from}\n+${to}\n`;
  const added = (name: string, content: string): string =>
    `--- /dev/null\n+++ b/${name}\n@@ -0,0 +1 @@\n+${content}\n`;

  test.each([
    ["old", "before"],
    ["old", "after"],
    ["new", "before"],
    ["new", "after"],
  ] as const)(
    "stays when a patch is refused, though its bytes are those of the patch (%s file, %s our write)",
    async (which, when) => {
      // Once, at our own write: a rollback that writes there must not be written over in turn.
      let isDone = false;
      const { memory, ws } = await shared(
        { old: "one\n", last: "x\n" },
        {
          async [when](_call: number, name: string, args: readonly unknown[]) {
            const path = String(args[0]);
            if (name !== "writeBytes") return;
            if (path === `/ws/${which}` && !isDone) {
              isDone = true;
              await memory.writeText(path, which === "new" ? "made\n" : "two\n");
            }
            if (path === "/ws/last") throw new FilewrightError("NO_SPACE", "full");
          },
        },
      );
      const own = which === "new" ? added("new", "made") : patch("old", "one", "two");
      const result = await ws.call("apply_patch", { patch: own + patch("last", "x", "y") });
      expect(result.ok).toBe(false);
      expect(await memory.readText(`/ws/${which}`)).toBe(which === "new" ? "made\n" : "two\n");
    },
  );

  test("stays when a batch is refused, though its bytes are those of the batch", async () => {
    const { memory, ws } = await shared(
      { old: "one" },
      {
        async before(_call: number, name: string, args: readonly unknown[]) {
          if (name !== "writeBytes") return;
          if (args[0] === "/ws/new" && !(await memory.exists("/ws/new")))
            await memory.writeText("/ws/new", "same");
          if (args[0] === "/ws/end") throw new FilewrightError("NO_SPACE", "full");
        },
      },
    );
    const result = await ws.call("batch", {
      operations: [
        { tool: "write_file", args: { path: "old", content: "two" } },
        { tool: "write_file", args: { path: "new", content: "same", overwrite: false } },
        { tool: "write_file", args: { path: "end", content: "end" } },
      ],
    });
    expect(result.ok).toBe(false);
    expect(await memory.readText("/ws/new")).toBe("same");
    expect(await memory.readText("/ws/old")).toBe("one");
  });

  test("stays when it replaces a file of a patch whose later file fails", async () => {
    const { memory, ws } = await shared(
      {},
      {
        async before(_call: number, name: string, args: readonly unknown[]) {
          if (name !== "writeBytes" || args[0] !== "/ws/n2") return;
          await memory.delete("/ws/n1");
          await memory.writeText("/ws/n1", "theirs");
          throw new FilewrightError("NO_SPACE", "full");
        },
      },
    );
    const result = await ws.call("apply_patch", { patch: added("n1", "ours") + added("n2", "ours") });
    expect(result.error?.details).toMatchObject({ rolled_back: false });
    expect(await memory.readText("/ws/n1")).toBe("theirs");
  });

  test.each(["file", "directory"])(
    "stays when a copy finds it at its target on a backend of eleven methods (%s)",
    async (kind) => {
      const place = await makePlace("minimal", kind === "file" ? { source: "ours" } : { "source/f": "ours" });
      const theirs = kind === "file" ? "target" : "target/theirs";
      const last = kind === "file" ? "readBytes source" : "mkdir target";
      let [calls, acting] = [0, Number.POSITIVE_INFINITY];
      const meanwhile = async (call: string): Promise<void> => {
        if (call !== last && call !== last.replace("target", "other")) return;
        calls += 1;
        if (calls === acting) await place.foreign(theirs, "theirs");
      };
      const backend = new Proxy(place.backend, {
        get: (target, name) => {
          const method = Reflect.get(target, name) as unknown;
          if (typeof method !== "function") return method;
          return (...args: unknown[]) => {
            if (name !== "readBytes" && name !== "mkdir") return method.apply(target, args);
            const path = String(args[0]).slice(place.root.length + 1);
            return meanwhile(`${name} ${path}`).then(() => method.apply(target, args));
          };
        },
      });
      const ws = await openWorkspace({ backend, root: place.root });
      expect((await ws.call("copy", { source: "source", destination: "other" })).ok).toBe(true);
      // At the last such call of a copy: the target was looked for, and is not made yet.
      [calls, acting] = [0, calls];
      const result = await ws.call("copy", { source: "source", destination: "target" });
      expect(calls).toBeGreaterThanOrEqual(acting);
      expect(result.ok).toBe(false);
      expect(await place.tree()).toMatchObject({ [theirs]: "theirs" });
    },
  );

  test("a deletion that meets another version than the one it was planned on is planned again or refused", async () => {
    const { memory, ws } = await shared(
      { a: "one\n", b: "b\n" },
      {
        async before(_call: number, name: string, args: readonly unknown[]) {
          if (name === "delete" && args[0] === "/ws/a" && (await memory.readText("/ws/a")) === "one\n")
            await memory.writeText("/ws/a", "newer\n");
        },
      },
    );
    const text = `${patch("b", "b", "c")}--- a/a\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n`;
    const result = await ws.call("apply_patch", { patch: text });
    expect(result.ok, result.text).toBe(false);
    expect([await memory.readText("/ws/a"), await memory.readText("/ws/b")]).toEqual(["newer\n", "b\n"]);
  });
});

describe("a deletion by itself", () => {
  test("removes no content that was written right before it", async () => {
    const memory = new MemoryBackend({ "/ws/a": "one" });
    const backend = between(memory, {
      async before(_call, name, args) {
        if (name === "delete" && args[0] === "/ws/a") await memory.writeText("/ws/a", "newer");
      },
    });
    const ws = await openWorkspace({ backend, root: "/ws", guard: true });
    expect((await ws.call("read_file", { path: "a" })).ok).toBe(true);
    const { error, text } = await ws.call("delete", { path: "a" });
    expect(error, text).toMatchObject({ code: "CONFLICT", details: { reason: "changed_since_read" } });
    expect(await memory.readText("/ws/a")).toBe("newer");
  });
});

describe("a rollback on the disk", () => {
  const failing = {
    operations: [
      { tool: "write_file", args: { path: "h1", content: "new" } },
      { tool: "delete", args: { path: "gone" } },
      { tool: "delete", args: { path: "tree", recursive: true } },
      { tool: "move", args: { source: "from", destination: "over", overwrite: true } },
      { tool: "write_file", args: { path: "end", content: "end" } },
    ],
  };

  async function place() {
    const made = await makePlace("local", {
      h1: "linked",
      gone: "gone",
      "tree/deep/f": "f",
      from: "from",
      over: "over",
      x: "x",
    });
    open.push(made);
    return { ...made, at: (path: string) => join(made.root, path) };
  }

  /** A hook that makes something happen in the middle of a batch: before the file `end` is written. */
  async function failed({ root, store }: StorageFixture, act: () => void): Promise<FilewrightError> {
    const disk = new LocalBackend();
    const log = makeRecordLog({ store, cwd: root, keep: true, durable: false });
    const at = (path: string): string => join(root, path);
    try {
      await log.append(disk, { ...ABOUT, callId: newCallId() }, async (own) => {
        await own.writeBytes(at("h1"), bytes("new"));
        await own.delete(at("gone"));
        await own.removeTree(at("tree"));
        await moveEntry(own, at("from"), at("over"), { overwrite: true });
        act();
        throw new FilewrightError("NO_SPACE", "full");
      });
    } catch (error) {
      return error as FilewrightError;
    }
    throw new Error("the change did not fail");
  }

  test("keeps owner, times, attributes and other names of what it puts back", async () => {
    const made = await place();
    const { root, at } = made;
    fs.linkSync(at("h1"), at("h2"));
    const isRoot = process.getuid?.() === 0;
    for (const path of ["h1", "gone", "tree/deep/f", "over", "from"]) {
      if (isRoot) fs.chownSync(at(path), 1234, 1234);
      fs.utimesSync(at(path), 1_000_000, 2_000_000);
      fs.chmodSync(at(path), 0o640);
    }
    const facts = () =>
      ["h1", "h2", "gone", "tree", "tree/deep/f", "over", "from"].map((path) => {
        const { ino, uid, gid, mode, nlink, mtimeNs } = fs.statSync(at(path), { bigint: true });
        return [path, ino, uid, gid, mode, nlink, path === "tree" ? 0 : mtimeNs];
      });
    const before = facts();
    const error = await failed(made, () => undefined);
    expect(error.details).toBe(undefined);
    expect(facts()).toEqual(before);
    expect(fs.readdirSync(root).filter((name) => name.startsWith(".filewright"))).toEqual([]);
    expect(failing.operations.length).toBeGreaterThan(0);
  });

  test("does not write through a directory that has become a link", async () => {
    const { root, store, at } = await place();
    fs.mkdirSync(at("d"));
    fs.mkdirSync(at("e"));
    fs.writeFileSync(at("d/x"), "old");
    fs.writeFileSync(at("e/x"), "new");
    const disk = new LocalBackend();
    const log = makeRecordLog({ store, cwd: root, keep: true, durable: false });
    const change = log.append(disk, { ...ABOUT, callId: newCallId() }, async (own) => {
      await own.writeBytes(at("d/x"), bytes("new"));
      await own.delete(at("gone"));
      fs.renameSync(at("d"), at("away"));
      fs.symlinkSync("e", at("d"));
      throw new FilewrightError("NO_SPACE", "full");
    });
    await expect(change).rejects.toMatchObject({
      details: { rolled_back: false, not_restored: [at("d/x")] },
    });
    expect([fs.readFileSync(at("e/x"), "utf8"), fs.readFileSync(at("gone"), "utf8")]).toEqual([
      "new",
      "gone",
    ]);
  });
});

describe.each([
  ["the addon", () => new LocalBackend()],
  ["no addon", () => new NodeBackend()],
] as const)("a rollback on the disk with %s", (_name, makeDisk) => {
  const MODES = { written: 0o600, twice: 0o755, copied: 0o640, edited: 0o444, made: 0o700 };

  test("keeps the permission bits that another process has set meanwhile", async () => {
    const made = await makePlace("local", {
      written: "written",
      twice: "twice",
      copied: "copied",
      edited: "edited",
      untouched: "untouched",
      source: "source",
    });
    open.push(made);
    const { root, store } = made;
    const at = (path: string): string => join(root, path);
    fs.chmodSync(at("untouched"), 0o751);
    const before = await made.tree();
    const log = makeRecordLog({ store, cwd: root, keep: true, durable: false });
    const change = log.append(makeDisk(), { ...ABOUT, callId: newCallId() }, async (own) => {
      await own.writeBytes(at("written"), bytes("new"));
      await own.writeBytes(at("twice"), bytes("new"));
      await own.writeBytes(at("twice"), bytes("newer"));
      await own.copyFile(at("source"), at("copied"), { overwrite: true });
      await own.writeBytes(at("edited"), bytes("new"));
      await own.writeBytes(at("untouched"), bytes("new"));
      await own.writeBytes(at("made"), bytes("new"));
      for (const [path, mode] of Object.entries(MODES)) fs.chmodSync(at(path), mode);
      throw new FilewrightError("NO_SPACE", "full");
    });
    const error = await change.catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "NO_SPACE" });
    expect((error as FilewrightError).details?.["not_restored"]).toBe(undefined);
    expect(await made.tree()).toEqual(before);
    const { made: _made, ...kept } = MODES;
    for (const [path, mode] of Object.entries({ ...kept, untouched: 0o751 }))
      expect([path, fs.statSync(at(path)).mode & 0o777]).toEqual([path, mode]);
  });

  test("leaves a file whose bits it had set itself and another process has set again", async () => {
    const made = await makePlace("local", { a: "a", b: "b" });
    open.push(made);
    const { root, store } = made;
    const [a, b] = [join(root, "a"), join(root, "b")];
    const log = makeRecordLog({ store, cwd: root, keep: true, durable: false });
    const change = log.append(makeDisk(), { ...ABOUT, callId: newCallId() }, async (own) => {
      await own.chmod?.(a, 0o755);
      await own.writeBytes(b, bytes("new"));
      fs.chmodSync(a, 0o700);
      throw new FilewrightError("NO_SPACE", "full");
    });
    await expect(change).rejects.toMatchObject({ details: { rolled_back: false, not_restored: [a] } });
    expect([fs.statSync(a).mode & 0o777, fs.readFileSync(b, "utf8")]).toEqual([0o700, "b"]);
  });
});

test("an entry set aside that cannot be renamed for a while stays until another attempt", async () => {
  const made = await makePlace("local", { a: "a" });
  open.push(made);
  const path = join(made.root, "a");
  let isRefusing = true;
  const disk = between(made.backend, {
    before(_call, name) {
      if (name === "rename" && isRefusing) throw new FilewrightError("UNSUPPORTED_OPERATION", "another disk");
    },
  });
  const limits = { required: true, contents: false, maxBytes: 100, maxSteps: 10 };
  const transaction = new Transaction(disk, limits);
  await transaction.backend.writeBytes(path, bytes("new"));
  expect((await transaction.rollBack()).failed).toEqual([path]);
  isRefusing = false;
  expect((await transaction.rollBack()).failed).toEqual([]);
  expect(await made.tree()).toEqual({ a: "a" });
});

test("directories that a change without a record makes have the durability of their backend", async () => {
  const asked: unknown[] = [];
  class Noting extends MemoryBackend {
    override async mkdir(path: string, options: MkdirOptions = {}): Promise<void> {
      asked.push(options.durability);
      await super.mkdir(path, options);
    }
  }
  const disk = new Noting({ "/w/a": "a" });
  await transact(disk, (own) => Promise.resolve(own.mkdir("/w/b", { parents: true })));
  expect(asked).toEqual([undefined]);
});

test("an operation that is repeated because nothing can be set aside is counted once", async () => {
  class Unable extends MemoryBackend {
    override asidePath(path: string): string {
      return `${path}.aside`;
    }
    override async writeBytes(path: string, content: Uint8Array, options: WriteOptions = {}) {
      if (options.aside === undefined) return super.writeBytes(path, content, options);
      const details = { reason: "aside" };
      throw new FilewrightError("UNSUPPORTED_OPERATION", "it cannot be set aside", { path, details });
    }
  }
  const disk = new Unable({ "/w/a": "1234" });
  const limits = { required: true, contents: true, maxBytes: 6, maxSteps: 10 };
  const transaction = new Transaction(disk, limits);
  await transaction.backend.writeBytes("/w/a", bytes("new"));
  expect([await disk.readText("/w/a"), transaction.steps.length]).toEqual(["new", 1]);
  await transaction.rollBack();
  expect(await disk.readText("/w/a")).toBe("1234");
});
