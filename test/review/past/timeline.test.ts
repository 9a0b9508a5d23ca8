/** The past over HTTP: calls and marks, what a call changed, marks, and undo. */
import { describe, expect, it } from "vitest";
import { MemoryBackend, openWorkspace } from "../../../js/index.node.ts";
import type {
  PastCalls,
  PastCounts,
  RowsPage,
  UndoAnswer,
  UnreviewedCalls,
} from "../../../js/review/past/history-protocol.ts";
import {
  reversalsOf,
  FIRST_TIMELINE,
  timelineRows,
  withRefusals,
} from "../../../js/review/page/screens/timeline/view.ts";
import { type Client, firstQuestion, logIn, openPlace, type Place } from "../place.ts";

/** Opens a place whose changes are made without a question. */
const openUnasked = (files?: Readonly<Record<string, string>>): Promise<Place> =>
  openPlace(files, { confirm: undefined });

const read = async <T>(client: Client, path: string): Promise<T> =>
  (await (await client.get(path)).json()) as T;

describe("the history", () => {
  it("has calls with their agents, undos, marks and commands, the newest first", async () => {
    const { ws, page } = await openUnasked({ "a.txt": "one\n" });
    const agent = await ws.agent("reviewer");
    await agent.call("write_file", { path: "a.txt", content: "two\n" });
    await ws.mark("before tests");
    const [first] = await ws.history();
    await ws.undo(first?.callId ?? "");
    const client = await logIn(page, "watch");
    const { entries, marks } = await read<PastCalls>(client, "history");
    expect(entries.map(({ tool, paths, agent: by, undoOf }) => [tool, paths, by, undoOf])).toEqual([
      ["undo", ["a.txt"], undefined, first?.callId],
      ["write_file", ["a.txt"], "reviewer", undefined],
    ]);
    expect(marks.map(({ name }) => name)).toEqual(["before tests"]);
  });

  it("says what a call changed, also when later calls have changed the file again", async () => {
    const { ws, page } = await openUnasked({ "a.txt": "one\r\ntwo\r\n" });
    await ws.call("write_file", { path: "a.txt", content: "one\r\n2\r\n" });
    await ws.call("write_file", { path: "a.txt", content: "1\r\n2\r\n3\r\n" });
    const [second, first] = await ws.history();
    const client = await logIn(page, "watch");
    const { pages, next } = await read<RowsPage>(client, `history/${first?.callId}/rows`);
    expect(next).toBeUndefined();
    expect(pages[0]?.hunks.map(({ lines }) => lines)).toEqual([" one\r\n-two\r\n+2\r"]);
    const ids = `${first?.callId},${second?.callId},0000000aa-000000000000`;
    // An answer has the calls that could be counted in its time.
    const countsOf = async () => (await read<PastCounts>(client, `history/counts?ids=${ids}`)).counts;
    await expect.poll(countsOf).toEqual({
      [first?.callId ?? ""]: { added: 1, removed: 1 },
      [second?.callId ?? ""]: { added: 2, removed: 1 },
      "0000000aa-000000000000": null,
    });
  });

  it("says since when calls and marks are kept", async () => {
    const { ws, page } = await openUnasked();
    const client = await logIn(page, "watch");
    expect((await read<PastCalls>(client, "history")).forgottenBefore).toBeUndefined();
    await ws.mark("start");
    for (let call = 1; call <= 201; call++)
      await ws.call("write_file", { path: "a.txt", content: `${call}\n` });
    const { marks, forgottenBefore = "" } = await read<PastCalls>(client, "history");
    expect(marks).toEqual([]);
    expect(Date.parse(forgottenBefore)).not.toBeNaN();
    expect((await read<UnreviewedCalls>(client, "history/unreviewed")).forgottenBefore).toBe(forgottenBefore);
  });

  it("comes in parts of about 4 MB", async () => {
    const line = `${"x".repeat(1023)}\n`;
    const { ws, page } = await openUnasked();
    await ws.call("apply_patch", {
      patch: [1, 2, 3]
        .map((n) => `*** Add File: big${n}.txt\n${`+${line}`.repeat(3000)}`)
        .reduce((all, one) => all + one, "*** Begin Patch\n")
        .concat("*** End Patch\n"),
    });
    const [call] = await ws.history();
    const client = await logIn(page, "watch");
    const first = await read<RowsPage>(client, `history/${call?.callId}/rows`);
    expect([first.pages.length, first.next]).toEqual([2, { change: 2, from: 0 }]);
    const second = await read<RowsPage>(client, `history/${call?.callId}/rows?change=2&from=0`);
    expect([second.pages.length, second.next]).toEqual([1, undefined]);
    expect((await client.get(`history/${call?.callId}/rows?change=-1`)).status).toBe(400);
    expect((await client.get(`history/${call?.callId}/rows?from=x`)).status).toBe(400);
    expect((await client.get("history/unknown/rows")).status).toBe(404);
  });
});

