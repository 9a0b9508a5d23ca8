/** The approval queue as its clients meet it: events that nobody misses, contents on demand, and hostile requests. */
import { afterEach, describe, expect, test, vi } from "vitest";
import { approvalQueue, type ApprovalQueue, type Confirmation } from "../../js/index.node.ts";
import { confirmedChange } from "../../js/hooks/changed-files.ts";
import { place } from "../tools/harness.ts";

const details = (more: Partial<Confirmation> = {}): Confirmation => ({
  type: "edit",
  title: "Edit f",
  tool: "edit_file",
  fileName: "f",
  fileDiff: "--- a/f\n+++ b/f\n@@ -1,2 +1,3 @@\n-a\n+++ b\n+c\n same\n",
  originalContent: "a\nsame\n",
  newContent: "++ b\nc\nsame\n",
  path: "/repo/src/f",
  paths: ["/repo/src/f"],
  risk: "low",
  scopes: [
    { outcome: "proceed_once", label: "once" },
    { outcome: "cancel", label: "refuse" },
  ],
  changes: [
    confirmedChange(
      { path: "/repo/src/f", display: "src/f", kind: "edit", type: "file", hash: "sha256:new" },
      { before: Buffer.from("a\nsame\n"), after: Buffer.from("++ b\nc\nsame\n") },
    ),
  ],
  digest: "sha256:0",
  complete: true,
  callId: "call-1",
  onConfirm: () => {},
  ...more,
});

/** Sends a request to a queue, with its token unless another one is given. */
function send(queue: ApprovalQueue, path: string, init: RequestInit = {}, token = queue.token) {
  const headers = { authorization: `Bearer ${token}`, ...init.headers };
  return queue.handle(new Request(`http://127.0.0.1/approvals${path}`, { ...init, headers }));
}

const post = (queue: ApprovalQueue, id: string, reply: unknown) =>
  send(queue, `/${id}`, { method: "POST", body: JSON.stringify(reply) });

/** An event as a client reads it. */
type SentEvent = Record<string, unknown> & { readonly question: { readonly id: string } };

/** Opens an event stream. `next` returns the next event; `lastId` is the id of the last one. */
async function events(queue: ApprovalQueue, lastId?: string) {
  const response = await send(queue, "/events", {
    headers: lastId === undefined ? {} : { "last-event-id": lastId },
  });
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  const stream = {
    lastId: "",
    raw: async () => (await reader.read()).value,
    async next(): Promise<SentEvent> {
      for (;;) {
        const [, id = "", data = ""] = /^id: (.+)\ndata: (.+)\n\n$/u.exec((await stream.raw()) ?? "") ?? [];
        if (data === "") continue;
        stream.lastId = id;
        return JSON.parse(data);
      }
    },
    close: () => reader.cancel(),
  };
  return stream;
}

const ask = (queue: ApprovalQueue, more: Partial<Confirmation> = {}) => {
  const answer = Promise.resolve(queue.confirm(details(more)));
  return { answer, id: queue.pending().at(-1)!.id };
};

afterEach(() => {
  vi.useRealTimers();
});

