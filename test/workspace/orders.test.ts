/**
 * The orders within a call that protect people. Each test records what the call does, in its order: what it reads, when
 * it asks, when it holds a lock.
 */
import { describe, expect, test } from "vitest";
import { MemoryBackend, openWorkspace, type WorkspaceOptions } from "../../js/index.node.ts";
import { memoryStorage, type Storage } from "../../js/storage/index.ts";
import { afterThisTest } from "../support/cleanups.ts";

/** Methods that give content, names in a directory, or a hash of content. */
const READS = /^(?:read(?!Link)|list|glob|grep|search|find|hash|page|open|diff|walk)/u;

/** Returns an object whose methods note their names and first arguments in a log. Members of `own` replace others. */
function recorded<T extends object>(inner: T, log: string[], own: Partial<T> = {}): T {
  return new Proxy(inner, {
    get(target, name) {
      if (Object.hasOwn(own, name)) return own[name as keyof T];
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== "function" || typeof name !== "string") return member;
      return (...args: readonly unknown[]): unknown => {
        log.push(`${name} ${String(args[0])}`);
        return Reflect.apply(member, target, args);
      };
    },
  });
}

/** Opens a workspace in memory whose storage and questions are recorded. */
async function opened(options: Omit<WorkspaceOptions, "root" | "backend">) {
  const log: string[] = [];
  const seed = { "/ws/f.txt": "one\ntwo\n", "/ws/g.txt": "other\n" };
  const memory = new MemoryBackend(seed);
  const ws = await openWorkspace({ guard: "off", ...options, root: "/ws", backend: recorded(memory, log) });
  afterThisTest(() => ws.close());
  log.length = 0;
  return {
    ws,
    log,
    memory,
    readsOf: (path: string) => log.filter((line) => READS.test(line) && line.includes(path)),
  };
}

type NamedCall = readonly [tool: string, args: object];

/** Calls that answer with the content of f.txt when the rules let them. */
const READING_CALLS: readonly NamedCall[] = [
  ["read_file", { path: "f.txt" }],
  ["read_many_files", { paths: ["f.txt"] }],
  ["diff", { a: "f.txt", b: "g.txt" }],
  ["grep", { pattern: "one", path: "f.txt" }],
];
/** Calls that change f.txt, and read it first. */
const CHANGING_CALLS: readonly NamedCall[] = [
  ["edit_file", { path: "f.txt", old_text: "two", new_text: "TWO" }],
  ["apply_patch", { patch: "*** Begin Patch\n*** Update File: f.txt\n@@\n-two\n+TWO\n*** End Patch\n" }],
  ["write_file", { path: "f.txt", content: "x\n" }],
];

const CALLS = [...READING_CALLS, ...CHANGING_CALLS];
const EDIT = { path: "f.txt", old_text: "two", new_text: "TWO" };

describe("nothing is read before the rules allow it", () => {
  test.each(CALLS)("%s reads its file when no rule is against it", async (tool, args) => {
    const { ws, readsOf } = await opened({});
    expect((await ws.call(tool, args)).ok).toBe(true);
    expect(readsOf("f.txt")).not.toEqual([]);
  });

  test.each(CALLS)("%s reads nothing of a file that a rule denies", async (tool, args) => {
    const { ws, readsOf } = await opened({ rules: [{ path: "f.txt", decision: "deny" }] });
    const { ok } = await ws.call(tool, args);
    // A call of many files goes on without the denied one.
    expect(ok).toBe(tool === "read_many_files");
    expect(readsOf("f.txt")).toEqual([]);
  });

  test.each(READING_CALLS)(
    "%s reads nothing of a file before the question about it is answered",
    async (tool, args) => {
      const readBefore: string[][] = [];
      const { ws, readsOf } = await opened({
        rules: [{ path: "f.txt", decision: "ask" }],
        confirm: async () => {
          readBefore.push(readsOf("f.txt"));
          return { outcome: "cancel" };
        },
      });
      await ws.call(tool, args);
      expect(readBefore).toEqual([[]]);
      expect(readsOf("f.txt")).toEqual([]);
    },
  );
});