describe("an undo from the page", () => {
  it("puts a file back byte for byte, and can be undone", async () => {
    const before = new Uint8Array([0xef, 0xbb, 0xbf, 0x61, 0x0d, 0x0a, 0x62]);
    const { ws, backend, page } = await openUnasked();
    await backend.writeBytes("/w/a.txt", before);
    await ws.call("write_file", { path: "a.txt", content: "other\n" });
    const [call] = await ws.history();
    const client = await logIn(page, "manage", "ana");
    const answer = await client.post(`history/${call?.callId}/undo`, {});
    const undone = (await answer.json()) as UndoAnswer;
    expect(undone.paths).toEqual(["a.txt"]);
    expect(await backend.readBytes("/w/a.txt")).toEqual(before);
    expect((await client.post(`history/${undone.callId}/undo`, {})).status).toBe(200);
    // A write keeps the BOM and the line ends of the file.
    expect(await backend.readText("/w/a.txt")).toBe("\ufeffother\r\n");
  });

  it("is refused where a later call or another program has changed the file, and names the calls", async () => {
    const { ws, backend, page } = await openUnasked({ "a.txt": "one\n", "b.txt": "one\n" });
    await ws.call("write_file", { path: "a.txt", content: "two\n" });
    await ws.call("write_file", { path: "b.txt", content: "two\n" });
    await ws.call("write_file", { path: "a.txt", content: "three\n" });
    const [third, second, first] = await ws.history();
    const client = await logIn(page);
    const refused = await client.post(`history/${first?.callId}/undo`, {});
    expect(refused.status).toBe(409);
    const body = (await refused.json()) as { error: string; later: { callId: string }[] };
    expect(body.error).toContain("a.txt");
    expect(body.later.map(({ callId }) => callId)).toEqual([third?.callId]);
    await backend.writeBytes("/w/b.txt", new TextEncoder().encode("mine\n"));
    const foreign = await client.post(`history/${second?.callId}/undo`, {});
    expect(foreign.status).toBe(409);
    expect(((await foreign.json()) as { later: unknown[] }).later).toEqual([]);
    expect(await backend.readText("/w/b.txt")).toBe("mine\n");
  });

  it("needs a login that manages, and a body without members", async () => {
    const { ws, page, backend } = await openUnasked({ "a.txt": "one\n" });
    await ws.call("write_file", { path: "a.txt", content: "two\n" });
    const [call] = await ws.history();
    for (const role of ["watch", "answer"] as const) {
      const client = await logIn(page, role);
      expect((await client.post(`history/${call?.callId}/undo`, {})).status).toBe(403);
      expect((await client.post("marks", { name: "x" })).status).toBe(403);
    }
    const client = await logIn(page);
    expect((await client.post(`history/${call?.callId}/undo`, { force: true })).status).toBe(400);
    expect((await client.post(`history/${call?.callId}/undo`, "[]")).status).toBe(400);
    expect(await backend.readText("/w/a.txt")).toBe("two\n");
    expect((await client.post("history/0000000aa-000000000000/undo", {})).status).toBe(404);
  });
});

