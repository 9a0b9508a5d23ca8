/** The reason why a call was allowed: in the history, over HTTP, in the audit log, and for a later process. */
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import {
  type AuditRecord,
  audit,
  type ConfirmReply,
  type HistoryEntry,
  openWorkspace,
  toolsFor,
  type WorkspaceOptions,
} from "../../../js/index.node.ts";
import { leanPreset } from "../../../js/presets/lean.ts";
import type { PastCalls } from "../../../js/review/past/history-protocol.ts";
import { logIn, openPlace } from "../place.ts";

const made: string[] = [];
afterAll(async () => {
  for (const path of made) await rm(path, { recursive: true });
});

/** Opens a place whose questions are answered with `reply`, or by rules, and returns the records of its audit log. */
async function openAudited(options: Partial<WorkspaceOptions>) {
  const records: AuditRecord[] = [];
  const log = audit({ write: (record) => void records.push(record) });
  const place = await openPlace({ "a.txt": "one\n" }, { observers: [log], ...options });
  return { ...place, records };
}

const byPath = (entries: readonly Pick<HistoryEntry, "paths" | "allowedBy">[]) =>
  Object.fromEntries(entries.map(({ paths, allowedBy }) => [paths.join(" "), allowedBy]));

it("names the person of an answer, and the lasting approval that a later call needed no question for", async () => {
  const asked: string[] = [];
  const { ws, page, records } = await openAudited({
    async confirm({ path }): Promise<ConfirmReply> {
      asked.push(path);
      const scope = { tool: "write_file", path: "b/**", until: "session" };
      return path.startsWith("/w/b")
        ? { outcome: "proceed_always", payload: { by: "ana", scope } }
        : { outcome: "proceed_once" };
    },
  });
  for (const path of ["a.txt", "b/1.txt", "b/2.txt"])
    expect((await ws.call("write_file", { path, content: "x\n", create_dirs: true })).ok).toBe(true);
  expect(asked).toEqual(["/w/a.txt", "/w/b/1.txt"]);
  const [approval] = await ws.approvals.list();
  const covers = "write_file on b/**";
  const expected = {
    "a.txt": [{ kind: "answer" }],
    "b/1.txt": [{ kind: "answer", by: "ana" }],
    "b/2.txt": [{ kind: "approval", by: "ana", approval: { id: approval?.id, covers } }],
  };
  const history = await ws.history();
  expect(byPath(history.map((one) => ({ ...one, paths: one.paths.slice(-1) })))).toEqual(expected);
  const logged = records.filter(({ tool }) => tool === "write_file");
  expect(logged.map((one) => one.allowed_by)).toEqual(Object.values(expected));
  const client = await logIn(page, "watch");
  const { entries } = (await (await client.get("history")).json()) as PastCalls;
  expect(entries.map(({ allowedBy }) => allowedBy)).toEqual(Object.values(expected).reverse());
  // The policy lists it under the same id and in the same words.
  const { approvals } = (await (await client.get("policy")).json()) as {
    readonly approvals: readonly { readonly id: string; readonly covers: string }[];
  };
  expect(approvals.map(({ id, covers: words }) => [id, words])).toEqual([[approval?.id, covers]]);
});

it("names a rule and a review afterwards, and says nothing where nobody is ever asked", async () => {
  const { ws, records } = await openAudited({
    confirm: undefined,
    rules: [
      { path: "ruled.txt", decision: "allow" },
      { path: "later.txt", decision: "review" },
    ],
  });
  for (const path of ["ruled.txt", "later.txt", "free.txt"])
    expect((await ws.call("write_file", { path, content: "x\n" })).ok).toBe(true);
  const expected = {
    "ruled.txt": [{ kind: "rule" }],
    "later.txt": [{ kind: "review" }],
    "free.txt": undefined,
  };
  expect(byPath(await ws.history())).toEqual(expected);
  expect(records.map((one) => one.allowed_by)).toEqual(Object.values(expected));
  // An undo by the host needs no answer.
  const [free] = await ws.history();
  await ws.undo(free?.callId ?? "", { by: "ana" });
  expect(records.at(-1)).not.toHaveProperty("allowed_by");
});

it("names each thing once that allowed the operations of a batch, and what allowed an undo by an agent", async () => {
  const { ws, records } = await openAudited({
    rules: [{ path: "ruled*.txt", decision: "allow" }],
    confirm: async () => ({ outcome: "proceed_once", payload: { by: "ben" } }),
  });
  const write = (path: string) => ({ tool: "write_file", args: { path, content: "x\n" } });
  const operations = ["ruled1.txt", "ruled2.txt", "asked.txt"].map(write);
  expect((await ws.call("batch", { operations })).ok).toBe(true);
  const expected = [{ kind: "rule" }, { kind: "answer", by: "ben" }];
  const [batch] = await ws.history();
  expect([batch?.allowedBy, records[0]?.allowed_by]).toEqual([expected, expected]);
  const [tool] = toolsFor(ws, leanPreset()).filter(({ name }) => name === "undo");
  expect(await tool?.execute({ call_id: batch?.callId })).toMatchObject({ ok: true });
  const [undo] = await ws.history();
  expect([undo?.tool, undo?.allowedBy]).toEqual(["undo", [{ kind: "answer", by: "ben" }]]);
});

it("is kept on the disk for another process", async () => {
  const dir = await mkdtemp(join(tmpdir(), "filewright-allowed-"));
  made.push(dir);
  const options = { root: join(dir, "root"), stateDir: join(dir, "state") };
  await mkdir(options.root);
  const first = await openWorkspace({
    ...options,
    confirm: async () => ({ outcome: "proceed_once", payload: { by: "ana" } }),
  });
  expect((await first.call("write_file", { path: "a", content: "x\n" })).ok).toBe(true);
  await first.close();
  const later = await openWorkspace(options);
  expect((await later.history()).map(({ allowedBy }) => allowedBy)).toEqual([
    [{ kind: "answer", by: "ana" }],
  ]);
  await later.close();
});