describe("the guard refuses what was not read", () => {
  test.each(CHANGING_CALLS)("%s asks nobody when its file was not read", async (tool, args) => {
    const asked: string[] = [];
    const { ws, memory } = await opened({
      guard: "refuse",
      confirm: async ({ title }) => {
        asked.push(title);
        return { outcome: "proceed_once" };
      },
    });
    expect(await ws.call(tool, args)).toMatchObject({ error: { code: "CONFLICT" } });
    expect(asked).toEqual([]);
    expect(await memory.readText("/ws/f.txt")).toBe("one\ntwo\n");
  });

  test("a change that waited for a lock is compared with the content that came with it", async () => {
    let give = (): void => {};
    const given = new Promise<void>((resolve) => {
      give = resolve;
    });
    const locks: string[] = [];
    // Another program has the lock of the second call, and writes the file before it gives the lock back.
    class LockedBackend extends MemoryBackend {
      override readonly abilities = { ...new MemoryBackend().abilities, locks: true };
      override async lock(path: string) {
        locks.push(path);
        await given;
        await this.writeText("/ws/f.txt", "one\ntwo\nof a person\n");
        return { release: () => {} };
      }
    }
    const memory = new LockedBackend({ "/ws/f.txt": "one\ntwo\n" });
    const ws = await openWorkspace({ guard: "refuse", root: "/ws", backend: memory });
    afterThisTest(() => ws.close());
    await ws.call("read_file", { path: "f.txt" });
    const writing = ws.call("write_file", { path: "f.txt", content: "by the agent\n" });
    await expect.poll(() => locks).toEqual(["/ws/f.txt"]);
    give();
    expect(await writing).toMatchObject({
      error: { code: "CONFLICT", details: { reason: "changed_since_read" } },
    });
    expect(await memory.readText("/ws/f.txt")).toBe("one\ntwo\nof a person\n");
  });
});

test("a change that was approved is not planned again when its file has changed", async () => {
  const questions: string[] = [];
  const { ws, memory } = await opened({
    confirm: async ({ newContent }) => {
      questions.push(String(newContent));
      await memory.writeText("/ws/f.txt", "of a person\none\ntwo\n");
      return { outcome: "proceed_once" };
    },
  });
  expect(await ws.call("edit_file", EDIT)).toMatchObject({ error: { code: "CONFLICT" } });
  expect(questions).toEqual(["one\nTWO\n"]);
  expect(await memory.readText("/ws/f.txt")).toBe("of a person\none\ntwo\n");
});

test("a change of a contended file locks it before it reads", async () => {
  const log: string[] = [];
  const storage = memoryStorage();
  const put = (text: string) =>
    storage.commit([{ op: "put", path: "/ws/f.txt", body: new TextEncoder().encode(text) }]);
  await storage.commit([{ op: "mkdir", path: "/ws" }]);
  await put("one\ntwo\n");
  let meanwhile: (() => Promise<unknown>) | undefined;
  const replica = recorded<Storage>(storage, log, {
    commit: async (...args: Parameters<Storage["commit"]>) => {
      log.push("commit");
      await meanwhile?.();
      meanwhile = undefined;
      return storage.commit(...args);
    },
  });
  const ws = await openWorkspace({ guard: "off", root: "/ws", storage: replica });
  afterThisTest(() => ws.close());
  // Another replica writes between the read of a change and its commit, which makes the file contended.
  meanwhile = () => put("one\ntwo\nthree\n");
  expect((await ws.call("edit_file", EDIT)).ok).toBe(true);
  log.length = 0;
  expect((await ws.call("edit_file", { path: "f.txt", old_text: "one", new_text: "ONE" })).ok).toBe(true);
  expect(log.map((line) => line.split(" ", 1)[0])).toEqual(["lockAll", "commit"]);
});

test("a change of a contended file and another one locks both once the other has met a conflict, too", async () => {
  const log: string[] = [];
  const storage = memoryStorage();
  const put = (name: string, text: string) =>
    storage.commit([{ op: "put", path: `/ws/${name}`, body: new TextEncoder().encode(text) }]);
  await storage.commit([{ op: "mkdir", path: "/ws" }]);
  for (const name of ["f.txt", "g.txt"]) await put(name, "one\n");
  const meanwhile: (() => Promise<unknown>)[] = [];
  const replica = recorded<Storage>(storage, [], {
    lockAll: (...args: Parameters<NonNullable<Storage["lockAll"]>>) => {
      log.push(args[0].map(({ path }) => path).join(" "));
      return storage.lockAll(...args);
    },
    commit: async (...args: Parameters<Storage["commit"]>) => {
      await meanwhile.pop()?.();
      return storage.commit(...args);
    },
  });
  const ws = await openWorkspace({ guard: "off", root: "/ws", storage: replica });
  afterThisTest(() => ws.close());
  meanwhile.push(() => put("f.txt", "one\ntwo\n"));
  expect((await ws.call("edit_file", { path: "f.txt", old_text: "one", new_text: "1" })).ok).toBe(true);
  // By now only `f.txt` is contended; another replica writes the other file before the commit of the patch.
  log.length = 0;
  meanwhile.push(() => put("g.txt", "one\ntwo\n"));
  const patch =
    "*** Begin Patch\n*** Update File: f.txt\n@@\n-1\n+ONE\n*** Update File: g.txt\n@@\n-one\n+ONE\n*** End Patch";
  expect((await ws.call("apply_patch", { patch })).ok).toBe(true);
  expect(log).toEqual(["/ws/f.txt", "/ws/f.txt /ws/g.txt"]);
});