describe("an undo of some hunks from the page", () => {
  /** A BOM, CR LF, and no last line end. */
  const bytesOf = (text: string): Uint8Array => new Uint8Array([0xef, 0xbb, 0xbf, ...Buffer.from(text)]);
  const LINES = Array.from({ length: 30 }, (_, index) => `line ${index + 1}`);
  const textOf = (changed: Readonly<Record<number, string>>): string =>
    LINES.map((line, index) => changed[index + 1] ?? line).join("\r\n");

  /** Opens a place in which a call has changed the lines 2, 15 and 29 of one file, three hunks. */
  async function openChanged(): Promise<Place & { readonly callId: string }> {
    const place = await openUnasked();
    await place.backend.writeBytes("/w/a.txt", bytesOf(textOf({})));
    const edits = [2, 15, 29].map((line) => ({ old_text: `line ${line}\n`, new_text: `changed ${line}\n` }));
    expect((await place.ws.call("edit_file", { path: "a.txt", edits })).ok).toBe(true);
    const [call] = await place.ws.history();
    return { ...place, callId: call?.callId ?? "" };
  }

  it("is previewed and made as it was shown, byte for byte, and can be undone", async () => {
    const { ws, backend, page, callId } = await openChanged();
    const after = await backend.readBytes("/w/a.txt");
    const client = await logIn(page, "manage", "ana");
    const parts = [{ change: 0, hunks: [0, 2] }];
    const previewed = await client.post(`history/${callId}/undo`, { parts, dryRun: true });
    const { digest, paths, callId: none } = (await previewed.json()) as UndoAnswer;
    expect([paths, none]).toEqual([["a.txt"], undefined]);
    expect(await backend.readBytes("/w/a.txt")).toEqual(after);
    const rows = await read<RowsPage>(client, `previews/rows?digest=${digest}`);
    expect(rows.pages[0]?.hunks.length).toBe(2);

    const made = await client.post(`history/${callId}/undo`, { parts, digest });
    const undone = (await made.json()) as UndoAnswer;
    expect(made.status).toBe(200);
    expect(await backend.readBytes("/w/a.txt")).toEqual(bytesOf(textOf({ 15: "changed 15" })));
    expect((await client.post(`history/${undone.callId}/undo`, {})).status).toBe(200);
    expect(await backend.readBytes("/w/a.txt")).toEqual(after);
    expect((await ws.history()).length).toBe(3);
  });

  it("names the hunk that does not fit any more, and changes nothing", async () => {
    const { ws, backend, page, callId } = await openChanged();
    const client = await logIn(page, "manage", "ana");
    const parts = [{ change: 0, hunks: [0, 2] }];
    const previewed = await client.post(`history/${callId}/undo`, { parts, dryRun: true });
    const { digest } = (await previewed.json()) as UndoAnswer;
    const mine = bytesOf(textOf({ 2: "changed 2", 15: "changed 15", 29: "mine" }));
    await ws.call("edit_file", { path: "a.txt", old_text: "changed 29", new_text: "mine" });
    expect(await backend.readBytes("/w/a.txt")).toEqual(mine);
    const [later] = await ws.history();
    const refused = await client.post(`history/${callId}/undo`, { parts, digest });
    expect(refused.status).toBe(409);
    expect(await refused.json()).toMatchObject({
      later: [{ callId: later?.callId }],
      unfit: [{ path: "a.txt", hunks: [2] }],
    });
    expect(await backend.readBytes("/w/a.txt")).toEqual(mine);
    // The same of lines of a hunk: row 4 of the third one is the added line.
    const lines = await client.post(`history/${callId}/undo`, {
      parts: [{ change: 0, hunks: [0], lines: [{ hunk: 2, rows: [4] }] }],
      dryRun: true,
    });
    expect(lines.status).toBe(409);
    expect(await lines.json()).toMatchObject({ unfit: [{ path: "a.txt", hunks: [2] }] });
    // The hunk that fits can still be put back, after another look.
    const again = await client.post(`history/${callId}/undo`, {
      parts: [{ change: 0, hunks: [0] }],
      dryRun: true,
    });
    expect(again.status).toBe(200);
    const other = await client.post(`history/${callId}/undo`, { parts: [{ change: 0, hunks: [0] }], digest });
    expect(((await other.json()) as { error: string }).error).toBe(
      "The files have changed since this preview.",
    );
    expect(await backend.readBytes("/w/a.txt")).toEqual(mine);
  });

  it("is refused where another program has changed the file", async () => {
    const { backend, page, callId } = await openChanged();
    const client = await logIn(page);
    await backend.writeBytes("/w/a.txt", bytesOf("mine"));
    const body = { parts: [{ change: 0, hunks: [0] }], dryRun: true };
    const refused = await client.post(`history/${callId}/undo`, body);
    expect(refused.status).toBe(409);
    expect(await refused.json()).toMatchObject({ code: "CONFLICT", later: [], unfit: [] });
    expect(await backend.readBytes("/w/a.txt")).toEqual(bytesOf("mine"));
  });

  it("takes only hunks of the call, and the digest of their preview", async () => {
    const { page, callId, backend } = await openChanged();
    const after = await backend.readBytes("/w/a.txt");
    const client = await logIn(page);
    const bodies = [
      { parts: [{ change: 0, hunks: [0] }] },
      { parts: [], dryRun: true },
      { parts: [{ change: 0, hunks: [3] }], dryRun: true },
      { parts: [{ change: 1, hunks: [0] }], dryRun: true },
      { parts: [{ change: 0, hunks: [0, 0] }], dryRun: true },
      { parts: [{ change: 0, hunks: [] }], dryRun: true },
      { parts: [{ change: 0, hunks: [0], path: "/etc/passwd" }], dryRun: true },
      { parts: [{ change: 0, hunks: ["0"] }], dryRun: true },
      { dryRun: true },
      { digest: "sha256:0" },
      { parts: [{ change: 0, hunks: [0] }], by: "ben" },
    ];
    for (const body of bodies)
      expect((await client.post(`history/${callId}/undo`, body)).status, JSON.stringify(body)).toBe(400);
    for (const role of ["watch", "answer"] as const) {
      const other = await logIn(page, role);
      const body = { parts: [{ change: 0, hunks: [0] }], dryRun: true };
      expect((await other.post(`history/${callId}/undo`, body)).status).toBe(403);
    }
    expect(await backend.readBytes("/w/a.txt")).toEqual(after);
  });
});

