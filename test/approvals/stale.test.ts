/** A question whose content changes while a person thinks: it is told, an old answer decides nothing, nothing is written blindly. */
import { describe, expect, test } from "vitest";
import {
  approvalQueue,
  type ApprovalQueue,
  type Confirmation,
  type ConfirmReply,
  type QueueEvent,
} from "../../js/index.node.ts";
import { KINDS, place } from "../tools/harness.ts";

const post = (queue: ApprovalQueue, id: string, reply: unknown) =>
  queue.handle(
    new Request(`http://127.0.0.1/approvals/${id}`, {
      method: "POST",
      body: JSON.stringify(reply),
      headers: { authorization: `Bearer ${queue.token}` },
    }),
  );

const looked = async (queue: ApprovalQueue, id: string) =>
  (
    await queue.handle(
      new Request(`http://127.0.0.1/approvals/${id}/stale`, {
        headers: { authorization: `Bearer ${queue.token}` },
      }),
    )
  ).json();

describe.each(KINDS)("on %s", (kind) => {
  const seed = { f: "one\ntwo\n" };

  async function waiting(call: readonly [string, object], guard: "off" | "refuse" = "off") {
    const queue = approvalQueue();
    const events: QueueEvent[] = [];
    queue.watch((event) => events.push(event));
    const fixture = await place(kind, seed, { confirm: queue.confirm, guard });
    if (guard === "refuse") await fixture.ws.call("read_file", { path: "f" });
    const answer = fixture.ws.call(...call);
    await expect.poll(() => queue.pending().length).toBe(1);
    return { queue, events, answer, id: queue.pending()[0]!.id, ...fixture };
  }
  const edit = ["edit_file", { path: "f", old_text: "two", new_text: "TWO" }] as const;

  test("what changes is told within some seconds, without a request", async () => {
    const { queue, events, foreign, id, answer } = await waiting(edit);
    await foreign("f", "zero\none\ntwo\n");
    await expect.poll(() => events.at(-1), { timeout: 20_000 }).toEqual({ seq: 2, type: "stale", id });
    expect(queue.pending()).toMatchObject([{ id, stale: true }]);
    expect(queue.answer(id, { outcome: "proceed_once" })).toBe(false);
    expect(queue.answer(id, { outcome: "cancel" })).toBe(true);
    expect((await answer).error?.code).toBe("APPROVAL_DENIED");
  }, 30_000);

  test("an old answer gets 409, and the model is not refused", async () => {
    const { queue, events, foreign, text, id, answer } = await waiting(edit);
    expect(await looked(queue, id)).toEqual({ stale: false });
    await foreign("f", "zero\none\ntwo\n");
    for (const outcome of ["proceed_once", "proceed_always_server"])
      expect((await post(queue, id, { outcome })).status, outcome).toBe(409);
    expect(await looked(queue, id)).toEqual({ stale: true });
    expect(queue.pending()).toHaveLength(1);
    expect((await post(queue, id, { outcome: "look_again", payload: { by: "Ann" } })).status).toBe(200);
    await expect.poll(() => queue.pending().length).toBe(1);
    const [again] = queue.pending();
    expect(events.every((event) => !("conflict" in event))).toBe(true);
    expect(again).toMatchObject({
      replaces: id,
      details: { originalContent: "zero\none\ntwo\n", newContent: "zero\none\nTWO\n" },
    });
    expect(again!.id).not.toBe(id);
    expect((await post(queue, id, { outcome: "proceed_once" })).status).toBe(409);
    expect(await text("f")).toBe("zero\none\ntwo\n");
    expect((await post(queue, again!.id, { outcome: "proceed_once" })).status).toBe(200);
    expect(await answer).toMatchObject({ ok: true, meta: { approval: { outcome: "proceed_once" } } });
    expect(await text("f")).toBe("zero\none\nTWO\n");
  });

  test.each<readonly [string, ConfirmReply]>([
    ["looks again", { outcome: "look_again" }],
    ["changes the content to see it", { outcome: "modify_with_editor", payload: { newContent: "x\n" } }],
  ])("a reviewer who %s without end is asked 100 times", async (_, reply) => {
    let asked = 0;
    const confirm = async () => {
      asked++;
      return reply;
    };
    const { ws, text } = await place(kind, seed, { confirm, guard: "off" });
    const { error } = await ws.call(...edit);
    expect([asked, error?.code]).toEqual([100, "APPROVAL_DENIED"]);
    expect(error?.message).toContain("decided nothing in 100 questions");
    expect(await text("f")).toBe("one\ntwo\n");
  });

  test("an answer that comes before the change is noticed writes nothing", async () => {
    const { queue, foreign, text, id, answer } = await waiting(edit);
    await foreign("f", "other\ntwo\n");
    // The program's own answer does not look; the change compares right before it is made.
    expect(queue.answer(id, { outcome: "proceed_once" })).toBe(true);
    expect((await answer).error?.code).toBe("CONFLICT");
    expect(await text("f")).toBe("other\ntwo\n");
  });

  test.each([
    ["the caller has not read", "refuse", "zero\none\ntwo\n", "changed since it was read"],
    ["has no place for the change", "off", "nothing of it\n", "not found"],
  ] as const)("the answer to content that %s is known before it", async (_, guard, content, why) => {
    const { queue, events, foreign, text, id, answer } = await waiting(edit, guard);
    await foreign("f", content);
    expect(await looked(queue, id)).toEqual({ stale: true });
    expect(queue.pending()).toMatchObject([{ stale: true, conflict: expect.stringContaining(why) }]);
    expect(events.at(-1)).toMatchObject({ type: "stale", id, conflict: expect.stringContaining(why) });
    const reason = "a file has changed since then; read it again";
    expect(queue.answer(id, { outcome: "cancel", payload: { reason } })).toBe(true);
    expect((await answer).error).toMatchObject({
      code: "APPROVAL_DENIED",
      message: expect.stringContaining(reason),
    });
    expect(await text("f")).toBe(content);
  });

  test("content that the caller reads while the question waits can be looked at again", async () => {
    const { queue, events, ws, foreign, text, id, answer } = await waiting(edit, "refuse");
    await foreign("f", "zero\none\ntwo\n");
    await expect.poll(() => events.at(-1), { timeout: 20_000 }).toHaveProperty("conflict");
    await ws.call("read_file", { path: "f" });
    // An event without a conflict follows, without a request.
    await expect.poll(() => events.at(-1), { timeout: 20_000 }).toEqual({ seq: 3, type: "stale", id });
    expect(queue.pending()).toHaveLength(1);
    expect(queue.pending()[0]).toMatchObject({ id, stale: true });
    expect(queue.pending()[0]).not.toHaveProperty("conflict");
    expect((await post(queue, id, { outcome: "proceed_once" })).status).toBe(409);
    expect((await post(queue, id, { outcome: "look_again" })).status).toBe(200);
    await expect.poll(() => queue.pending().length).toBe(1);
    expect((await post(queue, queue.pending()[0]!.id, { outcome: "proceed_once" })).status).toBe(200);
    expect((await answer).ok).toBe(true);
    expect(await text("f")).toBe("zero\none\nTWO\n");
  }, 60_000);

  test("a change that was rewound, and whose rewind was undone, can be looked at again", async () => {
    const queue = approvalQueue();
    // The change before, the rewind and its undo are allowed at once.
    const confirm = async (details: Confirmation): Promise<ConfirmReply | undefined> =>
      details.newContent === "ONE\nTWO\n" ? queue.confirm(details) : { outcome: "proceed_once" };
    const { ws, text } = await place(kind, seed, { confirm, guard: "refuse" });
    // The rewind brings back a content that only another agent has read.
    const other = await ws.agent("other");
    await other.call("read_file", { path: "f" });
    await ws.mark("before");
    expect((await other.call("edit_file", { path: "f", old_text: "one", new_text: "ONE" })).ok).toBe(true);
    await ws.call("read_file", { path: "f" });
    const answer = ws.call(...edit);
    await expect.poll(() => queue.pending().length).toBe(1);
    const { id } = queue.pending()[0]!;
    const events: QueueEvent[] = [];
    queue.watch((event) => events.push(event));

    const { callId } = await ws.rewind("before");
    expect(await text("f")).toBe("one\ntwo\n");
    const conflict = expect.stringContaining("changed since it was read");
    // No look makes the content one that the caller has read, and the same conflict is reported once.
    for (let looks = 0; looks < 3; looks++) {
      expect(await looked(queue, id)).toEqual({ stale: true });
      expect(queue.pending()).toMatchObject([{ id, stale: true, conflict }]);
    }
    expect(events).toMatchObject([{ type: "stale", id, conflict }]);

    await ws.undo(callId!);
    expect(await text("f")).toBe("ONE\ntwo\n");
    await expect.poll(() => events.length, { timeout: 20_000 }).toBe(2);
    expect(events[1]).toEqual({ seq: expect.any(Number), type: "stale", id });
    expect(queue.pending()[0]).not.toHaveProperty("conflict");
    expect((await post(queue, id, { outcome: "look_again" })).status).toBe(200);
    await expect.poll(() => queue.pending().length).toBe(1);
    expect(queue.pending()).toMatchObject([{ replaces: id, details: { newContent: "ONE\nTWO\n" } }]);
    expect(queue.pending()[0]).not.toHaveProperty("stale");
    expect((await post(queue, queue.pending()[0]!.id, { outcome: "proceed_once" })).status).toBe(200);
    expect((await answer).ok).toBe(true);
    expect(await text("f")).toBe("ONE\nTWO\n");
  }, 60_000);

  test("a rewind to a content that the caller has read leaves a question that can be looked at again", async () => {
    const queue = approvalQueue();
    const confirm = async (details: Confirmation): Promise<ConfirmReply | undefined> =>
      details.newContent?.endsWith("TWO\n") ? queue.confirm(details) : { outcome: "proceed_once" };
    const { ws, text } = await place(kind, seed, { confirm, guard: "refuse" });
    await ws.call("read_file", { path: "f" });
    await ws.mark("before");
    expect((await ws.call("edit_file", { path: "f", old_text: "one", new_text: "ONE" })).ok).toBe(true);
    const answer = ws.call(...edit);
    await expect.poll(() => queue.pending().length).toBe(1);
    const { id } = queue.pending()[0]!;
    await ws.rewind("before");
    expect(await looked(queue, id)).toEqual({ stale: true });
    expect(queue.pending()[0]).not.toHaveProperty("conflict");
    expect((await post(queue, id, { outcome: "look_again" })).status).toBe(200);
    await expect.poll(() => queue.pending()).toMatchObject([{ replaces: id }]);
    expect(queue.pending()).toMatchObject([{ replaces: id, details: { newContent: "one\nTWO\n" } }]);
    expect((await post(queue, queue.pending()[0]!.id, { outcome: "proceed_once" })).status).toBe(200);
    expect((await answer).ok).toBe(true);
    expect(await text("f")).toBe("one\nTWO\n");
  });

  test("a question that ends during a conflict tells nothing more", async () => {
    const { queue, events, foreign, ws, id, answer } = await waiting(edit, "refuse");
    await foreign("f", "zero\none\ntwo\n");
    expect(await looked(queue, id)).toEqual({ stale: true });
    const looking = queue.isStale(id);
    expect(queue.answer(id, { outcome: "cancel" })).toBe(true);
    await ws.call("read_file", { path: "f" });
    await looking;
    expect((await answer).error?.code).toBe("APPROVAL_DENIED");
    expect(await queue.isStale(id)).toBe(false);
    expect(events.map(({ type }) => type)).toEqual(["asked", "stale", "answered"]);
  });

  test("looking again at what does not fit any more fails as the call itself would", async () => {
    const { queue, foreign, id, answer, text } = await waiting(edit);
    await foreign("f", "nothing of it\n");
    expect((await post(queue, id, { outcome: "look_again" })).status).toBe(200);
    expect((await answer).ok).toBe(false);
    expect(await text("f")).toBe("nothing of it\n");
    expect(queue.pending()).toEqual([]);
  });

  test("looking again at what already is as wanted asks nobody", async () => {
    const { queue, foreign, id, answer, text } = await waiting([
      "apply_patch",
      { patch: "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n one\n-two\n+TWO\n" },
    ]);
    await foreign("f", "one\nTWO\n");
    expect((await post(queue, id, { outcome: "look_again" })).status).toBe(200);
    await answer;
    expect(queue.pending()).toEqual([]);
    expect(await text("f")).toBe("one\nTWO\n");
  });

  test("an operation of a batch is looked at again, too", async () => {
    const { queue, foreign, id, answer, text } = await waiting([
      "batch",
      { operations: [{ tool: "edit_file", args: { path: "f", old_text: "two", new_text: "TWO" } }] },
    ]);
    await foreign("f", "zero\ntwo\n");
    expect((await post(queue, id, { outcome: "proceed_once" })).status).toBe(409);
    expect((await post(queue, id, { outcome: "cancel" })).status).toBe(200);
    expect((await answer).ok).toBe(false);
    expect(await text("f")).toBe("zero\ntwo\n");
  });
});