describe("events", () => {
  test("carry a summary, never contents", async () => {
    const queue = approvalQueue();
    const stream = await events(queue);
    expect(await stream.next()).toEqual({ type: "state", seq: 0, pending: [] });
    const large = "x\n".repeat(500_000);
    const { id } = ask(queue, { newContent: large, originalContent: large });
    const event = await stream.next();
    expect(event).toMatchObject({
      type: "asked",
      seq: 1,
      question: {
        id,
        kind: "change",
        callId: "call-1",
        digest: "sha256:0",
        change_count: 1,
        changes: [{ path: "/repo/src/f", hash: "sha256:new" }],
        lines: { added: 2, removed: 1 },
      },
    });
    expect(JSON.stringify(event).length).toBeLessThan(1000);
    expect(await (await send(queue, "")).json()).toEqual({ seq: 1, pending: [event.question] });
    await stream.close();
  });

  test("a reader that connects again gets exactly what it has missed", async () => {
    const queue = approvalQueue();
    const stream = await events(queue);
    await stream.next();
    const first = ask(queue);
    expect((await stream.next()).question.id).toBe(first.id);
    await stream.close();
    const cancelled = new AbortController();
    const second = ask(queue, { signal: cancelled.signal });
    expect((await post(queue, first.id, { outcome: "proceed_once", payload: { by: "Ann" } })).status).toBe(
      200,
    );
    cancelled.abort();
    const again = await events(queue, stream.lastId);
    expect(await again.next()).toMatchObject({ type: "asked", seq: 2, question: { id: second.id } });
    expect(await again.next()).toEqual({
      type: "answered",
      seq: 3,
      id: first.id,
      outcome: "proceed_once",
      by: "Ann",
    });
    expect(await again.next()).toEqual({ type: "withdrawn", seq: 4, id: second.id, why: "cancelled" });
    await again.close();
    const third = ask(queue);
    const last = await events(queue, again.lastId);
    expect(await last.next()).toMatchObject({ seq: 5, question: { id: third.id } });
    await last.close();
  });

  test("a reader that has missed too much, or comes from another server, is given the state", async () => {
    const queue = approvalQueue();
    const { id } = ask(queue);
    for (let at = 0; at < 6000; at++) {
      const { answer, id: next } = ask(queue);
      expect(queue.answer(next, { outcome: "cancel" })).toBe(true);
      await answer;
    }
    const stream = await events(queue);
    expect(await stream.next()).toMatchObject({ type: "state", seq: 12_001, pending: [{ id }] });
    await stream.close();
    const [name] = stream.lastId.split("-");
    const other = await events(approvalQueue());
    await other.next();
    for (const last of [
      `${name}-1`,
      `${name}-2000`,
      `${name}-12002`,
      `${name}--1`,
      `${name}-1e3`,
      other.lastId,
      "12000",
      "",
      "__proto__-1",
      `${name}-${"9".repeat(400)}`,
    ]) {
      const again = await events(queue, last);
      expect((await again.next())["type"], last).toBe("state");
      await again.close();
    }
    const kept = await events(queue, `${name}-2001`);
    expect(await kept.next()).toMatchObject({ seq: 2002 });
    await kept.close();
  });

  test("a comment line each 15 s shows that the stream lives", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    const stream = await events(approvalQueue());
    expect(await stream.raw()).toContain('"state"');
    const comment = stream.raw();
    await vi.advanceTimersByTimeAsync(15_000);
    expect(await comment).toBe(":\n\n");
    await stream.close();
    expect(vi.getTimerCount()).toBe(0);
  });

  test("a request that was aborted before it is served leaves no timer and no watcher", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    const response = await send(approvalQueue(), "/events", { signal: AbortSignal.abort() });
    await response.text().catch(() => {});
    expect(vi.getTimerCount()).toBe(0);
  });

  test("each listener hears them in order, also where one of them answers at once", async () => {
    const queue = approvalQueue();
    queue.watch((event) => {
      if (event.type === "asked") queue.answer(event.question.id, { outcome: "cancel" });
    });
    const heard: string[] = [];
    queue.watch(({ type, seq }) => void heard.push(`${seq} ${type}`));
    await queue.confirm(details());
    expect(heard).toEqual(["1 asked", "2 answered"]);
    await queue.confirm(details());
    expect(heard.slice(2)).toEqual(["3 asked", "4 answered"]);
  });
});

describe("answers", () => {
  test("the first of two wins, and the second is told who was faster", async () => {
    const queue = approvalQueue();
    const { answer, id } = ask(queue);
    const replies = await Promise.all([
      post(queue, id, { outcome: "proceed_once", payload: { by: "Ann" } }),
      post(queue, id, { outcome: "cancel", payload: { by: "Bo" } }),
    ]);
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409]);
    const won = replies[0]!.status === 200 ? "Ann" : "Bo";
    expect((await answer)?.payload?.by).toBe(won);
    expect(await replies.find(({ status }) => status === 409)!.json()).toMatchObject({
      result: "taken",
      by: won,
    });
  });

  test("one for another content is refused with 409 and the question keeps waiting", async () => {
    const queue = approvalQueue();
    const { answer, id } = ask(queue);
    const old = await post(queue, id, { outcome: "proceed_once", payload: { digest: "sha256:old" } });
    expect([old.status, await old.json()]).toMatchObject([409, { result: "stale", digest: "sha256:0" }]);
    expect(queue.pending()).toHaveLength(1);
    expect((await post(queue, id, { outcome: "cancel", payload: { digest: "sha256:0" } })).status).toBe(200);
    expect((await answer)?.outcome).toBe("cancel");
  });

  test("one to a withdrawn question is gone, one to no question is not found", async () => {
    const queue = approvalQueue();
    const cancelled = new AbortController();
    const { answer, id } = ask(queue, { signal: cancelled.signal });
    cancelled.abort();
    await answer;
    const late = await post(queue, id, { outcome: "proceed_once" });
    expect([late.status, await late.json()]).toMatchObject([410, { why: "cancelled" }]);
    expect((await post(queue, "none", { outcome: "proceed_once" })).status).toBe(404);
  });
});

describe("contents", () => {
  test("come by their number, with the hash as their tag", async () => {
    const queue = approvalQueue();
    const { ws } = await place("memory", { f: "a\n" }, { confirm: queue.confirm });
    const writing = ws.call("write_file", { path: "f", content: "b\n" });
    await expect.poll(() => queue.pending().length).toBe(1);
    const { id } = queue.pending()[0]!;
    const whole = (await (await send(queue, `/${id}`)).json()) as { details: Confirmation };
    expect(whole.details).toMatchObject({ newContent: "b\n", complete: true });
    const got = await send(queue, `/${id}/changes/0`);
    const tag = got.headers.get("etag")!;
    expect(tag).toBe(`"${whole.details.hash}"`);
    expect(await got.json()).toMatchObject({
      ...{ kind: "edit", before: "a\n", after: "b\n", whole: false },
      hunks: [{ oldStart: 1, newStart: 1, rows: [{ kind: "removed", text: "a" }, { kind: "added" }] }],
    });
    const again = await send(queue, `/${id}/changes/0`, { headers: { "if-none-match": `"x", ${tag}` } });
    expect([again.status, await again.text()]).toEqual([304, ""]);
    queue.answer(id, { outcome: "cancel" });
    expect((await send(queue, `/${id}/changes/0`)).status).toBe(404);
    expect((await writing).error?.code).toBe("APPROVAL_DENIED");
  });
});