describe("a rewind from the page", () => {
  it("is in the history with the calls that it took back, and the person", async () => {
    const { ws, page } = await openUnasked({ "a.txt": "one\n" });
    await ws.mark("m");
    await ws.call("write_file", { path: "a.txt", content: "two\n" });
    const [call] = await ws.history();
    const client = await logIn(page, "manage", "ana");
    const preview = await client.post("rewind", { to: "m", dryRun: true });
    const { digest } = (await preview.json()) as { digest: string };
    expect((await client.post("rewind", { to: "m", digest })).status).toBe(200);
    const { entries } = await read<PastCalls>(client, "history");
    expect(entries.map(({ tool, by, undoes }) => [tool, by, undoes])).toEqual([
      ["rewind", "ana", [call?.callId]],
      ["write_file", undefined, undefined],
    ]);
    expect([...reversalsOf(entries).keys()]).toEqual([call?.callId]);
    // A rewind that is put back has taken back nothing.
    await client.post(`history/${entries[0]?.callId}/undo`, {});
    const { entries: later } = await read<PastCalls>(client, "history");
    expect([...reversalsOf(later).keys()]).toEqual([entries[0]?.callId]);
  });
});

describe("a refusal", () => {
  it("is a row of the timeline with its reason, though the history has no such call", async () => {
    const { ws, hub, page } = await openPlace({ "a.txt": "one\n" });
    const agent = await ws.agent("main");
    const made = agent.call("write_file", { path: "a.txt", content: "two\n" });
    const id = await firstQuestion(hub);
    const client = await logIn(page, "answer", "ana");
    const { digest } = await read<{ digest: string }>(client, `approvals/${id}/changes/0`);
    await client.post(`approvals/${id}`, { outcome: "refuse", digest, reason: "keep it" });
    expect((await made).ok).toBe(false);
    const { settled } = hub.snapshot({ role: "watch", by: "ben" }).state;
    expect(settled.map(({ by, reason }) => [by, reason])).toEqual([["ana", "keep it"]]);
    const rows = timelineRows(await read<PastCalls>(client, "history"), FIRST_TIMELINE);
    expect(rows).toEqual([]);
    expect(withRefusals(rows, settled, FIRST_TIMELINE).map(({ key }) => key)).toEqual([`refusal:${id}`]);
    expect(withRefusals(rows, settled, { ...FIRST_TIMELINE, agent: "other" })).toEqual([]);
    expect(withRefusals(rows, settled, { ...FIRST_TIMELINE, path: "b.txt" })).toEqual([]);
  });
});

describe("a mark from the page", () => {
  it("has a valid name that nobody else has used", async () => {
    const { ws, page } = await openUnasked();
    const client = await logIn(page);
    expect((await client.post("marks", { name: "before tests" })).status).toBe(200);
    expect((await ws.marks()).map(({ name }) => name)).toEqual(["before tests"]);
    expect((await client.post("marks", { name: "before tests" })).status).toBe(409);
    for (const name of ["", "../x", "a\u202eb", "5m", "x".repeat(65)])
      expect((await client.post("marks", { name })).status, name).toBe(400);
    expect((await client.post("marks", { name: "x", more: 1 })).status).toBe(400);
    expect((await client.post("marks", {})).status).toBe(400);
  });
});

