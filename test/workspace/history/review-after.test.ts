/** Changes that are made at once and reviewed afterwards: by the option `review`, and by rules with `review`. */
import * as fs from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  audit,
  type AuditRecord,
  type Confirmation,
  FilewrightError,
  headlessApprover,
  MemoryBackend,
  MemoryJournal,
  type OpenRecord,
  openWorkspace,
  type ToolDefinition,
  toolsFor,
  withHooks,
  type Workspace,
  type WorkspaceOptions,
} from "../../../js/index.node.ts";
import { leanPreset } from "../../../js/presets/lean.ts";
import { memoryStorage } from "../../../js/storage/index.ts";
import { afterThisTest } from "../../support/cleanups.ts";
import { KINDS, place, temporary } from "../../tools/harness.ts";
import { errorOf, idOfCall } from "../../support/calls.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

/** Returns the ids of the unreviewed calls, the newest first. */
async function unreviewed(ws: Workspace): Promise<readonly string[]> {
  return (await ws.unreviewed()).calls.map(({ callId }) => callId);
}

/** An approver that notes the questions and allows each once. */
function allowing(): {
  readonly asked: string[];
  readonly confirm: (details: Confirmation) => { outcome: "proceed_once" };
} {
  const asked: string[] = [];
  return {
    asked,
    confirm: ({ tool, paths }) => {
      asked.push(`${tool} ${paths.map((path) => path.split("/").at(-1)).join(" ")}`);
      return { outcome: "proceed_once" };
    },
  };
}

describe("a change that is to be reviewed and cannot be recorded is not made", () => {
  const CALLS: readonly (readonly [string, object])[] = [
    ["write_file", { path: "a.txt", content: "1\n", whole_file: true }],
    ["write_file", { path: "new.txt", content: "1\n" }],
    ["edit_file", { path: "a.txt", old_text: "one", new_text: "1" }],
    ["delete", { path: "a.txt" }],
    ["move", { source: "a.txt", destination: "b.txt" }],
  ];

  test.each(CALLS)("%s %o where no record can be begun", async (tool, args) => {
    const base = fs.realpathSync(temporaryDirectory());
    const [root, stateDir] = [join(base, "ws"), join(base, "state")];
    fs.mkdirSync(root);
    fs.writeFileSync(join(root, "a.txt"), "one\n");
    const ws = await openWorkspace({ root, stateDir, review: "after" });
    afterThisTest(() => ws.close());
    await idOfCall(ws, "write_file", { path: "first.txt", content: "1\n" });
    const open = join(stateDir, "journal/open");
    await ws.history();
    fs.rmSync(open, { recursive: true });
    fs.writeFileSync(open, "");
    expect(await ws.call(tool, args)).toMatchObject({ ok: false });
    expect(fs.readdirSync(root)).toEqual(["a.txt", "first.txt"]);
    expect(fs.readFileSync(join(root, "a.txt"), "utf8")).toBe("one\n");
    fs.rmSync(open);
    fs.mkdirSync(open, { mode: 0o700 });
    const callId = await idOfCall(ws, tool, args);
    expect(await unreviewed(ws)).toContain(callId);
  });

  test.each(CALLS)("%s %o whose record cannot be ended", async (tool, args) => {
    const kept = new MemoryJournal();
    let isFull = true;
    const journal = Object.assign(new MemoryJournal(), {
      ...{ history: kept.history.bind(kept), find: kept.find.bind(kept) },
      begin: (id: string): OpenRecord => {
        const record = kept.begin(id);
        return {
          append: (entry, durable) => {
            if (isFull && entry.entry === "commit") throw new FilewrightError("NO_SPACE", "full");
            return record.append(entry, durable);
          },
          close: (group) => record.close(group),
        };
      },
    });
    const backend = new MemoryBackend({ "/ws/a.txt": "one\n" });
    const ws = await openWorkspace({ root: "/ws", backend, backendId: "b", journal, review: "after" });
    afterThisTest(() => ws.close());
    expect(await ws.call(tool, args)).toMatchObject({ ok: false, error: { code: "NO_SPACE" } });
    expect((await backend.listDir("/ws")).map(({ name }) => name)).toEqual(["a.txt"]);
    expect(await backend.readText("/ws/a.txt")).toBe("one\n");
    expect(await unreviewed(ws)).toEqual([]);
    isFull = false;
    const callId = await idOfCall(ws, tool, args);
    expect(await unreviewed(ws)).toEqual([callId]);
  });
});