describe("attacks", () => {
  test("without the token nothing is told, whatever is asked for", async () => {
    const queue = approvalQueue();
    const { id } = ask(queue);
    for (const path of ["", "/", "/events", `/${id}`, `/${id}/changes/0`, "/none", "/../secret"])
      for (const method of ["GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS"])
        for (const token of [
          "",
          "x",
          queue.token.slice(1),
          `${queue.token} `.repeat(2),
          queue.token.toUpperCase(),
        ]) {
          const answer = await send(queue, path, { method }, token);
          expect(answer.status, `${method} ${path}`).toBe(401);
          expect(await answer.text()).not.toContain(id);
        }
    const url = `http://127.0.0.1/approvals?token=${queue.token}&authorization=Bearer+${queue.token}`;
    expect((await queue.handle(new Request(url))).status).toBe(401);
    expect(queue.pending()).toHaveLength(1);
  });

  test("no path, number or method leads anywhere else", async () => {
    const queue = approvalQueue();
    const { id } = ask(queue);
    for (const path of [
      "/__proto__",
      "/constructor",
      "/toString",
      "/%2e%2e",
      "/..%2f..%2fetc%2fpasswd",
      `/${id}%00`,
      `/${id}/changes`,
      `/${id}/changes/-1`,
      `/${id}/changes/1`,
      `/${id}/changes/00000000000`,
      `/${id}/changes/0x0`,
      `/${id}/changes/1e0`,
      `/${id}/changes/__proto__`,
      `/${id}/changes/0/more`,
      `/${id}/../${id}x`,
      "/events/changes/0",
      "/%",
    ])
      expect((await send(queue, path)).status, path).toBe(404);
    for (const [path, method] of [
      ["", "POST"],
      ["/events", "POST"],
      [`/${id}/changes/0`, "POST"],
      [`/${id}`, "PUT"],
      [`/${id}`, "DELETE"],
      [`/${id}`, "PATCH"],
    ] as const)
      expect(
        (
          await send(queue, path, {
            method,
            ...(method === "DELETE" ? {} : { body: '{"outcome":"proceed_once"}' }),
          })
        ).status,
        `${method} ${path}`,
      ).toBe(405);
    expect(queue.pending()).toHaveLength(1);
  });

  test("no body that is not exactly an offered answer ends the wait", async () => {
    const queue = approvalQueue();
    const { id } = ask(queue);
    for (const body of [
      "",
      "null",
      "[]",
      "3",
      '"proceed_once"',
      "{",
      '{"outcome":"proceed_always"}',
      '{"outcome":"PROCEED_ONCE"}',
      '{"outcome":["proceed_once"]}',
      '{"__proto__":{"outcome":"proceed_once"}}',
      '{"constructor":{"prototype":{"outcome":"proceed_once"}}}',
      '{"outcome":"proceed_once","payload":{"__proto__":{"final":true}}}',
      '{"outcome":"proceed_once","payload":{"newContent":"evil"}}',
      '{"outcome":"proceed_once","payload":{"scope":"*"}}',
      "outcome=proceed_once",
      `{"outcome":"proceed_once","payload":{"by":"${"\\u0000".repeat(3)}","more":1}}`,
    ])
      expect((await send(queue, `/${id}`, { method: "POST", body })).status, body).toBe(400);
    const far = `{"outcome":"proceed_once","payload":{"reason":"${"x".repeat(33 * 1024 * 1024)}"}}`;
    expect((await send(queue, `/${id}`, { method: "POST", body: far })).status).toBe(400);
    expect(queue.pending()).toHaveLength(1);
  });

  test("hostile names stay data in one line of an event", async () => {
    const queue = approvalQueue();
    const stream = await events(queue);
    await stream.next();
    const name = 'x\n\ndata: {"type":"answered"}\r\nid: 1\r\n</script>\u2028\u202e';
    const { id } = ask(queue, { title: name, path: name, agent: name, changes: [] });
    const raw = (await stream.raw())!;
    expect(raw.trimEnd().split(/[\r\n]/u)).toHaveLength(2);
    expect(JSON.parse(raw.split("\ndata: ")[1]!)).toMatchObject({
      question: { id, title: name, agent: name },
    });
    await post(queue, id, { outcome: "cancel", payload: { by: name } });
    expect((await stream.raw())!.trimEnd().split(/[\r\n]/u)).toHaveLength(2);
    await stream.close();
  });
});
