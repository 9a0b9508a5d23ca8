/** One id joins a call with its preview, its question, the events about it and its entry in the history. */
import { expect, test } from "vitest";
import type { CallBegin, CallEnd, HookPreview, WorkspaceEvent } from "../../js/index.node.ts";
import { reviewer } from "../support/reviewer.ts";
import { KINDS, place } from "../tools/harness.ts";

test.each(KINDS)("on %s", async (kind) => {
  const { shown, confirm } = reviewer("proceed_once", "cancel", "proceed_once");
  const [events, begun, ended]: [WorkspaceEvent[], CallBegin[], CallEnd[]] = [[], [], []];
  let preview: HookPreview | undefined;
  const { ws } = await place(
    kind,
    { f: "a\n" },
    {
      confirm,
      notify: (event) => events.push(event),
      observers: [{ begin: (call) => void begun.push(call), end: (call) => ended.push(call) }],
      hooks: [
        {
          stage: "before",
          tool: "*",
          async run(context) {
            preview = await context.preview?.();
          },
        },
      ],
    },
  );
  const made = await ws.call("write_file", { path: "f", content: "b\n" });
  const id = made.meta.call_id;
  expect(id).toMatch(/./u);
  expect(shown[0]!.callId).toBe(id);
  expect(preview?.callId).toBe(id);
  expect(begun[0]!.call_id).toBe(id);
  expect(ended[0]!.call_id).toBe(id);
  expect(events).toMatchObject([
    { type: "approval_asked", callId: id },
    { type: "approval_answered", callId: id },
  ]);
  expect((await ws.history()).map(({ callId }) => callId)).toContain(id);

  events.length = 0;
  await ws.call("write_file", { path: "f", content: "c\n" });
  const refused = shown[1]!.callId;
  expect(refused).not.toBe(id);
  expect(events.map((event) => ("callId" in event ? event.callId : undefined))).toEqual([
    refused,
    refused,
    refused,
  ]);
  expect(events.at(-1)).toMatchObject({ type: "call_denied", code: "APPROVAL_DENIED" });

  const operations = [{ tool: "write_file", args: { path: "g", content: "1" } }];
  const batch = await ws.call("batch", { operations });
  expect(batch.ok, batch.text).toBe(true);
  expect(shown[2]!.callId).toBe(batch.meta.call_id);

  await ws.call("stat", { path: "f" });
  expect(begun.at(-1)).not.toHaveProperty("call_id");
  expect(ended.at(-1)).not.toHaveProperty("call_id");
});
