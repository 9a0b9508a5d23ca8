/** What the host keeps for workspaces that share it, as replicas do: the journal, and the records. */
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { FilewrightError } from "../../js/engine/errors.ts";
import {
  type JournalStore,
  MemoryBackend,
  MemoryJournal,
  memoryRecords,
  type OpenRecord,
  openWorkspace,
  type RecordEntry,
  type Records,
  type StoredRecord,
  type Workspace,
  type WorkspaceEvent,
  type WorkspaceOptions,
} from "../../js/index.node.ts";
import { makeRecordLog } from "../../js/log/index.ts";
import { memoryStorage } from "../../js/storage/index.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const opened: Workspace[] = [];
afterEach(async () => {
  for (const ws of opened.splice(0)) await ws.close();
});
async function workspace(options: WorkspaceOptions): Promise<Workspace> {
  const ws = await openWorkspace({ root: "/ws", ...options });
  opened.push(ws);
  return ws;
}

/** A store whose methods answer later, as one over a network, and whose writers all count as dead. */
class RemoteJournal implements JournalStore {
  readonly #kept = new MemoryJournal();
  readonly #running = new Map<string, RecordEntry[]>();

  async begin(id: string): Promise<OpenRecord> {
    const record = this.#kept.begin(id);
    const entries: RecordEntry[] = [];
    this.#running.set(id, entries);
    return {
      append: async (entry, durable) => {
        await Promise.resolve();
        entries.push(structuredClone(entry));
        await record.append(entry, durable);
      },
      close: async (group) => {
        await record.close(group);
        this.#running.delete(id);
      },
    };
  }
  async unfinished(): Promise<readonly StoredRecord[]> {
    return [...this.#running].map(([id, entries]) => ({
      entries,
      damaged: false,
      close: () => void this.#running.delete(id),
      leave: () => undefined,
    }));
  }
  async history(group: string): Promise<readonly StoredRecord[]> {
    return this.#kept.history(group);
  }
  async find(group: string, id: string): Promise<StoredRecord | null> {
    return this.#kept.find(group, id);
  }
}

/** A journal that refuses to begin a record, or to close one. */
function failingJournal(fails: "begin" | "close"): JournalStore {
  const kept = new MemoryJournal();
  const fail = (): never => {
    throw new FilewrightError("IO_ERROR", "the store fails");
  };
  const begin = (id: string): OpenRecord => {
    const { append } = kept.begin(id);
    return { append, close: fail };
  };
  return Object.assign(new MemoryJournal(), { begin: fails === "begin" ? fail : begin });
}