describe.each(KINDS)("review after the change on %s", (kind) => {
  const opened = (options: Partial<WorkspaceOptions> = {}) =>
    place(
      kind,
      { "a.txt": "one\n", "b.txt": "two\n", "db/migrations/1.sql": "x\n" },
      { review: "after", ...options },
    );

  test("a change is made without a question and is unreviewed until it is kept", async () => {
    const { asked, confirm } = allowing();
    const at = await opened({ confirm, agent: "main" });
    const { ws } = at;
    const first = await idOfCall(ws, "write_file", { path: "a.txt", content: "1\n", whole_file: true });
    const second = await idOfCall(ws, "write_file", { path: "b.txt", content: "2\n", whole_file: true });
    expect(asked).toEqual([]);
    expect(await at.text("a.txt")).toBe("1\n");
    const { calls, forgottenBefore } = await ws.unreviewed();
    expect(calls).toMatchObject([
      { callId: second, tool: "write_file", paths: ["b.txt"], agent: "main" },
      { callId: first, tool: "write_file", paths: ["a.txt"], agent: "main" },
    ]);
    expect(calls[0]?.time).toMatch(/^\d{4}-\d\d-\d\dT.*Z$/u);
    expect(forgottenBefore).toBeUndefined();
    expect(await ws.keep(first, { by: "ana" })).toEqual([first]);
    expect(await unreviewed(ws)).toEqual([second]);
    expect(await ws.keep([first, second])).toEqual([second]);
    expect(await ws.keep([first, second])).toEqual([]);
    expect(await unreviewed(ws)).toEqual([]);
    // The history still has them, and they can be undone.
    expect((await ws.history()).map(({ callId }) => callId)).toEqual([second, first]);
    await ws.undo(first);
    expect(await at.text("a.txt")).toBe("one\n");
  });

  test("rules mix both ways: ask for migrations, review for the rest, allow without review", async () => {
    const { asked, confirm } = allowing();
    const { ws } = await opened({
      confirm,
      review: "before",
      rules: [
        { path: "**/migrations/**", decision: "ask" },
        { path: "*.log", decision: "allow" },
        { tool: "delete", decision: "deny" },
        { decision: "review" },
      ],
    });
    const write = (path: string): Promise<string> =>
      idOfCall(ws, "write_file", { path, content: "new\n", whole_file: true });
    await write("db/migrations/1.sql");
    await write("x.log");
    const reviewed = await write("a.txt");
    expect(asked).toEqual(["write_file 1.sql"]);
    expect(await unreviewed(ws)).toEqual([reviewed]);
    const denied = await ws.call("delete", { path: "b.txt" });
    expect(denied.error?.code).toBe("APPROVAL_DENIED");
    const read = await ws.call("read_file", { path: "b.txt" });
    expect(read.ok).toBe(true);
    expect(await unreviewed(ws)).toEqual([reviewed]);
  });

  test("one part of a change that a rule wants reviewed makes all of it unreviewed", async () => {
    const { ws } = await opened({
      review: "before",
      rules: [
        { path: "a.txt", decision: "review" },
        { path: "b.txt", decision: "allow" },
      ],
    });
    const patch = (...names: readonly string[]): string =>
      ["*** Begin Patch", ...names.map((name) => `*** Add File: ${name}\n+new`), "*** End Patch"].join("\n");
    const both = await idOfCall(ws, "batch", {
      operations: [
        { tool: "write_file", args: { path: "b.txt", content: "n", whole_file: true } },
        { tool: "edit_file", args: { path: "a.txt", old_text: "one", new_text: "1" } },
      ],
    });
    // No rule decides about c.txt, and nobody asks about it.
    const moved = await idOfCall(ws, "move", { source: "a.txt", destination: "c.txt" });
    const copied = await idOfCall(ws, "copy", { source: "b.txt", destination: "a.txt" });
    await idOfCall(ws, "copy", { source: "b.txt", destination: "d.txt" });
    await idOfCall(ws, "apply_patch", { patch: patch("e.txt") });
    await idOfCall(ws, "delete", { path: "b.txt" });
    expect(await unreviewed(ws)).toEqual([copied, moved, both]);
  });

  test("what was undone wholly needs no review, until the undo is undone", async () => {
    const { ws } = await opened();
    const write = await idOfCall(ws, "write_file", { path: "a.txt", content: "1\n", whole_file: true });
    const { callId: undo } = await ws.undo(write);
    expect(await unreviewed(ws)).toEqual([]);
    await ws.undo(undo);
    expect(await unreviewed(ws)).toEqual([write]);
  });

  test("a rewind by a person needs no review, and what it took back wholly neither", async () => {
    const { ws } = await opened();
    const first = await idOfCall(ws, "write_file", { path: "a.txt", content: "1\n", whole_file: true });
    await ws.mark("here");
    const second = await idOfCall(ws, "write_file", { path: "b.txt", content: "2\n", whole_file: true });
    const third = await idOfCall(ws, "batch", {
      operations: [
        { tool: "write_file", args: { path: "a.txt", content: "3", whole_file: true } },
        { tool: "write_file", args: { path: "c.txt", content: "3" } },
      ],
    });
    const { callId = "" } = await ws.rewind("here", { paths: ["b.txt", "c.txt"] });
    expect(await unreviewed(ws)).toEqual([third, first]);
    await ws.undo(callId);
    expect(await unreviewed(ws)).toEqual([third, second, first]);
    await ws.rewind("here");
    expect(await unreviewed(ws)).toEqual([first]);
  });

  test("an undo by an agent is a change like others", async () => {
    const { ws } = await opened();
    const write = await idOfCall(ws, "write_file", { path: "a.txt", content: "1\n", whole_file: true });
    const [undo] = toolsFor(ws, leanPreset()).filter(({ name }) => name === "undo");
    const result = await (undo as ToolDefinition).execute({ call_id: write });
    expect(result.ok, result.text).toBe(true);
    expect(await unreviewed(ws)).toEqual([result.meta.call_id]);
  });

  test("the audit log has the person who kept a change, and its paths", async () => {
    const records: AuditRecord[] = [];
    const observer = audit({ write: (record) => void records.push(record) }, { reads: false });
    const { ws, root } = await opened({ observers: [observer] });
    const write = await idOfCall(ws, "write_file", { path: "a.txt", content: "1\n", whole_file: true });
    await ws.keep([write], { by: "ana" });
    expect(records.at(-1)).toMatchObject({
      tool: "keep",
      ok: true,
      paths: [`${root}/a.txt`],
      kept: { calls: [write], by: "ana" },
    });
    await errorOf(ws.keep("000000000-000000000000", { by: "ben" }));
    expect(records.at(-1)).toMatchObject({ tool: "keep", ok: false, code: "NOT_FOUND" });
  });

  test("an unknown call is refused, and then none is kept", async () => {
    const { ws } = await opened();
    const write = await idOfCall(ws, "write_file", { path: "a.txt", content: "1\n", whole_file: true });
    const error = await errorOf(ws.keep([write, "000000000-000000000000"]));
    expect(error).toMatchObject({ code: "NOT_FOUND" });
    expect(await unreviewed(ws)).toEqual([write]);
    expect((await errorOf(ws.keep([]))).code).toBe("INVALID_ARGUMENT");
    expect((await errorOf(ws.keep(write, { by: "" }))).code).toBe("INVALID_ARGUMENT");
    expect((await errorOf(ws.keep(write, { who: "ana" } as object))).code).toBe("INVALID_ARGUMENT");
  });

  test("a mark, a kept change and a dry run are no changes", async () => {
    const { ws } = await opened();
    await ws.mark("here");
    const write = await idOfCall(ws, "write_file", { path: "a.txt", content: "1\n", whole_file: true });
    await ws.call("write_file", { path: "b.txt", content: "1\n", whole_file: true, dry_run: true });
    await ws.keep(write);
    expect(await unreviewed(ws)).toEqual([]);
    expect((await ws.history()).map(({ callId }) => callId)).toEqual([write]);
    expect((await ws.marks()).map(({ name }) => name)).toEqual(["here"]);
    const { calls } = await ws.rewind("here", { dryRun: true });
    expect(calls).toEqual([write]);
  });

  test("the merge of a fork is reviewed as one change", async () => {
    const { ws } = await opened();
    const fork = await ws.fork();
    await idOfCall(fork, "write_file", { path: "a.txt", content: "1\n", whole_file: true });
    expect(await unreviewed(ws)).toEqual([]);
    const merged = await fork.merge();
    expect(merged.conflicts).toEqual([]);
    const { calls } = await ws.unreviewed();
    expect(calls).toMatchObject([{ tool: "merge", paths: ["a.txt"] }]);
    await ws.keep(calls[0]?.callId ?? "");
    expect(await unreviewed(ws)).toEqual([]);
  });

  test("the rules of an agent can want a review of what the workspace allows", async () => {
    const { ws } = await opened({ review: "before", rules: [{ decision: "allow" }] });
    const agent = await ws.agent("helper", { rules: [{ path: "a.txt", decision: "review" }] });
    const write = await idOfCall(agent, "write_file", { path: "a.txt", content: "1\n", whole_file: true });
    await idOfCall(agent, "write_file", { path: "b.txt", content: "1\n", whole_file: true });
    expect(await unreviewed(ws)).toEqual([write]);
    expect((await ws.unreviewed()).calls[0]?.agent).toBe("helper");
  });

  test("why says that a change is reviewed afterwards", async () => {
    const { ws } = await opened({ rules: [{ path: "a.txt", decision: "review" }] });
    const gates = await ws.why({ tool: "write_file", path: "a.txt" });
    expect(gates.find(({ gate }) => gate === "rules")).toMatchObject({
      verdict: "allows",
      configured: "rules[0]",
      because: "rules[0] says review.",
    });
    const other = await ws.why({ tool: "write_file", path: "b.txt" });
    expect(other.find(({ gate }) => gate === "default")).toMatchObject({
      verdict: "allows",
      because: "The change is unreviewed until it is kept.",
    });
  });
});

