/** Two replicas of one workspace on a real Postgres server: what they share, and that either of them answers alike. */
import type pg from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type Confirm, openWorkspace, type Workspace, type WorkspaceOptions } from "../../js/index.node.ts";
import { postgresStorage } from "@filewright/storage/postgres";
import type { Storage } from "../../js/storage/index.ts";
import { missingServer, startPostgres, type TestServer } from "./postgres/server.mjs";
import { randomSession, runSession, SESSION_FILES } from "./replica-sessions.mjs";

describe.skipIf(missingServer() !== undefined)("two replicas over Postgres", () => {
  let server: TestServer;
  let pools: readonly pg.Pool[] = [];
  let workspaces = 0;
  const opened: Workspace[] = [];
  beforeAll(async () => {
    server = await startPostgres();
    pools = [server.pool(), server.pool()];
  });
  afterEach(async () => {
    for (const ws of opened.splice(0)) await ws.close();
  });
  afterAll(() => server.stop());

  async function storages(files: Readonly<Record<string, string>>, count = 2): Promise<readonly Storage[]> {
    const workspace = `w${workspaces++}`;
    const all = await Promise.all(
      pools.slice(0, count).map((client) => postgresStorage({ client, workspace })),
    );
    const encoder = new TextEncoder();
    await all[0]?.commit(
      Object.entries(files).map(([path, text]) => ({
        op: "put",
        path: `/repo/${path}`,
        body: encoder.encode(text),
      })),
    );
    return all;
  }
  async function replicas(
    files: Readonly<Record<string, string>>,
    options: Partial<WorkspaceOptions> = {},
    count = 2,
  ): Promise<readonly Workspace[]> {
    const all: Workspace[] = [];
    for (const storage of await storages(files, count))
      all.push(await openWorkspace({ storage, root: "/repo", ...options }));
    opened.push(...all);
    return all;
  }
  /** Returns a storage that tells the name of each round trip. */
  function countTrips(storage: Storage, tell: (trip: string) => void): Storage {
    const counted = <T extends object>(object: T): T =>
      new Proxy(object, {
        get(target, name) {
          const value: unknown = Reflect.get(target, name, target);
          if (name === "records") return counted(value as object);
          if (typeof value !== "function") return value;
          return (...args: unknown[]) => {
            if (name !== "probe") tell(String(name));
            return value.apply(target, args);
          };
        },
      });
    return counted(storage);
  }
  const codeOf = (result: { ok: boolean; error?: { code: string } | undefined }): string =>
    result.ok ? "ok" : (result.error?.code ?? "");

  test("say where they keep what they share", async () => {
    const [ws] = await replicas({}, { guard: "refuse" });
    expect(ws?.capabilities().shared).toEqual({
      approvals: "storage",
      budgets: "storage",
      reads: "storage",
    });
  });

  test("an approval that lasts holds at the other replica, until it is revoked there", async () => {
    let asked = 0;
    const labels: string[] = [];
    const confirm: Confirm = ({ scopes }) => {
      asked += 1;
      labels.push(...scopes.map(({ label }) => label));
      return { outcome: "proceed_always_tool" };
    };
    const [one, two] = (await replicas({}, { confirm })) as [Workspace, Workspace];
    for (const [index, ws] of [one, two, one, two, one, two].entries())
      expect(codeOf(await ws.call("write_file", { path: `${index}.txt`, content: "x" }))).toBe("ok");
    expect(asked).toBe(1);
    expect(labels.join("\n")).toContain("for 24 hours, at every replica");
    const [approval] = await two.approvals.list();
    expect(approval).toMatchObject({ outcome: "proceed_always_tool", scope: { tool: "write_file" } });
    expect(await two.approvals.revoke(approval?.id ?? "")).toBe(true);
    expect(await one.approvals.revoke(approval?.id ?? "")).toBe(false);
    for (const id of ["", "a\0b", "\ud800", "#", "a".repeat(1025), undefined])
      expect(await one.approvals.revoke(id as string)).toBe(false);
    expect(await one.approvals.list()).toEqual([]);
    await one.call("write_file", { path: "last.txt", content: "x" });
    expect(asked).toBe(2);
  });

  test("an approval covers neither another agent nor a workspace of other roots", async () => {
    let asked = 0;
    const confirm: Confirm = () => {
      asked += 1;
      return { outcome: "proceed_always_server" };
    };
    const [first, second] = (await storages({})) as [Storage, Storage];
    const open = async (storage: Storage, root: string): Promise<Workspace> => {
      const ws = await openWorkspace({ storage, root, confirm });
      opened.push(ws);
      return ws;
    };
    const ws = await open(first, "/repo");
    const agent = await ws.agent("helper");
    await agent.call("mkdir", { path: "a" });
    await (await (await open(second, "/repo")).agent("helper")).call("mkdir", { path: "b" });
    expect(asked).toBe(1);
    await ws.call("mkdir", { path: "c" });
    expect(asked).toBe(2);
    await (await open(second, "/other")).call("mkdir", { path: "d" });
    expect(asked).toBe(3);
  });

  test("a budget of five by nine at once is five", async () => {
    const both = await replicas({ "f.txt": "x\n" });
    const agents = await Promise.all(both.map((ws) => ws.agent("worker", { budget: { calls: 5 } })));
    const results = await Promise.all(
      Array.from({ length: 9 }, (_, index) => agents[index % 2]?.call("stat", { path: "f.txt" })),
    );
    expect(results.filter((one) => one?.ok === true)).toHaveLength(5);
    expect(results.filter((one) => one?.error?.code === "LIMIT_EXCEEDED")).toHaveLength(4);
    for (const agent of agents) expect(await agent.spent()).toMatchObject({ calls: 5 });
    // Another name is another budget, and a time begins a new one.
    const other = await both[0]?.agent("worker", { budget: { calls: 5, name: "second", forMs: 200 } });
    expect((await other?.call("stat", { path: "f.txt" }))?.ok).toBe(true);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(await other?.spent()).toEqual({ calls: 0, outputBytes: 0 });
  });

  test("a budget of answers is one for both, and an agent's agent spends that of its own", async () => {
    const [one, two] = (await replicas({ "f.txt": "x".repeat(900) })) as [Workspace, Workspace];
    const budget = { outputBytes: 1000 };
    const read = { path: "f.txt" };
    expect((await (await one.agent("reader", { budget })).call("read_file", read)).ok).toBe(true);
    const second = await two.agent("reader", { budget });
    const cut = await second.call("read_file", read);
    expect(cut.ok && cut.meta.truncated).toBe(true);
    expect(codeOf(await second.call("read_file", read))).toBe("LIMIT_EXCEEDED");
    const outer = await one.agent("outer", { budget: { calls: 2 } });
    const inner = await outer.agent("inner", { budget: { calls: 5 } });
    const elsewhere = await (await two.agent("outer", { budget: { calls: 2 } })).agent("inner");
    for (const [agent, code] of [
      [inner, "ok"],
      [elsewhere, "ok"],
      [inner, "LIMIT_EXCEEDED"],
    ] as const)
      expect(codeOf(await agent.call("stat", read))).toBe(code);
    expect([await inner.spent(), await outer.spent()]).toMatchObject([{ calls: 1 }, { calls: 2 }]);
  });

  test("what was read at one replica may be changed at the other; what was not, at neither", async () => {
    const lines = Array.from({ length: 20 }, (_, i) => `line ${i}\n`).join("");
    const files = { "a.txt": lines, "b.txt": "b\n", "d/c.txt": "c\n", "d/e.txt": "e\n", "u.txt": "u\n" };
    const [one, two] = (await replicas(files, { guard: "refuse" })) as [Workspace, Workspace];
    const replace = (path: string) => ({ path, content: "new\n", overwrite: true });
    expect(codeOf(await two.call("write_file", replace("u.txt")))).toBe("CONFLICT");
    // Half of a file at each of them is the whole file.
    await one.call("read_file", { path: "a.txt", max_lines: 10 });
    expect(codeOf(await two.call("write_file", replace("a.txt")))).toBe("CONFLICT");
    await two.call("read_file", { path: "a.txt", start_line: 11 });
    expect(codeOf(await one.call("write_file", replace("a.txt")))).toBe("ok");
    // What one has written, the other may change again.
    expect(codeOf(await two.call("edit_file", { path: "a.txt", old_text: "new", new_text: "n" }))).toBe("ok");
    expect(codeOf(await one.call("delete", { path: "a.txt" }))).toBe("ok");
    // Another agent changes what was read.
    await one.call("read_file", { path: "b.txt" });
    await two.call("read_file", { path: "b.txt" }, { agent: "other" });
    expect(codeOf(await two.call("write_file", replace("b.txt"), { agent: "other" }))).toBe("ok");
    expect(codeOf(await two.call("write_file", replace("b.txt")))).toBe("CONFLICT");
    // A directory that is moved keeps what was read in it. A deletion needs no read: the history keeps the files.
    await one.call("read_file", { path: "d/c.txt" });
    await one.call("read_file", { path: "d/e.txt" });
    expect(codeOf(await two.call("move", { source: "d", destination: "moved" }))).toBe("ok");
    expect(codeOf(await one.call("write_file", replace("moved/c.txt")))).toBe("ok");
    expect(codeOf(await one.call("delete", { path: "moved", recursive: true }))).toBe("ok");
  });

  test("an anchor of one of several equal lines holds at the other replica while the file is the same", async () => {
    const [one, two] = (await replicas({ "f.txt": "same\n".repeat(9) }, { guard: "refuse" })) as [
      Workspace,
      Workspace,
    ];
    const { text } = await one.call("read_file", { path: "f.txt", anchors: true });
    const from = /^\s*(5#\w+)\t/mu.exec(text)?.[1];
    const edit = { path: "f.txt", edits: [{ from, new_text: "other" }] };
    const made = await two.call("edit_file", edit);
    expect([made.ok, made.ok ? "" : made.text]).toEqual([true, ""]);
    const { text: now } = await one.call("read_file", { path: "f.txt", line_numbers: "none" });
    expect(now.split("\n").indexOf("other")).toBe(4);
    expect((await two.call("edit_file", edit)).ok).toBe(false);
  });

  test("a change charges its budget and notes what it has written in its commit", async () => {
    const [counted, plain] = (await storages({ "f.txt": "one\n" })) as [Storage, Storage];
    let trips: string[] = [];
    const storage = countTrips(counted, (trip) => trips.push(trip));
    const [ws, other] = [
      await openWorkspace({ storage, root: "/repo", guard: "refuse" }),
      await openWorkspace({ storage: plain, root: "/repo", guard: "refuse" }),
    ];
    opened.push(ws, other);
    const agent = await ws.agent("worker", { budget: { calls: 3 } });
    const tripsOf = async (tool: string, args: object): Promise<readonly string[]> => {
      trips = [];
      expect(codeOf(await agent.call(tool as "stat", args as never))).toBe("ok");
      return trips;
    };
    expect(await tripsOf("read_file", { path: "f.txt" })).toEqual(["add", "readMany", "commit"]);
    const edit = { path: "f.txt", old_text: "one", new_text: "two" };
    expect(await tripsOf("edit_file", edit)).toEqual(["readMany", "commit"]);
    expect(await agent.spent()).toMatchObject({ calls: 2 });
    const there = await other.agent("worker", { budget: { calls: 3 } });
    expect(codeOf(await there.call("edit_file", { ...edit, old_text: "two", new_text: "three" }))).toBe("ok");
    const spent = await agent.call("edit_file", { ...edit, old_text: "three", new_text: "four" });
    expect(spent.text).toMatch(/^Error: The budget of this agent is spent: 3 of 3 calls/u);
    expect((await other.call("read_file", { path: "f.txt", line_numbers: "none" })).text).toContain("three");
  });

  test("a call that commits nothing is charged all the same", async () => {
    const [one, two] = (await replicas({ "f.txt": "one\n" })) as [Workspace, Workspace];
    const budget = { calls: 3 };
    const agents = [await one.agent("worker", { budget }), await two.agent("worker", { budget })];
    const fails = { path: "f.txt", old_text: "none", new_text: "x" };
    for (const index of [0, 1, 0])
      expect(codeOf((await agents[index]?.call("edit_file", fails))!)).toBe("MATCH_NOT_FOUND");
    expect(codeOf((await agents[1]?.call("edit_file", fails))!)).toBe("LIMIT_EXCEEDED");
    expect(await agents[0]?.spent()).toMatchObject({ calls: 3 });
  });

  test("a budget of five by nine changes at once is five changes", async () => {
    const both = await replicas({});
    const agents = await Promise.all(both.map((ws) => ws.agent("worker", { budget: { calls: 5 } })));
    const results = await Promise.all(
      Array.from({ length: 9 }, (_, n) =>
        agents[n % 2]?.call("write_file", { path: `${n}.txt`, content: "x" }),
      ),
    );
    expect(results.filter((one) => one?.ok === true)).toHaveLength(5);
    expect(results.filter((one) => one?.error?.code === "LIMIT_EXCEEDED")).toHaveLength(4);
    const { text } = (await both[0]?.call("glob", { pattern: "*.txt" })) ?? {};
    expect(text?.trim().split("\n")).toHaveLength(5);
  });

  test("a change of one replica is undone at the other", async () => {
    const [one, two] = (await replicas({ "f.txt": "one\n" })) as [Workspace, Workspace];
    const { meta } = await one.call("edit_file", { path: "f.txt", old_text: "one", new_text: "two" });
    expect((await two.undo(meta.call_id ?? "")).paths).toEqual(["f.txt"]);
    expect((await one.call("read_file", { path: "f.txt", line_numbers: "none" })).text).toContain("one");
  });

  test("a page goes on at the other replica", async () => {
    const files = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`f${i}.txt`, `match ${i}\n`]));
    const both = await replicas(files);
    for (const [tool, args] of [
      ["glob", { pattern: "*.txt", limit: 7 }],
      ["list_directory", { path: ".", limit: 7 }],
      ["grep", { pattern: "match", max_results: 7 }],
    ] as const) {
      const texts: string[] = [];
      let cursor: string | undefined;
      let turn = 0;
      do {
        const { data, ok, text } = await (both[turn++ % 2] as Workspace).call(
          tool as string,
          cursor === undefined ? args : { ...args, cursor },
        );
        expect([tool, ok]).toEqual([tool, true]);
        texts.push(text);
        cursor = (data as { next_cursor?: string }).next_cursor;
      } while (cursor !== undefined && turn < 20);
      const all = texts.join("\n");
      for (const name of Object.keys(files))
        expect([tool, name, all.split(name).length]).toEqual([tool, name, 2]);
    }
  });

  test.each([1, 2, 3, 4, 5, 6])("a random session has the same answers: seed %i", async (seed) => {
    const calls = randomSession(seed);
    const [alone] = await replicas(SESSION_FILES, { guard: "refuse" }, 1);
    const both = await replicas(SESSION_FILES, { guard: "refuse" });
    const expected = await runSession(calls, () => alone as Workspace);
    expect(await runSession(calls, (index) => both[index % 2] as Workspace)).toEqual(expected);
  });
});