describe("the journal of the host", () => {
  it.each(["begin", "close"] as const)(
    "a change is told as made, and leaves nothing aside, when `%s` fails after it was decided on",
    async (fails) => {
      const root = temporaryDirectory();
      mkdirSync(join(root, "tree"));
      writeFileSync(join(root, "tree/file"), "content");
      const ws = await workspace({ root, journal: failingJournal(fails) });
      const deleted = await ws.call("delete", { path: "tree", recursive: true });
      expect(deleted).toMatchObject({ ok: true, meta: { undoable: false } });
      expect(readdirSync(root)).toEqual([]);
      expect(await ws.history()).toEqual([]);
    },
  );

  it("one workspace undoes what another has changed", async () => {
    const [backend, journal] = [new MemoryBackend({ "/ws/a": "before\n" }), new RemoteJournal()];
    const first = await workspace({ backend, journal, backendId: "files" });
    expect(first.capabilities().journal).toBe("host");
    const changed = await first.call("write_file", { path: "a", content: "after\n", overwrite: true });
    expect(changed.ok).toBe(true);
    const second = await workspace({ backend, journal, backendId: "files" });
    const [last] = await second.history();
    await second.undo(last?.callId as string);
    expect(await backend.readText("/ws/a")).toBe("before\n");
  });

  it("what a dead process left unfinished is rolled back; a workspace of another storage leaves it", async () => {
    const [backend, journal] = [new MemoryBackend({ "/ws/a": "before" }), new RemoteJournal()];
    const cut = makeRecordLog({
      store: journal,
      cwd: "/ws",
      storage: "backend files",
      keep: true,
      durable: false,
    });
    await new Promise<void>((written) => {
      const about = { callId: "c1", tool: "batch", rollback: "always" } as const;
      void cut.append(backend, about, async (fs) => {
        await fs.writeBytes("/ws/a", new TextEncoder().encode("half"));
        written();
        return new Promise(() => undefined);
      });
    });
    expect(await backend.readText("/ws/a")).toBe("half");
    const other = await workspace({
      backend: new MemoryBackend({ "/ws/a": "half" }),
      journal,
      backendId: "others",
    });
    expect(other.recovery.rolledBack).toBe(0);
    const own = await workspace({ backend, journal, backendId: "files" });
    expect(own.recovery.rolledBack).toBe(1);
    expect(await backend.readText("/ws/a")).toBe("before");
  });

  it.each([
    [
      "an error of ours",
      new FilewrightError("PERMISSION_DENIED", "the record cannot be read"),
      { code: "PERMISSION_DENIED", message: "the record cannot be read" },
    ],
    ["a lock of another process", new FilewrightError("LOCK_TIMEOUT", "locked"), undefined],
    ["a full disk", new FilewrightError("NO_SPACE", "full"), undefined],
  ])("a recovery tells of %s, and the workspace opens", async (_, error, problem) => {
    const told: WorkspaceEvent[] = [];
    const journal = new MemoryJournal();
    journal.unfinished = () => {
      throw error;
    };
    const ws = await workspace({
      backend: new MemoryBackend({ "/ws/a": "a" }),
      journal,
      backendId: "files",
      notify: (event) => told.push(event),
    });
    expect(ws.recovery).toStrictEqual({ rolledBack: 0, ignored: 0, damaged: 0, conflicts: [], problem });
    expect(told.map(({ type }) => type)).toEqual(problem === undefined ? [] : ["recovered"]);
  });

  it("a recovery tells of a defect at one record, and recovers the others", async () => {
    const left: string[] = [];
    const recordOf = (name: string, close: () => void): StoredRecord => ({
      entries: [],
      damaged: false,
      close,
      leave: () => void left.push(name),
    });
    const closed: string[] = [];
    const journal = new MemoryJournal();
    journal.unfinished = () => [
      recordOf("first", () => {
        throw new TypeError("not a function");
      }),
      recordOf("second", () => void closed.push("second")),
    ];
    const ws = await workspace({ backend: new MemoryBackend({ "/ws/a": "a" }), journal, backendId: "files" });
    expect([left, closed]).toEqual([["first"], ["second"]]);
    expect(ws.recovery.problem).toEqual({ code: "INTERNAL", message: "the recovery failed unexpectedly" });
  });
});

/** Records as over a network: each method answers later. `calls` has the method and the kind of each call. */
function remoteRecords(kept: Records = memoryRecords()): {
  readonly records: Records;
  readonly calls: string[];
} {
  const calls: string[] = [];
  const later = async <T>(method: string, kind: string, run: () => Promise<T>): Promise<T> => {
    calls.push(`${method} ${kind.split(" ")[0]}`);
    await new Promise((resolve) => setTimeout(resolve, 1));
    return run();
  };
  const records: Records = {
    get: (kind, id) => later("get", kind, () => kept.get(kind, id)),
    put: (kind, id, value, options) => later("put", kind, () => kept.put(kind, id, value, options)),
    add: (kind, id, amount, options) => later("add", kind, () => kept.add(kind, id, amount, options)),
    list: (kind, options) => later("list", kind, () => kept.list(kind, options)),
    remove: (kind, id) => later("remove", kind, () => kept.remove(kind, id)),
  };
  return { records, calls };
}

/** Records of which each read has another value than was stored. */
function damagedRecords(damage: (value: unknown) => unknown): Records {
  const kept = memoryRecords();
  const { records } = remoteRecords(kept);
  return {
    ...records,
    async get(kind, id) {
      const found = await kept.get(kind, id);
      return found && { ...found, value: damage(found.value) };
    },
    list: async (kind, options) =>
      (await kept.list(kind, options)).map((one) => ({ ...one, value: damage(one.value) })),
  };
}

const always = () => ({ outcome: "proceed_always_tool" }) as const;

