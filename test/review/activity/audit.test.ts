/** The audit log as a download of the page: whole and in part, with hash chains that can be verified. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { auditFile, verifyAuditFile } from "../../../js/index.node.ts";
import { extractOfLog } from "../../../js/review/activity/audit-extract.ts";
import { firstQuestion, logIn, openPlace } from "../place.ts";

const dir = await mkdtemp(join(tmpdir(), "filewright-review-audit-"));
afterAll(() => rm(dir, { recursive: true }));

it("is sent as it is in the file, with who answered, and a part of it can be verified as an extract", async () => {
  const path = join(dir, "audit.jsonl");
  const { ws, hub, page } = await openPlace({ "a.txt": "one\n" }, { observers: [await auditFile(path)] });
  const [manager, watcher] = [await logIn(page, "manage", "ana"), await logIn(page, "watch")];
  expect(await (await watcher.get("audit")).json()).toEqual({ isKept: true });
  expect((await watcher.get("audit.jsonl")).status).toBe(403);
  const call = ws.call("write_file", { path: "a.txt", content: "two\n" });
  const id = await firstQuestion(hub);
  const [question] = hub.queue.pending();
  const digest = question?.kind === "change" ? question.details.digest : "";
  await manager.post(`approvals/${id}`, { outcome: "refuse", digest });
  await call;
  for (let at = 0; at < 9; at++) await ws.call("read_file", { path: "a.txt" });
  const whole = await (await manager.get("audit.jsonl")).text();
  expect(whole).toBe(await readFile(path, "utf8"));
  expect(JSON.parse(whole.split("\n")[0] ?? "")).toMatchObject({
    code: "APPROVAL_DENIED",
    approval: { outcome: "cancel", by: "ana" },
  });
  const copy = join(dir, "whole.jsonl");
  await writeFile(copy, whole);
  expect(await verifyAuditFile(copy)).toMatchObject({ ok: true, records: 10, chains: 1 });
  const none = await manager.get("audit.jsonl?from=2000-01-01T00:00:00Z&to=2001-01-01T00:00:00Z");
  expect([none.status, await none.text()]).toEqual([200, ""]);
  expect(none.headers.get("content-disposition")).toContain("audit-extract.jsonl");
  expect(await (await manager.get("audit.jsonl?from=2000-01-01T00:00:00Z")).text()).toBe(whole);
  expect((await manager.get("audit.jsonl?from=yesterday")).status).toBe(400);
});

it("of some time has whole lines, whatever the blocks in which the file is read", async () => {
  const path = join(dir, "times.jsonl");
  const lines = Array.from({ length: 40 }, (_, at) =>
    JSON.stringify({ at: new Date(Date.UTC(2030, 0, 1, at)).toISOString(), path: "ä\u{1f600}".repeat(at) }),
  );
  const bytes = Buffer.from(`${lines.join("\n")}\n`);
  await writeFile(path, bytes);
  for (const size of [1, 7, 100, bytes.length]) {
    const read = async function* (): AsyncGenerator<Uint8Array> {
      for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
    };
    const found: Uint8Array[] = [];
    const range = { from: Date.UTC(2030, 0, 1, 10), to: Date.UTC(2030, 0, 1, 20) };
    for await (const block of extractOfLog(read, range)) found.push(block.slice());
    expect(Buffer.concat(found).toString(), String(size)).toBe(`${lines.slice(10, 20).join("\n")}\n`);
  }
});

it("is missing where the workspace keeps none", async () => {
  const { page } = await openPlace();
  const client = await logIn(page);
  expect(await (await client.get("audit")).json()).toEqual({ isKept: false });
  expect((await client.get("audit.jsonl")).status).toBe(404);
});
