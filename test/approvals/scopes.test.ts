/** Scopes as data: which later calls an answer covers, for how long, and that no answer covers more than was offered. */
import { chmodSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import {
  type ApprovalScope,
  type Confirmation,
  type ConfirmReply,
  MemoryBackend,
  openWorkspace,
  type Workspace,
  type WorkspaceOptions,
} from "../../js/index.node.ts";
import { makeApprovals } from "../../js/hooks/approvals.ts";
import { hostOfOpenWorkspace } from "../../js/mcp/host.ts";
import { makeMcpHandler } from "../../js/mcp/transport/handler.ts";
import { memoryStorage } from "../../js/storage/index.ts";
import { KINDS, place, temporary } from "../tools/harness.ts";

/** The time by which clocks that are moved forward begin in the past, so that no change is recorded in the future. */
const HOUR_MS = 3_600_000;

const scoped = (
  scope: ApprovalScope,
  outcome: ConfirmReply["outcome"] = "proceed_always_server",
): ConfirmReply => ({ outcome, payload: { scope } });

/** A reviewer whose next answer is `next`, afterwards that for one call; and whether a call was asked about. */
function asking() {
  const person = { next: undefined as ConfirmReply | undefined, shown: [] as Confirmation[] };
  return Object.assign(person, {
    confirm(details: Confirmation): ConfirmReply {
      person.shown.push(details);
      const reply = person.next ?? { outcome: "proceed_once" };
      person.next = undefined;
      return reply;
    },
    async asks(ws: Pick<Workspace, "call">, tool: string, args: object, options = {}): Promise<boolean> {
      const before = person.shown.length;
      const result = await ws.call(tool, args, options);
      expect(result.ok, result.text).toBe(true);
      return person.shown.length > before;
    },
  });
}

const write = (path: string) => ["write_file", { path, content: String(Math.random()) }] as const;

afterEach(() => {
  vi.useRealTimers();
});

describe.each(KINDS)("a scope on %s", (kind) => {
  const seed = { "src/pay/a.ts": "a", "src/cart.ts": "c", "docs/x.md": "x" };

  const table: readonly [name: string, scope: ApprovalScope, covered: string[], asked: string[]][] = [
    [
      "a file",
      { tool: "write_file", path: "src/cart.ts", until: "session" },
      ["src/cart.ts"],
      ["src/pay/a.ts", "docs/x.md", "cart.ts"],
    ],
    [
      "a directory and everything below",
      { tool: "write_file", path: "src/pay/**", until: "session" },
      ["src/pay/a.ts", "src/pay/new/b.ts"],
      ["src/cart.ts", "src/pays", "docs/x.md"],
    ],
    [
      "a kind of file at any depth",
      { tool: "write_file", path: "*.ts", until: "session" },
      ["src/cart.ts", "src/pay/a.ts", "z.ts"],
      ["docs/x.md", "z.tsx"],
    ],
    ["every path", { tool: "write_file", path: "**", until: "session" }, ["docs/x.md", "q/r/s"], []],
  ];
  test.each(table)("of %s covers exactly that", async (_, scope, covered, asked) => {
    const person = asking();
    const { ws } = await place(kind, seed, { confirm: person.confirm });
    person.next = scoped(scope);
    expect(await person.asks(ws, ...write("first"))).toBe(true);
    for (const path of covered) expect(await person.asks(ws, ...write(path)), path).toBe(false);
    for (const path of asked) expect(await person.asks(ws, ...write(path)), path).toBe(true);
    expect(await person.asks(ws, "mkdir", { path: "src/pay/m" })).toBe(true);
    expect(await ws.approvals.list()).toMatchObject([{ scope }]);
  });

  test("covers a call only if it covers each of its paths", async () => {
    const person = asking();
    const { ws } = await place(kind, seed, { confirm: person.confirm });
    person.next = scoped({ tool: "*", path: "src/**", until: "session" });
    await person.asks(ws, ...write("src/b"));
    expect(await person.asks(ws, "move", { source: "src/b", destination: "src/c" })).toBe(false);
    expect(await person.asks(ws, "move", { source: "src/c", destination: "docs/c" })).toBe(true);
    expect(await person.asks(ws, "copy", { source: "docs/c", destination: "src/d" })).toBe(true);
    const patch =
      "--- a/src/cart.ts\n+++ b/src/cart.ts\n@@ -1 +1 @@\n-c\n\\ No newline at end of file\n+d\n--- a/docs/x.md\n+++ b/docs/x.md\n@@ -1 +1 @@\n-x\n\\ No newline at end of file\n+y\n";
    expect(await person.asks(ws, "apply_patch", { patch })).toBe(true);
    const two = [
      { tool: "write_file", args: { path: "src/1", content: "1" } },
      { tool: "write_file", args: { path: "docs/1", content: "1" } },
    ];
    expect(await person.asks(ws, "batch", { operations: two })).toBe(true);
  });

  test("goes by the real path, so that a link leads nowhere else", async () => {
    const person = asking();
    const { ws, text } = await place(
      kind,
      { ...seed, "src/link": { link: "../docs" }, "docs/in": { link: "../src" } },
      { confirm: person.confirm },
    );
    person.next = scoped({ tool: "write_file", path: "src/**", until: "session" });
    await person.asks(ws, ...write("src/b"));
    expect(await person.asks(ws, ...write("src/link/x.md"))).toBe(true);
    expect(await person.asks(ws, ...write("docs/in/b"))).toBe(false);
    expect(await text("src/b")).toMatch(/^0\./u);
  });

  test("ends with its turn, which the host names or ten idle minutes end", async () => {
    const person = asking();
    const { ws } = await place(kind, seed, { confirm: person.confirm });
    const turn: ApprovalScope = { tool: "write_file", path: "**", until: "turn" };
    person.next = scoped(turn);
    expect(await person.asks(ws, ...write("a"), { turn: "1" })).toBe(true);
    expect(await person.asks(ws, ...write("a"), { turn: "1" })).toBe(false);
    expect(await person.asks(ws, ...write("a"), { turn: "2" })).toBe(true);
    expect(await person.asks(ws, ...write("a"))).toBe(true);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() - HOUR_MS });
    person.next = scoped(turn);
    expect(await person.asks(ws, ...write("a"))).toBe(true);
    vi.setSystemTime(Date.now() + 9 * 60_000);
    expect(await person.asks(ws, ...write("a"))).toBe(false);
    vi.setSystemTime(Date.now() + 9 * 60_000);
    expect(await person.asks(ws, ...write("a"))).toBe(false);
    vi.setSystemTime(Date.now() + 10 * 60_000);
    expect(await person.asks(ws, ...write("a"))).toBe(true);
    vi.useRealTimers();
    await expect(ws.call("stat", { path: "." }, { turn: "" })).resolves.toMatchObject({ ok: false });
    await expect(ws.call("stat", { path: "." }, { trun: "1" } as object)).resolves.toMatchObject({
      ok: false,
    });
  });

  test("ends at its time, and covers the calls of its agent alone", async () => {
    const person = asking();
    const { ws } = await place(kind, seed, { confirm: person.confirm });
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() - HOUR_MS });
    const soon = new Date(Date.now() + HOUR_MS).toISOString();
    person.next = scoped({ tool: "write_file", path: "**", agent: "ann", until: soon });
    await person.asks(ws, ...write("a"));
    expect(await person.asks(ws, ...write("a"), { agent: "ann" })).toBe(false);
    expect(await person.asks(ws, ...write("a"), { agent: "bo" })).toBe(true);
    expect(await person.asks(ws, ...write("a"))).toBe(true);
    expect(await ws.approvals.list()).toMatchObject([{ expires: soon, scope: { agent: "ann" } }]);
    vi.setSystemTime(Date.parse(soon));
    expect(await person.asks(ws, ...write("a"), { agent: "ann" })).toBe(true);
  });

  test("that is wider than what was offered, or not understood, refuses the call", async () => {
    const person = asking();
    const { ws, root, text } = await place(kind, seed, { confirm: person.confirm });
    const wide: readonly (readonly [ConfirmReply["outcome"], object])[] = [
      ["proceed_always_tool", { tool: "*", path: "src/**", until: "session" }],
      ["proceed_always_tool", { tool: "delete", path: "src/**", until: "session" }],
      ["proceed_always", { tool: "write_file", path: "**", until: "session" }],
      ["proceed_always", { tool: "write_file", path: "/**", until: "session" }],
      ["proceed_always", { tool: "write_file", path: "../**", until: "session" }],
      ["proceed_always", { tool: "write_file", path: `{${root}/src,/}/**`, until: "session" }],
      ["proceed_always_server", { tool: "write_fiel", path: "src/**", until: "session" }],
      ["proceed_always_server", { tool: "*", path: "[", until: "session" }],
      ["proceed_always_server", { tool: "*", path: "!src", until: "session" }],
      ["proceed_always_server", { tool: "*", path: "src/**", until: "forever" }],
      ["proceed_always_server", { tool: "*", path: "src/**", until: "2030-01-01" }],
      ["proceed_always_server", { tool: "*", path: "src/**" }],
      ["proceed_always_server", { tool: "*", until: "session" }],
      ["proceed_always_server", { tool: "*", path: "src/**", until: "session", agnet: "ann" }],
      ["proceed_once", { tool: "*", path: "src/**", until: "session" }],
      ["modify_with_editor", { tool: "*", path: "src/**", until: "session" }],
      ...(kind === "memory"
        ? [["proceed_always_server", { tool: "*", path: "src/**", until: "kept" }] as const]
        : []),
    ];
    for (const [outcome, scope] of wide) {
      person.next = scoped(scope as ApprovalScope, outcome);
      const result = await ws.call(...write("src/cart.ts"));
      expect(result.error?.code, JSON.stringify(scope)).toBe("APPROVAL_DENIED");
      expect(await text("src/cart.ts")).toBe("c");
    }
    expect(await ws.approvals.list()).toEqual([]);
  });

  test("cannot allow what a rule denies, and is counted over the last calls first", async () => {
    const person = asking();
    const { ws } = await place(kind, seed, {
      confirm: person.confirm,
      rules: [
        { path: "docs", decision: "deny" },
        { path: "free", decision: "allow" },
      ],
    });
    for (const path of ["src/1", "src/2", "other/1", "free/1"]) await ws.call(...write(path));
    await ws.call("mkdir", { path: "src/m" });
    const count = (scope: Partial<ApprovalScope>) =>
      ws.approvals.wouldHaveCovered({ tool: "*", path: "**", until: "session", ...scope });
    expect(count({})).toEqual({ covered: 4, calls: 4 });
    expect(count({ path: "src/**" })).toEqual({ covered: 3, calls: 4 });
    expect(count({ path: "src/**", tool: "mkdir" })).toEqual({ covered: 1, calls: 4 });
    expect(count({ agent: "ann" })).toEqual({ covered: 0, calls: 4 });
    expect(() => count({ path: "[" })).toThrow();
    expect(() => count({ until: "never" })).toThrow(/until/u);
    person.next = scoped({ tool: "*", path: "**", until: "session" });
    await ws.call(...write("src/3"));
    expect((await ws.call(...write("docs/x.md"))).error?.code).toBe("APPROVAL_DENIED");
    for (let at = 0; at < 120; at++) await ws.call(...write("many"));
    expect(count({})).toEqual({ covered: 100, calls: 100 });
  });
});