describe("the records of the host", () => {
  it("have what an agent read through one workspace, so that another does not ask it to read again", async () => {
    const { records } = remoteRecords();
    const backend = new MemoryBackend({ "/ws/a": "before\n" });
    const write = { path: "a", content: "after\n", overwrite: true };
    const unread = await workspace({ backend, guard: "refuse" });
    expect((await unread.call("write_file", write)).error?.code).toBe("CONFLICT");
    const first = await workspace({ backend, guard: "refuse", records });
    await first.call("read_file", { path: "a" });
    const second = await workspace({ backend, guard: "refuse", records });
    expect((await second.call("write_file", write)).ok).toBe(true);
    const other = await workspace({ backend, guard: "refuse", records, agent: "other" });
    expect((await other.call("write_file", write)).error?.code).toBe("CONFLICT");
  });

  it("have the parts of a file that were read through two workspaces", async () => {
    const { records } = remoteRecords();
    const backend = new MemoryBackend({ "/ws/a": "1\n2\n3\n4\n" });
    const [one, two] = [
      await workspace({ backend, guard: "refuse", records }),
      await workspace({ backend, guard: "refuse", records }),
    ];
    await one.call("read_file", { path: "a", max_lines: 2 });
    const write = { path: "a", content: "x\n", overwrite: true };
    expect((await two.call("write_file", write)).error?.details?.["reason"]).toBe("partial_read");
    await two.call("read_file", { path: "a", start_line: 3 });
    expect((await one.call("write_file", write)).ok).toBe(true);
  });

  it("have what was approved: the other is not asked, and a revoked approval holds nowhere", async () => {
    let asked = 0;
    const [backend, { records }] = [new MemoryBackend(), remoteRecords()];
    const confirm = () => {
      asked += 1;
      return always();
    };
    const [one, two] = [
      await workspace({ backend, records, confirm }),
      await workspace({ backend, records, confirm }),
    ];
    for (const [index, ws] of [one, two, two].entries())
      expect((await ws.call("mkdir", { path: `d${index}` })).ok).toBe(true);
    expect([asked, (await two.approvals.list()).length]).toEqual([1, 1]);
    const [approval] = await one.approvals.list();
    expect(Date.parse(approval?.expires ?? "") - Date.now()).toBeLessThanOrEqual(24 * 60 * 60 * 1000);
    expect(await two.approvals.revoke(approval?.id ?? "")).toBe(true);
    expect(await two.approvals.revoke(approval?.id ?? "")).toBe(false);
    await one.call("mkdir", { path: "last" });
    expect(asked).toBe(2);
  });

  it("have budgets: agents of two workspaces spend one, by its name and for its time", async () => {
    let now = 0;
    const [backend, { records }] = [new MemoryBackend(), remoteRecords(memoryRecords(() => now))];
    const [one, two] = [await workspace({ backend, records }), await workspace({ backend, records })];
    const budget = { calls: 2, forMs: 1000 };
    const agents = [await one.agent("a", { budget }), await two.agent("a", { budget })];
    for (const [index, ok] of [true, true, false].entries())
      expect((await agents[index % 2]?.call("stat", { path: "." }))?.ok).toBe(ok);
    const named = await one.agent("b", { budget: { calls: 2, name: "a" } });
    expect((await named.call("stat", { path: "." })).error?.code).toBe("LIMIT_EXCEEDED");
    now = 1000;
    expect((await named.call("stat", { path: "." })).ok).toBe(true);
    expect(await agents[1]?.spent()).toMatchObject({ calls: 1 });
  });

  it("have budgets that nine calls at once do not exceed", async () => {
    const [backend, { records }] = [new MemoryBackend(), remoteRecords()];
    const made = await Promise.all([1, 2, 3].map(() => workspace({ backend, records })));
    const agents = await Promise.all(made.map((ws) => ws.agent("a", { budget: { calls: 5 } })));
    const calls = Array.from({ length: 9 }, (_, at) => agents[at % 3]?.call("stat", { path: "." }));
    const ok = (await Promise.all(calls)).filter((result) => result?.ok === true);
    expect(ok).toHaveLength(5);
    expect(await agents[0]?.spent()).toMatchObject({ calls: 5 });
  });

  it("have grants: of the workspace and of each agent, and a revoked one holds nowhere", async () => {
    const { records } = remoteRecords();
    const backend = new MemoryBackend({ "/ws/d/a": "1", "/ws/e/a": "1" });
    const open = () => workspace({ backend, records, permissions: { mode: "prompt" } });
    const [one, two] = [await open(), await open()];
    const read = async (ws: Pick<Workspace, "call">, path: string) =>
      (await ws.call("read_file", { path })).error?.code ?? "ok";
    await one.grants.add({ dir: "/ws/d", access: "read" });
    expect(await read(two, "d/a")).toBe("ok");
    const [first, second, other] = [await one.agent("x"), await two.agent("x"), await two.agent("y")];
    await first.grants.add({ dir: "/ws/e", access: "write" });
    expect(await Promise.all([second, other, two].map((ws) => read(ws, "e/a")))).toEqual([
      "ok",
      "GRANT_DENIED",
      "GRANT_DENIED",
    ]);
    expect(await second.grants.revoke("/ws/e")).toBe(true);
    expect(await read(first, "e/a")).toBe("GRANT_DENIED");
    expect(await one.grants.revoke("/ws/d")).toBe(true);
    expect([await read(two, "d/a"), await two.grants.list()]).toEqual(["GRANT_DENIED", []]);
  });

  it("keep every grant of those that are given at once, and the longer one of two of a directory", async () => {
    const { records } = remoteRecords();
    const backend = new MemoryBackend({ "/ws/a": "1" });
    const made = await Promise.all(
      [1, 2, 3].map(() => workspace({ backend, records, permissions: { mode: "prompt" } })),
    );
    const end = (year: number) => `${year}-01-01T00:00:00.000Z`;
    await Promise.all([
      ...made.map((ws, at) => ws.grants.add({ dir: `/ws/d${at}`, access: "write" })),
      ...made.map((ws, at) => ws.grants.add({ dir: "/ws/same", access: "write", expires: end(2900 + at) })),
      made[0]?.grants.add({ dir: "/ws/same", access: "read" }),
    ]);
    const grants = (await made[2]?.grants.list()) ?? [];
    expect(grants.map(({ dir, access, expires }) => [dir, access, expires]).sort()).toEqual([
      ["/ws/d0", "write", undefined],
      ["/ws/d1", "write", undefined],
      ["/ws/d2", "write", undefined],
      ["/ws/same", "read", undefined],
      ["/ws/same", "write", end(2902)],
    ]);
  });

  it("that are those of a storage have its grants too, and a change is charged by its commit", async () => {
    const storage = memoryStorage();
    const open = () => workspace({ storage, records: storage.records, permissions: { mode: "prompt" } });
    const [one, two] = [await open(), await open()];
    expect(one.capabilities().shared).toEqual({ approvals: "storage", budgets: "storage", reads: "memory" });
    await one.grants.add({ dir: "/ws", access: "write" });
    const agent = await two.agent("a", { budget: { calls: 1 } });
    await agent.grants.add({ dir: "/ws", access: "write" });
    expect((await two.call("write_file", { path: "f", content: "1" })).ok).toBe(true);
    expect((await agent.call("write_file", { path: "g", content: "1" })).ok).toBe(true);
    expect((await agent.call("write_file", { path: "h", content: "1" })).error?.code).toBe("LIMIT_EXCEEDED");
  });

  it("of a storage hold no grants unless the host gives them", async () => {
    const storage = memoryStorage();
    const open = () => workspace({ storage, permissions: { mode: "prompt" } });
    const [one, two] = [await open(), await open()];
    await one.grants.add({ dir: "/ws", access: "write" });
    expect(await two.grants.list()).toEqual([]);
  });

  it("fail a call with the code of records that cannot be reached, and nothing is changed", async () => {
    const lost = async (): Promise<never> => {
      throw new FilewrightError("IO_ERROR", "the records are away");
    };
    const records: Records = { get: lost, put: lost, add: lost, list: lost, remove: lost };
    const backend = new MemoryBackend({ "/ws/a": "1\n" });
    const agent = await (await workspace({ backend, records })).agent("a", { budget: { calls: 1 } });
    expect((await agent.call("stat", { path: "." })).error?.code).toBe("IO_ERROR");
    const asking = await workspace({ backend, records, confirm: () => ({ outcome: "proceed_once" }) });
    expect((await asking.call("mkdir", { path: "d" })).error?.code).toBe("IO_ERROR");
    const granting = await workspace({ backend, records, permissions: { mode: "prompt", ask: () => "yes" } });
    expect((await granting.call("read_file", { path: "a" })).ok).toBe(false);
    const guarded = await workspace({ backend, records, guard: "refuse" });
    await guarded.call("read_file", { path: "a" });
    const other = await workspace({ backend, records, guard: "refuse" });
    const write = { path: "a", content: "2\n", overwrite: true };
    expect((await other.call("write_file", write)).ok).toBe(false);
    expect([await backend.exists("/ws/d"), await backend.readText("/ws/a")]).toEqual([false, "1\n"]);
  });

  const widened = (value: unknown): unknown => {
    const text = JSON.stringify(value).replaceAll('"/ws/d"', '"/"').replaceAll('"read"', '"write"');
    return JSON.parse(text) as unknown;
  };
  it.each<[string, (value: unknown) => unknown]>([
    ["nothing", () => null],
    ["a text", () => "yes"],
    ["a number", () => 7],
    ["true", () => true],
    ["an empty list", () => []],
    ["a list of nothing", () => [null]],
    ["an empty object", () => ({})],
    [
      "an object of another record",
      (value) => ({ ...(Object(value) as object), id: "x", path: "/x", dir: "/x" }),
    ],
    ["the record of a directory above", widened],
  ])("whose values are %s allow nothing", async (_, damage) => {
    const records = damagedRecords(damage);
    const backend = new MemoryBackend({ "/ws/d/a": "1\n", "/ws/b": "1\n" });
    const asking = await workspace({ backend, records, confirm: always });
    await asking.call("mkdir", { path: "e" });
    const silent = await workspace({ backend, records, confirm: () => ({ outcome: "cancel" }) });
    if (damage !== widened) expect((await silent.call("mkdir", { path: "f" })).ok).toBe(false);
    const granting = await workspace({ backend, records, permissions: { mode: "prompt" } });
    await granting.grants.add({ dir: "/ws/d", access: "read" }).catch(() => undefined);
    expect((await granting.call("write_file", { path: "b", content: "2\n" })).error?.code).toBe(
      "GRANT_DENIED",
    );
    const reader = await workspace({ backend, records, guard: "refuse" });
    await reader.call("read_file", { path: "d/a" });
    const writer = await workspace({ backend, records, guard: "refuse" });
    const write = { path: "d/a", content: "2\n", overwrite: true };
    if (damage !== widened) expect((await writer.call("write_file", write)).error?.code).toBe("CONFLICT");
  });

  it("are named by a workspace", async () => {
    const backend = new MemoryBackend();
    const places = async (options: WorkspaceOptions) => (await workspace(options)).capabilities().shared;
    expect(await places({ backend })).toEqual({ approvals: "memory", budgets: "memory", reads: "memory" });
    const records = memoryRecords();
    expect(await places({ backend, guard: "off", records })).toEqual({
      approvals: "host",
      budgets: "host",
      reads: "none",
    });
    expect(await places({ backend, guard: "refuse", records })).toMatchObject({ reads: "host" });
  });
});

describe("refused", () => {
  const backend = new MemoryBackend();
  const { records } = remoteRecords();
  it.each<[string, object, RegExp]>([
    ["a journal without its methods", { journal: { begin: () => undefined } }, /journal/],
    ["a journal of a backend without a name", { backend, journal: new MemoryJournal() }, /backendId/],
    ["records without their methods", { records: {} }, /records/],
    ["records without counters", { records: { ...records, add: undefined } }, /records/],
    ["records without a list", { records: { ...records, list: undefined } }, /records/],
    ["a misspelt option", { record: records }, /did you mean .records/],
    ["a store of one feature", { approvals: records }, /approvals/],
    ["a store of grants", { permissions: { mode: "prompt", store: records } }, /permissions\.store/],
  ])("%s", async (_, options, message) => {
    const opening = openWorkspace({ root: "/ws", ...options } as WorkspaceOptions);
    await expect(opening).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    await expect(opening).rejects.toThrow(message);
  });
});
