/** Stores of the host: the journal and the record of reads of workspaces that share one, as replicas do. */
import { afterEach, describe, expect, it } from "vitest";
import { FilewrightError } from "../../js/engine/errors.ts";
import {
  type JournalStore,
  memoryApprovals,
  memoryBudgets,
  MemoryBackend,
  MemoryJournal,
  type OpenRecord,
  openWorkspace,
  type ReadStore,
  type RecordEntry,
  type StoredRecord,
  type Workspace,
  type WorkspaceOptions,
} from "../../js/index.node.ts";
import { writeVia } from "../../js/backends/fallback/fallback.ts";
import { makeJournal } from "../../js/journal/index.ts";

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

describe("the journal of the host", () => {
  it("one workspace undoes what another has changed", async () => {
    const [backend, journal] = [new MemoryBackend({ "/ws/a": "before\n" }), new RemoteJournal()];
    const first = await workspace({ backend, journal, backendId: "files" });
    expect(first.capabilities().journal).toBe("host");
    const changed = await first.call("write_file", { path: "a", content: "after\n", overwrite: true });
    expect(changed.ok).toBe(true);
    const second = await workspace({ backend, journal, backendId: "files" });
    const [last] = await second.history();
    await second.undo(last?.callId as string);
    expect(backend.readTextSync("/ws/a")).toBe("before\n");
  });

  it("what a dead process left unfinished is rolled back; a workspace of another storage leaves it", async () => {
    const [backend, journal] = [new MemoryBackend({ "/ws/a": "before" }), new RemoteJournal()];
    const cut = makeJournal({
      store: journal,
      cwd: "/ws",
      storage: "backend files",
      keep: true,
      durable: false,
    });
    await new Promise<void>((written) => {
      const about = { callId: "c1", tool: "batch", rollback: "always" } as const;
      void cut.change(backend, about, async (fs) => {
        await writeVia(fs, "/ws/a", new TextEncoder().encode("half"));
        written();
        return new Promise(() => undefined);
      });
    });
    expect(backend.readTextSync("/ws/a")).toBe("half");
    const other = await workspace({
      backend: new MemoryBackend({ "/ws/a": "half" }),
      journal,
      backendId: "others",
    });
    expect(other.recovery.rolledBack).toBe(0);
    const own = await workspace({ backend, journal, backendId: "files" });
    expect(own.recovery.rolledBack).toBe(1);
    expect(backend.readTextSync("/ws/a")).toBe("before");
  });
});

it("reads: what an agent read through one workspace, another does not ask it to read again", async () => {
  const kept = new Map<string, Map<string, unknown>>();
  const reads: ReadStore = {
    load: async (agent) => (kept.get(agent) ?? new Map()) as never,
    note(agent, path, file) {
      const files = kept.get(agent) ?? new Map<string, unknown>();
      kept.set(agent, files);
      if (file === undefined) files.delete(path);
      else files.set(path, file);
    },
    close: async () => undefined,
  };
  const backend = new MemoryBackend({ "/ws/a": "before\n" });
  const write = { path: "a", content: "after\n", overwrite: true };
  const unread = await workspace({ backend, guard: "refuse" });
  expect((await unread.call("write_file", write)).error?.code).toBe("CONFLICT");
  const first = await workspace({ backend, guard: "refuse", reads });
  await first.call("read_file", { path: "a" });
  const second = await workspace({ backend, guard: "refuse", reads });
  expect((await second.call("write_file", write)).ok).toBe(true);
});

describe("approvals and budgets of the host", () => {
  it("what one workspace was approved, the other is not asked about", async () => {
    let asked = 0;
    const [backend, approvals] = [new MemoryBackend(), memoryApprovals()];
    const confirm = () => {
      asked += 1;
      return { outcome: "proceed_always_tool" } as const;
    };
    const [one, two] = [
      await workspace({ backend, approvals, confirm }),
      await workspace({ backend, approvals, confirm }),
    ];
    for (const [index, ws] of [one, two, two].entries())
      expect((await ws.call("mkdir", { path: `d${index}` })).ok).toBe(true);
    expect([asked, (await two.approvals.list()).length]).toEqual([1, 1]);
    await two.approvals.revoke((await one.approvals.list())[0]?.id ?? "");
    await one.call("mkdir", { path: "last" });
    expect(asked).toBe(2);
  });

  it("agents of two workspaces spend one budget, by its name and for its time", async () => {
    let now = 0;
    const [backend, budgets] = [new MemoryBackend(), memoryBudgets(() => now)];
    const [one, two] = [await workspace({ backend, budgets }), await workspace({ backend, budgets })];
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

  it("a call fails with the code of a store that cannot be reached", async () => {
    const lost = (): never => {
      throw new FilewrightError("IO_ERROR", "the store is away");
    };
    const backend = new MemoryBackend();
    const budgets = { ...memoryBudgets(), begin: async () => lost() };
    const agent = await (await workspace({ backend, budgets })).agent("a", { budget: { calls: 1 } });
    expect((await agent.call("stat", { path: "." })).error?.code).toBe("IO_ERROR");
    const approvals = { ...memoryApprovals(), list: async () => lost() };
    const asking = await workspace({ backend, approvals, confirm: () => ({ outcome: "proceed_once" }) });
    expect((await asking.call("mkdir", { path: "d" })).error?.code).toBe("IO_ERROR");
    expect(await backend.exists("/ws/d")).toBe(false);
  });

  it("a workspace says where its records are", async () => {
    const backend = new MemoryBackend();
    const places = async (options: WorkspaceOptions) => (await workspace(options)).capabilities().shared;
    expect(await places({ backend })).toEqual({ approvals: "memory", budgets: "memory", reads: "memory" });
    expect(await places({ backend, guard: "off", approvals: memoryApprovals() })).toEqual({
      approvals: "host",
      budgets: "memory",
      reads: "none",
    });
  });
});

describe("refused", () => {
  const backend = new MemoryBackend();
  const reads: ReadStore = { load: async () => [], note: () => undefined, close: async () => undefined };
  it.each<[string, object, RegExp]>([
    ["a journal without its methods", { journal: { begin: () => undefined } }, /journal/],
    ["a journal of a backend without a name", { backend, journal: new MemoryJournal() }, /backendId/],
    ["reads without its methods", { reads: {} }, /reads/],
    [
      "reads of one path, and not of a directory",
      { reads: { ...reads, recall: async () => undefined } },
      /reads/,
    ],
    ["approvals without their methods", { approvals: { list: async () => [] } }, /approvals/],
    ["budgets without their methods", { budgets: { spent: () => ({}) } }, /budgets/],
    ["a misspelt option", { approval: memoryApprovals() }, /did you mean .approvals/],
    ["reads twice", { backend, reads, guard: { store: reads } }, /guard\.store/],
  ])("%s", async (_, options, message) => {
    const opening = openWorkspace({ root: "/ws", ...options } as WorkspaceOptions);
    await expect(opening).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    await expect(opening).rejects.toThrow(message);
  });
});