describe("unreviewed changes after a restart", () => {
  test("are those of the journal on the disk that are not kept", async () => {
    const { root, stateDir } = await temporary({ "a.txt": "one\n" });
    const open = (): Promise<Workspace> => openWorkspace({ root, stateDir, review: "after", guard: "off" });
    const first = await open();
    const ids = [];
    for (const content of ["1", "2", "3"])
      ids.push(await idOfCall(first, "write_file", { path: "a.txt", content, whole_file: true }));
    await first.keep(ids[1] as string);
    await first.close();
    const second = await open();
    afterThisTest(() => second.close());
    expect(await unreviewed(second)).toEqual([ids[2], ids[0]]);
    // Another workspace of the same directory keeps them, too.
    const third = await openWorkspace({ root, stateDir });
    afterThisTest(() => third.close());
    await third.keep(ids[0] as string, { by: "ana" });
    expect(await unreviewed(second)).toEqual([ids[2]]);
  });

  test("are those of the storage that are not kept, for every replica", async () => {
    const storage = memoryStorage();
    const open = (): Promise<Workspace> =>
      openWorkspace({ root: "/ws", storage, review: "after", guard: "off" });
    const [one, other] = [await open(), await open()];
    const ids = [];
    for (const content of ["1", "2"])
      ids.push(await idOfCall(one, "write_file", { path: "a.txt", content, whole_file: true }));
    await one.close();
    expect(await unreviewed(other)).toEqual([ids[1], ids[0]]);
    await other.keep(ids[0] as string);
    await other.close();
    const third = await open();
    afterThisTest(() => third.close());
    expect(await unreviewed(third)).toEqual([ids[1]]);
  });

  test("say from when on the history is complete", async () => {
    const backend = new MemoryBackend({ "/ws": { type: "dir" } });
    const ws = await openWorkspace({ root: "/ws", backend, review: "after", guard: "off" });
    afterThisTest(() => ws.close());
    for (let n = 0; n < 205; n++)
      await idOfCall(ws, "write_file", { path: "a.txt", content: `${n}`, whole_file: true });
    const { calls, forgottenBefore = "" } = await ws.unreviewed();
    expect(calls).toHaveLength(200);
    // Times of commits never go back in a process, so they stay ahead after a test that has moved the clock forward.
    const oldest = Date.parse(calls.at(-1)?.time ?? "");
    expect(Date.parse(forgottenBefore)).toBeGreaterThan(oldest - 1000);
  });
});