describe("calls that nobody has reviewed", () => {
  it("are listed until somebody who answers keeps them, and the page is told", async () => {
    const { ws, hub, page } = await openPlace({ "a.txt": "one\n" }, { confirm: undefined, review: "after" });
    await ws.call("write_file", { path: "a.txt", content: "two\n" });
    await ws.call("write_file", { path: "a.txt", content: "three\n" });
    const [second = "", first = ""] = (await ws.history()).map(({ callId }) => callId);
    const watcher = await logIn(page, "watch");
    expect((await read<PastCalls>(watcher, "history")).unreviewed).toEqual([second, first]);
    expect((await watcher.post("history/keep", { calls: [first] })).status).toBe(403);
    const client = await logIn(page, "answer", "ana");
    const told = hub.snapshot({ role: "watch", by: "x" }).state.history;
    expect(await (await client.post("history/keep", { calls: [first] })).json()).toEqual({ kept: [first] });
    expect(hub.snapshot({ role: "watch", by: "x" }).state.history).toBeGreaterThan(told);
    const { calls } = await read<UnreviewedCalls>(client, "history/unreviewed");
    expect(calls.map(({ callId }) => callId)).toEqual([second]);
    expect((await client.post("history/keep", { calls: [] })).status).toBe(400);
    expect((await client.post("history/keep", { calls: [second], by: "ben" })).status).toBe(400);
    expect((await client.post("history/keep", { calls: ["0000000aa-000000000000"] })).status).toBe(404);
    // What is put back needs no review any more.
    await (await logIn(page)).post(`history/${second}/undo`, {});
    expect((await ws.unreviewed()).calls).toEqual([]);
  });
});

describe("the page", () => {
  it("is told of every change of the history: calls, undos and marks", async () => {
    const { ws, hub, page } = await openUnasked({ "a.txt": "one\n" });
    const login = { role: "watch", by: "ana" } as const;
    const history = (): number => hub.snapshot(login).state.history;
    expect(history()).toBe(0);
    await ws.call("read_file", { path: "a.txt" });
    expect(history()).toBe(0);
    await ws.call("write_file", { path: "a.txt", content: "two\n" });
    const written = history();
    expect(written).toBeGreaterThan(0);
    const client = await logIn(page);
    const [call] = await ws.history();
    await client.post(`history/${call?.callId}/undo`, {});
    expect(history()).toBeGreaterThan(written);
    const undone = history();
    await client.post("marks", { name: "x" });
    expect(history()).toBeGreaterThan(undone);
  });

  it("is told of every change of the unreviewed calls, and of no other call", async () => {
    const { ws, hub } = await openPlace(
      { "a.txt": "one\n" },
      { rules: [{ decision: "review", tool: "write_file" }, { decision: "allow" }], confirm: undefined },
    );
    const unreviewed = (): number => hub.snapshot({ role: "watch", by: "ana" }).state.unreviewed;
    await ws.call("edit_file", { path: "a.txt", old_text: "one", new_text: "two" });
    expect(unreviewed()).toBe(0);
    await ws.call("write_file", { path: "a.txt", content: "three\n" });
    const written = unreviewed();
    expect(written).toBeGreaterThan(0);
    await ws.undo((await ws.history())[0]?.callId ?? "");
    const undone = unreviewed();
    expect(undone).toBeGreaterThan(written);
    await ws.call("batch", {
      operations: [{ tool: "write_file", args: { path: "a.txt", content: "four\n", whole_file: true } }],
    });
    expect(unreviewed()).toBeGreaterThan(undone);
  });

  it("is told why a call has failed", async () => {
    const { ws, hub } = await openUnasked();
    const failed = await ws.call("read_file", { path: "missing.txt" });
    const { calls } = hub.snapshot({ role: "watch", by: "ana" }).state;
    expect(failed.ok).toBe(false);
    expect(calls.map(({ message }) => message)).toEqual([failed.ok ? "" : failed.error.message]);
  });

  it("asks about the workspace that it names", async () => {
    const { page, hub } = await openPlace();
    const other = await openWorkspace({ backend: new MemoryBackend({ "/o/a": "" }), root: "/o" });
    const detach = hub.attach(other, "/o");
    await other.call("write_file", { path: "b", content: "x" });
    const client = await logIn(page, "watch");
    const { entries } = await read<PastCalls>(client, "history?workspace=%2Fo");
    expect(entries.map(({ paths }) => paths)).toEqual([["b"]]);
    expect((await read<PastCalls>(client, "history")).entries).toEqual([]);
    detach();
    expect((await client.get("history?workspace=%2Fo")).status).toBe(404);
    await other.close();
  });
});
