/** Calls whose caller does not wait as long as a person takes: they are parked, and meet the question or its answer again. */
import { afterEach, describe, expect, test, vi } from "vitest";
import { type Approver, approvalQueue, type Confirm, parking } from "../../js/index.node.ts";
import { KINDS, place } from "../tools/harness.ts";

const PENDING = { code: "APPROVAL_DENIED", details: { reason: "pending" } };

afterEach(() => {
  vi.useRealTimers();
});

describe.each(KINDS)("on %s", (kind) => {
  async function impatient(reviewWait = 30) {
    const queue = approvalQueue();
    const fixture = await place(kind, { f: "a\n" }, { confirm: parking(queue.confirm, { reviewWait }) });
    const write = (content = "b\n", options = {}) =>
      fixture.ws.call("write_file", { path: "f", content }, options);
    return { queue, write, ...fixture };
  }

  test("a call is answered that a person is looking, and the same call meets the same question", async () => {
    const { queue, write, text } = await impatient();
    const first = await write();
    expect(first.error).toMatchObject(PENDING);
    expect(first.text).toContain("A person is looking at this change. Call again with the same arguments.");
    const [question] = queue.pending();
    expect((await write()).error).toMatchObject(PENDING);
    expect(queue.pending()).toEqual([question]);
    expect(await text("f")).toBe("a\n");
    const third = write();
    queue.answer(question!.id, { outcome: "proceed_once", payload: { by: "Ann" } });
    expect(await third).toMatchObject({ ok: true, meta: { approval: { by: "Ann" } } });
    expect(await text("f")).toBe("b\n");
  });

  test("an approver who answers through onConfirm is heard", async () => {
    const approver: Confirm = ({ onConfirm }) => {
      onConfirm("proceed_once", { by: "Ann" });
      return undefined;
    };
    const { ws, text } = await place(kind, { f: "a\n" }, { confirm: parking(approver) });
    const answer = await ws.call("write_file", { path: "f", content: "b\n" });
    expect(answer).toMatchObject({ ok: true, meta: { approval: { outcome: "proceed_once", by: "Ann" } } });
    expect(await text("f")).toBe("b\n");
  });

  test("an answer that comes between two calls is spent by one", async () => {
    const { queue, write, text, foreign } = await impatient();
    expect((await write()).error).toMatchObject(PENDING);
    expect(
      queue.answer(queue.pending()[0]!.id, { outcome: "cancel", payload: { reason: "not today" } }),
    ).toBe(true);
    const refused = await write();
    expect(refused.text).toContain("not today");
    expect((await write()).error).toMatchObject(PENDING);
    queue.answer(queue.pending()[0]!.id, { outcome: "proceed_once" });
    expect((await write()).ok).toBe(true);
    await foreign("f", "a\n");
    expect((await write()).error).toMatchObject(PENDING);
    expect(await text("f")).toBe("a\n");
  });

  test("an answer serves neither another change, nor another content, nor another agent", async () => {
    const { queue, write, text, foreign } = await impatient();
    expect((await write("b\n", { agent: "ann" })).error).toMatchObject(PENDING);
    queue.answer(queue.pending()[0]!.id, { outcome: "proceed_once" });
    expect((await write("c\n", { agent: "ann" })).error).toMatchObject(PENDING);
    expect((await write("b\n", { agent: "bo" })).error).toMatchObject(PENDING);
    await foreign("f", "changed meanwhile\n");
    expect((await write("b\n", { agent: "ann" })).error).toMatchObject(PENDING);
    expect(await text("f")).toBe("changed meanwhile\n");
    expect(queue.pending()).toHaveLength(3);
  });

  test("a call that is cancelled before it is parked takes its question with it", async () => {
    const { queue, write } = await impatient(60_000);
    const stop = new AbortController();
    const cancelled = write("b\n", { signal: stop.signal });
    await expect.poll(() => queue.pending().length).toBe(1);
    stop.abort();
    expect((await cancelled).error?.code).toBe("CANCELLED");
    expect(queue.pending()).toEqual([]);
  });

  test("a caller that follows the progress waits for as long as the person takes", async () => {
    const { queue, write } = await impatient(1);
    const waiting = write("b\n", { onProgress: () => {} });
    await expect.poll(() => queue.pending().length).toBe(1);
    await new Promise((resolve) => setTimeout(resolve, 50));
    queue.answer(queue.pending()[0]!.id, { outcome: "proceed_once" });
    expect((await waiting).ok).toBe(true);
  });
});

test("a question that nobody answers within an hour is withdrawn, and so is an answer that nobody fetches", async () => {
  vi.useFakeTimers();
  const queue = approvalQueue();
  const confirm = parking(queue.confirm, {});
  const details = {
    digest: "sha256:1",
    scopes: [{ outcome: "proceed_once", label: "" }],
    changes: [],
    fileDiff: "",
  };
  const ask = () => confirm({ ...details, onConfirm() {} } as unknown as Parameters<Approver["confirm"]>[0]);
  const first = expect(ask()).rejects.toMatchObject(PENDING);
  await vi.advanceTimersByTimeAsync(44_999);
  expect(queue.pending()).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(1);
  await first;
  await vi.advanceTimersByTimeAsync(59 * 60_000);
  queue.answer(queue.pending()[0]!.id, { outcome: "proceed_once" });
  await vi.advanceTimersByTimeAsync(59 * 60_000);
  expect(await ask()).toEqual({ outcome: "proceed_once" });
  const second = expect(ask()).rejects.toMatchObject(PENDING);
  await vi.advanceTimersByTimeAsync(45_000);
  await second;
  expect(queue.pending()).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(60 * 60_000);
  expect(queue.pending()).toEqual([]);
  expect(() => parking(queue.confirm, { reviewWait: 0 })).toThrow(/reviewWait/u);
  expect(() => parking(queue.confirm, { reviewWiat: 1 } as object)).toThrow(/did you mean 'reviewWait'/u);
});