describe("review after a change where nothing can record it", () => {
  test("is refused with the options of the workspace", async () => {
    const backend = new MemoryBackend();
    const open = (options: Partial<WorkspaceOptions>): Promise<FilewrightError> =>
      errorOf(openWorkspace({ root: "/ws", backend, ...options }));
    expect(await open({ review: "after", history: false })).toMatchObject({ code: "INVALID_ARGUMENT" });
    expect(await open({ history: false, rules: [{ decision: "review" }] })).toMatchObject({
      code: "INVALID_ARGUMENT",
    });
    expect(await open({ review: "after", requireApproval: true })).toMatchObject({
      code: "INVALID_ARGUMENT",
    });
    expect((await open({ review: "afterwards" as "after" })).message).toContain("after");
    expect((await open({ rules: [{ decision: "reviews" as "review" }] })).message).toContain("review");
  });

  test("is refused for the rules of an agent at the change", async () => {
    const backend = new MemoryBackend({ "/ws": { type: "dir" } });
    const ws = await openWorkspace({ root: "/ws", backend, history: false });
    afterThisTest(() => ws.close());
    const agent = await ws.agent("helper", { rules: [{ decision: "review" }] });
    const result = await agent.call("write_file", { path: "a.txt", content: "1" });
    expect(result.error?.code).toBe("UNSUPPORTED_OPERATION");
    expect(await backend.exists("/ws/a.txt")).toBe(false);
  });

  test("is refused for tools of other packages and for an approver of rules", () => {
    const shell = { name: "bash", execute: () => "" };
    expect(() => withHooks(shell, [], { rules: [{ decision: "review" }] })).toThrow(/history/u);
    expect(() => headlessApprover({ rules: [{ decision: "review" as "allow" }] })).toThrow(/decision/u);
  });
});

describe("a rule with review about a link", () => {
  test("permits only what it covers in every form, and wants the review of any", async () => {
    const { asked, confirm } = allowing();
    const { ws } = await place(
      "local",
      { "real/a.txt": "one\n", "other/b.txt": "two\n", link: { link: "real" } },
      { confirm, rules: [{ path: "link", decision: "review" }] },
    );
    await idOfCall(ws, "write_file", { path: "link/a.txt", content: "1", whole_file: true });
    // The real path is not covered, so the question is asked, and the answer is the review.
    expect(asked).toEqual(["write_file a.txt"]);
    expect(await unreviewed(ws)).toEqual([]);
    const open = await place(
      "local",
      { "real/a.txt": "one\n", link: { link: "real" } },
      { rules: [{ path: "link", decision: "review" }] },
    );
    const write = await idOfCall(open.ws, "write_file", {
      path: "link/a.txt",
      content: "1",
      whole_file: true,
    });
    expect(await unreviewed(open.ws)).toEqual([write]);
  });
});