test("over MCP a turn is named in the request, and what is no short text names none", async () => {
  const person = asking();
  const { ws } = await place("memory", {}, { confirm: person.confirm });
  const host = await hostOfOpenWorkspace(ws, "canonical");
  const handler = makeMcpHandler({ host, version: "1", structured: "full" });
  const asks = async (turn: unknown): Promise<boolean> => {
    const before = person.shown.length;
    const params = {
      name: "write_file",
      arguments: { path: "a", content: String(Math.random()) },
      ...(turn === undefined ? {} : { _meta: { "filewright/turn": turn } }),
    };
    const response = await handler.fetch(
      new Request("http://127.0.0.1/mcp", {
        method: "POST",
        headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }),
      }),
    );
    expect(await response.text()).not.toContain('"isError":true');
    return person.shown.length > before;
  };
  person.next = scoped({ tool: "write_file", path: "**", until: "turn" });
  expect(await asks("first")).toBe(true);
  expect(await asks("first")).toBe(false);
  for (const other of ["second", "", 1, ["first"], "first".repeat(100), undefined])
    expect(await asks(other), String(other)).toBe(true);
  expect(await asks("first")).toBe(false);
  await handler.close();
});

describe("what is kept", () => {
  const kept = (scope: Partial<ApprovalScope> = {}): ConfirmReply =>
    scoped({ tool: "write_file", path: "src/**", until: "kept", ...scope });

  /** Opens the same workspace again and again, with one state directory. */
  async function again() {
    const [root, stateDir] = [(await temporary()).root, (await temporary()).stateDir];
    const person = asking();
    const open = (more: Partial<WorkspaceOptions> = {}): Promise<Workspace> =>
      openWorkspace({ root, stateDir, guard: "off", confirm: person.confirm, ...more });
    const file = (): string => {
      const [name = ""] = readdirSync(join(stateDir, "approvals")).filter((one) => one.endsWith(".json"));
      return join(stateDir, "approvals", name);
    };
    return { root, stateDir, person, open, file };
  }

  test("survives a restart, is listed and revoked, and is its owner's alone", async () => {
    const { person, open, file } = await again();
    const first = await open();
    person.next = kept();
    await person.asks(first, ...write("src/a"));
    expect(person.shown[0]!.scopes.find(({ outcome }) => outcome === "proceed_always")?.ends).toContain(
      "kept",
    );
    await first.close();
    expect(statSync(file()).mode & 0o777).toBe(0o600);
    const second = await open();
    expect(await person.asks(second, ...write("src/b"))).toBe(false);
    expect(await person.asks(second, ...write("b"))).toBe(true);
    const [approval] = await second.approvals.list();
    expect(approval).toMatchObject({
      label: "write_file on src/**, until it is revoked",
      scope: { until: "kept" },
    });
    expect(approval).not.toHaveProperty("expires");
    const beside = await open();
    expect(await person.asks(beside, ...write("src/c"))).toBe(false);
    expect(await second.approvals.revoke(approval!.id)).toBe(true);
    expect(await second.approvals.revoke(approval!.id)).toBe(false);
    expect(await person.asks(beside, ...write("src/d"))).toBe(true);
    expect(await beside.approvals.list()).toEqual([]);
  });

  test("covers neither another workspace nor another agent", async () => {
    const { person, open, stateDir } = await again();
    const ws = await open();
    person.next = kept({ path: "**" });
    await person.asks(ws, ...write("src/a"));
    const agent = await ws.agent("helper");
    expect(await person.asks(agent, ...write("src/a"))).toBe(true);
    person.next = kept({ path: "**" });
    await person.asks(agent, ...write("src/a"));
    expect(await agent.approvals.list()).toHaveLength(1);
    const other = await openWorkspace({
      root: (await temporary()).root,
      stateDir,
      guard: "off",
      confirm: person.confirm,
    });
    expect(await person.asks(other, ...write("src/a"))).toBe(true);
  });

  test("never allows what the host denies, nor a place that always needs an approval", async () => {
    const { person, open } = await again();
    const ws = await open();
    person.next = kept({ tool: "*", path: "**" });
    await person.asks(ws, ...write("src/a"));
    await ws.close();
    const denying: readonly Partial<WorkspaceOptions>[] = [
      { rules: [{ tool: "write_file", decision: "deny" }] },
      { access: { deny: ["src/**"] } },
      { readOnly: true },
      { hooks: [{ stage: "before", tool: "*", run: () => ({ proceed: false }) }] },
    ];
    for (const options of denying) {
      const strict = await open(options);
      expect((await strict.call(...write("src/a"))).ok, JSON.stringify(options)).toBe(false);
      await strict.close();
    }
    const asked = await open({ rules: [{ path: "src", decision: "ask" }] });
    expect(await person.asks(asked, ...write("src/a"))).toBe(false);
    await asked.close();
    const places = await open({ access: { places: { ask: ["ci.yml"] } } });
    expect(await person.asks(places, ...write("src/other"))).toBe(false);
    expect(await person.asks(places, ...write("src/ci.yml"))).toBe(true);
  });

  test("allows nothing once its file was changed by others", async () => {
    const { person, open, file } = await again();
    const ws = await open();
    person.next = kept();
    await person.asks(ws, ...write("src/a"));
    expect(await person.asks(ws, ...write("src/a"))).toBe(false);
    const whole = readFileSync(file(), "utf8");
    for (const text of [
      whole.replace("src/**", "**"),
      whole.replace(/"checksum": "[^"]+"/u, '"checksum": "sha256:0"'),
      whole.replace("approvals 1", "approvals 2"),
      whole.slice(0, -20),
      "[]",
      "null",
      "",
    ]) {
      writeFileSync(file(), text);
      expect(await person.asks(ws, ...write("src/a")), text).toBe(true);
      await expect(ws.approvals.list(), text).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
      person.next = kept();
      expect((await ws.call(...write("src/a"))).error?.code).toBe("APPROVAL_DENIED");
      expect(readFileSync(file(), "utf8")).toBe(text);
    }
    writeFileSync(file(), whole);
    expect(await person.asks(ws, ...write("src/a"))).toBe(false);
    chmodSync(file(), 0o666);
    expect(await person.asks(ws, ...write("src/a"))).toBe(true);
    chmodSync(file(), 0o600);
    const target = `${file()}.moved`;
    writeFileSync(target, whole, { mode: 0o600 });
    const name = file();
    rmSync(name);
    symlinkSync(target, name);
    expect(await person.asks(ws, ...write("src/a"))).toBe(true);
  });

  test("is a record on a storage, in the same form", async () => {
    const storage = memoryStorage();
    await storage.commit([{ op: "mkdir", path: "/w" }]);
    const person = asking();
    const open = () => openWorkspace({ root: "/w", storage, guard: "off", confirm: person.confirm });
    const one = await open();
    person.next = kept();
    await person.asks(one, ...write("src/a"));
    await one.close();
    const two = await open();
    expect(await person.asks(two, ...write("src/b"))).toBe(false);
    expect(await two.approvals.list()).toMatchObject([{ scope: { path: "src/**", until: "kept" } }]);
    const backend = new MemoryBackend({ "/w/a": "" });
    const three = await openWorkspace({ root: "/w", backend, confirm: person.confirm, guard: "off" });
    person.next = kept();
    expect((await three.call(...write("src/b"))).error?.code).toBe("APPROVAL_DENIED");
  });
});

describe("a scope", () => {
  test("covers a directory whose name has the characters of globs", async () => {
    const person = asking();
    const backend = new MemoryBackend({ "/w/[slug]/a": "" });
    const ws = await openWorkspace({ root: "/w/[slug]", backend, confirm: person.confirm, guard: "off" });
    person.next = scoped(
      { tool: "write_file", path: "/w/\\[slug\\]/**", until: "session" },
      "proceed_always",
    );
    expect(await person.asks(ws, ...write("a"))).toBe(true);
    expect(await person.asks(ws, ...write("b"))).toBe(false);
  });

  test("of another package's tool is not lost when a further tool of that kind is called first", async () => {
    const approvals = makeApprovals();
    const call = (tool: string) => ({ tool, places: [], agent: undefined, turn: "1" });
    await approvals.remember({ outcome: "proceed_always_tool" }, { tool: "shell", roots: [], turn: "1" });
    expect(approvals.covering(call("deploy"))).toBeUndefined();
    expect(approvals.covering(call("shell"))?.outcome).toBe("proceed_always_tool");
  });
});
